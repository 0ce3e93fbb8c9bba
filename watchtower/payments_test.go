package watchtower_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/watchtower"
)

// payer is a kit on Solana with a wallet on Bitcoin.
type payer struct {
	*kit
	wallet *devbitcoin.Wallet
	blocks *counted
}

// counted counts the blocks that are read of a backend.
type counted struct {
	*mempoolspace.Client
	mu     sync.Mutex
	read   map[bitcoin.Hash]int
	failed int
	away   bool // no block is given
}

func (c *counted) Block(ctx context.Context, hash bitcoin.Hash) (*wire.MsgBlock, error) {
	b, err := c.Client.Block(ctx, hash)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		b, err = nil, errors.New("away")
	}
	if c.read[hash]++; err != nil {
		c.failed++
	}
	return b, err
}

// most is how often the block that was read most often was read, and how many were read.
func (c *counted) most() (most, blocks, failed int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.read {
		most = max(most, n)
	}
	return most, len(c.read), c.failed
}

func newPayer(t testing.TB, f family) *payer {
	t.Helper()
	p := &payer{kit: newKit(t, f)}
	p.blocks = &counted{Client: p.backend, read: map[bitcoin.Hash]int{}}
	p.wallet = trial.Must(p.Bitcoin.NewWallet(bitcoin.P2WPKH))(t)
	trial.Must(p.Bitcoin.Faucet(p.wallet.Address, 10_000_000))(t)
	p.mined(1)
	return p
}

// finder is a tower's configuration that claims for all.
func (p *payer) finder() watchtower.Config {
	c := p.config()
	c.Payments, c.Bitcoin = true, p.blocks
	return c
}

func (p *payer) mined(blocks int) {
	p.Helper()
	if _, err := p.Bitcoin.Mine(blocks); err != nil {
		p.Fatal(err)
	}
}

// awaits is a condition with two confirmations.
func (p *payer) awaits(sats uint64) *chains.Condition {
	return &chains.Condition{Kind: chains.Onchain, Script: p.wallet.Address.Script(), Sats: sats, Confirmations: 2}
}

func (p *payer) pay(sats int64) *wire.MsgTx {
	p.Helper()
	return trial.Must(p.wallet.Pay(2, wire.NewTxOut(sats, p.wallet.Address.Script())))(p.TB)
}

func (p *payer) claimed(data []byte) func() bool {
	return func() bool { return p.state(data) == chains.EscrowClaimed }
}

// over demands that all is claimed, and the books right.
func (p *payer) over(tower *watchtower.Tower, before *big.Int, claims uint64) {
	p.Helper()
	p.eventually("over", func() bool { return p.stored() == 0 })
	if b := p.book(tower); b.Claims != claims || b.Lost != 0 {
		p.Errorf("books: %+v, want %d claims", b, claims)
	}
	p.balanced(tower, before)
}

func onBothPrograms(t *testing.T, run func(p *payer)) {
	t.Parallel()
	for _, f := range families[1:3] {
		t.Run(f.name, func(t *testing.T) { run(newPayer(t, f)) })
	}
}

// A tower finds the escrows of others that wait for a bitcoin payment, and the payments; it claims what pays once
// Bitcoin has confirmed it as often as the escrow demands, though it was not running when that was paid.
func TestFindsPaymentsOfOthers(t *testing.T) {
	onBothPrograms(t, func(p *payer) {
		fair, next := p.open(p.TB, opening{bounty: p.fair, pays: p.awaits(100_000)}), p.open(p.TB, opening{bounty: p.fair, pays: p.awaits(100_003)})
		poor := p.open(p.TB, opening{bounty: 1000, pays: p.awaits(100_001)})
		unpaid := p.open(p.TB, opening{bounty: p.fair, pays: p.awaits(100_002)})
		before := p.native(p.signer.Address())
		tower, stop := p.tower(p.finder())
		p.pay(100_000)
		p.pay(100_001)
		p.mined(1)
		p.never("claimed with one confirmation of two", func() bool { return p.state(fair) != chains.EscrowOpen || p.stored() > 0 })
		p.mined(1)
		p.eventually("claimed", p.claimed(fair))
		p.eventually("over", func() bool { return p.stored() == 0 })
		p.never("claimed what does not pay, or is not paid", func() bool { return p.state(poor) != chains.EscrowOpen || p.state(unpaid) != chains.EscrowOpen })
		if most, blocks, failed := p.blocks.most(); most != 1 || blocks > 24 || failed > 0 {
			p.Errorf("%d blocks are read, one of them %d times, %d in vain", blocks, most, failed)
		}
		p.over(tower, before, 1)
		stop()
		p.pay(100_003)
		p.mined(30) // more than half an hour has, if they are not long
		tower, _ = p.tower(p.finder())
		p.eventually("claimed what was paid meanwhile", p.claimed(next))
		p.over(tower, before, 2)
	})
}

// What an opener publishes need not be what the escrow waits for: an output that somebody has paid, or none.
func TestAPaymentThatIsMadeUp(t *testing.T) {
	p := newPayer(t, families[2])
	elsewhere := rawtx.TxoHash(100_000, p.wallet.Address.Script())
	lie := p.open(t, opening{bounty: p.fair, pays: p.awaits(200_000), output: &elsewhere})
	none := p.open(t, opening{bounty: p.fair, pays: p.awaits(200_001), output: &[32]byte{1}})
	tower, _ := p.tower(p.finder())
	before := p.native(p.signer.Address())
	p.pay(100_000)
	p.mined(2)
	late := p.open(t, opening{bounty: p.fair, pays: p.awaits(200_002), output: &elsewhere})
	p.never("claimed", func() bool {
		return p.state(lie) != chains.EscrowOpen || p.state(none) != chains.EscrowOpen || p.state(late) != chains.EscrowOpen || p.stored() > 0
	})
	if most, blocks, _ := p.blocks.most(); most > 2 || blocks > 24 {
		t.Errorf("%d blocks are read, one of them %d times", blocks, most)
	}
	real := p.open(t, opening{bounty: p.fair, pays: p.awaits(100_000)})
	p.eventually("claimed what was paid before it was opened", p.claimed(real))
	p.over(tower, before, 1)
}

// While 150 escrows of strangers can be claimed, or 1,000 at full depth, a new claim for an own user goes first.
func TestAFloodOfPaidEscrows(t *testing.T) {
	p := newPayer(t, families[2])
	flood := 150
	if trial.Full() {
		flood = 1000
	}
	var outs []*wire.TxOut
	for n := range flood {
		p.open(t, opening{bounty: p.fair, pays: p.awaits(uint64(1000 + n))})
		outs = append(outs, wire.NewTxOut(int64(1000+n), p.wallet.Address.Script()))
	}
	trial.Must(p.wallet.Pay(2, outs...))(t)
	p.mined(2)
	c := p.finder()
	var mu sync.Mutex
	var asked []watchtower.Claim
	c.Approve = func(made watchtower.Claim) bool {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, made)
		return made.Own
	}
	count := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		return len(asked)
	}
	tower, _ := p.tower(c)
	p.eventually("many are stored", func() bool { return p.stored() >= 2*64 })
	secret := chains.Preimage{1}
	data := p.open(t, opening{secret: secret, bounty: p.fair})
	balance := p.native(p.signer.Address())
	trial.Do(t, tower.Publish(t.Context(), p.message(data, secret)))
	before := count() // what is asked about until then was not behind the new one
	p.eventually("claimed", p.claimed(data))
	mu.Lock()
	for i, made := range asked[before:] {
		if made.Own {
			if i > 4*64 {
				t.Errorf("%d others were asked about first", i)
			}
			break
		}
	}
	mu.Unlock()
	p.eventually("entered into the books", func() bool { return p.book(tower).Claims == 1 })
	p.balanced(tower, balance)
	if most, blocks, _ := p.blocks.most(); most > 2 || blocks > 24 {
		t.Errorf("%d blocks are read, one of them %d times", blocks, most)
	}
}

// Bitcoin takes the payment back, before the claim is stored and after it; another transaction pays.
func TestAReorganisationBeforeTheProof(t *testing.T) {
	p := newPayer(t, families[1])
	data := p.open(t, opening{bounty: p.fair, pays: p.awaits(100_000)})
	approved := make(chan struct{})
	c := p.finder()
	c.Approve = func(watchtower.Claim) bool {
		select {
		case <-approved:
			return true
		default:
			return false
		}
	}
	tower, _ := p.tower(c)
	before := p.native(p.signer.Address())
	p.mined(3)
	tx := p.pay(100_000)
	p.mined(1)
	again := func(depth int) {
		p.Helper()
		tx = trial.Must(p.wallet.Spend(int64(2+depth), []bitcoin.OutPoint{tx.TxIn[0].PreviousOutPoint}, wire.NewTxOut(100_000, p.wallet.Address.Script())))(p.TB)
		trial.Do(p, p.Bitcoin.Reorg(depth, tx))
	}
	p.never("stored", func() bool { return p.stored() > 0 })
	again(1)
	p.eventually("stored", func() bool { return p.stored() == 1 })
	old := tx.TxHash()
	again(2)
	p.eventually("stored with the other transaction", func() bool {
		return p.stored() == 1 && strings.Contains(p.body(), tx.TxHash().String()) && !strings.Contains(p.body(), old.String())
	})
	close(approved)
	p.eventually("claimed", p.claimed(data))
	p.over(tower, before, 1)
}

// The block that pays an escrow was read before the escrow was heard of, and no block can be read when it is.
func TestAPaymentBeforeABackendIsAway(t *testing.T) {
	p := newPayer(t, families[2])
	p.open(t, opening{bounty: p.fair, pays: p.awaits(100_000)})
	tower, _ := p.tower(p.finder())
	before := p.native(p.signer.Address())
	p.pay(100_001)
	p.mined(2)
	_, hash := p.Bitcoin.Tip()
	p.eventually("the payment's block is read", func() bool {
		p.blocks.mu.Lock()
		defer p.blocks.mu.Unlock()
		return p.blocks.read[hash] > 0
	})
	away := func(yes bool) {
		p.blocks.mu.Lock()
		defer p.blocks.mu.Unlock()
		p.blocks.away, p.blocks.failed = yes, 0
	}
	away(true)
	p.mined(1)
	data := p.open(t, opening{bounty: p.fair, pays: p.awaits(100_001)})
	p.eventually("blocks are asked for in vain", func() bool {
		_, _, failed := p.blocks.most()
		return failed > 2
	})
	away(false)
	p.eventually("claimed", p.claimed(data))
	p.over(tower, before, 1)
}

// body is that of all records.
func (k *kit) body() string {
	k.Helper()
	var all bytes.Buffer
	for e, err := range k.store.Find(k.Context(), storage.Query{Index: "watchtower", Value: k.factory.ID()}) {
		if err != nil {
			k.Fatal(err)
		}
		all.Write(e.Body)
	}
	return all.String()
}

// A server whose blocks are not what their headers say is not believed.
func TestBlocksThatAreALie(t *testing.T) {
	p := newPayer(t, families[2])
	data := p.open(t, opening{bounty: p.fair, pays: p.awaits(100_000)})
	p.pay(100_000)
	p.mined(2)
	p.Bitcoin.Server().Misbehave(devbitcoin.Fault{LyingTxs: true})
	tower, _ := p.tower(p.finder())
	before := p.native(p.signer.Address())
	p.eventually("refused", func() bool { _, _, failed := p.blocks.most(); return failed > 0 })
	if p.stored() > 0 || p.state(data) != chains.EscrowOpen {
		t.Error("a lie was believed")
	}
	p.Bitcoin.Server().Misbehave(devbitcoin.Fault{})
	p.eventually("claimed", p.claimed(data))
	p.over(tower, before, 1)
}

// Without blocks there are no payments of others; the log says so once.
func TestABackendWithoutBlocks(t *testing.T) {
	p := newPayer(t, families[2])
	data := p.open(t, opening{bounty: p.fair, pays: p.awaits(100_000)})
	p.pay(100_000)
	p.mined(2)
	c := p.finder()
	var log bytes.Buffer
	c.Log, c.Bitcoin = slog.New(slog.NewTextHandler(&log, nil)), struct{ bitcoin.Backend }{p.backend}
	_, stop := p.tower(c)
	p.never("claimed", func() bool { return p.state(data) != chains.EscrowOpen })
	stop()
	if n := strings.Count(log.String(), "cannot read whole blocks"); n != 1 {
		t.Errorf("said %d times: %s", n, log.String())
	}
}

// A tower is killed at each write that a payment of others makes, before it and after it in turn, or at
// both at full depth; the next one claims it, once.
func TestKilledBetweenPaymentAndProof(t *testing.T) {
	p := newPayer(t, families[2])
	before := p.native(p.signer.Address())
	claims, deaths := uint64(0), 0
	for n, finished := 0, false; !finished; n++ {
		for _, wrote := range trial.Of(1, []bool{n%2 == 1, n%2 == 0}) {
			claims++
			data := p.open(t, opening{bounty: p.fair, pays: p.awaits(100_000 + claims)})
			p.pay(int64(100_000 + claims))
			p.mined(2)
			c := p.finder()
			m := &mortal{Store: p.store, left: n, wrote: wrote}
			c.Store = m
			_, stop := p.tower(c)
			p.eventually("killed, or over", func() bool { return m.isDead() || p.state(data) == chains.EscrowClaimed && p.stored() == 0 })
			stop()
			if finished = !m.isDead(); !finished {
				deaths++
			}
			tower, stop := p.tower(p.finder())
			p.eventually("claimed", p.claimed(data))
			p.over(tower, before, claims)
			stop()
		}
	}
	if points := len(trial.Of(1, []bool{false, true})); deaths < 4*points {
		t.Errorf("killed %d times", deaths)
	}
}
