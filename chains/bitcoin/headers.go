package bitcoin

import (
	"fmt"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// CheckHeaders returns an error unless next is, in ascending order, a chain of
// headers on top of prev in which every header meets the rules of network n that
// headers alone can show:
//
//   - linkage: height and hash of the header before;
//   - proof of work (see [Header.CheckWork]);
//   - on mainnet and signet, the target: constant within an epoch of 2016
//     blocks; at its start what the epoch before demands, exactly if that epoch's
//     first header is among those given, else within the factor of four that
//     bounds every change. Testnets allow blocks of minimum difficulty at any
//     time, so there only the network's easiest target binds, and regtest never
//     changes its own.
//
// prev is trusted. A header that passes can still be rejected by a full node;
// one that fails is certainly not part of the chain.
func CheckHeaders(n Network, prev Header, next []Header) error {
	var epochStart uint32 // time of the first header of the current epoch, if known
	known := prev.Height%epochBlocks == 0
	if known {
		epochStart = prev.Time
	}
	prevHash := prev.Hash()
	for _, h := range next {
		if err := prev.checkLink(prevHash, h); err != nil {
			return err
		}
		hash := h.Hash()
		if err := h.checkWork(n, hash); err != nil {
			return err
		}
		if err := checkBits(n, prev, h, epochStart, known); err != nil {
			return err
		}
		if h.Height%epochBlocks == 0 {
			epochStart, known = h.Time, true
		}
		prev, prevHash = h, hash
	}
	return nil
}

func checkBits(n Network, prev, h Header, epochStart uint32, known bool) error {
	switch {
	case n == Testnet3 || n == Testnet4:
		return nil
	case n == Regtest || h.Height%epochBlocks != 0:
		if h.Bits != prev.Bits {
			return fmt.Errorf("header %d: target %08x differs from %08x within the same difficulty period", h.Height, h.Bits, prev.Bits)
		}
		return nil
	case known:
		want, err := retarget(n, prev, epochStart)
		if err != nil {
			return fmt.Errorf("header %d: %w", prev.Height, err)
		}
		if h.Bits != want {
			return fmt.Errorf("header %d: target %08x, but its difficulty period has %08x", h.Height, h.Bits, want)
		}
		return nil
	}
	for _, took := range []int64{epochSeconds / maxAdjustment, epochSeconds * maxAdjustment} {
		bound, err := retarget(n, Header{Bits: prev.Bits, Time: uint32(took)}, 0)
		if err != nil {
			return fmt.Errorf("header %d: %w", prev.Height, err)
		}
		limit, err := rawtx.Target(bound)
		if err != nil {
			return err
		}
		target, err := rawtx.Target(h.Bits)
		if err != nil {
			return err
		}
		if harder := took < epochSeconds; harder && target.Cmp(limit) < 0 || !harder && target.Cmp(limit) > 0 {
			return fmt.Errorf("header %d: target %08x differs from %08x by more than a factor of four", h.Height, h.Bits, prev.Bits)
		}
	}
	return nil
}
