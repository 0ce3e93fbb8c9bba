package lp

import (
	"encoding/json"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/async"
)

// Bounty says how the watchtower's reward of a legacy swap is computed
// (protocol: lp-protocol.md §6.4). Fees are base units of the native token.
type Bounty struct {
	FeePerBlock    *big.Int
	SafetyFactor   *big.Int
	StartTimestamp int64 // Unix seconds
	AddBlock       *big.Int
	AddFee         *big.Int
}

// FromBTCRequest asks for a legacy quote from Bitcoin to a smart chain
// (protocol: lp-protocol.md §5.5).
type FromBTCRequest struct {
	Chain        string
	DepositToken string // native token
	Claimer      string // who is paid out
	Amount       *big.Int
	Token        string
	ExactOut     bool
	Sequence     uint64
	Bounty       *async.Future[*Bounty]
	FeeRate      *async.Future[string]
}

// FromBTCQuote is the answer, decoded but not believed.
type FromBTCQuote struct {
	Amount        *big.Int // sats to send
	BTCAddress    string
	Address       string   // the LP's on the smart chain
	SwapFee       *big.Int // base units
	Total         *big.Int // base units paid out
	Confirmations int64
	Escrow        json.RawMessage
	Auth          chains.Auth
}

// Call returns the call; extra are the parameters of the host.
func (r FromBTCRequest) Call(extra []Param) Call[FromBTCQuote] {
	var b Body
	b.extend(extra, "claimerBounty", "feeRate")
	b.add("address", r.Claimer)
	b.add("amount", dec(r.Amount))
	b.add("token", r.Token)
	b.add("exactOut", r.ExactOut)
	b.add("sequence", dec(new(big.Int).SetUint64(r.Sequence)))
	addLate(&b, "claimerBounty", r.Bounty, func(v *Bounty) any {
		if v == nil {
			return nil
		}
		return struct {
			FeePerBlock    string `json:"feePerBlock"`
			SafetyFactor   string `json:"safetyFactor"`
			StartTimestamp string `json:"startTimestamp"`
			AddBlock       string `json:"addBlock"`
			AddFee         string `json:"addFee"`
		}{dec(v.FeePerBlock), dec(v.SafetyFactor), dec(big.NewInt(v.StartTimestamp)), dec(v.AddBlock), dec(v.AddFee)}
	})
	addLate(&b, "feeRate", r.FeeRate, unlessEmpty)
	path := FromBTC.Path() + "/getAddress" + query("chain", r.Chain, "depositToken", r.DepositToken)
	return Call[FromBTCQuote]{path, b, func(a *answer) FromBTCQuote {
		return FromBTCQuote{
			Amount: a.amount("amount"), BTCAddress: a.str("btcAddress"), Address: a.str("address"), SwapFee: a.amount("swapFee"),
			Total: a.amount("total"), Confirmations: a.whole("confirmations"), Escrow: a.escrow("data"), Auth: a.auth(),
		}
	}}
}
