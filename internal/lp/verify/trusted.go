package verify

import (
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
)

// Fees that are assumed of an LP for trusted swaps whose announcement is not
// known (protocol: lp-protocol.md §6.10).
const (
	TrustedBaseFeeSats = 10
	TrustedFeePPM      = 10_000
)

// TrustedLN checks the answer for a gas swap from Lightning. Nothing
// forces the LP to pay out afterwards (protocol: lp-protocol.md §6.10). Of want
// the token is the native one, and Amount what is paid out. Pure.
func TrustedLN(want Agreed, network bitcoin.Network, got lp.TrustedLNQuote) (Accepted, error) {
	if err := sane(figure{"swapFee", got.SwapFee}, figure{"swapFeeSats", got.SwapFeeSats}, figure{"total", got.Total}); err != nil {
		return Accepted{}, err
	}
	inv, err := lightning.Decode(got.Invoice)
	if err != nil {
		return Accepted{}, lp.Lie(lp.CheckInvoice, "%w", err)
	}
	if err := inv.RequireNetwork(network); err != nil {
		return Accepted{}, lp.Lie(lp.CheckInvoice, "%w", err)
	}
	if err := first(func() error { return (InvoiceExpected{}).amount(inv) }, func() error { return holdable(inv) }); err != nil {
		return Accepted{}, err
	}
	expires, err := want.expires(inv)
	if err != nil {
		return Accepted{}, err
	}
	a, err := want.trusted(sats(inv), got.Total, got.SwapFee, got.SwapFeeSats)
	a.Expires, a.Invoice = expires, inv
	return a, err
}

// TrustedBTC checks the answer for a gas swap from Bitcoin, like
// [TrustedLN]. Pure.
func TrustedBTC(want Agreed, network bitcoin.Network, got lp.TrustedBTCQuote) (Accepted, error) {
	if err := sane(figure{"swapFee", got.SwapFee}, figure{"swapFeeSats", got.SwapFeeSats}, figure{"total", got.Total},
		figure{"amountSats", got.AmountSats}, figure{"sequence", got.Sequence}); err != nil {
		return Accepted{}, err
	}
	if !got.AmountSats.IsInt64() || got.AmountSats.Int64() > rawtx.MaxMoney {
		return Accepted{}, lp.Lie(lp.CheckNumbers, "the amount of %s sats is out of range", got.AmountSats)
	}
	to, err := bitcoin.ParseAddress(got.BTCAddress, network)
	if err != nil {
		return Accepted{}, lp.Lie(lp.CheckAddress, "%w", err)
	}
	if got.ExpiresAt <= want.Now.UnixMilli() {
		return Accepted{}, lp.Late(lp.CheckQuoteExpiry, "the quote expired at %d ms", got.ExpiresAt)
	}
	a, err := want.trusted(got.AmountSats, got.Total, got.SwapFee, got.SwapFeeSats)
	a.Expires = time.UnixMilli(got.ExpiresAt)
	a.Payment = &Payment{Address: to.String(), Script: to.Script(), Sats: got.AmountSats.Int64()}
	return a, err
}

func (a Agreed) trusted(sats, total, fee, feeSats *big.Int) (Accepted, error) {
	if !same(total, a.Amount) {
		return Accepted{}, lp.Lie(lp.CheckRequested, "the payout is %s, requested was %s", total, a.Amount)
	}
	if a.BaseFee == nil && a.FeePPM == nil {
		a.BaseFee, a.FeePPM = big.NewInt(TrustedBaseFeeSats), big.NewInt(TrustedFeePPM)
	}
	if err := a.acceptedFee(lp.CheckFee, feeSats, sats, a.BaseFee, a.Token, a.Price); err != nil {
		return Accepted{}, err
	}
	r, err := a.fairReceive(sats, total, feeSats, nil)
	if err != nil {
		return Accepted{}, err
	}
	return Accepted{Input: sats, Output: total, SwapFee: fee, SwapFeeSats: feeSats, Price: r}, nil
}
