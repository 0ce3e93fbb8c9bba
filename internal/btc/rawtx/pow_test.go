package rawtx

import (
	"encoding/hex"
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsDifficulty(t *testing.T) {
	vectors.Each(t, "bitcoin", "difficulty", func(t *testing.T, c *vectors.Case) {
		var in struct{ NBits uint32 }
		c.Input(t, &in)
		target, err := Target(in.NBits)
		if number := Expand(in.NBits&0x7fffff, uint(in.NBits>>24)); in.NBits&0x800000 != 0 || number.Sign() == 0 || number.BitLen() > 256 {
			c.Differ(t, "bitcoin-target-valid")
			if err == nil || Work(in.NBits).Sign() != 0 {
				t.Error("accepted a target that no block may have")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Target(Compact(target)); err != nil || back.Cmp(target) != 0 {
			t.Errorf("compact form %08x is %v, %v", Compact(target), back, err)
		}
		vectors.SameJSON(t, c.Want(t), map[string]string{
			"target": hex32(target), "chainwork": hex32(Work(in.NBits)), "difficulty": hex32(Difficulty(in.NBits)),
		})
	})
}

func hex32(v *big.Int) string { return hex.EncodeToString(v.FillBytes(make([]byte, 32))) }

func TestTargetRefuses(t *testing.T) {
	for _, bits := range []uint32{0, 0x1d000000, 0x1d80ffff, 0x2300ffff, 0xff7fffff, 0x2200ffff, 0x01007fff} {
		if target, err := Target(bits); err == nil {
			t.Errorf("%08x is target %x", bits, target)
		}
		if Work(bits).Sign() != 0 || Difficulty(bits).Sign() != 0 {
			t.Errorf("%08x is work", bits)
		}
	}
	for bits, compact := range map[uint32]uint32{0x2100ffff: 0x2100ffff, 0x220000ff: 0x2100ff00, 0x03000001: 0x01010000, 0x1d0000ff: 0x1c00ff00, 0x207fffff: 0x207fffff} {
		target, err := Target(bits)
		if err != nil || Compact(target) != compact {
			t.Errorf("%08x: target %x, compact %08x, %v", bits, target, Compact(target), err)
		}
	}
}
