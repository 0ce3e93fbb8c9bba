package scale

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// What a wallet of its own process needs with package verify and one chain, at rest and
// while a swap in each direction goes to its end: what is resident of it, what is its own of that, and Go's heap.
func BenchmarkMemoryVerified(t *testing.B) {
	for _, on := range []struct{ chain, family string }{{"CITREA", "evm"}, {"SOLANA", "solana"}, {"STARKNET", "starknet"}} {
		t.Run(on.chain, func(t *testing.B) {
			var o swappertest.Options
			switch on.family {
			case "solana":
				o.Solana.Version = "v2"
			case "starknet":
				o.Starknet.On = true
			}
			n := swappertest.Start(t, o)
			client := trial.Must(swapper.Open(t.Context(), n.Config()))(t)
			defer client.Close()
			service := httptest.NewServer(httpapi.New(client, httpapi.Options{}))
			defer service.Close()
			w := startWallet(t, n, service.URL, on.family)
			t.Run("rest", func(t *testing.B) { w.report(t, w.sample(t, "")) })
			for _, side := range []struct{ name, src, dst, to string }{
				{"to Bitcoin", on.chain + "-WBTC", "BITCOIN-BTC", n.User.Address("BITCOIN")}, {"to Lightning", on.chain + "-WBTC", "LIGHTNING-BTC", n.Invoice(50_000)},
				{"from Bitcoin", "BITCOIN-BTC", on.chain + "-WBTC", n.User.Address(on.chain)}, {"from Lightning", "LIGHTNING-BTC", on.chain + "-WBTC", n.User.Address(on.chain)},
			} {
				t.Run(side.name, func(t *testing.B) {
					in := swapper.CreateSwapInput{SrcToken: side.src, DstToken: side.dst, Amount: big.NewInt(50_000), AmountType: swapper.ExactOut, DstAddress: side.to}
					if strings.HasPrefix(side.src, on.chain) {
						in.SrcAddress = n.User.Address(on.chain)
					}
					s := trial.Must(w.CreateSwap(t.Context(), in))(t)
					most := w.sample(t, "")
					end, err := n.User.FinishUntil(t.Context(), w, s.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
						for i, now := range w.sample(t, "") {
							most[i] = max(most[i], now)
						}
						return s.IsFinished
					})
					if err != nil || !end.IsSuccess {
						t.Fatalf("%v; %+v", err, end)
					}
					w.report(t, most)
				})
			}
			t.Run("afterwards", func(t *testing.B) { w.report(t, w.sample(t, "?live")) })
		})
	}
}

// ownProcess is a wallet as a process of its own, whose operations are called over HTTP.
type ownProcess struct {
	swapper.Service
	url string
	pid int
}

func startWallet(t *testing.B, n *swappertest.Network, service, family string) *ownProcess {
	t.Helper()
	program := filepath.Join(t.TempDir(), "wallet")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-tags="+family, "-o", program, "./testdata/wallet")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var network bytes.Buffer
	trial.Do(t, n.Describe(&network))
	text, err := json.Marshal(map[string]any{"Service": service, "Network": json.RawMessage(network.Bytes()), "Ahead": time.Until(n.Now()), "Prices": prices.Prices})
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(program)
	run.Stdin, run.Stderr = bytes.NewReader(text), os.Stderr
	out := trial.Must(run.StdoutPipe())(t)
	trial.Do(t, run.Start())
	t.Cleanup(func() { _ = run.Process.Kill(); _ = run.Wait() })
	url := trial.Must(bufio.NewReader(out).ReadString('\n'))(t)
	w := &ownProcess{url: strings.TrimSpace(url), pid: run.Process.Pid}
	w.Service = trial.Must(httpapi.NewClient(w.url, httpapi.ClientOptions{}))(t)
	return w
}

// sample is what is resident, what of that is the process's own, and Go's heap, in MiB; with
// "?live" what is in use alone.
func (w *ownProcess) sample(t *testing.B, query string) [3]float64 {
	t.Helper()
	answer := trial.Must(http.Get(w.url + "/memory" + query))(t)
	defer answer.Body.Close()
	var heap float64
	if _, err := fmt.Fscan(answer.Body, &heap); err != nil {
		t.Fatal(err)
	}
	return [3]float64{resident(t, w.pid, "VmRSS:"), resident(t, w.pid, "RssAnon:"), heap / (1 << 20)}
}

func (w *ownProcess) report(t *testing.B, m [3]float64) {
	t.ReportMetric(0, "ns/op")
	t.ReportMetric(m[0], "resident_MiB")
	t.ReportMetric(m[1], "own_MiB")
	t.ReportMetric(m[2], "heap_MiB")
}
