package mempoolspace_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	devnet "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// town is a network with something on it to ask for.
type town struct {
	*devnet.Net
	wallet *devnet.Wallet
	op     bitcoin.OutPoint
	block  bitcoin.Hash
}

func newTown(t testing.TB) town {
	t.Helper()
	n := start(t, devnet.Options{})
	w := trial.Must(n.NewWallet(bitcoin.P2TR))(t)
	op := trial.Must(n.Fund(w.Address, 100_000))(t)
	_, block := n.Tip()
	n.SetLightningNode(bitcoin.NodeLiquidity{PublicKey: lightningKey, Capacity: 5_000_000, Channels: 3})
	return town{n, w, op, block}
}

const lightningKey = "02" + "ab00000000000000000000000000000000000000000000000000000000000001"

// calls asks everything once.
func (n town) calls(ctx context.Context, b *mempoolspace.Client) map[string]func() error {
	return map[string]func() error{
		"TipHeight":       func() error { _, err := b.TipHeight(ctx); return err },
		"BlockHash":       func() error { _, err := b.BlockHash(ctx, 5); return err },
		"Header":          func() error { _, err := b.Header(ctx, n.block); return err },
		"Block":           func() error { _, err := b.Block(ctx, n.block); return err },
		"HeadersFrom":     func() error { _, err := b.HeadersFrom(ctx, 3, 40); return err },
		"InMainChain":     func() error { _, err := b.InMainChain(ctx, n.block); return err },
		"Txs":             func() error { _, err := single.Tx(ctx, b, n.op.Hash); return err },
		"MerkleProof":     func() error { _, err := b.MerkleProof(ctx, n.op.Hash, n.block); return err },
		"Outspends":       func() error { _, err := single.Outspend(ctx, b, n.op); return err },
		"AddressUTXOs":    func() error { _, err := b.AddressUTXOs(ctx, n.wallet.Address); return err },
		"FeeRates":        func() error { _, err := b.FeeRates(ctx); return err },
		"CPFPs":           func() error { _, err := single.CPFP(ctx, b, n.op.Hash); return err },
		"ProjectedBlocks": func() error { _, err := b.ProjectedBlocks(ctx); return err },
		"NodeLiquidity":   func() error { _, err := b.NodeLiquidity(ctx, lightningKey); return err },
		"AddressTxs": func() error {
			for _, err := range b.AddressTxs(ctx, n.wallet.Address) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// TestBadFirstURL: whatever is wrong with the first URL, every call works as long
// as the second is well, without waiting for a repetition.
func TestBadFirstURL(t *testing.T) {
	t.Parallel()
	n := newTown(t)
	bad := trial.Must(n.Serve(""))(t)
	faults := map[string]devnet.Fault{
		"down":                   {Down: true},
		"500":                    {Status: 500},
		"502":                    {Status: 502},
		"403":                    {Status: 403},
		"429":                    {Status: 429},
		"429 with a wait":        {Status: 429, RetryAfter: "120"},
		"301":                    {Status: 301},
		"200 without content":    {Status: 204},
		"garbage":                {Garbage: true},
		"endless answers":        {Huge: true},
		"another network":        {WrongNetwork: true},
		"slow":                   {Delay: time.Hour},
		"lying headers":          {LyingHeaders: true},
		"lying transactions":     {LyingTxs: true},
		"lying proofs":           {LyingProofs: true},
		"another network, plain": {WrongNetwork: true, Plain: true},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			bad.Misbehave(fault)
			for call := range n.calls(t.Context(), nil) {
				// Who waited for the first URL's time to pass would meet the deadline.
				b := client(t, mempoolspace.Options{URLs: []string{bad.URL(), n.URL()}, Hedge: 30 * time.Millisecond, Timeout: time.Hour,
					Attempts: 1})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				if err := n.calls(ctx, b)[call](); err != nil {
					t.Errorf("%s: %v", call, err)
				}
				cancel()
			}
		})
	}
}

func TestBroadcastWithBadFirstURL(t *testing.T) {
	t.Parallel()
	n := newTown(t)
	bad := trial.Must(n.Serve(""))(t)
	op := n.op
	for _, test := range []struct {
		name  string
		fault devnet.Fault
	}{
		{"down", devnet.Fault{Down: true}}, {"garbage", devnet.Fault{Garbage: true}}, {"slow", devnet.Fault{Delay: time.Hour}},
		{"answer lost", devnet.Fault{LoseAnswer: true}}, {"another network", devnet.Fault{WrongNetwork: true}}, {"429", devnet.Fault{Status: 429}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad.Misbehave(test.fault)
			tx := trial.Must(n.wallet.Spend(2, []bitcoin.OutPoint{op}))(t)
			raw := trial.Must(rawtx.Encode(tx))(t)
			op = bitcoin.OutPoint{Hash: tx.TxHash()}
			b := client(t, mempoolspace.Options{URLs: []string{bad.URL(), n.URL()}, Hedge: 30 * time.Millisecond})
			if id, err := b.Broadcast(t.Context(), raw); err != nil || id != tx.TxHash() || !n.InMempool(id) {
				t.Errorf("%s, %v", id, err)
			}
			if _, err := n.Mine(1); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestLostAnswer: with one server only, a transaction whose answer was lost
// counts as sent, and one that did not go out does not.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	n := newTown(t)
	tx := trial.Must(n.wallet.Spend(2, []bitcoin.OutPoint{n.op}))(t)
	raw := trial.Must(rawtx.Encode(tx))(t)
	b := client(t, mempoolspace.Options{URLs: []string{n.URL()}, Attempts: 2, RetryDelay: time.Millisecond})
	n.Server().Misbehave(devnet.Fault{Down: true})
	if _, err := b.Broadcast(t.Context(), raw); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("server down: %v", err)
	}
	n.Server().Misbehave(devnet.Fault{LoseAnswer: true})
	if _, err := b.Broadcast(t.Context(), raw); err != nil || !n.InMempool(tx.TxHash()) {
		t.Errorf("answer lost: %v", err)
	}
}

// TestNoURLIsWell: the error says what each URL did.
func TestNoURLIsWell(t *testing.T) {
	t.Parallel()
	n := newTown(t)
	var urls, hosts []string
	for _, f := range []devnet.Fault{{Down: true}, {Garbage: true}, {WrongNetwork: true}, {Status: 503}, {Delay: time.Hour}} {
		s := trial.Must(n.Serve(""))(t)
		s.Misbehave(f)
		u := trial.Must(url.Parse(s.URL()))(t)
		urls, hosts = append(urls, s.URL()), append(hosts, u.Host)
	}
	calls := []string{"TipHeight", "AddressTxs", "FeeRates"}
	var b *mempoolspace.Client
	errs, patience := map[string]error{}, 100*time.Millisecond
	for busy := true; busy && patience < 20*time.Second; { // then those that are not slow may need longer
		busy, patience = false, 3*patience
		b = client(t, mempoolspace.Options{URLs: urls, Hedge: 10 * time.Millisecond, Timeout: patience, Attempts: 2, RetryDelay: time.Millisecond})
		for _, call := range calls {
			errs[call] = n.calls(t.Context(), b)[call]()
			busy = busy || strings.Count(fmt.Sprint(errs[call]), "no response within") > 1
		}
	}
	for _, call := range calls {
		err := errs[call]
		if fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s: code %s of %v", call, fault.CodeOf(err), err)
			continue
		}
		for i, words := range []string{"EOF", "", "is not on Bitcoin", "HTTP status 503", fmt.Sprintf("no response within %s", patience)} {
			if !strings.Contains(err.Error(), hosts[i]) || !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %q does not say that %s gave %q", call, err, hosts[i], words)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := b.TipHeight(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's deadline: %v", err)
	}
}

// Errors reach callers, and an address may hold the operator's access key: none shows
// more of it than the host, even if the server repeats it.
func TestErrorsShowNoAccessKey(t *testing.T) {
	t.Parallel()
	const key = "0123456789abcdef"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no access by "+r.URL.String(), http.StatusForbidden)
	}))
	defer server.Close()
	at := strings.Replace(server.URL, "http://", "http://user:"+key+"@", 1)
	for _, base := range []string{server.URL + "/" + key + "/api", at} {
		b := client(t, mempoolspace.Options{URLs: []string{base}, Attempts: 1})
		if _, err := b.TipHeight(t.Context()); err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "403") {
			t.Errorf("%s: %v", base, err)
		}
	}
	for _, bad := range []string{"ftp://user:" + key + "@a/", "http://a/?key=" + key} {
		if _, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{bad}}); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	followed := false
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer target.Close()
	redirect := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusFound))
	defer redirect.Close()
	b := client(t, mempoolspace.Options{URLs: []string{redirect.URL}, Attempts: 1, HTTP: http.DefaultClient})
	if _, err := b.TipHeight(t.Context()); err == nil || followed {
		t.Errorf("followed %v, error %v", followed, err)
	}
	if http.DefaultClient.CheckRedirect != nil {
		t.Error("the caller's client was changed")
	}
}

// TestTrips holds the number of requests that the methods state.
func TestTrips(t *testing.T) {
	t.Parallel()
	n := newTown(t)
	if _, err := n.Mine(160); err != nil {
		t.Fatal(err)
	}
	height, newest := n.Tip()
	b := client(t, mempoolspace.Options{URLs: []string{n.URL()}, TipAge: time.Hour})
	if _, err := b.TipHeight(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.Server().Requests()
	for _, test := range []struct {
		call        string
		first, then int
	}{
		{"TipHeight", 0, 0}, {"BlockHash", 1, 0}, {"Header", 1, 0}, {"HeadersFrom", 3, 3}, {"InMainChain", 1, 1},
		{"Txs", 1, 0}, {"MerkleProof", 1, 1}, {"Outspends", 1, 1}, {"AddressUTXOs", 1, 1},
		{"AddressTxs", 1, 1}, {"FeeRates", 1, 0}, {"CPFPs", 1, 1}, {"ProjectedBlocks", 1, 0}, {"NodeLiquidity", 1, 1},
	} {
		for i, want := range []int{test.first, test.then} {
			trial.Do(t, n.calls(t.Context(), b)[test.call]())
			if got := n.Server().Requests(); len(got) != want {
				t.Errorf("%s, call %d: %q, want %d", test.call, i+1, got, want)
			}
		}
	}

	// Several outputs of one transaction, several transactions.
	b.Outspends(t.Context(), []bitcoin.OutPoint{n.op, {Hash: n.op.Hash, Index: 1}, n.op})
	if got := n.Server().Requests(); len(got) != 1 {
		t.Errorf("outputs of one transaction: %q", got)
	}
	if hash, err := b.BlockHash(t.Context(), height); err != nil || hash != newest {
		t.Error(err)
	}
	if _, err := b.BlockHash(t.Context(), height); err != nil {
		t.Error(err)
	}
	if got := n.Server().Requests(); len(got) != 2 {
		t.Errorf("the newest block may change, but was remembered: %q", got)
	}
}

// TestPlainEsplora: without v1 paths everything works that such a server knows.
func TestPlainEsplora(t *testing.T) {
	t.Parallel()
	n := newTown(t)
	n.Server().Misbehave(devnet.Fault{Plain: true})
	b := client(t, mempoolspace.Options{URLs: []string{n.URL()}, Attempts: 1})
	list, err := b.HeadersFrom(t.Context(), 0, 47)
	if err != nil || len(list) != 47 {
		t.Fatalf("%d headers, %v", len(list), err)
	}
	n.SetFees(devnet.Fees{Fastest: 7, HalfHour: 5, Hour: 4, Economy: 3, Minimum: 2})
	if rates, err := b.FeeRates(t.Context()); err != nil || rates != (bitcoin.FeeRates{Fastest: 7, Minimum: 1}) {
		t.Errorf("%+v, %v", rates, err)
	}
	tx := trial.Must(n.wallet.Pay(2, wire.NewTxOut(5000, n.wallet.Address.Script())))(t)
	if cpfp, err := single.CPFP(t.Context(), b, tx.TxHash()); err != nil || cpfp != nil {
		t.Errorf("%+v, %v", cpfp, err)
	}
	if blocks, err := b.ProjectedBlocks(t.Context()); err != nil || len(blocks) != 0 {
		t.Errorf("%+v, %v", blocks, err)
	}
	n.Server().Requests()
	if _, err := b.FeeRates(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := n.Server().Requests(); !slices.Equal(got, []string{"GET fee-estimates"}) {
		t.Errorf("a server that is known to be plain is asked %q", got)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]mempoolspace.Options{
		"no such network": {Network: 9},
		"no defaults":     {Network: bitcoin.Regtest},
		"no scheme":       {Network: bitcoin.Mainnet, URLs: []string{"mempool.space/api"}},
		"another scheme":  {Network: bitcoin.Mainnet, URLs: []string{"ftp://mempool.space/api"}},
		"a query":         {Network: bitcoin.Mainnet, URLs: []string{"https://mempool.space/api?x=1"}},
	} {
		if _, err := mempoolspace.New(o); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, network := range []bitcoin.Network{bitcoin.Mainnet, bitcoin.Testnet3, bitcoin.Testnet4} {
		if _, err := mempoolspace.New(mempoolspace.Options{Network: network}); err != nil || len(mempoolspace.DefaultURLs(network)) != 4 {
			t.Errorf("%s: %v", network, err)
		}
	}
}
