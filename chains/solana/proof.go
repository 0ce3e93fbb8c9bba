package solana

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
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
	sync := b.relaySync(s.proof)
	header, err := sync.StoredHeader(ctx, p.Block, p.Height, p.Height+uint32(p.Confirmations)-1)
	if err != nil {
		return nil, err
	}
	if err := relay.CheckProof(s.proof.stripped, merkle, header.Header); err != nil {
		return nil, err
	}
	var to wire.ToATA
	if s.d.PayOut {
		if to, err = b.payee(*s.d.ClaimerATA); err != nil {
			return nil, err
		}
	}
	claim := wire.BitcoinClaim{Data: s.d, Signer: b.signer, Vout: p.Vout, Stripped: s.proof.stripped,
		Proof:         wire.Proof{TxID: p.TxID, Index: merkle.Pos, Path: merkle.Hashes},
		Confirmations: p.Confirmations, Header: header, Before: sync.Txs, To: to, FeeRate: b.rate}
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

// relaySync plans the submissions that the relay needs to have a header. The relay's own is
// taken if it has it, whatever its confirmations, and the relay is brought up to date if they
// are missing (protocol: chain-solana.md §21.6).
type relaySync = relay.Syncer[wire.StoredHeader, *wire.Tx]

func (b *building) relaySync(pr *proof) *relaySync {
	c := b.k.chain
	return &relaySync{Chain: "Solana", Bitcoin: c.env.Bitcoin, Network: c.net.Bitcoin,
		Rules: relay.Rules{Main: wire.MaxMainHeaders, Fork: wire.MaxForkHeaders, ShortFork: wire.MaxShortForkHeaders, Work: rawtx.Difficulty,
			LongerWins: c.net.Bitcoin == bitcoin.Regtest},
		Header: func(h wire.StoredHeader) bitcoin.Header { return h.Header },
		Find: func(context.Context, bitcoin.Hash, uint32) (h wire.StoredHeader, tip uint32, found bool, err error) {
			if pr.header != nil {
				h = *pr.header
			}
			return h, pr.state.Height, pr.header != nil, nil
		},
		View: func(context.Context) (relay.View[wire.StoredHeader], error) { return &relayView{k: b.k}, nil },
		Submit: func(batch relay.Batch, on wire.StoredHeader) (tx *wire.Tx, stored []wire.StoredHeader, err error) {
			ix, err := b.k.SubmitInstruction(batch.Op, b.signer, batch.Headers, on, pr.state.ForkCounter)
			if err != nil {
				return nil, nil, err
			}
			for _, h := range batch.Headers {
				on = on.Next(h)
				stored = append(stored, on)
			}
			tx, err = wire.RelayTx(b.signer, ix, b.rate)
			return tx, stored, err
		}}
}

// relayView is the relay as the synchroniser asks for it. It keeps the stored forms of
// the headers that it gave.
type relayView struct {
	k *contract
	relay.Kept[wire.StoredHeader]
}

func (v *relayView) keep(h *wire.StoredHeader, err error) (relay.Header, error) {
	switch {
	case err != nil:
		return relay.Header{}, err
	case h == nil:
		return relay.Header{}, bitcoin.ErrNotFound
	}
	return v.Keep(*h, relay.Header{Header: h.Header, Work: h.Work}), nil
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
