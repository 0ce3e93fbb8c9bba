package mempoolspace

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/btcsuite/btcd/wire"
	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// TipHeight returns the height of the best block. It sends one request, or none
// while the last answer is younger than Options.TipAge.
func (c *Client) TipHeight(ctx context.Context) (uint32, error) {
	return c.tip.Get(ctx, c.o.TipAge, c.askTip)
}

func (c *Client) askTip(ctx context.Context) (uint32, error) {
	return ask(ctx, c, "GET blocks/tip/height", func(ctx context.Context, s *source) (uint32, error) {
		body, err := s.get(ctx, "blocks/tip/height", textLimit)
		if err != nil {
			return 0, err
		}
		height, err := strconv.ParseUint(strings.TrimSpace(string(body)), 10, 32)
		if err != nil {
			return 0, fmt.Errorf("tip height: %w", err)
		}
		return uint32(height), nil
	})
}

// BlockHash returns the hash of the block at a height of the best chain. It sends
// one request, or none for a block that was seen 144 blocks deep within the last
// ten minutes.
func (c *Client) BlockHash(ctx context.Context, height uint32) (bitcoin.Hash, error) {
	if h, ok := fresh(c.hashes.Get(height)); ok {
		return h, nil
	}
	path := "block-height/" + strconv.FormatUint(uint64(height), 10)
	h, err := async.Do(ctx, &c.flight, path, func(ctx context.Context) (bitcoin.Hash, error) {
		return ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) (bitcoin.Hash, error) {
			body, err := s.get(ctx, path, textLimit)
			if says(err, "Block not found", "Block height out of range") {
				return bitcoin.Hash{}, notFound("block %d", height)
			}
			if err != nil {
				return bitcoin.Hash{}, err
			}
			return bitcoin.ParseHash(strings.TrimSpace(string(body)))
		})
	})
	if err == nil && c.final(height) {
		c.hashes.Add(height, aged[bitcoin.Hash]{h, time.Now()})
	}
	return h, err
}

// final reports whether a height is deep below the last known tip; it sends no
// request.
func (c *Client) final(height uint32) bool {
	return uint64(height)+finalDepth <= uint64(c.tip.Last())
}

// blockJSON is a header as the API writes it. Absent members would pass for zero,
// but then the hash is wrong.
type blockJSON struct {
	ID         string `json:"id"`
	Height     uint32 `json:"height"`
	Version    int64  `json:"version"`
	Timestamp  uint32 `json:"timestamp"`
	MerkleRoot string `json:"merkle_root"`
	Previous   string `json:"previousblockhash"`
	Nonce      uint32 `json:"nonce"`
	Bits       uint32 `json:"bits"`
}

// header returns the header, without any check but the form of its fields.
func (j blockJSON) header() (bitcoin.Header, error) {
	h := bitcoin.Header{Height: j.Height, Version: int32(j.Version), Time: j.Timestamp, Bits: j.Bits, Nonce: j.Nonce}
	if j.Version < -1<<31 || j.Version > 1<<32-1 {
		return h, fmt.Errorf("invalid header version %d", j.Version)
	}
	var err error
	if h.MerkleRoot, err = bitcoin.ParseHash(j.MerkleRoot); err != nil {
		return h, fmt.Errorf("merkle root: %w", err)
	}
	if j.Previous == "" && j.Height == 0 {
		return h, nil
	}
	if h.PrevBlock, err = bitcoin.ParseHash(j.Previous); err != nil {
		return h, fmt.Errorf("previous block: %w", err)
	}
	return h, nil
}

// checked returns the header if it hashes to its id and has the work it claims.
func (c *Client) checked(j blockJSON) (bitcoin.Header, error) {
	h, err := j.header()
	if err != nil {
		return h, err
	}
	if id := h.Hash(); id.String() != j.ID {
		return h, fmt.Errorf("header %d hashes to %s instead of its id %.64q", j.Height, id, j.ID)
	}
	return h, h.CheckWork(c.network)
}

// Header returns the header of a block. It sends one request, or none if the header is cached.
func (c *Client) Header(ctx context.Context, block bitcoin.Hash) (bitcoin.Header, error) {
	if h, ok := c.headers.Get(block); ok {
		return h, nil
	}
	path := "block/" + block.String()
	return async.Do(ctx, &c.flight, path, func(ctx context.Context) (bitcoin.Header, error) {
		h, err := ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) (bitcoin.Header, error) {
			var j blockJSON
			err := s.getJSON(ctx, path, listLimit, &j)
			if says(err, "Block not found") {
				return bitcoin.Header{}, notFound("block %s", block)
			}
			if err != nil {
				return bitcoin.Header{}, err
			}
			h, err := c.checked(j)
			if err == nil && j.ID != block.String() {
				err = fmt.Errorf("requested block %s, got %.64q", block, j.ID)
			}
			return h, err
		})
		if err == nil {
			c.headers.Add(block, h)
		}
		return h, err
	})
}

// Block returns a whole block. It sends one request.
func (c *Client) Block(ctx context.Context, block bitcoin.Hash) (*wire.MsgBlock, error) {
	path := "block/" + block.String() + "/raw"
	return async.Do(ctx, &c.flight, path, func(ctx context.Context) (*wire.MsgBlock, error) {
		return ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) (*wire.MsgBlock, error) {
			raw, err := s.get(ctx, path, rawtx.MaxSize)
			if says(err, "Block not found") {
				return nil, notFound("block %s", block)
			}
			if err != nil {
				return nil, err
			}
			return bitcoin.ParseBlock(raw, block, c.network)
		})
	})
}

// pageSize is how many headers v1/blocks gives; a server that gives fewer is
// asked more often.
const pageSize = 15

// HeadersFrom returns headers of the best chain. It sends one request per 15
// headers (per 10 from a plain Esplora server), in parallel, and one for the tip if
// that is not known.
func (c *Client) HeadersFrom(ctx context.Context, from uint32, count int) ([]bitcoin.Header, error) {
	tip, err := c.TipHeight(ctx)
	if err != nil || from > tip || count <= 0 {
		return nil, err
	}
	n := int(min(uint64(tip-from)+1, uint64(count)))
	for tries := 0; ; tries++ {
		list, err := c.pages(ctx, from, n)
		if err != nil {
			return nil, err
		}
		if err = bitcoin.CheckHeaders(c.network, list[0], list[1:]); err == nil {
			return list, nil
		}
		if tries > 0 {
			return nil, fault.New(fault.Upstream, "headers from %d: %w", from, err)
		}
		// The chain may have changed between two pages: retry once.
	}
}

// pages fetches n headers from a height on, at least one, page by page in parallel.
func (c *Client) pages(ctx context.Context, from uint32, n int) ([]bitcoin.Header, error) {
	list := make([]bitcoin.Header, n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(c.o.Concurrency)
	for at := 0; at < n; at += pageSize {
		part := list[at:min(at+pageSize, n)]
		low := from + uint32(at)
		high := low + uint32(len(part)) - 1
		g.Go(func() error {
			what := fmt.Sprintf("headers %d to %d", low, high)
			got, err := async.Do(ctx, &c.flight, what, func(ctx context.Context) ([]bitcoin.Header, error) {
				return ask(ctx, c, what, func(ctx context.Context, s *source) ([]bitcoin.Header, error) {
					return s.headers(ctx, low, high)
				})
			})
			copy(part, got)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return list, nil
}

// headers fetches the headers from low to high, ascending and linked, in as many
// pages as the server needs.
func (s *source) headers(ctx context.Context, low, high uint32) ([]bitcoin.Header, error) {
	list := make([]bitcoin.Header, high-low+1)
	for top := high; ; {
		page, err := s.page(ctx, top)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 || page[0].Height != top {
			return nil, fmt.Errorf("the header at height %d is missing below the tip", top)
		}
		for i, j := range page {
			height := top - uint32(i)
			if j.Height != height {
				return nil, fmt.Errorf("page of headers from %d down has a gap at %d", top, height)
			}
			h, err := s.client.checked(j)
			if err != nil {
				return nil, err
			}
			list[height-low] = h
			if height == low {
				if err := bitcoin.CheckHeaders(s.client.network, list[0], list[1:]); err != nil {
					return nil, err
				}
				return list, nil
			}
		}
		top -= uint32(len(page))
	}
}

// page fetches headers descending from a height.
func (s *source) page(ctx context.Context, top uint32) ([]blockJSON, error) {
	path := "blocks/" + strconv.FormatUint(uint64(top), 10)
	var page []blockJSON
	if !s.isPlain() {
		err := s.getJSON(ctx, "v1/"+path, listLimit, &page)
		if !s.missing(err) {
			return page, err
		}
	}
	err := s.getJSON(ctx, path, listLimit, &page)
	s.doubt(err)
	return page, err
}

// InMainChain reports whether a block is in the best chain. It sends one request.
func (c *Client) InMainChain(ctx context.Context, block bitcoin.Hash) (bool, error) {
	path := "block/" + block.String() + "/status"
	in, err := async.Do(ctx, &c.flight, path, func(ctx context.Context) (bool, error) {
		return ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) (bool, error) {
			var j struct {
				In *bool `json:"in_best_chain"`
			}
			err := s.getJSON(ctx, path, textLimit, &j)
			if says(err, "Block not found") {
				return false, notFound("block %s", block)
			}
			if err == nil && j.In == nil {
				err = errors.New("block status does not tell whether the block is in the best chain")
			}
			if err != nil {
				return false, err
			}
			return *j.In, nil
		})
	})
	if errors.Is(err, bitcoin.ErrNotFound) {
		return false, nil
	}
	return in, err
}
