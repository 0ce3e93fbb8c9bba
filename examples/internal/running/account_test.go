package running

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sol "github.com/gagliardetto/solana-go"
)

// Keys are read in the forms in which chains write them, and no error shows one.
func TestOpen(t *testing.T) {
	solKey := sol.PrivateKey(ed25519.NewKeyFromSeed(make([]byte, 32)))
	list := make([]int, len(solKey))
	for i, b := range solKey {
		list[i] = int(b)
	}
	asList, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	evmKey := "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
	of := solKey.PublicKey().String()
	deployed := "0x0000000000000000000000000000000000000000000000000000000000000123"
	for name, c := range map[string]struct{ chain, key, at, want, err string }{
		"EVM":                       {"CITREA", evmKey + "\n", "", "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23", ""},
		"EVM with 0x":               {"BOTANIX", "0x" + evmKey, "", "0x2c7536E3605D9C16a7a3D7b1898e529396a65c23", ""},
		"EVM, too short":            {"CITREA", evmKey[2:], "", "", "64 hexadecimal digits"},
		"Solana, base58":            {"SOLANA", solKey.String(), "", of, ""},
		"Solana, hex":               {"SOLANA", hex.EncodeToString(solKey), "", of, ""},
		"Solana, list":              {"SOLANA", string(asList), "", of, ""},
		"Solana, too short":         {"SOLANA", hex.EncodeToString(solKey[:32]), "", "", "64 bytes"},
		"Solana, wrong public half": {"SOLANA", hex.EncodeToString(append(solKey[:32:32], make([]byte, 32)...)), "", "", "64 bytes"},
		"Starknet":                  {"STARKNET", "0x1234", "", NewStarknet(big.NewInt(0x1234)).Address(), ""},
		"Starknet, deployed":        {"STARKNET", "1234", "0x123", deployed, ""},
		"Starknet, zero":            {"STARKNET", "0x0", "", "", "hexadecimal digits"},
		"Starknet, account":         {"STARKNET", "0x1234", "nobody", "", "account"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(c.chain, c.key, c.at)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), c.key) {
					t.Errorf("got %v, want an error about %q without the key", err, c.err)
				}
				return
			}
			if err != nil || s.Address() != c.want {
				t.Errorf("got %v, %v, want %s", s, err, c.want)
			}
		})
	}
}

// A key file that others may read, or that holds nothing, is refused.
func TestReadKey(t *testing.T) {
	path := func(text string, mode os.FileMode) string {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	if key, err := ReadKey(path("12\n", 0o600)); key != "12\n" || err != nil {
		t.Errorf("got %q, %v", key, err)
	}
	for name, c := range map[string]struct{ file, want string }{
		"open to others": {path("12\n", 0o640), "chmod 600"},
		"empty":          {path(" \n", 0o600), "is empty"},
		"missing":        {filepath.Join(t.TempDir(), "none"), "no such file"},
	} {
		if _, err := ReadKey(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}
