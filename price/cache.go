package price

import (
	"context"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/tokens"
)

// cache is what [NewCache] returns.
type cache struct {
	of  Source
	age time.Duration
	now func() time.Time

	flight async.Group
	prices *bounds.Cache[string, dated[*big.Int]]
	usd    *bounds.Cache[string, dated[float64]]
}

type dated[T any] struct {
	value T
	at    time.Time
}

// cacheAge is the default maximum age of a cached price (protocol:
// swap-flows-spv-and-core.md C9.2).
const cacheAge = 10 * time.Second

// NewCache returns a [Source] that caches the prices of another one. Callers who ask
// for the same price at the same time share one request; failures are not cached. age
// is the maximum age of a price, 0 means 10 s; now nil means time.Now.
func NewCache(of Source, age time.Duration, now func() time.Time) Source {
	if age <= 0 {
		age = cacheAge
	}
	if now == nil {
		now = time.Now
	}
	const tokensKept = 256
	return &cache{of: of, age: age, now: now, prices: bounds.NewCache[string, dated[*big.Int]](tokensKept), usd: bounds.NewCache[string, dated[float64]](1)}
}

// Name implements [Source].
func (c *cache) Name() string { return c.of.Name() }

// Price implements [Source].
func (c *cache) Price(ctx context.Context, t tokens.Token) (*big.Int, error) {
	p, err := remembered(ctx, c, c.prices, t.ID(), func(ctx context.Context) (*big.Int, error) {
		p, err := c.of.Price(ctx, t)
		if err != nil {
			return nil, err
		}
		return p, sane(p)
	})
	if err != nil {
		return nil, err
	}
	return new(big.Int).Set(p), nil
}

// USDPerSat implements [Source].
func (c *cache) USDPerSat(ctx context.Context) (float64, error) {
	return remembered(ctx, c, c.usd, "USD", func(ctx context.Context) (float64, error) {
		v, err := c.of.USDPerSat(ctx)
		if err != nil {
			return 0, err
		}
		return v, saneUSD(v)
	})
}

func remembered[T any](ctx context.Context, c *cache, in *bounds.Cache[string, dated[T]], key string, ask func(context.Context) (T, error)) (T, error) {
	if d, ok := in.Get(key); ok {
		if age := c.now().Sub(d.at); age >= 0 && age < c.age { // below zero: the clock was set back
			return d.value, nil
		}
	}
	return async.Do(ctx, &c.flight, key, func(ctx context.Context) (T, error) {
		at := c.now() // before the answer: it is not younger than the question
		v, err := ask(ctx)
		if err == nil {
			in.Add(key, dated[T]{v, at})
		}
		return v, err
	})
}
