package swap

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// Only an answer of the chain tells its clock, and an escrow whose data is not known has
// no status.
func TestClocksOfAnswers(t *testing.T) {
	e := &chains.Escrow{Expiry: noon.Unix()}
	early, late := chains.EscrowFact{Head: chains.Block{Time: noon.Add(-24 * time.Hour).Unix()}}, chains.EscrowFact{Head: chains.Block{Time: noon.Add(24 * time.Hour).Unix()}}
	refundable, claimable := noon.Add(chains.RefundGrace+time.Minute), noon.Add(-chains.ClaimGrace-time.Minute)
	if mayRefund(e, known(early), refundable) || !mayRefund(e, failed(early), refundable) {
		t.Error("a refund goes by the clock of an answer, and of no other")
	}
	if !lateFor(lp.DutyClaim, e, known(late), claimable) || lateFor(lp.DutyClaim, e, failed(late), claimable) {
		t.Error("a claim goes by the clock of an answer, and of no other")
	}
	if s := escrowStatus(known(chains.EscrowFact{State: chains.EscrowOpen}), nil, true, noon); s != statusUnknown {
		t.Errorf("an escrow whose data is not known: %d", s)
	}
}

// Who has revealed the preimage may claim as long as the escrow is open, also when the
// provider may take it back.
func TestRevealedIsClaimedUntilTheEnd(t *testing.T) {
	in := autoPass(LnHTLCExpired, chains.EscrowFact{State: chains.EscrowOpen})()
	in.R.Lightning.Revealed = 1
	in.Now = time.Unix(in.R.Escrow.Real.Expiry, 0).Add(chains.RefundGrace + time.Hour)
	in.Obs.Escrow.Value.Head.Time = in.Now.Unix()
	if next, _ := newFromBTCLNAuto().Step(in); next.State != LnCommitted {
		t.Errorf("state %d", next.State)
	}
}

// A revealed preimage is stored in every state, and does not make a swap end again.
func TestRevealIsStored(t *testing.T) {
	in := autoPass(LnExpired, chains.EscrowFact{})()
	in.R.Lightning.Preimage, in.R.Ended, in.Input = chains.Preimage{}, ago(time.Hour), Reveal{Preimage: autoPreimage}
	next, _ := newFromBTCLNAuto().Step(in)
	if next.Lightning.Preimage != autoPreimage || next.Ended != ago(time.Hour) || next.State != LnExpired {
		t.Errorf("%+v, ended %d", next.Lightning, next.Ended)
	}
}

// The preimage is asked for once the escrow is open, if it is not known.
func TestPreimageIsAskedForWhenItIsNeeded(t *testing.T) {
	f := newFromBTCLNAuto()
	asks := func(in Decision) bool { return *f.View(in).Reveal }
	needs(t, passOf(autoPass(LnCommitted, chains.EscrowFact{State: chains.EscrowOpen}), func(in *Decision) { in.R.Lightning.Preimage = chains.Preimage{} }), asks, changes{
		"it is known":            func(in *Decision) { in.R.Lightning.Preimage = autoPreimage },
		"the escrow is not open": func(in *Decision) { in.R.State = LnPaid },
	})
}

// What pays is noted before it is begun, so that a crash does not do it twice.
func TestPayingEffectsAreNotedFirst(t *testing.T) {
	withdraw := autoPass(LnCreated, chains.EscrowFact{})()
	withdraw.R.Lightning.Withdraw = &Withdraw{Asked: true}
	for f, in := range map[*Flow]Decision{newFromBTCLNAuto(): withdraw, newSPVFromBTC(): passOf(spvPass(SPVSigned), unspent)()} {
		if es := f.Effects(in); len(es) != 1 || !es[0].Mark {
			t.Errorf("%s: %+v", f.Type, es)
		}
	}
}

// A preimage of a swap to Lightning is not ours to reveal; the transactions of a vault
// swap reveal nothing that has to be kept.
func TestWhatRevealsIsSentWhereItMay(t *testing.T) {
	reveals := func(in *Decision) {
		in.R.Submission = &Submission{Since: At(in.Now), Txs: []SignedTx{{Signed: chains.Signed{ID: "0x1", From: "me", Reveals: true}}}}
	}
	out, vault := outPass(OutRefundable, chains.EscrowFact{State: chains.EscrowOpen})(), spvPass(SPVConfirmed)()
	reveals(&out)
	reveals(&vault)
	if es := newToBTCLN().Effects(out); len(es) != 0 {
		t.Errorf("to Lightning: %+v", es)
	}
	if es := newSPVFromBTC().Effects(vault); len(es) != 1 || es[0].Kind != SendTx || !es[0].Until.IsZero() {
		t.Errorf("from a vault: %+v", es)
	}
}

// A refused publication leaves the preimage secret, also when it was refused before.
func TestRefusedPublicationLeavesTheSecret(t *testing.T) {
	in := autoPass(LnCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
	in.R.Lightning.Revealed = At(in.Now)
	in.R.Tried = map[string]Try{Effect{Kind: Publish}.Key(): {Attempts: 1, Outcome: Refused, Started: At(in.Now)}}
	in.Input = Outcome{Effect: Publish, Refused: true, Reason: "no"}
	if next, _ := newFromBTCLNAuto().Step(in); next.Public() {
		t.Error("it counts as public")
	}
	in.R.Tried = map[string]Try{Effect{Kind: Publish}.Key(): {Attempts: 1, Started: At(in.Now)}}
	if next, _ := newFromBTCLNAuto().Step(in); !next.Public() {
		t.Error("it counts as secret after an attempt without an answer")
	}
}

// Swaps may share a claim hash as long as the escrow is not known.
func TestClaimHashIsNotUnique(t *testing.T) {
	if hash, unique := autoPass(LnCreated, chains.EscrowFact{})().R.EventHash(); len(hash) == 0 || unique {
		t.Errorf("%x, unique %v", hash, unique)
	}
}

// A record of which a part cannot be read is not read.
func TestHalfARecordIsNone(t *testing.T) {
	r := outPass(OutCreated, chains.EscrowFact{})().R
	r.ID = "a"
	body, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	trial.Must(Decode("a", 1, body))(t)
	var fields map[string]any
	trial.Do(t, json.Unmarshal(body, &fields))
	fields["escrow"] = "x"
	body = trial.Must(json.Marshal(fields))(t)
	if got, err := Decode("a", 1, body); err == nil {
		t.Errorf("%+v", got)
	}
}

// What a state rests on is the block that the answer names, or else its head.
func TestStepNotesWhatItRestsOn(t *testing.T) {
	out := newToBTCLN()
	opened := outPass(OutCreated, chains.EscrowFact{State: chains.EscrowOpen})()
	other := outPass(OutClaimed, chains.EscrowFact{State: chains.EscrowRefunded, Finished: chains.Block{Height: 140}, Head: chains.Block{Height: 150, Time: noon.Unix()}})()
	other.R.Seen = Seen{Chain: 200, At: ago(time.Hour)}
	same := outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen, Opened: chains.Block{Height: 90}})()
	same.R.Seen = Seen{Chain: 100, At: ago(time.Hour)}
	vault := spvPass(SPVConfirmed)()
	withdrawn(chains.WithdrawalClaimed)(&vault)
	vault.Obs.Withdrawal.Value.Height = 95
	for name, c := range map[string]struct {
		f    *Flow
		in   Decision
		want uint64
	}{
		"opened, the block is not known": {out, opened, 100},
		"on another chain":               {out, other, 140},
		"at the height of before":        {out, same, 90},
		"a vault paid":                   {newSPVFromBTC(), vault, 95},
	} {
		if next, _ := c.f.Step(c.in); next.Seen.Chain != c.want {
			t.Errorf("%s: %d, want %d", name, next.Seen.Chain, c.want)
		}
	}
}

// What the user signed for a vault is with the provider from then on, and a vault swap
// without it is unpaid.
func TestSignedIsPosted(t *testing.T) {
	f := newSPVFromBTC()
	in := spvPass(SPVCreated)()
	if !f.IsUnpaid(in.R) {
		t.Error("a new one is paid")
	}
	in.Input = Submit{Action: ActionFund, PSBT: psbtOf()}
	if next, _ := f.Step(in); next.State != SPVSigned || !next.Posted() {
		t.Errorf("state %d, posted %v", next.State, next.Posted())
	}
	hinted := spvPass(SPVBroadcasted)()
	hinted.Input = Look{}
	needs(t, func() Decision {
		return passOf(func() Decision { return hinted }, func(in *Decision) { in.Obs = &Observation{} })()
	}, func(in Decision) bool { return f.Ask(in).Withdrawal != nil }, changes{
		"it was asked": func(in *Decision) { in.Obs.Withdrawal.Asked = true },
	})
}

// What was handed in as a PSBT has an id.
func TestNothingIsNotWhatWasSubmitted(t *testing.T) {
	if (&Record{Submission: &Submission{PSBT: bitcoin.Hash{9}}}).Submitted(nil) {
		t.Error("nothing is what was submitted")
	}
}

// A provider's answer is used only if it is one, and a swap without its payment part can
// still be displayed.
func TestOutgoingWithParts(t *testing.T) {
	btc := func(state int) Decision {
		in := outPass(state, chains.EscrowFact{State: chains.EscrowOpen})()
		in.R.Type, in.R.Lightning = ToBTC, nil
		return in
	}
	f := newToBTC()
	paid := btc(OutCommitted)
	if q := f.Ask(paid).LP; q == nil || q.Sequence == nil || q.Sequence.Sign() != 0 {
		t.Errorf("%+v", q)
	}
	for id, asks := range map[string]bool{bitcoin.Hash{9}.String(): true, "x": false, "": false} {
		paid.Obs.LP = known(lp.Status{Code: lp.CodePaid, TxID: id})
		if (f.Ask(paid).Payout != nil) != asks {
			t.Errorf("payout %q", id)
		}
	}
	for name, c := range map[string]struct {
		f    *Flow
		part *BitcoinPart
		want string
	}{
		"bitcoin":                {f, &BitcoinPart{TxID: bitcoin.Hash{9}}, bitcoin.Hash{9}.String()},
		"bitcoin, not known":     {f, &BitcoinPart{}, ""},
		"bitcoin, nothing known": {f, nil, ""},
		"lightning":              {newToBTCLN(), nil, ""},
	} {
		in := btc(OutClaimed)
		in.R.Bitcoin = c.part
		if s := c.f.View(in).Steps[1]; s.InitTx != c.want || s.SettleTx != c.want {
			t.Errorf("%s: %+v", name, s)
		}
	}
	created := btc(OutCreated)
	created.R.Escrow, created.Obs = nil, &Observation{}
	if v := f.View(created); v.Action != nil {
		t.Errorf("an escrow that is not known can be opened: %+v", v.Action)
	}
}

func TestPreimagesHaveOneLength(t *testing.T) {
	for _, n := range []int{31, 33} {
		sum := sha256.Sum256(make([]byte, n))
		r := &Record{Lightning: &LightningPart{Hash: hex.EncodeToString(sum[:])}}
		if r.KeepPreimage(make([]byte, n)) {
			t.Errorf("%d bytes", n)
		}
	}
}

// Gas is not at rest before it has ended, and what was not answered does not count.
func TestGasRestsOnAnswers(t *testing.T) {
	f := newTrustedFromBTC()
	short := trustedBTCPass(TrustedBTCCreated)()
	all(says(lp.CodeDone), payout(chains.TxConfirmed, big.NewInt(99)))(&short)
	if next, _ := f.Step(short); next.Ended != 0 || next.Settled {
		t.Error("a payout that is too small ends the swap")
	}
	waits := trustedBTCPass(TrustedBTCRefundable)()
	says(lp.CodeGasRefundable)(&waits)
	waits.R.CreatedAt, waits.R.Gas.Paid, waits.R.Bitcoin.TxID = ago(2*trustedBTCRest), true, bitcoin.Hash{9}
	if next, _ := f.Step(waits); next.Settled {
		t.Error("a payment that is not returned yet is given up")
	}
	if in := trustedBTCPass(TrustedBTCCreated)(); func() bool {
		in.Obs.Received = failed([]*bitcoin.Tx{{ID: bitcoin.Hash{9}}})
		return trustedBTCPaid(in)
	}() {
		t.Error("paid, without an answer")
	}
	refunded := trustedBTCPass(TrustedBTCRefunded)()
	refunded.R.Gas.RefundTx, refunded.R.Ended = "x", ago(time.Hour)
	if a := f.Ask(refunded); a.Refunded != nil {
		t.Errorf("a refund that has no id: %+v", a.Refunded)
	}
	refunded.Obs.Refunded = failed(RefundedFact{Confirmations: trustedBTCRefundFinal, Sats: 1})
	if next, _ := f.Step(refunded); next.Settled {
		t.Error("final, without an answer")
	}
	v := f.View(refunded)
	if len(v.Steps) != 3 || v.Steps[2].Type != stepRefund || v.Steps[0].SettleTx != "" {
		t.Errorf("%+v", v.Steps)
	}
	if v := f.View(trustedBTCPass(TrustedBTCCreated)()); len(v.Steps) != 2 {
		t.Errorf("%+v", v.Steps)
	}
}

// A provider that does not answer has not given an unknown answer, and only an open swap
// is asked for.
func TestGasForLightningAsks(t *testing.T) {
	f := newTrustedFromBTCLN()
	for _, state := range []int{TrustedLNCreated, TrustedLNPaid} {
		in := trustedLNPass(state)()
		lpSilent(&in)
		if next, _ := f.Step(in); next.State != state {
			t.Errorf("silence leads from %d to %d", state, next.State)
		}
	}
	paid := trustedLNPass(TrustedLNPaid)()
	paid.R.PayoutTx = "0x1"
	if a := f.Ask(paid); a.LP == nil || a.GasTx != nil {
		t.Errorf("paid: %+v", a)
	}
	paid.R.LP.URL = ""
	if a := f.Ask(paid); a.LP != nil {
		t.Errorf("nobody to ask: %+v", a)
	}
	finished := trustedLNPass(TrustedLNFinished)()
	if a := f.Ask(finished); a.LP != nil || a.GasTx != nil {
		t.Errorf("finished: %+v", a)
	}
	expired := trustedLNPass(TrustedLNExpired)()
	expired.R.Ended = ago(trustedLNRest + time.Second)
	if next, _ := f.Step(expired); !next.Settled {
		t.Error("an expired swap is never at rest")
	}
}
