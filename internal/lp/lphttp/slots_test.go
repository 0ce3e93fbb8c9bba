package lphttp

import (
	"context"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// An LP whose answers to one kind of call hang still gets the other kinds.
func TestKindsOfCallsHavePlacesOfTheirOwn(t *testing.T) {
	ask := map[string]func(context.Context, *Client, string) error{
		"/tobtc/payInvoice": func(ctx context.Context, c *Client, base string) error {
			_, err := c.ToBTC(ctx, base, lp.ToBTCRequest{Amount: big.NewInt(1)}, lp.Early{})
			return err
		},
		"/tobtc/getRefundAuthorization": func(ctx context.Context, c *Client, base string) error {
			_, err := c.Status(ctx, lp.StatusQuery{URL: base + "/tobtc", Endpoint: lp.GetRefundAuthorization, ID: "ab"})
			return err
		},
		"/frombtc_spv/postQuote": func(ctx context.Context, c *Client, base string) error {
			_, err := c.PostSPV(ctx, base, "CITREA", "ab", []byte{1})
			return err
		},
	}
	answers := map[string]string{
		"/tobtc/payInvoice":             `{"code":20000,"msg":"","data":` + flowtest.ToBTCData + `}`,
		"/tobtc/getRefundAuthorization": `{"code":20008,"msg":""}`,
		"/frombtc_spv/postQuote":        `{"code":20000,"msg":"","data":{"txId":"ab"}}`,
	}
	for hangs := range ask {
		t.Run(strings.TrimPrefix(hangs, "/"), func(t *testing.T) {
			base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == hangs {
					<-r.Context().Done()
					return
				}
				flowtest.ReadAll(r)
				_, _ = io.WriteString(w, answers[r.URL.Path])
			})
			c := client(t, Options{Retry: retryTimes(1)})
			ctx, cancel := context.WithCancel(t.Context())
			hung := make(chan error)
			for range 20 {
				go func() { hung <- ask[hangs](ctx, c, base) }()
			}
			time.Sleep(50 * time.Millisecond)
			for path, call := range ask {
				if path == hangs {
					continue
				}
				soon, done := context.WithTimeout(t.Context(), 5*time.Second)
				if err := call(soon, c, base); err != nil {
					t.Errorf("%s while %s hangs: %v", path, hangs, err)
				}
				done()
			}
			cancel()
			for range 20 {
				<-hung
			}
			if n := len(c.slots.hosts); n != 0 {
				t.Errorf("%d hosts remembered", n)
			}
		})
	}
}

// Places are given in the order of the asking, what is reserved for other kinds
// stays free, and who gives up leaves nothing behind.
func TestSlotsAreFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slots{most: 5}
		take := func(k purpose) func() {
			return trial.Must(s.take(t.Context(), "https://lp", k))(t)
		}
		first := []func(){take(toFollow), take(toFollow), take(toFollow)}
		var order []int
		for i := range 3 {
			go func() {
				release := take(toFollow)
				order = append(order, i)
				release()
			}()
			synctest.Wait()
		}
		gone, cancel := context.WithCancel(t.Context())
		go func() {
			if _, err := s.take(gone, "https://lp", toFollow); err == nil {
				t.Error("a place for somebody who left")
			}
		}()
		synctest.Wait()
		quote, post := take(toQuote), take(toAct) // reserved, however many wait
		other := trial.Must(s.take(t.Context(), "https://other", toFollow))(t)
		synctest.Wait()
		if len(order) != 0 {
			t.Fatalf("%d calls beyond the bound", len(order))
		}
		cancel()
		for _, release := range first {
			release()
			synctest.Wait()
		}
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			t.Errorf("served in the order %v", order)
		}
		quote()
		post()
		other()
		if len(s.hosts) != 0 {
			t.Errorf("%d hosts remembered", len(s.hosts))
		}
	})
}
