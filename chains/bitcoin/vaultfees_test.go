package bitcoin

import "testing"

// Shares come back from the sequence numbers that carry them, whatever bit 30 says.
func TestFeeSharesComeBack(t *testing.T) {
	for _, v := range []uint32{0, 1, 1023, 1024, 0x55555, 0xaaaaa, maxShare - 1, maxShare} {
		for _, shares := range []FeeShares{{Caller: v}, {Fronting: v}, {Execution: v}, {v, v, v}, {v, maxShare - v, v / 2}} {
			s0, s1, err := shares.Sequences()
			if err != nil {
				t.Fatalf("%+v: %v", shares, err)
			}
			for _, bit30 := range []uint32{0, 1 << 30} {
				if back, err := ParseFeeShares(s0|bit30, s1|bit30); err != nil || back != shares {
					t.Errorf("%+v comes back as %+v, %v", shares, back, err)
				}
			}
			if _, err := ParseFeeShares(s0&^noRelativeLock, s1); err == nil {
				t.Errorf("%+v: accepted a relative lock time", shares)
			}
		}
	}
}
