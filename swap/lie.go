package swap

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
)

// Lie is the first false thing that the LP sent after the quote: the evidence for which
// it is punished, once for each swap.
type Lie struct {
	At     Millis          `json:"at"`
	Check  string          `json:"check"` // which of the checks of an LP failed
	Reason string          `json:"reason"`
	Agreed json.RawMessage `json:"agreed,omitempty"` // the escrow of the quote; the invoice is in the swap's Lightning part
	Came   json.RawMessage `json:"came,omitempty"`   // what of the LP's answer shows the lie
}

// Error returns the lie as the error by which [lp.Directory.Punish] knows it.
func (l *Lie) Error(url string) error {
	return &lp.LPError{LP: url, Check: lp.Check(l.Check), Reason: l.Reason}
}

// lie returns what the LP has just been shown to lie about, nil if nothing is new. Only
// a swap counts whose terms were agreed here: what a recovered or imported one was
// promised, somebody else says.
//
// Only what the LP itself sent or signed proves a lie, and the bytes of a Bitcoin
// transaction, which its id names. What a node says of a chain proves none: not that a
// delivered escrow is open or ended already, not that an account disowns a signature, not
// that gas was paid out short. Such a lie belongs here too, once its fact is settled:
// said by as many nodes as an irreversible act takes.
func (in In) lie() *Lie {
	r, s := in.R, in.Obs.LP
	if !r.Quoted || r.Lie != nil || r.Escrow == nil || r.Escrow.Expected == nil || !s.Known() {
		return nil
	}
	var err error
	switch r.Type {
	case FromBTCLNAuto, FromBTCLN:
		if r.Escrow.Real == nil {
			err = in.falseDelivery()
		}
	case ToBTC, ToBTCLN:
		err = in.falsePayout()
	}
	found, ok := errors.AsType[*lp.LPError](err)
	if !ok || !lp.Punishable(err) {
		return nil
	}
	reason := found.Reason
	if len(reason) > mostReason {
		reason = strings.ToValidUTF8(reason[:mostReason], "") + "..."
	}
	return &Lie{At: At(in.Now), Check: string(found.Check), Reason: reason, Agreed: r.Escrow.Expected.Data, Came: evidence(s.Value)}
}

// falseDelivery returns what is false about the escrow that the LP presents for a payment.
func (in In) falseDelivery() error {
	s := in.Obs.LP.Value
	if s.Code != lp.CodeDone || len(s.Escrow) == 0 {
		return nil
	}
	if f := in.Obs.Found; in.R.Type == FromBTCLNAuto && f.Known() && f.Value.Escrow != nil {
		return nil // what was judged is what a node has shown
	}
	switch {
	case in.Obs.Delivered.Err != nil:
		return in.Obs.Delivered.Err
	case !in.Obs.Delivered.Known():
		return nil
	case forged(in.Obs.Init.Err):
		return lieAbout(lp.CheckAuth, in.Obs.Init.Err)
	case inTime(in):
		return nil
	}
	inv, err := lightning.Decode(in.R.Lightning.Invoice)
	if err != nil {
		return nil
	}
	return lp.VerifyLasting(*in.Obs.Delivered.Value, inv, s.Auth)
}

// falsePayout returns what is false about the payment that the LP says it made, or about
// the refund that it authorises.
func (in In) falsePayout() error {
	s := in.Obs.LP.Value
	switch {
	case s.Code == lp.CodeRefund && forged(in.Obs.Refund.Err):
		return lieAbout(lp.CheckAuth, in.Obs.Refund.Err)
	case s.Code != lp.CodePaid:
		return nil
	case in.Obs.Payout.Known():
		return in.Obs.Payout.Value.False
	case in.R.Type == ToBTCLN && len(s.Secret) > 0 && len(s.Secret) != len(chains.Preimage{}):
		return lieAbout(lp.CheckSecret, fmt.Errorf("the preimage has %d bytes instead of %d", len(s.Secret), len(chains.Preimage{})))
	case in.R.Type == ToBTC && s.TxID != "":
		if _, err := bitcoin.ParseHash(s.TxID); err != nil {
			return lieAbout(lp.CheckPayout, err)
		}
	}
	return nil
}

func lieAbout(c lp.Check, err error) error {
	e := lp.Lie("%w", err)
	e.Check = c
	return e
}

// forged reports whether an authorisation shows by itself that it is false.
func forged(err error) bool {
	e, ok := errors.AsType[*chains.AuthError](err)
	return ok && e.Proven && !e.Late
}

// What is kept of a lie at most, in bytes: honest answers have a few thousand.
const (
	mostReason   = 300
	mostEvidence = 16 << 10
)

// evidence is what an LP's answer shows; of a longer one it is a string with its beginning.
func evidence(s lp.Status) json.RawMessage {
	text, err := json.Marshal(struct {
		Code   int             `json:"code"`
		Escrow json.RawMessage `json:"escrow,omitempty"`
		Auth   *chains.Auth    `json:"auth,omitempty"`
		Secret string          `json:"secret,omitempty"`
		TxID   string          `json:"txId,omitempty"`
	}{s.Code, s.Escrow, s.Auth, hex.EncodeToString(s.Secret), s.TxID})
	if err == nil && len(text) > mostEvidence {
		text, err = json.Marshal(string(text[:mostEvidence]))
	}
	if err != nil {
		return nil
	}
	return text
}
