package swap

import (
	"github.com/swapper-go/swapper/internal/btc/psbt"
)

// Todo is an action with everything that a wallet needs. One of Pay, Wait, Sign
// and Fund is set; none if nothing is to be done.
type Todo struct {
	Pay    *Pay
	Wait   *Wait
	Sign   *Sign
	Txs    []string // of Sign, as the chain's wallets take them
	Signer string   // of Sign
	Fund   *Fund
	Raw    *RawPSBT     // of Fund, without a wallet
	Funded *psbt.Funded // of Fund, with a wallet
}

// RawPSBT still needs the inputs of a wallet, the first of which must carry
// Sequence, and must pay FeeRate (sat/vB) at least and MaxFee (sats) at most.
type RawPSBT struct {
	PSBT     psbt.PSBT
	Sequence uint32
	FeeRate  float64
	MaxFee   int64
}
