package swap

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
)

// TestRivalsAreAskedFor asks for another swap with the same hash while money can still
// be kept back, and believes only an answer.
func TestRivalsAreAskedFor(t *testing.T) {
	needs(t, outPass(OutSoftExpired, chains.EscrowFact{}), func(in Decision) bool { return payingRival(in.R) != nil }, changes{
		"it is open":          func(in *Decision) { in.R.State = OutCommitted },
		"it pays to Bitcoin":  func(in *Decision) { in.R.Type = ToBTC },
		"there is no hash":    func(in *Decision) { in.R.Lightning.Hash = "" },
		"there is no invoice": func(in *Decision) { in.R.Lightning = nil },
	})
	allows(t, outPass(OutCreated, chains.EscrowFact{}), func(in Decision) bool { return payingRival(in.R) != nil }, changes{"it is new": func(*Decision) {}})
	needs(t, autoPass(LnCreated, chains.EscrowFact{}), func(in Decision) bool { return hashRival(in.R) != nil }, changes{
		"it is paid":       func(in *Decision) { in.R.State = LnPaid },
		"there is no hash": func(in *Decision) { in.R.Lightning.Hash = "" },
		"it is another":    func(in *Decision) { in.R.Type = ToBTCLN },
	})
	needs(t, func() Decision { return Decision{Obs: &Observation{Rival: known(true)}} }, Decision.rivalled, changes{
		"there is none": func(in *Decision) { in.Obs.Rival.Value = false }, "the store does not answer": func(in *Decision) { in.Obs.Rival = failed(true) },
	})
	needs(t, passOf(outPass(OutCommitted, chains.EscrowFact{}), func(in *Decision) { in.R.Shared = []string{ByPaying} }), func(in Decision) bool { return newToBTCLN().View(in).Blocked != nil }, changes{
		"no other pays": func(in *Decision) { in.R.Shared = []string{ByHash} },
	})
}

// TestLieAboutAnEscrowIsSaid tells a provider's escrow that must not be paid for.
func TestLieAboutAnEscrowIsSaid(t *testing.T) {
	f := newFromBTCLNAuto()
	needs(t, passOf(autoPass(LnCreated, chains.EscrowFact{}), func(in *Decision) {
		in.Obs.Delivered = known(&chains.Escrow{Expiry: noon.Add(chains.ClaimGrace).Unix()})
	}), func(in Decision) bool { next, _ := f.Step(in); return next.Problem != "" }, changes{
		"there is time":   func(in *Decision) { in.Obs.Delivered.Value.Expiry += 3600 },
		"nothing is said": func(in *Decision) { in.Obs.Delivered = Fact[*chains.Escrow]{} },
	})
	in := autoPass(LnCreated, chains.EscrowFact{})()
	in.Obs.Delivered = Fact[*chains.Escrow]{Asked: true, Err: &lp.LPError{}}
	if next, _ := f.Step(in); !strings.Contains(next.Problem, "differs from the agreed") {
		t.Errorf("the problem is %q", next.Problem)
	}
}

// TestFirstOpeningIsKept keeps since when watchtowers could settle.
func TestFirstOpeningIsKept(t *testing.T) {
	for f, pass := range map[*Flow]func() Decision{newToBTC(): outPass(OutCreated, chains.EscrowFact{State: chains.EscrowOpen}), newFromBTCLNAuto(): autoPass(LnPaid, chains.EscrowFact{State: chains.EscrowOpen})} {
		for before, want := range map[Millis]Millis{0: At(noon), 5: 5} {
			in := pass()
			in.R.Escrow.OpenedAt = before
			if next, _ := f.Step(in); next.Escrow.OpenedAt != want {
				t.Errorf("%s: opened at %d, want %d", f.Type, next.Escrow.OpenedAt, want)
			}
		}
	}
}

// TestOutgoingOnlyOnAnAnswer makes nothing of an answer that failed, or that says
// nothing of what is asked.
func TestOutgoingOnlyOnAnAnswer(t *testing.T) {
	f, id := newToBTC(), bitcoin.Hash{9}
	needs(t, outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowClaimed, Result: id[:]}), func(in Decision) bool { next, _ := f.Step(in); return next.Bitcoin != nil }, changes{
		"the chain does not answer": func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
		"the escrow is open":        func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowOpen },
		"there is no id":            func(in *Decision) { in.Obs.Escrow.Value.Result = nil },
	})
	offers := func(in Decision) bool { return f.View(in).Action != nil }
	needs(t, outPass(OutCreated, chains.EscrowFact{Auth: chains.AuthGood}), offers, changes{
		"the authorisation was not asked for":    func(in *Decision) { in.Obs.Escrow.Value.Auth = chains.AuthUnknown },
		"the last good word of the chain is old": func(in *Decision) { in.Obs.Escrow, in.Now = failed(in.Obs.Escrow.Value), noon.Add(time.Hour) },
	})
	late := passOf(outPass(OutCommitted, chains.EscrowFact{}), func(in *Decision) {
		in.Now = noon.Add(3 * time.Hour)
		in.Obs.Escrow.Value.Head.Time = in.Now.Unix()
	})()
	if next, _ := f.Step(late); next.State != OutCommitted {
		t.Errorf("an escrow that a node does not know of is to be refunded: state %d", next.State)
	}
}

// TestMinedTransactionsRenewNoPatience notes once that a transaction is mined, and
// none as missing that was not asked for, or never sent.
func TestMinedTransactionsRenewNoPatience(t *testing.T) {
	f := newToBTC()
	in := passOf(refundPass(sent("me")), func(in *Decision) {
		in.R.Submission.Txs[0].Sent, in.R.Submission.Moved = true, 5
		in.Obs.Txs.Value["0x1"] = chains.TxStatus{State: chains.TxConfirmed}
	})()
	if next, _ := f.Step(in); !next.Submission.Txs[0].Sent || next.Submission.Moved != 5 {
		t.Errorf("%+v", next.Submission)
	}
	missing := func(in Decision) bool { next, _ := f.Step(in); return next.Submission.Missing != 0 }
	unknown := chains.TxStatus{}
	needs(t, passOf(refundPass(sent("me")), func(in *Decision) {
		in.Obs.Txs.Value["0x1"], in.Obs.Txs.Value["0x2"] = unknown, unknown
		in.R.Tried = map[string]Try{"send:0": {Attempts: 1}}
	}), missing, changes{
		"it was not asked for": func(in *Decision) { delete(in.Obs.Txs.Value, "0x1") },
		"it was never sent":    func(in *Decision) { in.R.Tried = nil },
		"a node has it":        func(in *Decision) { in.Obs.Txs.Value["0x1"] = chains.TxStatus{State: chains.TxPending} },
	})
}

// TestVaultSwapsRestInTime rests at once where nothing can come of a quote, never
// before its end, and stays at rest.
func TestVaultSwapsRestInTime(t *testing.T) {
	f := newSPVFromBTC()
	rests := func(in Decision) bool { next, _ := f.Step(in); return next.Settled }
	old := func(in *Decision) { in.R.CreatedAt, in.R.Ended = ago(2*spvRest), ago(2*spvRest) }
	needs(t, spvPass(SPVExpired), rests, changes{"the provider has a transaction": func(in *Decision) { in.R.Bitcoin.Posted = true }})
	for name, pass := range map[string]func() Decision{"unposted": spvPass(SPVSoftExpired), "under way": spvPass(SPVBroadcasted), "open": spvPass(SPVCreated)} {
		if rests(passOf(pass, old)()) {
			t.Errorf("%s: it rests", name)
		}
	}
	settled := func(in *Decision) { in.R.Settled, in.R.Ended, in.R.Bitcoin.Posted = true, ago(time.Second), true }
	for _, state := range []int{SPVFronted, SPVFailed, SPVExpired} {
		if !rests(passOf(spvPass(state), settled)()) {
			t.Errorf("state %d: it rests no more", state)
		}
	}
	again := passOf(spvPass(SPVSoftExpired), func(in *Decision) { unspent(in); in.R.Bitcoin.Posted = true })()
	if len(f.Effects(again)) != 1 {
		t.Error("a transaction whose delivery is not known is not handed over again")
	}
}

// TestTrustedKeepsWhatItKnows keeps the payout that was named, and looks at paid
// swaps that were given up for two weeks.
func TestTrustedKeepsWhatItKnows(t *testing.T) {
	gas, coin := newTrustedFromBTCLN(), newTrustedFromBTC()
	names := func(code int, id string) func(*Decision) {
		return func(in *Decision) { in.Obs.LP = known(lp.Status{Code: code, TxID: id}) }
	}
	needs(t, passOf(trustedLNPass(TrustedLNPaid), names(lp.CodeGasSent, "0x2")), func(in Decision) bool { next, _ := gas.Step(in); return next.PayoutTx == "0x2" }, changes{
		"the provider did not answer": lpSilent, "the provider has not sent it": names(lp.CodeGasReceived, "0x2"), "the swap is over": func(in *Decision) { in.R.State = TrustedLNFinished },
	})
	in := passOf(trustedLNPass(TrustedLNPaid), all(names(lp.CodeGasSent, ""), func(in *Decision) { in.R.PayoutTx = "0x1" }))()
	if next, _ := gas.Step(in); next.PayoutTx != "0x1" {
		t.Errorf("the payout is %q", next.PayoutTx)
	}
	rests := func(in Decision) bool { next, _ := coin.Step(in); return next.Settled }
	needs(t, passOf(trustedBTCPass(TrustedBTCExpired), func(in *Decision) { in.R.Gas.Paid, in.R.CreatedAt = true, ago(trustedBTCRest+time.Millisecond) }), rests, changes{
		"nothing keeps it":     func(in *Decision) { in.R.Gas.Paid = false },
		"the time is not over": func(in *Decision) { in.R.CreatedAt = ago(trustedBTCRest) },
	})
	first, mine, named := &bitcoin.Tx{ID: bitcoin.Hash{1}, Confirmations: 1}, &bitcoin.Tx{ID: bitcoin.Hash{2}}, &bitcoin.Tx{ID: bitcoin.Hash{3}}
	pay := passOf(trustedBTCPass(TrustedBTCCreated), receives(&bitcoin.Tx{ID: bitcoin.Hash{4}}, first, mine, named))()
	for _, want := range []*bitcoin.Tx{first, mine, named} {
		switch want {
		case mine:
			pay.R.Submission = &Submission{PSBT: mine.ID}
		case named:
			pay.Obs.LP = known(lp.Status{TxID: named.ID.String()})
		}
		if got := trustedBTCPayment(pay, pay.R); got != want {
			t.Errorf("the payment is %v, want %v", got.ID, want.ID)
		}
	}
}

// TestSecretIsReadWhole refuses what is not 64 hex digits, so that no half of a seed
// is taken for one.
func TestSecretIsReadWhole(t *testing.T) {
	good := `"` + strings.Repeat("0a", 32) + `"`
	var s chains.Preimage
	if err := json.Unmarshal([]byte(good), &s); err != nil || s[31] != 10 {
		t.Fatal(err)
	}
	for _, text := range []string{"", good[:65], "x" + good[1:], good[:65] + "x", `"` + strings.Repeat("zz", 32) + `"`, `"0a` + good[1:]} {
		if s.UnmarshalJSON([]byte(text)) == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
