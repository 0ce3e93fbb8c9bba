package price

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/tokens"
)

// Median is a [Source] that queries several others at once and trusts none of
// them alone: it returns the median of the prices that agree with each other.
// An exchange that is hacked, stale or unreachable has no effect (protocol:
// swap-flows-spv-and-core.md D16).
type Median struct {
	// Sources are asked in parallel. At most 16 are.
	Sources []Source
	// Need is how many sources must agree; fewer suffice only for a token that
	// fewer sources list. 0 means 2.
	Need int
	// TolerancePPM is how far from the median a source may lie and still agree,
	// parts per million. 0 means 10 000, 1 %.
	TolerancePPM int64
	// Grace is how long to wait for the other sources once Need of them agree.
	// 0 means 300 ms.
	Grace time.Duration
	// Timeout limits the whole call, including one retry. 0 means 8 s.
	Timeout time.Duration
}

// maxSources is the most sources that a Median queries.
const maxSources = 16

// Name implements [Source].
func (m Median) Name() string { return names(m.Sources) }

// Price implements [Source]. Errors have the code fault.Upstream and include
// the response of each source; for a token that no source lists they wrap
// [ErrUnknownToken].
func (m Median) Price(ctx context.Context, t tokens.Token) (*big.Int, error) {
	return median(ctx, m, "price of "+t.ID(), func(ctx context.Context, s Source) (*big.Int, error) {
		p, err := s.Price(ctx, t)
		if err != nil {
			return nil, err
		}
		return p, sane(p)
	})
}

// USDPerSat implements [Source].
func (m Median) USDPerSat(ctx context.Context) (float64, error) {
	const scale = 1e15 // keeps 9 significant digits of far less than today's price
	p, err := median(ctx, m, "US dollar price", func(ctx context.Context, s Source) (*big.Int, error) {
		v, err := s.USDPerSat(ctx)
		if err != nil {
			return nil, err
		}
		if err := saneUSD(v); err != nil {
			return nil, err
		}
		return whole(v * scale)
	})
	if err != nil {
		return 0, err
	}
	v, _ := new(big.Float).SetInt(p).Float64()
	return v / scale, nil
}

// said is one source's answer.
type said struct {
	source string
	price  *big.Int
	err    error
}

func median(ctx context.Context, m Median, what string, ask func(context.Context, Source) (*big.Int, error)) (*big.Int, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(m.Timeout, 8*time.Second))
	defer cancel()
	policy := httpx.RetryPolicy{Calls: 2, Final: func(err error) bool { return errors.Is(err, ErrUnknownToken) }}
	return httpx.Retry(ctx, policy, func(ctx context.Context) (*big.Int, error) { return m.round(ctx, what, ask) })
}

// round asks every source once.
func (m Median) round(ctx context.Context, what string, ask func(context.Context, Source) (*big.Int, error)) (*big.Int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sources := m.Sources[:min(len(m.Sources), maxSources)]
	answers := make(chan said, len(sources)) // buffered, so that late sources do not leak
	for _, s := range sources {
		go func() {
			p, err := ask(ctx, s)
			answers <- said{s.Name(), p, err}
		}()
	}
	var good, bad []said
	var enough <-chan time.Time
	knowing := len(sources)
	for open := len(sources); open > 0; {
		select {
		case a := <-answers:
			open--
			switch {
			case a.err == nil:
				good = append(good, a)
			case errors.Is(a.err, ErrUnknownToken):
				knowing--
			default:
				bad = append(bad, a)
			}
			if enough == nil && len(m.agreeing(good)) >= m.need(knowing) && len(good) > 0 {
				timer := time.NewTimer(cmp.Or(m.Grace, 300*time.Millisecond))
				defer timer.Stop()
				enough = timer.C
			}
		case <-enough:
			open = 0
		case <-ctx.Done():
			if enough == nil {
				return nil, fmt.Errorf("%s: %w", what, context.Cause(ctx))
			}
			open = 0 // what is there is enough
		}
	}
	return m.verdict(what, good, bad, knowing)
}

// verdict is the median of the answers that agree, if they are enough and the
// majority.
func (m Median) verdict(what string, good, bad []said, knowing int) (*big.Int, error) {
	if knowing == 0 {
		return nil, fmt.Errorf("%s: %w", what, ErrUnknownToken)
	}
	agree := m.agreeing(good)
	if len(agree) > 0 && len(agree) >= m.need(knowing) && 2*len(agree) > len(good) {
		return middle(agree), nil
	}
	var words []string
	for _, a := range good {
		words = append(words, fmt.Sprintf("%s says %s", a.source, a.price))
	}
	for _, a := range bad {
		words = append(words, a.err.Error())
	}
	return nil, fault.New(fault.Upstream, "%s: too few price sources agree%s", what, fault.Hidden(": "+strings.Join(words, "; ")))
}

// need is how many have to agree when so many know the token.
func (m Median) need(knowing int) int { return max(1, min(cmp.Or(max(m.Need, 0), 2), knowing)) }

// agreeing returns the answers within the tolerance of their median.
func (m Median) agreeing(all []said) []said {
	if len(all) == 0 {
		return nil
	}
	mid := middle(all)
	var in []said
	for _, a := range all {
		// |price - mid| * 10^6 <= mid * tolerance
		off := new(big.Int).Sub(a.price, mid)
		off.Abs(off).Mul(off, million)
		if off.Cmp(new(big.Int).Mul(mid, big.NewInt(cmp.Or(m.TolerancePPM, 10_000)))) <= 0 {
			in = append(in, a)
		}
	}
	return in
}

// middle is the median; of an even number the mean of the two in the middle.
func middle(all []said) *big.Int {
	p := make([]*big.Int, len(all))
	for i, a := range all {
		p[i] = a.price
	}
	slices.SortFunc(p, (*big.Int).Cmp)
	mid := p[len(p)/2]
	if len(p)%2 == 0 {
		mid = new(big.Int).Add(mid, p[len(p)/2-1])
		return mid.Rsh(mid, 1)
	}
	return mid
}

func names(sources []Source) string {
	list := make([]string, len(sources))
	for i, s := range sources {
		list[i] = s.Name()
	}
	return strings.Join(list, ", ")
}
