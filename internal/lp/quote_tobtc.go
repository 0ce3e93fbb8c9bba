package lp

import (
	"context"
	"encoding/json"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/async"
)

// ToBTCRequest asks for a quote from a smart chain to Bitcoin (protocol:
// lp-protocol.md §5.1).
type ToBTCRequest struct {
	Chain              string
	Address            string   // Bitcoin address that is paid
	Amount             *big.Int // sats paid out; with ExactIn base units paid in
	ExactIn            bool
	ConfirmationTarget int
	Confirmations      int
	Nonce              uint64
	Token              string                // as the LP spells it
	Offerer            string                // who pays in
	FeeRate            *async.Future[string] // of the chain; nil or "": none
}

// ToBTCQuote is the answer, decoded but not believed.
type ToBTCQuote struct {
	Amount            *big.Int // sats that the LP will pay out
	Address           string   // the LP's on the smart chain
	SatsPerVB         *big.Int // of the payout, cut to a whole number
	ExactSatsPerVB    *float64 // the same, which may be a fraction; nil: older LPs do not say
	NetworkFee        *big.Int // base units, as the rest
	SwapFee           *big.Int
	TotalFee          *big.Int
	Total             *big.Int // what is to be locked in the escrow
	MinRequiredExpiry int64    // Unix seconds
	Escrow            json.RawMessage
	Auth              chains.Auth // to open the escrow
}

// ToBTC asks the LP at base for a quote.
func (c *Client) ToBTC(ctx context.Context, base string, r ToBTCRequest, early Early) (ToBTCQuote, error) {
	var b body
	b.extend(c.o.Extra, "feeRate")
	b.add("address", r.Address)
	b.add("amount", dec(r.Amount))
	b.add("exactIn", r.ExactIn)
	b.add("confirmationTarget", r.ConfirmationTarget)
	b.add("confirmations", r.Confirmations)
	b.add("nonce", dec(new(big.Int).SetUint64(r.Nonce)))
	b.add("token", r.Token)
	b.add("offerer", r.Offerer)
	addLate(&b, "feeRate", r.FeeRate, unlessEmpty)
	return decoded(c, ctx, base, ToBTC.Path()+"/payInvoice"+query("chain", r.Chain), b, early, func(a *answer) ToBTCQuote {
		return ToBTCQuote{
			Amount: a.amount("amount"), Address: a.str("address"), SatsPerVB: a.amount("satsPervByte"), ExactSatsPerVB: a.optionalNumber("satsPervByteNumber"),
			NetworkFee: a.amount("networkFee"), SwapFee: a.amount("swapFee"), TotalFee: a.amount("totalFee"), Total: a.amount("total"),
			MinRequiredExpiry: a.unix("minRequiredExpiry"), Escrow: a.escrow("data"), Auth: a.auth(),
		}
	})
}

// decoded asks for a quote and reads its data.
func decoded[T any](c *Client, ctx context.Context, base, path string, b body, early Early, read func(*answer) T) (T, error) {
	data, err := c.quote(ctx, base, path, b, early)
	if err != nil {
		var zero T
		return zero, err
	}
	return readData(base, data, read)
}

func readData[T any](base string, data json.RawMessage, read func(*answer) T) (T, error) {
	a := newAnswer(data)
	v := read(a)
	if a.err != nil {
		var zero T
		return zero, bad(base, a.err)
	}
	return v, nil
}

// auth reads the authorisation that stands beside an escrow.
func (a *answer) auth() chains.Auth {
	return chains.Auth{Prefix: a.str("prefix"), Timeout: a.unix("timeout"), Signature: a.str("signature")}
}

// escrow reads the chain's own JSON, of which only the chain knows the form.
func (a *answer) escrow(name string) json.RawMessage {
	if raw := a.any(name); len(raw) > 0 && raw[0] == '{' {
		return raw
	}
	a.fail(name, "an object")
	return nil
}

func unlessEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func unlessNil(v *big.Int) any {
	if v == nil {
		return nil
	}
	return v.String()
}
