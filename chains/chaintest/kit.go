package chaintest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
)

// kit is a network under test with the usual parties.
type kit struct {
	*testing.T
	net   Net
	chain chains.Chain
	k     chains.Contract
	facts Facts
	user  Account
	lp    Account
	swaps int64
}

func newKit(t *testing.T, net Net) *kit {
	c := net.Chain()
	k, ok := c.Contract(c.Info().Default)
	if !ok {
		t.Fatalf("no contracts of the default version %q", c.Info().Default)
	}
	return &kit{T: t, net: net, chain: c, k: k, facts: net.Facts(), user: net.Account(t), lp: net.LP()}
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// secret returns another preimage for each number.
func secret(n int64) chains.Preimage {
	return sha256.Sum256(big.NewInt(n).Append([]byte("secret "), 10))
}

func lock(s chains.Preimage) chains.Condition {
	return chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256(s[:])}
}

// payIn is what a user opens towards the LP: chain to Lightning or Bitcoin.
func (k *kit) payIn(c chains.Condition, token string) chains.Spec {
	k.swaps++
	return chains.Spec{Kind: c.Kind, Offerer: k.user.Address(), Claimer: k.lp.Address(), Token: token, Amount: units(50), Condition: c,
		Sequence: big.NewInt(1000 + k.swaps), Expiry: k.net.Time().Add(5 * 24 * time.Hour).Unix(), PayIn: true}
}

// payOut is what an LP offers a user: Lightning or Bitcoin to chain.
func (k *kit) payOut(c chains.Condition, token string) chains.Spec {
	s := k.payIn(c, token)
	s.Offerer, s.Claimer, s.PayIn, s.PayOut = s.Claimer, s.Offerer, false, true
	s.SecurityDeposit, s.ClaimerBounty = units(6), units(2)
	s.DepositToken = k.chain.Info().Native.Address
	return s
}

func (k *kit) expect(spec chains.Spec) chains.Escrow {
	k.Helper()
	return trial.Must(k.k.Expect(spec))(k)
}

// authorize is the LP's authorisation for the user to open an escrow.
func (k *kit) authorize(e chains.Escrow) (chains.Auth, string) {
	k.Helper()
	rate := trial.Must(k.chain.FeeRate(k.Context()))(k)
	return k.lp.AuthorizeInit(k.T, e, rate, k.user.Address(), k.net.Time().Add(10*time.Minute)), rate
}

// open lets the user open an escrow that the LP authorises.
func (k *kit) open(e chains.Escrow) []chains.Signed {
	k.Helper()
	auth, rate := k.authorize(e)
	return k.run(k.user, chains.Plan{SwapID: "open", FeeRate: rate, Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: auth}}})
}

// prepare builds, signs and checks a plan.
func (k *kit) prepare(by Account, plan chains.Plan) []chains.Signed {
	k.Helper()
	plan.Signer = by.Address()
	u := trial.Must(k.k.Build(k.Context(), plan))(k)
	if u.Signer != by.Address() || len(u.Txs) == 0 {
		k.Fatalf("%d transactions for %s", len(u.Txs), u.Signer)
	}
	texts := by.Sign(k.T, u)
	txs := trial.Must(k.k.Check(plan, texts))(k)
	ids := trial.Must(k.k.IDs(texts))(k)
	step := 0
	for i, tx := range txs {
		if tx.ID == "" || tx.ID != ids[i] {
			k.Errorf("transaction %d has ids %q and %q", i, tx.ID, ids[i])
		}
		if tx.Step < step || tx.Step >= len(plan.Steps) {
			k.Errorf("transaction %d is of step %d", i, tx.Step)
		}
		step = tx.Step
		if reveals := plan.Steps[tx.Step].Kind == chains.StepClaimSecret; tx.Reveals && !reveals {
			k.Errorf("transaction %d is said to reveal a preimage", i)
		}
	}
	if last := plan.Steps[len(plan.Steps)-1]; last.Kind == chains.StepClaimSecret && !txs[len(txs)-1].Reveals {
		k.Error("the claim is not said to reveal its preimage")
	}
	return txs
}

// run carries out a plan, each transaction after the one before.
func (k *kit) run(by Account, plan chains.Plan) []chains.Signed {
	k.Helper()
	txs := k.prepare(by, plan)
	for _, tx := range txs {
		k.must(k.chain.Send(k.Context(), tx))
		k.settle(tx, chains.TxConfirmed)
	}
	return txs
}

// settle waits until a transaction has the wanted state.
func (k *kit) settle(tx chains.Signed, want chains.TxState) chains.TxStatus {
	k.Helper()
	var last chains.TxStatus
	k.eventually("transaction "+tx.ID+" to be "+want.String(), func() bool {
		all := trial.Must(k.chain.Status(k.Context(), []chains.Signed{tx}))(k)
		last = all[0]
		if last.State != want && (last.State == chains.TxReverted || last.State == chains.TxReplaced || last.State == chains.TxConfirmed) {
			k.Fatalf("transaction %s is %s: %s", tx.ID, last.State, last.Reason)
		}
		return last.State == want
	})
	return last
}

// eventually asks until the answer is yes.
func (k *kit) eventually(what string, ask func() bool) {
	k.Helper()
	deadline := time.Now().Add(time.Minute)
	for !ask() {
		if time.Now().After(deadline) {
			k.Fatalf("waited a minute for %s", what)
		}
		select {
		case <-k.Context().Done():
			k.Fatal(k.Context().Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// fact asks about one escrow.
func (k *kit) fact(q chains.EscrowQuery) chains.EscrowFact {
	k.Helper()
	facts := trial.Must(k.k.Escrows(k.Context(), []chains.EscrowQuery{q}))(k)
	if len(facts) != 1 {
		k.Fatalf("%d answers to one question", len(facts))
	}
	k.must(facts[0].Err)
	if facts[0].Head.Height == 0 || facts[0].Head.Hash == "" || facts[0].Head.Time == 0 {
		k.Errorf("the fact names no head: %+v", facts[0].Head)
	}
	return facts[0]
}

func (k *kit) state(e chains.Escrow, want chains.EscrowState) chains.EscrowFact {
	k.Helper()
	f := k.fact(chains.EscrowQuery{Escrow: &e})
	if f.State != want {
		k.Fatalf("the escrow is %s, want %s", f.State, want)
	}
	return f
}

func (k *kit) balance(of, token string) *big.Int {
	k.Helper()
	return trial.Must(k.chain.Balance(k.Context(), of, token))(k)
}

func (k *kit) liquidity(token string) *big.Int {
	k.Helper()
	f := trial.Must(k.k.Liquidity(k.Context(), k.lp.Address(), token))(k)
	return f.Balance
}

// refused demands an error of the LP's making, or of the caller's.
func (k *kit) refusedAuth(name string, err error) {
	k.Helper()
	if _, ok := errors.AsType[*chains.AuthError](err); !ok {
		k.Errorf("%s: %v", name, err)
	}
}

// change returns an escrow's JSON with another member; nil removes it.
func (k *kit) change(e chains.Escrow, member string, value any) json.RawMessage {
	k.Helper()
	var all map[string]any
	k.must(json.Unmarshal(e.Data, &all))
	all[member] = value
	if value == nil {
		delete(all, member)
	}
	return trial.Must(json.Marshal(all))(k)
}
