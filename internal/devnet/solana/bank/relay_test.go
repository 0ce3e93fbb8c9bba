package bank

import (
	"slices"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

var local = setup{rules: Rules{LongerWins: true}}

// wantTip demands that the relay's main chain ends with a header, and has the headers
// below it.
func (k *kit) wantTip(top wire.StoredHeader, below ...wire.StoredHeader) {
	k.Helper()
	s := k.relayState()
	if s.Height != top.Header.Height || s.TipCommitment != top.Commitment() || s.TipHash != top.Header.Hash() || s.Work.Cmp(top.Work) != 0 || s.LastDiffAdjustment != top.LastDiffAdjustment {
		k.Errorf("the tip is %d, %x with work %s; want %d, %x with %s", s.Height, s.TipHash, s.Work, top.Header.Height, top.Header.Hash(), top.Work)
	}
	for _, h := range append(below, top) {
		if c, ok := s.Commitment(h.Header.Height); !ok || c != h.Commitment() {
			k.Errorf("height %d is not %x", h.Header.Height, h.Header.Hash())
		}
	}
}

// storedAll are headers as they are stored on one.
func storedAll(on wire.StoredHeader, headers []bitcoin.Header) (all []wire.StoredHeader) {
	for _, h := range headers {
		on = on.Next(h)
		all = append(all, on)
	}
	return all
}

func TestRelayStarts(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		first := firstHeader(k, 850_000)
		ix := k.p.RelayInitInstruction(tower, first)
		k.refused(constraintSeeds, swapped(ix, 1, user))
		k.refused(constraintSeeds, swapped(ix, 2, user))
		k.refused(invalidProgramID, swapped(ix, 3, user))
		k.refused(accountNotSigner, change(ix, 0, func(a *wire.Account) { a.IsSigner = false }))
		k.refused(argumentsNotReadable, wire.Instruction{Program: ix.Program, Accounts: ix.Accounts, Data: ix.Data[:len(ix.Data)-1]})
		var tx *Executed
		are(t, "lamports", k.gained(func() { tx = k.must(ix) }, tower), []int64{-int64(wire.Rent(wire.RelayStateSpace))})
		k.wantTip(first)
		events, _ := k.p.RelayEvents(tx.Logs)
		if len(events) != 1 || events[0].OnFork || events[0].Commitment != first.Commitment() {
			t.Errorf("events %+v", events)
		}
		s := k.relayState()
		is(t, "start", s.StartHeight, 850_000)
		is(t, "blocks", s.TotalBlocks, 1)
		k.refused(Custom(0), ix)
	})
}

func TestRelayFollowsTheChain(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		first := k.startRelay(2010)
		headers, top := grow(first, 5, 1)
		ix := k.submit(relay.SaveMain, tower, first, 0, headers...)
		tx := k.must(ix)
		all := storedAll(first, headers)
		k.wantTip(top, all...)
		events, _ := k.p.RelayEvents(tx.Logs)
		if len(events) != 5 {
			t.Fatalf("%d events", len(events))
		}
		for i, e := range events {
			if e.OnFork || e.Block != headers[i].Hash() || e.Commitment != all[i].Commitment() {
				t.Errorf("event %d: %+v", i, e)
			}
		}
		k.refused(prevBlockCommitment, ix)
		// A difficulty period begins at 2016; the client predicts every stored header.
		headers, next := grow(top, 4, 1)
		k.must(k.submit(relay.SaveMain, tower, top, 0, headers...))
		k.wantTip(next)
		is(t, "the period's begin", next.LastDiffAdjustment, headers[0].Time)
	})
}

// After many blocks the relay still takes headers, and knows the newest 250. Heights of
// local networks are below 250 at first, of which the deployed relays cannot subtract
// their ring.
func TestRelayRingIsWrittenOver(t *testing.T) {
	for _, height := range []uint32{100, 850_100} {
		both(t, local, func(t *testing.T, k *kit) { k.writeOverRing(height) })
	}
}

func (k *kit) writeOverRing(height uint32) {
	first := k.startRelay(height)
	k.now = k.now.Add(1e16) // the chain grows into the future
	headers, _ := grow(first, 2*wire.RelayRing+20, 1)
	all := storedAll(first, headers)
	top := k.extend(first, headers...)
	k.wantTip(top, all[len(all)-wire.RelayRing:]...)
	forgotten := all[len(all)-wire.RelayRing-1]
	fork, _ := grow(forgotten, 1, 2)
	k.refused(prevBlockCommitment, k.submit(relay.SaveNewFork, tower, forgotten, 0, fork...))
	// A short fork across the ring's start.
	s := k.relayState()
	back := int(top.Header.Height - s.StartHeight + 1)
	if back > 30 {
		k.Fatalf("the ring starts at %d", s.StartHeight)
	}
	root := all[len(all)-1-back]
	headers, forkTop := grow(root, back+1, 2)
	base := root
	op := relay.SaveNewFork
	for part := range slices.Chunk(headers, wire.MaxForkHeaders) {
		k.must(k.submit(op, tower, base, 0, part...))
		base, op = storedAll(base, part)[len(part)-1], relay.SaveFork
	}
	k.wantTip(forkTop, storedAll(root, headers)...)
}

func TestHeadersAreChecked(t *testing.T) {
	both(t, local, func(t *testing.T, k *kit) {
		first := k.startRelay(900)
		now := uint32(k.now.Unix())
		good := solve(first, bitcoin.Hash{}, first.Header.Time+1, regtestBits, true)
		for _, op := range []relay.Op{relay.SaveMain, relay.SaveShortFork, relay.SaveNewFork} {
			refused := func(want error, on wire.StoredHeader, headers ...bitcoin.Header) {
				t.Helper()
				k.refused(want, k.submit(op, tower, on, 0, headers...))
			}
			refused(tooLittleWork, first, solve(first, bitcoin.Hash{}, now, regtestBits, false))
			refused(tooLittleWork, first, solve(first, bitcoin.Hash{}, now, 0x1d00ffff, false))
			refused(timeTooLow, first, solve(first, bitcoin.Hash{}, first.PrevTimes[5], regtestBits, true))
			refused(timeTooHigh, first, solve(first, bitcoin.Hash{}, now+4*3600, regtestBits, true))
			big := solve(first, bitcoin.Hash{}, now, regtestBits, true)
			big.Bits = 0x217fffff
			refused(ProgramFailedToComplete, first, big)
			stray := good
			stray.PrevBlock[0] ^= 1
			refused(prevBlock, first, stray)
			forged := first
			forged.Work = first.Header.Work() // more or less than there was
			refused(prevBlockCommitment, forged, good)
			above := first.Next(good)
			next, _ := grow(above, 1, 0)
			refused(prevBlockCommitment, above, next...)

			ix := k.submit(op, tower, first, 0, good)
			k.refused(invalidTopic, swapped(ix, len(ix.Accounts)-1, user))
			k.refused(wrongRemainingAccounts, wire.Instruction{Program: ix.Program, Accounts: ix.Accounts[:len(ix.Accounts)-1], Data: ix.Data})
			k.refused(wrongRemainingAccounts, wire.Instruction{Program: ix.Program, Accounts: append(slices.Clone(ix.Accounts), wire.Account{PublicKey: user}), Data: ix.Data})
			empty := wire.Instruction{Program: ix.Program, Accounts: ix.Accounts[:len(ix.Accounts)-1], Data: slices.Concat(ix.Data[:8], make([]byte, 4), ix.Data[12+rawtx.HeaderSize:])}
			k.refused(noHeaders, empty)
			k.refused(argumentsNotReadable, wire.Instruction{Program: ix.Program, Accounts: ix.Accounts, Data: ix.Data[:len(ix.Data)-1]})
			k.refused(accountNotSigner, change(ix, 0, func(a *wire.Account) { a.IsSigner = false }))
			k.refused(ownedByWrongProgram, swapped(ix, 1, user))
			k.refused(constraintMut, change(ix, 1, func(a *wire.Account) { a.IsWritable = false }))
		}
		k.must(k.submit(relay.SaveMain, tower, first, 0, solve(first, bitcoin.Hash{}, first.PrevTimes[5]+1, regtestBits, true)))
		k.wantTip(first.Next(solve(first, bitcoin.Hash{}, first.PrevTimes[5]+1, regtestBits, true)))
	})
}

func TestShortForks(t *testing.T) {
	both(t, local, func(t *testing.T, k *kit) {
		first := k.startRelay(900)
		headers, _ := grow(first, 3, 1)
		k.extend(first, headers...)
		fork, top := grow(first, 4, 2)
		k.refused(forkTooShort, k.submit(relay.SaveShortFork, tower, first, 0, fork[:3]...))
		k.refused(forkTooShort, k.submit(relay.SaveShortFork, tower, first, 0, fork[:1]...))
		tx := k.must(k.submit(relay.SaveShortFork, tower, first, 0, fork...))
		k.wantTip(top, storedAll(first, fork)...)
		is(t, "forks", k.relayState().ForkCounter, 1)
		events, _ := k.p.RelayEvents(tx.Logs)
		if len(events) != 4 || !events[3].OnFork || events[3].Fork != 0 || events[3].Commitment != top.Commitment() {
			t.Errorf("events %+v", events)
		}
		// The client finds what it needs for claims in these events.
		if h, ok := k.p.FindStored(k.relayState(), tx.Logs, func(h wire.StoredHeader) bool { return h.Header.Height == 902 }); !ok || h.Header.Hash() != fork[1].Hash() {
			t.Error("a header of the fork that won is not found")
		}
	})
}

// With the deployed relays' rule a fork needs more work; a longer chain of blocks that
// are too easy to count does not win.
func TestLengthAloneDoesNotWin(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		first := k.startRelay(900)
		headers, top := grow(first, 1, 1)
		k.extend(first, headers...)
		fork, _ := grow(first, 4, 2)
		k.refused(forkTooShort, k.submit(relay.SaveShortFork, tower, first, 0, fork...))
		k.must(k.submit(relay.SaveNewFork, tower, first, 0, fork...))
		k.wantTip(top)
	})
}

func TestLongForks(t *testing.T) {
	both(t, local, func(t *testing.T, k *kit) {
		first := k.startRelay(900)
		headers, mainTop := grow(first, 6, 1)
		k.extend(first, headers...)
		fork, top := grow(first, 7, 2)
		all := storedAll(first, fork)
		k.refused(wrongForkID, k.submit(relay.SaveNewFork, tower, first, 1, fork[:4]...))
		k.refused(discriminatorMismatch, k.submit(relay.SaveFork, tower, first, 0, fork[:4]...)) // there is none
		begin := k.submit(relay.SaveNewFork, tower, first, 0, fork[:4]...)
		are(t, "lamports", k.gained(func() { k.must(begin) }, tower), []int64{-int64(wire.Rent(wire.RelayForkSpace))})
		k.wantTip(mainTop)
		is(t, "forks", k.relayState().ForkCounter, 1)
		a, _ := k.account(k.p.RelayFork(0, tower))
		f, err := wire.DecodeRelayFork(a.Data)
		if err != nil || f.StartHeight != 900 || f.TipCommitment != all[3].Commitment() || f.TipHash != fork[3].Hash() || f.Initialized != 1 {
			t.Errorf("fork %+v, %v", f, err)
		}
		root := map[string]int{wire.V1: 0, wire.V2: 1}[k.p.Version]
		is(t, "length", int(f.Length), 4+root)
		is(t, "commitment", f.Commitment(root), all[0].Commitment())
		k.refused(discriminatorSet, begin)
		k.refused(prevBlockCommitment, k.submit(relay.SaveFork, tower, first, 0, fork[:3]...))   // not on its tip
		k.refused(discriminatorMismatch, k.submit(relay.SaveFork, user, all[3], 0, fork[4:]...)) // forks belong to their senders
		k.refused(constraintSeeds, swapped(k.submit(relay.SaveFork, user, all[3], 0, fork[4:]...), 2, k.p.RelayFork(0, tower)))
		alien := k.submit(relay.SaveFork, tower, all[3], 0, fork[4:]...)
		k.refused(constraintSeeds, swapped(alien, 2, k.p.RelayState()))

		var tx *Executed
		are(t, "lamports", k.gained(func() { tx = k.must(alien) }, tower), []int64{int64(wire.Rent(wire.RelayForkSpace))})
		k.wantTip(top, all...)
		events, _ := k.p.RelayEvents(tx.Logs)
		last := events[len(events)-1]
		if len(events) != 4 || last.Stored != nil || last.Start != 900 || last.Fork != 0 || last.Block != top.Header.Hash() || last.Commitment != top.Commitment() {
			t.Errorf("events %+v", events)
		}
		if _, ok := k.account(k.p.RelayFork(0, tower)); ok {
			t.Error("the fork's account is still there")
		}
	})
}

func TestForksAreClosed(t *testing.T) {
	both(t, local, func(t *testing.T, k *kit) {
		first := k.startRelay(900)
		headers, _ := grow(first, 6, 1)
		k.extend(first, headers...)
		fork, _ := grow(first, 2, 2)
		k.must(k.submit(relay.SaveNewFork, tower, first, 0, fork...))
		k.refused(ownedByWrongProgram, k.endFork(user, 0))
		k.refused(constraintSeeds, swapped(k.endFork(user, 0), 1, k.p.RelayFork(0, tower)))
		k.refused(discriminatorMismatch, swapped(k.endFork(tower, 0), 1, k.p.RelayState()))
		k.refused(constraintSeeds, swapped(k.endFork(tower, 1), 1, k.p.RelayFork(0, tower)))
		are(t, "lamports", k.gained(func() { k.must(k.endFork(tower, 0)) }, tower), []int64{int64(wire.Rent(wire.RelayForkSpace))})
		k.refused(ownedByWrongProgram, k.endFork(tower, 0))
		// Ids are not used twice.
		k.refused(wrongForkID, k.submit(relay.SaveNewFork, tower, first, 0, fork...))
		k.must(k.submit(relay.SaveNewFork, tower, first, 1, fork...))
	})
}

// v2 does not let a fork win whose root has left the main chain; v1 does, and has then a
// chain that is none.
func TestForkWhoseRootIsGone(t *testing.T) {
	both(t, local, func(t *testing.T, k *kit) {
		first := k.startRelay(900)
		a, aTop := grow(first, 2, 1)
		k.extend(first, a...)
		root := first.Next(a[0])
		stale, staleTop := grow(root, 4, 2)
		k.must(k.submit(relay.SaveNewFork, tower, root, 0, stale[0])) // as long as the main chain: waits
		k.wantTip(aTop)
		b, bTop := grow(first, 3, 3)
		k.must(k.submit(relay.SaveShortFork, user, first, 0, b...)) // the root is gone
		k.wantTip(bTop)
		rest := k.submit(relay.SaveFork, tower, root.Next(stale[0]), 0, stale[1:]...)
		if k.p.Version == wire.V2 {
			k.refused(forkRootGone, rest)
			k.wantTip(bTop)
			return
		}
		k.must(rest)
		k.wantTip(staleTop, first, first.Next(b[0]))
	})
}

// A fork's account takes 250 headers, of which v2 uses one for the root.
func TestForksHaveAnEnd(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		first := k.startRelay(900)
		k.now = k.now.Add(1e16)
		room := wire.RelayRing
		if k.p.Version == wire.V2 {
			room--
		}
		headers, _ := grow(first, room+1, 2)
		base, op := first, relay.SaveNewFork
		for part := range slices.Chunk(headers[:room], wire.MaxForkHeaders) {
			k.must(k.submit(op, tower, base, 0, part...))
			base, op = storedAll(base, part)[len(part)-1], relay.SaveFork
		}
		k.refused(ProgramFailedToComplete, k.submit(relay.SaveFork, tower, base, 0, headers[room]))
	})
}

// An account whose flag says that nothing is in it yet, as none can come to be.
func TestForkThatWasNotBegun(t *testing.T) {
	for _, version := range []string{wire.V1, wire.V2} {
		at := programsOf(t, version).RelayFork(0, tower)
		f := &wire.RelayFork{}
		k := newKit(t, version, setup{accounts: map[wire.Key]Account{at: {Lamports: wire.Rent(wire.RelayForkSpace), Owner: programsOf(t, version).Relay, Data: f.Bytes()}}})
		first := k.startRelay(900)
		headers, _ := grow(first, 1, 2)
		k.refused(wrongInit, k.submit(relay.SaveFork, tower, first, 0, headers...))
	}
}
