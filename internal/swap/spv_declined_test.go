package swap

import (
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// handedIn is a signed transaction of a vault swap.
func handedIn(id byte, byOwner bool) Submit {
	return Submit{Action: ActionFund, PSBT: &SignedPSBT{TxID: bitcoin.Hash{id}, Tx: twoInputs, Posted: []byte{id}}, ByOwner: byOwner}
}

// declinedPass is a pass over a quote whose LP has refused the transaction 7.
func declinedPass() Decision {
	in := spvPass(SPVCreated)()
	in.R.Bitcoin.Declined = []Declined{{bitcoin.Hash{7}, twoInputs}}
	return in
}

// TestVaultThatWasTaken offers no transaction for an output of the vault that another one
// spends: of two quotes for it the second is of no use any more.
func TestVaultThatWasTaken(t *testing.T) {
	f := newSPVFromBTC()
	pass := spvPass(SPVCreated)
	if got := f.Ask(pass()).Taken; got == nil || got.String() != pass().R.Vault.UTXO {
		t.Errorf("asked about the output %v, want the vault's", got)
	}
	for name, c := range map[string]struct {
		fact    Fact[bitcoin.Spend]
		offered bool
	}{
		"unspent":               {known(bitcoin.Spend{State: bitcoin.Unspent}), true},
		"not known to Bitcoin":  {known(bitcoin.Spend{}), true},
		"the backend is silent": {failed(bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{8}}), true},
		"spent, in no block":    {known(bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: bitcoin.Hash{8}}), false},
		"spent":                 {known(bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{8}}), false},
	} {
		in := pass()
		in.Obs.Taken = c.fact
		v := f.View(in)
		if _, offered := v.Signable().(*Fund); offered != c.offered || (v.Blocked == ErrVaultTaken) == c.offered {
			t.Errorf("%s: action %+v, blocked by %v; want offered %v", name, v.Signable(), v.Blocked, c.offered)
		}
	}
	needs(t, pass, func(in Decision) bool { return f.Ask(in).Taken != nil }, changes{
		"it was asked":          func(in *Decision) { in.Obs.Taken.Asked = true },
		"the quote has expired": func(in *Decision) { in.Now = in.R.Expiry.Time() },
		"the user has signed":   inState(SPVSigned),
	})
}

// strangersPass is a pass over a quote for which a stranger has handed in the transaction
// 9, which was not handed to the LP yet.
func strangersPass() Decision {
	in := spvPass(SPVSigned)()
	in.R.Bitcoin.ByStranger = true
	unspent(&in)
	return in
}

func spentBy(id byte, state bitcoin.SpendState) func(*Decision) {
	return func(in *Decision) {
		in.Obs.Spends = known([]bitcoin.Spend{{State: state, TxID: bitcoin.Hash{id}}, {State: bitcoin.Unspent}})
	}
}

// What a provider refuses ends no vault swap while it takes another transaction: then it
// waits for its owner's.
func TestARefusedTransactionLeavesTheQuoteOpen(t *testing.T) {
	f := newSPVFromBTC()
	refused := passOf(spvPass(SPVSigned), func(in *Decision) {
		in.R.Bitcoin.Tx = twoInputs
		in.R.Tried = map[string]Try{string(PostPSBT): {Started: 1}}
		in.Input = Outcome{Effect: PostPSBT, Refused: true, Again: true, Reason: "an input is spent"}
	})
	checkRows(t, f, []row{{why: "the provider refused the transaction, and takes another one", pass: refused, without: changes{
		"it takes no other": func(in *Decision) {
			in.Input = Outcome{Effect: PostPSBT, Refused: true}
		},
		"it is not known": func(in *Decision) { in.Input = Outcome{Effect: PostPSBT, Again: true} },
		"an earlier attempt had no answer": func(in *Decision) {
			in.R.Tried = map[string]Try{string(PostPSBT): {Started: 1, Attempts: 1}}
		},
		"the quote has expired": func(in *Decision) { in.Now = in.R.Expiry.Time().Add(time.Millisecond) },
		"it has refused often":  func(in *Decision) { in.R.Bitcoin.Declined = make([]Declined, mostDeclined) },
	}}})
	for name, also := range map[string]func(*Decision){
		"its input is spent in a block, which is why": spentOtherwise,
		"a clock was ahead for a moment":              func(in *Decision) { in.R.State = SPVSoftExpired },
	} {
		if next, _ := f.Step(passOf(refused, also)()); next.State != SPVCreated {
			t.Errorf("%s: a refusal leads to state %d, want an open quote", name, next.State)
		}
	}
	next, _ := f.Step(refused())
	b := next.Bitcoin
	if next.Problem == "" || next.Posted() || !isZero(b.TxID) || len(b.Declined) != 1 || b.Declined[0].TxID != (bitcoin.Hash{9}) || next.Tried[string(PostPSBT)].Started != 0 || next.MayPurge() || f.IsUnpaid(next) {
		t.Errorf("after it: %+v, %+v, problem %q", next.Head, b, next.Problem)
	}
	v := f.View(Decision{R: next, Obs: &Observation{}, Now: noon})
	if fund, asks := v.Action.(*Fund); !asks || v.Blocked != nil || !strings.Contains(fund.Description, "was not taken") || v.Row.Finished || v.Row.Failed {
		t.Errorf("shown: %v, %v, %+v", v.Action, v.Blocked, v.Row)
	}
	checkRows(t, f, []row{{why: "the user signed", pass: passOf(declinedPass, func(in *Decision) { in.Input = handedIn(8, true) }), without: changes{
		"a stranger did": func(in *Decision) { in.Input = handedIn(8, false) },
	}}})
	next, _ = f.Step(passOf(declinedPass, func(in *Decision) { in.Input = handedIn(8, true) })())
	if next.Bitcoin.TxID != (bitcoin.Hash{8}) || next.Bitcoin.ByStranger || next.Problem != "" || len(next.Bitcoin.Declined) != 1 {
		t.Errorf("the owner's: %+v, problem %q", next.Bitcoin, next.Problem)
	}
	// Until the quote expires; then what was refused is what is watched.
	checkRows(t, f, []row{{why: "the quote expired, and the provider has refused what was signed", pass: passOf(declinedPass, func(in *Decision) { in.Now = in.R.Expiry.Time().Add(time.Millisecond) }), without: changes{
		"it is the last moment": func(in *Decision) { in.Now = in.R.Expiry.Time() },
		"nothing was refused":   func(in *Decision) { in.R.Bitcoin.Declined = nil },
	}}})
	next, _ = f.Step(passOf(declinedPass, func(in *Decision) { in.Now = in.R.Expiry.Time().Add(time.Millisecond) })())
	if next.Bitcoin.TxID != (bitcoin.Hash{7}) || !next.Posted() || len(f.Effects(Decision{R: next, Obs: &Observation{}, Now: noon})) != 0 || f.Ask(Decision{R: next, Obs: &Observation{}, Now: noon}).Payment == nil {
		t.Errorf("after the quote: %+v", next.Bitcoin)
	}
}

// A provider may send what it has refused: all transactions of a swap spend the vault's
// output, and its spender is the one that is followed.
func TestARefusedTransactionMayBeSent(t *testing.T) {
	f := newSPVFromBTC()
	const why = "a transaction that the provider had refused was sent after all"
	if q := f.Ask(declinedPass()).Spends; len(q) != 1 || q[0] != (bitcoin.OutPoint{}) {
		t.Errorf("asked for %v", q)
	}
	for name, pass := range map[string]func() Decision{
		"while the owner is asked": passOf(declinedPass, spentBy(7, bitcoin.SpentInMempool)),
		"beside the owner's": func() Decision {
			in := spvPass(SPVPosted)()
			in.R.Bitcoin.Tx, in.R.Bitcoin.Declined = twoInputs, []Declined{{bitcoin.Hash{6}, nil}, {bitcoin.Hash{7}, twoInputs}}
			notFound(&in)
			spentBy(7, bitcoin.SpentConfirmed)(&in)
			return in
		},
	} {
		t.Run(name, func(t *testing.T) {
			needs(t, pass, takesRow(f, why), changes{
				"it is unspent":           func(in *Decision) { in.Obs.Spends.Value[0] = bitcoin.Spend{State: bitcoin.Unspent} },
				"another one spends it":   spentBy(5, bitcoin.SpentInMempool),
				"Bitcoin does not answer": func(in *Decision) { in.Obs.Spends = failed(in.Obs.Spends.Value) },
			})
			next, _ := f.Step(pass())
			if b := next.Bitcoin; next.State != SPVBroadcasted || b.TxID != (bitcoin.Hash{7}) || !b.Posted || next.Problem != "" || len(f.Effects(Decision{R: next, Obs: &Observation{}, Now: noon})) != 0 {
				t.Errorf("followed: %+v in %d", b, next.State)
			}
			for _, d := range next.Bitcoin.Declined {
				if d.TxID == next.Bitcoin.TxID {
					t.Error("it is kept beside itself")
				}
			}
			if pass().R.Posted() && next.Bitcoin.Declined[len(next.Bitcoin.Declined)-1].TxID != pass().R.Bitcoin.TxID {
				t.Error("the other one is forgotten")
			}
		})
	}
}

// A stranger's transaction does nothing until the provider has it: it gives way to the
// owner's, and to nothing when one of its inputs is spent.
func TestAStrangersTransactionGivesWay(t *testing.T) {
	f := newSPVFromBTC()
	begun := func(in *Decision) { in.R.Tried = map[string]Try{string(PostPSBT): {Started: 1}} }
	owners := func(in *Decision) { in.R.Bitcoin.ByStranger = false }
	if !sendsPSBT(f, strangersPass()) {
		t.Error("it is not handed over")
	}
	checkRows(t, f, []row{
		{why: "the owner's transaction takes the place of a stranger's", pass: passOf(strangersPass, func(in *Decision) { in.Input = handedIn(8, true) }), without: changes{
			"it is another stranger's":      func(in *Decision) { in.Input = handedIn(8, false) },
			"the provider may have it":      begun,
			"the first is the owner's":      owners,
			"the deadline is over":          func(in *Decision) { in.Now = in.R.Vault.Deadline.Time().Add(time.Millisecond) },
			"there is no transaction in it": func(in *Decision) { in.Input = Submit{Action: ActionFund, ByOwner: true} },
		}},
		{why: "an input of a stranger's transaction was spent elsewhere before the provider had it", pass: passOf(strangersPass, spentBy(5, bitcoin.SpentInMempool)), without: changes{
			"nothing is spent":         unspent,
			"it spends them itself":    spentBy(9, bitcoin.SpentInMempool),
			"the provider may have it": begun,
			"it is the owner's":        owners,
			"Bitcoin does not answer":  func(in *Decision) { in.Obs.Spends = failed(in.Obs.Spends.Value) },
		}},
	})
	in := passOf(strangersPass, func(in *Decision) { in.Input = handedIn(8, true) })()
	if _, taken := f.View(in).Signable().(*Fund); !taken {
		t.Error("the owner's would be refused before it is compared")
	}
	next, _ := f.Step(in)
	if next.Bitcoin.TxID != (bitcoin.Hash{8}) || next.Bitcoin.ByStranger || next.State != SPVSigned {
		t.Errorf("%+v in %d", next.Bitcoin, next.State)
	}
	next, _ = f.Step(passOf(strangersPass, spentBy(5, bitcoin.SpentInMempool))())
	if next.Posted() || next.Problem == "" || len(next.Bitcoin.Declined) != 0 || !f.IsUnpaid(next) || next.State != SPVCreated {
		t.Errorf("%+v in %d, problem %q", next.Bitcoin, next.State, next.Problem)
	}
}

func sendsPSBT(f *Flow, in Decision) bool {
	es := f.Effects(in)
	return len(es) == 1 && es[0].Kind == PostPSBT
}
