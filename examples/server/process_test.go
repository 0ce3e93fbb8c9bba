package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/swappertest"
)

// free is an address that nothing listens on. Its port lies below those that systems give to
// outgoing connections, one of which could take it before it is used.
func free(t testing.TB) string {
	t.Helper()
	for range 100 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(10_000+rand.IntN(20_000)))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}

// get returns what a path of some server answers.
func get(t *testing.T, url string, headers map[string]string) (int, string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header(headers)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// No secret that the configuration holds, and none that a caller sends, is in a log, a
// metric, a span or an answer, whatever goes wrong.
func TestSecretsStayInside(t *testing.T) {
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	var spans lockedBuffer
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(&spans, r.Body) }))
	defer collector.Close()
	secret := func(name string) string { return name + "-0123456789abcdef" }
	t.Setenv("TEST_API_KEY", secret("environment-key"))
	certificate, private := credentials(t)
	admin := free(t)
	// A node in front of the real ones that fails now and then, and says by which address.
	real := v.says.Bitcoin.REST
	var fails atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fails.Load() {
			http.Error(w, "no such access: "+r.URL.String()+" "+r.Header.Get("Authorization"), http.StatusForbidden)
			return
		}
		path, _ := strings.CutPrefix(r.URL.Path, "/"+secret("bitcoin-path"))
		answer, err := http.Get(strings.TrimSuffix(real, "/") + path)
		if r.Method == http.MethodPost {
			answer, err = http.Post(strings.TrimSuffix(real, "/")+path, r.Header.Get("Content-Type"), r.Body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	}))
	defer front.Close()
	fails.Store(true) // it starts not ready
	v.serve(map[string]any{
		"local": "local.json", "logLevel": "debug", "admin": map[string]string{"listen": admin}, "backup": map[string]string{"folder": "backups"},
		"bitcoin": map[string]any{"urls": []string{front.URL + "/" + secret("bitcoin-path")}},
		"tracing": map[string]any{"endpoint": collector.URL, "headers": map[string]string{"Authorization": secret("collector")}},
		"lps":     map[string]any{"certificate": certificate, "privateKey": private},
		"auth": []any{
			map[string]any{"type": "apiKey", "name": "backend", "apiKey": secret("file-key"), "rateLimit": nil},
			map[string]any{"type": "apiKey", "name": "other", "apiKeyEnv": "TEST_API_KEY"},
			map[string]any{"type": "none", "name": "public", "rateLimit": nil},
		},
	})
	var answers bytes.Buffer
	ask := func(path string, headers map[string]string) {
		_, text := get(t, v.base+path, headers)
		answers.WriteString(text)
	}
	ask("/api/getSpendableBalance?wallet="+v.net.User.Address("BITCOIN")+"&token=BITCOIN-BTC", nil)
	ask("/readyz", nil)
	fails.Store(false)
	preimage := hex.EncodeToString(bytes.Repeat([]byte{0xab}, 32))
	s := v.create(v.fromLightning())
	for _, key := range []string{secret("file-key"), secret("environment-key"), secret("guessed-key")} {
		ask("/api/getSwapStatus?swapId="+s.SwapID+"&secret="+preimage, map[string]string{"x-api-key": key, "Authorization": "Bearer " + secret("guessed-token")})
		ask("/api/"+secret("path"), map[string]string{"x-api-key": key})
	}
	swapKey := strings.Repeat("9d", 16)
	for _, key := range []string{s.SwapKey.Reveal(), swapKey, swapKey + "0"} {
		ask("/api/getSwapStatus?swapId="+s.SwapID, map[string]string{"Swap-Key": key})
		ask("/api/getSwapStatus?swapId="+s.SwapID+"&swapKey="+key, nil) // which is refused
		ask("/api/listSwaps?signer="+v.net.User.Address("CITREA"), map[string]string{"Swap-Key": key})
	}
	_, metrics := get(t, "http://"+admin+"/metrics", nil)
	post, err := http.Post("http://"+admin+"/backup", "", nil)
	if err != nil || post.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", post, err)
	}
	post.Body.Close()
	if err := v.end(); err != nil { // sends the last spans
		t.Error(err)
	}
	if !strings.Contains(metrics, `swapper_part_up{part="CITREA"} 1`) || !strings.Contains(metrics, `swapper_http_requests_total{operation="getSwapStatus"`) {
		t.Errorf("metrics: %s", metrics)
	}
	if !strings.Contains(spans.String(), "GET /api/getSwapStatus") || !strings.Contains(spans.String(), "chains POST") {
		t.Error("no spans were sent")
	}
	if log := v.log.String(); !strings.Contains(log, `"entry":"backend"`) || !strings.Contains(log, `"path":"/api/getSwapStatus"`) || !strings.Contains(log, "not ready") {
		t.Errorf("log: %s", log)
	}
	hidden := map[string]string{"LP key": private, "preimage": preimage, "swap id": s.SwapID, "swap's key": s.SwapKey.Reveal(), "guessed key of a swap": swapKey}
	for _, name := range []string{"environment-key", "file-key", "guessed-key", "guessed-token", "bitcoin-path", "collector"} {
		hidden[name] = secret(name)
	}
	for where, text := range map[string]string{"log": v.log.String(), "metrics": metrics, "spans": spans.String()} {
		for what, secret := range hidden {
			if strings.Contains(text, secret) {
				i := strings.Index(text, secret)
				t.Errorf("the %s has the %s: %s", where, what, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
	delete(hidden, "swap id") // which its own status names
	for what, secret := range hidden {
		if strings.Contains(answers.String(), secret) {
			i := strings.Index(answers.String(), secret)
			t.Errorf("an answer has the %s: %s", what, answers.String()[max(0, i-200):min(answers.Len(), i+100)])
		}
	}
}

// What ends in the middle of swaps and requests goes on after the next start, from the
// store itself or from a copy that was made while it was used.
func TestEndInTheMiddle(t *testing.T) {
	trial.OnlyFull(t)
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	admin := free(t)
	hooked := make(chan string, 1000)
	shop := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if r.Header.Get("Webhook-Signature") == "" || r.Header.Get("Webhook-Id") == "" {
			t.Errorf("a message without a signature: %v", r.Header)
		}
		hooked <- string(text)
	}))
	defer shop.Close()
	t.Setenv("TEST_HOOK_SECRET", webhook.NewSecret())
	settings := map[string]any{"local": "local.json", "webhooks": map[string]any{"allowLocal": true, "endpoints": []any{map[string]any{"name": "shop", "url": shop.URL, "secretEnv": "TEST_HOOK_SECRET"}}}, "admin": map[string]string{"listen": admin}, "backup": map[string]any{"folder": "backups", "keep": 2}, "stopGrace": "20s"}
	v.serve(settings)

	// Swaps before the payment, in the middle of it, and waiting for somebody.
	before, out := v.create(v.fromLightning()), v.create(v.fromBitcoin())
	v.net.Misbehave(swapperFaults()...)
	sent := v.create(swapper.CreateSwapInput{SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC", Amount: before.Quote.OutputAmount.RawAmount, AmountType: swapper.ExactIn, SrcAddress: v.me(), DstAddress: v.says.LNURL.Pay})
	v.finish(sent.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Number >= 1 })

	// A stream, and requests all the time, while it ends.
	stream, err := http.Get(v.base + "/api/subscribe?swapId=" + url.QueryEscape(before.SwapID))
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatalf("%v %v", stream, err)
	}
	defer stream.Body.Close()
	if line, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil {
		t.Fatalf("%q %v", line, err)
	}
	names := map[string]bool{}
	for range 3 {
		answer, err := http.Post("http://"+admin+"/backup", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		var made struct{ File string }
		if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || made.File == "" {
			t.Fatalf("%+v %v", made, err)
		}
		answer.Body.Close()
		names[made.File] = true
		time.Sleep(2 * time.Millisecond)
	}
	kept, _ := filepath.Glob(filepath.Join(v.dir, "backups", "*"))
	if len(names) != 3 || len(kept) != 2 {
		t.Errorf("%v were made, %v are kept", names, kept)
	}
	var broken, fine atomic.Int64
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			for {
				answer, err := http.Get(v.base + "/api/getSwapStatus?swapId=" + url.QueryEscape(sent.SwapID))
				if err != nil {
					if !strings.Contains(err.Error(), "refused") && !strings.Contains(err.Error(), "reset") && !strings.Contains(err.Error(), "EOF") {
						t.Error(err)
					}
					return // the server is gone
				}
				if _, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
					broken.Add(1)
				} else {
					fine.Add(1)
				}
				answer.Body.Close()
			}
		})
	}
	for fine.Load() < 8 {
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	if err := v.end(); err != nil {
		t.Error(err, v.log.String())
	}
	asking.Wait()
	if took := time.Since(began); broken.Load() != 0 || took > time.Minute {
		t.Errorf("%d requests were cut off, %d were answered; the end took %v", broken.Load(), fine.Load(), took)
	}

	v.net.Misbehave()
	store, copied := filepath.Join(v.dir, "swaps.db"), kept[len(kept)-1]
	for _, name := range []string{"the store", "a copy"} { // the copy knows nothing of how the swaps have ended meanwhile
		if name == "a copy" {
			text, err := os.ReadFile(copied)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(store, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := bolt.Open(t.Context(), store, bolt.Options{}); err != nil {
			t.Fatal(err)
		} else if err := s.Verify(t.Context()); err != nil {
			t.Error(err)
		} else {
			s.Close()
		}
		v.serve(settings)
		for what, id := range map[string]string{"from Lightning": before.SwapID, "from Bitcoin": out.SwapID, "to Lightning": sent.SwapID} {
			if name == "a copy" && what == "from Bitcoin" { // which was posted after the copy: nobody can pay it once more
				s, err := v.swaps.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: id})
				if err != nil {
					t.Fatal(err)
				}
				if s.CurrentAction != nil || s.ActionError == nil || !strings.Contains(s.ActionError.Error, "already spent") {
					t.Errorf("a swap that was posted after the copy asks for %+v, %+v", s.CurrentAction, s.ActionError)
				}
			} else if end := v.finish(id, nil); !end.IsSuccess {
				t.Errorf("after a start from %s: the swap %s ended as %s", name, what, end.State.Name)
			}
		}
		if name == "the store" {
			v.hears(hooked, sent.SwapID, `"isSuccess":true`)
		}
		if err := v.end(); err != nil {
			t.Error(err)
		}
	}
}

// hears waits until a message about a swap says something.
func (v *town) hears(messages <-chan string, id, what string) {
	v.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case text := <-messages:
			if strings.Contains(text, id) && strings.Contains(text, what) {
				return
			}
		case <-late:
			v.Fatalf("no message that says %s", what)
		}
	}
}

// At its limits the service keeps answering, refuses politely what is too much, and takes
// no more memory for it; its own checks are answered all the time.
func TestLoadAtTheLimits(t *testing.T) {
	trial.OnlyFull(t)
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	v.serve(map[string]any{"local": "local.json", "trustedProxies": []string{"127.0.0.0/8"}, "limits": map[string]int{"requests": 8, "perSender": 4},
		"auth": []any{map[string]any{"type": "none", "name": "public"}}, "rateLimit": map[string]int{"windowMs": 2000, "maxRequests": 20}})
	s := v.create(v.fromLightning())
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	before := mem.HeapAlloc
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Second)
	defer stop()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	var counts [600]atomic.Int64
	var all sync.WaitGroup
	for sender := range 60 {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				path := "/api/getSwapStatus?swapId=" + url.QueryEscape(s.SwapID)
				if i%3 == 1 {
					path = "/api/parseAddress?address=" + v.me()
				}
				r, _ := http.NewRequest("GET", v.base+path, nil)
				r.Header.Set("X-Forwarded-For", fmt.Sprintf("203.0.%d.%d", sender%4, i%200)) // ever other clients
				if sender%2 == 0 {
					r.Header.Set("X-Forwarded-For", "198.51.100.1") // and one that does not stop
				}
				answer, err := client.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				text, _ := io.ReadAll(answer.Body)
				answer.Body.Close()
				counts[answer.StatusCode].Add(1)
				switch answer.StatusCode {
				case http.StatusOK:
				case http.StatusTooManyRequests, http.StatusServiceUnavailable:
					if answer.Header.Get("Retry-After") == "" || !json.Valid(text) {
						t.Errorf("%d %v %s", answer.StatusCode, answer.Header, text)
					}
				default:
					t.Errorf("%d %s", answer.StatusCode, text)
				}
			}
		})
	}
	slowest := time.Duration(0)
	for ctx.Err() == nil {
		began := time.Now()
		if status, text := get(t, v.base+"/healthz", nil); status != http.StatusOK {
			t.Errorf("%d %s", status, text)
		}
		slowest = max(slowest, time.Since(began))
		time.Sleep(20 * time.Millisecond)
	}
	all.Wait()
	if slowest > 30*time.Second {
		t.Errorf("a check took %v", slowest)
	}
	if counts[200].Load() == 0 || counts[429].Load() == 0 {
		t.Errorf("answered %d, too many %d, busy %d", counts[200].Load(), counts[429].Load(), counts[503].Load())
	}
	client.CloseIdleConnections()
	runtime.GC()
	runtime.ReadMemStats(&mem)
	if grown := int64(mem.HeapAlloc) - int64(before); grown > 64<<20 {
		t.Errorf("%d MB more are in use", grown>>20)
	}
	t.Logf("answered %d, too many %d, busy %d, slowest check %v", counts[200].Load(), counts[429].Load(), counts[503].Load(), slowest)
	time.Sleep(2 * time.Second) // the window is over
	if status, text := get(t, v.base+"/api/parseAddress?address="+v.me(), nil); status != http.StatusOK {
		t.Errorf("afterwards: %d %s", status, text)
	}
}

// swapperFaults keep a payment under way.
func swapperFaults() []swappertest.Fault {
	return []swappertest.Fault{swappertest.LPFault{NeverClaim: true}}
}
