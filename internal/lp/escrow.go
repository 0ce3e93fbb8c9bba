package lp

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lightning"
)

// What an escrow's life is reckoned with (protocol: lp-protocol.md §6.2).
const (
	SendGraceBlocks = 12
	BlockSeconds    = 600
)

// LatestExpiry is the end of the year 9999, Unix seconds. An escrow that ends later
// never ends, and no sum with its end is to be trusted.
const LatestExpiry = 253_402_300_799

// At returns the bounty for an escrow that ends at expiry, Unix seconds:
// a fee per block until then and an addition (protocol: lp-protocol.md §6.4).
func (b Bounty) At(expiry int64) *big.Int {
	blocks := big.NewInt((expiry - b.StartTimestamp) / BlockSeconds)
	blocks.Mul(blocks, b.SafetyFactor).Add(blocks, b.AddBlock)
	return blocks.Mul(blocks, b.FeePerBlock).Add(blocks, b.AddFee)
}

// sendSafety is the factor for blocks that take longer than usual.
const sendSafety = 2

// SendTimeout returns until when, in Unix seconds, the user of a legacy swap
// from Bitcoin may still send so that the confirmations arrive before the escrow
// ends (protocol: lp-protocol.md §6.4, swap-flows-escrow.md §6.3). An escrow that
// never ends counts as one that ends with the year 9999.
func SendTimeout(expiry int64, confirmations int64) int64 {
	return min(expiry, LatestExpiry) - (SendGraceBlocks+confirmations)*BlockSeconds*sendSafety
}

// minLasts is how long, in seconds, an escrow must last from its invoice on to be of
// any use: the claim's grace, and as long to open it and to see that final. LPs let it
// last for 2,400 s from the payment on (protocol: lp-protocol.md §8.4).
const minLasts = 1200

// Lasting checks that an escrow that an LP delivers for the payment of an invoice
// could ever be claimed, by what the LP itself has signed: when it made the invoice,
// and until when the user may open the escrow (auth, nil where the LP opens it). No
// clock but the LP's own counts. Pure.
func Lasting(e chains.Escrow, inv *lightning.Invoice, auth *chains.Auth) error {
	if lasts := e.Expiry - inv.Timestamp; lasts < minLasts {
		return Lie(CheckTooLate, "the escrow ends %d s after its invoice was made, which leaves no time to claim it", lasts)
	}
	if auth != nil && DutyClaim.TooLate(e.Expiry, chains.Block{}, time.Unix(auth.Timeout, 0)) {
		return Lie(CheckTooLate, "the escrow ends at %d, but may be opened until %d, too late to claim it", e.Expiry, auth.Timeout)
	}
	return nil
}

// AuthError returns what an error of [chains.Contract.VerifyInit] says about the LP: that
// the authorisation is not good, or nothing, because the question was not answered.
func AuthError(err error) error {
	e, refused := errors.AsType[*chains.AuthError](err)
	switch {
	case err == nil:
		return nil
	case refused && e.Late:
		return Late(CheckAuth, "%w", err)
	case refused:
		return Lie(CheckAuth, "%w", err)
	}
	return fmt.Errorf("verify the authorization: %w", err)
}

// Openable checks a delivered escrow that the user has to open (the legacy type): it was
// not opened yet, the authorisation is good, for which auth is the error of
// [chains.Contract.VerifyInit], and there is time to sign ([DutySign]). Pure.
func Openable(e chains.Escrow, f chains.EscrowFact, auth error, now time.Time) error {
	if f.State != chains.EscrowNone {
		return Lie(CheckCommitted, "the escrow is already %s", f.State)
	}
	if auth != nil {
		return AuthError(auth)
	}
	if DutySign.TooLate(e.Expiry, f.Head, now) {
		return Lie(CheckTooLate, "the escrow expires at %d, too soon at %d to claim it safely: %s must be left", e.Expiry, max(now.Unix(), f.Head.Time), DutySign.Margin())
	}
	return nil
}
