package swap

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/lightningnetwork/lnd/zpay32"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// invoiceAt is an LP's invoice of so long ago.
func invoiceAt(t *testing.T, age time.Duration) string {
	t.Helper()
	z := trial.Must(zpay32.NewInvoice(&chaincfg.RegressionNetParams, sha256.Sum256(autoPreimage[:]), noon.Add(-age), zpay32.Description("swap"), zpay32.CLTVExpiry(25), zpay32.Expiry(time.Hour),
		zpay32.Amount(1_000_000), zpay32.PaymentAddr([32]byte{1})))(t)
	key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{7}, 32))
	return trial.Must(z.Encode(zpay32.MessageSigner{SignCompact: func(msg []byte) ([]byte, error) { return ecdsa.SignCompact(key, chainhash.HashB(msg), true), nil }}))(t)
}

// quoted makes the swap of a pass one whose terms were agreed here.
func quoted(pass func() Decision) func() Decision {
	return func() Decision {
		in := pass()
		in.R.Quoted = true
		if in.R.Escrow.Expected == nil {
			in.R.Escrow.Expected = in.R.Escrow.Real
		}
		e := *in.R.Escrow.Expected
		e.Data = json.RawMessage(`{"agreed":1}`)
		in.R.Escrow.Expected = &e
		return in
	}
}

// An LP that lies after the quote leaves evidence with the swap, once: what was agreed,
// and what came.
func TestLiesAfterTheQuote(t *testing.T) {
	short := func(age, left time.Duration) func(*Decision) {
		return func(in *Decision) {
			in.R.Lightning.Invoice = invoiceAt(t, age)
			in.Obs.Delivered = known(&chains.Escrow{Expiry: noon.Add(left).Unix()})
			in.Obs.LP.Value.Auth = nil
		}
	}
	false_ := func(c lp.Check) error { return &lp.LPError{Check: c, Reason: "it is 1, agreed was 2"} }
	delivers := func(f *Flow, pass func() Decision) func() Decision {
		return quoted(func() Decision {
			in := pass()
			in.Obs.LP = known(lp.Status{Code: lp.CodeDone, Escrow: json.RawMessage(`{"came":2}`), Auth: &chains.Auth{Signature: "aa"}})
			in.Obs.Delivered, in.Obs.Judged = Fact[*chains.Escrow]{Asked: true, Err: false_(lp.CheckEscrow)}, in.Obs.LP.Value.Escrow
			return in
		})
	}
	auto := delivers(newFromBTCLNAuto(), autoPass(LnCreated, chains.EscrowFact{}))
	legacy := delivers(newFromBTCLN(), heldPass(LnCreated, chains.EscrowFact{}))
	pays := func(typ Type, s lp.Status) func() Decision {
		return quoted(func() Decision {
			in := outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
			in.R.Type, in.Obs.LP = typ, known(s)
			return in
		})
	}
	falsePayment := func(c lp.Check) func(*Decision) {
		return func(in *Decision) { in.Obs.Payout = known(PayoutFact{False: false_(c)}) }
	}
	refund := pays(ToBTCLN, lp.Status{Code: lp.CodeRefund, Auth: &chains.Auth{Signature: "aa"}})
	forged := func(late, proven bool) func(*Decision) {
		return func(in *Decision) {
			in.Obs.Refund = Fact[struct{}]{Asked: true, Err: &chains.AuthError{Reason: "of another key", Late: late, Proven: proven}}
		}
	}
	forgedInit := func(late, proven bool) func(*Decision) {
		return func(in *Decision) {
			in.Obs.Delivered = known(&chains.Escrow{Expiry: noon.Add(time.Hour).Unix()})
			in.Obs.Init = Fact[Millis]{Asked: true, Err: &chains.AuthError{Reason: "of another key", Late: late, Proven: proven}}
		}
	}
	secret := pays(ToBTCLN, lp.Status{Code: lp.CodePaid, Secret: make([]byte, 32)})
	txid := pays(ToBTC, lp.Status{Code: lp.CodePaid, TxID: strings.Repeat("ab", 32)})
	for name, c := range map[string]struct {
		flow  *Flow
		pass  func() Decision
		tell  func(*Decision)
		check lp.Check // "": none
	}{
		"another escrow":                             {newFromBTCLNAuto(), auto, nil, lp.CheckEscrow},
		"another escrow, to be opened":               {newFromBTCLN(), legacy, nil, lp.CheckEscrow},
		"another escrow, of a swap that is over":     {newFromBTCLNAuto(), auto, func(in *Decision) { in.R.State = LnExpired }, lp.CheckEscrow},
		"another escrow, that a node showed":         {newFromBTCLNAuto(), auto, func(in *Decision) { in.Obs.Judged = json.RawMessage(`{"shown":3}`) }, ""},
		"another escrow, that nobody could read":     {newFromBTCLNAuto(), auto, func(in *Decision) { in.Obs.Delivered = failed[*chains.Escrow](nil) }, ""},
		"another escrow, which an honest LP may err": {newFromBTCLNAuto(), auto, func(in *Decision) { in.Obs.Delivered.Err = &lp.LPError{Check: lp.CheckEscrow, Lenient: true} }, ""},
		"another escrow, and the LP is silent":       {newFromBTCLNAuto(), auto, func(in *Decision) { in.Obs.LP = failed(in.Obs.LP.Value) }, ""},
		"another escrow, not said to be the one":     {newFromBTCLNAuto(), auto, func(in *Decision) { in.Obs.LP.Value.Code = lp.CodeExpired }, ""},
		"a recovered or imported swap":               {newFromBTCLNAuto(), auto, func(in *Decision) { in.R.Quoted = false }, ""},
		"the agreed escrow":                          {newFromBTCLNAuto(), auto, short(time.Minute, time.Hour), ""},

		"an escrow that was always too short": {newFromBTCLNAuto(), auto, short(0, 9*time.Minute), lp.CheckTooLate},
		"too short, to be opened":             {newFromBTCLN(), legacy, short(0, 9*time.Minute), lp.CheckTooLate},
		"too short, by our clock alone":       {newFromBTCLNAuto(), auto, short(50*time.Minute, 9*time.Minute), ""}, // the service was down meanwhile
		"too short, and taken all the same":   {newFromBTCLNAuto(), auto, short(0, 19*time.Minute), ""},
		"may be opened until it cannot be claimed": {newFromBTCLN(), legacy, func(in *Decision) {
			short(50*time.Minute, 9*time.Minute)(in)
			in.Obs.LP.Value.Auth = &chains.Auth{Timeout: noon.Unix()}
		}, lp.CheckTooLate},
		"may be opened while it can be claimed": {newFromBTCLN(), legacy, func(in *Decision) {
			short(50*time.Minute, 9*time.Minute)(in)
			in.Obs.LP.Value.Auth = &chains.Auth{Timeout: noon.Unix() - 61}
		}, ""},
		"an authorisation to open by another":        {newFromBTCLN(), legacy, forgedInit(false, true), lp.CheckAuth},
		"an authorisation to open, by a node's word": {newFromBTCLN(), legacy, forgedInit(false, false), ""},
		"an authorisation to open that came late":    {newFromBTCLN(), legacy, forgedInit(true, true), ""},
		"an escrow that a node shows open already": {newFromBTCLN(), legacy, func(in *Decision) {
			forgedInit(false, false)(in)
			in.Obs.Init = known(Millis(1))
			in.Obs.Found.Value.State = chains.EscrowOpen
		}, ""},
		"an authorisation to refund by another":         {newToBTCLN(), refund, forged(false, true), lp.CheckAuth},
		"an authorisation to refund, by a node's word":  {newToBTCLN(), refund, forged(false, false), ""},
		"an authorisation to refund that came late":     {newToBTCLN(), refund, forged(true, true), ""},
		"a good authorisation to refund":                {newToBTCLN(), refund, func(in *Decision) { in.Obs.Refund = known(struct{}{}) }, ""},
		"another preimage":                              {newToBTCLN(), secret, falsePayment(lp.CheckSecret), lp.CheckSecret},
		"half a preimage":                               {newToBTCLN(), secret, func(in *Decision) { in.Obs.LP.Value.Secret = make([]byte, 16) }, lp.CheckSecret},
		"no preimage":                                   {newToBTCLN(), secret, func(in *Decision) { in.Obs.LP.Value.Secret = nil }, ""},
		"the preimage":                                  {newToBTCLN(), secret, func(in *Decision) { in.Obs.Payout = known(PayoutFact{Proven: true}) }, ""},
		"a transaction that pays another":               {newToBTC(), txid, falsePayment(lp.CheckPayout), lp.CheckPayout},
		"a transaction that is not to be found":         {newToBTC(), txid, func(in *Decision) { in.Obs.Payout = known(PayoutFact{}) }, ""},
		"a transaction that nobody could look for":      {newToBTC(), txid, func(in *Decision) { in.Obs.Payout = failed(PayoutFact{False: false_(lp.CheckPayout)}) }, ""},
		"a transaction whose id is none":                {newToBTC(), txid, func(in *Decision) { in.Obs.LP.Value.TxID = "00" }, lp.CheckPayout},
		"a payment that is still on its way":            {newToBTC(), txid, func(in *Decision) { in.Obs.LP.Value.Code = lp.CodeProcessing }, ""},
		"a payment of a swap whose terms are not known": {newToBTC(), txid, func(in *Decision) { falsePayment(lp.CheckPayout)(in); in.R.Escrow.Expected = nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := c.pass()
			if c.tell != nil {
				c.tell(&in)
			}
			next, _ := c.flow.Step(in)
			if c.check == "" {
				if next.Lie != nil {
					t.Fatalf("%+v", next.Lie)
				}
				return
			}
			l := next.Lie
			if l == nil || l.Check != string(c.check) || l.Reason == "" || l.At != At(noon) || string(l.Agreed) != `{"agreed":1}` {
				t.Fatalf("%+v", l)
			}
			if s := in.Obs.LP.Value; len(s.Escrow) > 0 && !strings.Contains(string(l.Came), `{"came":2}`) || s.TxID != "" && !strings.Contains(string(l.Came), s.TxID) || s.Auth != nil && !strings.Contains(string(l.Came), `"signature"`) {
				t.Errorf("kept of what came: %s", l.Came)
			}
			if err := l.Error("https://lp"); !lp.Punishable(err) || !strings.Contains(err.Error(), "https://lp") {
				t.Errorf("%v", err)
			}
			in.R = next
			in.Now = in.Now.Add(time.Minute)
			if again, _ := c.flow.Step(in); again.Lie != l {
				t.Errorf("told again: %+v", again.Lie)
			}
			if next.MayPurge() {
				t.Error("the evidence may be deleted")
			}
			body := trial.Must(next.Encode())(t)
			if kept, err := Decode(next.ID, 1, body); err != nil || kept.Lie == nil || kept.Lie.Check != string(c.check) || !bytes.Equal(kept.Lie.Came, l.Came) {
				t.Errorf("stored: %+v, %v", kept, err)
			}
		})
	}
}

// What an LP sends is kept within bounds.
func TestEvidenceIsBounded(t *testing.T) {
	long := strings.Repeat("ü", mostEvidence)
	for _, s := range []lp.Status{{TxID: long}, {Escrow: json.RawMessage(`"` + long + `"`)}, {Auth: &chains.Auth{Signature: long}}, {Secret: []byte(long)}} {
		if e := evidence(s); len(e) < mostEvidence || len(e) > 2*mostEvidence || !json.Valid(e) {
			t.Errorf("%d bytes are kept of %d", len(e), len(long))
		}
	}
	in := outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen})()
	in.R.Type, in.R.Quoted, in.R.Escrow.Expected = ToBTC, true, in.R.Escrow.Real
	in.Obs.LP = known(lp.Status{Code: lp.CodePaid, TxID: bitcoin.Hash{9}.String()})
	in.Obs.Payout = known(PayoutFact{False: &lp.LPError{Check: lp.CheckPayout, Reason: long}})
	if next, _ := newToBTC().Step(in); next.Lie == nil || len(next.Lie.Reason) > mostReason+3 {
		t.Errorf("%+v", next.Lie)
	}
}
