package flowtest

import (
	"context"
	"iter"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// backend is the Bitcoin backend of a World. What swaps do not ask for is not
// implemented.
type backend struct {
	bitcoin.Backend
	World *World
	On    bitcoin.Network
}

// Network implements [bitcoin.Backend].
func (b backend) Network() bitcoin.Network { return b.On }

// TipHeight implements [bitcoin.Backend].
func (b backend) TipHeight(context.Context) (uint32, error) { return 900_000, nil }

// Txs implements [bitcoin.Backend].
func (b backend) Txs(_ context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.Tx] {
	b.World.mu.Lock()
	defer b.World.mu.Unlock()
	all := make([]bitcoin.Result[*bitcoin.Tx], len(ids))
	for i, id := range ids {
		tx, ok := b.World.Txs[id]
		switch {
		case b.World.BitcoinErr != nil:
			all[i].Err = b.World.BitcoinErr
		case !ok:
			all[i].Err = bitcoin.ErrNotFound
		default:
			all[i].Value = tx
		}
	}
	return all
}

// Broadcast implements [bitcoin.Backend]: everything is taken, and seen at once.
func (b backend) Broadcast(_ context.Context, raw []byte) (bitcoin.Hash, error) {
	tx, err := rawtx.Decode(raw)
	if err != nil {
		return bitcoin.Hash{}, err
	}
	b.World.mu.Lock()
	defer b.World.mu.Unlock()
	id := tx.TxHash()
	b.World.broadcast = append(b.World.broadcast, raw)
	b.World.Txs[id] = &bitcoin.Tx{ID: id, Msg: tx}
	return id, nil
}

// AddressTxs implements [bitcoin.Backend]: the known transactions that pay to the
// address.
func (b backend) AddressTxs(_ context.Context, a bitcoin.Address) iter.Seq2[*bitcoin.Tx, error] {
	return func(yield func(*bitcoin.Tx, error) bool) {
		b.World.mu.Lock()
		defer b.World.mu.Unlock()
		if b.World.BitcoinErr != nil {
			yield(nil, b.World.BitcoinErr)
			return
		}
		for _, tx := range b.World.Txs {
			for _, out := range tx.Msg.TxOut {
				if string(out.PkScript) == string(a.Script()) {
					if !yield(tx, nil) {
						return
					}
					break
				}
			}
		}
	}
}

// Outspends implements [bitcoin.Backend]: what is not named is unspent.
func (b backend) Outspends(_ context.Context, ops []bitcoin.OutPoint) []bitcoin.Result[bitcoin.Spend] {
	b.World.mu.Lock()
	defer b.World.mu.Unlock()
	all := make([]bitcoin.Result[bitcoin.Spend], len(ops))
	for i, op := range ops {
		all[i] = bitcoin.Result[bitcoin.Spend]{Value: bitcoin.Spend{State: bitcoin.Unspent}, Err: b.World.BitcoinErr}
		if s, ok := b.World.Spends[op]; ok {
			all[i].Value = s
		}
	}
	return all
}

// CPFPs implements [bitcoin.Backend].
func (b backend) CPFPs(_ context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.CPFP] {
	b.World.mu.Lock()
	defer b.World.mu.Unlock()
	all := make([]bitcoin.Result[*bitcoin.CPFP], len(ids))
	for i, id := range ids {
		if c, ok := b.World.CPFP[id]; ok {
			all[i].Value = &c
		}
		all[i].Err = b.World.BitcoinErr
	}
	return all
}

// ProjectedBlocks implements [bitcoin.Backend].
func (b backend) ProjectedBlocks(context.Context) ([]bitcoin.ProjectedBlock, error) {
	b.World.mu.Lock()
	defer b.World.mu.Unlock()
	return b.World.Delay, b.World.BitcoinErr
}

// FeeRates implements [bitcoin.Backend].
func (b backend) FeeRates(context.Context) (bitcoin.FeeRates, error) {
	b.World.mu.Lock()
	defer b.World.mu.Unlock()
	return b.World.Rates, b.World.BitcoinErr
}

// AddressUTXOs implements [bitcoin.Backend].
func (b backend) AddressUTXOs(context.Context, bitcoin.Address) ([]bitcoin.UTXO, error) {
	b.World.mu.Lock()
	defer b.World.mu.Unlock()
	return b.World.Coins, b.World.BitcoinErr
}
