package starknet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/pow"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/btc/single"
	btcvault "github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// parallelProofs is how many withdrawals are proven at once.
const parallelProofs = 5

// bitcoinClaim makes the transactions of a claim by Bitcoin proof: those that bring the
// relay up to date, and the claim.
func (k *contract) bitcoinClaim(ctx context.Context, s wire.SwapData, p chains.Payment) ([][]wire.Call, error) {
	if p.Confirmations == 0 {
		return nil, fault.Invalid("payment", "must have at least one confirmation")
	}
	sync := relaySync{k: k}
	var header wire.StoredHeader
	var merkle bitcoin.MerkleProof
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		header, err = sync.header(inner, p.Block, p.Height, p.Height+uint32(p.Confirmations)-1)
		return err
	})
	g.Go(func() (err error) {
		if merkle, err = k.chain.env.Bitcoin.MerkleProof(inner, p.TxID, p.Block); err != nil {
			err = fmt.Errorf("merkle proof of %s: %w", p.TxID, err)
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	proof := wire.BitcoinProof{Tx: p.Raw, Vout: p.Vout, Confirmations: uint32(p.Confirmations), Header: header, Merkle: merkle}
	if err := proof.CheckInclusion(); err != nil {
		return nil, fault.New(fault.Upstream, "%w", err)
	}
	claim, err := k.ClaimByBitcoin(s, proof)
	if err != nil {
		return nil, err
	}
	return append(sync.txs, []wire.Call{claim}), nil
}

// vaultClaims claims every withdrawal from the vault's place on chain up to the wanted
// one, oldest first.
func (k *contract) vaultClaims(ctx context.Context, v chains.VaultPayment) ([][]wire.Call, error) {
	ref, err := wire.VaultRefOf(chains.VaultID{Owner: v.Owner, ID: v.ID})
	if err != nil {
		return nil, err
	}
	facts, err := k.reader.Vaults(ctx, []chains.VaultID{{Owner: v.Owner, ID: v.ID}})
	if err != nil {
		return nil, err
	}
	is := facts[0].Vault
	switch {
	case facts[0].Err != nil:
		return nil, facts[0].Err
	case !is.Open || !is.OurRelay:
		return nil, fault.New(fault.InvalidState, "the vault is closed")
	}
	vault := wire.Vault{VaultRef: ref, Relay: k.BtcRelay.Address, UTXO: is.UTXO, Confirmations: uint8(is.Confirmations)}
	fetch := func(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
		return single.Tx(ctx, k.chain.env.Bitcoin, id)
	}
	path, err := btcvault.Trace(ctx, fetch, vault.UTXO, bitcoin.OutPoint{Hash: v.TxID}, btcvault.MaxPendingClaimed)
	if code := fault.CodeOf(err); code == fault.Upstream || code == fault.Timeout { // not answered, which says nothing of the vault
		return nil, fmt.Errorf("the vault's withdrawals: %w", err)
	}
	if err != nil {
		return nil, fault.New(fault.InvalidState, "the vault's withdrawals: %w", err)
	}
	if len(path) == 0 {
		return nil, fault.New(fault.InvalidState, "the withdrawal was already claimed")
	}
	// The newest needs the highest header, so one plan of the relay serves all.
	sync := relaySync{k: k}
	claims := make([]wire.Call, len(path))
	one := func(ctx context.Context, i int) (err error) {
		claims[i], err = k.vaultClaim(ctx, &sync, vault, path[i].Tx)
		return err
	}
	if err := one(ctx, len(path)-1); err != nil {
		return nil, err
	}
	sync.settle()
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(parallelProofs)
	for i := range len(path) - 1 {
		g.Go(func() error { return one(inner, i) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return append(sync.txs, wire.Batches(claims)...), nil
}

// vaultClaim claims one withdrawal.
func (k *contract) vaultClaim(ctx context.Context, sync *relaySync, vault wire.Vault, tx *bitcoin.Tx) (wire.Call, error) {
	confirmations := uint32(vault.Confirmations)
	if tx.Confirmations < confirmations {
		return wire.Call{}, fault.New(fault.InvalidState, "transaction %s has %d of the required %d confirmations", tx.ID, tx.Confirmations, confirmations)
	}
	header, err := sync.header(ctx, tx.BlockHash, tx.Height, tx.Height+confirmations-1)
	if err != nil {
		return wire.Call{}, err
	}
	merkle, err := k.chain.env.Bitcoin.MerkleProof(ctx, tx.ID, tx.BlockHash)
	if err != nil {
		return wire.Call{}, fmt.Errorf("merkle proof of %s: %w", tx.ID, err)
	}
	raw, err := rawtx.Strip(tx.Msg)
	if err != nil {
		return wire.Call{}, err
	}
	proof := wire.BitcoinProof{Tx: raw, Confirmations: confirmations, Header: header, Merkle: merkle}
	if err := proof.CheckInclusion(); err != nil {
		return wire.Call{}, fault.New(fault.Upstream, "%w", err)
	}
	call, err := k.VaultClaim(vault, proof)
	if err != nil {
		return wire.Call{}, fault.New(fault.InvalidState, "withdrawal %s cannot be claimed, the vault would close over it: %w", tx.ID, err)
	}
	return call, nil
}

// relaySync finds stored headers, and plans the submissions that the relay needs to have
// them. The headers that it will have then are computed here and used in the proof at
// once, so that all goes out in one row.
type relaySync struct {
	k      *contract
	txs    [][]wire.Call
	stored map[uint32]wire.StoredHeader // by height, after the transactions
}

// settle says that the plan, if there is one, is made: from then on header may be called
// concurrently.
func (r *relaySync) settle() {
	if r.stored == nil {
		r.stored = map[uint32]wire.StoredHeader{}
	}
}

// headerTimeSlack is by how much a Bitcoin block's time may be ahead of the clocks of
// those who store it, in seconds.
const headerTimeSlack = 3 * 60 * 60

func (r *relaySync) header(ctx context.Context, block bitcoin.Hash, height, required uint32) (wire.StoredHeader, error) {
	if h, ok := r.stored[height]; ok {
		return h, is(h, block)
	}
	header, err := r.k.chain.env.Bitcoin.Header(ctx, block)
	if err != nil {
		return wire.StoredHeader{}, fmt.Errorf("block %s: %w", block, err)
	}
	h, tip, found, err := r.k.reader.Header(ctx, block, int64(header.Time)-headerTimeSlack)
	switch {
	case err != nil:
		return wire.StoredHeader{}, err
	case found && (tip >= required || r.stored != nil):
		return h, nil
	case r.stored != nil:
		return wire.StoredHeader{}, fault.New(fault.Upstream, "the Bitcoin relay does not have block %s", block)
	}
	if err := r.plan(ctx, required); err != nil {
		return wire.StoredHeader{}, err
	}
	if h, ok := r.stored[height]; ok {
		return h, is(h, block)
	}
	if !found {
		return wire.StoredHeader{}, fault.New(fault.Upstream, "the Bitcoin relay does not have block %s", block)
	}
	return h, nil // only confirmations were missing
}

func is(h wire.StoredHeader, block bitcoin.Hash) error {
	if h.Header.Hash() != block {
		return fault.New(fault.Upstream, "block %s is not in Bitcoin's best chain", block)
	}
	return nil
}

// plan brings the relay to the given height.
func (r *relaySync) plan(ctx context.Context, until uint32) error {
	c := r.k.chain
	view := &relayView{k: r.k, stored: map[bitcoin.Hash]wire.StoredHeader{}}
	rules := relay.Rules{Main: wire.MainHeaders, Fork: wire.ForkHeaders, ShortFork: wire.MainHeaders, Work: pow.Work}
	plan, err := relay.Sync(ctx, view, c.env.Bitcoin, c.net.Bitcoin, rules, until)
	if errors.Is(err, bitcoin.ErrNotFound) {
		return fault.New(fault.Upstream, "the Bitcoin relay on Starknet is not initialised, or shares no block with Bitcoin's best chain")
	}
	if err != nil {
		return err
	}
	if plan.Top.Header.Height < until {
		return fault.New(fault.Upstream, "Bitcoin is at height %d, but the proof requires height %d", plan.Top.Header.Height, until)
	}
	base, ok := view.stored[plan.Base.Header.Hash()]
	if !ok {
		return fault.New(fault.Upstream, "the relay's header %s is unknown", plan.Base.Header.Hash())
	}
	r.stored = map[uint32]wire.StoredHeader{}
	var fork uint64
	for _, b := range plan.Batches {
		to := wire.Branch{}
		switch b.Op {
		case relay.SaveShortFork:
			to.Short = true
		case relay.SaveNewFork, relay.SaveFork:
			if fork == 0 {
				fork = c.forkNumber()
			}
			to.Fork = fork
		}
		call, stored, err := r.k.SubmitHeaders(to, base, b.Headers)
		if err != nil {
			return err
		}
		r.txs = append(r.txs, []wire.Call{call})
		for _, h := range stored {
			r.stored[h.Header.Height] = h
		}
		base = stored[len(stored)-1]
	}
	return nil
}

// forkNumber draws a number for a fork that lasts over several transactions; 0 would
// mean none (protocol: chain-starknet.md §20.19). Forks are kept per sender, so it need
// not be unique.
func (c *chain) forkNumber() uint64 {
	var b [6]byte
	if _, err := io.ReadFull(c.env.Rand, b[:]); err != nil {
		return 1
	}
	n := uint64(0)
	for _, x := range b {
		n = n<<8 | uint64(x)
	}
	return max(n, 1)
}

// relayView is the relay as the synchroniser asks for it. It keeps the stored forms of
// the headers that it gave.
type relayView struct {
	k *contract

	mu     sync.Mutex
	stored map[bitcoin.Hash]wire.StoredHeader
}

var _ relay.Relay = (*relayView)(nil)

func (v *relayView) keep(h wire.StoredHeader, err error) (relay.Header, error) {
	if err != nil {
		return relay.Header{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stored[h.Header.Hash()] = h
	return relay.Header{Header: h.Header, Work: h.Work}, nil
}

// Tip implements [relay.Relay]: see [starkread.Reader.TipHeader].
func (v *relayView) Tip(ctx context.Context) (relay.Header, error) {
	return v.keep(v.k.reader.TipHeader(ctx))
}

// LatestKnown implements [relay.Relay]: see [starkread.Reader.LatestHeader].
func (v *relayView) LatestKnown(ctx context.Context) (relay.Header, error) {
	return v.keep(v.k.reader.LatestHeader(ctx, v.k.chain.env.Bitcoin.InMainChain))
}
