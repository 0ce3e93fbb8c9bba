package bitcoin

import "testing"

// mine_relay returns n headers on top of prev that meet regtest's rules.
func mine_relay(t testing.TB, prev Header, n int, salt byte) []Header {
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
