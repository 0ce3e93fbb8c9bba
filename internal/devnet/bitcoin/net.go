package bitcoin

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/database"
	_ "github.com/btcsuite/btcd/database/ffldb" // the only database driver of btcd
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

// Options of a network. The zero value is good for tests.
type Options struct {
	Now     func() time.Time  // the network's clock; nil: time.Now
	Blocks  int               // blocks mined at the start; 0 means 110: ten spendable rewards of 50 BTC for the faucet
	Dir     string            // an empty folder for the chain, kept after Close; "" means a temporary one
	Strict  bool              // regtest's own parameters, so that a real node accepts the blocks: see strictBlocks; rewards halve every 150 blocks
	Address string            // listen address of the first REST server; "" means a free port of 127.0.0.1
	Network *loopback.Network // where the servers listen; nil: loopback sockets
}

// Net is a running network. Its methods are safe for concurrent use.
type Net struct {
	now     func() time.Time
	network *loopback.Network
	params  *chaincfg.Params
	dir     string
	temp    bool
	db      database.DB
	faucet  *Wallet
	first   *Server
	closing sync.Once

	mu      sync.RWMutex // held for writing while chain, mempool or ledger change
	chain   *blockchain.BlockChain
	pool    *mempool.TxPool
	miner   *miner
	ledger  *ledger
	wallets uint64
	fees    Fees
	nodes   map[string]bitcoin.NodeLiquidity
	servers []*Server
	moved   chan struct{} // closed with the next block
}

// Fees are what the REST servers advise, in sat/vB.
type Fees struct{ Fastest, HalfHour, Hour, Economy, Minimum float64 }

// Start starts a network with one REST server in front of it.
func Start(o Options) (*Net, error) {
	n := &Net{
		now:     o.Now,
		network: o.Network,
		params:  params(o.Strict),
		dir:     o.Dir,
		ledger:  newLedger(),
		fees:    Fees{2, 2, 1, 1, 1},
		nodes:   make(map[string]bitcoin.NodeLiquidity),
		moved:   make(chan struct{}),
	}
	if n.now == nil {
		n.now = time.Now
	}
	if o.Blocks <= 0 {
		o.Blocks = 110
		if o.Strict {
			o.Blocks = strictBlocks
		}
	}
	if err := n.start(o); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Net) start(o Options) (err error) {
	if n.dir == "" {
		if n.dir, err = os.MkdirTemp("", "swapper-regtest-"); err != nil {
			return err
		}
		n.temp = true
	}
	if n.db, err = database.Create("ffldb", n.dir+"/chain", n.params.Net); err != nil {
		return fmt.Errorf("create the block database: %w", err)
	}
	sigs, hashes := txscript.NewSigCache(1000), txscript.NewHashCache(1000)
	n.chain, err = blockchain.New(&blockchain.Config{
		DB:               n.db,
		UtxoCacheMaxSize: 1 << 20,
		ChainParams:      n.params,
		TimeSource:       clock(n.now),
		SigCache:         sigs,
		HashCache:        hashes,
	})
	if err != nil {
		return fmt.Errorf("open the chain: %w", err)
	}
	n.pool = mempool.New(&mempool.Config{
		Policy: mempool.Policy{
			MaxTxVersion:         2,
			DisableRelayPriority: true,
			MaxOrphanTxs:         0,
			MaxSigOpCostPerTx:    blockchain.MaxBlockSigOpsCost / 4,
			MinRelayTxFee:        1000, // sats per 1000 vB
		},
		ChainParams:        n.params,
		FetchUtxoView:      n.chain.FetchUtxoView,
		BestHeight:         func() int32 { return n.chain.BestSnapshot().Height },
		MedianTimePast:     func() time.Time { return n.chain.BestSnapshot().MedianTime },
		IsDeploymentActive: n.chain.IsDeploymentActive,
		SigCache:           sigs,
		HashCache:          hashes,
		CalcSequenceLock: func(tx *btcutil.Tx, view *blockchain.UtxoViewpoint) (*blockchain.SequenceLock, error) {
			return n.chain.CalcSequenceLock(tx, view, true)
		},
	})
	n.ledger.connect(btcutil.NewBlock(n.params.GenesisBlock), 0)
	n.chain.Subscribe(n.notified)

	if n.faucet, err = n.NewWallet(bitcoin.P2WPKH); err != nil {
		return err
	}
	n.miner = newMiner(n, sigs, hashes)
	if err = n.mineHistory(o.Blocks); err != nil {
		return fmt.Errorf("mine the first blocks: %w", err)
	}
	n.first, err = n.Serve(o.Address)
	return err
}

// strictBlocks is how many blocks it takes until regtest's own parameters let
// segwit and taproot become active by signalling.
const strictBlocks = 440

// params are regtest's, and unless strict with all soft forks active from the
// start and rewards that stay, so that a long-lived network does not run dry.
func params(strict bool) *chaincfg.Params {
	p := chaincfg.RegressionNetParams
	// A chain sets the clocks of its deployments, so they must be its own.
	for i := range p.Deployments {
		d := &p.Deployments[i]
		if s, ok := d.DeploymentStarter.(*chaincfg.MedianTimeDeploymentStarter); ok {
			d.DeploymentStarter = chaincfg.NewMedianTimeDeploymentStarter(s.StartTime())
		}
		if e, ok := d.DeploymentEnder.(*chaincfg.MedianTimeDeploymentEnder); ok {
			d.DeploymentEnder = chaincfg.NewMedianTimeDeploymentEnder(e.EndTime())
		}
	}
	if strict {
		return &p
	}
	for _, d := range []int{chaincfg.DeploymentCSV, chaincfg.DeploymentSegwit, chaincfg.DeploymentTaproot} {
		p.Deployments[d].AlwaysActiveHeight = 1
	}
	p.SubsidyReductionInterval = 210_000
	return &p
}

// Close stops the servers and removes the temporary folder. It may be called more than once.
func (n *Net) Close() error {
	var err error
	n.closing.Do(func() {
		n.mu.RLock()
		servers := n.servers
		n.mu.RUnlock()
		for _, s := range servers {
			err = errors.Join(err, s.Close())
		}
		if n.db != nil {
			err = errors.Join(err, n.db.Close())
		}
		if n.temp {
			err = errors.Join(err, os.RemoveAll(n.dir))
		}
	})
	return err
}

// URL returns the base URL of the first REST server, with a slash at its end.
func (n *Net) URL() string { return n.first.URL() }

// Server returns the first REST server.
func (n *Net) Server() *Server { return n.first }

// Network returns the network that addresses and backends are made for.
func (n *Net) Network() bitcoin.Network { return bitcoin.Regtest }

// SetFees changes what the REST servers advise.
func (n *Net) SetFees(f Fees) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fees = f
}

// SetLightningNode puts a node into the public Lightning graph.
func (n *Net) SetLightningNode(node bitcoin.NodeLiquidity) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.nodes[node.PublicKey] = node
}

// clock makes a function btcd's time source.
type clock func() time.Time

func (c clock) AdjustedTime() time.Time         { return c().Truncate(time.Second) }
func (c clock) AddTimeSample(string, time.Time) {}
func (c clock) Offset() time.Duration           { return 0 }
