package read

import (
	"context"
	"sync"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// PricePolicy says how the price of a compute unit is estimated (protocol:
// chain-solana.md §12).
type PricePolicy struct {
	Cap     uint64          // micro-lamports for a compute unit
	Level   string          // of a service that estimates fees, where the node has one
	Samples int             // blocks that are looked at where it has none
	Period  int             // slots that they are drawn from
	Draw    func(n int) int // a random number below n
}

// priceAge is how long the price of sampled blocks is good.
const priceAge = 5 * time.Second

// serviceTime is how long a service that estimates fees is waited for.
const serviceTime = 3 * time.Second

// serviceRecheck is after how long it is asked again whether the nodes have such a service.
const serviceRecheck = time.Hour

// prices is what is remembered of fees.
type prices struct {
	mu        sync.Mutex
	noService time.Time // until when the nodes are taken to have none
	sampled   uint64
	at        time.Time
}

// Price estimates what it takes, in micro-lamports for a compute unit, to write to some
// accounts: what a service says, where the nodes have one; else the price that three
// quarters of the transactions paid that wrote to them lately, or that of the cheapest of some recent
// blocks if that is higher. It takes one round trip, two more if no block was sampled in
// the last five seconds; the first time also one to find out whether there is a service.
func (l *Ledger) Price(ctx context.Context, policy PricePolicy, accounts []wire.Key) (uint64, error) {
	price, ok, err := l.servicePrice(ctx, policy, accounts)
	if ok || err != nil {
		return price, err
	}
	now := l.Now()
	l.prices.mu.Lock()
	sampled, age := l.prices.sampled, now.Sub(l.prices.at)
	known := !l.prices.at.IsZero() && age >= 0 && age < priceAge
	l.prices.mu.Unlock()
	var recent []rpc.RecentFee
	var slot uint64
	requests := []rpc.Request{rpc.RecentFeesRequest(accounts[:min(len(accounts), rpc.FeeAccounts)], &recent)}
	if !known {
		requests = append(requests, rpc.SlotRequest(rpc.Finalized, &slot))
	}
	if err := l.Node.Batch(ctx, requests); err != nil {
		return 0, err
	}
	var paid []uint64
	for _, f := range recent {
		paid = append(paid, f.Fee)
	}
	local := float64(wire.RecentPrice(paid))
	if !known {
		if err := requests[1].Err; err != nil {
			return 0, fault.New(fault.Upstream, "%s: %w", requests[1].Method, err)
		}
		got, err := wire.SamplePrice(slot, policy.Period, policy.Samples, policy.Draw, func(slots []uint64) (map[uint64]int64, error) { return l.blockPrices(ctx, slots) })
		switch {
		case err != nil && (ctx.Err() != nil || len(paid) == 0):
			return 0, err
		default: // also that the blocks say too little is remembered: it takes long to find out
			sampled = uint64(max(got, 0))
			l.prices.mu.Lock()
			l.prices.sampled, l.prices.at = sampled, now
			l.prices.mu.Unlock()
		}
	}
	return wire.ClampPrice(max(local, float64(sampled)), policy.Cap), nil
}

// servicePrice asks a service that estimates fees; ok is false if there is none.
func (l *Ledger) servicePrice(ctx context.Context, policy PricePolicy, accounts []wire.Key) (price uint64, ok bool, err error) {
	now := l.Now()
	l.prices.mu.Lock()
	none := now.Before(l.prices.noService)
	l.prices.mu.Unlock()
	if none || policy.Level == "" {
		return 0, false, nil
	}
	asking, cancel := context.WithTimeout(ctx, serviceTime)
	defer cancel()
	var estimate rpc.FeeEstimate
	request := []rpc.Request{rpc.FeeLevelsRequest(accounts, policy.Level, &estimate)}
	err = l.Node.Batch(asking, request)
	switch {
	case ctx.Err() != nil:
		return 0, false, context.Cause(ctx)
	case err != nil, rpc.IsUnsupported(request[0].Err): // a node that has no service may say so in its own way
		l.prices.mu.Lock()
		l.prices.noService = now.Add(serviceRecheck)
		l.prices.mu.Unlock()
		return 0, false, nil
	}
	switch err := request[0].Err; {
	case err != nil:
		return 0, false, fault.New(fault.Upstream, "%s: %w", request[0].Method, err)
	}
	return wire.ClampPrice(estimate.Levels[policy.Level], policy.Cap), true, nil
}

// blockPrices returns what the blocks of slots paid for a compute unit. Slots without a
// block, and blocks that do not tell what their leader got, are left out.
func (l *Ledger) blockPrices(ctx context.Context, slots []uint64) (map[uint64]int64, error) {
	blocks := make([]*rpc.BlockFees, len(slots))
	requests := make([]rpc.Request, len(slots))
	for i, slot := range slots {
		requests[i] = rpc.BlockFeesRequest(slot, rpc.Confirmed, &blocks[i])
	}
	if err := l.Node.Batch(ctx, requests); err != nil {
		return nil, err
	}
	prices := map[uint64]int64{}
	for i, r := range requests {
		switch {
		case rpc.IsSkipped(r.Err) || r.Err == nil && blocks[i] == nil:
			continue
		case r.Err != nil:
			return nil, fault.New(fault.Upstream, "block of slot %d: %w", slots[i], r.Err)
		}
		if reward, ok := blocks[i].Reward(); ok {
			prices[slots[i]] = wire.BlockPrice(reward, len(blocks[i].Signatures))
		}
	}
	return prices, nil
}
