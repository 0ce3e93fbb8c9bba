package bitcoin

import (
	"math/big"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Difficulty changes every 2016 blocks, aiming at two weeks, by a factor of
// four at most.
const (
	epochBlocks   = 2016
	epochSeconds  = 14 * 24 * 60 * 60
	maxAdjustment = 4
)

// compactLimit is the easiest target of each network in compact form.
var compactLimit = [...]uint32{Mainnet: 0x1d00ffff, Testnet3: 0x1d00ffff, Testnet4: 0x1d00ffff, Regtest: 0x207fffff, Signet: 0x1e0377ae}

func powLimit(n Network) *big.Int {
	if !n.Valid() {
		return new(big.Int) // no target is low enough for an unknown network
	}
	limit := compactLimit[n]
	return rawtx.Expand(limit&0x7fffff, uint(limit>>24))
}

// retarget returns the compact target of an epoch from the last header of the
// epoch before it and the time of that epoch's first header.
func retarget(n Network, last Header, epochStart uint32) (uint32, error) {
	target, err := rawtx.Target(last.Bits)
	if err != nil {
		return 0, err
	}
	took := min(max(int64(last.Time)-int64(epochStart), epochSeconds/maxAdjustment), epochSeconds*maxAdjustment)
	target.Mul(target, big.NewInt(took))
	target.Div(target, big.NewInt(epochSeconds))
	if limit := powLimit(n); target.Cmp(limit) > 0 {
		target = limit
	}
	return rawtx.Compact(target), nil
}
