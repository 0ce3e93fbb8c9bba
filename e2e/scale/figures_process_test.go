package scale

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/bolt"
)

// The service as a process of its own, examples/server, on a store that holds
// some swaps that wait, or are over: how long it takes to answer, and what it
// takes of memory, at rest, under load, and after a list of all.
func BenchmarkProcess(t *testing.B) {
	b := start(t)
	models := b.models()
	program := filepath.Join(t.TempDir(), "server")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/swapper-go/swapper/examples/server").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range []struct {
		name    string
		swaps   int
		waiting bool
	}{{"empty", 0, true}, {"waiting=1000", 1_000, true}, {"over=10000", 10_000, false}, {"waiting=100000", 100_000, true}} {
		t.Run(c.name, func(t *testing.B) {
			dir := t.TempDir()
			store := trial.Must(bolt.Open(t.Context(), filepath.Join(dir, "swaps.db"), bolt.Options{}))(t)
			copies(t, store, models, 0, c.swaps, func(int) bool { return c.waiting })
			trial.Do(t, store.Close())
			b.process(t, program, dir, c.swaps)
		})
	}
}

func (b *bed) process(t *testing.B, program, dir string, swaps int) {
	address := trial.Must(loopback.FreeAddress())(t)
	for name, v := range map[string]any{"local.json": b.net.Describe(), "config.yaml": map[string]any{"listen": address, "local": "local.json", "logLevel": "ERROR",
		"auth": []any{map[string]any{"type": "none", "name": "public"}}, "rateLimit": map[string]int{"windowMs": 1000, "maxRequests": 1_000_000}, "limits": map[string]int{"requests": 10_000, "perSender": 10_000}}} {
		text, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	server := exec.Command(program, "-config", filepath.Join(dir, "config.yaml"))
	var log bytes.Buffer
	server.Stderr = &log
	began := time.Now()
	trial.Do(t, server.Start())
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	c := &caller{"http://" + address + "/api", &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}}
	for c.get("/getSupportedTokens", url.Values{"side": {"INPUT"}}) != nil {
		if time.Since(began) > time.Minute {
			t.Fatalf("no answer: %s", log.String())
		}
		time.Sleep(2 * time.Millisecond)
	}
	took := time.Since(began)
	time.Sleep(3 * time.Second)
	rest, own := resident(t, server.Process.Pid, "VmRSS:"), resident(t, server.Process.Pid, "RssAnon:")
	load(t, func(int) error { return c.get("/parseAddress", url.Values{"address": {b.address()}}) })
	t.ReportMetric(float64(took.Milliseconds()), "start_ms")
	t.ReportMetric(rest, "rest_MiB")
	t.ReportMetric(own, "rest_own_MiB")
	t.ReportMetric(resident(t, server.Process.Pid, "VmRSS:"), "load_MiB")
	if swaps > 0 && swaps <= 10_000 {
		trial.Do(t, c.get("/listSwaps", url.Values{"signer": {b.address()}}))
		t.ReportMetric(resident(t, server.Process.Pid, "VmRSS:"), "listed_MiB")
	}
	t.ReportMetric(0, "ns/op")
}

// resident is what a process has in memory, in MiB: all of it ("VmRSS:"), or what is its own
// and not the store's file ("RssAnon:"), which the system takes back when it needs it.
func resident(t *testing.B, pid int, field string) float64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("the memory of another process is read from /proc, which only Linux has")
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), field); ok {
			kb := trial.Must(strconv.Atoi(strings.Fields(rest)[0]))(t)
			return float64(kb) / 1024
		}
	}
	t.Fatalf("no %s", field)
	return 0
}
