package lp_test

import (
	"errors"
	"io"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/lp"
	client "github.com/swapper-go/swapper/internal/lp"
)

// refusedWith is the code and status of a refusal; the call must have been one.
func refusedWith(t *testing.T, err error) (code, status int) {
	t.Helper()
	e, ok := errors.AsType[*client.RequestError](err)
	if !ok {
		t.Fatalf("got %v, want a refusal", err)
	}
	return e.Code, e.Status
}

func TestSwapsUnderWayAreBounded(t *testing.T) {
	k := newKit(t, func(o *lp.Options) { o.Limits.Inflight = 1 })
	q := must[client.ToBTCQuote](t)(k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), client.Early{}))
	must[client.ToBTCQuote](t)(k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), client.Early{})) // a quote is not under way
	s := k.open(q.Escrow, q.Auth)
	k.eventually("refused", func() bool {
		_, err := k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), client.Early{})
		if err == nil {
			return false
		}
		code, _ := refusedWith(t, err)
		return code == 20013
	})
	if _, err := k.evm.Bitcoin().Mine(1); err != nil {
		t.Fatal(err)
	}
	k.eventually("claimed", func() bool { return k.state(s) == stateClaimed })
	k.eventually("quoted again", func() bool {
		_, err := k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), client.Early{})
		return err == nil
	})
}

func TestLPWithoutGasQuotesNothing(t *testing.T) {
	k := newKit(t, func(o *lp.Options) { o.Limits.Reserve = new(big.Int).Lsh(big.NewInt(1), 200) })
	_, err := k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), client.Early{})
	if code, _ := refusedWith(t, err); code != 20012 {
		t.Errorf("code %d", code)
	}
}

// Limits by address are answered as texts with a status of their own, whatever
// the endpoint.
func TestVisitsAreBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	k := newKit(t, func(o *lp.Options) { o.Limits.Requests, o.Limits.Open, o.Now = 300, 1, func() time.Time { return now } })
	status := func() (int, string) {
		resp, err := http.Get(k.lp.URL() + "/info?nonce=ab")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
	// One request that stays open keeps the next one out.
	pr, pw := io.Pipe()
	held := make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(k.ctx, http.MethodPost, k.lp.URL()+"/info", pr)
		if err != nil {
			held <- err
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		held <- err
	}()
	if _, err := pw.Write([]byte(`{"nonce":"ab"`)); err != nil {
		t.Fatal(err)
	}
	k.eventually("kept out", func() bool { code, text := status(); return code == 503 && text == "Too many open requests" })
	if _, err := pw.Write([]byte(`}`)); err != nil {
		t.Fatal(err)
	}
	pw.Close()
	if err := <-held; err != nil {
		t.Fatal(err)
	}
	k.eventually("too many", func() bool { code, text := status(); return code == 429 && text == "Too many requests" })
	_, err := k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), client.Early{})
	if _, code := refusedWith(t, err); code != 429 {
		t.Errorf("status %d", code)
	}
}
