package quote

import (
	"context"
	"sync"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/verify"
)

// offer is what an LP has a vault for.
type offer struct{ url, chain, contract, token string }

// named is what a quote says of a vault: which one, and the output of it to spend.
type named struct {
	vault chains.VaultID
	utxo  bitcoin.OutPoint
}

func (n named) is(other named) bool {
	return n.vault.Owner == other.vault.Owner && n.vault.ID.Cmp(other.vault.ID) == 0 && n.utxo == other.utxo
}

// lastVaults remembers what the last accepted quote of each offer named, which the next one
// often names again. The zero value is ready; it is safe for concurrent use.
type lastVaults struct {
	once sync.Once
	list *bounds.Cache[offer, named]
}

func (l *lastVaults) cache() *bounds.Cache[offer, named] {
	const offers = 256
	l.once.Do(func() { l.list = bounds.NewCache[offer, named](offers) })
	return l.list
}

// ahead asks about a vault while its LP is asked for the quote.
type ahead struct {
	named
	facts *async.Future[verify.VaultFacts]
}

// vaultAhead begins to ask about the vault that an LP named last; nil if none is known. It is
// called before the LP is asked, so that what it learns is not older than the quote's request.
func (o *order) vaultAhead(ctx context.Context, c discovery.Candidate, k chains.VaultContract) *ahead {
	last, ok := o.vaults.cache().Get(o.offer(c, k))
	if !ok || o.trial {
		return nil
	}
	return &ahead{last, async.Start(ctx, func(ctx context.Context) (verify.VaultFacts, error) { return o.vaultFacts(ctx, k, last) })}
}

func (o *order) offer(c discovery.Candidate, k chains.Contract) offer {
	return offer{c.LP.URL, o.info.ID, k.Version(), c.Token}
}

// acceptVault judges a quote by the facts about the vault and the output that it names. Those
// asked for ahead of it count if they are about the same two, and lead to its acceptance: what they
// lack, and what they speak against, may have come between them and the quote. Then, as without
// them, they are asked for now. What is true of a vault when it is offered or paid is asked again
// there.
func (o *order) acceptVault(ctx context.Context, c discovery.Candidate, k chains.VaultContract, got lp.SPVQuote, before *ahead, judge func(verify.VaultFacts) (verify.Accepted, error)) (verify.Accepted, error) {
	var n named
	var err error
	if n.vault, n.utxo, err = verify.SPVLookups(got); err != nil {
		return verify.Accepted{}, err
	}
	if n.vault.Owner, err = o.chain.Address(n.vault.Owner); err != nil {
		return verify.Accepted{}, lp.Lie("", "the vault's owner: %w", err)
	}
	if before != nil && before.is(n) {
		if facts, err := before.facts.Wait(ctx); err == nil {
			if a, err := judge(facts); err == nil {
				return a, nil
			}
		}
	}
	facts, err := o.vaultFacts(ctx, k, n)
	if err != nil {
		return verify.Accepted{}, err
	}
	a, err := judge(facts)
	if err == nil {
		o.vaults.cache().Add(o.offer(c, k), n)
	}
	return a, err
}

func (o *order) vaultFacts(ctx context.Context, k chains.VaultContract, n named) (verify.VaultFacts, error) {
	return o.Reader.VaultFacts(ctx, k, func(ctx context.Context) (*chains.Vault, error) {
		f, err := o.Reader.Vault(ctx, o.info.ID, k.Version(), n.vault)
		return &f.Vault, err
	}, n.utxo, nil)
}
