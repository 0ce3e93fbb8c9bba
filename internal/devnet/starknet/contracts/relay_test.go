package contracts

import (
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestRelayMainChain(t *testing.T) {
	k := newKit(t)
	k.isTip(genesis())
	stored, i, err := k.submit(user, wire.Branch{}, genesis(), blocks(genesis().Header, 3, 0))
	k.must(err)
	k.isTip(stored[2])
	var want []wire.Event
	for _, h := range stored {
		want = append(want, wire.StoredHeaderEvent{CommitHash: h.CommitHash(), Header: h})
	}
	if diff := cmp.Diff(want, k.told(i), cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for n, h := range append([]wire.StoredHeader{genesis()}, stored...) {
		confirmations, err := wire.ReadRelayNumber(k.ask(k.d.BtcRelay.Address, wire.EntryVerifyHeader, h.Felts()...))
		if err != nil || int(confirmations) != 4-n {
			t.Errorf("header %d has %d confirmations (%v), want %d", n, confirmations, err, 4-n)
		}
		if commit := k.ask(k.d.BtcRelay.Address, wire.EntryCommitHash, heightKey(h.Header.Height)); commit[0] != h.CommitHash() {
			t.Errorf("commitment %d is %v", n, commit)
		}
	}
}

func TestRelayReads(t *testing.T) {
	k := newKit(t)
	k.submitted(user, wire.Branch{}, genesis(), blocks(genesis().Header, 1, 0))
	other := genesis()
	other.Work = big.NewInt(1001)
	_, err := k.try(user, k.d.BtcRelay.Address, wire.EntryVerifyHeader, other.Felts()...)
	reverts(t, err, "verify: block commitment")
	other.Header.Height += 2
	_, err = k.try(user, k.d.BtcRelay.Address, wire.EntryVerifyHeader, other.Felts()...)
	reverts(t, err, "verify: future block")
	_, err = k.try(user, k.d.BtcRelay.Address, wire.EntryCommitHash, wire.FeltOf(102))
	reverts(t, err, "verify: future block")
	if below := k.ask(k.d.BtcRelay.Address, wire.EntryCommitHash, wire.FeltOf(99)); !below[0].IsZero() {
		t.Errorf("below the first header there is %v", below)
	}
}

func TestRelayHeaderRules(t *testing.T) {
	k := newKit(t)
	first := genesis()
	good := after(first.Header, bitcoin.Hash{})
	change := func(f func(*bitcoin.Header)) bitcoin.Header {
		h := good
		f(&h)
		return mined(h)
	}
	for _, c := range []struct {
		name   string
		h      bitcoin.Header
		reason string
	}{
		{"another chain", change(func(h *bitcoin.Header) { h.PrevBlock = bitcoin.Hash{1} }), "update_chain: prev blockhash"},
		{"no work", func() bitcoin.Header {
			h := good
			h.Bits = 0x1d00ffff
			return h
		}(), "update_chain: invalid PoW"},
		{"negative target", func() bitcoin.Header {
			h := good
			h.Bits = 0x20ffffff
			return h
		}(), "nbits: negative"},
		{"huge target", func() bitcoin.Header {
			h := good
			h.Bits = 0x23000001
			return h
		}(), "n_bytes too large"},
		{"too large a target", func() bitcoin.Header {
			h := good
			h.Bits = 0x217fffff
			return h
		}(), "u256_mul Overflow"},
		{"not above the median", change(func(h *bitcoin.Header) { h.Time = first.PreviousTimes[5] }), "update_chain: timestamp median"},
		{"in the future", change(func(h *bitcoin.Header) { h.Time = uint32(k.clock()) + 4*60*60 }), "update_chain: timestamp future"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := felts(nil).uint(1)
			b := c.h.Bytes()
			_, err := k.try(user, k.d.BtcRelay.Address, "submit_main_blockheaders", w.words(b[:]).add(first.Felts()...)...)
			reverts(t, err, c.reason)
		})
	}
	k.isTip(first)
	for _, h := range []bitcoin.Header{
		change(func(h *bitcoin.Header) { h.Time = first.PreviousTimes[5] + 1 }), // the median is of eleven
		change(func(h *bitcoin.Header) { h.Time = uint32(k.clock()) + 4*60*60 - 1 }),
		change(func(h *bitcoin.Header) { h.Bits = 0x207ffffe }), // on test networks each header says its target
	} {
		k := newKit(t)
		k.submitted(user, wire.Branch{}, first, []bitcoin.Header{h})
	}
}

func TestRelaySubmissions(t *testing.T) {
	k := newKit(t)
	first := genesis()
	main := k.submitted(user, wire.Branch{}, first, blocks(first.Header, 3, 0))
	empty := append(felts(nil).uint(0), first.Felts()...)
	for _, c := range []struct {
		name, entry string
		calldata    []Felt
		reason      string
	}{
		{"no headers", "submit_main_blockheaders", empty, "submit_main: no headers"},
		{"no headers of a short fork", "submit_short_fork_blockheaders", empty, "short_fork: no headers"},
		{"no headers of a fork", "submit_fork_blockheaders", append(felts{wire.FeltOf(1)}, empty...), "fork: no headers"},
		{"more headers than there are", "submit_main_blockheaders", append(felts(nil).uint(9), first.Felts()...), "Failed to deserialize param #1"},
		{"half a stored header", "submit_main_blockheaders", append(felts(nil).uint(0), first.Felts()[:41]...), "Failed to deserialize param #2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := k.try(user, k.d.BtcRelay.Address, c.entry, c.calldata...)
			reverts(t, err, c.reason)
		})
	}
	fake := main[2]
	fake.Work = big.NewInt(5)
	for _, c := range []struct {
		name   string
		to     wire.Branch
		on     wire.StoredHeader
		reason string
	}{
		{"not on the tip", wire.Branch{}, main[1], "submit_main: block height"},
		{"on a wrong tip", wire.Branch{}, fake, "submit_main: block commitment"},
		{"short fork on nothing", wire.Branch{Short: true}, fake, "verify: block commitment"},
		{"short fork with little work", wire.Branch{Short: true}, first, "short_fork: not enough work"},
		{"fork on nothing", wire.Branch{Fork: 3}, fake, "fork: block commitment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := k.submit(user, c.to, c.on, blocks(c.on.Header, 2, 1))
			reverts(t, err, c.reason)
		})
	}
	w := felts{Felt{}}.uint(1)
	b := after(first.Header, bitcoin.Hash{}).Bytes()
	_, err := k.try(user, k.d.BtcRelay.Address, "submit_fork_blockheaders", w.words(b[:]).add(first.Felts()...)...)
	reverts(t, err, "fork: fork_id 0 reserved")
	k.isTip(main[2])
}

func TestRelayShortFork(t *testing.T) {
	k := newKit(t)
	first := genesis()
	main := k.submitted(user, wire.Branch{}, first, blocks(first.Header, 3, 0))
	fork, i, err := k.submit(lp, wire.Branch{Short: true}, main[0], blocks(main[0].Header, 3, 1))
	k.must(err)
	k.isTip(fork[2])
	events := k.told(i)
	want := wire.ChainReorgEvent{Submitter: lp, TipHashPoseidon: wire.BlockHashPoseidon(fork[2].Header.Hash()), TipCommitHash: fork[2].CommitHash(), FirstChangedBlock: main[1].Header.Height}
	if diff := cmp.Diff(wire.Event(want), events[len(events)-1]); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	_, err = k.try(user, k.d.BtcRelay.Address, wire.EntryVerifyHeader, main[2].Felts()...)
	reverts(t, err, "verify: block commitment")
}

func TestRelayLongFork(t *testing.T) {
	k := newKit(t)
	first := genesis()
	main := k.submitted(user, wire.Branch{}, first, blocks(first.Header, 4, 0))
	branch := wire.Branch{Fork: 77}
	side := blocks(main[0].Header, 5, 1)
	part := k.submitted(lp, branch, main[0], side[:1])
	part = append(part, k.submitted(lp, branch, part[0], side[1:3])...)
	k.isTip(main[3])
	_, _, err := k.submit(user, branch, part[2], side[3:]) // another's fork of that number
	reverts(t, err, "fork: block commitment")
	_, _, err = k.submit(lp, branch, part[1], side[2:])
	reverts(t, err, "fork: fork block commitment")
	rest, i, err := k.submit(lp, branch, part[2], side[3:])
	k.must(err)
	k.isTip(rest[1])
	events := k.told(i)
	want := wire.ChainReorgEvent{Submitter: lp, Fork: wire.FeltOf(77), TipHashPoseidon: wire.BlockHashPoseidon(rest[1].Header.Hash()), TipCommitHash: rest[1].CommitHash(), FirstChangedBlock: main[1].Header.Height}
	if diff := cmp.Diff(wire.Event(want), events[len(events)-1]); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	if e, ok := events[0].(wire.StoredHeaderEvent); !ok || e.Fork != wire.FeltOf(77) {
		t.Errorf("the first event is %+v", events[0])
	}
	for _, h := range append(part, rest...) {
		if commit := k.ask(k.d.BtcRelay.Address, wire.EntryCommitHash, heightKey(h.Header.Height)); commit[0] != h.CommitHash() {
			t.Errorf("height %d is not the fork's", h.Header.Height)
		}
	}
}

// A fork stands on a block that is not in the main chain any more: it cannot win.
func TestRelayForkWithoutRoot(t *testing.T) {
	k := newKit(t)
	first := genesis()
	main := k.submitted(user, wire.Branch{}, first, blocks(first.Header, 3, 0))
	side := blocks(main[2].Header, 9, 1)
	branch := wire.Branch{Fork: 5}
	// More work than the main chain has at once: a fork on the tip is the main chain.
	k.submitted(lp, branch, main[2], side[:1])
	low := k.submitted(lp, wire.Branch{Fork: 6}, main[0], blocks(main[0].Header, 2, 2))
	k.submitted(user, wire.Branch{Short: true}, first, blocks(first.Header, 6, 3))
	_, _, err := k.submit(lp, wire.Branch{Fork: 6}, low[1], blocks(low[1].Header, 6, 2))
	reverts(t, err, "fork: reorg block commitment")
}

// Real headers of mainnet, at the end of an epoch and with its rules.
func TestVectorsRelayMainnet(t *testing.T) {
	vectors.Load(t, "chain-starknet", "btcrelay").Of(t, "computeNext").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			StoredHeaderFelts []string
			Header            struct {
				Raw       string
				Timestamp int64
			}
		}
		c.Input(t, &in)
		var want struct{ Next struct{ Felts []string } }
		c.Expected(t, &want)
		all := func(texts []string) (w []Felt) {
			for _, s := range texts {
				w = append(w, feltOf(t, s))
			}
			return w
		}
		first := trial.Must(wire.ParseStoredHeader(all(in.StoredHeaderFelts)))(t)
		h := trial.Must(bitcoin.ParseHeader(vectors.Unhex(t, in.Header.Raw), 0))(t)
		next, err := tryNext(first, h, uint64(in.Header.Timestamp))
		if c.Name != "real headers 131039 to 131040 (new epoch)" { // the others have no work
			reason := "update_chain: invalid PoW"
			if (first.Header.Height+1)%epochBlocks == 0 {
				reason = "update_chain: new nbits"
			} else if h.Bits != first.Header.Bits {
				reason = "update_chain: nbits"
			}
			reverts(t, err, reason)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all(want.Next.Felts), next.Felts()); diff != "" {
			t.Errorf("the next header (-want +got):\n%s", diff)
		}
	})
}

// tryNext is Rules.next of mainnet with its panic as an error.
func tryNext(on wire.StoredHeader, h bitcoin.Header, now uint64) (next wire.StoredHeader, err error) {
	_, err = entry(func(*call) { next = Rules{Retarget: true}.next(on, h, now) })(nil, nil)
	return next, err
}

func TestRetarget(t *testing.T) {
	last := genesis()
	last.Header.Height, last.Header.Bits = 2*epochBlocks-1, 0x1b0404cb
	for _, c := range []struct {
		name string
		took uint32
		want uint32
	}{
		{"two weeks", epochSeconds, 0x1b0404cb},
		{"half the time", epochSeconds / 2, 0x1b020265},
		{"no time", 0, 0x1b010132},
		{"an age", 10 * epochSeconds, 0x1b10132c},
	} {
		t.Run(c.name, func(t *testing.T) {
			last.LastAdjustment = last.Header.Time - c.took
			if got := bitsAfter(last); got != c.want {
				t.Errorf("the target is %08x, want %08x", got, c.want)
			}
		})
	}
	last.Header.Bits, last.LastAdjustment = 0x1d00ffff, last.Header.Time-2*epochSeconds
	if got := bitsAfter(last); got != 0x1d00ffff {
		t.Errorf("the easiest target becomes %08x", got)
	}
	last.LastAdjustment = last.Header.Time + 1
	_, err := tryNext(last, bitcoin.Header{PrevBlock: last.Header.Hash(), Time: last.Header.Time + 600, Bits: last.Header.Bits}, uint64(last.Header.Time))
	reverts(t, err, "u32_sub Overflow")
}
