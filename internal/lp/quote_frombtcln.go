package lp

import (
	"math/big"

	"github.com/swapper-go/swapper/internal/async"
)

// FromBTCLNRequest asks for a legacy quote from Lightning to a smart chain
// (protocol: lp-protocol.md §5.6).
type FromBTCLNRequest struct {
	Chain           string
	DepositToken    string // native token
	PaymentHash     string // 64 hexadecimal digits
	Amount          *big.Int
	Claimer         string
	Token           string
	Description     string // of the invoice; "": the LP's own
	DescriptionHash string // 64 hexadecimal digits; "": none
	ExactOut        bool
	FeeRate         *async.Future[string]
}

// FromBTCLNQuote is the answer, decoded but not believed.
type FromBTCLNQuote struct {
	Invoice         string
	SwapFee         *big.Int // base units
	Total           *big.Int // base units paid out
	Address         string   // the LP's on the smart chain
	SecurityDeposit *big.Int // base units of the native token
}

// Call returns the call; extra are the parameters of the host.
func (r FromBTCLNRequest) Call(extra []Param) Call[FromBTCLNQuote] {
	var b Body
	b.extend(extra, "feeRate")
	b.add("paymentHash", r.PaymentHash)
	b.add("amount", dec(r.Amount))
	b.add("address", r.Claimer)
	b.add("token", r.Token)
	b.add("description", unlessEmpty(r.Description))
	b.add("descriptionHash", unlessEmpty(r.DescriptionHash))
	b.add("exactOut", r.ExactOut)
	addLate(&b, "feeRate", r.FeeRate, unlessEmpty)
	path := FromBTCLN.Path() + "/createInvoice" + query("chain", r.Chain, "depositToken", r.DepositToken)
	return Call[FromBTCLNQuote]{path, b, func(a *answer) FromBTCLNQuote {
		return FromBTCLNQuote{
			Invoice: a.str("pr"), SwapFee: a.amount("swapFee"), Total: a.amount("total"),
			Address: a.str("intermediaryKey"), SecurityDeposit: a.amount("securityDeposit"),
		}
	}}
}

// FromBTCLNAutoRequest asks for a quote from Lightning to a smart chain where
// the LP opens the escrow (protocol: lp-protocol.md §5.7).
type FromBTCLNAutoRequest struct {
	Chain           string
	PaymentHash     string // 64 hexadecimal digits
	Amount          *big.Int
	Claimer         string
	Token           string
	Description     string
	DescriptionHash string
	ExactOut        bool
	GasToken        string                  // native token
	GasAmount       *big.Int                // base units of the native token; nil: 0
	ClaimerBounty   *async.Future[*big.Int] // the watchtower's reward in the native token; nil: 0, sent at once
}

// FromBTCLNAutoQuote is the answer, decoded but not believed. Members named BTC
// are sats, the others base units of the token or, with gas, the native token.
type FromBTCLNAutoQuote struct {
	Address       string // the LP's on the smart chain
	Invoice       string
	BTCAmountSwap *big.Int
	BTCAmountGas  *big.Int
	Total         *big.Int
	TotalGas      *big.Int
	TotalFeeBTC   *big.Int
	SwapFeeBTC    *big.Int
	SwapFee       *big.Int
	GasSwapFeeBTC *big.Int
	GasSwapFee    *big.Int
	ClaimerBounty *big.Int
}

// Call returns the call; extra are the parameters of the host.
func (r FromBTCLNAutoRequest) Call(extra []Param) Call[FromBTCLNAutoQuote] {
	var b Body
	b.extend(extra, "claimerBounty")
	b.add("paymentHash", r.PaymentHash)
	b.add("amount", dec(r.Amount))
	b.add("address", r.Claimer)
	b.add("token", r.Token)
	b.add("description", unlessEmpty(r.Description))
	b.add("descriptionHash", unlessEmpty(r.DescriptionHash))
	b.add("exactOut", r.ExactOut)
	b.add("gasToken", r.GasToken)
	b.add("gasAmount", dec(r.GasAmount))
	if r.ClaimerBounty == nil {
		b.add("claimerBounty", "0")
	}
	addLate(&b, "claimerBounty", r.ClaimerBounty, unlessNil)
	path := FromBTCLNAuto.Path() + "/createInvoice" + query("chain", r.Chain)
	return Call[FromBTCLNAutoQuote]{path, b, func(a *answer) FromBTCLNAutoQuote {
		return FromBTCLNAutoQuote{
			Address: a.str("intermediaryKey"), Invoice: a.str("pr"),
			BTCAmountSwap: a.amount("btcAmountSwap"), BTCAmountGas: a.amount("btcAmountGas"), Total: a.amount("total"), TotalGas: a.amount("totalGas"),
			TotalFeeBTC: a.amount("totalFeeBtc"), SwapFeeBTC: a.amount("swapFeeBtc"), SwapFee: a.amount("swapFee"),
			GasSwapFeeBTC: a.amount("gasSwapFeeBtc"), GasSwapFee: a.amount("gasSwapFee"), ClaimerBounty: a.amount("claimerBounty"),
		}
	}}
}
