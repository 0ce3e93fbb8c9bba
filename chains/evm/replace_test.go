package evm_test

import (
	"crypto/sha256"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// signAs signs a transaction of a plan with another nonce or other fees.
func (l *localNet) signAs(text string, change func(*types.DynamicFeeTx)) string {
	l.t.Helper()
	p := trial.Must(wire.ParseTransaction(text))(l.t)
	inner := &types.DynamicFeeTx{ChainID: p.ChainID, Nonce: p.Nonce, GasTipCap: p.TipCap, GasFeeCap: p.FeeCap, Gas: p.Gas, To: p.To, Value: p.Value, Data: p.Data}
	change(inner)
	tx := trial.Must(types.SignTx(types.NewTx(inner), types.LatestSignerForChainID(p.ChainID), l.User.Key))(l.t)
	raw := trial.Must(tx.MarshalBinary())(l.t)
	return hexutil.Encode(raw)
}

// payToken is an escrow of a token, which needs an approval before.
func (l *localNet) payToken(t *testing.T) (chains.Contract, chains.Plan) {
	t.Helper()
	k, _ := l.chain.Contract("")
	e := trial.Must(k.Expect(chains.Spec{Kind: chains.HTLC, Offerer: l.User.Address.Hex(), Claimer: l.lp.Address(), Token: l.Contracts().Token.Hex(), Amount: big.NewInt(1e9),
		Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256([]byte("token"))}, Sequence: big.NewInt(9), Expiry: l.Time().Add(5 * 24 * time.Hour).Unix(), PayIn: true}))(t)
	auth := l.lp.AuthorizeInit(t, e, "", "", l.Time().Add(time.Hour))
	return k, chains.Plan{SwapID: "a", Signer: l.User.Address.Hex(), Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: auth}}}
}

func same(*types.DynamicFeeTx) {}

// A plan that takes the place of a transaction under way has its nonce and a fee
// for which nodes prefer it, so that only one of them is mined.
func TestPlanTakesThePlaceOfWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	k, _, plan := l.payIn(t, 1)
	l.SetMining(false)
	_, u := l.nonceOf(t, k, plan)
	first := trial.Must(k.Check(plan, sign(t, l.User, u.Txs)))(l.t)
	trial.Do(t, l.chain.Send(t.Context(), first[0]))
	// Something else of the account follows it.
	_, _, other := l.payIn(t, 2)
	other.SwapID = "b"
	_, v := l.nonceOf(t, k, other)
	next := trial.Must(k.Check(other, sign(t, l.User, v.Txs)))(t)
	trial.Do(t, l.chain.Send(t.Context(), next[0]))

	plan.Replaces = first
	n, u := l.nonceOf(t, k, plan)
	if n != first[0].Nonce {
		t.Fatalf("nonce %d, must be %d", n, first[0].Nonce)
	}
	for name, text := range map[string]string{
		"another nonce": l.signAs(u.Txs[0], func(tx *types.DynamicFeeTx) { tx.Nonce += 2 }),
		"the same fee": l.signAs(u.Txs[0], func(tx *types.DynamicFeeTx) {
			old := trial.Must(wire.ParseTransaction(hexutil.Encode(first[0].Raw)))(t)
			tx.GasFeeCap, tx.GasTipCap = old.FeeCap, old.TipCap
		}),
		"the same tip": l.signAs(u.Txs[0], func(tx *types.DynamicFeeTx) { tx.GasTipCap = big.NewInt(100_000) }),
	} {
		if _, err := k.Check(plan, []string{text}); fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(err.Error(), "signedTxs[0]") {
			t.Errorf("%s: %v", name, err)
		}
	}
	second := trial.Must(k.Check(plan, sign(t, l.User, u.Txs)))(t)
	trial.Do(t, k.Admit(t.Context(), plan, second))
	trial.Do(t, l.chain.Send(t.Context(), second[0]))
	// Twice over: what it offers grows each time.
	plan.Replaces = second
	_, u = l.nonceOf(t, k, plan)
	third := trial.Must(k.Check(plan, sign(t, l.User, u.Txs)))(t)
	trial.Do(t, l.chain.Send(t.Context(), third[0]))
	// Without a word of what is under way it is taken all the same.
	plan.Replaces = nil
	_, u = l.nonceOf(t, k, plan)
	fourth := trial.Must(k.Check(plan, sign(t, l.User, u.Txs)))(t)
	trial.Do(t, l.chain.Send(t.Context(), fourth[0]))
	l.SetMining(true)
	trial.Do(t, l.Net.Mine(2))
	_, err := l.Wait(t.Context(), common.HexToHash(next[0].ID))
	trial.Do(t, err)
	all := trial.Must(l.chain.Status(t.Context(), []chains.Signed{first[0], second[0], third[0], fourth[0], next[0]}))(t)
	for i, want := range []chains.TxState{chains.TxReplaced, chains.TxReplaced, chains.TxReplaced, chains.TxConfirmed, chains.TxConfirmed} {
		if all[i].State != want {
			t.Errorf("transaction %d is %s, want %s", i, all[i].State, want)
		}
	}
}

// A claim that waits behind something else of the account goes before it when it is
// asked for again: its time is limited.
func TestClaimGoesBeforeWhatWaits(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	k, e, plan := l.payIn(t, 1)
	l.run(t, k, plan)
	_, _, other := l.payIn(t, 2)
	other.SwapID = "b"
	send := func(plan chains.Plan) []chains.Signed {
		t.Helper()
		u := trial.Must(k.Build(t.Context(), plan))(t)
		txs := trial.Must(k.Check(plan, sign(t, l.User, u.Txs)))(t)
		trial.Do(t, l.chain.Send(t.Context(), txs[0]))
		return txs
	}
	l.SetMining(false)
	waits := send(other)
	claim := chains.Plan{SwapID: "a", Signer: l.User.Address.Hex(), Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: chains.Preimage{1, 31: 0}}}}
	behind := send(claim)
	claim.Replaces = behind
	before := send(claim)
	if behind[0].Nonce != waits[0].Nonce+1 || before[0].Nonce != waits[0].Nonce {
		t.Errorf("nonces %d, %d, then %d", waits[0].Nonce, behind[0].Nonce, before[0].Nonce)
	}
	// An opening does not push others aside.
	other.Replaces = behind
	if n, _ := l.nonceOf(t, k, other); n != behind[0].Nonce {
		t.Errorf("an opening has nonce %d, must have %d", n, behind[0].Nonce)
	}
	l.SetMining(true)
	trial.Do(t, l.Net.Mine(2))
	_, err := l.Wait(t.Context(), common.HexToHash(before[0].ID))
	trial.Do(t, err)
	all := trial.Must(l.chain.Status(t.Context(), append(waits, before...)))(t)
	if all[0].State != chains.TxReplaced || all[1].State != chains.TxConfirmed {
		t.Errorf("%s and %s", all[0].State, all[1].State)
	}
	facts := trial.Must(k.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: &e}}))(t)
	if facts[0].State != chains.EscrowClaimed {
		t.Errorf("the escrow is %s", facts[0].State)
	}
}

// Another signer's plan has nothing to do with the nonces of the one under way.
func TestReplacingStrangersTransactions(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	k, _, plan := l.payIn(t, 1)
	n, u := l.nonceOf(t, k, plan)
	signed := trial.Must(k.Check(plan, sign(t, l.User, u.Txs)))(t)
	signed[0].From, signed[0].Nonce = common.Address{1}.Hex(), 77
	plan.Replaces = signed
	if got, _ := l.nonceOf(t, k, plan); got != n {
		t.Errorf("nonce %d, want %d", got, n)
	}
}

// What nodes keep and nobody mines, and what lacks something before it, is refused
// before anything is sent.
func TestAdmit(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	k, plan := l.payToken(t)
	n, u := l.nonceOf(t, k, plan)
	if len(u.Txs) != 2 {
		t.Fatalf("%d transactions", len(u.Txs))
	}
	admit := func(texts ...string) error {
		t.Helper()
		txs := trial.Must(k.Check(plan, texts))(t)
		return k.Admit(t.Context(), plan, txs)
	}
	below := func(tx *types.DynamicFeeTx) {
		tx.GasFeeCap = new(big.Int).Sub(l.Head().BaseFee, big.NewInt(1))
		tx.GasTipCap = big.NewInt(1)
	}
	last := l.signAs(u.Txs[1], same)
	for name, test := range map[string]struct {
		texts []string
		field string
	}{
		"the last without the first":             {[]string{last}, "signedTxs[0]"},
		"the last in the place of the first":     {[]string{l.signAs(u.Txs[1], func(tx *types.DynamicFeeTx) { tx.Nonce = n })}, "signedTxs[0]"},
		"a fee cap below the base fee":           {[]string{l.signAs(u.Txs[0], below), last}, "signedTxs[0]"},
		"a fee cap below the base fee, later":    {[]string{l.signAs(u.Txs[0], same), l.signAs(u.Txs[1], below)}, "signedTxs[1]"},
		"nonces that are ahead of the account's": {[]string{l.signAs(u.Txs[0], func(tx *types.DynamicFeeTx) { tx.Nonce = n + 5 }), l.signAs(u.Txs[1], func(tx *types.DynamicFeeTx) { tx.Nonce = n + 6 })}, "signedTxs[0]"},
	} {
		err := admit(test.texts...)
		if e, ok := err.(*fault.Error); !ok || e.Code != fault.InvalidInput || e.Field != test.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	trial.Do(t, admit(l.signAs(u.Txs[0], same), last))
	// The wallet sent the first by itself.
	l.SetMining(false)
	txs := trial.Must(k.Check(plan, []string{l.signAs(u.Txs[0], same), last}))(l.t)
	trial.Do(t, l.chain.Send(t.Context(), txs[0]))
	trial.Do(t, admit(last))
	l.SetMining(true)
	trial.Do(t, l.Net.Mine(1))
	_, err := l.Wait(t.Context(), common.HexToHash(txs[0].ID))
	trial.Do(t, err)
	trial.Do(t, admit(last))
	trial.Do(t, l.chain.Send(t.Context(), txs[1]))
	_, err = l.Wait(t.Context(), common.HexToHash(txs[1].ID))
	trial.Do(t, err)
	trial.Do(t, admit(last)) // it is done
	if err := admit(l.signAs(u.Txs[1], func(tx *types.DynamicFeeTx) { tx.Nonce, tx.Gas = n+2, tx.Gas+1 })); fault.CodeOf(err) != fault.InvalidInput && fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("what the contract would refuse: %v", err)
	}
	if err := admit(l.signAs(u.Txs[1], func(tx *types.DynamicFeeTx) { tx.Gas++ })); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("a used nonce: %v", err)
	}
}

// A secret is not shown to a node to see whether it opens anything.
func TestAdmitShowsNoSecret(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	k, e, plan := l.payIn(t, 1)
	l.run(t, k, plan)
	claim := chains.Plan{SwapID: "a", Signer: l.User.Address.Hex(), Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: chains.Preimage{1, 31: 0}}}}
	u := trial.Must(k.Build(t.Context(), claim))(t)
	txs := trial.Must(k.Check(claim, sign(t, l.User, u.Txs)))(t)
	l.Server().Requests()
	trial.Do(t, k.Admit(t.Context(), claim, txs))
	for _, batch := range l.Server().Requests() {
		for _, method := range batch {
			if method == "eth_call" {
				t.Error("the claim was run")
			}
		}
	}
}
