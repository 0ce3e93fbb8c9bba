package e2e

import (
	"context"
	"io"
	"log/slog"
	"math/big"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/wallet"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/storage/storagetest"
	pub "github.com/swapper-go/swapper/watchtower"
)

// operator signs for a watchtower of the service.
type operator struct {
	address string
	sign    func([]string) ([]string, error)
}

func (o operator) Address() string { return o.address }
func (o operator) Sign(_ context.Context, unsigned []string) ([]string, error) {
	return o.sign(unsigned)
}

// operators are the watchtower's accounts of the local network, by chain.
func (w *world) operators() map[string]pub.Signer {
	wallet := &wallet.Wallet{EVM: w.net.EVM.Watchtower}
	all := map[string]pub.Signer{"CITREA": operator{w.net.EVM.Watchtower.Address.Hex(), wallet.SignEVM}}
	if w.net.Solana != nil {
		wallet.Solana = w.net.Solana.Watchtower
		all["SOLANA"] = operator{w.net.Solana.Watchtower.Address.String(), wallet.SignSolana}
	}
	if w.net.Starknet != nil {
		k := w.net.Starknet.Watchtower.Key
		wallet.Starknet = &k
		all["STARKNET"] = operator{wire.Hex64(w.net.Starknet.Watchtower.Address), wallet.SignStarknet}
	}
	return all
}

// later is a messenger that is set once the network runs.
type later struct{ to atomic.Pointer[pub.Tower] }

func (l *later) Publish(ctx context.Context, m pub.Message) error {
	if t := l.to.Load(); t != nil {
		return t.Publish(ctx, m)
	}
	return fault.New(fault.Upstream, "the watchtower has not started")
}

// A service with a watchtower of its own settles for its users: the message goes to no relay,
// and the user signs nothing and pays no gas.
func TestOwnWatchtower(t *testing.T) {
	for _, on := range []string{"", "v2", starknetName} {
		t.Run("on "+on, func(t *testing.T) {
			t.Parallel()
			ownWatchtower(t, on)
		})
	}
}

func ownWatchtower(t *testing.T, on string) {
	own := &later{}
	var service swapper.Config
	w := start(t, options{on: on, config: func(c *swapper.Config) {
		c.Messenger = own
		service = *c
	}})
	log := io.Discard
	if testing.Verbose() {
		log = os.Stderr
	}
	c := pub.Config{Network: service.Network, Bitcoin: service.Bitcoin, Store: &storagetest.Memory{}, Now: service.Now, Every: 20 * time.Millisecond, Log: slog.New(slog.NewTextHandler(log, nil))}
	signers := w.operators()
	for _, f := range service.Chains {
		c.Chains = append(c.Chains, pub.Account{Chain: f, Signer: signers[f.ID()], Policy: pub.Policy{Allowance: new(big.Int).Exp(big.NewInt(10), big.NewInt(20), nil)}})
	}
	tower, err := pub.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); tower.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended; tower.Close() })
	own.to.Store(tower)

	before := w.wbtc()
	w.user.Refuse = func(a *swapper.Action) bool { return a.SignSmartChainTransaction != nil }
	s := w.create(w.incoming()[swapper.SwapFromBTCLNAuto]())
	end := w.finish(s.SwapID)
	if got := w.gained(before); !end.IsSuccess || got.Cmp(s.Quote.OutputAmount.RawAmount) != 0 {
		t.Fatalf("ended as %s; received %v, agreed on %v", end.State.Name, got, s.Quote.OutputAmount.RawAmount)
	}
	claims := uint64(0)
	for end := time.Now().Add(20 * time.Second); claims != 1 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		books, err := tower.Books(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		claims = 0
		for _, b := range books {
			claims += b.Claims
		}
		if w.net.EVM.Mine(1) != nil {
			t.Fatal("no block is mined")
		}
	}
	if claims != 1 {
		t.Errorf("the watchtower claimed %d times", claims)
	}
}
