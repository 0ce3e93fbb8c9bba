package evm

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func contractNames(t *testing.T) (names []string) {
	files := trial.Must(artifacts.ReadDir("contracts/artifacts"))(t)
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".json"))
	}
	return names
}

// The artefacts were made from the sources beside them.
func TestArtifactsAreCurrent(t *testing.T) {
	t.Parallel()
	files := trial.Must(filepath.Glob("contracts/*.sol"))(t)
	slices.Sort(files)
	h := sha256.New()
	for _, f := range append(files, "contracts/compile.mjs") {
		h.Write([]byte(filepath.Base(f) + "\n"))
		h.Write(trial.Must(os.ReadFile(f))(t))
	}
	want := hex.EncodeToString(h.Sum(nil))
	for _, name := range contractNames(t) {
		if a := trial.Must(loadArtifact(name))(t); a.Source != want {
			t.Errorf("%s was compiled from other sources: run go generate ./internal/devnet/evm", name)
		} else if len(a.Bytecode) == 0 || len(a.Bytecode) > 24_576 {
			t.Errorf("%s has %d bytes of code", name, len(a.Bytecode))
		}
	}
}

// Whoever was compiled against the page's interface can talk to the contracts.
func TestVectorsContractInterfaces(t *testing.T) {
	t.Parallel()
	contracts := map[string]string{"EscrowManager": "EscrowManager", "BtcRelay": "BtcRelay", "SpvVaultManager": "VaultManager", "ERC20": "TestToken"}
	vectors.Each(t, "chain-evm", "abi", func(t *testing.T, c *vectors.Case) {
		var in struct{ Contract, Kind, Signature string }
		c.Input(t, &in)
		a := trial.Must(loadArtifact(contracts[in.Contract]))(t)
		name, _, _ := strings.Cut(in.Signature, "(")
		switch in.Kind {
		case "function":
			var want struct{ Selector, Mutability string }
			c.Expected(t, &want)
			m := a.ABI.Methods[name]
			if got := "0x" + hex.EncodeToString(m.ID); got != want.Selector || m.Sig != in.Signature || m.StateMutability != want.Mutability {
				t.Errorf("%s is %s %s %s, want %+v", name, got, m.Sig, m.StateMutability, want)
			}
		case "event":
			type input struct {
				Name, Type string
				Indexed    bool
			}
			var want struct {
				Topic0 string
				Inputs []input
			}
			c.Expected(t, &want)
			e := a.ABI.Events[name]
			got := []input{}
			for _, arg := range e.Inputs {
				got = append(got, input{arg.Name, arg.Type.String(), arg.Indexed})
			}
			if e.ID.Hex() != want.Topic0 {
				t.Errorf("%s has topic %s, want %s", name, e.ID, want.Topic0)
			}
			if diff := cmp.Diff(want.Inputs, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}

// The definitions that package wire works with are the contracts' own.
func TestLibraryAgreesWithContracts(t *testing.T) {
	t.Parallel()
	for file, contract := range map[string]string{"escrow_manager": "EscrowManager", "vault_manager": "VaultManager",
		"btc_relay": "BtcRelay", "erc20": "TestToken"} {
		f := trial.Must(os.Open("../../../internal/evm/wire/abi/" + file + ".json"))(t)
		library := trial.Must(abi.JSON(f))(t)
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		ours := trial.Must(loadArtifact(contract))(t).ABI
		for name, m := range library.Methods {
			got := ours.Methods[name]
			if got.Sig != m.Sig || got.StateMutability != m.StateMutability || typeList(got.Outputs) != typeList(m.Outputs) {
				t.Errorf("%s: %s returns (%s), want %s returns (%s)", contract, got, typeList(got.Outputs), m, typeList(m.Outputs))
			}
		}
		for name, e := range library.Events {
			if got := ours.Events[name]; got.ID != e.ID || typeList(got.Inputs.NonIndexed()) != typeList(e.Inputs.NonIndexed()) {
				t.Errorf("%s: event %s, want %s", contract, got, e)
			}
		}
	}
}

func typeList(args abi.Arguments) string {
	var all []string
	for _, a := range args {
		all = append(all, a.Type.String())
	}
	return strings.Join(all, ",")
}
