package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// Variables of the process that is killed.
const (
	killConfig = "SERVER_KILL_CONFIG"
	killListen = "SERVER_KILL_LISTEN"
)

// TestKilledServer is the process that TestKilled kills.
func TestKilledServer(t *testing.T) {
	path := os.Getenv(killConfig)
	if path == "" {
		t.Skip("TestKilled runs it, as a process of its own")
	}
	go func() { // it does not outlive the test that started it
		_ = follow(os.Stdin)
		os.Exit(1)
	}()
	if err := start(t.Context(), from{file: path}, os.Getenv(killListen), false, os.Environ(), os.Stderr); err != nil {
		t.Fatal(err)
	}
}

// process starts the server as a process of its own, and returns what kills it.
func (v *town) process(config, address string) (kill func()) {
	v.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledServer$")
	cmd.Env = append(os.Environ(), killConfig+"="+config, killListen+"="+address)
	cmd.Stdout, cmd.Stderr = &v.log, &v.log
	orders, err := cmd.StdinPipe()
	if err != nil {
		v.Fatal(err)
	}
	v.orders = orders
	if err := cmd.Start(); err != nil {
		v.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // SIGKILL: nothing is said, stored or closed any more
		_ = cmd.Wait()
	})
	v.Cleanup(kill)
	v.base = "http://" + address
	for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get(v.base + "/readyz")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(late) {
			v.Fatalf("not ready: %v %s", err, v.log.String())
		}
	}
	client, err := httpapi.NewClient(v.base+"/api", httpapi.ClientOptions{})
	if err != nil {
		v.Fatal(err)
	}
	v.swaps = client
	return kill
}

// follow does what the test says, until it says nothing more: "file" and a number bounds the
// size of files, as a disk does that is full. 0 is no bound.
func follow(orders io.Reader) error {
	for lines := bufio.NewScanner(orders); lines.Scan(); {
		var bytes uint64
		if _, err := fmt.Sscanf(lines.Text(), "file %d", &bytes); err != nil {
			return err
		}
		if err := boundFiles(bytes); err != nil {
			return err
		}
	}
	return nil
}

// delivery is a message as the endpoint got it.
type delivery struct {
	id, text string
	Time     time.Time                   `json:"timestamp"`
	Data     swapper.GetSwapStatusOutput `json:"data"`
}

// paidOut is the state of a swap to Lightning whose provider has paid and not claimed.
const paidOut = "SOFT_CLAIMED"

// shop is an endpoint of webhooks. While a swap is held, the message that it is paid out
// arrives and is never answered.
type shop struct {
	*testing.T
	held chan delivery // what arrived and was not answered

	mu   sync.Mutex
	hold string // swap
	all  []delivery
}

func (s *shop) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	d := delivery{id: r.Header.Get("Webhook-Id"), text: string(text)}
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil || d.id == "" {
		s.Errorf("%v: %q %s", err, d.id, text)
		return
	}
	s.mu.Lock()
	s.all = append(s.all, d)
	hold := s.hold == d.Data.SwapID && d.Data.State.Name == paidOut
	s.mu.Unlock()
	if hold {
		s.held <- d
		<-r.Context().Done()
	}
}

func (s *shop) keep(swap string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold = swap
}

// last is the newest message about a swap.
func (s *shop) last(id string) (last delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.all {
		if d.Data.SwapID == id {
			last = d
		}
	}
	return last
}

// ordered fails the test if messages about one swap came out of order, or one came
// twice and differed.
func (s *shop) ordered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts, at := map[string]string{}, map[string]time.Time{}
	for _, d := range s.all {
		if before, twice := texts[d.id]; twice && before != d.text {
			s.Errorf("%s was\n%s\nand then\n%s", d.id, before, d.text)
		}
		if d.Time.Before(at[d.Data.SwapID]) {
			s.Errorf("of %s came %s after what happened later", d.Data.SwapID, d.text)
		}
		texts[d.id], at[d.Data.SwapID] = d.text, d.Time
	}
}

// reader follows the swaps of a signer, and resumes wherever its stream was cut.
type reader struct {
	mu      sync.Mutex
	streams int               // that it has begun
	resumed int               // of them after an id
	data    map[string]string // by swap: what it was told last
}

func (r *reader) run(ctx context.Context, target string) {
	last := ""
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
		if err != nil {
			return
		}
		if last != "" {
			request.Header.Set("Last-Event-ID", last)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			continue // nobody listens
		}
		if answer.StatusCode == http.StatusOK {
			r.mu.Lock()
			r.streams++
			if last != "" {
				r.resumed++
			}
			r.mu.Unlock()
			last = r.read(answer.Body, last)
		}
		answer.Body.Close()
	}
}

// read takes events until the stream ends, and returns the id of the last.
func (r *reader) read(stream io.Reader, last string) string {
	lines, id := bufio.NewReader(stream), ""
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return last
		}
		line = strings.TrimSuffix(line, "\n")
		if s, ok := strings.CutPrefix(line, "id: "); ok {
			id = s
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var s swapper.GetSwapStatusOutput
			if json.Unmarshal([]byte(data), &s) == nil {
				r.mu.Lock()
				r.data[s.SwapID] = data
				r.mu.Unlock()
			}
		}
		if line == "" && id != "" { // the event is whole
			last = id
		}
	}
}

func (r *reader) last(id string) (data string, streams, resumed int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.data[id], r.streams, r.resumed
}

// Killed between payment and settlement, again and again, the server goes on from its store: every
// swap settles, a reader of the stream resumes by the id of its last event and is told
// all, and the endpoint gets the message whose answer never came again, the same, and
// those after it in order.
func TestKilled(t *testing.T) {
	trial.OnlyFull(t)
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	told := &shop{T: t, held: make(chan delivery, 100)}
	endpoint := httptest.NewServer(told)
	defer endpoint.Close()
	config := v.write("config.yaml", map[string]any{"local": "local.json", "logLevel": "error",
		"auth":      []any{map[string]any{"type": "none", "name": "public", "rateLimit": nil}},
		"rateLimit": map[string]int{"windowMs": 1000, "maxRequests": 10},
		"webhooks": map[string]any{"allowLocal": true, "endpoints": []any{
			map[string]any{"name": "shop", "url": endpoint.URL, "secrets": []string{webhook.NewSecret()}}}}})
	address := free(t)
	kill := v.process(config, address)

	follows := &reader{data: map[string]string{}}
	var reading sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer reading.Wait()
	defer stop()
	reading.Go(func() { follows.run(ctx, v.base+"/api/subscribe?signer="+url.QueryEscape(v.me())) })

	// Three swaps are paid for. Nobody claims for the user, and the provider not for itself.
	v.net.Misbehave(swappertest.LPFault{NeverClaim: true}, swappertest.WatchtowerFault{Off: true})
	swaps := map[string]string{"from Lightning": v.create(v.fromLightning()).SwapID, "from Bitcoin": v.create(v.fromBitcoin()).SwapID}
	for _, id := range swaps {
		v.finish(id, func(s *swapper.GetSwapStatusOutput) bool {
			a, ok := s.CurrentAction.(*swapper.Wait)
			return ok && a.Name == "Automatic settlement"
		})
	}
	out := v.create(swapper.CreateSwapInput{SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC", Amount: v.fromLightning().Amount, AmountType: swapper.ExactIn, SrcAddress: v.me(), DstAddress: v.says.LNURL.Pay}).SwapID
	swaps["to Lightning"] = out
	told.keep(out)
	v.finish(out, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == paidOut })

	var first delivery
	for kills := 0; ; kills++ {
		select {
		case d := <-told.held:
			if kills == 0 {
				first = d
			} else if d.id != first.id || d.text != first.text {
				t.Errorf("before\n%s %s\nafter the restart\n%s %s", first.id, first.text, d.id, d.text)
			}
		case <-time.After(time.Minute):
			t.Fatalf("after %d kills: the endpoint is not told of the payment; %s", kills, v.log.String())
		}
		if kills == 2 {
			break
		}
		kill()
		kill = v.process(config, address)
		v.advance(31 * time.Second) // for so long the process that died had the message for itself
	}
	told.keep("")
	kill() // and once more: all is claimed and paid while nobody looks, and messages are answered
	v.net.Misbehave()
	kill = v.process(config, address)
	v.advance(31 * time.Second)

	for name, id := range swaps {
		if end := v.finish(id, nil); !end.IsSuccess {
			t.Errorf("the swap %s ended as %s", name, end.State.Name)
		}
	}
	for name, id := range swaps {
		for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			data, streams, resumed := follows.last(id)
			var s swapper.GetSwapStatusOutput
			if data != "" {
				if err := json.Unmarshal([]byte(data), &s); err != nil {
					t.Fatal(err)
				}
			}
			message := told.last(id)
			if s.IsSuccess && message.Data.IsSuccess {
				if streams < 4 || resumed != streams-1 {
					t.Errorf("the reader has begun %d streams, and resumed %d", streams, resumed)
				}
				break
			}
			if time.Now().After(late) {
				t.Fatalf("%s: the reader was told %s, the endpoint %s; %s", name, s.State.Name, message.Data.State.Name, v.log.String())
			}
		}
		if id == out {
			continue // with less than getSwapStatus: the link's success action
		}
		_, now := get(t, fmt.Sprintf("%s/api/getSwapStatus?swapId=%s", v.base, url.QueryEscape(id)), nil)
		if data, _, _ := follows.last(id); data != strings.TrimSpace(now) {
			t.Errorf("%s: the reader was told\n%s\ngetSwapStatus says\n%s", name, data, now)
		}
	}
	told.ordered()
	kill()
}
