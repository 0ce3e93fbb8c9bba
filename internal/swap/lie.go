package swap

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
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
	Agreed json.RawMessage `json:"agreed,omitempty"` // the escrow, vault or payout of the quote; the invoice is in the swap's Lightning part
	Came   json.RawMessage `json:"came,omitempty"`   // what of the LP's answer, or of the chain, shows the lie
}

// Error returns the lie as the error by which [discovery.Directory.Punish] knows it.
func (l *Lie) Error(url string) error {
	return &lp.LPError{LP: url, Check: lp.Check(l.Check), Reason: l.Reason}
}

// enoughWitnesses is how many nodes of a chain must confirm a lie before the LP is punished;
// none may object. A single node may be the LP's enemy.
const enoughWitnesses = 2

// lie returns the lie that was just proved against the LP, nil if nothing is new. Only
// a swap counts whose terms were agreed here: the terms of a recovered or imported swap
// come from somebody else.
//
// A lie is proved by what the LP itself sent or signed, by the bytes of a Bitcoin
// transaction, which match its id, or by what enough nodes of the chain say together
// ([enoughWitnesses]): that the LP opened another escrow for the payment than was agreed,
// that its vault closed over the withdrawal, that gas was paid out short. A delivered
// escrow that is already open or over proves nothing: anyone with the authorisation can open it.
func (in Decision) lie() *Lie {
	r := in.R
	if !r.Quoted || r.Lie != nil {
		return nil
	}
	var err error
	var agreed, came json.RawMessage
	switch e := r.Escrow; {
	case e != nil && e.Expected != nil:
		agreed, came = e.Expected.Data, evidence(in.Obs.LP.Value)
		switch {
		case in.openedFalsely():
			err, came = in.falseEscrow(nil), bounded(shownOpening{in.shown().Data, in.Obs.Found.Value.InitTx})
		case !in.Obs.LP.Known():
		case (r.Type == FromBTCLNAuto || r.Type == FromBTCLN) && e.Real == nil:
			err = in.falseDelivery()
		case r.Type == ToBTC || r.Type == ToBTCLN:
			err = in.falsePayout()
		}
	case r.Type == SPVFromBTC:
		err, agreed, came = in.closedVault(), bounded(r.Vault), bounded(shownClosing{in.Obs.Withdrawal.Value.Close})
	case r.Type == TrustedFromBTC || r.Type == TrustedFromBTCLN:
		err, agreed, came = in.shortGas(), bounded(r.Terms.Output), bounded(shownPayout{in.Obs.LP.Value.PayoutTxID, in.Obs.GasTx.Value.Paid})
	}
	found, ok := errors.AsType[*lp.LPError](err)
	if !ok || !lp.Punishable(err) {
		return nil
	}
	reason := found.Reason
	if len(reason) > mostReason {
		reason = strings.ToValidUTF8(reason[:mostReason], "") + "..."
	}
	return &Lie{At: At(in.Now), Check: string(found.Check), Reason: reason, Agreed: agreed, Came: came}
}

// openedFalsely reports whether enough nodes show an escrow of the LP for the payment. Its
// offerer is the LP, without whose signature none can be opened.
func (in Decision) openedFalsely() bool {
	return in.R.Type == FromBTCLNAuto && in.R.Escrow.Real == nil && in.shown() != nil && in.Obs.Found.Value.Witnesses >= enoughWitnesses && bytes.Equal(in.Obs.Judged, in.shown().Data)
}

// falseDelivery returns what is false about the escrow that the LP presents for a payment.
func (in Decision) falseDelivery() error {
	s := in.Obs.LP.Value
	if s.Code != lp.CodeDone || len(s.Escrow) == 0 || !bytes.Equal(in.Obs.Judged, s.Escrow) { // what was judged is what a node has shown
		return nil
	}
	if in.Obs.Delivered.Known() && forged(in.Obs.Init.Err) {
		return lp.Lie(lp.CheckAuth, "%w", in.Obs.Init.Err)
	}
	return in.falseEscrow(s.Auth)
}

// falseEscrow returns what is false about the escrow that was judged. auth is the
// authorisation to open it, nil where the LP opens it.
func (in Decision) falseEscrow(auth *chains.Auth) error {
	switch {
	case in.Obs.Delivered.Err != nil:
		return in.Obs.Delivered.Err
	case !in.Obs.Delivered.Known() || inTime(in):
		return nil
	}
	inv, err := lightning.Decode(in.R.Lightning.Invoice)
	if err != nil {
		return nil
	}
	return lp.Lasting(*in.Obs.Delivered.Value, inv, auth)
}

// closedVault returns the lie of an LP that signed a withdrawal which its vault could not
// pay: an honest one looks at the same rules before it signs.
func (in Decision) closedVault() error {
	w := in.Obs.Withdrawal
	if !w.Known() || w.Value.State != chains.WithdrawalClosed || w.Value.FrontTx != "" || !w.Value.Final || w.Value.Witnesses < enoughWitnesses {
		return nil
	}
	return lp.Lie(lp.CheckPayout, "the vault closed over the withdrawal and paid nothing")
}

// shortGas returns the lie of an LP whose payout of gas, as it calls it, pays the user less
// than it says. One that pays nothing proves none: a contract may have passed it on.
func (in Decision) shortGas() error {
	f := in.Obs.GasTx
	if !LPSays(lp.CodeDone)(in) || !f.Known() || f.Value.Witnesses < enoughWitnesses || !f.Value.Status.Final || !payoutShort(in) || f.Value.Paid.Sign() <= 0 {
		return nil
	}
	return lp.Lie(lp.CheckPayout, "the payout is %s instead of %s", f.Value.Paid, in.R.Terms.Output.Raw)
}

// falsePayout returns what is false about the payment that the LP says it made, or about
// the refund that it authorises.
func (in Decision) falsePayout() error {
	s := in.Obs.LP.Value
	switch {
	case s.Code == lp.CodeRefund && forged(in.Obs.Refund.Err):
		return lp.Lie(lp.CheckAuth, "%w", in.Obs.Refund.Err)
	case s.Code != lp.CodePaid:
		return nil
	case in.Obs.Payout.Known():
		return in.Obs.Payout.Value.False
	case in.R.Type == ToBTCLN && len(s.Secret) > 0 && len(s.Secret) != len(chains.Preimage{}):
		return lp.Lie(lp.CheckSecret, "the preimage has %d bytes instead of %d", len(s.Secret), len(chains.Preimage{}))
	case in.R.Type == ToBTC && s.TxID != "":
		if _, err := bitcoin.ParseHash(s.TxID); err != nil {
			return lp.Lie(lp.CheckPayout, "%w", err)
		}
	}
	return nil
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

// What is kept of what a chain shows.
type (
	shownOpening struct {
		Escrow json.RawMessage `json:"escrow"`
		InitTx string          `json:"initTx"`
	}
	shownClosing struct {
		CloseTx string `json:"closeTx"`
	}
	shownPayout struct {
		PayoutTx string   `json:"payoutTx"`
		Paid     *big.Int `json:"paid"`
	}
)

// evidence is what an LP's answer shows.
func evidence(s lp.Status) json.RawMessage {
	return bounded(struct {
		Code   int             `json:"code"`
		Escrow json.RawMessage `json:"escrow,omitempty"`
		Auth   *chains.Auth    `json:"auth,omitempty"`
		Secret string          `json:"secret,omitempty"`
		TxID   string          `json:"txId,omitempty"`
	}{s.Code, s.Escrow, s.Auth, hex.EncodeToString(s.Secret), s.TxID})
}

// bounded is evidence as JSON; of a longer one it is a string with its beginning.
func bounded(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err == nil && len(text) > mostEvidence {
		text, err = json.Marshal(string(text[:mostEvidence]))
	}
	if err != nil {
		return nil
	}
	return text
}
