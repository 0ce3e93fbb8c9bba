package psbt

import (
	"context"
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/single"
)

// coinLister lists the coins of an address; every [bitcoin.Backend] is one.
type coinLister interface {
	AddressUTXOs(ctx context.Context, a bitcoin.Address) ([]bitcoin.UTXO, error)
}

// WalletCoins asks a backend for the coins of an address, and, if it is a [bitcoin.MempoolReader], for the
// standing of the unconfirmed ones among them: at most two round trips. Coins
// keep the backend's order, which decides between equally good ones.
func WalletCoins(ctx context.Context, b coinLister, a bitcoin.Address) ([]Coin, error) {
	utxos, err := b.AddressUTXOs(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("coins of %s: %w", a, err)
	}
	var ids []bitcoin.Hash
	asked := map[bitcoin.Hash]int{}
	for _, u := range utxos {
		if _, ok := asked[u.Hash]; !ok && u.Height == 0 {
			asked[u.Hash] = len(ids)
			ids = append(ids, u.Hash)
		}
	}
	var unconfirmed []bitcoin.Result[*bitcoin.CPFP]
	if len(ids) > 0 {
		unconfirmed = single.Mempool(b).CPFPs(ctx, ids)
	}
	coins := make([]Coin, len(utxos))
	for i, u := range utxos {
		coins[i] = Coin{OutPoint: u.OutPoint, Value: u.Value, Type: a.Type()}
		if u.Height > 0 {
			continue
		}
		// Without it the fee could turn out too low to be mined.
		r := unconfirmed[asked[u.Hash]]
		if r.Err != nil {
			return nil, fmt.Errorf("unconfirmed transaction %s: %w", u.Hash, r.Err)
		}
		coins[i].CPFP = r.Value
	}
	return coins, nil
}
