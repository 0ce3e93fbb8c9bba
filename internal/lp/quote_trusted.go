package lp

import (
	"context"
	"fmt"
	"math/big"
)

// TrustedRequest asks for a trusted gas swap (protocol:
// lp-protocol.md §5.9, §5.10).
type TrustedRequest struct {
	Chain         string
	Address       string   // recipient
	Amount        *big.Int // base units of the native token
	Token         string   // native token
	RefundAddress string   // Bitcoin only; "": none
}

// TrustedLNQuote is the answer for a Lightning payment, decoded but not believed.
type TrustedLNQuote struct {
	Invoice     string
	SwapFee     *big.Int // base units
	SwapFeeSats *big.Int
	Total       *big.Int // base units paid out
}

// TrustedLN asks the LP at base for a quote.
func (c *Client) TrustedLN(ctx context.Context, base string, r TrustedRequest) (TrustedLNQuote, error) {
	path := TrustedFromBTCLN.Path() + "/createInvoice" + query("address", r.Address, "amount", dec(r.Amount), "chain", r.Chain, "token", r.Token)
	return trusted(c, ctx, base, path, func(a *answer) TrustedLNQuote {
		return TrustedLNQuote{Invoice: a.str("pr"), SwapFee: a.amount("swapFee"), SwapFeeSats: a.amount("swapFeeSats"), Total: a.amount("total")}
	})
}

// TrustedBTCQuote is the answer for an on-chain payment, decoded but not believed.
type TrustedBTCQuote struct {
	PaymentHash    string
	Sequence       *big.Int
	BTCAddress     string
	AmountSats     *big.Int
	SwapFeeSats    *big.Int
	SwapFee        *big.Int // base units
	Total          *big.Int // base units paid out
	Address        string   // the LP's on the smart chain
	RecommendedFee float64  // sats/vB
	ExpiresAt      int64    // Unix milliseconds
}

// TrustedBTC asks the LP at base for a quote. The amount is what is paid out, and
// is sent as such: the network's own client calls it the input, which LPs read
// as sats (protocol: lp-protocol.md §9 no. 19).
func (c *Client) TrustedBTC(ctx context.Context, base string, r TrustedRequest) (TrustedBTCQuote, error) {
	pairs := []string{"chain", r.Chain, "address", r.Address, "amount", dec(r.Amount)}
	if r.RefundAddress != "" {
		pairs = append(pairs, "refundAddress", r.RefundAddress)
	}
	pairs = append(pairs, "exactIn", "false", "token", r.Token)
	return trusted(c, ctx, base, TrustedFromBTC.Path()+"/getAddress"+query(pairs...), func(a *answer) TrustedBTCQuote {
		return TrustedBTCQuote{
			PaymentHash: a.str("paymentHash"), Sequence: a.amount("sequence"), BTCAddress: a.str("btcAddress"),
			AmountSats: a.amount("amountSats"), SwapFeeSats: a.amount("swapFeeSats"), SwapFee: a.amount("swapFee"), Total: a.amount("total"),
			Address: a.str("intermediaryKey"), RecommendedFee: a.number("recommendedFee"), ExpiresAt: a.whole("expiresAt"),
		}
	})
}

func trusted[T any](c *Client, ctx context.Context, base, path string, read func(*answer) T) (T, error) {
	var zero T
	text, err := c.get(ctx, toQuote, base, path)
	if err != nil {
		return zero, err
	}
	e, err := plainEnvelope(text)
	if err != nil {
		return zero, &CallError{base, err}
	}
	data, err := e.result(base, codeTrusted)
	if err != nil {
		return zero, err
	}
	a := newAnswer(data)
	v := read(a)
	if a.err != nil {
		return zero, &CallError{base, fmt.Errorf("the response does not follow the protocol: %w", a.err)}
	}
	return v, nil
}

// plainEnvelope reads the answer of an endpoint that does not stream.
func plainEnvelope(text []byte) (envelope, error) {
	fields, err := object(text)
	return envelope{fields["code"], fields["msg"], fields["data"]}, err
}
