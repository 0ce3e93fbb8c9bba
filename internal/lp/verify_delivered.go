package lp

import (
	"encoding/json"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/deadline"
	"github.com/swapper-go/swapper/internal/lightning"
)

// VerifyDelivered compares the escrow that an LP, or a log of the chain,
// presents after a Lightning payment with the one that was agreed on. The expiry
// is the LP's choice and the amount may be more; in the legacy type, where the
// user locks it, the deposit may be less. Whether there is time to use it is judged by
// [deadline.Next] and [Openable] (protocol: lp-protocol.md §6.5, §6.6). Pure.
func VerifyDelivered(k chains.Contract, want chains.Escrow, data json.RawMessage, legacy bool) (chains.Escrow, error) {
	got, err := ReadEscrow(k, data)
	if err != nil {
		return chains.Escrow{}, err
	}
	may := []chains.Field{chains.AnySequence, chains.AnyExpiry, chains.AtLeastAmount}
	if legacy {
		may = append(may, chains.AtMostDeposits)
	}
	if err := k.Diff(want, got, may...); err != nil {
		return chains.Escrow{}, lie(CheckEscrow, "%w", err)
	}
	return got, nil
}

// minLasts is how long, in seconds, an escrow must last from its invoice on to be of
// any use: the claim's grace, and as long to open it and to see that final. LPs let it
// last for 2,400 s from the payment on (protocol: lp-protocol.md §8.4).
const minLasts = 1200

// VerifyLasting checks that an escrow that an LP delivers for the payment of an invoice
// could ever be claimed, by what the LP itself has signed: when it made the invoice,
// and until when the user may open the escrow (auth, nil where the LP opens it). No
// clock but the LP's own counts. Pure.
func VerifyLasting(e chains.Escrow, inv *lightning.Invoice, auth *chains.Auth) error {
	if lasts := e.Expiry - inv.Timestamp; lasts < minLasts {
		return lie(CheckTooLate, "the escrow ends %d s after its invoice was made, which leaves no time to claim it", lasts)
	}
	if auth != nil && deadline.Claim.TooLate(e.Expiry, chains.Block{}, time.Unix(auth.Timeout, 0)) {
		return lie(CheckTooLate, "the escrow ends at %d, but may be opened until %d, too late to claim it", e.Expiry, auth.Timeout)
	}
	return nil
}

// Openable checks a delivered escrow that the user has to open (the legacy type): it was
// not opened yet, the authorisation is good, for which auth is the error of
// [chains.Contract.VerifyInit], and there is time to sign ([deadline.Sign]). Pure.
func Openable(e chains.Escrow, f chains.EscrowFact, auth error, now time.Time) error {
	if f.State != chains.EscrowNone {
		return lie(CheckCommitted, "the escrow is already %s", f.State)
	}
	if auth != nil {
		return (Agreed{Now: now}).authorized(Authorized{Err: auth})
	}
	if deadline.Sign.TooLate(e.Expiry, f.Head, now) {
		return lie(CheckTooLate, "the escrow expires at %d, too soon at %d to claim it safely: %s must be left", e.Expiry, max(now.Unix(), f.Head.Time), deadline.Sign.Margin())
	}
	return nil
}
