package chainio

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	shared "github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// StatusReader asks LPs how swaps stand; *lphttp.Client is one.
type StatusReader interface {
	Status(ctx context.Context, q lp.StatusQuery) (lp.Status, error)
}

// Reader is the engine.Reader of real chains. Questions that several swaps ask the same
// contract at the same time go out together.
type Reader struct {
	Chains  map[string]chains.Chain
	Bitcoin bitcoin.Backend
	// MaxMinerFeePPM bounds what miners get for the transactions that users sign; see
	// verify.Policy.
	MaxMinerFeePPM int64

	lps  *inquiries
	base context.Context
	stop context.CancelFunc

	building  shared.Group
	raws      *bounds.Cache[string, *madeRaw] // by swap
	Unpayable func() map[string]string        // addresses that cannot be recipients, and what each is

	mu     sync.Mutex
	asking map[contractKey]*questions
	txs    *batch[bitcoin.Hash, bitcoin.Result[*bitcoin.Tx]]
}

// contractKey names the questions that go out together. Settled ones wait for more than one
// node, and so do not hold up the others.
type contractKey struct {
	chain, version string
	settled        bool
}

// questions are the batches of one contract set.
type questions struct {
	escrows     *batch[chains.EscrowQuery, chains.EscrowFact]
	vaults      *batch[chains.VaultID, chains.VaultFact]
	withdrawals *batch[chains.WithdrawalQuery, chains.WithdrawalFact]
}

// Bounds of the calls for questions of one kind to one contract set or to Bitcoin.
const (
	mostQuestions   = 256                    // in one call
	mostCalls       = 8                      // at once
	mostTxCalls     = 64                     // at once, to Bitcoin: all but a few answers of a call may be given out
	spareCalls      = 2                      // of them: not for routine questions alone
	gatherFor       = 200 * time.Millisecond // how long routine questions, or all while calls are in flight, are collected
	questionTimeout = 25 * time.Second       // of a call
)

// New returns a reader of the given chains, by id. Close it.
func New(all map[string]chains.Chain, backend bitcoin.Backend, lps StatusReader) *Reader {
	base, stop := context.WithCancel(context.Background())
	w := &Reader{Chains: all, Bitcoin: backend, lps: newInquiries(base, lps), base: base, stop: stop,
		raws: bounds.NewCache[string, *madeRaw](rawsKept), asking: map[contractKey]*questions{}}
	w.txs = newBatch(base, txsOf(backend), func(err error) bitcoin.Result[*bitcoin.Tx] { return bitcoin.Result[*bitcoin.Tx]{Err: err} })
	w.txs.calls = mostTxCalls
	w.Unpayable = sync.OnceValue(func() map[string]string { return unpayable(all) })
	return w
}

// unpayable collects the tokens and contracts of all chains, whatever chain they
// are of: where two chains share an address format, a contract's address on one
// belongs to no one on the other. Anything sent there is lost.
func unpayable(all map[string]chains.Chain) map[string]string {
	of := map[string]string{}
	for id, c := range all {
		info := c.Info()
		for _, t := range info.Tokens {
			if a, err := c.Address(t.Address); err == nil {
				of[a] = "the token " + t.ID()
			}
		}
		for _, text := range info.Contracts {
			if a, err := c.Address(text); err == nil && of[a] == "" {
				of[a] = "a contract of the network on " + id
			}
		}
	}
	return of
}

// Close cancels the calls in progress.
func (rd *Reader) Close() {
	rd.stop()
	rd.lps.wait()
	rd.mu.Lock()
	defer rd.mu.Unlock()
	for _, q := range rd.asking {
		q.escrows.wait()
		if q.vaults != nil {
			q.vaults.wait()
			q.withdrawals.wait()
		}
	}
	rd.txs.wait()
}

func newBatch[Q, A any](base context.Context, run func(context.Context, []Q, func(int, A)) error, failed func(error) A) *batch[Q, A] {
	return &batch[Q, A]{run: run, failed: failed, most: mostQuestions, calls: mostCalls, spare: spareCalls, gather: gatherFor, timeout: questionTimeout, base: base}
}

// txsOf asks a backend for transactions. One that asks for each by itself gives each answer
// as it comes: the slowest, which may be repeated for seconds, holds up no other.
func txsOf(backend bitcoin.Backend) func(context.Context, []bitcoin.Hash, func(int, bitcoin.Result[*bitcoin.Tx])) error {
	if each, ok := backend.(interface {
		EachTx(ctx context.Context, ids []bitcoin.Hash) iter.Seq2[int, bitcoin.Result[*bitcoin.Tx]]
	}); ok {
		return func(ctx context.Context, ids []bitcoin.Hash, answer func(int, bitcoin.Result[*bitcoin.Tx])) error {
			for i, r := range each.EachTx(ctx, ids) {
				answer(i, r)
			}
			return nil
		}
	}
	return whole(func(ctx context.Context, ids []bitcoin.Hash) ([]bitcoin.Result[*bitcoin.Tx], error) {
		return backend.Txs(ctx, ids), nil
	})
}

// contract returns a contract set and the batches of its plain questions.
func (rd *Reader) contract(chain, version string) (chains.Contract, *questions, error) {
	return rd.questions(chain, version, false)
}

// questions returns a contract set and its batches of plain or of settled questions.
func (rd *Reader) questions(chain, version string, settled bool) (chains.Contract, *questions, error) {
	c, ok := rd.Chains[chain]
	if !ok {
		return nil, nil, fault.New(fault.Unsupported, "chain %s is not configured", chain)
	}
	k, ok := c.Contract(version)
	if !ok {
		return nil, nil, fault.New(fault.Unsupported, "chain %s has no contracts for version %q", chain, version)
	}
	rd.mu.Lock()
	defer rd.mu.Unlock()
	key := contractKey{chain, k.Version(), settled}
	q := rd.asking[key]
	if q == nil {
		q = &questions{escrows: newBatch(rd.base, whole(k.Escrows), func(err error) chains.EscrowFact { return chains.EscrowFact{Err: err} })}
		if v, ok := k.(chains.VaultContract); ok {
			q.vaults = newBatch(rd.base, whole(v.Vaults), func(err error) chains.VaultFact { return chains.VaultFact{Err: err} })
			q.withdrawals = newBatch(rd.base, whole(v.Withdrawals), func(err error) chains.WithdrawalFact { return chains.WithdrawalFact{Err: err} })
		}
		rd.asking[key] = q
	}
	return k, q, nil
}

// Escrow implements engine.Reader.
func (rd *Reader) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	_, ask, err := rd.questions(chain, contract, q.Settled)
	if err != nil {
		return chains.EscrowFact{}, err
	}
	f, err := ask.escrows.ask(ctx, q)
	if err == nil {
		err = f.Err
	}
	return f, err
}

// VerifyRefund implements engine.Reader.
func (rd *Reader) VerifyRefund(ctx context.Context, chain, contract string, q swap.RefundAsk) error {
	k, _, err := rd.contract(chain, contract)
	if err != nil {
		return err
	}
	return k.VerifyRefund(ctx, q.Escrow, q.Auth)
}

// VerifyInit implements engine.Reader.
func (rd *Reader) VerifyInit(ctx context.Context, chain, contract string, q swap.InitAsk) (swap.Millis, error) {
	k, _, err := rd.contract(chain, contract)
	if err != nil {
		return 0, err
	}
	until, err := k.VerifyInit(ctx, q.Escrow, q.Auth, q.FeeRate, q.Sender)
	if err != nil {
		return 0, err
	}
	return swap.At(until), nil
}

// Vault implements engine.Reader.
func (rd *Reader) Vault(ctx context.Context, chain, contract string, q chains.VaultID) (chains.VaultFact, error) {
	_, ask, err := rd.questions(chain, contract, true)
	if err != nil {
		return chains.VaultFact{}, err
	}
	if ask.vaults == nil {
		return chains.VaultFact{}, NoVaults(chain)
	}
	f, err := ask.vaults.ask(ctx, q)
	if err == nil {
		err = f.Err
	}
	return f, err
}

// Withdrawal implements engine.Reader.
func (rd *Reader) Withdrawal(ctx context.Context, chain, contract string, q chains.WithdrawalQuery) (chains.WithdrawalFact, error) {
	_, ask, err := rd.questions(chain, contract, q.Settled)
	if err != nil {
		return chains.WithdrawalFact{}, err
	}
	if ask.withdrawals == nil {
		return chains.WithdrawalFact{}, NoVaults(chain)
	}
	f, err := ask.withdrawals.ask(ctx, q)
	if err == nil {
		err = f.Err
	}
	return f, err
}

func NoVaults(chain string) error {
	return fault.New(fault.Unsupported, "chain %s has no vaults", chain)
}

// Txs implements engine.Reader.
func (rd *Reader) Txs(ctx context.Context, chain string, txs []chains.Signed) ([]chains.TxStatus, error) {
	c, ok := rd.Chains[chain]
	if !ok {
		return nil, fault.New(fault.Unsupported, "chain %s is not configured", chain)
	}
	all, err := c.Status(ctx, txs)
	if err == nil && len(all) != len(txs) {
		err = fmt.Errorf("%d answers to %d questions", len(all), len(txs))
	}
	return all, err
}

// LPStatus implements engine.Reader. It waits four seconds at most.
func (rd *Reader) LPStatus(ctx context.Context, q lp.StatusQuery) (lp.Status, error) {
	return rd.lps.ask(ctx, q)
}

// BitcoinTx implements engine.Reader.
func (rd *Reader) BitcoinTx(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
	r, err := rd.txs.ask(ctx, id)
	if err != nil {
		return nil, err
	}
	if errors.Is(r.Err, bitcoin.ErrNotFound) {
		return nil, nil
	}
	return r.Value, r.Err
}

// Spends implements engine.Reader.
func (rd *Reader) Spends(ctx context.Context, ops []bitcoin.OutPoint) ([]bitcoin.Spend, error) {
	spends := make([]bitcoin.Spend, len(ops))
	for i, r := range rd.Bitcoin.Outspends(ctx, ops) {
		if r.Err != nil {
			return nil, r.Err
		}
		spends[i] = r.Value
	}
	return spends, nil
}

func (rd *Reader) Info(chain string) (chains.Info, bool) {
	c, ok := rd.Chains[chain]
	if !ok {
		return chains.Info{}, false
	}
	return c.Info(), true
}

// Heard is asked by package engine.
func (rd *Reader) Heard(chain string) uint64 {
	if c, ok := rd.Chains[chain].(chains.Subscriptions); ok {
		return c.Heard()
	}
	return 0
}

// HeardBitcoin is asked by package engine.
func (rd *Reader) HeardBitcoin() uint64 {
	if b, ok := rd.Bitcoin.(bitcoin.Listener); ok {
		return b.Heard()
	}
	return 0
}

// TxUnchanged is asked by package engine.
func (rd *Reader) TxUnchanged(tx *bitcoin.Tx, heard uint64) (asOf uint32, ok bool) {
	if b, ok := rd.Bitcoin.(bitcoin.Listener); ok {
		return b.Unchanged(tx, heard)
	}
	return 0, false
}
