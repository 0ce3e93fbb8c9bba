package swap

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
)

// TestOnlyUnusedQuotesAreDeleted names everything that keeps a record: without it
// nothing leads back to the money.
func TestOnlyUnusedQuotesAreDeleted(t *testing.T) {
	pass := func() Decision {
		return Decision{R: &Record{Head: Head{Type: FromBTCLNAuto}, Escrow: &EscrowPart{}, Lightning: &LightningPart{Withdraw: &Withdraw{}}, Gas: &GasPart{}, Bitcoin: &BitcoinPart{}}}
	}
	purged := func(in Decision) bool { return in.R.MayPurge() }
	needs(t, pass, purged, changes{
		"something was submitted":    func(in *Decision) { in.R.Submission = &Submission{Closed: true} },
		"something was tried":        func(in *Decision) { in.R.Tried = map[string]Try{"send:0": {}} },
		"the escrow was opened":      func(in *Decision) { in.R.Escrow.InitTx = "0x1" },
		"the escrow was claimed":     func(in *Decision) { in.R.Escrow.ClaimTx = "0x1" },
		"the escrow was refunded":    func(in *Decision) { in.R.Escrow.RefundTx = "0x1" },
		"the provider announced one": func(in *Decision) { in.R.Escrow.Real = &chains.Escrow{} },
		"a service was asked to pay": func(in *Decision) { in.R.Lightning.Withdraw.Asked = true },
		"gas was paid for":           func(in *Decision) { in.R.Gas.Paid = true },
		"the provider may have it":   func(in *Decision) { in.R.Bitcoin.Posted = true },
		"a transaction is signed":    func(in *Decision) { in.R.Bitcoin.Tx = []byte{1} },
		"a transaction is known":     func(in *Decision) { in.R.Bitcoin.TxID = bitcoin.Hash{1} },
	})
	allows(t, pass, purged, changes{
		"the user would open the escrow": func(in *Decision) { in.R.Type, in.R.Escrow.Real = ToBTC, &chains.Escrow{} },
		"it has no parts":                func(in *Decision) { in.R = &Record{} },
		"there is no link":               func(in *Decision) { in.R.Lightning.Withdraw = nil },
	})
}

// TestInvoiceIsHeldWhileItMayBePaid keeps another swap from paying the same invoice.
func TestInvoiceIsHeldWhileItMayBePaid(t *testing.T) {
	with := func(state int, s *Submission) func() Decision {
		return func() Decision {
			return Decision{R: &Record{Head: Head{State: state}, Escrow: &EscrowPart{}, Submission: s}}
		}
	}
	held := func(in Decision) bool { return in.R.mayHavePaid() }
	back := changes{"the money came back": func(in *Decision) { in.R.Escrow.RefundTx = "0x1" }, "there is no escrow": func(in *Decision) { in.R.Escrow = nil }}
	needs(t, with(OutCreated, &Submission{}), held, back)
	needs(t, with(OutCreated, &Submission{Closed: true}), held, back)
	needs(t, func() Decision { in := with(OutCreated, nil)(); in.R.Escrow.InitTx = "0x1"; return in }, held, back)
	forgotten := &Submission{Closed: true, Reason: "forgotten", Missing: 1}
	needs(t, with(OutSoftExpired, forgotten), held, changes{"it is too late for it": func(in *Decision) { in.R.State = OutExpired }})
	for name, pass := range map[string]func() Decision{"refused": with(OutCreated, &Submission{Closed: true, Reason: "no"}), "nothing": with(OutCreated, nil)} {
		if held(pass()) {
			t.Errorf("%s: it is held", name)
		}
	}
}

// TestKeysOfBareRecords gives a recovered record no key that others would share.
func TestKeysOfBareRecords(t *testing.T) {
	for name, r := range map[string]*Record{
		"gas without a hash":  {Gas: &GasPart{}},
		"no payment":          {Vault: &VaultPart{}},
		"no transaction":      {Vault: &VaultPart{}, Bitcoin: &BitcoinPart{}},
		"not announced":       {Head: Head{Type: ToBTC}, Escrow: &EscrowPart{Expected: &chains.Escrow{ClaimHash: []byte{1}}}},
		"no escrow":           {},
		"nothing is expected": {Head: Head{Type: FromBTCLNAuto}, Escrow: &EscrowPart{}},
		"no invoice, no hash": {Head: Head{Type: ToBTCLN}, Lightning: &LightningPart{}, Escrow: &EscrowPart{InitTx: "0x1"}},
	} {
		for _, k := range r.Keys(StateRow{}) {
			if k.Unique || k.Index != BySigner {
				t.Errorf("%s: %+v", name, k)
			}
		}
	}
}

// TestEndsAreSettledByTheSameEnd rests only on a final answer that shows the end that
// the record has: a node that lags may still show another one.
func TestEndsAreSettledByTheSameEnd(t *testing.T) {
	rests := func(f *Flow) func(Decision) bool {
		return func(in Decision) bool { next, _ := f.Step(in); return next.Settled }
	}
	escrow := func(s chains.EscrowState) func(*Decision) {
		return func(in *Decision) { in.Obs.Escrow.Value.State = s }
	}
	vault := func(s chains.WithdrawalState) func(*Decision) {
		return func(in *Decision) { in.Obs.Withdrawal.Value.State = s }
	}
	final := func(pass func() Decision, change func(*Decision)) func() Decision {
		return passOf(pass, func(in *Decision) {
			in.R.Seen, in.R.Ended = Seen{Chain: 101, At: ago(time.Minute)}, ago(settleAfter)
			if in.Obs.Escrow.Asked {
				in.Obs.Escrow.Value.Final = true
			} else {
				withdrawn(chains.WithdrawalClaimed)(in)
				in.Obs.Withdrawal.Value.Final = true
			}
			change(in)
		})
	}
	for name, c := range map[string]struct {
		f         *Flow
		pass      func() Decision
		right     func(*Decision)
		otherwise func(*Decision)
	}{
		"paid out":     {newToBTC(), outPass(OutClaimed, chains.EscrowFact{}), escrow(chains.EscrowClaimed), escrow(chains.EscrowRefunded)},
		"refunded":     {newToBTC(), outPass(OutRefunded, chains.EscrowFact{}), escrow(chains.EscrowRefunded), escrow(chains.EscrowClaimed)},
		"claimed":      {newFromBTCLNAuto(), autoPass(LnClaimed, chains.EscrowFact{}), escrow(chains.EscrowClaimed), escrow(chains.EscrowRefunded)},
		"given back":   {newFromBTCLNAuto(), autoPass(LnFailed, chains.EscrowFact{}), escrow(chains.EscrowRefunded), escrow(chains.EscrowClaimed)},
		"vault paid":   {newSPVFromBTC(), spvPass(SPVClaimed), vault(chains.WithdrawalClaimed), vault(chains.WithdrawalClosed)},
		"vault closed": {newSPVFromBTC(), spvPass(SPVClosed), vault(chains.WithdrawalClosed), vault(chains.WithdrawalClaimed)},
	} {
		t.Run(name, func(t *testing.T) {
			needs(t, final(c.pass, c.right), rests(c.f), changes{
				"the node shows another end": c.otherwise,
				"it is not final":            func(in *Decision) { in.Obs.Escrow.Value.Final, in.Obs.Withdrawal.Value.Final = false, false },
				"it was heard just now":      func(in *Decision) { in.R.Ended = ago(settleAfter - time.Millisecond) },
				"it is not known since when": func(in *Decision) { in.R.Ended = 0 },
				"the chain does not answer": func(in *Decision) {
					in.Obs.Escrow, in.Obs.Withdrawal = failed(in.Obs.Escrow.Value), failed(in.Obs.Withdrawal.Value)
				},
			})
		})
	}
}

// TestPayoutIsKeptOnceProven takes nothing over from a payout that is not proven, and
// from one that is only what was not agreed.
func TestPayoutIsKeptOnceProven(t *testing.T) {
	f, id := newToBTC(), bitcoin.Hash{9}
	shown := func() Decision {
		in := outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
		in.R.Type = ToBTC
		in.Obs.Payout = known(PayoutFact{Proven: true, TxID: id, Vout: 2, Address: "bc1q", Sats: 5, Nonce: 6, Confirmations: 7})
		return in
	}
	needs(t, shown, func(in Decision) bool { next, _ := f.Step(in); return next.Bitcoin != nil && next.Bitcoin.TxID == id }, changes{
		"it is not proven":     func(in *Decision) { in.Obs.Payout.Value.Proven = false },
		"the proof is missing": func(in *Decision) { in.Obs.Payout = failed(in.Obs.Payout.Value) },
	})
	next, _ := f.Step(shown())
	if b := *next.Bitcoin; b.Vout != 2 || b.Address != "bc1q" || b.Sats != 5 || b.Nonce != 6 || b.Confirmations != 7 {
		t.Errorf("a recovered swap learns %+v", b)
	}
	in := shown()
	in.R.Bitcoin = &BitcoinPart{Address: "bc1p", Sats: 1, Nonce: 2, Confirmations: 3}
	next, _ = f.Step(in)
	if b := *next.Bitcoin; b.TxID != id || b.Address != "bc1p" || b.Sats != 1 || b.Nonce != 2 || b.Confirmations != 3 {
		t.Errorf("what was agreed became %+v", b)
	}
	if v := f.View(Decision{R: next, Obs: &Observation{}, Now: noon}); v.Steps[1].InitTx != id.String() || v.Steps[1].SettleTx != "" {
		t.Errorf("shown as %+v", v.Steps[1])
	}
	paid := passOf(shown, func(in *Decision) {
		in.R.Bitcoin = &BitcoinPart{Nonce: 2, Confirmations: 3}
		in.Obs.Payout, in.Obs.LP = Fact[PayoutFact]{}, known(lp.Status{Code: lp.CodePaid, TxID: id.String()})
	})
	asks := func(in Decision) bool {
		a := f.Ask(in).Payout
		return a != nil && a.TxID == id && a.Nonce == 2 && a.Confirmations == 3
	}
	needs(t, paid, asks, changes{
		"the provider names none":     func(in *Decision) { in.Obs.LP.Value.TxID = "" },
		"the provider says otherwise": func(in *Decision) { in.Obs.LP.Value.Code = lp.CodeProcessing },
		"the provider did not answer": lpSilent,
		"that was done":               func(in *Decision) { in.Obs.Payout = known(PayoutFact{}) },
	})
	in = paid()
	in.R.Bitcoin = nil
	if a := f.Ask(in).Payout; a == nil || a.TxID != id || a.Nonce != 0 {
		t.Errorf("a recovered swap asks %+v", a)
	}
}

// TestPreimageIsCheckedAgainstItsHash keeps no other preimage, and asks the chain
// about none that cannot be one.
func TestPreimageIsCheckedAgainstItsHash(t *testing.T) {
	hash := autoPass(LnCreated, chains.EscrowFact{})().R.Lightning.Hash
	for name, c := range map[string]struct {
		part *LightningPart
		in   []byte
		kept bool
	}{
		"of the hash":    {&LightningPart{Hash: hash}, autoPreimage[:], true},
		"of another":     {&LightningPart{Hash: "aa"}, autoPreimage[:], false},
		"no hash":        {&LightningPart{}, autoPreimage[:], true},
		"nothing known":  {nil, autoPreimage[:], true},
		"not a preimage": {&LightningPart{Hash: hash}, autoPreimage[:31], false},
	} {
		r := &Record{Lightning: c.part}
		if kept := r.KeepPreimage(c.in); kept != c.kept || kept && (r.Lightning.Hash != hash || r.Lightning.Preimage != autoPreimage) || !kept && !r.Lightning.Preimage.IsZero() {
			t.Errorf("%s: kept %v, %+v", name, kept, r.Lightning)
		}
	}
	f := newToBTCLN()
	paid := func() Decision {
		in := outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
		in.Obs.LP = known(lp.Status{Code: lp.CodePaid, Secret: autoPreimage[:]})
		return in
	}
	needs(t, paid, func(in Decision) bool { return f.Ask(in).Payout != nil }, changes{"it is too short": func(in *Decision) { in.Obs.LP.Value.Secret = autoPreimage[:31] }})
	id := func(change func(*Decision)) string {
		in := outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
		change(&in)
		return f.Ask(in).LP.ID
	}
	if a, b, c := id(func(*Decision) {}), id(func(in *Decision) { in.R.Lightning.Hash = "" }), id(func(in *Decision) { in.R.Lightning = nil }); a != "aa" || b != "01" || c != "01" {
		t.Errorf("the provider is asked for %s, %s and %s", a, b, c)
	}
}
