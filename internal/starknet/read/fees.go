package read

import (
	"context"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// rateAge is how long a fee rate is good.
const rateAge = 5 * time.Second

// rate is the last fee rate that was read.
type rate struct {
	mu   sync.Mutex
	last wire.FeeRate
	at   time.Time
}

// FeeRate is what to offer for gas after the newest accepted block (protocol:
// chain-starknet.md §9). It takes one round trip, none if it was read in the last five
// seconds. A node that lies can make it high, up to the caps of [wire.RateFor], or so low
// that transactions wait.
func (l *Ledger) FeeRate(ctx context.Context) (wire.FeeRate, error) {
	now := l.Now()
	l.rate.mu.Lock()
	last, age := l.rate.last, now.Sub(l.rate.at)
	known := !l.rate.at.IsZero() && age >= 0 && age < rateAge
	l.rate.mu.Unlock()
	if known {
		return last, nil
	}
	var head rpc.Head
	if err := rpc.AskAll(ctx, l.Nodes, []rpc.Request{rpc.PricesRequest(&head)}); err != nil {
		return wire.FeeRate{}, err
	}
	l.heads(&head)
	r, err := head.Prices.Rate()
	if err != nil {
		return wire.FeeRate{}, err
	}
	l.rate.mu.Lock()
	l.rate.last, l.rate.at = r, now
	l.rate.mu.Unlock()
	return r, nil
}

// FeeRates hands over what each node makes of the fee rate, in one round trip.
func (l *Ledger) FeeRates(ctx context.Context, take func(wire.FeeRate)) error {
	return l.Nodes.Each(ctx, func() []rpc.Request {
		return []rpc.Request{rpc.PricesRequest(new(rpc.Head))}
	}, func(r []rpc.Request) {
		if r[0].Err != nil {
			return
		}
		if rate, err := r[0].Result.(*rpc.Head).Prices.Rate(); err == nil {
			take(rate)
		}
	})
}
