package read_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/read"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// final is how many blocks lie on top of the newest final one.
const final = 3

// kit is a reader of the programs of one version on a network whose blocks are made on
// demand.
type kit struct {
	*testing.T
	net    *solana.Net
	ledger *read.Ledger
	reader *read.Reader
	p      wire.Programs
	trips  atomic.Int64
}

// counted counts what is waited for one after the other.
type counted struct {
	rpc.Node
	trips *atomic.Int64
}

func (c counted) Batch(ctx context.Context, requests []rpc.Request) error {
	c.trips.Add(1)
	return c.Node.Batch(ctx, requests)
}

// both runs a test for both versions of the programs.
func both(t *testing.T, test func(*kit)) {
	for _, version := range []string{wire.V1, wire.V2} {
		t.Run(version, func(t *testing.T) {
			n := trial.Must(solana.Start(solana.Options{FinalizedLag: final, Manual: true}))(t)
			t.Cleanup(func() {
				if err := n.Close(); err != nil {
					t.Error(err)
				}
			})
			k := &kit{T: t, net: n}
			for _, p := range n.Programs() {
				if p.Version == version {
					k.p = p
				}
			}
			k.must(n.Deposit(t.Context(), version, n.LP, solana.USDC, 1)) // a claimer who is not paid out needs a balance
			k.connect(n.URL())
			test(k)
		})
	}
}

func (k *kit) connect(urls ...string) {
	k.Helper()
	nodes := trial.Must(rpc.Dial(func(string) error { return nil }, urls, http.DefaultTransport, k.net.Time))(k)
	k.Cleanup(nodes.Close)
	k.ledger = read.NewLedger(counted{nodes, &k.trips}, k.net.Time, slog.New(slog.DiscardHandler))
	k.reader = read.New(k.p, k.ledger)
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

var rate = wire.FeeRate{Price: 8000}

func secretOf(n byte) [32]byte { return [32]byte{31: n} }

// lock describes an escrow that the user pays into, for the LP, until an hour from now.
func (k *kit) lock(secret [32]byte, amount, sequence uint64) *wire.SwapData {
	k.Helper()
	d := trial.Must(k.p.NewSwapData(wire.Spec{Kind: chains.HTLC, Claim: wire.ClaimHash{PaymentHash: sha256.Sum256(secret[:])}, Offerer: k.net.User.Address, Claimer: k.net.LP.Address,
		Token: solana.USDC, Amount: amount, Sequence: sequence, Expiry: uint64(k.net.Time().Add(time.Hour).Unix()), PayIn: true, DepositToken: wire.WSOL}))(k)
	return d
}

// authorize has the LP sign with the newest final block.
func (k *kit) authorize(d *wire.SwapData, by *solana.Account, sender wire.Key) (wire.InitAuth, wire.SignedBlock) {
	k.Helper()
	var block wire.SignedBlock
	var slot uint64
	k.net.Bank().Read(bank.Finalized, 0, func(v *bank.View) {
		slot, block = v.Head().Slot, wire.SignedBlock{Hash: v.Head().Hash, Height: v.Head().Height}
	})
	until := uint64(k.net.Time().Add(10 * time.Minute).Unix())
	tx := trial.Must(k.p.InitTx(d, sender, until, rate))(k)
	tx.Blockhash = block.Hash
	k.must(tx.Sign(by.Key))
	return wire.InitAuth{Prefix: d.InitPrefix(), Timeout: until, Slot: slot, Signature: tx.Signatures[by.Address]}, block
}

// open opens an escrow and returns the transaction's id.
func (k *kit) open(d *wire.SwapData, by, lp *solana.Account) string {
	k.Helper()
	auth, block := k.authorize(d, lp, by.Address)
	txs := trial.Must(k.p.OpenTxs(d, by.Address, auth, rate, block, nil))(k)
	return k.send(by, txs...)
}

func (k *kit) send(by *solana.Account, txs ...*wire.Tx) string {
	k.Helper()
	done := trial.Must(by.SendAll(k.Context(), txs))(k)
	return done.ID.String()
}

func (k *kit) claim(d *wire.SwapData, secret [32]byte, by *solana.Account) string {
	k.Helper()
	tx := trial.Must(k.p.ClaimTx(d, by.Address, secret, rate, wire.ToATA{}))(k)
	return k.send(by, tx)
}

func queryOf(t testing.TB, d *wire.SwapData) chains.EscrowQuery {
	t.Helper()
	e := trial.Must(d.Escrow())(t)
	return chains.EscrowQuery{Escrow: &e}
}

func searchOf(d *wire.SwapData) chains.EscrowQuery {
	return chains.EscrowQuery{ClaimHash: d.ClaimHash().Bytes(), Offerer: d.Offerer.String(), Claimer: d.Claimer.String()}
}

// facts asks, and demands that it takes so many round trips.
func (k *kit) facts(trips int64, queries ...chains.EscrowQuery) []chains.EscrowFact {
	k.Helper()
	k.trips.Store(0)
	all := trial.Must(k.reader.Escrows(k.Context(), queries))(k)
	if got := k.trips.Load(); got != trips {
		k.Errorf("%d round trips, want %d", got, trips)
	}
	for _, f := range all {
		k.must(f.Err)
	}
	return all
}

// An escrow is followed from before it is opened until its end is final.
func TestEscrowCourse(t *testing.T) {
	both(t, func(k *kit) {
		secret := secretOf(1)
		d := k.lock(secret, 1000, 7)
		byData, byHash := queryOf(k, d), searchOf(d)
		for _, f := range k.facts(1, byData, byHash) {
			if f.State != chains.EscrowNone || f.Head.Height == 0 || f.Head.Time != k.net.Time().Unix() || f.Escrow != nil || f.Final {
				k.Errorf("before: %+v", f)
			}
		}
		opened := k.open(d, k.net.User, k.net.LP)
		all := k.facts(2, byData, byHash)
		for i, f := range all {
			if f.State != chains.EscrowOpen || f.InitTx != opened || f.Opened.Height == 0 || f.Final {
				k.Errorf("open %d: %+v", i, f)
			}
		}
		found := trial.Must(wire.ParseSwapData(all[1].Escrow.Data))(k)
		if err := wire.Diff(d, found, chains.Tolerance{AnyExtraData: true}); err != nil {
			k.Errorf("found by claim hash: %v", err)
		}
		k.facts(1, byData, byHash) // what happened was read before
		k.net.Mine(final)
		if f := k.facts(1, byData)[0]; !f.Final || f.InitTx != opened {
			k.Errorf("final: %+v", f)
		}
		k.net.Advance(121 * time.Second)
		k.facts(2, byData) // two readings so far apart are believed
		k.net.Server().Requests()
		k.facts(1, byData)
		if asked := k.net.Server().Requests(); len(asked) != 1 || slices.Contains(asked[0], "getSignaturesForAddress") {
			k.Errorf("an escrow whose opening is final takes the calls %v, want its account alone", asked)
		}
		claimed := k.claim(d, secret, k.net.LP)
		f := k.facts(3, byData)[0]
		if f.State != chains.EscrowClaimed || f.ClaimTx != claimed || f.InitTx != opened || !bytes.Equal(f.Result, secret[:]) || f.Final || f.Finished.Height <= f.Opened.Height {
			k.Errorf("claimed: %+v", f)
		}
		k.net.Mine(final)
		if f := k.facts(1, byData)[0]; !f.Final || f.ClaimTx != claimed {
			k.Errorf("claimed for good: %+v", f)
		}
		if f := k.facts(1, byData, byHash)[1]; f.State != chains.EscrowClaimed || f.Escrow == nil || f.ClaimTx != claimed {
			k.Errorf("by claim hash: %+v", f)
		}
		if all, err := k.reader.Happened(k.Context(), d.PaymentHash); err != nil || len(all) != 2 || all[0].Kind != wire.Claimed || all[1].Tx != opened {
			k.Errorf("happened: %v, %v", all, err)
		}
		// Another reader, which remembers nothing, comes to the same.
		k.connect(k.net.URL())
		if again := k.facts(2, byData)[0]; again.ClaimTx != claimed || again.InitTx != opened || !again.Final {
			k.Errorf("read anew: %+v", again)
		}
	})
}

// An escrow that was refunded can be opened again, and is open then, although its
// refund was final.
func TestRefundedAndOpenedAnew(t *testing.T) {
	both(t, func(k *kit) {
		d := k.lock(secretOf(2), 500, 8)
		k.open(d, k.net.User, k.net.LP)
		refund := func() string {
			auth := wire.RefundAuth{Timeout: uint64(k.net.Time().Add(10 * time.Minute).Unix())}
			m := d.RefundMessage(auth.Timeout)
			auth.Signature = trial.Must(k.net.LP.Key.Sign(m[:]))(k)
			tx := trial.Must(k.p.RefundTx(d, k.net.User.Address, &auth, nil, rate, wire.ToATA{}))(k)
			return k.send(k.net.User, tx)
		}
		first := refund()
		k.net.Mine(final)
		if f := k.facts(2, queryOf(k, d))[0]; f.State != chains.EscrowRefunded || f.RefundTx != first || !f.Final {
			k.Fatalf("refunded: %+v", f)
		}
		opened := k.open(d, k.net.User, k.net.LP)
		f := k.facts(2, queryOf(k, d))[0]
		if f.State != chains.EscrowOpen || f.InitTx != opened || f.Final {
			k.Errorf("opened anew: %+v", f)
		}
		k.net.Mine(final)
		k.facts(1, queryOf(k, d))
		k.net.Advance(121 * time.Second)
		k.facts(2, queryOf(k, d))
		second := refund()
		if f := k.facts(3, queryOf(k, d))[0]; f.State != chains.EscrowRefunded || f.RefundTx != second {
			k.Errorf("refunded again: %+v, first by %s", f, first)
		}
	})
}

// Anybody can open another escrow with the hash and the sequence of ours, and end it.
// That is no news of ours.
func TestEscrowOfTheSameHash(t *testing.T) {
	both(t, func(k *kit) {
		secret := secretOf(3)
		ours := k.lock(secret, 1_000_000, 9)
		theirs := *ours
		theirs.Amount = 1
		theirs.Offerer = k.net.Watchtower.Address
		ata := wire.ATA(theirs.Offerer, theirs.Token)
		theirs.OffererATA = &ata
		k.open(&theirs, k.net.Watchtower, k.net.LP)
		if f := k.facts(2, queryOf(k, ours))[0]; f.State != chains.EscrowNone || f.InitTx != "" {
			k.Errorf("another is open: %+v", f)
		}
		if all := k.facts(1, searchOf(ours), searchOf(&theirs)); all[0].Escrow != nil || all[1].Escrow == nil {
			k.Errorf("searched: %+v, %+v", all[0], all[1])
		}
		k.claim(&theirs, secret, k.net.LP)
		if f := k.facts(2, queryOf(k, ours))[0]; f.State != chains.EscrowNone || f.ClaimTx != "" || f.Result != nil {
			k.Errorf("another was claimed: %+v", f)
		}
		opened := k.open(ours, k.net.User, k.net.LP)
		if f := k.facts(2, queryOf(k, ours))[0]; f.State != chains.EscrowOpen || f.InitTx != opened {
			k.Errorf("ours: %+v", f)
		}
	})
}

// An authorisation is good, then late, then over: when so many blocks are final that
// the block hash that was signed counts no more.
func TestAuthorisationStates(t *testing.T) {
	both(t, func(k *kit) {
		k.net.Mine(5)
		d := k.lock(secretOf(4), 10, 11)
		auth, _ := k.authorize(d, k.net.LP, k.net.User.Address)
		wireAuth := auth.Auth()
		q := queryOf(k, d)
		q.Auth = &wireAuth
		state := func(trips int64) chains.AuthState { return k.facts(trips, q)[0].Auth }
		if s := state(1); s != chains.AuthGood {
			k.Errorf("fresh: %v, %v", s, k.net.Server().Requests())
		}
		k.net.Mine(wire.TxSlots - 10)
		if s := state(1); s != chains.AuthLate {
			k.Errorf("ten blocks before its end: %v", s)
		}
		k.net.Mine(60)
		if s := state(2); s != chains.AuthOver { // looked at once more
			k.Errorf("after its end: %v", s)
		}
		// One that no block hash ends, ends with its time.
		other := wireAuth
		other.Signature = ""
		q.Auth = &other
		if s := state(1); s != chains.AuthGood {
			k.Errorf("without a signature: %v", s)
		}
		k.must(k.net.Advance(11 * time.Minute))
		k.net.Mine(final + 1)
		if s := state(2); s != chains.AuthOver {
			k.Errorf("timed out: %v", s)
		}
		k.open(d, k.net.User, k.net.LP)
		if f := k.facts(2, q)[0]; f.State != chains.EscrowOpen || f.Auth != chains.AuthOver {
			k.Errorf("opened: %+v", f)
		}
	})
}

// What a party did is read back, and events come in their order, each once.
func TestHistoryAndPoll(t *testing.T) {
	both(t, func(k *kit) {
		var at read.Cursor
		poll := func() (news []read.News) {
			k.must(k.ledger.Poll(k.Context(), []*read.Reader{k.reader}, at, 1, func(some []read.News, next read.Cursor) error {
				news, at = append(news, some...), next
				return nil
			}))
			return news
		}
		first, second := k.lock(secretOf(5), 10, 1), k.lock(secretOf(6), 20, 2)
		k.open(first, k.net.User, k.net.LP)
		if got := poll(); len(got) != 1 || got[0].EscrowHash() != first.EscrowHash() || got[0].Version != k.p.Version || got[0].Opened == nil {
			k.Fatalf("first poll: %+v", got)
		}
		if got := poll(); len(got) != 0 {
			k.Errorf("twice: %+v", got)
		}
		middle := k.net.Head().Slot + 1
		k.open(second, k.net.User, k.net.LP)
		k.claim(first, secretOf(5), k.net.LP)
		// A transaction that failed is no news, and does not stop the poll.
		if tx, err := k.p.ClaimTx(second, k.net.LP.Address, secretOf(9), rate, wire.ToATA{}); err != nil {
			k.Fatal(err)
		} else if _, err := k.net.LP.SendTx(k.Context(), tx); err == nil {
			k.Fatal("claimed by another secret")
		}
		got := poll()
		if len(got) != 2 || got[0].Kind != wire.Initialized || got[1].Kind != wire.Claimed || got[1].EscrowHash() != first.EscrowHash() {
			k.Fatalf("news: %+v", got)
		}
		history := func(from uint64) (all []chains.Past) {
			for p, err := range k.ledger.History(k.Context(), []*read.Reader{k.reader}, k.net.User.Address, from) {
				k.must(err)
				all = append(all, p)
			}
			return all
		}
		past := history(0)
		if len(past) != 2 || past[0].Fact.State != chains.EscrowClaimed || past[1].Fact.State != chains.EscrowOpen || !bytes.Equal(past[1].Escrow.ClaimHash, second.ClaimHash().Bytes()) {
			k.Fatalf("history: %+v", past)
		}
		if later := history(middle); len(later) != 1 || later[0].Fact.InitTx != past[1].Fact.InitTx {
			k.Errorf("from %d on: %+v", middle, later)
		}
		if none := history(middle + 100); len(none) != 0 {
			k.Errorf("of the future: %+v", none)
		}
	})
}

// The relay's headers, by their block and at the tip.
func TestRelayHeaders(t *testing.T) {
	both(t, func(k *kit) {
		k.net.SetMining(true)
		k.net.Bitcoin().Mine(4)
		k.must(k.net.SyncRelay(k.Context()))
		height := trial.Must(k.net.RelayHeight(k.p.Version))(k)
		state, tip := trial.Must2(k.reader.TipHeader(k.Context()))(k)
		if state.Height != height || tip.Header.Height != height || tip.Commitment() != state.TipCommitment {
			k.Fatalf("tip %d, %+v, want %d", state.Height, tip.Header, height)
		}
		inner := trial.Must(k.net.StoredHeader(height - 2))(k)
		_, header, err := k.reader.Header(k.Context(), inner.Header.Hash())
		k.must(err)
		if header == nil || header.Commitment() != inner.Commitment() {
			k.Errorf("header %+v, want %+v", header, inner.Header)
		}
		if _, none, err := k.reader.Header(k.Context(), bitcoin.Hash{9}); err != nil || none != nil {
			k.Errorf("of a block that there is not: %v, %v", none, err)
		}
		asked := 0
		_, latest, err := k.reader.LatestHeader(k.Context(), func(_ context.Context, h bitcoin.Hash) (bool, error) {
			asked++
			return h == inner.Header.Hash(), nil
		})
		if err != nil || latest == nil || latest.Header.Height != height-2 || asked != 3 {
			k.Errorf("latest %+v after %d questions, %v", latest, asked, err)
		}
	})
}
