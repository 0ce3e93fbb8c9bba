package chaintest

import (
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// status asks about transactions at once.
func (k *kit) status(txs ...chains.Signed) []chains.TxStatus {
	k.Helper()
	all := trial.Must(k.chain.Status(k.Context(), txs))(k)
	if len(all) != len(txs) {
		k.Fatalf("%d answers about %d transactions", len(all), len(txs))
	}
	return all
}

// opening is a plan that a new user can carry out in one transaction.
func (k *kit) opening(n int64) (Account, chains.Escrow, chains.Plan) {
	k.Helper()
	user := k.net.Account(k.T)
	spec := k.payIn(lock(secret(n)), k.chain.Info().Native.Address)
	spec.Offerer = user.Address()
	e := k.expect(spec)
	rate := trial.Must(k.chain.FeeRate(k.Context()))(k)
	auth := k.lp.AuthorizeInit(k.T, e, rate, user.Address(), k.net.Time().Add(10*60e9))
	return user, e, chains.Plan{SwapID: "tx", Signer: user.Address(), FeeRate: rate, Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: auth}}}
}

func testTransactions(k *kit) {
	user, e, plan := k.opening(60)
	first := trial.Must(k.k.Build(k.Context(), plan))(k)
	again := trial.Must(k.k.Build(k.Context(), plan))(k)
	if !slices.Equal(first.Txs, again.Txs) {
		k.Error("two builds with nothing in between differ")
	}
	k.net.Hold(k.T, true)
	tx := k.prepare(user, plan)[0]
	if got := k.status(tx)[0]; got.State != chains.TxUnknown || got.Final {
		k.Errorf("a transaction that was not sent: %+v", got)
	}
	k.must(k.k.Admit(k.Context(), plan, []chains.Signed{tx}))
	for range 2 { // sending again is success
		k.must(k.chain.Send(k.Context(), tx))
	}
	if got := k.status(tx)[0]; got.State != chains.TxPending || got.Final || got.Block.Height != 0 {
		k.Errorf("a transaction that waits: %+v", got)
	}
	k.state(e, chains.EscrowNone)
	k.net.Hold(k.T, false)
	k.net.Mine(k.T, 1)
	done := k.settle(tx, chains.TxConfirmed)
	if done.Block.Height == 0 || done.Block.Hash == "" {
		k.Errorf("a mined transaction: %+v", done)
	}
	if done.Fee == nil || done.Fee.Sign() <= 0 || tx.MaxFee == nil || done.Fee.Cmp(tx.MaxFee) > 0 {
		k.Errorf("the fee is %v, of at most %v", done.Fee, tx.MaxFee)
	}
	k.must(k.chain.Send(k.Context(), tx)) // also when it is mined
	k.must(k.k.Admit(k.Context(), plan, []chains.Signed{tx}))
	k.eventually("the transaction to be final", func() bool {
		k.net.Mine(k.T, 1)
		return k.status(tx)[0].Final
	})
	other := tx
	other.ID = tx.ID[:len(tx.ID)-4] + "beef"
	all := k.status(tx, chains.Signed{ID: other.ID}, chains.Signed{ID: tx.ID})
	if all[0].State != chains.TxConfirmed || all[1].State != chains.TxUnknown || all[2].State != chains.TxConfirmed {
		k.Errorf("by id alone: %+v", all)
	}
	if all, err := k.chain.Status(k.Context(), nil); err != nil || len(all) != 0 {
		k.Errorf("no transactions: %v, %v", all, err)
	}
}

// testAgain offers a transaction that waits again: of both only one is executed.
func testAgain(k *kit) {
	if k.facts.SignedOpenings {
		k.Skip("the other party has signed the whole opening: there is only the one")
	}
	user, e, plan := k.opening(61)
	k.net.Hold(k.T, true)
	first := k.prepare(user, plan)
	k.must(k.chain.Send(k.Context(), first[0]))
	plan.Replaces = first
	second := k.prepare(user, plan)
	if second[0].ID == first[0].ID {
		k.Fatal("the same transaction is offered again")
	}
	k.must(k.k.Admit(k.Context(), plan, second))
	k.must(k.chain.Send(k.Context(), second[0]))
	k.net.Hold(k.T, false)
	k.net.Mine(k.T, 1)
	k.settle(second[0], chains.TxConfirmed)
	if got := k.status(first[0])[0]; got.State == chains.TxConfirmed {
		k.Errorf("both were executed: %+v", got)
	}
	k.state(e, chains.EscrowOpen)
}

// testReverted lets two claims of one escrow race.
func testReverted(k *kit) {
	if k.facts.NoRevert {
		k.Skip("what fails is not mined")
	}
	s := secret(70)
	e := k.expect(k.payIn(lock(s), k.chain.Info().Native.Address))
	k.open(e)
	k.net.Hold(k.T, true)
	plan := chains.Plan{SwapID: "race", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}}}
	var txs []chains.Signed
	racers := []Account{k.net.Account(k.T), k.net.Account(k.T)}
	var before []*big.Int
	for _, by := range racers {
		before = append(before, k.balance(by.Address(), k.chain.Info().Native.Address))
		txs = append(txs, k.prepare(by, plan)...)
	}
	for _, tx := range txs {
		k.must(k.chain.Send(k.Context(), tx))
	}
	k.net.Hold(k.T, false)
	k.net.Mine(k.T, 1)
	states := map[chains.TxState]int{}
	k.eventually("both claims to be mined", func() bool {
		clear(states)
		for _, s := range k.status(txs...) {
			states[s.State]++
		}
		return states[chains.TxPending] == 0
	})
	if states[chains.TxConfirmed] != 1 || states[chains.TxReverted] != 1 {
		k.Errorf("states of the claims: %v", states)
	}
	for i, s := range k.status(txs...) { // the claimer pays, the loser too
		paid := before[i].Sub(before[i], k.balance(racers[i].Address(), k.chain.Info().Native.Address))
		if s.Fee == nil || paid.Cmp(s.Fee) != 0 {
			k.Errorf("a claim that is %s has cost %s, its fee is %v", s.State, paid, s.Fee)
		}
	}
	k.state(e, chains.EscrowClaimed)
}

func testReplaced(k *kit) {
	user, _, plan := k.opening(80)
	tx := k.prepare(user, plan)[0]
	k.net.Spoil(k.T, user, tx)
	k.settle(tx, chains.TxReplaced)
	if err := k.chain.Send(k.Context(), tx); fault.CodeOf(err) != fault.InvalidState {
		k.Errorf("sending what can never be mined: %v", err)
	}
	if got := k.status(chains.Signed{ID: tx.ID})[0]; got.State != chains.TxUnknown {
		k.Errorf("by id alone: %+v", got)
	}
}

// testCheck hands back other transactions than those asked for.
func testCheck(k *kit) {
	user := k.net.Account(k.T)
	spec := k.payIn(lock(secret(90)), k.facts.Token)
	spec.Offerer = user.Address()
	e := k.expect(spec)
	rate := trial.Must(k.chain.FeeRate(k.Context()))(k)
	until := k.net.Time().Add(10 * 60e9)
	init := chains.Plan{SwapID: "check", Signer: user.Address(), FeeRate: rate, Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: k.lp.AuthorizeInit(k.T, e, rate, user.Address(), until)}}}
	spec.Sequence = units(9)
	e2 := k.expect(spec)
	init2 := init
	init2.Steps = []chains.Step{{Kind: chains.StepInit, Escrow: e2, Auth: k.lp.AuthorizeInit(k.T, e2, rate, user.Address(), until)}}
	k.altered("init", user, init)
	built := trial.Must(k.k.Build(k.Context(), init))(k)
	signed := user.Sign(k.T, built)
	refused := func(name string, plan chains.Plan, signed []string) {
		k.Helper()
		if _, err := k.k.Check(plan, signed); err == nil || fault.CodeOf(err) != fault.InvalidInput {
			k.Errorf("%s passes: %v", name, err)
		}
	}
	if _, err := k.k.Check(init, signed); err != nil {
		k.Fatal(err)
	}
	anybody := init
	anybody.Signer = ""
	if _, err := k.k.Check(anybody, signed); err != nil {
		k.Errorf("by whomsoever: %v", err)
	}
	refused("nothing", init, nil)
	refused("unsigned transactions", init, built.Txs)
	refused("another escrow", init2, signed)
	refused("a transaction too many", init, append(slices.Clone(signed), signed[len(signed)-1]))
	refused("only what is optional", init, signed[:len(signed)-1])
	refused("garbage", init, []string{"garbage"})
	refused("very many", init, slices.Repeat(signed, 1000))
	if len(signed) > 1 {
		turned := slices.Clone(signed)
		slices.Reverse(turned)
		refused("another order", init, turned)
	}
	stranger := k.net.Account(k.T)
	refused("another signer", init, stranger.Sign(k.T, built))
	k.run(user, init)
	refund := chains.Plan{SwapID: "check", Signer: user.Address(), Steps: []chains.Step{{Kind: chains.StepRefundAuth, Escrow: e, Auth: k.lp.AuthorizeRefund(k.T, e, until)}}}
	refused("an opening for a refund", refund, signed)
	k.altered("refund", user, refund)
	claim := chains.Plan{SwapID: "check", Signer: user.Address(), Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret(90)}}}
	refused("an opening for a claim", claim, signed)
	k.altered("claim", user, claim)
	both := init
	both.Steps = append(slices.Clone(init.Steps), claim.Steps...)
	refused("an opening without the claim", both, signed)
	for _, ids := range [][]string{{"garbage"}, built.Txs, {""}} {
		if _, err := k.k.IDs(ids); err == nil {
			k.Errorf("ids of %.40v", ids)
		}
	}
}

// altered tampers with the last transaction of a plan.
func (k *kit) altered(name string, by Account, plan chains.Plan) {
	k.Helper()
	u := trial.Must(k.k.Build(k.Context(), plan))(k)
	last := len(u.Txs) - 1
	for what, alter := range k.facts.Alterations {
		bad := chains.Unsigned{Txs: slices.Clone(u.Txs), Signer: u.Signer}
		bad.Txs[last] = alter(k.T, u.Txs[last])
		if bad.Txs[last] == u.Txs[last] {
			k.Errorf("%s: %q alters nothing", name, what)
			continue
		}
		if _, err := k.k.Check(plan, by.Sign(k.T, bad)); fault.CodeOf(err) != fault.InvalidInput {
			k.Errorf("%s with %s passes: %v", name, what, err)
		}
	}
}
