package flowtest

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

func hexOf(b []byte) string { return hex.EncodeToString(b) }

// unhex reads hex with or without 0x.
func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return b
}

func hash(t *testing.T, s string) bitcoin.Hash {
	t.Helper()
	h, err := bitcoin.ParseHash(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
