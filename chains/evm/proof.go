package evm

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
	btcvault "github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

func (k *contracts) bitcoinClaim(ctx context.Context, s wire.SwapData, p chains.Payment) ([]wire.Call, error) {
	if p.Confirmations == 0 {
		return nil, fault.Invalid("payment", "must have at least one confirmation")
	}
	sync := k.relaySync(chains.Heads{})
	header, merkle, err := sync.Prove(ctx, p.Raw, p.TxID, p.Block, p.Height, p.Height+uint32(p.Confirmations)-1)
	if err != nil {
		return nil, err
	}
	proof := wire.BitcoinProof{Tx: p.Raw, Vout: p.Vout, Confirmations: uint32(p.Confirmations), Header: header, Merkle: merkle}
	claim, err := k.ClaimByBitcoin(s, proof)
	if err != nil {
		return nil, err
	}
	return append(sync.Txs, claim), nil
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
	path, err := btcvault.Unclaimed(ctx, k.chain.env.Bitcoin, vault.UTXO, v.TxID)
	if err != nil {
		return nil, err
	}
	sync := k.relaySync(heads)
	claims := make([]wire.Call, len(path))
	if err := sync.Each(ctx, len(path), rpc.ParallelCalls, func(ctx context.Context, i int) (err error) {
		claims[i], err = k.vaultClaim(ctx, sync, vault, path[i].Tx, signer)
		return err
	}); err != nil {
		return nil, err
	}
	return append(sync.Txs, claims...), nil
}

// vaultClaim claims one withdrawal.
func (k *contracts) vaultClaim(ctx context.Context, sync *relaySync, vault wire.Vault, tx *bitcoin.Tx, signer common.Address) (wire.Call, error) {
	confirmations := uint32(vault.Params.Confirmations.Uint64())
	raw, header, merkle, err := sync.ProveTx(ctx, tx, confirmations)
	if err != nil {
		return wire.Call{}, err
	}
	w, err := wire.ParseWithdrawal(tx.Msg)
	if err != nil {
		return wire.Call{}, err
	}
	return k.ClaimVault(vault, w, wire.BitcoinProof{Tx: raw, Confirmations: confirmations, Header: header, Merkle: merkle}, signer)
}

// relaySync finds stored headers, and plans the submissions that the relay needs to have them.
type relaySync = relay.Syncer[wire.StoredHeader, wire.Call]

// relaySync plans from heads on; without them it asks for them.
func (k *contracts) relaySync(heads chains.Heads) *relaySync {
	forks := relay.Forks{Rand: k.chain.env.Rand}
	sync := &relaySync{Chain: k.chain.net.Chain, Bitcoin: k.chain.env.Bitcoin, Network: k.chain.net.Bitcoin, Header: wire.StoredHeader.Header,
		Rules: relay.Rules{Main: wire.MainHeaders, Fork: wire.ForkHeaders, ShortFork: wire.MainHeaders, Work: rawtx.Work}}
	sync.Find = func(ctx context.Context, block bitcoin.Hash, height uint32) (wire.StoredHeader, uint32, bool, error) {
		h, tip, at, found, err := k.knownHeader(ctx, block, height)
		if !sync.Settled() && at.Latest.Height != 0 {
			heads = at
		}
		return h, tip, found, err
	}
	sync.View = func(ctx context.Context) (view relay.View[wire.StoredHeader], err error) {
		if heads.Latest.Height == 0 {
			heads, err = k.chain.Heads(ctx)
		}
		return &relayView{k: k, heads: heads}, err
	}
	sync.Submit = func(b relay.Batch, on wire.StoredHeader) (wire.Call, []wire.StoredHeader, error) {
		headers := make([]wire.CompactHeader, len(b.Headers))
		for i, h := range b.Headers {
			headers[i] = wire.Compact(h)
		}
		short, fork := forks.Of(b.Op)
		return k.SubmitHeaders(wire.Branch{Short: short, Fork: fork}, on, headers)
	}
	return sync
}

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
	header, tip, found, err = k.ReadHeader(ctx, k.chain.node, block, 0, heads, relay.StoredSince(block80))
	if err == nil && found {
		k.memory.headers.Add(block, header)
	}
	return header, tip, heads, found, err
}
