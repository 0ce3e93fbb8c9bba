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
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	pub "github.com/swapper-go/swapper/watchtower"
)

// operators are the watchtower's accounts of the local network, by chain.
func (w *world) operators() map[string]pub.Signer {
	all := map[string]pub.Signer{"CITREA": devnet.SignEVM(w.net.EVM.Watchtower)}
	if w.net.Solana != nil {
		all["SOLANA"] = devnet.SignSolana(w.net.Solana.Watchtower)
	}
	if w.net.Starknet != nil {
		all["STARKNET"] = devnet.SignStarknet(w.net.Starknet.Watchtower.Key)
	}
	return all
}

// later is a claimer that is set once the network runs.
type later struct{ to atomic.Pointer[pub.Tower] }

var errNotStarted = fault.New(fault.Upstream, "the watchtower has not started")

func (l *later) Publish(ctx context.Context, m pub.Message) error {
	if t := l.to.Load(); t != nil {
		return t.Publish(ctx, m)
	}
	return errNotStarted
}

func (l *later) Withdraw(ctx context.Context, p pub.Withdrawal) error {
	if t := l.to.Load(); t != nil {
		return t.Withdraw(ctx, p)
	}
	return errNotStarted
}

func (l *later) Prove(ctx context.Context, p pub.Payment) error {
	if t := l.to.Load(); t != nil {
		return t.Prove(ctx, p)
	}
	return errNotStarted
}

// serviceWithTower starts a world whose service has a watchtower of its own, while those of the
// network are silent. use tells the service of it.
func serviceWithTower(t *testing.T, on string, use func(*swapper.Config, *later)) (*world, *pub.Tower) {
	t.Helper()
	own := &later{}
	var service swapper.Config
	w := start(t, options{on: on, config: func(c *swapper.Config) {
		use(c, own)
		service = *c
	}})
	w.tower.Behave(watchtower.Behaviour{Deaf: true, NoEscrows: true, NoVaults: true, NoProofs: true})
	log := io.Discard
	if testing.Verbose() {
		log = os.Stderr
	}
	c := pub.Config{Network: service.Network, Bitcoin: service.Bitcoin, Store: &storage.Memory{}, Now: service.Now, Every: 20 * time.Millisecond, Log: slog.New(slog.NewTextHandler(log, nil))}
	signers := w.operators()
	for _, f := range service.Chains {
		c.Chains = append(c.Chains, pub.Account{Chain: f, Signer: signers[f.ID()], Policy: pub.Policy{Allowance: new(big.Int).Exp(big.NewInt(10), big.NewInt(20), nil)}})
	}
	tower := trial.Must(pub.Open(t.Context(), c))(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); tower.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended; tower.Close() })
	own.to.Store(tower)
	return w, tower
}

// claimed waits until a watchtower's books have so many claims.
func (w *world) claimed(tower *pub.Tower, want uint64) {
	w.t.Helper()
	w.eventually("the claims are in the books", func() bool {
		books, err := tower.Books(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		got := uint64(0)
		for _, b := range books {
			got += b.Claims
		}
		if got > want {
			w.t.Fatalf("the watchtower claimed %d times, want %d", got, want)
		}
		w.redo(1) // until the claim is final
		return got == want
	})
}

// A service with a watchtower of its own settles for its users: the message goes to no relay,
// and the user signs nothing and pays no gas.
func TestOwnWatchtower(t *testing.T) {
	t.Parallel()
	for _, on := range []string{"", "v2", starknetName} {
		t.Run("on "+on, func(t *testing.T) {
			t.Parallel()
			ownWatchtower(t, on)
		})
	}
}

func ownWatchtower(t *testing.T, on string) {
	w, tower := serviceWithTower(t, on, func(c *swapper.Config, own *later) { c.Messenger = own })
	before := w.wbtc()
	w.user.Refuse = func(a swapper.Action) bool { _, signs := a.(*swapper.SignSmartChainTransaction); return signs }
	s := w.create(w.incoming()[swapper.SwapFromBTCLNAuto]())
	end := w.finish(s.SwapID)
	if got := w.gained(before); !end.IsSuccess || got.Cmp(s.Quote.OutputAmount.RawAmount) != 0 {
		t.Fatalf("ended as %s; received %v, agreed on %v", end.State.Name, got, s.Quote.OutputAmount.RawAmount)
	}
	w.claimed(tower, 1)
}

// A service with a claimer serves users who have left, and who have no gas: each type that a
// watchtower can serve ends with the tokens, on each family, with nobody else's help.
func TestClaimerServesUsersWhoAreAway(t *testing.T) {
	t.Parallel()
	for _, on := range trial.Of(1, []string{"", starknetName, "v1", "v2"}) {
		t.Run("on "+on, func(t *testing.T) {
			t.Parallel()
			w, tower := serviceWithTower(t, on, func(c *swapper.Config, own *later) { c.Messenger, c.Claimer = nil, own })
			claims := uint64(0)
			for typ, request := range w.incoming() {
				if typ == swapper.SwapFromBTCLN {
					continue // the program demands the user's own signature
				}
				claims++
				t.Run(string(typ), func(t *testing.T) {
					w := w.in(t)
					in := request()
					if typ != swapper.SwapFromBTC { // whose user opens the escrow
						in.DstAddress = w.newcomer()
					}
					before := w.holds(in.DstAddress, "WBTC")
					s := w.create(in)
					if typ == swapper.SwapFromBTC {
						w.act(s.SwapID)
						w.reached(s.SwapID, "CLAIM_COMMITED")
						w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
							return asksFor[*swapper.SendToAddress](s) != nil
						})
					}
					w.act(s.SwapID) // pays, and leaves
					want := s.Quote.OutputAmount.RawAmount
					w.eventually("the user has the tokens", func() bool {
						w.net.Clock.Add(time.Second) // the service looks by itself, at times of its own
						return new(big.Int).Sub(w.holds(in.DstAddress, "WBTC"), before).Cmp(want) == 0
					})
				})
			}
			w.claimed(tower, claims)
		})
	}
}
