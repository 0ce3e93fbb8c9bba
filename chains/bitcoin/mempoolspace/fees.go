package mempoolspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// FeeRates returns the recommended fee rates. It sends one request (two to a
// plain Esplora server that has not been recognised as one yet), or none while
// the last answer is younger than Options.TipAge.
func (c *Client) FeeRates(ctx context.Context) (bitcoin.FeeRates, error) {
	return c.rates.Get(ctx, c.o.TipAge, func(ctx context.Context) (bitcoin.FeeRates, error) {
		return ask(ctx, c, "GET v1/fees/recommended", func(ctx context.Context, s *source) (bitcoin.FeeRates, error) {
			rates, err := s.rates(ctx)
			if err != nil {
				return bitcoin.FeeRates{}, err
			}
			if !believable(rates.Fastest) || !believable(rates.Minimum) {
				return bitcoin.FeeRates{}, fmt.Errorf("invalid fee rates of %v and %v sat/vB", rates.Fastest, rates.Minimum)
			}
			return rates, nil
		})
	})
}

func believable(rate float64) bool { return rate > 0 && rate <= bitcoin.HighestFeeRate }

func (s *source) rates(ctx context.Context) (bitcoin.FeeRates, error) {
	if !s.isPlain() {
		var j struct {
			Fastest float64  `json:"fastestFee"`
			Minimum *float64 `json:"minimumFee"`
		}
		err := s.getJSON(ctx, "v1/fees/recommended", textLimit, &j)
		if !s.missing(err) {
			minimum := 1.0
			if j.Minimum != nil {
				minimum = *j.Minimum
			}
			return bitcoin.FeeRates{Fastest: j.Fastest, Minimum: minimum}, err
		}
	}
	// By number of blocks to wait, as text.
	var j map[string]float64
	err := s.getJSON(ctx, "fee-estimates", textLimit, &j)
	s.doubt(err)
	if err != nil {
		return bitcoin.FeeRates{}, err
	}
	rates := bitcoin.FeeRates{Minimum: 1}
	for blocks := 3; blocks > 0; blocks-- {
		if rate, ok := j[strconv.Itoa(blocks)]; ok {
			rates.Fastest = rate
		}
	}
	if len(j) == 0 {
		rates.Fastest = rates.Minimum // nothing waits
	}
	return rates, nil
}

// ProjectedBlocks returns the blocks that the mempool would fill. It sends one
// request, or none while the last answer is younger than Options.TipAge. A
// plain Esplora server has no such data.
func (c *Client) ProjectedBlocks(ctx context.Context) ([]bitcoin.ProjectedBlock, error) {
	return c.blocks.Get(ctx, c.o.TipAge, func(ctx context.Context) ([]bitcoin.ProjectedBlock, error) {
		return ask(ctx, c, "GET v1/fees/mempool-blocks", func(ctx context.Context, s *source) ([]bitcoin.ProjectedBlock, error) {
			if s.isPlain() {
				return nil, nil
			}
			var list []projectedJSON
			err := s.getJSON(ctx, "v1/fees/mempool-blocks", listLimit, &list)
			if s.missing(err) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			blocks := make([]bitcoin.ProjectedBlock, len(list))
			for i, j := range list {
				if len(j.Range) == 0 || j.Range[0] < 0 || j.VSize < 0 {
					return nil, fmt.Errorf("projected block %d has no fee range or size", i)
				}
				blocks[i] = bitcoin.ProjectedBlock{VSize: j.VSize, MinFeeRate: j.Range[0]}
			}
			return blocks, nil
		})
	})
}

type projectedJSON struct {
	VSize float64   `json:"blockVSize"`
	Range []float64 `json:"feeRange"`
}

// CPFPs returns the effective fee rates of unconfirmed transactions. It sends
// one request for each, in parallel. A plain Esplora server has no such data.
func (c *Client) CPFPs(ctx context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.CPFP] {
	return together(ids, func(id bitcoin.Hash) (*bitcoin.CPFP, error) { return c.cpfp(ctx, id) })
}

func (c *Client) cpfp(ctx context.Context, id bitcoin.Hash) (*bitcoin.CPFP, error) {
	path := "v1/cpfp/" + id.String()
	return async.Do(ctx, &c.flight, path, func(ctx context.Context) (*bitcoin.CPFP, error) {
		return askInTurn(ctx, c, "GET "+path, func(ctx context.Context, s *source) (*bitcoin.CPFP, error) {
			if s.isPlain() {
				return nil, nil
			}
			var j cpfpJSON
			err := s.getJSON(ctx, path, listLimit, &j)
			if e, ok := errors.AsType[*statusError](err); ok && e.status == http.StatusNotFound {
				return nil, nil // unknown, confirmed, or a plain Esplora
			}
			if err != nil {
				return nil, err
			}
			return j.cpfp()
		})
	})
}

type cpfpJSON struct {
	Rate  *float64 `json:"effectiveFeePerVsize"`
	VSize *float64 `json:"adjustedVsize"`
}

// cpfp returns nil for the answer about a confirmed or unknown transaction.
func (j cpfpJSON) cpfp() (*bitcoin.CPFP, error) {
	if j.Rate == nil {
		return nil, nil
	}
	if j.VSize == nil || *j.VSize <= 0 || *j.VSize > rawtx.MaxSize || *j.Rate < 0 {
		return nil, errors.New("mempool fee statistics have no size, or an invalid one")
	}
	return &bitcoin.CPFP{EffectiveFeeRate: *j.Rate, AdjustedVSize: *j.VSize}, nil
}

type nodeJSON struct {
	PublicKey string      `json:"public_key"`
	Capacity  json.Number `json:"capacity"` // a number, also as text
	Channels  int         `json:"active_channel_count"`
}

// NodeLiquidity returns a Lightning node's public channels and capacity. It sends one request.
func (c *Client) NodeLiquidity(ctx context.Context, publicKey string) (*bitcoin.NodeLiquidity, error) {
	key := strings.ToLower(publicKey)
	if !isPublicKey(key) {
		return nil, fault.Invalid("publicKey", "must be a compressed public key in hexadecimal: %.70q", publicKey)
	}
	path := "v1/lightning/nodes/" + key
	return async.Do(ctx, &c.flight, path, func(ctx context.Context) (*bitcoin.NodeLiquidity, error) {
		return ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) (*bitcoin.NodeLiquidity, error) {
			var j nodeJSON
			err := s.getJSON(ctx, path, listLimit, &j)
			if says(err, "This node does not exist") { // with status 404 or 500
				return nil, notFound("Lightning node %s", key)
			}
			if err != nil {
				return nil, err
			}
			if !strings.EqualFold(j.PublicKey, key) {
				return nil, fmt.Errorf("requested node %s, got %.70q", key, j.PublicKey)
			}
			capacity, err := j.Capacity.Int64()
			if err != nil || capacity < 0 || capacity > rawtx.MaxMoney || j.Channels < 0 {
				return nil, fmt.Errorf("invalid node: capacity of %.30q in %d channels", j.Capacity, j.Channels)
			}
			return &bitcoin.NodeLiquidity{PublicKey: key, Capacity: capacity, Channels: j.Channels}, nil
		})
	})
}

func isPublicKey(s string) bool {
	if len(s) != 66 || s[:2] != "02" && s[:2] != "03" {
		return false
	}
	return strings.Trim(s, "0123456789abcdef") == ""
}
