package evm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/beacon/engine"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/eth/filters"
	"github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native" // callTracer
	"github.com/ethereum/go-ethereum/miner"
	"github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/p2p"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rpc"
)

const (
	gasLimit  = 60_000_000
	buildTime = 30 * time.Second // that a block may take to be built on a busy machine
)

// engineNode is a node without peers whose blocks are built one by one on any
// known parent with any time. Its methods but the constructor and close are for
// one caller at a time.
type engineNode struct {
	stack  *node.Node
	eth    *eth.Ethereum
	client *rpc.Client // all methods, in the process
	built  uint64      // makes every block another one
}

func newEngineNode(chainID uint64, at time.Time, baseFee *big.Int, alloc types.GenesisAlloc) (*engineNode, error) {
	config := *params.AllDevChainProtocolChanges
	config.ChainID = new(big.Int).SetUint64(chainID)
	config.OsakaTime, config.BogotaTime = nil, nil // Prague is what public chains run
	all := core.SystemContractAllocs()
	for a, account := range alloc {
		all[a] = account
	}
	ethConf := ethconfig.Defaults
	ethConf.NetworkId = chainID
	ethConf.Genesis = &core.Genesis{Config: &config, GasLimit: gasLimit, Timestamp: uint64(at.Unix()), BaseFee: baseFee, Alloc: all}
	ethConf.SyncMode = ethconfig.FullSync
	ethConf.NoPruning, ethConf.StateScheme, ethConf.SnapshotCache = true, rawdb.HashScheme, 0 // every old state can be read
	ethConf.LogNoHistory = true                                                               // logs are searched without an index, which is built too late for new blocks
	ethConf.TxPool.NoLocals = true
	ethConf.TxPool.Journal = ""
	ethConf.TxPool.PriceLimit = 1
	ethConf.Miner.GasPrice = big.NewInt(1)
	ethConf.Miner.GasCeil = gasLimit

	nodeConf := node.DefaultConfig
	nodeConf.DataDir = ""
	nodeConf.P2P = p2p.Config{NoDiscovery: true, NoDial: true}
	stack, err := node.New(&nodeConf)
	if err != nil {
		return nil, err
	}
	stack.RegisterLifecycle(breath{}) // before the rest of the node
	n := &engineNode{stack: stack}
	if n.eth, err = eth.New(stack, &ethConf); err != nil {
		return nil, errors.Join(err, stack.Close())
	}
	stack.RegisterAPIs([]rpc.API{{Namespace: "eth",
		Service: filters.NewFilterAPI(filters.NewFilterSystem(n.eth.APIBackend, filters.Config{}))}})
	stack.RegisterAPIs(tracers.APIs(n.eth.APIBackend))
	if err := stack.Start(); err != nil {
		return nil, errors.Join(err, stack.Close())
	}
	n.eth.SetSynced()
	n.client = stack.Attach()
	return n, nil
}

// breath is a moment's rest while a node starts: its record, which is not made twice within a
// millisecond, is made first. Whoever wants it meanwhile would wait for a lock while
// its holder sleeps, and where time is virtual that is for ever.
type breath struct{}

func (breath) Start() error { time.Sleep(2 * time.Millisecond); return nil }
func (breath) Stop() error  { return nil }

func (n *engineNode) close() error {
	n.client.Close()
	// The subscriptions of logs end before what they subscribe to: one that is late would wait for
	// it for ever.
	time.Sleep(2 * time.Millisecond)
	return n.stack.Close()
}

func (n *engineNode) head() *types.Header { return n.eth.BlockChain().CurrentBlock() }

// build makes a block on parent and stores it beside the chain; full ones take
// what the pool holds.
func (n *engineNode) build(ctx context.Context, parent *types.Header, at uint64, full bool) (*types.Block, error) {
	if err := n.eth.TxPool().Sync(); err != nil {
		return nil, err
	}
	n.built++
	args := &miner.BuildPayloadArgs{
		Parent: parent.Hash(), Timestamp: at, Withdrawals: types.Withdrawals{}, BeaconRoot: &common.Hash{},
		Random:  crypto.Keccak256Hash(binary.BigEndian.AppendUint64([]byte("block"), n.built)),
		Version: engine.PayloadV3,
	}
	payload, err := n.eth.Miner().BuildPayload(ctx, args, false)
	if err != nil {
		return nil, fmt.Errorf("build a block: %w", err)
	}
	if full {
		err = waitFor(ctx, buildTime, func() bool {
			block, _, _, _ := payload.FullBlockAndReceipts()
			return block != nil
		})
	}
	made := payload.Resolve() // ends the building in any case
	if err != nil {
		return nil, fmt.Errorf("build a block: %w", err)
	}
	if !full {
		made = payload.ResolveEmpty()
	}
	block, err := engine.ExecutableDataToBlock(*made.ExecutionPayload, nil, args.BeaconRoot, made.Requests)
	if err != nil {
		return nil, err
	}
	_, err = n.eth.BlockChain().InsertBlockWithoutSetHead(ctx, block, false)
	return block, err
}

// adopt makes a block the head; transactions that left the chain return to the pool.
func (n *engineNode) adopt(head *types.Block, safeDepth, finalDepth uint64) error {
	chain := n.eth.BlockChain()
	if _, err := chain.SetCanonical(head); err != nil {
		return err
	}
	at := func(depth uint64) *types.Header {
		return chain.GetHeaderByNumber(head.NumberU64() - min(depth, head.NumberU64()))
	}
	chain.SetSafe(at(safeDepth))
	chain.SetFinalized(at(finalDepth))
	rawdb.WriteFinalizedBlockHash(n.eth.ChainDb(), common.Hash{}) // else final blocks are moved to a freezer, with a walk through all that is stored for each
	return n.eth.TxPool().Sync()
}

// waitFor asks done until it says yes or time is up: every millisecond at first, and less
// often the longer it has waited, since who waits for a block may do so for minutes.
func waitFor(ctx context.Context, most time.Duration, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for began := time.Now(); !done(); {
		pause := max(time.Since(began)/16, time.Millisecond)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(pause, 250*time.Millisecond)):
		}
	}
	return nil
}
