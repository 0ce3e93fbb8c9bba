package wire

import (
	"fmt"
	"math/big"
)

var (
	relayMainAccount = NameOf("account", "MainState")
	relayForkAccount = NameOf("account", "ForkState")
)

// RelayRing is how many of the newest blocks a relay remembers the commitments of.
const RelayRing = 250

// Sizes of the relay's accounts.
const (
	RelayStateSpace = 8136 // the last 8 bytes are spare
	RelayForkSpace  = 8084
)

// RelayState is the account of a relay's main chain (§6).
type RelayState struct {
	StartHeight        uint32 // of the block whose commitment is the first in the ring: it moves as the ring is written over
	LastDiffAdjustment uint32 // Unix seconds of the period's first block
	Height             uint32
	TotalBlocks        uint32
	ForkCounter        uint64
	TipCommitment      [32]byte
	TipHash            [32]byte // internal order
	Work               *big.Int // in units of the easiest block: pow.Difficulty
	commitments        [RelayRing * 32]byte
}

// DecodeRelayState reads the account of [Programs.RelayState]. No data is [ErrAbsent]:
// the relay was never initialised.
func DecodeRelayState(data []byte) (*RelayState, error) {
	r, err := open(data, relayMainAccount, "a relay's main chain")
	if err != nil {
		return nil, err
	}
	s := &RelayState{StartHeight: r.u32(), LastDiffAdjustment: r.u32(), Height: r.u32(), TotalBlocks: r.u32(), ForkCounter: r.u64(),
		TipCommitment: r.hash(), TipHash: r.hash(), Work: new(big.Int).SetBytes(r.take(32))}
	copy(s.commitments[:], r.take(len(s.commitments)))
	if r.err != nil {
		return nil, fmt.Errorf("account of a relay's main chain: %w", r.err)
	}
	return s, nil
}

// Bytes writes the account.
func (s *RelayState) Bytes() []byte {
	w := make(writer, 0, RelayStateSpace)
	w.bytes(relayMainAccount[:]...).u32(s.StartHeight).u32(s.LastDiffAdjustment).u32(s.Height).u32(s.TotalBlocks).u64(s.ForkCounter)
	w.bytes(s.TipCommitment[:]...).bytes(s.TipHash[:]...).bytes(s.Work.FillBytes(make([]byte, 32))...).bytes(s.commitments[:]...)
	return append(w, make([]byte, RelayStateSpace-len(w))...)
}

// slot is where the commitment of a height is kept: heights above the first in the
// ring follow it, heights below it stand at the ring's end, as far as it goes.
func (s *RelayState) slot(height uint32) (at int, ok bool) {
	if height >= s.StartHeight {
		if at := height - s.StartHeight; at < RelayRing {
			return int(at), true
		}
		return 0, true
	}
	if back := s.StartHeight - height; back < RelayRing {
		return int(RelayRing - back), true
	}
	return 0, false
}

// Commitment returns the commitment that the main chain has at a height, and false
// if the height is above the tip or too far below it.
func (s *RelayState) Commitment(height uint32) (c [32]byte, ok bool) {
	if height > s.Height || s.Height-height >= RelayRing {
		return c, false
	}
	at, ok := s.slot(height)
	if !ok {
		return c, false
	}
	c = [32]byte(s.commitments[at*32 : at*32+32])
	return c, c != [32]byte{}
}

// SetCommitment sets the commitment of a height as the relay does: one that comes to
// stand first in the ring moves the ring's start. It changes nothing and returns false
// for a height that is too far below the start.
func (s *RelayState) SetCommitment(height uint32, c [32]byte) bool {
	at, ok := s.slot(height)
	if !ok {
		return false
	}
	copy(s.commitments[at*32:], c[:])
	if at == 0 {
		s.StartHeight = height
	}
	s.TotalBlocks++
	return true
}

// RelayFork is the account of a fork under construction.
type RelayFork struct {
	Initialized   uint32
	StartHeight   uint32
	Length        uint32
	TipCommitment [32]byte
	TipHash       [32]byte // internal order
	commitments   [RelayRing * 32]byte
}

// DecodeRelayFork reads the account of [Programs.RelayFork]. No data is [ErrAbsent].
func DecodeRelayFork(data []byte) (*RelayFork, error) {
	r, err := open(data, relayForkAccount, "a relay's fork")
	if err != nil {
		return nil, err
	}
	f := &RelayFork{Initialized: r.u32(), StartHeight: r.u32(), Length: r.u32(), TipCommitment: r.hash(), TipHash: r.hash()}
	copy(f.commitments[:], r.take(len(f.commitments)))
	if r.err != nil {
		return nil, fmt.Errorf("account of a relay's fork: %w", r.err)
	}
	return f, nil
}

// Bytes writes the account.
func (f *RelayFork) Bytes() []byte {
	w := make(writer, 0, RelayForkSpace)
	w.bytes(relayForkAccount[:]...).u32(f.Initialized).u32(f.StartHeight).u32(f.Length)
	return *w.bytes(f.TipCommitment[:]...).bytes(f.TipHash[:]...).bytes(f.commitments[:]...)
}

// Commitment returns the i-th commitment of the fork.
func (f *RelayFork) Commitment(i int) [32]byte { return [32]byte(f.commitments[i*32 : i*32+32]) }

// SetCommitment sets the i-th commitment of the fork.
func (f *RelayFork) SetCommitment(i int, c [32]byte) { copy(f.commitments[i*32:], c[:]) }
