// Package backendtest is the conformance suite for implementations of
// [bitcoin.Backend]. It tests what the interface's documentation promises on a
// private network.
package backendtest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/trial"
)

// Chain is a private network that the suite controls. The backend must see the
// effect of a method when the method returns. Implementations end the test with
// t.Fatal on failure.
type Chain interface {
	// Tip returns the height and the hash of the best block.
	Tip(t *testing.T) (uint32, bitcoin.Hash)
	// Header returns the header of a block of the best chain.
	Header(t *testing.T, height uint32) bitcoin.Header
	// Mine mines count blocks with the transactions of the mempool.
	Mine(t *testing.T, count int)
	// Reorg replaces the last depth blocks with a longer branch. Its first block
	// holds txs; transactions of the replaced blocks return to the mempool unless
	// they conflict.
	Reorg(t *testing.T, depth int, txs ...*wire.MsgTx)
	// Address returns a new address that Spend can sign for: P2PKH, P2SH (of a P2WPKH), P2WPKH or P2TR.
	Address(t *testing.T, kind bitcoin.AddressType) bitcoin.Address
	// Pay sends sats to an address and leaves the transaction in the mempool.
	Pay(t *testing.T, to bitcoin.Address, sats int64) bitcoin.OutPoint
	// Spend signs, but does not send, a replaceable transaction that spends outputs of an address; change returns to it.
	Spend(t *testing.T, from bitcoin.Address, ops []bitcoin.OutPoint, feeRate int64, outs ...*wire.TxOut) *wire.MsgTx
}

// Setup is the backend under test and the chain that it reads.
type Setup struct {
	Chain   Chain
	Backend bitcoin.Backend // must not cache the tip
	// Listening, for a backend that can be told of blocks, returns another one, which is, and is
	// a bitcoin.Listener, and what spoils the server that tells it. nil: it cannot.
	Listening func(t *testing.T) (b bitcoin.Backend, spoil func(Trouble))

	// Limitations of the backend. Where the interface allows, the method must report them. What a
	// backend does not implement is not tested; what it implements, it must be able to do.
	NoSpenders    bool // cannot name the confirmed transaction that spends an output
	ConfirmedOnly bool // omits unconfirmed outputs of an address
	MostWaiting   int  // how many unconfirmed transactions of an address it can list; Unsupported follows after that many; 0 means no limit
}

// Run runs the suite.
func Run(t *testing.T, s Setup) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, Setup)
	}{
		{"network", testNetwork},
		{"blocks", testBlocks},
		{"headers", testHeaders},
		{"whole blocks", testWholeBlocks},
		{"transactions", testTransactions},
		{"outspends", testOutspends},
		{"merkle proofs", testMerkleProofs},
		{"broadcast", testBroadcast},
		{"addresses", testAddresses},
		{"address pages", testAddressPages},
		{"crowded address", testCrowdedAddress},
		{"fees", testFees},
		{"mempool", testMempool},
		{"reorganisation", testReorg},
		{"replacement", testReplacement},
		{"cancellation", testCancellation},
		{"concurrent use", testConcurrentUse},
		{"listening", testListening},
		{"Lightning graph", testGraph},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, s) })
	}
}

var unknown = bitcoin.Hash{1, 2, 3}

func testNetwork(t *testing.T, s Setup) {
	if !s.Backend.Network().Valid() {
		t.Errorf("network %d", s.Backend.Network())
	}
	genesis := s.Backend.Network().Params().GenesisHash
	if list, err := s.Backend.HeadersFrom(t.Context(), 0, 1); err != nil || len(list) != 1 || list[0].Hash().String() != genesis {
		t.Errorf("block 0 is %+v, error %v", list, err)
	}
}

func testBlocks(t *testing.T, s Setup) {
	s.Chain.Mine(t, 2)
	height, hash := s.Chain.Tip(t)
	if got, err := s.Backend.TipHeight(t.Context()); err != nil || got != height {
		t.Errorf("tip %d, error %v; want %d", got, err, height)
	}
	if got, err := s.Backend.Header(t.Context(), hash); err != nil || got != s.Chain.Header(t, height) {
		t.Errorf("header %+v, error %v", got, err)
	}
	if _, err := s.Backend.Header(t.Context(), unknown); !errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("unknown header: %v", err)
	}
	for want, h := range map[bool]bitcoin.Hash{true: hash, false: unknown} {
		if got, err := s.Backend.InMainChain(t.Context(), h); err != nil || got != want {
			t.Errorf("block %s in the main chain: %v, error %v", h, got, err)
		}
	}
}

// testWholeBlocks tests a backend that is a bitcoin.BlockReader.
func testWholeBlocks(t *testing.T, s Setup) {
	b, ok := s.Backend.(bitcoin.BlockReader)
	if !ok {
		t.Skip("the backend cannot read whole blocks")
	}
	paid := s.Chain.Pay(t, s.Chain.Address(t, bitcoin.P2WPKH), 12_345)
	s.Chain.Mine(t, 1)
	height, hash := s.Chain.Tip(t)
	if got, err := b.BlockHash(t.Context(), height); err != nil || got != hash {
		t.Errorf("hash of block %d: %s, error %v; want %s", height, got, err, hash)
	}
	if _, err := b.BlockHash(t.Context(), height+1000); !errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("block far above the tip: %v", err)
	}
	read := func() {
		t.Helper()
		whole := trial.Must(b.Block(t.Context(), hash))(t)
		if whole.BlockHash() != hash || len(whole.Transactions) < 2 || !slices.ContainsFunc(whole.Transactions, func(tx *wire.MsgTx) bool {
			return tx.TxHash() == paid.Hash && tx.TxOut[paid.Index].Value == 12_345
		}) {
			t.Errorf("block %s has %d transactions, and none that pays", whole.BlockHash(), len(whole.Transactions))
		}
	}
	read()
	s.Chain.Reorg(t, 1)
	if _, now := s.Chain.Tip(t); now == hash || s.Chain.Header(t, height).Hash() == hash {
		t.Fatal("the block is still in the best chain")
	}
	read()
	if _, err := b.Block(t.Context(), unknown); !errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("an unknown block: %v", err)
	}
}

func testHeaders(t *testing.T, s Setup) {
	tip, _ := s.Chain.Tip(t)
	tests := []struct {
		name  string
		from  uint32
		max   int
		count int
	}{
		{"from the genesis block", 0, 40, 40},
		{"one", 7, 1, 1},
		{"a page", 3, 15, 15},
		{"up to the tip", tip - 2, 100, 3},
		{"the tip", tip, 1, 1},
		{"above the tip", tip + 1, 10, 0},
		{"none wanted", 5, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			list, err := s.Backend.HeadersFrom(t.Context(), test.from, test.max)
			if err != nil || len(list) != test.count {
				t.Fatalf("%d headers, error %v; want %d", len(list), err, test.count)
			}
			for i, h := range list {
				if want := s.Chain.Header(t, test.from+uint32(i)); h != want {
					t.Errorf("header %d is %+v, want %+v", test.from+uint32(i), h, want)
				}
			}
		})
	}
}

func testCancellation(t *testing.T, s Setup) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := s.Chain.Address(t, bitcoin.P2WPKH)
	for name, call := range map[string]func() error{
		"TipHeight":    func() error { _, err := s.Backend.TipHeight(ctx); return err },
		"Txs":          func() error { _, err := single.Tx(ctx, s.Backend, unknown); return err },
		"AddressUTXOs": func() error { _, err := s.Backend.AddressUTXOs(ctx, a); return err },
		"FeeRates":     func() error { _, err := s.Backend.FeeRates(ctx); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context: %v", name, err)
		}
	}
	index, indexed := s.Backend.(bitcoin.AddressIndex)
	foreign := trial.Must(bitcoin.NewAddress(bitcoin.P2WPKH, make([]byte, 20), bitcoin.Mainnet))(t)
	for name, a := range map[string]bitcoin.Address{"of another network": foreign, "none": {}} {
		if _, err := s.Backend.AddressUTXOs(t.Context(), a); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("address %s: %v", name, err)
		}
		if !indexed {
			continue
		}
		for _, err := range index.AddressTxs(t.Context(), a) { // one turn
			if fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("transactions of address %s: %v", name, err)
			}
		}
	}
}

// testGraph tests a backend that is a bitcoin.LightningGraph: of a node without public channels it
// knows nothing, which is an answer.
func testGraph(t *testing.T, s Setup) {
	graph, ok := s.Backend.(bitcoin.LightningGraph)
	if !ok {
		t.Skip("the backend does not know the Lightning network")
	}
	if node, err := graph.NodeLiquidity(t.Context(), "02"+unknown.String()); node != nil || !errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("an unknown node: %+v, %v", node, err)
	}
}
