package watchtower_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/watchtower"
)

// kit is a local network with towers on one of its chains.
type kit struct {
	testing.TB
	*devnet.Net
	*side
	backend  *mempoolspace.Client
	chain    chains.Chain
	contract chains.Contract
	store    storage.Store
}

// side is one of the network's chains, as its users see it.
type side struct {
	name    string
	version string
	factory chains.Factory
	user    string
	token   string
	fair    int64             // a bounty that a claim is worth
	signer  watchtower.Signer // the operator's
	wallet  watchtower.Signer // the user's
	native  func(address string) *big.Int
	// open opens an escrow of the LP's for the user.
	open func(t testing.TB, o opening) json.RawMessage
	// openVault opens a vault of the LP's on an output; nil where there are none.
	openVault func(t testing.TB, utxo bitcoin.OutPoint, confirmations uint8) chains.VaultID
	// mine makes a block.
	mine func(t testing.TB)
}

// opening is what an LP opens.
type opening struct {
	secret   chains.Preimage
	bounty   int64             // as a part of a whole native token: in 10^-9
	pays     *chains.Condition // instead of the secret
	output   *[32]byte         // what it says that it waits for; nil: the truth
	newcomer bool              // the user has no token account on Solana
}

func (o opening) condition() chains.Condition {
	if o.pays != nil {
		return *o.pays
	}
	return chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256(o.secret[:])}
}

// family starts a network and returns the part of one chain.
type family struct {
	name   string
	vaults bool
	on     devnet.Options
	side   func(t testing.TB, n *devnet.Net) *side
}

// everywhere runs a test on every family, with both programs of Solana at full depth.
func everywhere(t *testing.T, run func(k *kit)) {
	t.Parallel()
	for i, f := range families {
		if i == 1 && !trial.Full() {
			continue
		}
		t.Run(f.name, func(t *testing.T) { run(newKit(t, f)) })
	}
}

// notes keep nothing.
type notes struct{}

func (notes) Note(context.Context, string) ([]byte, uint64, error)  { return nil, 0, nil }
func (notes) SetNote(context.Context, string, []byte, uint64) error { return nil }

// newKit starts a network of its own, and runs the test beside others.
func newKit(t testing.TB, f family) *kit {
	t.Helper()
	if t, ok := t.(*testing.T); ok {
		t.Parallel()
	}
	n := trial.Must(devnet.Start(t.Context(), f.on))(t)
	t.Cleanup(func() { _ = n.Close() })
	k := &kit{TB: t, Net: n, side: f.side(t, n), store: &storage.Memory{}}
	k.backend = trial.Must(mempoolspace.New(mempoolspace.Options{Network: n.Bitcoin.Network(), URLs: []string{n.Bitcoin.URL()}, TipAge: -1, RetryDelay: 10 * time.Millisecond}))(t)
	t.Cleanup(func() { _ = k.backend.Close() })
	k.chain = trial.Must(k.factory.Open(t.Context(), chains.Env{Network: n.Bitcoin.Network(), Bitcoin: k.backend, Now: n.Clock.Now, Rand: rand.Reader,
		HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), Notes: notes{}}))(t)
	if closer, ok := k.chain.(interface{ Close() error }); ok {
		t.Cleanup(func() { _ = closer.Close() })
	}
	k.contract, _ = k.chain.Contract(k.version)
	return k
}

// config is a tower's on the kit's chain, which looks forty times a second.
func (k *kit) config() watchtower.Config {
	return watchtower.Config{Network: k.Bitcoin.Network(), Bitcoin: k.backend, Store: k.store, Every: 25 * time.Millisecond, Now: k.Clock.Now, Log: slog.New(slog.NewTextHandler(k.Output(), nil)),
		Chains: []watchtower.Account{{Chain: k.factory, Signer: k.signer}}}
}

// tower runs a tower until the test, or stop, ends it.
func (k *kit) tower(c watchtower.Config) (t *watchtower.Tower, stop func()) {
	k.Helper()
	t = trial.Must(watchtower.Open(k.Context(), c))(k.TB)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = t.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
		_ = t.Close()
	}
	k.Cleanup(stop)
	return t, stop
}

// message is what a user publishes.
func (k *kit) message(data json.RawMessage, secret chains.Preimage) watchtower.Message {
	return watchtower.Message{Chain: k.factory.ID(), Escrow: data, Preimage: secret}
}

func (k *kit) state(data json.RawMessage) chains.EscrowState {
	k.Helper()
	e := trial.Must(k.contract.Decode(data))(k.TB)
	facts := trial.Must(k.contract.Escrows(k.Context(), []chains.EscrowQuery{{Escrow: &e}}))(k.TB)
	if facts[0].Err != nil {
		k.Fatal(facts[0].Err)
	}
	return facts[0].State
}

func (k *kit) eventually(what string, is func() bool) {
	k.Helper()
	for end := time.Now().Add(5 * time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			k.Fatalf("never: %s", what)
		}
	}
}

// never gives a tower the time of many rounds.
func (k *kit) never(what string, is func() bool) {
	k.Helper()
	for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if is() {
			k.Fatal(what)
		}
	}
}

// book is what a tower says of the kit's chain.
func (k *kit) book(t *watchtower.Tower) watchtower.Book {
	k.Helper()
	return trial.Must(t.Books(k.Context()))(k.TB)[0]
}

// stored counts the records.
func (k *kit) stored() (n int) {
	k.Helper()
	for _, err := range k.store.Find(k.Context(), storage.Query{Index: "watchtower", Value: k.factory.ID()}) {
		if err != nil {
			k.Fatal(err)
		}
		n++
	}
	return n
}

// balanced demands that the books agree with the account, to the unit.
func (k *kit) balanced(t *watchtower.Tower, before *big.Int) {
	k.Helper()
	b := k.book(t)
	want := new(big.Int).Sub(before, b.Spent)
	if n := b.Earned[k.chain.Info().Native.Address]; n != nil {
		want.Add(want, n)
	}
	if got := k.native(k.signer.Address()); got.Cmp(want) != 0 {
		k.Errorf("the account has %s, by the books it has %s: %+v", got, want, b)
	}
}

// sent are the transactions of the only record.
func (k *kit) sent() (txs []chains.Signed) {
	k.Helper()
	for e, err := range k.store.Find(k.Context(), storage.Query{Index: "watchtower", Value: k.factory.ID()}) {
		if err != nil {
			k.Fatal(err)
		}
		var r struct {
			Attempts []struct{ Txs []chains.Signed }
		}
		trial.Do(k, json.Unmarshal(e.Body, &r))
		for _, a := range r.Attempts {
			txs = append(txs, a.Txs...)
		}
	}
	return txs
}
