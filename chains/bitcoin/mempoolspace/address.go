package mempoolspace

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/flight"
)

// smallestPage is less than any server puts on a page of confirmed transactions:
// a page with fewer is the last.
const smallestPage = 10

// AddressTxs yields the transactions of an address. One request per page (50
// unconfirmed and 25 confirmed ones on the first, 25 on the others), the first
// one side by side with one for the tip.
func (c *Client) AddressTxs(ctx context.Context, a bitcoin.Address) iter.Seq2[*bitcoin.Tx, error] {
	return func(yield func(*bitcoin.Tx, error) bool) {
		if err := bitcoin.CheckAddress(a, c.network); err != nil {
			yield(nil, err)
			return
		}
		tip := c.tipBeside(ctx)
		seen := make(map[bitcoin.Hash]bool)
		base := "address/" + a.String() + "/txs"
		for path := base; ; {
			page, err := c.txPage(ctx, path)
			if err != nil {
				yield(nil, err)
				return
			}
			var last bitcoin.Hash
			confirmed := 0
			for _, tx := range page {
				if seen[tx.ID] {
					continue
				}
				seen[tx.ID] = true
				if tx.BlockHash != (bitcoin.Hash{}) {
					last, confirmed = tx.ID, confirmed+1
				}
				tx, err := c.confirm(tx, tip)
				if !yield(tx, err) || err != nil {
					return
				}
			}
			if confirmed < smallestPage {
				return
			}
			path = base + "/chain/" + last.String()
		}
	}
}

func (c *Client) txPage(ctx context.Context, path string) ([]*bitcoin.Tx, error) {
	return flight.Do(ctx, &c.flight, path, func(ctx context.Context) ([]*bitcoin.Tx, error) {
		return ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) ([]*bitcoin.Tx, error) {
			var list []txJSON
			if err := s.getJSON(ctx, path, txLimit, &list); err != nil {
				return nil, err
			}
			page := make([]*bitcoin.Tx, len(list))
			for i, j := range list {
				var err error
				if page[i], err = j.checkedTx(); err != nil {
					return nil, err
				}
			}
			return page, nil
		})
	})
}

type utxoJSON struct {
	TxID   string     `json:"txid"`
	Vout   uint32     `json:"vout"`
	Value  *int64     `json:"value"`
	Status statusJSON `json:"status"`
}

func (j utxoJSON) utxo() (bitcoin.UTXO, error) {
	var u bitcoin.UTXO
	id, err := bitcoin.ParseHash(j.TxID)
	if err != nil {
		return u, err
	}
	if j.Value == nil || *j.Value < 0 || *j.Value > bitcoin.MaxMoney {
		return u, errors.New("no amount, or an impossible one")
	}
	st, err := j.Status.status()
	if err != nil {
		return u, err
	}
	return bitcoin.UTXO{OutPoint: bitcoin.OutPoint{Hash: id, Index: j.Vout}, Value: *j.Value, Height: st.height}, nil
}

// AddressUTXOs returns the unspent outputs of an address. One request.
func (c *Client) AddressUTXOs(ctx context.Context, a bitcoin.Address) ([]bitcoin.UTXO, error) {
	if err := bitcoin.CheckAddress(a, c.network); err != nil {
		return nil, err
	}
	path := "address/" + a.String() + "/utxo"
	return flight.Do(ctx, &c.flight, path, func(ctx context.Context) ([]bitcoin.UTXO, error) {
		return ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) ([]bitcoin.UTXO, error) {
			var list []utxoJSON
			if err := s.getJSON(ctx, path, txLimit, &list); err != nil {
				return nil, err
			}
			utxos := make([]bitcoin.UTXO, len(list))
			seen := make(map[bitcoin.OutPoint]bool, len(list))
			for i, j := range list {
				u, err := j.utxo()
				if err != nil {
					return nil, fmt.Errorf("unspent output %d: %w", i, err)
				}
				if seen[u.OutPoint] {
					return nil, fmt.Errorf("unspent output %s is listed twice", u.OutPoint)
				}
				seen[u.OutPoint], utxos[i] = true, u
			}
			return utxos, nil
		})
	})
}

type statsJSON struct {
	Funded *int64 `json:"funded_txo_sum"`
	Spent  *int64 `json:"spent_txo_sum"`
}

func (j statsJSON) balance() (int64, error) {
	if j.Funded == nil || j.Spent == nil || *j.Funded < 0 || *j.Spent < 0 {
		return 0, errors.New("address statistics lack an amount")
	}
	if d := *j.Funded - *j.Spent; d >= -bitcoin.MaxMoney && d <= bitcoin.MaxMoney {
		return d, nil
	}
	return 0, errors.New("address statistics hold more than all sats that exist")
}

// AddressBalance returns the balance of an address in sats. One request.
func (c *Client) AddressBalance(ctx context.Context, a bitcoin.Address) (confirmed, unconfirmed int64, err error) {
	if err := bitcoin.CheckAddress(a, c.network); err != nil {
		return 0, 0, err
	}
	path := "address/" + a.String()
	sums, err := flight.Do(ctx, &c.flight, path, func(ctx context.Context) ([2]int64, error) {
		return ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) ([2]int64, error) {
			var j struct {
				Chain statsJSON `json:"chain_stats"`
				Pool  statsJSON `json:"mempool_stats"`
			}
			if err := s.getJSON(ctx, path, textLimit, &j); err != nil {
				return [2]int64{}, err
			}
			return j.Chain.balances(j.Pool)
		})
	})
	return sums[0], sums[1], err
}

func (j statsJSON) balances(pool statsJSON) (sums [2]int64, err error) {
	if sums[0], err = j.balance(); err != nil {
		return sums, err
	}
	if sums[0] < 0 {
		return sums, errors.New("address has spent more confirmed sats than it got")
	}
	sums[1], err = pool.balance()
	return sums, err
}
