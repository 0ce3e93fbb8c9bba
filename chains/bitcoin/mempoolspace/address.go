package mempoolspace

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
)

// smallestPage is less than any server puts on a page of confirmed transactions:
// a page with fewer is the last.
const smallestPage = 10

// mostWaiting is how many unconfirmed transactions of an address servers list.
// They offer no further page.
const mostWaiting = 50

// AddressTxs yields the transactions of an address. It sends one request per page
// (50 unconfirmed and 25 confirmed ones on the first page, 25 on the others), the
// first one in parallel with one for the tip. If more than 50 are unconfirmed it
// ends with an Unsupported error, after yielding those that the server lists; if
// the server lists exactly 50, one more request finds out.
func (c *Client) AddressTxs(ctx context.Context, a bitcoin.Address) iter.Seq2[*bitcoin.Tx, error] {
	return func(yield func(*bitcoin.Tx, error) bool) {
		if err := single.CheckAddress(a, c.network); err != nil {
			yield(nil, err)
			return
		}
		tip := c.tipBeside(ctx)
		seen := make(map[bitcoin.Hash]bool)
		base := "address/" + a.String() + "/txs"
		waiting := 0
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
				} else {
					waiting++
				}
				tx, err := c.confirm(tx, tip)
				if !yield(tx, err) || err != nil {
					return
				}
			}
			if confirmed < smallestPage {
				break
			}
			path = base + "/chain/" + last.String()
		}
		if waiting >= mostWaiting {
			if sums, err := c.addressSums(ctx, a); err != nil {
				yield(nil, err)
			} else if sums.waiting > waiting {
				yield(nil, fault.New(fault.Unsupported, "%d transactions of %s are unconfirmed, but the server lists only %d", sums.waiting, a, waiting))
			}
		}
	}
}

func (c *Client) txPage(ctx context.Context, path string) ([]*bitcoin.Tx, error) {
	return async.Do(ctx, &c.flight, path, func(ctx context.Context) ([]*bitcoin.Tx, error) {
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
	if j.Value == nil || *j.Value < 0 || *j.Value > rawtx.MaxMoney {
		return u, errors.New("the amount is missing or invalid")
	}
	st, err := j.Status.status()
	if err != nil {
		return u, err
	}
	return bitcoin.UTXO{OutPoint: bitcoin.OutPoint{Hash: id, Index: j.Vout}, Value: *j.Value, Height: st.height}, nil
}

// AddressUTXOs returns the unspent outputs of an address. It sends one request.
func (c *Client) AddressUTXOs(ctx context.Context, a bitcoin.Address) ([]bitcoin.UTXO, error) {
	if err := single.CheckAddress(a, c.network); err != nil {
		return nil, err
	}
	path := "address/" + a.String() + "/utxo"
	return async.Do(ctx, &c.flight, path, func(ctx context.Context) ([]bitcoin.UTXO, error) {
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
	Count  int    `json:"tx_count"`
}

func (j statsJSON) balance() (int64, error) {
	if j.Funded == nil || j.Spent == nil || *j.Funded < 0 || *j.Spent < 0 {
		return 0, errors.New("address statistics have no amount")
	}
	if d := *j.Funded - *j.Spent; d >= -rawtx.MaxMoney && d <= rawtx.MaxMoney {
		return d, nil
	}
	return 0, errors.New("address statistics add up to more than 21 million bitcoin")
}

// addressSums is the summary that a server gives for an address.
type addressSums struct {
	confirmed, unconfirmed int64 // sats
	waiting                int   // transactions
}

func (c *Client) addressSums(ctx context.Context, a bitcoin.Address) (addressSums, error) {
	path := "address/" + a.String()
	return async.Do(ctx, &c.flight, path, func(ctx context.Context) (addressSums, error) {
		return ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) (addressSums, error) {
			var j struct {
				Chain statsJSON `json:"chain_stats"`
				Pool  statsJSON `json:"mempool_stats"`
			}
			if err := s.getJSON(ctx, path, textLimit, &j); err != nil {
				return addressSums{}, err
			}
			return j.Chain.sums(j.Pool)
		})
	})
}

func (j statsJSON) sums(pool statsJSON) (sums addressSums, err error) {
	if sums.confirmed, err = j.balance(); err != nil {
		return sums, err
	}
	if sums.confirmed < 0 {
		return sums, errors.New("address has spent more confirmed sats than it received")
	}
	sums.waiting = pool.Count
	sums.unconfirmed, err = pool.balance()
	return sums, err
}
