package evm

import (
	"encoding/binary"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"pgregory.net/rapid"

	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// outputOf is what the commitment of a nonced output is about.
func outputOf(script []byte, nonce uint64) []byte {
	packed := binary.BigEndian.AppendUint64(nil, nonce)
	packed = binary.BigEndian.AppendUint64(packed, sats)
	return crypto.Keccak256(packed, crypto.Keccak256(script))
}

// solve returns a header on a stored one with work as its bits say, or without.
func solve(t testing.TB, on wire.StoredHeader, at, bits uint32, worked bool) wire.CompactHeader {
	t.Helper()
	target := trial.Must(rawtx.Target(bits))(t)
	h := btc.Header{Version: 4, MerkleRoot: btc.Hash{7}, Time: at, Bits: bits}
	for ; ; h.Nonce++ {
		header := trial.Must(wire.Compact(h).On(on.Header().Hash(), on.Height()+1))(t)
		hash := header.Hash()
		for i, j := 0, len(hash)-1; i < j; i, j = i+1, j-1 {
			hash[i], hash[j] = hash[j], hash[i]
		}
		if (new(big.Int).SetBytes(hash[:]).Cmp(target) < 0) == worked {
			return wire.Compact(h)
		}
	}
}

const regtestBits = 0x207fffff

func TestRelayFollowsBitcoin(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	trial.Must(k.Bitcoin().Mine(130))(t) // two transactions
	ok(t, k.SyncRelay(k.ctx))
	tip, _ := k.Bitcoin().Tip()
	if got := trial.Must(k.RelayHeight(k.ctx))(t); got != tip {
		t.Fatalf("relay at %d of %d", got, tip)
	}
	old := trial.Must(k.StoredHeader(tip))(t)
	ok(t, k.Bitcoin().Reorg(3))
	ok(t, k.SyncRelay(k.ctx))
	if got := trial.Must(k.RelayHeight(k.ctx))(t); got != tip+1 {
		t.Errorf("relay at %d after a reorganisation of %d", got, tip)
	}
	verify := k.one(CallOf("BtcRelay", k.d.BtcRelay.Address, "verifyBlockheader", storedHeader(old).tuple()))
	k.refused("verify: block commitment", k.User, verify)
	for back := range uint32(5) {
		s := trial.Must(k.StoredHeader(tip + 1 - back))(t)
		data := trial.Must(k.readRelay(k.ctx, "verifyBlockheader", storedHeader(s).tuple()))(t)
		if got := new(big.Int).SetBytes(data); got.Uint64() != uint64(back+1) {
			t.Errorf("%d confirmations, want %d", got, back+1)
		}
	}
	work := trial.Must(k.readRelay(k.ctx, "getChainwork"))(t)
	if top := trial.Must(k.StoredHeader(tip + 1))(t); new(big.Int).SetBytes(work).Cmp(top.ChainWork()) != 0 {
		t.Error("chain work")
	}
	if got := trial.Must(k.relayCommit(k.ctx, tip+2))(t); got != (common.Hash{}) {
		t.Error("a header above the tip")
	}
}

func TestRelayIsGuarded(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	base := trial.Must(k.StoredHeader(k.headers.Height))(t)
	now := uint32(k.Time().Unix())
	submit := func(to wire.Branch, on wire.StoredHeader, headers ...wire.CompactHeader) wire.Call {
		call, _, err := k.d.SubmitHeaders(to, on, headers)
		return k.one(call, err)
	}
	median := binary.BigEndian.Uint32(base[120+4*5:]) // of the ten blocks before and this one, each later than the one before
	good := solve(t, base, base.Header().Time+1, regtestBits, true)
	k.refused("header: work", k.LP, submit(wire.Branch{}, base, solve(t, base, now, regtestBits, false)))
	k.refused("header: time not above median", k.LP, submit(wire.Branch{}, base, solve(t, base, median, regtestBits, true)))
	k.refused("header: time in future", k.LP, submit(wire.Branch{}, base, solve(t, base, now+4*3600+10, regtestBits, true)))
	k.refused("header: nBits", k.LP, k.submitRaw(base, regtestBits+0x01000000))
	forged := base
	forged[90]++ // more work than there was
	k.refused("submitMain: block commitment", k.LP, submit(wire.Branch{}, forged, good))
	k.refused("shortFork: block commitment", k.LP, submit(wire.Branch{Short: true}, forged, good))
	k.refused("fork: block commitment", k.LP, submit(wire.Branch{Fork: 5}, forged, good))
	for _, size := range []int{0, 159, 160, 160 + 47, 160 + 49} {
		k.refused("submit: data length", k.LP, k.one(CallOf("BtcRelay", k.d.BtcRelay.Address, "submitMainBlockheaders", make([]byte, size))))
	}
	k.refused("fork: forkId 0", k.LP, k.one(CallOf("BtcRelay", k.d.BtcRelay.Address, "submitForkBlockheaders", new(big.Int), make([]byte, 208))))

	main := submit(wire.Branch{}, base, good)
	r := trial.Must(k.LP.Send(k.ctx, main))(t)
	t.Logf("one header: %d gas of %d", r.GasUsed, main.Gas)
	k.refused("submitMain: block commitment", k.LP, main)
	next := trial.Must(base.Next(good))(t)
	two := submit(wire.Branch{}, next, solve(t, next, now, regtestBits, true))
	other := solve(t, base, now, regtestBits, true)
	k.refused("shortFork: not enough work", k.LP, submit(wire.Branch{Short: true}, base, other))
	trial.Must(k.LP.Send(k.ctx, two))(t)
}

// submitRaw submits a header whose bits the client would not.
func (k kit) submitRaw(base wire.StoredHeader, bits uint32) wire.Call {
	k.Helper()
	c := solve(k.T, base, uint32(k.Time().Unix()), regtestBits, true)
	binary.LittleEndian.PutUint32(c[40:], bits)
	return k.one(CallOf("BtcRelay", k.d.BtcRelay.Address, "submitMainBlockheaders", append(base[:], c[:]...)))
}

func TestLongForks(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	base := trial.Must(k.StoredHeader(k.headers.Height))(t)
	now := uint32(k.Time().Unix())
	grow := func(on wire.StoredHeader, n int, at uint32) (headers []wire.CompactHeader, top wire.StoredHeader) {
		top = on
		for range n {
			c := solve(t, top, at, regtestBits, true)
			headers, top = append(headers, c), trial.Must(top.Next(c))(t)
		}
		return headers, top
	}
	submit := func(by *Account, to wire.Branch, on wire.StoredHeader, headers []wire.CompactHeader) *types.Receipt {
		call, _, err := k.d.SubmitHeaders(to, on, headers)
		r := trial.Must(by.Send(k.ctx, k.one(call, err)))(t)
		t.Logf("%+v of %d headers: %d gas of %d", to, len(headers), r.GasUsed, call.Gas)
		return r
	}
	headers, mainTop := grow(base, 3, now)
	submit(k.LP, wire.Branch{}, base, headers)

	first, mid := grow(base, 2, now+60)
	rest, forkTop := grow(mid, 2, now+60)
	submit(k.User, wire.Branch{Fork: 9}, base, first)
	if got := trial.Must(k.RelayHeight(k.ctx))(t); got != mainTop.Height() {
		t.Errorf("a fork with less work is the main chain: %d", got)
	}
	alien, _, err := k.d.SubmitHeaders(wire.Branch{Fork: 9}, mid, rest)
	k.refused("fork: block commitment", k.LP, k.one(alien, err)) // forks belong to their senders
	skipping, _, err := k.d.SubmitHeaders(wire.Branch{Fork: 9}, base, first)
	k.refused("fork: fork block commitment", k.User, k.one(skipping, err))
	r := submit(k.User, wire.Branch{Fork: 9}, mid, rest)
	a := trial.Must(loadArtifact("BtcRelay"))(t)
	last := r.Logs[len(r.Logs)-1]
	if last.Topics[0] != a.ABI.Events["ChainReorg"].ID || last.Topics[1] != forkTop.CommitHash() || last.Topics[3].Big().Uint64() != 9 {
		t.Errorf("log %+v", last)
	}
	for _, s := range []wire.StoredHeader{forkTop, mid} {
		if got := trial.Must(k.relayCommit(k.ctx, s.Height()))(t); got != s.CommitHash() {
			t.Errorf("height %d is not the fork's", s.Height())
		}
	}
	// A fork whose base is not in the main chain any more cannot win.
	more, _ := grow(mainTop, 4, now+90)
	stale, _, err := k.d.SubmitHeaders(wire.Branch{Fork: 3}, mainTop, more)
	k.refused("fork: block commitment", k.User, k.one(stale, err))
}

func TestForkWhoseBaseIsGone(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	base := trial.Must(k.StoredHeader(k.headers.Height))(t)
	now := uint32(k.Time().Unix())
	next := func(on wire.StoredHeader, at uint32) (wire.CompactHeader, wire.StoredHeader) {
		c := solve(t, on, at, regtestBits, true)
		return c, trial.Must(on.Next(c))(t)
	}
	send := func(to wire.Branch, on wire.StoredHeader, headers ...wire.CompactHeader) error {
		call, _, err := k.d.SubmitHeaders(to, on, headers)
		_, err = k.LP.Send(k.ctx, k.one(call, err))
		return err
	}
	a1, a1s := next(base, now)
	a2, _ := next(a1s, now)
	a2x, a2xs := next(a1s, now+9)
	ok(t, send(wire.Branch{}, base, a1, a2))
	ok(t, send(wire.Branch{Fork: 4}, a1s, a2x)) // as heavy as the tip: waits
	b1, b1s := next(base, now+20)
	b2, b2s := next(b1s, now+20)
	b3, _ := next(b2s, now+20)
	ok(t, send(wire.Branch{Short: true}, base, b1, b2, b3)) // a1 is gone
	a3, a3s := next(a2xs, now+9)
	a4, _ := next(a3s, now+9)
	if err := send(wire.Branch{Fork: 4}, a2xs, a3, a4); err == nil || err.Error() != "reverted: fork: base left the main chain" {
		t.Errorf("got %v", err)
	}
}

// The relay computes stored headers as the client predicts them.
func TestStoredHeadersAgree(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	easiest := trial.Must(rawtx.Target(regtestBits))(t)
	rapid.Check(t, func(r *rapid.T) {
		var first wire.StoredHeader
		copy(first[:], rapid.SliceOfN(rapid.Byte(), 80, 80).Draw(r, "header"))
		early := uint32(k.Time().Add(-24 * time.Hour).Unix())
		at := func() uint32 { return early + rapid.Uint32Range(0, 3600).Draw(r, "time") }
		binary.LittleEndian.PutUint32(first[68:], at())
		binary.BigEndian.PutUint64(first[104:], rapid.Uint64().Draw(r, "work"))
		height := rapid.SampledFrom([]uint32{10, 2013, 2014, 2015, 2016, 840_000}).Draw(r, "height")
		binary.BigEndian.PutUint32(first[112:], height)
		binary.BigEndian.PutUint32(first[116:], at())
		for i := range 10 {
			binary.BigEndian.PutUint32(first[120+4*i:], at())
		}
		d := k.d
		d.BtcRelay.Address = trial.Must(k.Deploy(k.ctx, "BtcRelay", storedHeader(first).tuple(), easiest))(t)
		base := first
		var headers []wire.CompactHeader
		for range rapid.IntRange(1, 4).Draw(r, "headers") {
			bits := rapid.SampledFrom([]uint32{regtestBits, 0x203fffff, 0x2012abcd, 0x1f7fffff}).Draw(r, "bits")
			c := solve(t, base, early+3601+uint32(len(headers)), bits, true)
			headers, base = append(headers, c), trial.Must(base.Next(c))(t)
		}
		call, stored, err := d.SubmitHeaders(wire.Branch{}, first, headers)
		ok(t, err)
		receipt := trial.Must(k.LP.Send(k.ctx, call))(t)
		for i, l := range receipt.Logs {
			if l.Topics[1] != stored[i].CommitHash() || btc.Hash(l.Topics[2]) != stored[i].Header().Hash() {
				r.Errorf("header %d differs", i)
			}
		}
	})
}

func crypto256(parts ...[]byte) common.Hash { return crypto.Keccak256Hash(parts...) }

// The LP, a watchtower and a test may all want the relay to be up to date.
func TestSyncRelayConcurrently(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	for range 3 {
		trial.Must(k.Bitcoin().Mine(2))(t)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := k.SyncRelay(k.ctx); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	tip, _ := k.Bitcoin().Tip()
	if height := trial.Must(k.RelayHeight(k.ctx))(t); height != tip {
		t.Errorf("the relay is at %d of %d", height, tip)
	}
}
