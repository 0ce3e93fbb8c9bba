package mempoolspace

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
)

// noTx are the words for an unknown transaction, of Esplora and of a node behind
// the API.
var noTx = []string{"Transaction not found", "No such mempool or blockchain transaction"}

// Txs returns transactions. It sends one request for each, in parallel with one
// for the tip, and none for a transaction that was seen 144 blocks deep within
// the last ten minutes. The raw transaction is rebuilt from the answer and must
// hash to the id.
func (c *Client) Txs(ctx context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.Tx] {
	if len(ids) == 0 {
		return nil
	}
	results := make([]bitcoin.Result[*bitcoin.Tx], len(ids))
	for i, r := range c.EachTx(ctx, ids) {
		results[i] = r
	}
	return results
}

// EachTx is Txs that yields each answer as it comes, with the place of its id: one that
// has to be repeated holds no other up. A loop that is left ends the requests under way.
func (c *Client) EachTx(ctx context.Context, ids []bitcoin.Hash) iter.Seq2[int, bitcoin.Result[*bitcoin.Tx]] {
	return func(yield func(int, bitcoin.Result[*bitcoin.Tx]) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		tip := c.tipBeside(ctx)
		each(ids, func(id bitcoin.Hash) (*bitcoin.Tx, error) {
			tx, err := c.tx(ctx, id)
			if err != nil {
				return nil, err
			}
			return c.confirm(tx, tip)
		})(yield)
	}
}

// together answers each question, and returns the answers.
func together[K, V any](questions []K, answer func(K) (V, error)) []bitcoin.Result[V] {
	results := make([]bitcoin.Result[V], len(questions))
	for i, r := range each(questions, answer) {
		results[i] = r
	}
	return results
}

// each answers each question in its own goroutine, and yields the answers as they come.
// Their requests are asked in turn.
func each[K, V any](questions []K, answer func(K) (V, error)) iter.Seq2[int, bitcoin.Result[V]] {
	return func(yield func(int, bitcoin.Result[V]) bool) {
		results := make([]bitcoin.Result[V], len(questions))
		answered := make(chan int, len(questions)) // buffered, so that late answers do not leak
		for i, q := range questions {
			go func() {
				results[i].Value, results[i].Err = answer(q)
				answered <- i
			}()
		}
		for range questions {
			if i := <-answered; !yield(i, results[i]) {
				return
			}
		}
	}
}

// tipBeside asks for the tip at once; the function returned waits for the answer.
func (c *Client) tipBeside(ctx context.Context) func() (uint32, error) {
	var height uint32
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		height, err = c.TipHeight(ctx)
	}()
	return func() (uint32, error) {
		<-done // TipHeight ends with ctx
		return height, err
	}
}

// tx returns a transaction without its confirmations.
func (c *Client) tx(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
	if tx, ok := fresh(c.txs.Get(id)); ok {
		return tx, nil
	}
	path := "tx/" + id.String()
	return async.Do(ctx, &c.flight, path, func(ctx context.Context) (*bitcoin.Tx, error) {
		return askInTurn(ctx, c, "GET "+path, func(ctx context.Context, s *source) (*bitcoin.Tx, error) {
			return s.tx(ctx, id)
		})
	})
}

func (s *source) tx(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
	var j txJSON
	err := s.getJSON(ctx, "tx/"+id.String(), txLimit, &j)
	if says(err, noTx...) {
		return nil, notFound("transaction %s", id)
	}
	if err != nil {
		return nil, err
	}
	tx, err := j.checkedTx()
	if err == nil && tx.ID != id {
		err = fmt.Errorf("requested transaction %s, got %s", id, tx.ID)
	}
	return tx, err
}

// confirm returns tx, which is shared, with its confirmations, and keeps it if
// it is there to stay.
func (c *Client) confirm(tx *bitcoin.Tx, tip func() (uint32, error)) (*bitcoin.Tx, error) {
	if tx.BlockHash == (bitcoin.Hash{}) {
		return tx, nil
	}
	height, err := tip()
	if err != nil {
		return nil, err
	}
	confirmed := *tx
	confirmed.Confirmations = max(height, tx.Height) - tx.Height + 1 // a tip below is one that was read before
	if _, ok := fresh(c.txs.Get(tx.ID)); !ok && confirmed.Confirmations > finalDepth {
		c.txs.Add(tx.ID, aged[*bitcoin.Tx]{tx, time.Now()})
	}
	return &confirmed, nil
}

// MerkleProof returns the proof that a transaction is in a block. It sends two requests
// in parallel, for the proof and for the header, or one if the header is cached.
func (c *Client) MerkleProof(ctx context.Context, id, block bitcoin.Hash) (bitcoin.MerkleProof, error) {
	path := "tx/" + id.String() + "/merkle-proof"
	return async.Do(ctx, &c.flight, path+block.String(), func(ctx context.Context) (bitcoin.MerkleProof, error) {
		var header bitcoin.Header
		var headerErr error
		var wg sync.WaitGroup
		wg.Go(func() { header, headerErr = c.Header(ctx, block) })
		defer wg.Wait()
		return ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) (bitcoin.MerkleProof, error) {
			var j proofJSON
			err := s.getJSON(ctx, path, listLimit, &j)
			if says(err, noTx...) {
				return bitcoin.MerkleProof{}, notFound("transaction %s in a block", id)
			}
			if err != nil {
				return bitcoin.MerkleProof{}, err
			}
			p, err := j.proof(id)
			if err != nil {
				return p, err
			}
			if wg.Wait(); headerErr != nil {
				return p, finalError{headerErr}
			}
			if p.Height != header.Height {
				return p, notFound("transaction %s in block %s: it is in block %d", id, block, p.Height)
			}
			if err = p.Verify(header); err != nil && s.replaced(ctx, header) {
				return p, notFound("transaction %s in block %s, which is not in the best chain", id, block)
			}
			return p, err
		})
	})
}

// replaced reports whether the best chain has another block at a header's
// height: a proof that does not match is then not the server's fault.
func (s *source) replaced(ctx context.Context, h bitcoin.Header) bool {
	body, err := s.get(ctx, "block-height/"+strconv.FormatUint(uint64(h.Height), 10), textLimit)
	if err != nil {
		return false
	}
	best, err := bitcoin.ParseHash(strings.TrimSpace(string(body)))
	return err == nil && best != h.Hash()
}

type proofJSON struct {
	Height uint32   `json:"block_height"`
	Merkle []string `json:"merkle"`
	Pos    uint32   `json:"pos"`
}

func (j proofJSON) proof(id bitcoin.Hash) (bitcoin.MerkleProof, error) {
	p := bitcoin.MerkleProof{TxID: id, Pos: j.Pos, Height: j.Height}
	for i, text := range j.Merkle {
		h, err := bitcoin.ParseHash(text)
		if err != nil {
			return p, fmt.Errorf("merkle proof, level %d: %w", i, err)
		}
		p.Hashes = append(p.Hashes, h)
	}
	return p, nil
}

// Outspends returns what spends each output. It sends one request per
// transaction, in parallel, regardless of how many of its outputs are asked
// for.
func (c *Client) Outspends(ctx context.Context, ops []bitcoin.OutPoint) []bitcoin.Result[bitcoin.Spend] {
	var ids []bitcoin.Hash
	at := make(map[bitcoin.Hash]int)
	for _, op := range ops {
		if _, ok := at[op.Hash]; !ok {
			at[op.Hash] = len(ids)
			ids = append(ids, op.Hash)
		}
	}
	lists := together(ids, func(id bitcoin.Hash) ([]bitcoin.Spend, error) { return c.outspends(ctx, id) })
	results := make([]bitcoin.Result[bitcoin.Spend], len(ops))
	for i, op := range ops {
		list := lists[at[op.Hash]]
		results[i].Err = list.Err
		if uint64(op.Index) < uint64(len(list.Value)) {
			results[i].Value = list.Value[op.Index]
		}
	}
	return results
}

// outspends returns what spends each output of a transaction; none if it is unknown.
func (c *Client) outspends(ctx context.Context, id bitcoin.Hash) ([]bitcoin.Spend, error) {
	path := "tx/" + id.String() + "/outspends"
	return async.Do(ctx, &c.flight, path, func(ctx context.Context) ([]bitcoin.Spend, error) {
		return askInTurn(ctx, c, "GET "+path, func(ctx context.Context, s *source) ([]bitcoin.Spend, error) {
			var list []spendJSON
			err := s.getJSON(ctx, path, txLimit, &list)
			if says(err, noTx...) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			spends := make([]bitcoin.Spend, len(list))
			for i, j := range list {
				if spends[i], err = j.spend(); err != nil {
					return nil, fmt.Errorf("output %d: %w", i, err)
				}
			}
			return spends, nil
		})
	})
}

type spendJSON struct {
	Spent  *bool      `json:"spent"`
	TxID   string     `json:"txid"`
	Status statusJSON `json:"status"`
}

func (j spendJSON) spend() (bitcoin.Spend, error) {
	if j.Spent == nil {
		return bitcoin.Spend{}, errors.New("it does not tell whether the output is spent")
	}
	if !*j.Spent {
		return bitcoin.Spend{State: bitcoin.Unspent}, nil
	}
	by, err := bitcoin.ParseHash(j.TxID)
	if err != nil {
		return bitcoin.Spend{}, fmt.Errorf("spender: %w", err)
	}
	st, err := j.Status.status()
	if err != nil {
		return bitcoin.Spend{}, err
	}
	if !st.confirmed {
		return bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: by}, nil
	}
	return bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: by, Height: st.height}, nil
}
