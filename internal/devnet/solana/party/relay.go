package party

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/pow"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// rules of the local network's relay.
var rules = relay.Rules{Main: wire.MaxMainHeaders, Fork: wire.MaxForkHeaders, ShortFork: wire.MaxShortForkHeaders, Work: pow.Difficulty, LongerWins: true}

// syncs is how often a party tries to bring the relay up to date: somebody else may
// bring the same headers, and Bitcoin's chain may change meanwhile.
const syncs = 5

// relayState reads the relay's main chain.
func relayState(v *bank.View, p wire.Programs) (*wire.RelayState, error) {
	a, ok := v.Account(p.RelayState())
	if !ok {
		return nil, errors.New("the Bitcoin relay was not initialised")
	}
	return wire.DecodeRelayState(a.Data)
}

// RelayHeight returns the height of the relay's tip.
func (p *Party) RelayHeight() (height uint32, err error) {
	p.Bank.Read(bank.Processed, 0, func(v *bank.View) {
		var s *wire.RelayState
		if s, err = relayState(v, p.Programs); err == nil {
			height = s.Height
		}
	})
	return height, err
}

// stored returns the stored form of a block's header, false if the relay's main chain
// does not have it.
func stored(v *bank.View, p wire.Programs, state *wire.RelayState, block bitcoin.Hash) (wire.StoredHeader, bool) {
	for tx := range v.History(p.RelayHeader(block)) {
		if tx.Err != nil {
			continue
		}
		if h, ok := p.FindStored(state, tx.Logs, func(h wire.StoredHeader) bool { return h.Header.Hash() == block }); ok {
			return h, true
		}
	}
	return wire.StoredHeader{}, false
}

// StoredHeader returns the stored form of the header that Bitcoin's best chain has at
// a height. The relay must have it: see [Party.SyncRelay].
func (p *Party) StoredHeader(height uint32) (h wire.StoredHeader, err error) {
	header, err := p.Bitcoin.Header(height)
	if err != nil {
		return h, err
	}
	p.Bank.Read(bank.Processed, 0, func(v *bank.View) {
		var state *wire.RelayState
		if state, err = relayState(v, p.Programs); err != nil {
			return
		}
		var ok bool
		if h, ok = stored(v, p.Programs, state, header.Hash()); !ok {
			err = fmt.Errorf("the relay does not have block %d", height)
		}
	})
	return h, err
}

// SyncRelay brings the relay to the tip of the Bitcoin network, with a fork where that
// has been reorganised.
func (p *Party) SyncRelay(ctx context.Context) (err error) {
	for range syncs {
		var ended bool
		if ended, err = p.syncOnce(ctx); err == nil && ended {
			return nil
		}
	}
	return err
}

// syncOnce reports whether there is nothing left to bring.
func (p *Party) syncOnce(ctx context.Context) (ended bool, err error) {
	height, _ := p.Bitcoin.Tip()
	var state *wire.RelayState
	var known wire.StoredHeader
	var headers []bitcoin.Header // above known, newest first
	p.Bank.Read(bank.Processed, 0, func(v *bank.View) {
		if state, err = relayState(v, p.Programs); err != nil {
			return
		}
		for at := height; ; at-- {
			var header bitcoin.Header
			if header, err = p.Bitcoin.Header(at); err != nil {
				return
			}
			found := false
			if at <= state.Height {
				if known, found = stored(v, p.Programs, state, header.Hash()); found {
					return
				}
			}
			if headers = append(headers, header); at == 0 || len(headers) > wire.RelayRing {
				err = errors.New("the relay shares no block with Bitcoin's chain")
				return
			}
		}
	})
	if err != nil || len(headers) == 0 {
		return err == nil, err
	}
	slices.Reverse(headers)
	base := relay.Header{Header: known.Header, Work: known.Work}
	tip := relay.Header{Header: bitcoin.Header{Height: state.Height}, Work: state.Work} // of which nothing else is asked
	if state.TipCommitment == known.Commitment() {
		tip = base
	}
	plan, err := relay.MakePlan(p.Bitcoin.Network(), tip, base, headers, rules, 0)
	if err != nil {
		return false, err
	}
	on, fork := known, state.ForkCounter
	for _, b := range plan.Batches {
		ix, err := p.Programs.SubmitInstruction(b.Op, p.Address(), b.Headers, on, fork)
		if err != nil {
			return false, err
		}
		tx, err := wire.RelayTx(p.Address(), ix, FeeRate)
		if err != nil {
			return false, err
		}
		if _, err := p.Send(ctx, tx); err != nil {
			return false, fmt.Errorf("bring headers from block %d on to the relay: %w", b.Headers[0].Height, err)
		}
		for _, h := range b.Headers {
			on = on.Next(h)
		}
	}
	return true, nil
}

// ClaimBitcoin claims an escrow with the proof of a payment that is deep enough,
// after it has brought the relay up to date.
func (p *Party) ClaimBitcoin(ctx context.Context, d *wire.SwapData, id bitcoin.Hash, vout uint32) (wire.Signature, error) {
	p.claiming.Lock()
	defer p.claiming.Unlock()
	txs, err := p.claimTxs(ctx, d, id, vout)
	if err != nil {
		return wire.Signature{}, err
	}
	return p.Send(ctx, txs...)
}

func (p *Party) claimTxs(ctx context.Context, d *wire.SwapData, id bitcoin.Hash, vout uint32) ([]*wire.Tx, error) {
	if err := p.SyncRelay(ctx); err != nil {
		return nil, err
	}
	tx, merkle, err := p.Bitcoin.Proof(id)
	if err != nil {
		return nil, err
	}
	header, err := p.StoredHeader(merkle.Height)
	if err != nil {
		return nil, err
	}
	stripped, err := rawtx.Strip(tx)
	if err != nil {
		return nil, err
	}
	key := wire.DataKey(p.Key, id)
	var written []byte
	p.Bank.Read(bank.Processed, 0, func(v *bank.View) {
		if a, ok := v.Account(key.PublicKey()); ok {
			var data wire.DataAccount
			data, err = p.Programs.DecodeDataAccount(a.Data)
			written = data.Payload
		}
	})
	if err != nil {
		return nil, err
	}
	return p.Programs.BitcoinClaimTxs(wire.BitcoinClaim{Data: d, Signer: p.Address(), Vout: vout, Stripped: stripped,
		Proof: wire.Proof{TxID: id, Index: merkle.Pos, Path: merkle.Hashes}, Confirmations: d.Confirmations, Header: header,
		DataKey: key, Written: written, To: p.payee(d), FeeRate: FeeRate})
}

// InitRelay starts the relay at the tip of the Bitcoin network, as if it had followed
// it from its first block.
func (p *Party) InitRelay(ctx context.Context) error {
	tip, _ := p.Bitcoin.Tip()
	first := wire.StoredHeader{Work: new(big.Int)}
	if int(tip) < len(first.PrevTimes) {
		return fmt.Errorf("the relay needs a Bitcoin network of %d blocks", len(first.PrevTimes))
	}
	for height := range tip + 1 {
		h, err := p.Bitcoin.Header(height)
		if err != nil {
			return err
		}
		if height == 0 {
			first.Header, first.LastDiffAdjustment = h, h.Time
			continue
		}
		first = first.Next(h)
	}
	tx, err := wire.RelayTx(p.Address(), p.Programs.RelayInitInstruction(p.Address(), first), FeeRate)
	if err != nil {
		return err
	}
	_, err = p.Send(ctx, tx)
	return err
}
