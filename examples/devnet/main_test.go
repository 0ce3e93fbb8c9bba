package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/lnurl"
	"github.com/swapper-go/swapper/swap/lp"
)

func TestNetworkAsAProcess(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, w, 2, time.Hour, "127.0.0.1:0")
		_ = w.CloseWithError(err)
		ended <- err
	}()
	var d struct {
		LPs     []string
		Control string
		EVM     struct{ Contracts, Tokens map[string]string }
		LNURL   struct{ Pay, Withdraw string }
	}
	if err := json.NewDecoder(r).Decode(&d); err != nil {
		t.Fatal(err)
	}
	if len(d.LPs) != 2 || len(d.EVM.Contracts) != 10 || len(d.EVM.Tokens) != 3 {
		t.Errorf("%+v", d)
	}
	if _, err := lp.NewClient(lp.Options{AllowLocal: true}).Info(ctx, d.LPs[1]); err != nil {
		t.Error(err)
	}
	links := lnurl.New(lnurl.Config{Network: bitcoin.Regtest, AllowLocal: true})
	for text, want := range map[string]string{d.LNURL.Pay: "*lnurl.Pay", d.LNURL.Withdraw: "*lnurl.Withdraw"} {
		if details, err := links.Resolve(ctx, text); err != nil || fmt.Sprintf("%T", details) != want {
			t.Errorf("%T, want %s: %v", details, want, err)
		}
	}
	var invoice string
	for _, path := range []string{"/mine?blocks=2", "/advance?seconds=60", "/relay", "/invoice?sats=1000", "/pay?invoice=", "/voucher", "/reorg?blocks=1",
		"/fund?sats=5000&address=bcrt1q5qq0lngtukk3zqvrtpvjdkdg0g4j6057l9wj3z"} {
		if path == "/pay?invoice=" {
			path += invoice
		}
		resp, err := http.Post(d.Control+path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Invoice string }
		err = json.NewDecoder(resp.Body).Decode(&answer)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || err != nil {
			t.Errorf("%s: %s %v", path, resp.Status, err)
		}
		if answer.Invoice != "" {
			invoice = answer.Invoice
		}
	}
	for _, path := range []string{"/mine?blocks=0", "/misbehave?lp=2", "/misbehave?lp=0&faults=Kindness", "/reorg?blocks=x"} {
		resp, err := http.Post(d.Control+path, "", nil)
		if err != nil || resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %v %v", path, resp, err)
		}
	}
	// An LP misbehaves, and is honest again.
	for query, good := range map[string]bool{"faults=Garbage": false, "on=/info&field=envelope&value=x": false, "": true} {
		if resp, err := http.Post(d.Control+"/misbehave?lp=1&"+query, "", nil); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %v %v", query, resp, err)
		}
		if _, err := lp.NewClient(lp.Options{AllowLocal: true}).Info(ctx, d.LPs[1]); (err == nil) != good {
			t.Errorf("%s: %v", query, err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
