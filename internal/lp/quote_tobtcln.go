package lp

import (
	"encoding/json"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/async"
)

// ToBTCLNRequest asks for a quote from a smart chain to Lightning for an invoice
// with an amount (protocol: lp-protocol.md §5.2).
type ToBTCLNRequest struct {
	Chain   string
	Invoice string
	MaxFee  *big.Int // sats for routing
	Expiry  int64    // of the escrow, Unix seconds
	Token   string
	Offerer string
	FeeRate *async.Future[string]
}

// ToBTCLNQuote is the answer, decoded but not believed.
type ToBTCLNQuote struct {
	MaxFee         *big.Int // base units charged for routing
	SwapFee        *big.Int // base units
	Total          *big.Int // what is to be locked in the escrow
	Confidence     float64  // 0 to 1; 0: the LP's probe found no route
	Address        string   // the LP's on the smart chain
	RoutingFeeSats *big.Int
	Escrow         json.RawMessage
	Auth           chains.Auth
}

// Call returns the call; extra are the parameters of the host.
func (r ToBTCLNRequest) Call(extra []Param) Call[ToBTCLNQuote] {
	var b Body
	b.add("exactIn", false)
	b.extend(extra, "feeRate")
	b.add("pr", r.Invoice)
	b.add("maxFee", dec(r.MaxFee))
	b.add("expiryTimestamp", dec(big.NewInt(r.Expiry)))
	b.add("token", r.Token)
	b.add("offerer", r.Offerer)
	b.add("amount", nil)
	addLate(&b, "feeRate", r.FeeRate, unlessEmpty)
	return Call[ToBTCLNQuote]{ToBTCLN.Path() + "/payInvoice" + query("chain", r.Chain), b, readToBTCLN}
}

func readToBTCLN(a *answer) ToBTCLNQuote {
	return ToBTCLNQuote{
		MaxFee: a.amount("maxFee"), SwapFee: a.amount("swapFee"), Total: a.amount("total"), Confidence: a.number("confidence"),
		Address: a.str("address"), RoutingFeeSats: a.amount("routingFeeSats"), Escrow: a.escrow("data"), Auth: a.auth(),
	}
}

// PrepareToBTCLNRequest asks how many sats an exact input buys (protocol:
// lp-protocol.md §5.3).
type PrepareToBTCLNRequest struct {
	Chain   string
	Invoice string   // of the same recipient, with any amount: the LP probes with it
	Amount  *big.Int // base units paid in
	MaxFee  *big.Int // base units for routing
	Expiry  int64    // of the escrow, Unix seconds
	Token   string
	Offerer string
}

// PreparedToBTCLN is the answer: valid for 10 s and for one use.
type PreparedToBTCLN struct {
	Amount *big.Int // sats that the real invoice must have
	ReqID  string
}

// Call returns the call; extra are the parameters of the host.
func (r PrepareToBTCLNRequest) Call(extra []Param) Call[PreparedToBTCLN] {
	var b Body
	b.add("exactIn", true)
	b.extend(extra)
	b.add("pr", r.Invoice)
	b.add("maxFee", dec(r.MaxFee))
	b.add("expiryTimestamp", dec(big.NewInt(r.Expiry)))
	b.add("token", r.Token)
	b.add("offerer", r.Offerer)
	b.add("amount", dec(r.Amount))
	return Call[PreparedToBTCLN]{ToBTCLN.Path() + "/payInvoice" + query("chain", r.Chain), b, func(a *answer) PreparedToBTCLN {
		return PreparedToBTCLN{Amount: a.amount("amount"), ReqID: a.str("reqId")}
	}}
}

// ToBTCLNExactInRequest asks for the quote that was prepared.
type ToBTCLNExactInRequest struct {
	Invoice string // for exactly the prepared amount
	ReqID   string
	FeeRate *async.Future[string]
}

// Call returns the call; extra are the parameters of the host.
func (r ToBTCLNExactInRequest) Call(extra []Param) Call[ToBTCLNQuote] {
	var b Body
	b.extend(extra, "feeRate")
	b.add("pr", r.Invoice)
	b.add("reqId", r.ReqID)
	addLate(&b, "feeRate", r.FeeRate, unlessEmpty)
	return Call[ToBTCLNQuote]{ToBTCLN.Path() + "/payInvoiceExactIn", b, readToBTCLN}
}
