package evm

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/pow"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	btcrelay "github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/btc/single"
	btcvault "github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

func (k *contracts) bitcoinClaim(ctx context.Context, s wire.SwapData, p chains.Payment) ([]wire.Call, error) {
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
		return nil, err
	}
	claim, err := k.ClaimByBitcoin(s, proof)
	if err != nil {
		return nil, err
	}
	return append(sync.calls, claim), nil
}

// vaultClaims claims every withdrawal from the vault's place on chain up to the
// wanted one, oldest first.
func (k *contracts) vaultClaims(ctx context.Context, v chains.VaultPayment, signer common.Address) ([]wire.Call, error) {
	ref, err := vaultRef(chains.VaultID{Owner: v.Owner, ID: v.ID})
	if err != nil {
		return nil, err
	}
	reads, heads, err := k.readVaults(ctx, []wire.VaultRef{ref})
	if err != nil {
		return nil, err
	}
	if reads[0].Err != nil {
		return nil, reads[0].Err
	}
	vault := reads[0].Vault
	if !vault.Opened || !reads[0].OurRelay {
		return nil, fault.New(fault.InvalidState, "the vault is closed")
	}
	backend := k.chain.env.Bitcoin
	fetch := func(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
		return single.Tx(ctx, backend, id)
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
	sync := relaySync{k: k, heads: heads}
	claims := make([]wire.Call, len(path))
	one := func(ctx context.Context, i int) (err error) {
		claims[i], err = k.vaultClaim(ctx, &sync, vault, path[i].Tx, signer)
		return err
	}
	if err := one(ctx, len(path)-1); err != nil {
		return nil, err
	}
	sync.settle()
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(rpc.ParallelCalls)
	for i := range len(path) - 1 {
		g.Go(func() error { return one(inner, i) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return append(sync.calls, claims...), nil
}

// vaultClaim claims one withdrawal.
func (k *contracts) vaultClaim(ctx context.Context, sync *relaySync, vault wire.Vault, tx *bitcoin.Tx, signer common.Address) (wire.Call, error) {
	confirmations := uint32(vault.Params.Confirmations.Uint64())
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
	w, err := wire.ParseWithdrawal(tx.Msg)
	if err != nil {
		return wire.Call{}, err
	}
	proof := wire.BitcoinProof{Tx: raw, Confirmations: confirmations, Header: header, Merkle: merkle}
	if err := proof.CheckInclusion(); err != nil {
		return wire.Call{}, err
	}
	return k.ClaimVault(vault, w, proof, signer)
}

// relaySync finds stored headers, and plans the submissions that the relay needs
// to have them. The headers that it will have then are computed here and used in
// the proof at once, so that all goes out in one row.
type relaySync struct {
	k      *contracts
	heads  chains.Heads
	calls  []wire.Call
	stored map[uint32]wire.StoredHeader // by height, after the calls
}

// settle says that the plan, if there is one, is made: from then on header may be
// called concurrently.
func (r *relaySync) settle() {
	if r.stored == nil {
		r.stored = map[uint32]wire.StoredHeader{}
	}
}

func (r *relaySync) header(ctx context.Context, block bitcoin.Hash, height, required uint32) (wire.StoredHeader, error) {
	if h, ok := r.stored[height]; ok {
		return h, r.is(h, block)
	}
	h, tip, heads, found, err := r.k.knownHeader(ctx, block, height)
	if r.stored == nil && heads.Latest.Height != 0 {
		r.heads = heads
	}
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
		return h, r.is(h, block)
	}
	if !found {
		return wire.StoredHeader{}, fault.New(fault.Upstream, "the Bitcoin relay does not have block %s", block)
	}
	return h, nil // only confirmations were missing
}

// headerTimeSlack is by how much a Bitcoin block's time may be ahead of the
// clocks of those who store it, in seconds.
const headerTimeSlack = 3 * 60 * 60

// knownHeader finds a Bitcoin block in the relay's main chain, and says how far
// that goes. It takes one round trip if the relay is not that far or the header
// is known from before, else three more; heads are zero if they were not asked for.
func (k *contracts) knownHeader(ctx context.Context, block bitcoin.Hash, height uint32) (header wire.StoredHeader, tip uint32, heads chains.Heads, found bool, err error) {
	if h, ok := k.memory.headers.Get(block); ok {
		tip, found, err = k.ReadMain(ctx, k.chain.node, h)
		return h, tip, heads, found, err
	}
	askTip, err := wire.RelayABI().Pack("getBlockheight")
	if err != nil {
		return header, 0, heads, false, err
	}
	var tipWord hexutil.Bytes
	var h headsRequest
	if err := rpc.AskAll(ctx, k.chain.node, append(h.requests(k.chain.net), rpc.CallRequest(k.BtcRelay.Address, askTip, "latest", &tipWord))); err != nil {
		return header, 0, heads, false, err
	}
	if heads, err = h.heads(); err != nil {
		return header, 0, heads, false, err
	}
	if err := wire.Unpack(wire.RelayABI(), "getBlockheight", tipWord, &tip); err != nil || tip < height {
		return header, tip, heads, false, err
	}
	block80, err := k.chain.env.Bitcoin.Header(ctx, block)
	if err != nil {
		return header, tip, heads, false, fmt.Errorf("block %s: %w", block, err)
	}
	header, tip, found, err = k.ReadHeader(ctx, k.chain.node, block, 0, heads, int64(block80.Time)-headerTimeSlack)
	if err == nil && found {
		k.memory.headers.Add(block, header)
	}
	return header, tip, heads, found, err
}

func (r *relaySync) is(h wire.StoredHeader, block bitcoin.Hash) error {
	if h.Header().Hash() != block {
		return fault.New(fault.Upstream, "block %s is not in Bitcoin's best chain", block)
	}
	return nil
}

// plan brings the relay to the given height.
func (r *relaySync) plan(ctx context.Context, until uint32) error {
	if r.heads.Latest.Height == 0 {
		heads, err := r.k.chain.Heads(ctx)
		if err != nil {
			return err
		}
		r.heads = heads
	}
	relay := &relayView{k: r.k, heads: r.heads, stored: map[bitcoin.Hash]wire.StoredHeader{}}
	rules := btcrelay.Rules{Main: wire.MainHeaders, Fork: wire.ForkHeaders, ShortFork: wire.MainHeaders, Work: pow.Work}
	plan, err := btcrelay.Sync(ctx, relay, r.k.chain.env.Bitcoin, r.k.chain.net.Bitcoin, rules, until)
	if errors.Is(err, bitcoin.ErrNotFound) {
		return fault.New(fault.Upstream, "the Bitcoin relay on %s is not initialised", r.k.chain.net.Chain)
	}
	if err != nil {
		return err
	}
	if plan.Top.Header.Height < until {
		return fault.New(fault.Upstream, "Bitcoin is at height %d, but the proof requires height %d", plan.Top.Header.Height, until)
	}
	r.stored = map[uint32]wire.StoredHeader{}
	base, ok := relay.stored[plan.Base.Header.Hash()]
	if !ok {
		return fault.New(fault.Upstream, "the relay's header %s is unknown", plan.Base.Header.Hash())
	}
	var fork uint64
	for _, b := range plan.Batches {
		to := wire.Branch{}
		switch b.Op {
		case btcrelay.SaveShortFork:
			to.Short = true
		case btcrelay.SaveNewFork, btcrelay.SaveFork:
			if fork == 0 {
				fork = r.forkNumber()
			}
			to.Fork = fork
		}
		headers := make([]wire.CompactHeader, len(b.Headers))
		for i, h := range b.Headers {
			headers[i] = wire.Compact(h)
		}
		call, stored, err := r.k.SubmitHeaders(to, base, headers)
		if err != nil {
			return err
		}
		r.calls = append(r.calls, call)
		for _, h := range stored {
			r.stored[h.Height()] = h
		}
		base = stored[len(stored)-1]
	}
	return nil
}

// forkNumber draws a number for a fork that lasts over several transactions;
// 0 would mean none. Forks are kept per sender, so it need not be unique.
func (r *relaySync) forkNumber() uint64 {
	var b [6]byte
	if _, err := io.ReadFull(r.k.chain.env.Rand, b[:]); err != nil {
		return 1
	}
	n := uint64(b[0])<<40 | uint64(b[1])<<32 | uint64(b[2])<<24 | uint64(b[3])<<16 | uint64(b[4])<<8 | uint64(b[5])
	return max(n, 1)
}
