package lp

import (
	"encoding/hex"
	"errors"
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
)

// InputCost is what the LP must know of one of the user's coins to compute what
// is left of a whole wallet.
type InputCost struct {
	Value int64   `json:"value"` // sats
	VSize float64 `json:"vSize"` // of the input, as the coin selection counts it
	CPFP  *CPFP   `json:"cpfp,omitempty"`
}

// CPFP describes the unconfirmed transactions that an input pays for.
type CPFP struct {
	EffectiveVSize   float64 `json:"effectiveVSize"`
	EffectiveFeeRate float64 `json:"effectiveFeeRate"` // sats/vB
}

// SPVRequest asks for a quote from Bitcoin to a smart chain through a vault
// (protocol: lp-protocol.md §5.8).
type SPVRequest struct {
	Chain           string
	Address         string                  // recipient
	Amount          *async.Future[*big.Int] // sats, with ExactOut base units; sent after Inputs and InputFeeRate
	Token           string
	GasAmount       *big.Int // base units of the native token; nil: 0
	GasToken        string   // native token
	ExactOut        bool
	FrontingFeeRate *big.Int                // nil: 0
	CallerFeeRate   *async.Future[*big.Int] // the watchtower's share, parts per 100 000 of the payout
	StickyAddress   *bool                   // nil: not sent

	// Inputs, at most 250 as LPs take them (protocol: lp-protocol.md §5.8), and InputFeeRate (sats/vB) are for
	// swapping a whole wallet only.
	Inputs       *async.Future[[]InputCost]
	InputFeeRate *async.Future[float64]
}

// SPVQuote is the answer, decoded but not believed. Members named BTC are sats,
// shares are parts per 100 000 of the payout, the others base units of the token
// or, with gas, the native token.
type SPVQuote struct {
	QuoteID             string
	Expiry              int64  // Unix seconds
	Address             string // the vault's owner
	VaultID             *big.Int
	VaultBTCAddress     string
	BTCAddress          string // the LP's
	BTCUTXO             string // of the vault, txid:vout
	BTCFeeRate          float64
	BTCAmount           *big.Int
	BTCAmountSwap       *big.Int
	BTCAmountGas        *big.Int
	Total               *big.Int
	TotalGas            *big.Int
	TotalFeeBTC         *big.Int
	SwapFeeBTC          *big.Int
	SwapFee             *big.Int
	GasSwapFeeBTC       *big.Int
	GasSwapFee          *big.Int
	CallerFeeShare      *big.Int
	FrontingFeeShare    *big.Int
	ExecutionFeeShare   *big.Int
	UsedInputsOfRequest bool // BTCAmount was computed from Inputs
}

// Call returns the call; extra are the parameters of the host.
func (r SPVRequest) Call(extra []Param) Call[SPVQuote] {
	var b Body
	b.add("exactOut", r.ExactOut)
	b.extend(extra, "amount", "callerFeeRate", "amountUtxos", "amountFeeRate")
	b.add("address", r.Address)
	b.add("token", r.Token)
	b.add("gasAmount", dec(r.GasAmount))
	b.add("gasToken", r.GasToken)
	b.add("frontingFeeRate", dec(r.FrontingFeeRate))
	if r.StickyAddress != nil {
		b.add("stickyAddress", *r.StickyAddress)
	}
	addLate(&b, "amountUtxos", r.Inputs, func(v []InputCost) any {
		if v == nil {
			return nil
		}
		return v
	})
	addLate(&b, "amountFeeRate", r.InputFeeRate, func(v float64) any {
		if v == 0 {
			return nil
		}
		return v
	})
	addLate(&b, "amount", r.Amount, unlessNil, "amountUtxos", "amountFeeRate") // the LP looks for them once it has the amount
	addLate(&b, "callerFeeRate", r.CallerFeeRate, unlessNil)
	path := SPVFromBTC.Path() + "/getQuote" + query("chain", r.Chain)
	return Call[SPVQuote]{path, b, func(a *answer) SPVQuote {
		return SPVQuote{
			QuoteID: a.str("quoteId"), Expiry: a.whole("expiry"), Address: a.str("address"),
			VaultID: a.amount("vaultId"), VaultBTCAddress: a.str("vaultBtcAddress"), BTCAddress: a.str("btcAddress"),
			BTCUTXO: a.str("btcUtxo"), BTCFeeRate: a.number("btcFeeRate"), BTCAmount: a.amount("btcAmount"),
			BTCAmountSwap: a.amount("btcAmountSwap"), BTCAmountGas: a.amount("btcAmountGas"), Total: a.amount("total"), TotalGas: a.amount("totalGas"),
			TotalFeeBTC: a.amount("totalFeeBtc"), SwapFeeBTC: a.amount("swapFeeBtc"), SwapFee: a.amount("swapFee"),
			GasSwapFeeBTC: a.amount("gasSwapFeeBtc"), GasSwapFee: a.amount("gasSwapFee"), CallerFeeShare: a.amount("callerFeeShare"),
			FrontingFeeShare: a.amount("frontingFeeShare"), ExecutionFeeShare: a.amount("executionFeeShare"),
			UsedInputsOfRequest: a.optionalBool("usedUtxoInputCalculation"),
		}
	}}
}

// maxPost is how large a posted request may be: LPs cut bodies at 8192 bytes
// (protocol: lp-protocol.md §3.7).
const maxPost = 8192

// PostSPV returns the call by which the LP gets the signed PSBT of a quote; its answer
// is the transaction id that the LP names. A PSBT that is too large for LPs is refused
// with the code fault.InvalidInput.
func PostSPV(chain, quoteID string, psbt []byte) (Call[string], error) {
	var b Body
	b.add("quoteId", quoteID)
	b.add("psbtHex", hex.EncodeToString(psbt))
	if size := len(encode(b.params)); size > maxPost {
		return Call[string]{}, fault.New(fault.InvalidInput, "the transaction has too many inputs: it is %d bytes long, but liquidity providers accept at most %d", size, maxPost)
	}
	return Call[string]{SPVFromBTC.Path() + "/postQuote" + query("chain", chain), b, func(a *answer) string { return a.str("txId") }}, nil
}

// postRefusals are the codes by which an LP says that it does not have a posted
// PSBT: it found fault with the quote or the transaction before it signed. Other
// codes leave it open. 20001 says that the transaction may have been sent, 20517
// that it is being sent; 20512 is a broadcast that failed, or whose answer was
// lost; 0 is an unexpected error; and a proxy in front of an LP, for example one
// that limits calls, sends no code (protocol: lp-protocol.md §4.2, §5.8,
// lp-next.md).
var postRefusals = []int{20013, 20100, 20200, 20505, 20506, 20507, 20508, 20509, 20510, 20511, 20513, 20514, 20515, 20516, 29999}

// PostRefused reports whether an error of [lphttp.Client.PostSPV] says that the LP does
// not have the PSBT.
func PostRefused(err error) bool {
	e, ok := errors.AsType[*RequestError](err)
	return ok && slices.Contains(postRefusals, e.Code)
}

// postAgain are those refusals after which the quote can still be used: the transaction
// was at fault, or the LP has no room (protocol: lp-protocol.md §5.8, lp-next.md).
var postAgain = []int{20013, 20507, 20508, 20509, 20511, 20513, 20514, 20515, 20516}

// PostAgain reports whether an error of [lphttp.Client.PostSPV], by which the LP does not have the
// PSBT, leaves the quote open for another one.
func PostAgain(err error) bool {
	e, ok := errors.AsType[*RequestError](err)
	return ok && slices.Contains(postAgain, e.Code)
}
