package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// Drift is how far chain time may lag behind the network's clock.
const Drift = 30 * time.Second

// Options of a network. The zero value is good for tests.
type Options struct {
	Now     func() time.Time // the network's clock; nil: time.Now
	Bitcoin *bitcoin.Net     // that the relay follows; nil: one is started, with the same clock, and closed with the network
	Chain   string           // identifier; "": CITREA
	ChainID uint64           // 0: 31337
	// Tokens are where tokens stand, by ticker (WBTC, USDC), for clients that know
	// them already; the others are deployed like the contracts.
	Tokens    map[string]common.Address
	Manual    bool          // blocks are mined on demand only
	BlockTime time.Duration // a block is mined at least this often; 0: only for transactions
	BaseFee   uint64        // wei per gas in the first block; 0: 10 000 000
	L1FeeRate uint64        // wei per byte of state, the field l1FeeRate of every block, as Citrea has it; 0: no such field

	// How many blocks below the head the tags safe and finalized are.
	SafeDepth, FinalDepth uint64
	Address               string            // listen address of the first JSON-RPC server; "": a free port of 127.0.0.1
	Network               *loopback.Network // where the servers listen; nil: loopback sockets
}

// Net is a running network. Its methods are safe for concurrent use.
type Net struct {
	// Accounts with 10 000 native coins and 10^30 base units of each token. The LP
	// has put nothing into the contracts yet.
	LP, User, Watchtower *Account

	options    Options
	ownBitcoin bool
	newNode    func() (*engineNode, error) // one that has the first block alone
	node       *engineNode
	contracts  Contracts
	headers    bitcoin.Stored[wire.StoredHeader]
	faucet     *Account
	first      *Server
	closing    sync.Once
	stop       context.CancelFunc // ends the miner
	stopped    sync.WaitGroup
	relaying   loopback.Mutex // held while the relay is brought up to date

	mu       loopback.Mutex // held while blocks are made
	manual   bool
	paced    int           // holders of Pace
	offset   time.Duration // of chain time to the clock
	accounts uint64
	servers  []*Server
	returned map[common.Hash]bool // transactions that a reorganisation took out of the chain
	split    *Split               // nil: all servers tell the same
}

// Start starts a network with all contracts and one JSON-RPC server in front of it.
func Start(o Options) (*Net, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Chain == "" {
		o.Chain = wire.ChainCitrea
	}
	if o.ChainID == 0 {
		o.ChainID = 31337
	}
	if o.BaseFee == 0 {
		o.BaseFee = 10_000_000
	}
	n := &Net{options: o, manual: true, returned: make(map[common.Hash]bool)}
	if err := n.start(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Net) start() (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	n.stop = cancel
	o := &n.options
	if o.Bitcoin == nil {
		if o.Bitcoin, err = bitcoin.Start(bitcoin.Options{Now: o.Now, Network: o.Network}); err != nil {
			return err
		}
		n.ownBitcoin = true
	}
	alloc := make(types.GenesisAlloc)
	for _, a := range []struct {
		account **Account
		name    string
		coins   int64
	}{{&n.faucet, "faucet", 1e12}, {&n.LP, "lp", 1e4}, {&n.User, "user", userCoins}, {&n.Watchtower, "watchtower", 1e4}} {
		if *a.account, err = n.account(a.name); err != nil {
			return err
		}
		alloc[(*a.account).Address] = types.Account{Balance: Coins(a.coins)}
	}
	if err := o.place(alloc); err != nil {
		return err
	}
	// The first blocks are in the past: what is deployed must not push chain time beyond the clock.
	genesis := o.Now().Add(-Drift - time.Minute)
	n.newNode = func() (*engineNode, error) {
		return newEngineNode(o.ChainID, genesis, new(big.Int).SetUint64(o.BaseFee), alloc)
	}
	if n.node, err = n.newNode(); err != nil {
		return fmt.Errorf("start the node: %w", err)
	}
	if err = n.deploy(ctx); err != nil {
		return fmt.Errorf("deploy the contracts: %w", err)
	}
	n.manual = o.Manual
	n.mineInBackground(ctx)
	n.first, err = n.Serve(o.Address)
	return err
}

// Close stops the servers and the node, and the Bitcoin network if it is the
// network's own. It may be called more than once.
func (n *Net) Close() error {
	var err error
	n.closing.Do(func() {
		if n.stop != nil {
			n.stop()
		}
		n.mu.Lock()
		servers, split := n.servers, n.split
		n.mu.Unlock()
		for _, s := range servers {
			err = errors.Join(err, s.Close())
		}
		n.stopped.Wait()
		if split != nil {
			err = errors.Join(err, split.Rejoin())
		}
		if n.node != nil {
			err = errors.Join(err, n.node.close())
		}
		if n.ownBitcoin {
			err = errors.Join(err, n.options.Bitcoin.Close())
		}
	})
	return err
}

// URL returns the URL of the first JSON-RPC server.
func (n *Net) URL() string { return n.first.URL() }

// Server returns the first JSON-RPC server.
func (n *Net) Server() *Server { return n.first }

// Transport returns a transport that reaches the servers.
func (n *Net) Transport() *http.Transport { return n.options.Network.Transport() }

// Bitcoin returns the Bitcoin network that the relay follows.
func (n *Net) Bitcoin() *bitcoin.Net { return n.options.Bitcoin }

// Config returns what clients are configured with: the settings of Citrea with the
// network's own chain id and contracts.
func (n *Net) Config() evm.Network {
	w, d := n.Network(), n.contracts.Deployment
	return evm.Network{
		Chain: w.Chain, Bitcoin: w.Bitcoin, ChainID: w.ChainID, SafeTag: w.SafeTag, FinalizedTag: w.FinalizedTag,
		PriorityFee: w.PriorityFee, MaxBaseFee: w.MaxBaseFee, FeePPM: w.FeePPM, StateDiffFee: w.StateDiffFee, WrappedNative: w.WrappedNative,
		Deployments: []evm.Deployment{{Version: d.Version,
			EscrowManager: evm.Contract(d.EscrowManager), BtcRelay: evm.Contract(d.BtcRelay), VaultManager: evm.Contract(d.VaultManager),
			Execution: d.Execution, ClaimHandlers: d.ClaimHandlers, RefundHandler: d.RefundHandler}},
	}
}

// Network returns the same as the parties of the swaps need it, who sign for it.
func (n *Net) Network() wire.Network {
	return wire.Network{
		Chain: n.options.Chain, Bitcoin: n.Bitcoin().Network(), ChainID: n.options.ChainID,
		Deployments: []wire.Deployment{n.contracts.Deployment},
		SafeTag:     "latest", FinalizedTag: "safe",
		PriorityFee: 100_000, MaxBaseFee: 2_000_000_000, FeePPM: 1_250_000,
		StateDiffFee: n.options.L1FeeRate != 0, WrappedNative: n.contracts.Wrapped,
	}
}

// Contracts returns where the contracts stand.
func (n *Net) Contracts() Contracts { return n.contracts }

// Deployment returns the contracts that clients use.
func (n *Net) Deployment() wire.Deployment { return n.contracts.Deployment }

// Coins returns a number of native coins, or of tokens with 18 decimals, in base units.
func Coins(n int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18))
}

// Native is the address that stands for the native coin.
var Native = common.Address{}
