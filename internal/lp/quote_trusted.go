package lp

import "math/big"

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

// LN returns the call for a Lightning payment.
func (r TrustedRequest) LN() Call[TrustedLNQuote] {
	path := TrustedFromBTCLN.Path() + "/createInvoice" + query("address", r.Address, "amount", dec(r.Amount), "chain", r.Chain, "token", r.Token)
	return Call[TrustedLNQuote]{path, Body{}, func(a *answer) TrustedLNQuote {
		return TrustedLNQuote{Invoice: a.str("pr"), SwapFee: a.amount("swapFee"), SwapFeeSats: a.amount("swapFeeSats"), Total: a.amount("total")}
	}}
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

// BTC returns the call for an on-chain payment. The amount is what is paid out, and
// is sent as such: the network's own client calls it the input, which LPs read
// as sats (protocol: lp-protocol.md §9 no. 19).
func (r TrustedRequest) BTC() Call[TrustedBTCQuote] {
	pairs := []string{"chain", r.Chain, "address", r.Address, "amount", dec(r.Amount)}
	if r.RefundAddress != "" {
		pairs = append(pairs, "refundAddress", r.RefundAddress)
	}
	pairs = append(pairs, "exactIn", "false", "token", r.Token)
	return Call[TrustedBTCQuote]{TrustedFromBTC.Path() + "/getAddress" + query(pairs...), Body{}, func(a *answer) TrustedBTCQuote {
		return TrustedBTCQuote{
			PaymentHash: a.str("paymentHash"), Sequence: a.amount("sequence"), BTCAddress: a.str("btcAddress"),
			AmountSats: a.amount("amountSats"), SwapFeeSats: a.amount("swapFeeSats"), SwapFee: a.amount("swapFee"), Total: a.amount("total"),
			Address: a.str("intermediaryKey"), RecommendedFee: a.number("recommendedFee"), ExpiresAt: a.whole("expiresAt"),
		}
	}}
}
