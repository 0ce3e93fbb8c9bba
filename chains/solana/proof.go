package solana

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/pow"
	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// proof is what a claim by a Bitcoin transaction needs.
type proof struct {
	p        chains.Payment
	stripped []byte
	keys     []wire.SecretKey // of data accounts, in order of preference
	// leftovers are data accounts of the signer from before; noted are those of keys that
	// were handed out before.
	leftovers []leftover
	noted     []wire.Key

	state  *wire.RelayState
	header *wire.StoredHeader // nil: the relay does not have it
	merkle bitcoin.MerkleProof
}

// addProof checks that the payment is what the escrow demands, and asks for the relay
// and the data accounts.
func (b *building) addProof(ctx context.Context, s *buildStep) (*proof, error) {
	if s.Payment == nil {
		return nil, fault.Invalid("payment", "is required")
	}
	p := *s.Payment
	if p.Confirmations != s.d.Confirmations || p.Confirmations == 0 {
		return nil, fault.Invalid("payment", "has %d confirmations as its condition, the escrow %d", p.Confirmations, s.d.Confirmations)
	}
	stripped, err := s.d.CheckPayment(p)
	if err != nil {
		return nil, fault.Invalid("payment", "%w", err)
	}
	out := &proof{p: p, stripped: stripped}
	for n := range wire.DataKeys {
		key := wire.ClaimDataKey(b.plan.Seed, p.TxID, b.signer, n)
		out.keys = append(out.keys, key)
		b.want(key.PublicKey())
	}
	b.addLeftovers(ctx, out)
	return out, nil
}

// dataAccount chooses the data account, and how it is laid out: the first that is not
// there, or that is the signer's and can hold the payload. Who has seen its key, or has
// sent lamports to its address, can spoil one; there are others. One that was begun when
// the program laid them out otherwise is of no use.
func (b *building) dataAccount(pr *proof, payload int) (key wire.SecretKey, l wire.DataLayout, written []byte, err error) {
	seen := b.seenLayout(pr)
	if seen.err != nil {
		return nil, 0, nil, seen.err
	}
	for _, key := range pr.keys {
		a := b.accounts[key.PublicKey()]
		if a == nil {
			return key, seen.of, nil, nil
		}
		if at, ok := b.layoutOf(key.PublicKey()); !ok || at != seen.of || len(a.Data) != seen.of.Space(payload) {
			continue
		}
		if data, err := seen.of.Decode(a.Data); err == nil {
			return key, seen.of, data.Payload, nil
		}
	}
	return nil, 0, nil, fault.New(fault.InvalidState, "the accounts for the claim's data are taken by others")
}

// look finds the relay's header of the payment's block and the proof that the payment is
// in it.
func (pr *proof) look(ctx context.Context, k *contract) error {
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		pr.state, pr.header, err = k.reader.Header(inner, pr.p.Block)
		if errors.Is(err, wire.ErrAbsent) {
			return fault.New(fault.Upstream, "the Bitcoin relay on Solana is not initialised")
		}
		return err
	})
	g.Go(func() (err error) {
		if pr.merkle, err = k.chain.env.Bitcoin.MerkleProof(inner, pr.p.TxID, pr.p.Block); err != nil {
			err = fmt.Errorf("merkle proof of %s: %w", pr.p.TxID, err)
		}
		return err
	})
	return g.Wait()
}

// proofTxs makes the transactions of a claim by Bitcoin proof.
func (b *building) proofTxs(ctx context.Context, s *buildStep) ([]*wire.Tx, error) {
	p, merkle := s.proof.p, s.proof.merkle
	sync := relaySync{k: b.k, signer: b.signer, rate: b.rate}
	header, err := sync.header(ctx, s.proof, p.Height+uint32(p.Confirmations)-1)
	if err != nil {
		return nil, err
	}
	if merkle.TxID != p.TxID {
		return nil, fault.New(fault.Upstream, "the merkle proof is of the transaction %s, not of %s", merkle.TxID, p.TxID)
	}
	if err := merkle.Verify(header.Header); err != nil {
		return nil, fault.New(fault.Upstream, "merkle proof of %s: %w", p.TxID, err)
	}
	var to wire.ToATA
	if s.d.PayOut {
		if to, err = b.payee(*s.d.ClaimerATA); err != nil {
			return nil, err
		}
	}
	claim := wire.BitcoinClaim{Data: s.d, Signer: b.signer, Vout: p.Vout, Stripped: s.proof.stripped,
		Proof:         wire.Proof{TxID: p.TxID, Index: merkle.Pos, Path: merkle.Hashes},
		Confirmations: p.Confirmations, Header: header, Before: sync.txs, To: to, FeeRate: b.rate}
	txs, err := b.inlineTxs(ctx, s.proof, claim)
	if err != nil {
		return nil, err
	}
	if txs == nil {
		payload, err := wire.Payload(p.Vout, s.proof.stripped)
		if err != nil {
			return nil, err
		}
		if claim.DataKey, claim.Layout, claim.Written, err = b.dataAccount(s.proof, len(payload)); err != nil {
			return nil, err
		}
		if txs, err = b.k.BitcoinClaimTxs(claim); err != nil {
			return nil, err
		}
	}
	closing, err := b.closing(ctx, s.proof, claim.DataKey, claim.DataKey != nil && claim.Written == nil)
	return append(txs, closing...), err
}

// inlineTxs makes the transactions of a claim that needs no data account. There is none if
// they do not fit, if one was begun, or if the program does not take the claim like this
// when a node tries it. It is only for v2: what is known of v1 is enough, and its wallets
// see what they are used to.
func (b *building) inlineTxs(ctx context.Context, pr *proof, claim wire.BitcoinClaim) ([]*wire.Tx, error) {
	if b.k.Version() == wire.V1 || slices.ContainsFunc(pr.own(), b.owns) {
		return nil, nil
	}
	txs, err := b.k.InlineClaimTxs(claim)
	if err != nil || len(txs) == 0 {
		return nil, err
	}
	trial, err := b.try(ctx, txs[0])
	if err != nil || trial == nil || trial.Err != nil {
		return nil, err
	}
	return txs, nil
}

// relaySync plans the submissions that the relay needs to have a header. Headers that
// it will have then are computed here and used in the proof at once, so that all goes
// out in one row.
type relaySync struct {
	k      *contract
	signer wire.Key
	rate   wire.FeeRate
	txs    []*wire.Tx
}

// header returns the stored form of the header of a payment's block: the relay's, if
// it has it, whatever its confirmations, and brings the relay up to date if they are
// missing (protocol: chain-solana.md §21.6).
func (r *relaySync) header(ctx context.Context, pr *proof, required uint32) (wire.StoredHeader, error) {
	if pr.header != nil && pr.state.Height >= required {
		return *pr.header, nil
	}
	all, err := r.plan(ctx, pr.state, required)
	if err != nil {
		return wire.StoredHeader{}, err
	}
	if h, ok := all[pr.p.Height]; ok {
		if h.Header.Hash() != pr.p.Block {
			return wire.StoredHeader{}, fault.New(fault.Upstream, "block %s is not in Bitcoin's best chain", pr.p.Block)
		}
		return h, nil
	}
	if pr.header == nil {
		return wire.StoredHeader{}, fault.New(fault.Upstream, "the Bitcoin relay does not have block %s", pr.p.Block)
	}
	return *pr.header, nil // only confirmations were missing
}

// plan brings the relay to a height, and returns the headers that it has then, as far
// as the plan adds them.
func (r *relaySync) plan(ctx context.Context, state *wire.RelayState, until uint32) (map[uint32]wire.StoredHeader, error) {
	c := r.k.chain
	view := &relayView{k: r.k, stored: map[bitcoin.Hash]wire.StoredHeader{}}
	rules := relay.Rules{Main: wire.MaxMainHeaders, Fork: wire.MaxForkHeaders, ShortFork: wire.MaxShortForkHeaders, Work: pow.Difficulty,
		LongerWins: c.net.Bitcoin == bitcoin.Regtest}
	plan, err := relay.Sync(ctx, view, c.env.Bitcoin, c.net.Bitcoin, rules, until)
	if errors.Is(err, bitcoin.ErrNotFound) {
		return nil, fault.New(fault.Upstream, "the Bitcoin relay on Solana shares no block with Bitcoin's best chain")
	}
	if err != nil {
		return nil, err
	}
	if plan.Top.Header.Height < until {
		return nil, fault.New(fault.Upstream, "Bitcoin is at height %d, but the proof requires height %d", plan.Top.Header.Height, until)
	}
	on, ok := view.stored[plan.Base.Header.Hash()]
	if !ok {
		return nil, fault.New(fault.Upstream, "the relay's header %s is unknown", plan.Base.Header.Hash())
	}
	all := map[uint32]wire.StoredHeader{}
	for _, batch := range plan.Batches {
		ix, err := r.k.SubmitInstruction(batch.Op, r.signer, batch.Headers, on, state.ForkCounter)
		if err != nil {
			return nil, err
		}
		tx, err := wire.RelayTx(r.signer, ix, r.rate)
		if err != nil {
			return nil, err
		}
		r.txs = append(r.txs, tx)
		for _, h := range batch.Headers {
			on = on.Next(h)
			all[on.Header.Height] = on
		}
	}
	return all, nil
}

// relayView is the relay as the synchroniser asks for it. It keeps the stored forms of
// the headers that it gave.
type relayView struct {
	k *contract

	mu     sync.Mutex
	stored map[bitcoin.Hash]wire.StoredHeader
}

var _ relay.Relay = (*relayView)(nil)

func (v *relayView) keep(h *wire.StoredHeader, err error) (relay.Header, error) {
	switch {
	case err != nil:
		return relay.Header{}, err
	case h == nil:
		return relay.Header{}, bitcoin.ErrNotFound
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stored[h.Header.Hash()] = *h
	return relay.Header{Header: h.Header, Work: h.Work}, nil
}

// Tip implements [relay.Relay]: see [solread.Reader.TipHeader].
func (v *relayView) Tip(ctx context.Context) (relay.Header, error) {
	_, h, err := v.k.reader.TipHeader(ctx)
	return v.keep(h, err)
}

// LatestKnown implements [relay.Relay]: see [solread.Reader.LatestHeader].
func (v *relayView) LatestKnown(ctx context.Context) (relay.Header, error) {
	_, h, err := v.k.reader.LatestHeader(ctx, v.k.chain.env.Bitcoin.InMainChain)
	return v.keep(h, err)
}
