package noderpc

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
)

// txJSON is a transaction as both nodes write it.
type txJSON struct {
	Hex           string `json:"hex"`
	BlockHash     string `json:"blockhash"`
	Confirmations int64  `json:"confirmations"`
	In            []struct {
		Prevout *struct {
			Value        json.Number `json:"value"`
			ScriptPubKey struct {
				Hex string `json:"hex"`
			} `json:"scriptPubKey"`
		} `json:"prevout"` // Core 25 and later
	} `json:"vin"`
}

// tx returns the transaction without height and time of its block. One that only
// a block outside of the best chain holds is not found.
func (j txJSON) tx() (*bitcoin.Tx, error) {
	raw, err := hex.DecodeString(j.Hex)
	if err != nil {
		return nil, err
	}
	m, err := rawtx.Decode(raw)
	if err != nil {
		return nil, err
	}
	tx := &bitcoin.Tx{ID: m.TxHash(), Msg: m, Prevouts: make([]*wire.TxOut, len(m.TxIn))}
	for i, in := range j.In {
		if in.Prevout == nil || i >= len(tx.Prevouts) {
			continue
		}
		value, err := sats(in.Prevout.Value)
		if err != nil {
			return nil, err
		}
		script, err := hex.DecodeString(in.Prevout.ScriptPubKey.Hex)
		if err != nil {
			return nil, err
		}
		tx.Prevouts[i] = wire.NewTxOut(value, script)
	}
	if j.BlockHash == "" {
		return tx, nil
	}
	if j.Confirmations < 1 || j.Confirmations > 1<<31 {
		return nil, fmt.Errorf("transaction %s is not in a block of the best chain: %w", tx.ID, bitcoin.ErrNotFound)
	}
	tx.Confirmations = uint32(j.Confirmations)
	tx.BlockHash, err = bitcoin.ParseHash(j.BlockHash)
	return tx, err
}

// Txs returns transactions. It sends one request for up to 100 of them, and one
// for block headers that are not cached.
func (c *Client) Txs(ctx context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.Tx] {
	results := make([]bitcoin.Result[*bitcoin.Tx], len(ids))
	if len(ids) == 0 {
		return results
	}
	n, err := c.learn(ctx)
	calls := make([]call, len(ids))
	for i, id := range ids {
		verbosity := 2 // with the spent outputs, where the node can
		if n != nil && n.btcd {
			verbosity = 1
		}
		calls[i] = method("getrawtransaction", id.String(), verbosity)
	}
	var answers []answer
	if err == nil {
		answers, err = c.do(ctx, calls...)
	}
	if err != nil {
		for i := range results {
			results[i].Err = err
		}
		return results
	}
	for i, a := range answers {
		results[i].Value, results[i].Err = readTx(a, ids[i], n)
	}
	c.place(ctx, results)
	return blamedEach(ctx, c, results)
}

// readTx reads one transaction and compares it with its id.
func readTx(a answer, id bitcoin.Hash, n *node) (*bitcoin.Tx, error) {
	var j txJSON
	err := a.decode(&j)
	if e, ok := refused(err, codeNotFound); ok {
		if !n.txIndex || strings.Contains(e.Message, "--txindex") {
			return nil, unsupported("telling whether transaction %s is confirmed: the transaction index is missing or incomplete", id)
		}
		return nil, fmt.Errorf("transaction %s: %w", id, bitcoin.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("transaction %s: %w", id, err)
	}
	tx, err := j.tx()
	if err != nil {
		return nil, fmt.Errorf("transaction %s: %w", id, err)
	}
	if tx.ID != id {
		return nil, fmt.Errorf("requested transaction %s, got %s", id, tx.ID)
	}
	return tx, nil
}

// place adds height and time of their blocks to confirmed transactions.
func (c *Client) place(ctx context.Context, txs []bitcoin.Result[*bitcoin.Tx]) {
	var blocks []bitcoin.Hash
	var calls []call
	asked := make(map[bitcoin.Hash]error)
	for _, r := range txs {
		if r.Err != nil || !r.Value.Confirmed() {
			continue
		}
		block := r.Value.BlockHash
		if _, ok := asked[block]; ok {
			continue
		}
		if _, ok := c.headers.Get(block); ok {
			continue
		}
		asked[block] = nil
		blocks = append(blocks, block)
		calls = append(calls, askHeader(block)...)
	}
	headers := make(map[bitcoin.Hash]bitcoin.Header)
	answers, err := c.do(ctx, calls...)
	for i, block := range blocks {
		var h bitcoin.Header
		blockErr := err
		if err == nil {
			var placed bool
			if h, _, placed, blockErr = readHeader(block, answers[2*i], answers[2*i+1]); blockErr == nil && !placed {
				blockErr = fmt.Errorf("block %s was just removed from the best chain", block)
			}
		}
		if asked[block] = blockErr; blockErr == nil {
			headers[block] = h
			c.headers.Add(block, h)
		}
	}
	for i, r := range txs {
		if r.Err != nil || !r.Value.Confirmed() {
			continue
		}
		block := r.Value.BlockHash
		h, ok := headers[block]
		if !ok {
			h, ok = c.headers.Get(block)
		}
		if !ok {
			err := asked[block]
			if err == nil {
				err = errors.New("its block is unknown")
			}
			txs[i] = bitcoin.Result[*bitcoin.Tx]{Err: fmt.Errorf("transaction %s: %w", r.Value.ID, err)}
			continue
		}
		r.Value.Height, r.Value.BlockTime = h.Height, time.Unix(int64(h.Time), 0)
	}
}

// Broadcast sends a transaction. It sends one request, and one or two more
// after a failure to find out whether the transaction was accepted anyway.
func (c *Client) Broadcast(ctx context.Context, raw []byte) (_ bitcoin.Hash, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	m, err := rawtx.Decode(raw)
	if err != nil {
		return bitcoin.Hash{}, fault.Invalid("transaction", "%w", err)
	}
	id := m.TxHash()
	if _, err := c.learn(ctx); err != nil {
		return id, err
	}
	answers, err := c.do(ctx, method("sendrawtransaction", hex.EncodeToString(raw)))
	if err == nil {
		err = sent(answers[0], id)
	}
	if err == nil {
		return id, nil
	}
	if _, lookErr := single.Tx(ctx, c, id); lookErr == nil {
		return id, nil
	}
	return id, err
}

func sent(a answer, id bitcoin.Hash) error {
	var text string
	err := a.decode(&text)
	if e, ok := refused(err, codeDecode, codeInputs, codePolicy, codeInChain); ok {
		rejected := &bitcoin.RejectedError{Code: e.Code, Reason: e.Message}
		if rejected.AlreadyKnown() {
			return nil
		}
		return rejected
	}
	if err == nil && text != id.String() {
		err = fmt.Errorf("sent transaction %s, but the node returned %.80q", id, text)
	}
	return err
}
