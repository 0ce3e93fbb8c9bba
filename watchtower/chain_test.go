package watchtower_test

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/watchtower"
)

// A reorganisation takes a claim back that was not final, and nodes forget it: the tower
// sends the same one again.
func TestAReorganisationAfterTheClaim(t *testing.T) {
	k := newKit(t, family{"EVM", true, devnet.Options{EVM: func(o *evm.Options) { o.SafeDepth = 3 }}, onEVM})
	secret := chains.Preimage{1}
	data := k.open(t, opening{secret: secret, bounty: k.fair})
	for range 4 {
		k.mine(t)
	}
	tower, _ := k.tower(k.config())
	before := k.native(k.signer.Address())
	trial.Do(t, tower.Publish(k.Context(), k.message(data, secret)))
	k.eventually("claimed, but not finally", func() bool { return k.state(data) == chains.EscrowClaimed })
	k.EVM.SetMining(false)
	trial.Do(t, k.EVM.Reorg(1))
	k.EVM.DropPending()
	if k.state(data) != chains.EscrowOpen || k.stored() != 1 {
		t.Fatalf("the escrow is %s, %d records", k.state(data), k.stored())
	}
	k.EVM.SetMining(true)
	k.eventually("claimed again", func() bool { k.mine(t); return k.state(data) == chains.EscrowClaimed })
	k.eventually("over", func() bool { k.mine(t); return k.stored() == 0 })
	if b := k.book(tower); b.Claims != 1 || b.Lost != 0 {
		t.Errorf("books: %+v", b)
	}
	k.balanced(tower, before)
}

// A claim that is not mined is replaced by one that offers more, within the policy.
func TestAStuckClaimIsReplaced(t *testing.T) {
	k := newKit(t, families[0])
	secret := chains.Preimage{1}
	data := k.open(t, opening{secret: secret, bounty: k.fair})
	k.EVM.SetMining(false)
	tower, _ := k.tower(k.config())
	before := k.native(k.signer.Address())
	trial.Do(t, tower.Publish(k.Context(), k.message(data, secret)))
	waiting := func() int { return len(k.sent()) }
	k.eventually("sent", func() bool { return waiting() == 1 })
	k.Clock.Add(3 * time.Minute)
	k.eventually("replaced", func() bool { return waiting() == 2 })
	sent := k.sent()
	if sent[0].Nonce != sent[1].Nonce || sent[0].ID == sent[1].ID {
		t.Errorf("%s with nonce %d is to replace %s with nonce %d", sent[1].ID, sent[1].Nonce, sent[0].ID, sent[0].Nonce)
	}
	k.EVM.SetMining(true)
	k.mine(t)
	k.eventually("over", func() bool { k.mine(t); return k.stored() == 0 })
	if b := k.book(tower); b.Claims != 1 || b.Lost != 0 {
		t.Errorf("books: %+v", b)
	}
	k.balanced(tower, before)
}

// Many swaps of one account are claimed one after the other, whatever happens to some.
func TestManyAtOnce(t *testing.T) {
	k := newKit(t, families[0])
	var all [][]byte
	tower, _ := k.tower(k.config())
	before := k.native(k.signer.Address())
	for n := range byte(20) {
		secret := chains.Preimage{3, n}
		data := k.open(t, opening{secret: secret, bounty: k.fair})
		if n%5 == 4 {
			k.claim(data, secret)
		}
		trial.Do(t, tower.Publish(k.Context(), k.message(data, secret)))
		all = append(all, data)
	}
	k.eventually("over", func() bool { k.mine(t); return k.stored() == 0 })
	for i, data := range all {
		if got := k.state(data); got != chains.EscrowClaimed {
			t.Errorf("escrow %d is %s", i, got)
		}
	}
	if b := k.book(tower); b.Claims != 16 || b.Left != 4 || b.Lost != 0 {
		t.Errorf("books: %+v", b)
	}
	k.balanced(tower, before)
}

// A user of Solana who has no account for the token gets one. The tower pays its rent, which
// the books know.
func TestPaysForATokenAccount(t *testing.T) {
	k := newKit(t, families[2])
	secret := chains.Preimage{1}
	data := k.open(t, opening{secret: secret, bounty: k.fair, newcomer: true})
	tower, _ := k.tower(k.config())
	before := k.native(k.signer.Address())
	trial.Do(t, tower.Publish(k.Context(), k.message(data, secret)))
	k.eventually("over", func() bool { return k.stored() == 0 })
	if b := k.book(tower); b.Claims != 1 || b.Spent.Int64() < 2_000_000 {
		t.Errorf("books: %+v", b)
	}
	k.balanced(tower, before)
}

// Somebody claims while the tower's claim waits to be mined. It costs its fee and earns
// nothing, and the books say so.
func TestALostRace(t *testing.T) {
	k := newKit(t, families[0])
	secret := chains.Preimage{1}
	data := k.open(t, opening{secret: secret, bounty: k.fair})
	k.EVM.SetMining(false)
	tower, _ := k.tower(k.config())
	before := k.native(k.signer.Address())
	trial.Do(t, tower.Publish(k.Context(), k.message(data, secret)))
	k.eventually("sent", func() bool { return len(k.sent()) == 1 })
	k.send(data, secret, "20000000000,10000000000")
	k.EVM.SetMining(true)
	k.eventually("over", func() bool { k.mine(t); return k.stored() == 0 })
	if b := k.book(tower); b.Lost != 1 || b.Claims != 0 || b.Spent.Sign() <= 0 || len(b.Earned) != 0 {
		t.Errorf("books: %+v", b)
	}
	k.balanced(tower, before)
}

// An escrow whose claim always fails costs what three claims cost, however often its message
// comes.
func TestAnEscrowThatCannotBeClaimed(t *testing.T) {
	k := newKit(t, families[0])
	secret := chains.Preimage{1}
	data := k.open(t, opening{secret: secret, bounty: k.fair})
	refuse := func(on bool) {
		t.Helper()
		call := trial.Must(evm.CallOf("TestToken", k.EVM.Contracts().Token, "refuse", k.EVM.User.Address, on))(t)
		if _, err := k.EVM.LP.Send(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	}
	refuse(true)
	c := k.config()
	others := make(crowd)
	c.Sources = []watchtower.Source{others}
	tower, _ := k.tower(c)
	before := k.native(k.signer.Address())
	others <- k.message(data, secret)
	k.eventually("three claims", func() bool { return len(k.sent()) == 3 })
	k.never("a fourth claim", func() bool {
		others <- k.message(data, secret)
		return len(k.sent()) > 3
	})
	refuse(false)
	k.claim(data, secret)
	k.Clock.Add(time.Hour)
	k.eventually("over", func() bool { k.mine(t); return k.stored() == 0 })
	if b := k.book(tower); b.Lost != 1 || b.Claims != 0 || b.Spent.Sign() <= 0 {
		t.Errorf("books: %+v", b)
	}
	k.balanced(tower, before)
}
