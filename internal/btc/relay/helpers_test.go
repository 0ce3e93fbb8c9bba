package relay

import (
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// mine_relay returns n headers on top of prev that meet regtest's rules.
func mine(t testing.TB, prev bitcoin.Header, n int, salt byte) []bitcoin.Header {
	t.Helper()
	headers := make([]bitcoin.Header, 0, n)
	for range n {
		h := bitcoin.Header{Height: prev.Height + 1, Version: 2, PrevBlock: prev.Hash(), Time: prev.Time + 600, Bits: 0x207fffff}
		h.MerkleRoot[0] = salt
		for h.CheckWork(bitcoin.Regtest) != nil {
			h.Nonce++
		}
		headers = append(headers, h)
		prev = h
	}
	return headers
}
