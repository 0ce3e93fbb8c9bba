package bitcoin

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Relayed is the tip as a relay on a smart chain would know it that had followed the chain
// from its first block.
type Relayed struct {
	Header   bitcoin.Header
	Work     *big.Int   // of the whole chain
	Adjusted uint32     // the time of the last block that adjusted the difficulty
	Times    [10]uint32 // of the blocks before, the oldest first
}

// Relayed returns the tip, with the work of a block of some bits as a relay reckons it.
func (n *Net) Relayed(work func(bits uint32) *big.Int) (r Relayed, err error) {
	tip, _ := n.Tip()
	if int(tip) < len(r.Times) {
		return r, errors.New("the relay needs a Bitcoin network of ten blocks")
	}
	r.Work = new(big.Int)
	for height := range tip + 1 {
		if r.Header, err = n.Header(height); err != nil {
			return r, err
		}
		r.Work.Add(r.Work, work(r.Header.Bits))
		if height%2016 == 0 {
			r.Adjusted = r.Header.Time
		}
		if back := int(tip - height); back >= 1 && back <= len(r.Times) {
			r.Times[len(r.Times)-back] = r.Header.Time
		}
	}
	return r, nil
}

// Stored are the headers of a Bitcoin network's present chain as the relays of a smart chain store
// them, whether they know them yet or not.
type Stored[H any] struct {
	First  H // that the relays were started with
	Height uint32
	Next   func(H, bitcoin.Header) (H, error)
}

// All returns them from the first one on.
func (s Stored[H]) All(n *Net) ([]H, error) {
	tip, _ := n.Tip()
	all := []H{s.First}
	for height := s.Height + 1; height <= tip; height++ {
		h, err := n.Header(height)
		if err != nil {
			return nil, err
		}
		next, err := s.Next(all[len(all)-1], h)
		if err != nil {
			return nil, err
		}
		all = append(all, next)
	}
	return all, nil
}

// At returns the one of a height.
func (s Stored[H]) At(n *Net, height uint32) (h H, err error) {
	all, err := s.All(n)
	if err != nil {
		return h, err
	}
	if height < s.Height || height-s.Height >= uint32(len(all)) {
		return h, fmt.Errorf("the relay's headers are from %d to %d", s.Height, s.Height+uint32(len(all))-1)
	}
	return all[height-s.Height], nil
}
