package noderpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// poolTx is a transaction that waits in the mempool.
type poolTx struct {
	fee     int64 // sats
	vsize   int64 // vbytes
	parents []bitcoin.Hash
}

func (t poolTx) rate() float64 { return float64(t.fee) / float64(t.vsize) }

// poolJSON is a mempool entry: fees of Core, fee of btcd.
type poolJSON struct {
	VSize int64       `json:"vsize"`
	Fee   json.Number `json:"fee"`
	Fees  struct {
		Base json.Number `json:"base"`
	} `json:"fees"`
	Depends []string `json:"depends"`
}

func (j poolJSON) tx() (poolTx, error) {
	if j.VSize <= 0 || j.VSize > rawtx.MaxSize {
		return poolTx{}, fmt.Errorf("invalid mempool entry of %d vbytes", j.VSize)
	}
	t := poolTx{vsize: j.VSize}
	var err error
	if t.fee, err = sats(cmp.Or(j.Fees.Base, j.Fee)); err != nil {
		return t, fmt.Errorf("fee of a mempool entry: %w", err)
	}
	for _, text := range j.Depends {
		h, err := bitcoin.ParseHash(text)
		if err != nil {
			return t, err
		}
		if !slices.Contains(t.parents, h) {
			t.parents = append(t.parents, h)
		}
	}
	return t, nil
}

// wholeMempool returns everything that waits.
func (c *Client) wholeMempool(ctx context.Context) (map[bitcoin.Hash]poolTx, error) {
	return c.mempool.Get(ctx, c.o.MempoolAge, func(ctx context.Context) (map[bitcoin.Hash]poolTx, error) {
		answers, err := c.do(ctx, method("getrawmempool", true))
		if err != nil {
			return nil, err
		}
		pool := make(map[bitcoin.Hash]poolTx)
		return pool, readPool(pool, answers[0])
	})
}

func readPool(pool map[bitcoin.Hash]poolTx, a answer) error {
	var entries map[string]poolJSON
	if err := a.decode(&entries); err != nil {
		return fmt.Errorf("mempool: %w", err)
	}
	for text, j := range entries {
		id, err := bitcoin.ParseHash(text)
		if err != nil {
			return err
		}
		if pool[id], err = j.tx(); err != nil {
			return err
		}
	}
	return nil
}

// ancestors returns transactions and their unconfirmed ancestors, as far as they
// wait in the mempool.
func (c *Client) ancestors(ctx context.Context, ids []bitcoin.Hash) (map[bitcoin.Hash]poolTx, error) {
	var calls []call
	for _, id := range ids {
		calls = append(calls, method("getmempoolentry", id.String()), method("getmempoolancestors", id.String(), true))
	}
	answers, err := c.do(ctx, calls...)
	if err != nil {
		return nil, err
	}
	pool := make(map[bitcoin.Hash]poolTx)
	for i, id := range ids {
		var j poolJSON
		err := answers[2*i].decode(&j)
		if err == nil {
			err = readPool(pool, answers[2*i+1])
		}
		if _, gone := refused(err, codeNotFound); gone || errors.Is(err, bitcoin.ErrNotFound) {
			continue // confirmed, unknown, or just mined
		}
		if err != nil {
			return nil, err
		}
		if pool[id], err = j.tx(); err != nil {
			return nil, err
		}
	}
	return pool, nil
}

// effectiveFee returns fee and size in vbytes of a waiting transaction together
// with those ancestors that pay less than what they are added to; ok is false if
// the transaction does not wait (protocol: bitcoin.md §4). It is the measure by
// which liquidity providers accept a vault transaction.
func effectiveFee(pool map[bitcoin.Hash]poolTx, id bitcoin.Hash) (fee, vsize int64, ok bool) {
	tx, ok := pool[id]
	if !ok {
		return 0, 0, false
	}
	s := sum{tx.fee, tx.vsize}
	steps := 0
	s.addAncestors(pool, tx, &steps)
	return s.fee, s.vsize, true
}

// maxSteps bounds the walk: a parent can be reached along many ways.
const maxSteps = 10_000

type sum struct{ fee, vsize int64 }

// below reports whether s pays less per vbyte than t.
func (s sum) below(t sum) bool {
	return float64(s.fee)/float64(s.vsize) < float64(t.fee)/float64(t.vsize)
}

// addAncestors adds the parents of tx that pay less than s does so far, the
// cheapest first, and then theirs. A parent that pays more is weighed together
// with its own ancestors.
func (s *sum) addAncestors(pool map[bitcoin.Hash]poolTx, tx poolTx, steps *int) {
	if *steps++; *steps > maxSteps {
		return
	}
	var parents []poolTx
	for _, id := range tx.parents {
		if p, ok := pool[id]; ok {
			parents = append(parents, p)
		}
	}
	slices.SortStableFunc(parents, func(a, b poolTx) int {
		switch {
		case sum{a.fee, a.vsize}.below(sum{b.fee, b.vsize}):
			return -1
		case sum{b.fee, b.vsize}.below(sum{a.fee, a.vsize}):
			return 1
		}
		return 0
	})
	var added []poolTx
	for _, p := range parents {
		own := sum{p.fee, p.vsize}
		if own.below(*s) {
			added = append(added, p)
		} else if own.addAncestors(pool, p, steps); !own.below(*s) {
			continue
		}
		s.fee, s.vsize = s.fee+own.fee, s.vsize+own.vsize
	}
	for _, p := range added {
		s.addAncestors(pool, p, steps)
	}
}
