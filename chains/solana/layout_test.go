package solana_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	btcwire "github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	devnet "github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// bought is an open escrow that was paid for in Bitcoin, with further outputs, and the
// plan to claim it. The relay has the payment.
func (s *scene) bought(further ...*btcwire.TxOut) (chains.Escrow, chains.Plan) {
	s.t.Helper()
	e, plan := s.paid(further...)
	s.openUnasked(e)
	return e, plan
}

// paid is what [scene.bought] is before the escrow is opened.
func (s *scene) paid(further ...*btcwire.TxOut) (chains.Escrow, chains.Plan) {
	s.t.Helper()
	c := chains.Condition{Kind: chains.Onchain, Script: script(byte(s.n + 1)), Sats: 120_000, Confirmations: 1}
	op := s.PayBitcoin(s.t, c.Script, int64(c.Sats), 0, further...)
	s.SyncRelay(s.t)
	e := s.out(s.user, c, devnet.WBTC)
	return e, s.plan(s.user, chains.Step{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: s.payment(op, c)})
}

// openUnasked opens an escrow of the LP's for the user, as another client might.
func (s *scene) openUnasked(e chains.Escrow) {
	s.t.Helper()
	tx := trial.Must(s.program.InitTx(s.lp.data(e), s.user.Account.Address, uint64(s.Time().Add(time.Minute).Unix()), wire.FeeRate{Price: 1}))(s.t)
	tx.Blockhash = s.Head().Hash
	trial.Do(s.t, tx.Sign(s.lp.Key))
	_, err := s.user.SendTx(s.t.Context(), tx)
	trial.Do(s.t, err)
	s.Mine(s.t, 1)
}

// key is the n-th data account that a claim may use.
func (s *scene) key(plan chains.Plan, n int) wire.SecretKey {
	return wire.ClaimDataKey(plan.Seed, plan.Steps[0].Payment.TxID, s.user.Account.Address, n)
}

func (s *scene) misbehave(f devnet.NodeFault) {
	for _, n := range s.nodes {
		n.Misbehave(f)
	}
}

func (s *scene) buildRefused(what string, plan chains.Plan, code fault.Code, says string) {
	s.t.Helper()
	_, err := s.k.Build(s.t.Context(), plan)
	if fault.CodeOf(err) != code || !strings.Contains(err.Error(), says) {
		s.t.Errorf("%s: %v, want %s and %q", what, err, code, says)
	}
}

// Where the program keeps data accounts in no form that is known, an escrow is not opened
// that could not be claimed. Everything else goes on, and a user that has paid claims
// without such an account, if the payment is small.
func TestUnknownLayoutsAreRefused(t *testing.T) {
	t.Parallel()
	s := newPlayed(t, played{wire.V2, 4})
	e, plan := s.paid()
	s.buildRefused("an opening", s.opening(s.user, e), fault.Unsupported, "in a form that is not known")
	for name, e := range map[string]chains.Escrow{
		"a hash lock":         s.out(s.user, lock(1), devnet.WBTC),
		"a payment of the LP": s.in(s.user, chains.Condition{Kind: chains.OnchainNonced, Script: script(9), Sats: 1000, Nonce: 5, Confirmations: 1}, devnet.WBTC),
	} {
		s.run(s.user, s.opening(s.user, e))
		if got := s.state(e); got != chains.EscrowOpen {
			t.Errorf("%s is %s", name, got)
		}
	}
	large, largePlan := s.bought(outputs(40)...)
	s.buildRefused("a large claim", largePlan, fault.Unsupported, "in a form that is not known")
	s.want(large, chains.EscrowOpen)
	s.openUnasked(e)
	if txs := s.run(s.user, plan); len(txs) != 1 {
		t.Errorf("a small claim takes %d transactions", len(txs))
	}
	s.want(e, chains.EscrowClaimed)
}

// What a node does not tell is asked for again, before the user pays. A claim that was
// begun goes on: the account that was made for it tells.
func TestLayoutsThatNodesDoNotTell(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p played) {
		if p.version == wire.V1 {
			t.Skip("only version 2 of the program has two layouts of data accounts; version 1 has one")
		}
		s := newPlayed(t, p)
		silent := devnet.NodeFault{Refuse: []string{"simulateTransaction"}}
		begun, begunPlan := s.bought(outputs(120)...)
		s.misbehave(silent)
		s.buildRefused("a claim", begunPlan, fault.Upstream, "how the swap program on Solana keeps the data of claims")
		s.misbehave(devnet.NodeFault{})
		s.send(s.check(s.user, begunPlan, s.build(begunPlan))[:2]...)
		e, plan := s.paid(outputs(40)...)
		plan.Seed = chains.Seed{8}
		for what, f := range map[string]devnet.NodeFault{
			"a node without trials":             silent,
			"a node without accounts of trials": {Rewrite: rewritten(func(reply map[string]any) { delete(reply, "accounts") })},
			"a node that finds no SOL":          {Rewrite: rewritten(func(reply map[string]any) { reply["err"], reply["accounts"] = "AccountNotFound", []any{nil} })},
		} {
			s.misbehave(f)
			s.buildRefused(what, s.opening(s.user, e), fault.Upstream, "how the swap program on Solana keeps the data of claims")
			if rest := s.build(begunPlan); len(rest.Txs) == 0 || strings.Contains(string(rest.Txs[0]), hex.EncodeToString(s.key(begunPlan, 0))) {
				t.Errorf("%s: the account is made again", what)
			}
		}
		s.openUnasked(e)
		s.misbehave(silent)
		s.run(s.user, plan) // the account of the other claim tells
		s.want(e, chains.EscrowClaimed)
		begunPlan.Seed = chains.Seed{7}
		if s.state(begun) != chains.EscrowOpen || s.Lamports(s.key(begunPlan, 0).PublicKey()) == 0 {
			t.Fatal("the account of another claim was closed, which goes on")
		}
		s.run(s.user, begunPlan)
		s.want(begun, chains.EscrowClaimed)
	})
}

// rewritten changes what a node says of a transaction that it tried.
func rewritten(change func(reply map[string]any)) func(string, []json.RawMessage, json.RawMessage) json.RawMessage {
	return func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
		var reply map[string]any
		if method != "simulateTransaction" || json.Unmarshal(result, &reply) != nil {
			return result
		}
		change(reply["value"].(map[string]any))
		out, err := json.Marshal(reply)
		if err != nil {
			return result
		}
		return out
	}
}

// An account that was begun for the other layout, as by an earlier release, or before the
// program was replaced, is not used. Its rent comes back where the program gives it.
func TestAccountsOfAnotherLayout(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p played) {
		if p.version == wire.V1 {
			t.Skip("only version 2 of the program has two layouts of data accounts; version 1 has one")
		}
		s := newPlayed(t, p)
		other := wire.DataTagged - p.data
		e, plan := s.bought(outputs(40)...)
		begin := func(plan chains.Plan) {
			txs := trial.Must(s.program.DataTxs(s.user.Account.Address, s.key(plan, 0), other, s.payload(plan), nil, wire.FeeRate{Price: 1}))(s.t)
			_, err := s.user.SendAll(t.Context(), txs[:1])
			trial.Do(t, err)
		}
		begin(plan)
		restarted := s.open(t, p.version, nil, s.nodes[0].URL(), s.nodes[1].URL())
		closer := restarted.(interface{ Close() error })
		defer func() { trial.Do(t, closer.Close()) }()
		s.k, _ = restarted.Contract(p.version)
		s.run(s.user, plan)
		s.want(e, chains.EscrowClaimed)
		for n := range wire.DataKeys {
			if s.Lamports(s.key(plan, n).PublicKey()) != 0 {
				t.Errorf("account %d is left", n)
			}
		}

		// The program is replaced: nodes show the other layout.
		e, plan = s.bought(outputs(40)...)
		first := s.build(plan)
		s.send(s.check(s.user, plan, first)[:1]...)
		s.misbehave(devnet.NodeFault{Rewrite: rewritten(func(reply map[string]any) { moved(reply, int(other)-int(p.data)) })})
		for i, tx := range s.build(plan).Txs {
			raw, _ := unsigned(t, tx)
			if slices.Contains(raw.Message.AccountKeys, s.key(plan, 0).PublicKey()) {
				t.Errorf("transaction %d is about an account that the program does not know any more", i)
			}
		}
		s.misbehave(devnet.NodeFault{})
		s.run(s.user, plan)
		s.want(e, chains.EscrowClaimed)
	})
}

// moved moves what an account holds by some bytes.
func moved(reply map[string]any, by int) {
	all, ok := reply["accounts"].([]any)
	if !ok || all[0] == nil {
		return
	}
	a := all[0].(map[string]any)
	text, _ := a["data"].([]any)
	data, err := base64.StdEncoding.DecodeString(text[0].(string))
	if err != nil {
		return
	}
	if by > 0 {
		data = append(make([]byte, by), data...)
	} else {
		data = data[-by:]
	}
	text[0] = base64.StdEncoding.EncodeToString(data)
}

// payload is what a plan's claim has written into its data account.
func (s *scene) payload(plan chains.Plan) []byte {
	s.t.Helper()
	stripped := trial.Must(s.lp.data(plan.Steps[0].Escrow).CheckPayment(*plan.Steps[0].Payment))(s.t)
	payload := trial.Must(wire.Payload(plan.Steps[0].Payment.Vout, stripped))(s.t)
	return payload
}

// A user without SOL is told what to sign all the same: the provider's lamports do for a
// trial, which is not sent.
func TestLayoutForSomebodyWithoutSOL(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p played) {
		s := newPlayed(t, p)
		poor := account{s.localNet, s.NewAccount()}
		e := s.out(poor, chains.Condition{Kind: chains.Onchain, Script: script(1), Sats: 1000, Confirmations: 1}, devnet.WBTC)
		s.build(s.opening(poor, e))
	})
}

// The payment goes into the claim itself where it fits and the program takes it so. v1's
// claims are as they were.
func TestSmallPaymentsNeedNoDataAccount(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p played) {
		s := newPlayed(t, p)
		e, plan := s.bought()
		want := 1
		if p.version == wire.V1 {
			want = 2
		}
		txs := s.check(s.user, plan, s.build(plan))
		if len(txs) != want {
			t.Errorf("%d transactions, want %d", len(txs), want)
		}
		if p.version == wire.V2 {
			// A program that does not take it gets an account, and the claim goes on with that.
			s.misbehave(devnet.NodeFault{Rewrite: rewritten(func(reply map[string]any) {
				if reply["accounts"] == nil {
					reply["err"] = map[string]any{"InstructionError": []any{2, map[string]any{"Custom": 6011}}}
				}
			})})
			other, otherPlan := s.bought()
			all := s.check(s.user, otherPlan, s.build(otherPlan))
			if len(all) != 2 {
				t.Errorf("%d transactions where the program refuses the small claim", len(all))
			}
			s.send(all[0])
			s.misbehave(devnet.NodeFault{})
			if rest := s.run(s.user, otherPlan); len(rest) != 1 || rest[0].Step != 0 {
				t.Errorf("%d transactions after the account was written", len(rest))
			}
			s.want(other, chains.EscrowClaimed)
			if s.Lamports(s.key(otherPlan, 0).PublicKey()) != 0 {
				t.Error("the account is left")
			}
		}
		before := s.Lamports(s.user.Account.Address)
		trial.Do(t, s.k.Admit(t.Context(), plan, txs))
		s.send(txs...)
		s.want(e, chains.EscrowClaimed)
		if cost := int64(before) - int64(s.Lamports(s.user.Account.Address)); cost > 100_000 {
			t.Errorf("%d lamports are gone", cost)
		}
	})
}
