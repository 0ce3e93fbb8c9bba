package wire

import (
	"encoding/hex"
	"math/big"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsBtcRelay(t *testing.T) {
	vectors.Each(t, "chain-starknet", "btcrelay", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, BitcoinNetwork, Blockhash string
			StoredHeaderFelts, Felts      []string
			Header                        struct{ Raw, Hash string }
			Nbits                         uint32
			RequiredBlockheight           uint32
			Rpc                           []exchange
		}
		c.Input(t, &in)
		d := deploymentOf(t, in.BitcoinNetwork)
		switch in.Fn {
		case "computeNext":
			base := storedOf(t, in.StoredHeaderFelts)
			h := trial.Must(bitcoin.ParseHeader(vectors.Unhex(t, in.Header.Raw), 0))(t)
			next := trial.Must(base.Next(h))(t)
			vectors.SameJSON(t, c.Want(t), map[string]any{"stored": storedJSON(base), "next": storedJSON(next)})
			if h.Hash() != next.Header.Hash() || next.Header.Height != base.Header.Height+1 {
				t.Errorf("%+v", next)
			}
		case "chainwork":
			target := trial.Must(rawtx.Target(in.Nbits))(t)
			vectors.SameJSON(t, c.Want(t), map[string]string{"target": workText(target), "chainwork": workText(rawtx.Work(in.Nbits))})
		case "storedHeaderFromFelts":
			h, err := ParseStoredHeader(feltsOf(t, in.Felts))
			if len(in.Felts) > storedHeaderFelts {
				c.Differ(t, "stark-length")
				if err == nil {
					t.Error("a felt too many is read")
				}
				return
			}
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, c.Want(t), storedJSON(h))
			}
		// What a node is asked, and in which order, is for the chain; what its answers say is read here.
		case "getTipData":
			var tip any
			for _, x := range in.Rpc {
				switch x.Method {
				case "starknet_call":
					answer := x.felts(t)
					if commit, err := ReadCommitHash(answer); err != nil || commit.IsZero() != (c.Name == "getTipData tip not initialized") {
						t.Errorf("the tip is %s, %v", Hex64(commit), err)
					}
				case "starknet_getEvents":
					for _, l := range logsOf(t, x.Result) {
						h := recommitted(t, c, d, l.Log).Header
						hash := h.Header.Hash()
						tip = map[string]any{"blockheight": h.Header.Height, "commitHash": Digits64(l.Keys[1]), "blockhash": hash.String(), "chainWork": workText(h.Work)}
					}
				}
			}
			vectors.SameJSON(t, c.Want(t), map[string]any{"value": tip})
		case "retrieveLogAndBlockheight":
			got := map[string]any{"found": false}
			if h, err := headerFromRelay(t, c, d, in.Rpc, in.RequiredBlockheight); err == nil {
				got["found"], got["storedHeaderFelts"] = true, hexes(h.Felts())
				got["height"] = 870005 // the relay's, which headerFromRelay compared
			}
			vectors.SameJSON(t, c.Want(t), got)
		case "retrieveLatestKnownBlockLog":
			var first *StoredHeaderEvent
			for _, x := range in.Rpc {
				if x.Method == "starknet_getEvents" && first == nil {
					for _, l := range logsOf(t, x.Result) {
						first = recommitted(t, c, d, l.Log)
					}
				}
			}
			if first == nil {
				t.Fatal("no header")
			}
			vectors.SameJSON(t, c.Want(t), map[string]any{"storedHeaderFelts": hexes(first.Header.Felts()), "blockhash": first.Header.Header.Hash().String()})
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

func workText(n *big.Int) string { return hex.EncodeToString(n.FillBytes(make([]byte, 32))) }

func storedJSON(h StoredHeader) map[string]any {
	hash := h.Header.Hash()
	return map[string]any{
		"felts": hexes(h.Felts()), "commitHash": Hex64(h.CommitHash()), "blockHash": hash.String(), "blockHashPoseidon": Hex64(BlockHashPoseidon(hash)), "blockheight": h.Header.Height,
		"chainWork": workText(h.Work), "lastDiffAdjustment": h.LastAdjustment, "prevBlockTimestamps": h.PreviousTimes,
		"header": map[string]any{"version": uint32(h.Header.Version), "nbits": h.Header.Bits, "nonce": h.Header.Nonce, "timestamp": h.Header.Time,
			"merkleRootInternal": hex.EncodeToString(h.Header.MerkleRoot[:]), "prevBlockhashInternal": hex.EncodeToString(h.Header.PrevBlock[:]), "hashInternal": hex.EncodeToString(hash[:])},
	}
}

// What is built on a stored header has to follow it, and is refused where the relay
// would refuse it or could not count on.
func TestStoredHeaderNext(t *testing.T) {
	base := StoredHeader{Header: bitcoin.Header{Height: 2014, Bits: 0x207fffff, Time: 50}, Work: big.NewInt(9), LastAdjustment: 7, PreviousTimes: [10]uint32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}
	h := bitcoin.Header{PrevBlock: base.Header.Hash(), Bits: 0x207fffff, Time: 60}
	next, err := base.Next(h)
	if err != nil || next.Header.Height != 2015 || next.LastAdjustment != 7 || next.PreviousTimes != [10]uint32{2, 3, 4, 5, 6, 7, 8, 9, 10, 50} || next.Work.Int64() != 11 {
		t.Fatalf("%+v, %v", next, err)
	}
	h.PrevBlock = next.Header.Hash()
	if after, err := next.Next(h); err != nil || after.LastAdjustment != 60 || after.Work.Cmp(next.Work) <= 0 {
		t.Errorf("%+v, %v", after, err)
	}
	most := base
	most.Work = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(3)) // two more fit
	if _, err := most.Next(bitcoin.Header{PrevBlock: base.Header.Hash(), Bits: 0x207fffff}); err != nil {
		t.Errorf("work of 256 bits: %v", err)
	}
	for name, change := range map[string]func(s *StoredHeader, h *bitcoin.Header){
		"a header of another chain": func(_ *StoredHeader, h *bitcoin.Header) { h.PrevBlock[0] ^= 1 },
		"no target":                 func(_ *StoredHeader, h *bitcoin.Header) { h.Bits = 0 },
		"a negative target":         func(_ *StoredHeader, h *bitcoin.Header) { h.Bits |= 0x800000 },
		"work beyond 256 bits": func(s *StoredHeader, _ *bitcoin.Header) {
			s.Work = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
		},
		"the last height": func(s *StoredHeader, _ *bitcoin.Header) { s.Header.Height = 1<<32 - 1 },
	} {
		s, h := base, bitcoin.Header{PrevBlock: base.Header.Hash(), Bits: 0x207fffff}
		change(&s, &h)
		if got, err := s.Next(h); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	all := base.Felts()
	for i := range all {
		changed := slices.Clone(all)
		changed[i].Add(&changed[i], &felts(nil).uint(1)[0])
		got, err := ParseStoredHeader(changed)
		if i < 28 && err == nil { // the header, or its hash
			t.Errorf("felt %d can be changed", i)
		}
		if err == nil && got.CommitHash() == base.CommitHash() {
			t.Errorf("felt %d is not committed to", i)
		}
	}
	for _, cut := range []int{0, 1, 41} {
		if _, err := ParseStoredHeader(all[:cut]); err == nil {
			t.Errorf("%d felts are read", cut)
		}
	}
}

func TestSubmitHeadersLimits(t *testing.T) {
	d := deploymentOf(t, "")
	base := StoredHeader{Header: bitcoin.Header{Bits: 0x207fffff}, Work: big.NewInt(9)}
	var headers []bitcoin.Header
	for last := base.Header; len(headers) < MainHeaders+1; {
		last = bitcoin.Header{PrevBlock: last.Hash(), Bits: 0x207fffff, Height: last.Height + 1}
		headers = append(headers, last)
	}
	for _, c := range []struct {
		to Branch
		n  int
		ok bool
	}{
		{Branch{}, 0, false}, {Branch{}, MainHeaders, true}, {Branch{}, MainHeaders + 1, false}, {Branch{Short: true}, MainHeaders, true},
		{Branch{Fork: 5}, ForkHeaders, true}, {Branch{Fork: 5}, ForkHeaders + 1, false},
	} {
		call, stored, err := d.SubmitHeaders(c.to, base, headers[:c.n])
		if (err == nil) != c.ok || c.ok && len(stored) != c.n {
			t.Errorf("%+v, %d headers: %v", c.to, c.n, err)
		}
		if c.ok && (checkHeaders(call.selector(), call.Calldata) != nil || !isRelayEntry(call.selector()) || call.Role != RoleRelay || call.To != d.BtcRelay.Address) {
			t.Errorf("%+v, %d headers: the call is refused", c.to, c.n)
		}
	}
	for name, calldata := range map[string][]Felt{
		"a fork without a number":        append(felts{{}}, mustSubmit(t, d, Branch{Fork: 5}, base, headers[:1])[1:]...),
		"a header that does not follow":  mustSubmit(t, d, Branch{Fork: 5}, base, headers[:1])[:22],
		"a felt behind":                  append(mustSubmit(t, d, Branch{Fork: 5}, base, headers[:1]), Felt{}),
		"more headers than there are":    append(felts{FeltOf(5), FeltOf(2)}, mustSubmit(t, d, Branch{Fork: 5}, base, headers[:1])[2:]...),
		"no headers":                     append(felts{FeltOf(5), {}}, mustSubmit(t, d, Branch{Fork: 5}, base, headers[:1])[22:]...),
		"headers of another chain's tip": slices.Concat(mustSubmit(t, d, Branch{Fork: 5}, base, headers[:1])[:22], StoredHeader{Header: headers[3], Work: big.NewInt(1)}.Felts()),
	} {
		if checkHeaders(Selector(entrySubmitFork), calldata) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func mustSubmit(t *testing.T, d Deployment, to Branch, base StoredHeader, headers []bitcoin.Header) []Felt {
	t.Helper()
	call, _ := trial.Must2(d.SubmitHeaders(to, base, headers))(t)
	return slices.Clone(call.Calldata)
}
