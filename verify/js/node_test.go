package main

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// A wallet in node uses the package as pack makes it, on every family of chains: what it
// verifies, refuses and survives is in testdata/wallet.mjs.
func TestNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("NOT TESTED: node is not installed, in which wallets in JavaScript run beside browsers")
	}
	folder := t.TempDir()
	if out, err := exec.Command("go", "run", "./pack", "-o", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	net := swappertest.Start(t, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true}})
	client := trial.Must(swapper.Open(t.Context(), net.Config()))(t)
	defer client.Close()
	service := httptest.NewServer(httpapi.New(client, httpapi.Options{}))
	defer service.Close()

	var network strings.Builder
	trial.Do(t, net.Describe(&network))
	type wallet struct {
		Chain, Address string
		Invoices       [3]string
	}
	var wallets []wallet
	for _, chain := range []string{"CITREA", "SOLANA", "STARKNET"} {
		wallets = append(wallets, wallet{chain, net.User.Address(chain), [3]string{net.Invoice(50_000), net.Invoice(50_000), net.Invoice(50_000)}})
	}
	withdraw := trial.Must(net.WithdrawLink())(t)
	facts := trial.Must(json.Marshal(map[string]any{"package": filepath.Join(folder, "index.js"), "service": service.URL, "network": json.RawMessage(network.String()),
		"wallets": wallets, "payLink": net.PayLink(), "withdrawLink": withdraw, "now": net.Now().UnixMilli(), "full": trial.Full()}))(t)
	run := exec.CommandContext(t.Context(), node, filepath.Join("testdata", "wallet.mjs"))
	run.Stdin = strings.NewReader(string(facts))
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Two packs of one version are the same, wherever the module and the temporary files are.
func TestPackIsReproducible(t *testing.T) {
	trial.OnlyFull(t)
	pack := func(module, temporary string) []byte {
		folder := t.TempDir()
		run := exec.Command("go", "run", "./verify/js/pack", "-o", folder)
		run.Dir, run.Env = module, append(os.Environ(), "TMPDIR="+temporary)
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return trial.Must(os.ReadFile(filepath.Join(folder, "verify.wasm")))(t)
	}
	here, there := filepath.Join("..", ".."), t.TempDir()
	parts, err := os.ReadDir(here)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		switch from, to := filepath.Join(here, part.Name()), filepath.Join(there, part.Name()); {
		case strings.HasPrefix(part.Name(), "."):
			continue
		case part.IsDir():
			err = os.CopyFS(to, os.DirFS(from))
		default:
			var text []byte
			if text, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, text, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pack(here, t.TempDir()), pack(there, t.TempDir())) {
		t.Error("another folder makes another program")
	}
}

// A build has the families that it was asked for, and says so of the others.
func TestPackRefuses(t *testing.T) {
	out, err := exec.Command("go", "run", "./pack", "-o", t.TempDir(), "-chains", "evm,dogecoin").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `-chains has "dogecoin", must be some of evm, solana, starknet`) {
		t.Errorf("%v, %s", err, out)
	}
}
