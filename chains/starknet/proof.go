package starknet

import (
	"context"
	"fmt"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
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
	sync := k.relaySync()
	header, merkle, err := sync.Prove(ctx, p.Raw, p.TxID, p.Block, p.Height, p.Height+uint32(p.Confirmations)-1)
	if err != nil {
		return nil, err
	}
	proof := wire.BitcoinProof{Tx: p.Raw, Vout: p.Vout, Confirmations: uint32(p.Confirmations), Header: header, Merkle: merkle}
	claim, err := k.ClaimByBitcoin(s, proof)
	if err != nil {
		return nil, err
	}
	return append(sync.Txs, []wire.Call{claim}), nil
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
	path, err := btcvault.Unclaimed(ctx, k.chain.env.Bitcoin, vault.UTXO, v.TxID)
	if err != nil {
		return nil, err
	}
	sync := k.relaySync()
	claims := make([]wire.Call, len(path))
	if err := sync.Each(ctx, len(path), parallelProofs, func(ctx context.Context, i int) (err error) {
		claims[i], err = k.vaultClaim(ctx, sync, vault, path[i].Tx)
		return err
	}); err != nil {
		return nil, err
	}
	return append(sync.Txs, wire.Batches(claims)...), nil
}

// vaultClaim claims one withdrawal.
func (k *contract) vaultClaim(ctx context.Context, sync *relaySync, vault wire.Vault, tx *bitcoin.Tx) (wire.Call, error) {
	confirmations := uint32(vault.Confirmations)
	raw, header, merkle, err := sync.ProveTx(ctx, tx, confirmations)
	if err != nil {
		return wire.Call{}, err
	}
	call, err := k.VaultClaim(vault, wire.BitcoinProof{Tx: raw, Confirmations: confirmations, Header: header, Merkle: merkle})
	if err != nil {
		return wire.Call{}, fault.New(fault.InvalidState, "withdrawal %s cannot be claimed, the vault would close over it: %w", tx.ID, err)
	}
	return call, nil
}

// relaySync finds stored headers, and plans the submissions that the relay needs to have
// them, each a transaction of one call.
type relaySync = relay.Syncer[wire.StoredHeader, []wire.Call]

func (k *contract) relaySync() *relaySync {
	c := k.chain
	forks := relay.Forks{Rand: c.env.Rand} // (protocol: chain-starknet.md §20.19)
	return &relaySync{Chain: "Starknet", Bitcoin: c.env.Bitcoin, Network: c.net.Bitcoin,
		Rules:  relay.Rules{Main: wire.MainHeaders, Fork: wire.ForkHeaders, ShortFork: wire.MainHeaders, Work: rawtx.Work},
		Header: func(h wire.StoredHeader) bitcoin.Header { return h.Header },
		Find: func(ctx context.Context, block bitcoin.Hash, _ uint32) (wire.StoredHeader, uint32, bool, error) {
			header, err := c.env.Bitcoin.Header(ctx, block)
			if err != nil {
				return wire.StoredHeader{}, 0, false, fmt.Errorf("block %s: %w", block, err)
			}
			return k.reader.Header(ctx, block, relay.StoredSince(header))
		},
		View: func(context.Context) (relay.View[wire.StoredHeader], error) { return &relayView{k: k}, nil },
		Submit: func(b relay.Batch, on wire.StoredHeader) ([]wire.Call, []wire.StoredHeader, error) {
			short, fork := forks.Of(b.Op)
			call, stored, err := k.SubmitHeaders(wire.Branch{Short: short, Fork: fork}, on, b.Headers)
			return []wire.Call{call}, stored, err
		}}
}

// relayView is the relay as the synchroniser asks for it. It keeps the stored forms of
// the headers that it gave.
type relayView struct {
	k *contract
	relay.Kept[wire.StoredHeader]
}

func (v *relayView) keep(h wire.StoredHeader, err error) (relay.Header, error) {
	if err != nil {
		return relay.Header{}, err
	}
	return v.Keep(h, relay.Header{Header: h.Header, Work: h.Work}), nil
}

// Tip implements [relay.Relay]: see [read.Reader.TipHeader].
func (v *relayView) Tip(ctx context.Context) (relay.Header, error) {
	return v.keep(v.k.reader.TipHeader(ctx))
}

// LatestKnown implements [relay.Relay]: see [read.Reader.LatestHeader].
func (v *relayView) LatestKnown(ctx context.Context) (relay.Header, error) {
	return v.keep(v.k.reader.LatestHeader(ctx, v.k.chain.env.Bitcoin.InMainChain))
}
