package wire

import "testing"

// Usual proofs have the protocol's gas, large ones what they take: a claim that runs out
// of gas does so whenever it is sent.
func TestGasOfLargeProofs(t *testing.T) {
	for _, c := range []struct {
		size, levels int
		extra        bool
	}{{0, 13, false}, {250, 12, false}, {400, 13, false}, {4_000, 1, true}, {1_500, 13, true}} {
		got := proofGas(c.size, c.levels)
		if (got != Gas{}) != c.extra || got.L1 != 0 || got.L1Data != 0 {
			t.Errorf("%d bytes and %d levels: %+v on top", c.size, c.levels, got)
		}
	}
	if a, b := proofGas(4_000, 12), proofGas(8_000, 12); b.L2 <= a.L2 {
		t.Errorf("%d for twice the size of %d", b.L2, a.L2)
	}
	if all := gasClaimPayOut.plus(gasByBitcoin, proofGas(1<<20, 20)); all.L2 > maxTxGas {
		t.Errorf("%d L2 gas are refused", all.L2)
	}
}
