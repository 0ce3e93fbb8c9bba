package watchtower

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// claimer claims on one chain. One goroutine does so, one claim after the other, so that the
// nonces of its account follow each other.
type claimer struct {
	id     string
	config Config
	chain  chains.Chain
	info   chains.Info
	signer Signer
	self   string // the signer's canonical address
	policy Policy
	log    *slog.Logger
	heard  hearing
	woken  chan struct{}

	// Used by the round alone.
	vaults  map[string]string        // that a claim is under way for: to the record's id
	resting map[string]rest          // records that are looked at later than the store says, by id
	costs   map[chains.Cost]*big.Int // of what is looked at together
	known   map[string]*vaults       // of all owners, by the version of the contracts
	awaits  map[string]*payments     // of all users, by the version of the contracts
	blocks  blocks                   // that were read for these
	next    time.Time                // when to look at what others have
}

func openClaimer(ctx context.Context, c Config, a Account) (*claimer, error) {
	id := a.Chain.ID()
	log := c.Log.With("chain", id)
	chain, err := a.Chain.Open(ctx, chains.Env{Network: c.Network, Bitcoin: c.Bitcoin, Now: c.Now, Rand: c.Rand, HTTP: c.HTTP, Log: log, AllNodes: c.AllNodes,
		Notes: bounds.NotesOf(c.Store, index+"/"+id+"/chain/")})
	if err != nil {
		return nil, err
	}
	k := &claimer{id: id, config: c, chain: chain, info: chain.Info(), signer: a.Signer, policy: a.Policy, log: log, woken: make(chan struct{}, 1),
		vaults: map[string]string{}, resting: map[string]rest{}, costs: map[chains.Cost]*big.Int{}}
	if k.self, err = chain.Address(a.Signer.Address()); err != nil {
		return k, fmt.Errorf("the signer's address: %w", err)
	}
	return k, nil
}

func (c *claimer) now() time.Time { return c.config.Now() }

// wake begins the next round at once.
func (c *claimer) wake() {
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// pressed reports whether a new claim for an own user waits: a round ends for it.
func (c *claimer) pressed() bool { return len(c.woken) > 0 }

// roundTime bounds a round: a node that does not answer must not stop the others' claims.
const roundTime = 5 * time.Minute

func (c *claimer) run(ctx context.Context) {
	tick := time.NewTicker(c.config.Every)
	defer tick.Stop()
	clear(c.vaults) // another process may have claimed meanwhile
	clear(c.resting)
	c.known, c.awaits, c.blocks = map[string]*vaults{}, map[string]*payments{}, blocks{}
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(ctx, roundTime)
		if err := c.round(bounded); err != nil && ctx.Err() == nil {
			c.log.Warn("a round failed and is tried again", "err", err)
		}
		cancel()
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-c.woken:
		}
	}
}

// round looks once at what was heard, at what is due, and for what others have. New claims for own users come first,
// and whatever is not done for them is done in the next round.
func (c *claimer) round(ctx context.Context) error {
	if err := c.finish(ctx); err != nil {
		return err
	}
	failed := errors.Join(c.fresh(ctx), c.admit(ctx))
	// What is put off for longer than ever was put off by a clock that was ahead.
	astray, err := c.due(ctx, storage.Range{Min: c.now().Add(2 * longestPause).UnixMilli(), Max: math.MaxInt64})
	if err != nil {
		return errors.Join(failed, err)
	}
	failed = errors.Join(failed, c.look(ctx, astray, c.pressed))
	for n := 0; n < perRound && !c.pressed() && ctx.Err() == nil; n += perLook {
		due, err := c.due(ctx, storage.Range{Max: c.now().UnixMilli()})
		if err != nil {
			return errors.Join(failed, err)
		}
		for _, r := range due {
			c.mark(r)
		}
		failed = errors.Join(failed, c.look(ctx, due, c.pressed))
		if len(due) < perLook {
			break
		}
	}
	return errors.Join(failed, c.discover(ctx))
}

// fresh looks at all new claims for own users.
func (c *claimer) fresh(ctx context.Context) (failed error) {
	for first := ""; ctx.Err() == nil; {
		some, err := c.due(ctx, storage.Range{Min: math.MinInt64, Max: -1})
		if err != nil {
			return errors.Join(failed, err)
		}
		if len(some) == 0 || some[0].id == first { // it could not be stored
			return failed
		}
		first = some[0].id
		failed = errors.Join(failed, c.look(ctx, some, func() bool { return false }))
	}
	return failed
}

// read returns the escrows that a message can be about: hash locks of this chain's contracts
// that its preimage opens. Versions of contracts may share a format.
func (c *claimer) read(m Message) (all []chains.Escrow) {
	if m.Chain != "" && m.Chain != c.id {
		return nil
	}
	for _, v := range c.info.Versions {
		k, ok := c.chain.Contract(v.Name)
		if !ok {
			continue
		}
		e, err := k.Decode(m.Escrow)
		if err != nil || e.Kind != chains.HTLC {
			continue
		}
		lock, err := k.ClaimHash(chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256(m.Preimage[:])})
		if err == nil && string(lock) == string(e.ClaimHash) {
			all = append(all, e)
		}
	}
	return all
}

// worth is an amount of a token in base units of the native token; 0 if it has no known worth.
func (c *claimer) worth(ctx context.Context, token string, amount *big.Int) (*big.Int, error) {
	native := c.info.Native
	if amount == nil || amount.Sign() <= 0 {
		return new(big.Int), nil
	}
	if token == native.Address {
		return new(big.Int).Set(amount), nil
	}
	t, known := c.token(token)
	if !known || c.config.Prices == nil {
		return new(big.Int), nil
	}
	price, err := c.config.Prices.Price(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("the price of %s: %w", t.Ticker, err)
	}
	of, err := c.config.Prices.Price(ctx, native)
	if err != nil {
		return nil, fmt.Errorf("the price of %s: %w", native.Ticker, err)
	}
	if price.Sign() <= 0 || of.Sign() <= 0 {
		return nil, fault.New(fault.Upstream, "a price is not above 0")
	}
	// amount / 10^t * price / of * 10^native, rounded down
	n := new(big.Int).Mul(amount, price)
	n.Mul(n, ten(native.Decimals))
	return n.Quo(n, new(big.Int).Mul(of, ten(t.Decimals))), nil
}

func ten(decimals int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
}

// token finds a token that the chain is configured with: others may do anything.
func (c *claimer) token(address string) (tokens.Token, bool) {
	for _, t := range c.info.Tokens {
		if t.Address == address {
			return t, true
		}
	}
	return c.info.Native, address == c.info.Native.Address
}
