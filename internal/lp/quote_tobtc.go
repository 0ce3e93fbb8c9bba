package lp

import (
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

// Call returns the call; extra are the parameters of the host.
func (r ToBTCRequest) Call(extra []Param) Call[ToBTCQuote] {
	var b Body
	b.extend(extra, "feeRate")
	b.add("address", r.Address)
	b.add("amount", dec(r.Amount))
	b.add("exactIn", r.ExactIn)
	b.add("confirmationTarget", r.ConfirmationTarget)
	b.add("confirmations", r.Confirmations)
	b.add("nonce", dec(new(big.Int).SetUint64(r.Nonce)))
	b.add("token", r.Token)
	b.add("offerer", r.Offerer)
	addLate(&b, "feeRate", r.FeeRate, unlessEmpty)
	return Call[ToBTCQuote]{ToBTC.Path() + "/payInvoice" + query("chain", r.Chain), b, func(a *answer) ToBTCQuote {
		return ToBTCQuote{
			Amount: a.amount("amount"), Address: a.str("address"), SatsPerVB: a.amount("satsPervByte"), ExactSatsPerVB: a.optionalNumber("satsPervByteNumber"),
			NetworkFee: a.amount("networkFee"), SwapFee: a.amount("swapFee"), TotalFee: a.amount("totalFee"), Total: a.amount("total"),
			MinRequiredExpiry: a.unix("minRequiredExpiry"), Escrow: a.escrow("data"), Auth: a.auth(),
		}
	}}
}
