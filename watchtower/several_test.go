package watchtower_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/storagetest"
	"github.com/swapper-go/swapper/watchtower"
)

// Several towers on one store claim each thing once, whichever of them it was handed to, and
// another goes on when the one that has claimed is gone.
func TestSeveralTowersShareTheWork(t *testing.T) {
	k := newKit(t, families[0])
	k.store = &struct {
		storage.Memory
		storagetest.MemoryLeases
	}{}
	k.share(k.store)
}

// share runs two towers, one on the kit's store and one on another connection to it.
func (k *kit) share(other storage.Store) {
	before := k.native(k.signer.Address())
	first, stop := k.tower(k.config())
	c := k.config()
	c.Store = other
	second, _ := k.tower(c)
	for n, tower := range []*watchtower.Tower{first, second, second} {
		if n == 2 {
			stop()
		}
		secret := chains.Preimage{9, byte(n)}
		data := k.open(k.TB, opening{secret: secret, bounty: k.fair})
		trial.Do(k, tower.Publish(k.Context(), k.message(data, secret)))
		k.eventually("claimed", func() bool { k.mine(k.TB); return k.state(data) == chains.EscrowClaimed })
		k.eventually("entered into the books", func() bool { k.mine(k.TB); return k.book(second).Claims == uint64(n+1) })
	}
	if b := k.book(second); b.Lost != 0 {
		k.Errorf("claimed twice: %+v", b)
	}
	k.balanced(second, before)
}

// What is not approved is not signed, and asked about again; what it would earn and cost is said.
func TestNothingIsSignedWithoutApproval(t *testing.T) {
	k := newKit(t, families[0])
	var approved atomic.Bool
	asked := make(chan watchtower.Claim, 100)
	c := k.config()
	c.Approve = func(made watchtower.Claim) bool {
		select {
		case asked <- made:
		default:
		}
		return approved.Load()
	}
	tower, _ := k.tower(c)
	secret := chains.Preimage{7}
	data := k.open(t, opening{secret: secret, bounty: k.fair})
	trial.Do(t, tower.Publish(t.Context(), k.message(data, secret)))
	k.mine(t)
	k.eventually("asked twice", func() bool { return len(asked) > 1 })
	if n := len(k.sent()); n != 0 {
		t.Errorf("%d transactions are signed without approval", n)
	}
	one, again := <-asked, <-asked
	if one.ID != again.ID || one.Chain != k.factory.ID() || one.Kind != chains.StepClaimSecret || !one.Own || one.Replaces {
		t.Errorf("asked about %+v, then %+v", one, again)
	}
	if e := trial.Must(k.contract.Decode(data))(t); one.Pay.Cmp(e.ClaimerBounty) != 0 || one.Cost.Sign() <= 0 {
		t.Errorf("it would earn %s at a cost of %s, want the bounty %s", one.Pay, one.Cost, e.ClaimerBounty)
	}
	reports := trial.Must(tower.Reports(t.Context()))(t)
	if r := reports[0]; r.Waiting != 1 || r.Late <= 0 || r.Balance.Cmp(k.native(k.signer.Address())) != 0 {
		t.Errorf("reports %+v, want one that waits and is late, and the account's balance", r)
	}
	approved.Store(true)
	k.eventually("claimed", func() bool { k.mine(t); return k.state(data) == chains.EscrowClaimed })
}

// counting counts the writes to a store.
type counting struct {
	storage.Store
	updates atomic.Int64
}

func (c *counting) Update(ctx context.Context, e storage.Entry) error {
	c.updates.Add(1)
	return c.Store.Update(ctx, e)
}

// What waits is looked at again without a write, and what is new goes before it.
func TestANewClaimGoesFirst(t *testing.T) {
	k := newKit(t, families[0])
	store := &counting{Store: k.store}
	asked := make(chan string, 1000)
	c := k.config()
	c.Store = store
	c.Approve = func(made watchtower.Claim) bool {
		asked <- made.ID
		return false
	}
	publish := func(to *watchtower.Tower, n byte) {
		t.Helper()
		secret := chains.Preimage{8, n}
		data := k.open(t, opening{secret: secret, bounty: k.fair})
		for !k.final(data) {
			k.mine(t)
		}
		trial.Do(t, to.Publish(t.Context(), k.message(data, secret)))
	}
	tower, stop := k.tower(c)
	waiting := map[string]bool{}
	for n := range byte(3) {
		publish(tower, n)
	}
	for len(waiting) < 3 {
		waiting[<-asked] = true
	}
	for range 6 { // the look at which each was asked about first is over
		<-asked
	}
	before := store.updates.Load()
	for range 12 {
		<-asked
	}
	if n := store.updates.Load() - before; n != 0 {
		t.Errorf("%d writes while nothing changed", n)
	}
	publish(tower, 3)
	for len(waiting) < 4 {
		waiting[<-asked] = true
	}
	stop()
	for len(asked) > 0 {
		<-asked
	}
	idle := trial.Must(watchtower.Open(t.Context(), c))(t)
	publish(idle, 4)
	_ = idle.Close()
	c.Store = k.store
	_, stop = k.tower(c)
	first := <-asked
	if waiting[first] {
		t.Error("another one was looked at before the new one")
	}
	stop()
}
