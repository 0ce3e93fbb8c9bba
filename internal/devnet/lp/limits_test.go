package lp_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/lp"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// refusedWith is the code and status of a refusal; the call must have been one.
func refusedWith(t *testing.T, err error) (code, status int) {
	t.Helper()
	e, ok := errors.AsType[*lpwire.RequestError](err)
	if !ok {
		t.Fatalf("got %v, want a refusal", err)
	}
	return e.Code, e.Status
}

func TestSwapsUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	k := newKit(t, func(o *lp.Options) { o.Limits.Inflight = 1 })
	q := trial.Must(k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), lpwire.Early{}))(t)
	trial.Must(k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), lpwire.Early{}))(t) // a quote is not under way
	s := k.open(q.Escrow, q.Auth)
	k.eventually("refused", func() bool {
		_, err := k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), lpwire.Early{})
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
		_, err := k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), lpwire.Early{})
		return err == nil
	})
}

func TestLPWithoutGasQuotesNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t, func(o *lp.Options) { o.Limits.Reserve = new(big.Int).Lsh(big.NewInt(1), 200) })
	_, err := k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), lpwire.Early{})
	if code, _ := refusedWith(t, err); code != 20012 {
		t.Errorf("code %d", code)
	}
}

// Limits by address are answered as texts with a status of their own, whatever
// the endpoint.
func TestVisitsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	k := newKit(t, func(o *lp.Options) { o.Limits.Requests, o.Limits.Open, o.Now = 300, 1, func() time.Time { return now } })
	status := func() (int, string) {
		resp := trial.Must(http.Get(k.lp.URL() + "/info?nonce=ab"))(t)
		defer resp.Body.Close()
		text := trial.Must(io.ReadAll(resp.Body))(t)
		return resp.StatusCode, string(text)
	}
	// One request that stays open keeps the next one out; it comes again if it was kept out itself.
	const question = `{"nonce":"ab"}`
	var open net.Conn
	hold := func() {
		open = trial.Must(net.Dial("tcp", strings.TrimPrefix(k.lp.URL(), "http://")))(t)
		t.Cleanup(func() { _ = open.Close() })
		fmt.Fprintf(open, "POST /info HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(question), question[:len(question)-1])
	}
	answered := func() bool {
		_ = open.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		n, _ := open.Read(make([]byte, 1))
		return n > 0
	}
	hold()
	k.eventually("kept out", func() bool {
		if answered() {
			_ = open.Close()
			hold()
		}
		code, text := status()
		return code == 503 && text == "Too many open requests" && !answered()
	})
	fmt.Fprint(open, "}")
	_ = open.SetReadDeadline(time.Time{})
	if line, err := bufio.NewReader(open).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("the request that was held: %q %v", line, err)
	}
	k.eventually("too many", func() bool { code, text := status(); return code == 429 && text == "Too many requests" })
	_, err := k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), lpwire.Early{})
	if _, code := refusedWith(t, err); code != 429 {
		t.Errorf("status %d", code)
	}
}
