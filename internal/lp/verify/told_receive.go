package verify

import (
	"encoding/json"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
)

// ToldReceive are the figures of a swap from Lightning as a service tells them.
type ToldReceive struct {
	Sats    *big.Int // of the invoice
	SwapFee *big.Int // sats, within them
	Output  *big.Int // base units of the token
	Vault   bool     // pays out, which may cut an exact output to its units
	Besides bool     // the user pays for the claim besides, so that the output is the whole worth
}

// ReceiveTold checks the requested side, the fee and the price of a swap from Bitcoin or
// Lightning. How much of the rest is a watchtower's pay is the service's word: the policy
// bounds what of it may be missing. Of want it uses the amount, the token, the price and the
// policy. Pure.
func ReceiveTold(want Agreed, got ToldReceive) error {
	if err := sane(figure{"inputAmount", got.Sats}, figure{"outputAmount", got.Output}, figure{"fees.swap", got.SwapFee}); err != nil {
		return err
	}
	if err := want.requested(got.Sats, got.Output); err != nil && !(got.Vault && !want.ExactIn && cut(got.Output, want.Amount)) {
		return err
	}
	if got.Sats.Sign() == 0 || !got.Sats.IsInt64() || got.Sats.Int64() > rawtx.MaxMoney || got.Output.Sign() == 0 {
		return lp.Lie(lp.CheckNumbers, "%s sats for %s base units are out of range", got.Sats, got.Output)
	}
	if want.Price == nil {
		return errUnknown("the market price is")
	}
	want.Policy.AnyFee = true
	if err := want.acceptedFee(lp.CheckFee, got.SwapFee, got.Sats, nil, want.Token, want.Price); err != nil {
		return err
	}
	if got.Besides {
		_, err := want.fairReceive(got.Sats, got.Output, got.SwapFee, nil)
		return err
	}
	return want.fairAfterWatchtower(got.Sats, got.Output, got.SwapFee, got.Sats)
}

// InvoiceTold checks an invoice that a service wants paid: its hash, amount, description,
// how long it lets the payment be held, and that it has not expired. Of want it uses the
// time. Pure.
func InvoiceTold(want Agreed, is InvoiceExpected, text string, pays *big.Int) (*lightning.Invoice, error) {
	inv, err := is.readInvoice(text)
	if err != nil {
		return nil, err
	}
	if err := is.check(inv); err != nil {
		return nil, err
	}
	if got := sats(inv); !same(got, pays) {
		return nil, lp.Lie(lp.CheckRequested, "the invoice is for %s sats, agreed were %s", got, pays)
	}
	_, err = want.expires(inv)
	return inv, err
}

// DeliveredTold compares an escrow that a chain shows with what was agreed on for a swap
// from Lightning: the token, at least the amount, the payment's hash, paid out to the
// user. Who offers it, and the deposit and bounty that he pays beside it, are his choice.
// Of want it uses the user, the token, the native token and the contract. Pure.
func DeliveredTold(want Agreed, paymentHash [32]byte, amount *big.Int, got chains.Escrow) error {
	want.LP = got.Offerer
	e, err := want.Contract.Expect(chains.Spec{
		Kind: chains.HTLC, Offerer: got.Offerer, Claimer: want.User, Token: want.Token.Address, Amount: amount,
		Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: paymentHash}, PayOut: true, Expiry: got.Expiry, Sequence: got.Sequence,
		SecurityDeposit: got.SecurityDeposit, ClaimerBounty: got.ClaimerBounty, DepositToken: got.DepositToken,
	})
	if err != nil {
		return lp.Lie(lp.CheckEscrow, "the escrow's terms are invalid: %w", err)
	}
	if err := want.twoParties("dstAddress"); err != nil {
		return err
	}
	_, err = Delivered(want.Contract, e, json.RawMessage(got.Data), false)
	return err
}
