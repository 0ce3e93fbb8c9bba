package swap

import (
	"github.com/swapper-go/swapper/internal/btc/psbt"
)

// BuiltAction is an action with everything that a wallet needs.
type BuiltAction struct {
	Action Action       // nil: nothing is to be done
	Txs    []string     // of a Sign, as the chain's wallets take them
	Signer string       // of a Sign
	Raw    *RawPSBT     // of a Fund, without a wallet
	Funded *psbt.Funded // of a Fund, with a wallet
}

// RawPSBT still needs the inputs of a wallet, the first of which must carry
// Sequence, and must pay FeeRate (sat/vB) at least and MaxFee (sats) at most.
type RawPSBT struct {
	PSBT     psbt.PSBT
	Sequence uint32
	FeeRate  float64
	MaxFee   int64
}
