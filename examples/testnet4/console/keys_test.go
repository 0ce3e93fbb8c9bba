package console

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// The key is made once, for its owner's eyes alone, and is the same ever after.
func TestKeyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wallet", "key")
	made, err := OpenKeys("", file, bitcoin.Testnet4)
	if err != nil {
		t.Fatal(err)
	}
	again, err := OpenKeys("", file, bitcoin.Testnet4)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	given, err := OpenKeys(string(text), "not read", bitcoin.Testnet4)
	if err != nil {
		t.Fatal(err)
	}
	for _, chain := range []string{"BITCOIN", "CITREA", "SOLANA", "STARKNET"} {
		if a := made.Address(chain); a == "" || a != again.Address(chain) || a != given.Address(chain) {
			t.Errorf("%s: %s, %s, %s", chain, a, again.Address(chain), given.Address(chain))
		}
	}
	if !strings.HasPrefix(made.Address("BITCOIN"), "tb1q") || made.Address("BOTANIX") != "" {
		t.Errorf("addresses %s, %s", made.Address("BITCOIN"), made.Address("BOTANIX"))
	}
	if runtime.GOOS == "windows" {
		return // which has no modes of this kind
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file: %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKeys("", file, bitcoin.Testnet4); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read: %v", err)
	}
}

// A secret that is not one is refused, and not shown.
func TestSecretsThatAreRefused(t *testing.T) {
	for _, text := range []string{"beef", strings.Repeat("xy", 32), strings.Repeat("ab", 33)} {
		if _, err := OpenKeys(text, "", bitcoin.Testnet4); err == nil || !strings.Contains(err.Error(), KeyVariable) || strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
