package noderpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/single"
)

const (
	addressPage  = 100    // transactions in one answer of the address index
	addressMoves = 8      // how often its pages may move while they are read
	addressLimit = 20_000 // transactions of one address that outputs are summed up from
)

// AddressTxs yields the transactions of an address. It sends one request per 100
// transactions and one for block headers that are not cached; if more than 100 are
// unconfirmed, further requests until one answer holds all of them.
func (i *Indexed) AddressTxs(ctx context.Context, a bitcoin.Address) iter.Seq2[*bitcoin.Tx, error] {
	return i.addressTxs(ctx, a)
}

func (c *Client) addressTxs(ctx context.Context, a bitcoin.Address) iter.Seq2[*bitcoin.Tx, error] {
	return func(yield func(*bitcoin.Tx, error) bool) {
		n, err := c.addressNode(ctx, a)
		if err == nil && !n.btcd {
			err = unsupported("listing the transactions of an address: Bitcoin Core has no address index")
		}
		if err != nil {
			yield(nil, err)
			return
		}
		h := history{c: c, a: a, count: addressPage, seen: map[bitcoin.Hash]bool{}}
		for {
			page, err := h.next(ctx)
			if err != nil {
				yield(nil, c.blamed(ctx, err))
				return
			}
			for _, r := range blamedEach(ctx, c, page) {
				if r.Err == nil && h.seen[r.Value.ID] {
					continue // the pages overlap
				}
				if !yield(r.Value, r.Err) || r.Err != nil {
					return
				}
				h.seen[r.Value.ID] = true
			}
			if h.last {
				return
			}
		}
	}
}

// history reads btcd's address index, the newest first. What waits comes first, in
// an order that changes from answer to answer, so that all of it must be in one;
// what is confirmed keeps its order, so that pages which overlap leave nothing out.
type history struct {
	c     *Client
	a     bitcoin.Address
	count int // transactions that are asked for in the first answer
	skip  int
	again int // how often the pages moved
	seen  map[bitcoin.Hash]bool
	last  bool // nothing follows
}

func (h *history) next(ctx context.Context) ([]bitcoin.Result[*bitcoin.Tx], error) {
	for {
		count := addressPage
		if h.skip == 0 {
			count = h.count
		}
		page, err := h.c.searchAddress(ctx, h.a, h.skip, count)
		if err != nil {
			return nil, err
		}
		h.last = len(page) < count
		switch {
		case h.skip == 0 && !h.last && waits(page[count-1]):
			if h.count >= addressLimit {
				return nil, unsupported("the transactions of an address with more than %d unconfirmed ones", addressLimit)
			}
			h.count = min(4*h.count, addressLimit)
		case h.skip > 0 && (len(page) == 0 || page[0].Err == nil && !h.seen[page[0].Value.ID]):
			if h.again++; h.again > addressMoves {
				return nil, errors.New("the transactions of the address change faster than they can be read")
			}
			h.skip = 0
		default:
			h.skip += max(len(page)-1, 0)
			return page, nil
		}
	}
}

func waits(r bitcoin.Result[*bitcoin.Tx]) bool { return r.Err == nil && !r.Value.Confirmed() }

// addressNode checks an address and learns about the node.
func (c *Client) addressNode(ctx context.Context, a bitcoin.Address) (*node, error) {
	if err := single.CheckAddress(a, c.o.Network); err != nil {
		return nil, err
	}
	return c.learn(ctx)
}

// searchAddress returns a page of btcd's address index, the newest first.
func (c *Client) searchAddress(ctx context.Context, a bitcoin.Address, skip, count int) ([]bitcoin.Result[*bitcoin.Tx], error) {
	const verbose, withPrevouts, newestFirst = 1, 0, true
	answers, err := c.do(ctx, method("searchrawtransactions", a.String(), verbose, skip, count, withPrevouts, newestFirst))
	if err != nil {
		return nil, err
	}
	var list []txJSON
	err = answers[0].decode(&list)
	if _, none := refused(err, codeNotFound); none {
		return nil, nil // never used
	}
	if _, missing := refused(err, codeMisc, codeMethodNotFound); missing {
		return nil, unsupported("listing the transactions of an address: btcd runs without --addrindex")
	}
	if err != nil {
		return nil, fmt.Errorf("transactions of %s: %w", a, err)
	}
	page := make([]bitcoin.Result[*bitcoin.Tx], len(list))
	for i, j := range list {
		page[i].Value, page[i].Err = j.tx()
	}
	c.place(ctx, page)
	return page, nil
}

// AddressUTXOs returns the unspent outputs of an address. btcd: the requests of
// [Indexed.AddressTxs] for all of its transactions. Core: a scan of all unspent
// outputs, which takes from seconds to minutes, and one request for those that the
// mempool spends; outputs that are not confirmed yet are missing.
func (c *Client) AddressUTXOs(ctx context.Context, a bitcoin.Address) (_ []bitcoin.UTXO, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	n, err := c.addressNode(ctx, a)
	switch {
	case err != nil:
		return nil, err
	case n.btcd:
		return c.indexed(ctx, a)
	}
	return c.scanned(ctx, a)
}

// indexed finds the unspent outputs in all transactions of an address.
func (c *Client) indexed(ctx context.Context, a bitcoin.Address) ([]bitcoin.UTXO, error) {
	var txs []*bitcoin.Tx
	for tx, err := range c.addressTxs(ctx, a) {
		if err != nil {
			return nil, err
		}
		if txs = append(txs, tx); len(txs) > addressLimit {
			return nil, unsupported("the outputs of an address with more than %d transactions", addressLimit)
		}
	}
	spent := make(map[bitcoin.OutPoint]bool)
	for _, tx := range txs {
		for _, in := range tx.Msg.TxIn {
			spent[in.PreviousOutPoint] = true
		}
	}
	unspent := []bitcoin.UTXO{}
	script := a.Script()
	for _, tx := range txs {
		for i, out := range tx.Msg.TxOut {
			if op := (bitcoin.OutPoint{Hash: tx.ID, Index: uint32(i)}); bytes.Equal(out.PkScript, script) && !spent[op] {
				unspent = append(unspent, bitcoin.UTXO{OutPoint: op, Value: out.Value, Height: tx.Height})
			}
		}
	}
	return unspent, nil
}

// scanJSON is Core's answer to scantxoutset.
type scanJSON struct {
	Success  bool `json:"success"`
	Unspents []struct {
		TxID   string      `json:"txid"`
		Vout   uint32      `json:"vout"`
		Amount json.Number `json:"amount"`
		Height uint32      `json:"height"`
	} `json:"unspents"`
}

// scanned lets Core look through all unspent outputs.
func (c *Client) scanned(ctx context.Context, a bitcoin.Address) ([]bitcoin.UTXO, error) {
	select {
	case c.scan <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	answers, err := c.send(ctx, c.o.ScanTimeout, []call{method("scantxoutset", "start", []any{"addr(" + a.String() + ")"})})
	<-c.scan
	if err != nil {
		return nil, err
	}
	var j scanJSON
	if err := answers[0].decode(&j); err != nil {
		return nil, fmt.Errorf("scan for the outputs of %s: %w", a, err)
	}
	if !j.Success {
		return nil, errors.New("scan for the outputs of an address was interrupted")
	}
	var all []bitcoin.UTXO
	var ops []bitcoin.OutPoint
	for _, u := range j.Unspents {
		id, err := bitcoin.ParseHash(u.TxID)
		if err != nil {
			return nil, err
		}
		value, err := sats(u.Amount)
		if err != nil {
			return nil, err
		}
		op := bitcoin.OutPoint{Hash: id, Index: u.Vout}
		all, ops = append(all, bitcoin.UTXO{OutPoint: op, Value: value, Height: u.Height}), append(ops, op)
	}
	unspent := []bitcoin.UTXO{}
	for i, r := range c.Outspends(ctx, ops) {
		if r.Err != nil {
			return nil, r.Err
		}
		if r.Value.State == bitcoin.Unspent {
			unspent = append(unspent, all[i])
		}
	}
	return unspent, nil
}
