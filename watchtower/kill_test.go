package watchtower_test

import (
	"context"
	"errors"
	"iter"
	"math/big"
	"sync"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/watchtower"
)

// mortal is a store whose process dies at one of its writes: from then on it answers nothing.
type mortal struct {
	storage.Store
	mu    sync.Mutex
	left  int  // writes before the last one
	wrote bool // the last one is made
	dead  bool
}

var errDead = errors.New("the process was killed")

func (m *mortal) write(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.dead:
		return errDead
	case m.left > 0:
		m.left--
		return do()
	}
	m.dead = true
	if m.wrote {
		_ = do()
	}
	return errDead
}

func (m *mortal) isDead() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

func (m *mortal) Create(ctx context.Context, e storage.Entry) error {
	return m.write(func() error { return m.Store.Create(ctx, e) })
}

func (m *mortal) Update(ctx context.Context, e storage.Entry) error {
	return m.write(func() error { return m.Store.Update(ctx, e) })
}

func (m *mortal) Delete(ctx context.Context, id string, version uint64) error {
	return m.write(func() error { return m.Store.Delete(ctx, id, version) })
}

func (m *mortal) SetNote(ctx context.Context, name string, data []byte, version uint64) error {
	return m.write(func() error { return m.Store.SetNote(ctx, name, data, version) })
}

func (m *mortal) Get(ctx context.Context, id string) (storage.Entry, error) {
	if m.isDead() {
		return storage.Entry{}, errDead
	}
	return m.Store.Get(ctx, id)
}

func (m *mortal) Find(ctx context.Context, q storage.Query) iter.Seq2[storage.Entry, error] {
	if m.isDead() {
		return func(yield func(storage.Entry, error) bool) { yield(storage.Entry{}, errDead) }
	}
	return m.Store.Find(ctx, q)
}

// A tower is killed at each write that it makes, before it is made and after. The next one
// claims what is not claimed, pays for nothing twice, and enters everything once.
func TestKilledAtEachWrite(t *testing.T) {
	t.Parallel()
	for _, f := range trial.Of(1, families) {
		t.Run(f.name, func(t *testing.T) { killedAtEachWrite(newKit(t, f)) })
	}
}

func killedAtEachWrite(k *kit) {
	before := k.native(k.signer.Address())
	claims, deaths := uint64(0), 0
	for n, finished := byte(0), false; !finished; n++ {
		for _, wrote := range []bool{false, true} {
			secret := chains.Preimage{9, n, map[bool]byte{true: 1}[wrote]}
			data := k.open(k.TB, opening{secret: secret, bounty: k.fair})
			claims++
			c := k.config()
			m := &mortal{Store: k.store, left: int(n), wrote: wrote}
			c.Store = m
			tower, stop := k.tower(c)
			_ = tower.Publish(k.Context(), k.message(data, secret))
			k.eventually("killed, or over", func() bool {
				k.mine(k.TB)
				return m.isDead() || k.state(data) == chains.EscrowClaimed && k.stored() == 0
			})
			stop()
			if finished = !m.isDead(); !finished {
				deaths++
			}
			tower, stop = k.tower(k.config())
			if err := tower.Publish(k.Context(), k.message(data, secret)); err != nil { // the engine says it again
				k.Fatal(err)
			}
			k.eventually("claimed", func() bool { k.mine(k.TB); return k.state(data) == chains.EscrowClaimed })
			k.eventually("over", func() bool { k.mine(k.TB); return k.stored() == 0 })
			if b := k.book(tower); b.Claims != claims || b.Lost != 0 {
				k.Errorf("write %d, made %t: %+v, want %d claims", n, wrote, b, claims)
			}
			k.balanced(tower, before)
			stop()
		}
	}
	if deaths < 8 {
		k.Errorf("killed %d times", deaths)
	}
}

// forgetful is a store in which a round ends a record just before it is read.
type forgetful struct {
	storage.Store
	forgot bool
}

func (f *forgetful) Get(ctx context.Context, id string) (storage.Entry, error) {
	e, err := f.Store.Get(ctx, id)
	if err != nil || f.forgot {
		return e, err
	}
	f.forgot = true
	if err := f.Delete(ctx, id, e.Version); err != nil {
		return e, err
	}
	return f.Store.Get(ctx, id)
}

// What is published again while a round forgets it is taken as new.
func TestPublishedWhileItIsForgotten(t *testing.T) {
	k := newKit(t, families[0])
	data := k.open(k.TB, opening{secret: chains.Preimage{8}, bounty: k.fair})
	c := k.config()
	store := &forgetful{Store: k.store}
	c.Store = store
	tower := trial.Must(watchtower.Open(k.Context(), c))(k.TB)
	defer tower.Close()
	for range 2 {
		trial.Do(t, tower.Publish(k.Context(), k.message(data, chains.Preimage{8})))
	}
	if !store.forgot || k.stored() != 1 {
		t.Errorf("forgot: %t; %d are stored", store.forgot, k.stored())
	}
}

// Whoever claims first has the bounty. The tower forgets, and its books say what it lost.
func TestOthersClaimFirst(t *testing.T) {
	everywhere(t, func(k *kit) {
		secret := chains.Preimage{7}
		data := k.open(k.TB, opening{secret: secret, bounty: k.fair})
		k.claim(data, secret)
		tower, _ := k.tower(k.config())
		before := k.native(k.signer.Address())
		trial.Do(k, tower.Publish(k.Context(), k.message(data, secret)))
		k.eventually("left", func() bool { k.mine(k.TB); return k.book(tower).Left == 1 })
		k.eventually("forgotten", func() bool { return k.stored() == 0 })
		if b := k.book(tower); b.Spent.Sign() != 0 || b.Claims != 0 {
			k.Errorf("books: %+v", b)
		}
		if got := k.native(k.signer.Address()); got.Cmp(before) != 0 {
			k.Errorf("the account has %s, had %s", got, before)
		}
	})
}

// claim claims as the user.
func (k *kit) claim(data []byte, secret chains.Preimage) {
	k.Helper()
	k.send(data, secret, "")
	k.eventually("claimed by the user", func() bool { k.mine(k.TB); return k.state(data) == chains.EscrowClaimed })
}

// send sends the user's claim, at a fee rate.
func (k *kit) send(data []byte, secret chains.Preimage, rate string) {
	k.Helper()
	e := trial.Must(k.contract.Decode(data))(k.TB)
	plan := chains.Plan{SwapID: "user", Signer: k.user, FeeRate: rate, Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret}}}
	u := trial.Must(k.contract.Build(k.Context(), plan))(k.TB)
	signed := trial.Must(k.wallet.Sign(k.Context(), u.Txs))(k.TB)
	for _, tx := range trial.Must(k.contract.Check(plan, signed))(k.TB) {
		trial.Do(k, k.chain.Send(k.Context(), tx))
	}
}

// A gas price beyond the bounty lets the tower wait, and claim once it falls; an own user is
// served within the allowance.
func TestThePolicyHolds(t *testing.T) {
	everywhere(t, func(k *kit) {
		secret, poor := chains.Preimage{1}, chains.Preimage{2}
		data, unpaid := k.open(k.TB, opening{secret: secret, bounty: k.fair}), k.open(k.TB, opening{secret: poor, bounty: 0})
		c := k.config()
		c.Chains[0].Policy = watchtower.Policy{MaxFee: big.NewInt(1)}
		tower, stop := k.tower(c)
		for d, s := range map[string]chains.Preimage{string(data): secret, string(unpaid): poor} {
			trial.Do(k, tower.Publish(k.Context(), k.message([]byte(d), s)))
		}
		k.never("claimed above the highest fee", func() bool { return k.state(data) != chains.EscrowOpen || k.state(unpaid) != chains.EscrowOpen })
		stop()
		c.Chains[0].Policy = watchtower.Policy{}
		_, stop = k.tower(c)
		k.eventually("claimed", func() bool { k.mine(k.TB); return k.state(data) == chains.EscrowClaimed })
		k.never("claimed without allowance", func() bool { return k.state(unpaid) != chains.EscrowOpen })
		stop()
		c.Chains[0].Policy = watchtower.Policy{Allowance: nano(k.fair*10, int64(k.chain.Info().Native.Decimals))}
		tower, _ = k.tower(c)
		k.eventually("claimed within the allowance", func() bool { k.mine(k.TB); return k.state(unpaid) == chains.EscrowClaimed })
		k.eventually("over", func() bool { k.mine(k.TB); return k.stored() == 0 })
		if b := k.book(tower); b.Claims != 2 {
			k.Errorf("books: %+v", b)
		}
	})
}
