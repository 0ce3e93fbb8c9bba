package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

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
	}
	if err := json.NewDecoder(r).Decode(&d); err != nil {
		t.Fatal(err)
	}
	if len(d.LPs) != 2 || len(d.EVM.Contracts) != 10 || len(d.EVM.Tokens) != 3 {
		t.Errorf("%+v", d)
	}
	if _, err := lp.NewClient(lp.Options{}).Info(ctx, d.LPs[1]); err != nil {
		t.Error(err)
	}
	var invoice string
	for _, path := range []string{"/mine?blocks=2", "/advance?seconds=60", "/relay", "/invoice?sats=1000", "/pay?invoice=",
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
	resp, err := http.Post(d.Control+"/mine?blocks=0", "", nil)
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("%v %v", resp, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
