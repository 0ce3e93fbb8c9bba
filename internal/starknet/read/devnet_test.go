package read_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/starknet/read"
	starkrpc "github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// ground is a reader of a network that executes the contracts' rules.
type ground struct {
	*testing.T
	net    *starknet.Net
	ledger *read.Ledger
	reader *read.Reader
}

func start(t *testing.T, o starknet.Options) *ground {
	t.Helper()
	n := trial.Must(starknet.Start(o))(t)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	nodes := trial.Must(starkrpc.Dial(n.Network().CheckChainID, []string{n.URL()}, http.DefaultTransport, time.Now))(t)
	t.Cleanup(nodes.Close)
	l := read.NewLedger(nodes, time.Now, slog.New(slog.DiscardHandler))
	return &ground{t, n, l, read.New(n.Deployment(), l)}
}

// need ends the test on an error.
func need[T any](t *ground) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// each runs a test with servers of every version of the interface.
func each(t *testing.T, o starknet.Options, test func(*ground)) {
	for _, v := range []starknet.NodeVersion{starknet.V7, starknet.V8, starknet.V9, starknet.V10} {
		t.Run(v.String(), func(t *testing.T) {
			o.Version = v
			test(start(t, o))
		})
	}
}

// hashLock is an escrow of the LP's for the user, paid out of the LP's balance.
func (g *ground) hashLock(secret [32]byte, sequence uint64) wire.SwapData {
	g.Helper()
	return need[wire.SwapData](g)(g.net.Deployment().NewSwapData(wire.Terms{Kind: chains.HTLC, Offerer: g.net.LP.Address, Claimer: g.net.User.Address, Token: starknet.WBTC, Amount: big.NewInt(5000),
		ClaimData: wire.ClaimDataHTLC(sha256.Sum256(secret[:])), Sequence: sequence, Expiry: g.net.Time().Unix() + 86400, PayOut: true}))
}

// An escrow's whole life, as a client sees it.
func TestEscrowOnANetwork(t *testing.T) {
	t.Parallel()
	each(t, starknet.Options{}, func(g *ground) {
		ctx := g.Context()
		trial.Do(g, g.net.Deposit(ctx, g.net.LP, starknet.WBTC, big.NewInt(100_000)))
		funds := need[chains.LPFunds](g)(g.reader.Funds(ctx, g.net.LP.Address, starknet.WBTC))
		if funds.Balance.Int64() != 100_000 || len(funds.Reputation) != 4 {
			g.Errorf("%+v", funds)
		}
		begin := g.net.Head().Height
		secret := [32]byte{1, 2, 3}
		s := g.hashLock(secret, 7)
		e := need[chains.Escrow](g)(g.net.Deployment().Escrow(s))
		claim := s.ClaimData.Bytes()
		byData := chains.EscrowQuery{Escrow: &e, Auth: &chains.Auth{Timeout: g.net.Time().Unix() + 3600}}
		byHash := chains.EscrowQuery{ClaimHash: claim[:], Offerer: e.Offerer, Claimer: e.Claimer, From: begin}
		look := func() [2]chains.EscrowFact {
			g.Helper()
			facts := need[[]chains.EscrowFact](g)(g.reader.Escrows(ctx, []chains.EscrowQuery{byData, byHash}))
			if facts[0].Err != nil || facts[1].Err != nil {
				g.Fatal(facts[0].Err, facts[1].Err)
			}
			return [2]chains.EscrowFact(facts)
		}
		if f := look(); f[0].State != chains.EscrowNone || f[0].Auth != chains.AuthGood || f[1].Escrow != nil || f[0].Head.Hash != g.net.Head().Hash {
			g.Errorf("%+v", f)
		}
		var at read.Cursor
		var news []read.News
		poll := func() []read.News {
			g.Helper()
			news = nil
			trial.Do(g, g.ledger.Poll(ctx, []*read.Reader{g.reader}, at, func(some []read.News, next read.Cursor) error {
				news, at = append(news, some...), next
				return nil
			}))
			return news
		}
		poll()
		opened := need[wire.Felt](g)(g.net.Party(g.net.LP).Open(s, g.net.Time().Unix()+3600))
		trial.Do(g, g.net.Wait(ctx, opened))
		f := look()
		if f[0].State != chains.EscrowOpen || !f[0].Final || f[0].InitTx != wire.Hex(opened) || f[0].Opened != g.net.Head() || f[1].State != chains.EscrowOpen || f[1].Escrow == nil || string(f[1].Escrow.Hash) != string(e.Hash) {
			g.Errorf("%+v", f)
		}
		if n := poll(); len(n) != 1 || n[0].Tx != wire.Hex(opened) {
			g.Errorf("%+v", n)
		}
		claimed := need[wire.Felt](g)(g.net.Party(g.net.User).ClaimSecret(ctx, s, secret))
		f = look()
		if f[0].State != chains.EscrowClaimed || f[0].ClaimTx != wire.Hex(claimed) || string(f[0].Result) != string(secret[:]) || f[0].Finished != g.net.Head() {
			g.Errorf("%+v", f[0])
		}
		if n := poll(); len(n) != 1 || n[0].Tx != wire.Hex(claimed) {
			g.Errorf("%+v", n)
		}
		var past []chains.Past
		for p, err := range g.ledger.History(ctx, []*read.Reader{g.reader}, g.net.User.Address, 0) {
			past = append(past, need[chains.Past](g)(p, err))
		}
		if len(past) != 1 || past[0].Fact.State != chains.EscrowClaimed || string(past[0].Escrow.Hash) != string(e.Hash) {
			g.Errorf("%+v", past)
		}
		states := need[[]chains.TxStatus](g)(g.ledger.Status(ctx, []chains.Signed{{ID: wire.Hex64(claimed)}, {ID: "0x1"}}))
		if states[0].State != chains.TxConfirmed || states[0].Block.Height != g.net.Head().Height || states[1].State != chains.TxUnknown {
			g.Errorf("%+v", states)
		}
	})
}

// What is only pre-confirmed counts for the next nonce and for nothing else, and may vanish.
func TestPreConfirmedOnANetwork(t *testing.T) {
	t.Parallel()
	each(t, starknet.Options{Manual: true}, func(g *ground) {
		ctx := g.Context()
		g.net.Mine(1)
		account := func() read.Account {
			g.Helper()
			return need[read.Account](g)(g.ledger.Account(ctx, g.net.LP.Address))
		}
		before := account()
		if !before.Deployed || uint64(before.Next) != before.Nonce || before.Class != wire.ClassOpenZeppelin {
			g.Fatalf("%+v", before)
		}
		s := g.hashLock([32]byte{9}, 1)
		id := need[wire.Felt](g)(g.net.Party(g.net.LP).Open(s, g.net.Time().Unix()+3600)) // which reverts: there is no balance
		tx := []chains.Signed{{ID: wire.Hex(id), From: wire.Hex64(g.net.LP.Address), Nonce: before.Nonce}}
		state := func() chains.TxStatus {
			g.Helper()
			return need[[]chains.TxStatus](g)(g.ledger.Status(ctx, tx))[0]
		}
		if got := account(); got.Nonce != before.Nonce || uint64(got.Next) != before.Nonce+1 {
			g.Errorf("%+v", got)
		}
		if got := state(); got.State != chains.TxPending || got.Final {
			g.Errorf("%+v", got)
		}
		g.net.Mine(1)
		if got := state(); got.State != chains.TxReverted || got.Reason == "" || !got.Final {
			g.Errorf("%+v", got)
		}
		if got := account(); got.Nonce != before.Nonce+1 {
			g.Errorf("%+v", got)
		}
		again := need[wire.Felt](g)(g.net.LP.Submit(need[wire.Call](g)(wire.Transfer(wire.STRK, g.net.User.Address, big.NewInt(5)))))
		tx[0].ID, tx[0].Nonce = wire.Hex(again), before.Nonce+1
		if got := state(); got.State != chains.TxPending {
			g.Errorf("%+v", got)
		}
		if paid := need[chains.Payout](g)(g.ledger.Paid(ctx, again, g.net.User.Address)); paid.Amount.Sign() != 0 {
			g.Errorf("%d is paid before it is in a block", paid)
		}
		g.net.Mine(1)
		if paid := need[chains.Payout](g)(g.ledger.Paid(ctx, again, g.net.User.Address)); paid.Amount.Int64() != 5 {
			g.Errorf("%d is paid", paid)
		}
		trial.Do(g, g.net.Forget(1))
		if got := state(); got.State != chains.TxUnknown && got.State != chains.TxPending {
			g.Errorf("%+v", got)
		}
	})
}

// Who signed something is for an account to say; one that is not there has signed nothing.
func TestSignaturesOnANetwork(t *testing.T) {
	t.Parallel()
	g := start(t, starknet.Options{})
	data := []byte("an announcement")
	signature := need[string](g)(g.net.LP.Key.SignMessage(g.net.Network().DataMessage(data)))
	ask := func(by *starknet.Account, data []byte) error {
		return g.ledger.Signed(g.Context(), need[wire.SignatureCheck](g)(g.net.Network().CheckData(by.Address, data, signature)))
	}
	if err := ask(g.net.LP, data); err != nil {
		g.Error(err)
	}
	for name, err := range map[string]error{"other data": ask(g.net.LP, []byte("x")), "another account": ask(g.net.User, data), "nobody": ask(g.net.NewAccount(), data)} {
		if _, ok := errors.AsType[*chains.AuthError](err); !ok {
			g.Errorf("%s: %v", name, err)
		}
	}
	balances := need[[]*big.Int](g)(g.ledger.Balances(g.Context(), g.net.User.Address, wire.STRK, starknet.USDC))
	if balances[0].Cmp(need[*big.Int](g)(g.net.Balance(wire.STRK, g.net.User.Address))) != 0 || balances[1].Int64() != 2e12 {
		g.Errorf("%v", balances)
	}
	if a := need[read.Account](g)(g.ledger.Account(g.Context(), g.net.NewAccount().Address)); a.Deployed || a.Next != 0 {
		g.Errorf("%+v", a)
	}
}

// The relay's headers, and vaults.
func TestRelayOnANetwork(t *testing.T) {
	t.Parallel()
	g := start(t, starknet.Options{})
	ctx := g.Context()
	g.net.Bitcoin().Mine(5)
	trial.Do(g, g.net.SyncRelay(ctx))
	tip := need[uint32](g)(g.reader.RelayTip(ctx))
	h := need[wire.StoredHeader](g)(g.net.StoredHeader(tip - 2))
	got, at, found, err := g.reader.Header(ctx, h.Header.Hash(), 0)
	if err != nil || !found || at != tip || got.CommitHash() != h.CommitHash() {
		g.Errorf("%v, %d, %v", found, at, err)
	}
	if last := need[wire.StoredHeader](g)(g.reader.TipHeader(ctx)); last.Header.Height != tip {
		g.Errorf("%+v", last)
	}
	in := func(_ context.Context, b bitcoin.Hash) (bool, error) { return b == h.Header.Hash(), nil }
	if last := need[wire.StoredHeader](g)(g.reader.LatestHeader(ctx, in)); last.CommitHash() != h.CommitHash() {
		g.Errorf("%+v", last)
	}
	if _, _, found, err = g.reader.Header(ctx, bitcoin.Hash{7}, 0); err != nil || found {
		g.Error(found, err)
	}
	utxo := bitcoin.OutPoint{Hash: bitcoin.Hash{1}}
	v := trial.Must(g.net.Party(g.net.LP).OpenVault(ctx, big.NewInt(3), [2]wire.Felt{starknet.WBTC, wire.STRK}, [2]*big.Int{big.NewInt(1), big.NewInt(1e10)}, 3, utxo, [2]uint64{1000, 2000}))(g)
	asks := func(owner string, id int64) chains.VaultID {
		return chains.VaultID{Owner: owner, ID: big.NewInt(id)}
	}
	ids := []chains.VaultID{asks(wire.Hex64(v.Owner), 3), asks(wire.Hex64(v.Owner), 4), asks("x", 4)}
	facts := need[[]chains.VaultFact](g)(g.reader.Vaults(ctx, ids))
	if f := facts[0]; f.Err != nil || !f.Vault.Open || !f.Vault.OurRelay || f.Vault.UTXO != utxo || f.Vault.Raw != [2]uint64{1000, 2000} || f.Head.Height != g.net.Head().Height {
		g.Errorf("%+v", f)
	}
	if facts[1].Err != nil || facts[1].Vault.Open || facts[2].Err == nil {
		g.Errorf("%+v", facts[1:])
	}
	queries := []chains.WithdrawalQuery{{Vault: ids[0], Recipient: wire.Hex64(g.net.User.Address), TxID: bitcoin.Hash{9}}}
	if w := need[[]chains.WithdrawalFact](g)(g.reader.Withdrawals(ctx, queries)); w[0].Err != nil || w[0].State != chains.WithdrawalNone {
		g.Errorf("%+v", w)
	}
}

// A server that misbehaves, alone where its faults are limits, and in front of an honest
// one where they are not: what a client is told is the same.
func TestFaultyServers(t *testing.T) {
	t.Parallel()
	g := start(t, starknet.Options{})
	ctx := g.Context()
	trial.Do(g, g.net.Deposit(ctx, g.net.LP, starknet.WBTC, big.NewInt(100_000)))
	secret := [32]byte{5}
	var queries []chains.EscrowQuery
	var locks []wire.SwapData
	for i := range uint64(3) {
		s := g.hashLock(secret, i)
		locks = append(locks, s)
		id := need[wire.Felt](g)(g.net.Party(g.net.LP).Open(s, g.net.Time().Unix()+3600))
		trial.Do(g, g.net.Wait(ctx, id))
		g.net.Mine(7)
		e := need[chains.Escrow](g)(g.net.Deployment().Escrow(s))
		queries = append(queries, chains.EscrowQuery{Escrow: &e})
	}
	claimed := need[wire.Felt](g)(g.net.Party(g.net.User).ClaimSecret(ctx, locks[1], secret))
	faulty := need[*starknet.NodeServer](g)(g.net.Serve(""))
	for name, c := range map[string]struct {
		fault starknet.NodeFault
		alone bool
	}{
		"few blocks a page":     {starknet.NodeFault{PageBlocks: 3}, true},
		"small batches":         {starknet.NodeFault{MaxBatch: 2}, true},
		"no batches":            {starknet.NodeFault{MaxBatch: 1}, true},
		"no traces":             {starknet.NodeFault{NoTraces: true}, true},
		"garbage":               {starknet.NodeFault{Garbage: true}, false},
		"down":                  {starknet.NodeFault{Down: true}, false},
		"HTTP status 502":       {starknet.NodeFault{Status: 502}, false},
		"answers without end":   {starknet.NodeFault{Huge: true}, false},
		"another network":       {starknet.NodeFault{WrongNetwork: true}, false},
		"an old version":        {starknet.NodeFault{WrongSpec: "0.5.1"}, false},
		"no calls":              {starknet.NodeFault{Fail: []string{"starknet_call"}}, false},
		"no events, by refusal": {starknet.NodeFault{Fail: []string{"starknet_getEvents"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			faulty.Misbehave(c.fault)
			urls := []string{faulty.URL()}
			if !c.alone {
				urls = append(urls, g.net.URL())
			}
			nodes := trial.Must(starkrpc.Dial(func(id wire.Felt) error {
				if err := g.net.Network().CheckChainID(id); err != nil {
					return errors.Join(err, errors.New("unknown"))
				}
				return nil
			}, urls, http.DefaultTransport, time.Now))(t)
			defer nodes.Close()
			nodes.Retry = httpx.RetryPolicy{Calls: 1}
			l := read.NewLedger(nodes, time.Now, slog.New(slog.DiscardHandler))
			r := read.New(g.net.Deployment(), l)
			facts := trial.Must(r.Escrows(ctx, queries))(t)
			for i, f := range facts {
				want := chains.EscrowOpen
				if i == 1 {
					want = chains.EscrowClaimed
				}
				if f.Err != nil || f.State != want || f.InitTx == "" || f.Opened.Time == 0 {
					t.Errorf("%d: %+v", i, f)
				}
			}
			n := 0
			for p, err := range l.History(ctx, []*read.Reader{r}, g.net.User.Address, 0) {
				if err != nil {
					t.Fatal(err)
				}
				if p.Fact.Err != nil {
					t.Error(p.Fact.Err)
				}
				n++
			}
			if n != len(queries) {
				t.Errorf("%d swaps", n)
			}
			if states, err := l.Status(ctx, []chains.Signed{{ID: wire.Hex(claimed)}}); err != nil || states[0].State != chains.TxConfirmed {
				t.Errorf("%+v, %v", states, err)
			}
		})
	}
	// One that hides events hides no escrow: its state says that there is one.
	faulty.Misbehave(starknet.NodeFault{NoEvents: true})
	nodes := trial.Must(starkrpc.Dial(func(wire.Felt) error { return nil }, []string{faulty.URL()}, http.DefaultTransport, time.Now))(t)
	defer nodes.Close()
	facts := trial.Must(read.New(g.net.Deployment(), read.NewLedger(nodes, time.Now, slog.New(slog.DiscardHandler))).Escrows(ctx, queries))(t)
	for i, f := range facts {
		if f.Err == nil || f.State == chains.EscrowNone || f.Final {
			t.Errorf("%d: %+v", i, f)
		}
	}
}
