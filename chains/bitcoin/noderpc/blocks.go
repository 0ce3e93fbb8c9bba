package noderpc

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// TipHeight returns the height of the best block. It sends one request.
func (c *Client) TipHeight(ctx context.Context) (_ uint32, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	if _, err := c.learn(ctx); err != nil {
		return 0, err
	}
	answers, err := c.do(ctx, method("getblockcount"))
	if err != nil {
		return 0, err
	}
	var height uint32
	err = answers[0].decode(&height)
	return height, err
}

// BlockHash returns the hash of the block at a height of the best chain. It sends one request.
func (c *Client) BlockHash(ctx context.Context, height uint32) (_ bitcoin.Hash, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	if _, err := c.learn(ctx); err != nil {
		return bitcoin.Hash{}, err
	}
	answers, err := c.do(ctx, method("getblockhash", height))
	if err != nil {
		return bitcoin.Hash{}, err
	}
	return blockHash(answers[0], height)
}

func blockHash(a answer, height uint32) (bitcoin.Hash, error) {
	var text string
	err := a.decode(&text)
	if _, ok := refused(err, codeOutOfRange, codeMisc); ok {
		return bitcoin.Hash{}, fmt.Errorf("block %d: %w", height, bitcoin.ErrNotFound)
	}
	if err != nil {
		return bitcoin.Hash{}, fmt.Errorf("block %d: %w", height, err)
	}
	return bitcoin.ParseHash(text)
}

// place is the position of a block in the chain, as the node tells with its header.
type place struct {
	Height        uint32 `json:"height"`
	Confirmations int64  `json:"confirmations"` // 0 or less outside of the best chain
}

// askHeader is the pair of calls that readHeader takes the answers of.
func askHeader(block bitcoin.Hash) []call {
	return []call{method("getblockheader", block.String(), false), method("getblockheader", block.String(), true)}
}

// readHeader reads raw header and place of a block. btcd has no place for a block
// outside of the best chain: then ok is false and the header's height is 0.
func readHeader(block bitcoin.Hash, raw, verbose answer) (h bitcoin.Header, p place, ok bool, err error) {
	var text string
	err = raw.decode(&text)
	if _, unknown := refused(err, codeNotFound); unknown {
		return h, p, false, fmt.Errorf("block %s: %w", block, bitcoin.ErrNotFound)
	}
	if err != nil {
		return h, p, false, fmt.Errorf("block %s: %w", block, err)
	}
	err = verbose.decode(&p)
	_, stale := refused(err, codeInternal, codeNotFound)
	if err != nil && !stale {
		return h, p, false, fmt.Errorf("block %s: %w", block, err)
	}
	h, err = parseHeader(text, block, p.Height)
	return h, p, !stale, err
}

func parseHeader(text string, block bitcoin.Hash, height uint32) (bitcoin.Header, error) {
	b, err := hex.DecodeString(text)
	if err != nil {
		return bitcoin.Header{}, fmt.Errorf("header: %w", err)
	}
	h, err := bitcoin.ParseHeader(b, height)
	if err == nil && h.Hash() != block {
		err = fmt.Errorf("requested block %s, got %s", block, h.Hash())
	}
	return h, err
}

// Header returns the header of a block. It sends one request, or none if the header is
// cached; for a block outside btcd's best chain, one more for each block back to it.
func (c *Client) Header(ctx context.Context, block bitcoin.Hash) (_ bitcoin.Header, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	if _, err := c.learn(ctx); err != nil {
		return bitcoin.Header{}, err
	}
	if h, ok := c.headers.Get(block); ok {
		return h, nil
	}
	const longestBranch = 1000
	var first bitcoin.Header
	at := block
	for back := range uint32(longestBranch) {
		answers, err := c.do(ctx, askHeader(at)...)
		if err != nil {
			return bitcoin.Header{}, err
		}
		h, p, placed, err := readHeader(at, answers[0], answers[1])
		if err != nil {
			return bitcoin.Header{}, err
		}
		if back == 0 {
			first = h
		}
		if placed {
			first.Height = p.Height + back
			if err := first.CheckWork(c.o.Network); err != nil {
				return bitcoin.Header{}, err
			}
			c.headers.Add(block, first)
			return first, nil
		}
		at = h.PrevBlock
	}
	return bitcoin.Header{}, unsupported("the height of block %s, more than %d blocks off the best chain", block, longestBranch)
}

// HeadersFrom returns headers of the best chain. It sends three requests for up
// to 100 headers, and two more for each further 100.
func (c *Client) HeadersFrom(ctx context.Context, from uint32, count int) (_ []bitcoin.Header, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	tip, err := c.TipHeight(ctx)
	if err != nil || from > tip || count <= 0 {
		return nil, err
	}
	n := uint32(min(uint64(tip-from)+1, uint64(count)))
	for tries := 0; ; tries++ {
		list, err := c.headerRange(ctx, from, n)
		if err == nil {
			err = bitcoin.CheckHeaders(c.o.Network, list[0], list[1:])
		}
		if err == nil {
			return list, nil
		}
		if tries > 0 || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("headers from %d: %w", from, err)
		}
		// The chain may have changed between two requests: retry once.
	}
}

func (c *Client) headerRange(ctx context.Context, from, n uint32) ([]bitcoin.Header, error) {
	calls := make([]call, n)
	for i := range n {
		calls[i] = method("getblockhash", from+i)
	}
	answers, err := c.do(ctx, calls...)
	if err != nil {
		return nil, err
	}
	hashes := make([]bitcoin.Hash, n)
	for i, a := range answers {
		if hashes[i], err = blockHash(a, from+uint32(i)); err != nil {
			return nil, err
		}
		calls[i] = method("getblockheader", hashes[i].String(), false)
	}
	if answers, err = c.do(ctx, calls...); err != nil {
		return nil, err
	}
	list := make([]bitcoin.Header, n)
	for i, a := range answers {
		var text string
		if err := a.decode(&text); err != nil {
			return nil, err
		}
		if list[i], err = parseHeader(text, hashes[i], from+uint32(i)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// InMainChain reports whether a block is in the best chain. It sends one request.
func (c *Client) InMainChain(ctx context.Context, block bitcoin.Hash) (_ bool, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	if _, err := c.learn(ctx); err != nil {
		return false, err
	}
	answers, err := c.do(ctx, askHeader(block)...)
	if err != nil {
		return false, err
	}
	_, p, placed, err := readHeader(block, answers[0], answers[1])
	if errors.Is(err, bitcoin.ErrNotFound) {
		return false, nil
	}
	return placed && p.Confirmations > 0, err
}

// MerkleProof returns the proof that a transaction is in a block of the best
// chain. It sends one request, which includes the ids in the block only if they
// are not cached.
func (c *Client) MerkleProof(ctx context.Context, id, block bitcoin.Hash) (_ bitcoin.MerkleProof, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	if _, err := c.learn(ctx); err != nil {
		return bitcoin.MerkleProof{}, err
	}
	calls := askHeader(block)
	ids, known := c.txids.Get(block)
	if !known {
		calls = append(calls, method("getblock", block.String(), 1))
	}
	answers, err := c.do(ctx, calls...)
	if err != nil {
		return bitcoin.MerkleProof{}, err
	}
	h, p, placed, err := readHeader(block, answers[0], answers[1])
	if err != nil {
		return bitcoin.MerkleProof{}, err
	}
	if !placed || p.Confirmations <= 0 {
		return bitcoin.MerkleProof{}, fmt.Errorf("block %s is not in the best chain: %w", block, bitcoin.ErrNotFound)
	}
	if !known {
		if ids, err = blockIDs(answers[2]); err != nil {
			return bitcoin.MerkleProof{}, fmt.Errorf("block %s: %w", block, err)
		}
		c.txids.Add(block, ids)
	}
	proof, ok := bitcoin.BuildMerkleProof(ids, id, h.Height)
	if !ok {
		return proof, fmt.Errorf("transaction %s in block %s: %w", id, block, bitcoin.ErrNotFound)
	}
	return proof, proof.Verify(h)
}

// Block returns a whole block. It sends one request.
func (c *Client) Block(ctx context.Context, block bitcoin.Hash) (_ *wire.MsgBlock, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	if _, err := c.learn(ctx); err != nil {
		return nil, err
	}
	answers, err := c.do(ctx, method("getblock", block.String(), 0))
	if err != nil {
		return nil, err
	}
	var text string
	err = answers[0].decode(&text)
	if _, unknown := refused(err, codeNotFound); unknown {
		return nil, fmt.Errorf("block %s: %w", block, bitcoin.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", block, err)
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", block, err)
	}
	return bitcoin.ParseBlock(raw, block, c.o.Network)
}

func blockIDs(a answer) ([]bitcoin.Hash, error) {
	var j struct {
		Tx []string `json:"tx"`
	}
	if err := a.decode(&j); err != nil {
		return nil, err
	}
	ids := make([]bitcoin.Hash, len(j.Tx))
	for i, text := range j.Tx {
		var err error
		if ids[i], err = bitcoin.ParseHash(text); err != nil {
			return nil, err
		}
	}
	return ids, nil
}
