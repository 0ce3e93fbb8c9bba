package subscribe

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// A backend that once names a block above the chain does not keep what comes below it from
// being followed for good.
func TestABlockThatNoChainHasIsForgotten(t *testing.T) {
	var tip uint32
	f := Follow(nil, Source{
		Tip: func(context.Context) (uint32, error) { return tip, nil },
		Headers: func(_ context.Context, from uint32, count int) (list []bitcoin.Header, _ error) {
			for height := from; height <= tip && len(list) < count; height++ {
				list = append(list, bitcoin.Header{Height: height})
			}
			return list, nil
		},
		BlockTxs: func(context.Context, bitcoin.Header) ([]bitcoin.Hash, error) { return nil, nil },
	}, slog.New(slog.DiscardHandler))
	var n failures
	ask := func(height uint32) error {
		tip = height
		_, _, err := f.advance(t.Context(), 1)
		if err != nil {
			f.failed(&n, err)
		}
		return err
	}
	for _, height := range []uint32{100, 5000} {
		if err := ask(height); err != nil || f.tip.Height != height {
			t.Fatalf("at %d: %v, %d", height, err, f.tip.Height)
		}
	}
	for i := range mostBehind {
		if err := ask(101); !errors.Is(err, errBehind) {
			t.Fatalf("question %d: %v", i, err)
		}
		if lost := f.heard == 0; lost != (i+1 >= mostFailures) {
			t.Errorf("question %d: lost: %v", i, lost)
		}
	}
	if err := ask(102); err != nil || f.tip.Height != 102 {
		t.Errorf("afterwards: %v, %d", err, f.tip.Height)
	}
}

// A transaction whose block was not asked for yet is not said to be unchanged as of the block
// before it.
func TestUnchangedNotBelowItsBlock(t *testing.T) {
	nodes := trial.Must(New(Options{URLs: []string{"ws://node.example"}}))(t)
	nodes.alive(0)
	f := Follow(nodes, Source{}, slog.New(slog.DiscardHandler))
	f.begin(bitcoin.Header{Height: 153}, nodes.Heard())
	for height, want := range map[uint32]bool{152: true, 153: true, 154: false} {
		if asOf, ok := f.Unchanged(&bitcoin.Tx{Confirmations: 1, Height: height}, f.Heard()); ok != want || ok && asOf != 153 {
			t.Errorf("in block %d: unchanged as of %d: %v", height, asOf, ok)
		}
	}
}
