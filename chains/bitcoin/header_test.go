package bitcoin

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// The genesis block and its successor.
const (
	mainnet0 = "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c"
	mainnet1 = "010000006fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000982051fd1e4ba744bbbe680e1fee14677ba1a3c3540bf7b1cdb606e857233e0e61bc6649ffff001d01e36299"
)

func parseHeader(t testing.TB, text string, height uint32) Header {
	t.Helper()
	return trial.Must(ParseHeader(vectors.Unhex(t, text), height))(t)
}

func TestHeader(t *testing.T) {
	h0, h1 := parseHeader(t, mainnet0, 0), parseHeader(t, mainnet1, 1)
	if got := h0.Hash().String(); got != Mainnet.Params().GenesisHash {
		t.Errorf("hash %s", got)
	}
	if b := h1.Bytes(); hex.EncodeToString(b[:]) != mainnet1 {
		t.Errorf("comes back as %x", b)
	}
	if err := CheckHeaders(Mainnet, h0, []Header{h1}); err != nil {
		t.Error(err)
	}
	if h0.Work().Int64() != 0x100010001 {
		t.Errorf("work %s", h0.Work())
	}
	if _, err := ParseHeader(make([]byte, 79), 0); err == nil {
		t.Error("accepted 79 bytes")
	}
	for name, change := range map[string]func(*Header){
		"nonce":       func(h *Header) { h.Nonce++ },
		"merkle root": func(h *Header) { h.MerkleRoot[5]++ },
		"height":      func(h *Header) { h.Height = 2 },
		"parent":      func(h *Header) { h.PrevBlock[31] = 1 },
		"easy target": func(h *Header) { h.Bits = 0x207fffff },
		"no target":   func(h *Header) { h.Bits = 0 },
		"negative":    func(h *Header) { h.Bits = 0x1d80ffff },
		"huge target": func(h *Header) { h.Bits = 0xff00ffff },
	} {
		h := h1
		change(&h)
		if err := CheckHeaders(Mainnet, h0, []Header{h}); err == nil {
			t.Errorf("accepted a header with another %s", name)
		}
	}
	if err := h1.CheckWork(Network(7)); err == nil {
		t.Error("an unknown network has a limit")
	}
}

// Figures of mainnet, named by the height of the block that ends the epoch.
func TestRetarget(t *testing.T) {
	for height, c := range map[uint32]struct{ start, end, bits, want uint32 }{
		32255: {1261130161, 1262152739, 0x1d00ffff, 0x1d00d86a},
		2015:  {1231006505, 1233061996, 0x1d00ffff, 0x1d00ffff}, // would become easier than the limit
		68543: {1279008237, 1279297671, 0x1c05a3f4, 0x1c0168fd}, // four times harder at most
		46367: {1263163443, 1269211443, 0x1c387f6f, 0x1d00e1fd}, // four times easier at most
	} {
		last := Header{Height: height, Bits: c.bits, Time: c.end}
		got, err := retarget(Mainnet, last, c.start)
		if err != nil || got != c.want {
			t.Errorf("after %d: %08x, %v, want %08x", height, got, err, c.want)
		}
		next := Header{Height: height + 1, Bits: c.want}
		for _, known := range []bool{true, false} {
			if err := checkBits(Mainnet, last, next, c.start, known); err != nil {
				t.Errorf("after %d, start known %v: %v", height, known, err)
			}
		}
		next.Bits = c.want - 1
		if err := checkBits(Mainnet, last, next, c.start, true); err == nil {
			t.Errorf("after %d: accepted %08x", height, next.Bits)
		}
		for _, bits := range []uint32{c.bits - 5<<24, 0x1d010000, 0} {
			next.Bits = bits
			if err := checkBits(Mainnet, last, next, 0, false); err == nil {
				t.Errorf("after %d: accepted %08x without knowing the epoch", height, bits)
			}
		}
	}
	if err := checkBits(Mainnet, Header{Height: 1, Bits: 0x1d00ffff}, Header{Height: 2, Bits: 0x1d00fffe}, 0, true); err == nil {
		t.Error("accepted a change within an epoch")
	}
	if err := checkBits(Testnet4, Header{Height: 1, Bits: 0x1a00ffff}, Header{Height: 2, Bits: 0x1d00ffff}, 0, true); err != nil {
		t.Errorf("refused a testnet block of minimum difficulty: %v", err)
	}
}

// mine returns n headers on top of prev that meet regtest's rules.
func mine(t testing.TB, prev Header, n int, salt byte) []Header {
	t.Helper()
	headers := make([]Header, 0, n)
	for range n {
		h := Header{Height: prev.Height + 1, Version: 2, PrevBlock: prev.Hash(), Time: prev.Time + 600, Bits: 0x207fffff}
		h.MerkleRoot[0] = salt
		for h.CheckWork(Regtest) != nil {
			h.Nonce++
		}
		headers = append(headers, h)
		prev = h
	}
	return headers
}

func TestCheckHeadersOrder(t *testing.T) {
	genesis := Header{Height: 1000, Bits: 0x207fffff, Time: 1_700_000_000}
	chain := mine(t, genesis, 5, 1)
	trial.Do(t, CheckHeaders(Regtest, genesis, chain))
	other := mine(t, genesis, 5, 2)
	for name, bad := range map[string][]Header{
		"a hole":          {chain[0], chain[2]},
		"another chain":   {chain[0], other[1]},
		"a repetition":    {chain[0], chain[0]},
		"a wrong start":   chain[1:],
		"another network": nil,
	} {
		n := Regtest
		if bad == nil {
			n, bad = Mainnet, chain
		}
		if err := CheckHeaders(n, genesis, bad); err == nil {
			t.Errorf("accepted %s", name)
		}
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add(vectors.Unhex(f, mainnet0), 0)
	f.Add(vectors.Unhex(f, mainnet1), 1)
	f.Fuzz(func(t *testing.T, b []byte, network int) {
		h, err := ParseHeader(b, 100)
		if err != nil {
			return
		}
		if again := h.Bytes(); string(again[:]) != string(b) {
			t.Fatalf("%x comes back as %x", b, again)
		}
		work, workErr := h.Work(), h.CheckWork(Network(network))
		if workErr == nil && work.Sign() <= 0 {
			t.Fatalf("%x passes with work %s", b, work)
		}
		if target, err := rawtx.Target(h.Bits); err == nil && work.Cmp(big.NewInt(0)) <= 0 {
			t.Fatalf("target %s has work %s", target, work)
		}
		if err := CheckHeaders(Network(network), h, []Header{h}); err == nil {
			t.Fatal("a header follows itself")
		}
	})
}

func ExampleHeader_Hash() {
	b, _ := hex.DecodeString(mainnet0)
	h, _ := ParseHeader(b, 0)
	fmt.Println(h.Hash())
	// Output: 000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f
}
