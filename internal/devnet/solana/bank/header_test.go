package bank

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// Targets of mainnet follow from the time that a period took. The cases are those of
// Bitcoin Core's own test of it.
func TestTargetsAdjust(t *testing.T) {
	for _, test := range []struct {
		height, began, ended, bits, want uint32
	}{
		{32255, 1261130161, 1262152739, 0x1d00ffff, 0x1d00d86a},
		{2015, 1231006505, 1233061996, 0x1d00ffff, 0x1d00ffff},  // no easier than the easiest
		{68543, 1279008237, 1279297671, 0x1c05a3f4, 0x1c0168fd}, // four times as hard at most
		{46367, 1263163443, 1269211443, 0x1c387f6f, 0x1d00e1fd}, // four times as easy at most
		{32254, 1261130161, 1262152739, 0x1d00ffff, 0x1d00ffff}, // within a period
		{32256, 1261130161, 1262152739, 0x1b0404cb, 0x1b0404cb},
	} {
		on := wire.StoredHeader{Work: new(big.Int), LastDiffAdjustment: test.began, Header: bitcoin.Header{Height: test.height, Time: test.ended, Bits: test.bits}}
		bits, err := bitsAfter(on)
		if err != nil || bits != test.want {
			t.Errorf("after %d: %08x, %v; want %08x", test.height, bits, err, test.want)
		}
		// Only the right target gets as far as to have its work looked at.
		h := bitcoin.Header{PrevBlock: on.Header.Hash(), Time: test.ended, Bits: test.want}
		if _, err := (Rules{Retarget: true}).next(on, h, true, uint64(test.ended)); err != tooLittleWork {
			t.Errorf("after %d: %v", test.height, err)
		}
		h.Bits--
		if _, err := (Rules{Retarget: true}).next(on, h, true, uint64(test.ended)); err != wrongTarget {
			t.Errorf("after %d, with another target: %v", test.height, err)
		}
	}
	backwards := wire.StoredHeader{LastDiffAdjustment: 2, Header: bitcoin.Header{Height: 2015, Time: 1, Bits: 0x1d00ffff}}
	if _, err := bitsAfter(backwards); err != ProgramFailedToComplete {
		t.Errorf("a period that ended before it began: %v", err)
	}
}

// A chain with more work wins, be it shorter: block 1 of mainnet outweighs any number
// of blocks that are too easy to count.
func TestWorkWins(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		genesis := bitcoin.Header{Version: 1, MerkleRoot: hash(t, "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"), Time: 1231006505, Bits: 0x1d00ffff, Nonce: 2083236893}
		one := bitcoin.Header{Height: 1, Version: 1, PrevBlock: genesis.Hash(), MerkleRoot: hash(t, "0e3e2357e806b6cdb1f70b54c3a3a17b6714ee1f0e68bebb44a74b1efd512098"), Time: 1231469665, Bits: 0x1d00ffff, Nonce: 2573394689}
		is(t, "block 1", one.Hash().String(), "00000000839a8e6886ab5951d76f411475428afc90947ee320161bbf18eb6048")
		first := wire.StoredHeader{Work: big.NewInt(1), LastDiffAdjustment: genesis.Time, Header: genesis}
		k.must(k.p.RelayInitInstruction(tower, first))
		headers, _ := grow(first, 6, 1)
		k.extend(first, headers...)
		top := first.Next(one)
		is(t, "work", top.Work.Int64(), 2)
		k.must(k.submit(relay.SaveShortFork, tower, first, 0, one))
		k.wantTip(top)
		k.refused(prevBlockCommitment, k.submit(relay.SaveMain, tower, first, 0, headers[:5]...))
	})
}

func hash(t *testing.T, text string) bitcoin.Hash {
	t.Helper()
	return trial.Must(bitcoin.ParseHash(text))(t)
}
