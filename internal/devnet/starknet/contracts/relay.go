package contracts

import (
	"cmp"
	"crypto/sha256"
	"math"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Rules are what a relay's Bitcoin network demands of headers. The zero value is that of
// the relays for Bitcoin's test networks: each header says its own target.
type Rules struct {
	Retarget  bool   // targets follow from the times of headers, as on mainnet
	HeaderGas uint64 // l2 gas to check a header, beside its hash; 0: about what it takes on a public network
}

// relay is the light client of Bitcoin (§14). Its constructor takes the stored header
// that it believes.
func relay(rules Rules) Class {
	return Class{
		Name: "Bitcoin relay", Hash: ClassHash("BtcRelay"), ABI: relayABI,
		Constructor: entry(func(x *call) {
			first := arg(x, readStored)
			x.done()
			h := first.stored()
			x.keep(mainChain(h.Header.Height), h, nil)
			x.become(h)
		}),
		Entries: entries(map[string]func(*call){
			"submit_main_blockheaders":       rules.submitMain,
			"submit_short_fork_blockheaders": rules.submitShortFork,
			"submit_fork_blockheaders":       rules.submitFork,
			"get_chainwork": func(x *call) {
				x.done()
				x.out = x.out.u256(x.mainWork())
			},
			"get_blockheight": func(x *call) {
				x.done()
				x.out = x.out.uint(uint64(x.mainHeight()))
			},
			"get_commit_hash": func(x *call) {
				height := arg(x, readU32)
				x.done()
				x.out = x.out.add(x.commitAt(height))
			},
			"get_tip_commit_hash": func(x *call) {
				x.done()
				x.out = x.out.add(x.Get(mainChain(x.mainHeight())))
			},
			"verify_blockheader": func(x *call) {
				h := arg(x, readStored)
				x.done()
				x.out = x.out.uint(uint64(x.known(h)))
			},
		}),
	}
}

var (
	mainWork   = StorageKey("main_chainwork")
	mainHeight = StorageKey("main_blockheight")
)

func heightKey(height uint32) Felt { return wire.FeltOf(uint64(height)) }

func mainChain(height uint32) Felt { return StorageKey("main_chain", heightKey(height)) }

func (x *call) mainHeight() uint32 { return uint32(x.getUint(mainHeight)) }

func (x *call) mainWork() *big.Int { return wire.Number(x.Get(mainWork)) }

// commitAt is the commitment of the main chain at a height.
func (x *call) commitAt(height uint32) Felt {
	assert(height <= x.mainHeight(), "verify: future block")
	return x.Get(mainChain(height))
}

// known demands that a header is in the main chain, and returns its confirmations.
func (x *call) known(h storedHeader) uint32 {
	assert(x.commitAt(h.height) == h.commitment(), "verify: block commitment")
	return x.mainHeight() - h.height + 1
}

// keep stores a header's commitment and tells of it: as the main chain's, or a fork's.
func (x *call) keep(at Felt, h wire.StoredHeader, fork *Felt) {
	all := felts(h.Felts())
	commitment := all.poseidon()
	x.Set(at, commitment)
	keys := felts{commitment, wire.BlockHashPoseidon(h.Header.Hash())}
	if fork == nil {
		x.event("StoreHeader", keys, all)
	} else {
		x.event("StoreForkHeader", keys.add(*fork), all)
	}
}

// become makes a header the tip of the main chain.
func (x *call) become(tip wire.StoredHeader) {
	work, err := wire.FeltOfBig(tip.Work)
	assert(err == nil, "Option::unwrap failed.")
	x.Set(mainWork, work)
	x.setUint(mainHeight, uint64(tip.Header.Height))
}

// submission reads headers and the stored header that they follow.
func submission(x *call) ([]bitcoin.Header, storedHeader) {
	headers, on := arg(x, func(r *reader) []bitcoin.Header { return readList(r, readHeader) }), arg(x, readStored)
	x.done()
	return headers, on
}

// walk checks headers one after the other and keeps each.
func (x *call) walk(rules Rules, on storedHeader, headers []bitcoin.Header, fork *Felt, at func(height uint32) Felt) wire.StoredHeader {
	now := x.Block().Time
	assert(now <= math.MaxUint32, "Option::unwrap failed.")
	tip := on.stored()
	for _, h := range headers {
		x.hashing(rawtx.HeaderSize, 1)
		x.hashing(sha256.Size, 1)
		x.Charge(cmp.Or(rules.HeaderGas, headerGas))
		tip = rules.next(tip, h, now)
		x.keep(at(tip.Header.Height), tip, fork)
	}
	return tip
}

// submitMain puts headers on the tip of the main chain.
func (r Rules) submitMain(x *call) {
	headers, on := submission(x)
	assert(len(headers) > 0, "submit_main: no headers")
	height := x.mainHeight()
	assert(height == on.height, "submit_main: block height")
	assert(x.Get(mainChain(height)) == on.commitment(), "submit_main: block commitment")
	x.become(x.walk(r, on, headers, nil, mainChain))
}

// submitShortFork puts headers on any of the main chain; they must win at once.
func (r Rules) submitShortFork(x *call) {
	headers, on := submission(x)
	assert(len(headers) > 0, "short_fork: no headers")
	x.known(on)
	tip := x.walk(r, on, headers, nil, mainChain)
	assert(x.mainWork().Cmp(tip.Work) < 0, "short_fork: not enough work")
	x.reorganised(Felt{}, tip, on.height+1)
	x.become(tip)
}

func (x *call) reorganised(fork Felt, tip wire.StoredHeader, start uint32) {
	x.event("ChainReorg", felts{x.Caller(), fork, wire.BlockHashPoseidon(tip.Header.Hash()), tip.CommitHash()}, felts(nil).uint(uint64(start)))
}

// submitFork puts headers on a fork of the caller's, which takes the place of the main
// chain once it has more work.
func (r Rules) submitFork(x *call) {
	fork := arg(x, readFelt)
	headers, on := submission(x)
	assert(len(headers) > 0, "fork: no headers")
	assert(!fork.IsZero(), "fork: fork_id 0 reserved")
	chain := func(height uint32) Felt { return StorageKey("forks", x.Caller(), fork, heightKey(height)) }
	root := StorageKey("forks_start", x.Caller(), fork)
	top := StorageKey("forks_tip", x.Caller(), fork)
	start := uint32(x.getUint(root))
	if start == 0 {
		assert(x.commitAt(on.height) == on.commitment(), "fork: block commitment")
		start = on.height + 1
		x.setUint(root, uint64(start))
		x.Set(chain(on.height), on.commitment())
	} else {
		assert(x.Get(chain(uint32(x.getUint(top)))) == on.commitment(), "fork: fork block commitment")
	}
	tip := x.walk(r, on, headers, &fork, chain)
	x.setUint(top, uint64(tip.Header.Height))
	if x.mainWork().Cmp(tip.Work) >= 0 {
		return
	}
	assert(x.commitAt(start-1) == x.Get(chain(start-1)), "fork: reorg block commitment")
	for height := start; height <= tip.Header.Height; height++ {
		x.Set(mainChain(height), x.Get(chain(height)))
	}
	x.reorganised(fork, tip, start)
	x.become(tip)
}

// buried demands that a header is in the main chain of a relay, deep enough.
func (x *call) buried(relay Felt, h storedHeader, confirmations uint32, reason string) {
	has := answer(x.ask(relay, wire.EntryVerifyHeader, h.felts...), readU32)
	assert(has >= confirmations, reason)
}
