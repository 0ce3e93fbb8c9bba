package watchtower_test

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/watchtower"
)

// A user who is away, and without gas, gets his tokens; the tower gets the bounty.
func TestClaimsForAnOwnUser(t *testing.T) {
	everywhere(t, func(k *kit) {
		secret := chains.Preimage{1, 2, 3}
		tower, _ := k.tower(k.config())
		data := k.open(k.TB, opening{secret: secret, bounty: k.fair})
		before := k.native(k.signer.Address())
		tokens := trial.Must(k.chain.Balance(k.Context(), k.user, k.token))(k.TB)
		trial.Do(k, tower.Publish(k.Context(), k.message(data, secret)))
		k.eventually("claimed", func() bool { k.mine(k.TB); return k.state(data) == chains.EscrowClaimed })
		k.eventually("entered into the books", func() bool { k.mine(k.TB); return k.book(tower).Claims == 1 })
		k.eventually("forgotten", func() bool { return k.stored() == 0 })
		k.balanced(tower, before)
		got := trial.Must(k.chain.Balance(k.Context(), k.user, k.token))(k.TB)
		if e := trial.Must(k.contract.Decode(data))(k.TB); got.Sub(got, tokens).Cmp(e.Amount) != 0 {
			k.Errorf("the user got %s of %s", got, e.Amount)
		}
		if b := k.book(tower); b.Spent.Sign() <= 0 || b.Lost != 0 || b.Left != 0 {
			k.Errorf("books: %+v", b)
		}
	})
}

// crowd is a source that says whatever a test wants.
type crowd chan watchtower.Message

func (c crowd) Listen(ctx context.Context, deliver func(watchtower.Message)) error {
	for {
		select {
		case m := <-c:
			deliver(m)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A message costs its sender nothing: the tower believes what the chain shows.
func TestBelievesNoMessage(t *testing.T) {
	everywhere(t, func(k *kit) {
		c := k.config()
		others := make(crowd)
		c.Sources = []watchtower.Source{others}
		tower, _ := k.tower(c)
		secret := chains.Preimage{5}
		data := k.open(k.TB, opening{secret: secret, bounty: k.fair})
		unpaid := k.open(k.TB, opening{secret: chains.Preimage{6}, bounty: 0})
		tiny := k.open(k.TB, opening{secret: chains.Preimage{7}, bounty: 1})
		before := k.native(k.signer.Address())
		for _, m := range []watchtower.Message{
			k.message(data, chains.Preimage{8}), // does not open it
			k.message(altered(k.TB, data, "1234"), secret),
			k.message(json.RawMessage(`{"type":"evm"}`), secret),
			k.message(json.RawMessage(`nonsense`), secret),
			{Chain: "OTHER", Escrow: data, Preimage: secret},
			k.message(unpaid, chains.Preimage{6}),
			k.message(tiny, chains.Preimage{7}),
		} {
			others <- m
		}
		k.never("something was stored", func() bool { return k.stored() > 0 })
		others <- k.message(data, secret)
		k.eventually("claimed", func() bool { k.mine(k.TB); return k.state(data) == chains.EscrowClaimed })
		k.eventually("entered into the books", func() bool { k.mine(k.TB); return k.book(tower).Claims == 1 })
		if k.state(unpaid) != chains.EscrowOpen || k.state(tiny) != chains.EscrowOpen {
			k.Error("claimed at a loss")
		}
		k.balanced(tower, before)
		if err := tower.Publish(k.Context(), k.message(data, chains.Preimage{8})); fault.CodeOf(err) != fault.InvalidInput {
			k.Errorf("a wrong preimage was taken over: %v", err)
		}
	})
}

// altered is an escrow that nobody has opened: another sequence.
func altered(t testing.TB, data json.RawMessage, sequence string) json.RawMessage {
	t.Helper()
	var members map[string]any
	trial.Do(t, json.Unmarshal(data, &members))
	members["sequence"] = sequence
	return trial.Must(json.Marshal(members))(t)
}

// The network's own way: a user publishes over Nostr, and goes away.
func TestHearsNostr(t *testing.T) {
	everywhere(t, func(k *kit) {
		o := watchtower.NostrOptions{Network: k.Bitcoin.Network(), Relays: []string{k.Nostr.URL()}}
		c := k.config()
		c.Sources = []watchtower.Source{trial.Must(watchtower.NewNostrSource(o))(k.TB)}
		tower, _ := k.tower(c)
		user := trial.Must(watchtower.NewNostr(o))(k.TB)
		defer user.Close()
		secret := chains.Preimage{4}
		data := k.open(k.TB, opening{secret: secret, bounty: k.fair})
		k.eventually("claimed", func() bool {
			if err := user.Publish(k.Context(), k.message(data, secret)); err != nil { // ephemeral: until it is heard
				k.Fatal(err)
			}
			k.mine(k.TB)
			time.Sleep(100 * time.Millisecond)
			return k.state(data) == chains.EscrowClaimed
		})
		k.eventually("over", func() bool { k.mine(k.TB); return k.book(tower).Claims == 1 })
	})
}

// What a clock that was ahead has put off is claimed once the clock is right, not when it is there.
func TestClockThatWasAhead(t *testing.T) {
	k := newKit(t, families[0])
	var right atomic.Bool
	var asked atomic.Int64
	c := k.config()
	c.Now = func() time.Time {
		if right.Load() {
			return k.Clock.Now()
		}
		return k.Clock.Now().Add(30 * time.Minute)
	}
	c.Approve = func(watchtower.Claim) bool { asked.Add(1); return right.Load() }
	tower, _ := k.tower(c)
	secret := chains.Preimage{9}
	data := k.open(k.TB, opening{secret: secret, bounty: k.fair})
	trial.Do(k, tower.Publish(k.Context(), k.message(data, secret)))
	k.eventually("put off", func() bool { return asked.Load() >= 3 })
	right.Store(true)
	k.eventually("claimed", func() bool { k.mine(k.TB); return k.state(data) == chains.EscrowClaimed })
}
