package devnet_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/trial"
)

// Who asks the control address without a call learns of all calls, each of which exists.
func TestCallsAreListed(t *testing.T) {
	n := trial.Must(devnet.Start(t.Context(), devnet.Options{Starknet: true, Solana: "v1"}))(t)
	defer n.Close()
	mux := control.Handler(n).(*http.ServeMux)
	ask := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
		return w
	}
	list := ask(http.MethodGet, "/")
	listed := 0
	for line := range strings.Lines(list.Body.String()) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != http.MethodGet && words[0] != http.MethodPost {
			continue
		}
		listed++
		path, _, _ := strings.Cut(words[1], "?")
		r := httptest.NewRequestWithContext(t.Context(), words[0], path, nil)
		if _, pattern := mux.Handler(r); pattern != words[0]+" "+path {
			t.Errorf("%s %s is listed and served by %q", words[0], path, pattern)
		}
	}
	if list.Code != http.StatusOK || listed < 20 {
		t.Errorf("status %d, %d calls", list.Code, listed)
	}
	if w := ask(http.MethodGet, "/pay"); w.Code != http.StatusNotFound || !strings.HasPrefix(w.Body.String(), "/pay is not a call") || !strings.Contains(w.Body.String(), "POST /pay") {
		t.Errorf("by another method: %d %s", w.Code, w.Body)
	}
	if w := ask(http.MethodPost, "/misbehave?lp=0&faults=Sulk"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `unknown fault "Sulk"; there are `) || !strings.Contains(w.Body.String(), "NeverPay, ") {
		t.Errorf("an unknown fault: %d %s", w.Code, w.Body)
	}
}

// A wallet looks again when what it signed is refused, because somebody may have been quicker. Only
// what is refused for ten seconds is an error, and what can never be right is one at once.
func TestRefusedSignatures(t *testing.T) {
	changed, wrong := fault.New(fault.InvalidState, "somebody was quicker"), fault.Invalid("signedTxs", "is wrong")
	for _, test := range []struct {
		name    string
		refuses []error
		want    error
	}{
		{"for a while", slices.Repeat([]error{changed}, 50), nil},
		{"for good", slices.Repeat([]error{changed}, 250), changed},
		{"wrong", []error{changed, wrong}, wrong},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := control.Wallet{EVM: &evm.Account{}, Swaps: &refusing{refuses: test.refuses}}
				end, err := w.Finish(t.Context(), "a swap", nil)
				if err != test.want || end.IsFinished != (err == nil) {
					t.Errorf("%v, %+v, want %v", err, end, test.want)
				}
			})
		})
	}
}

// refusing is a service with a swap that is finished once it has taken a submission.
type refusing struct {
	swapper.Service
	refuses []error // the next submissions
	taken   bool
}

func (r *refusing) GetSwapStatus(context.Context, swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	s := &swapper.GetSwapStatusOutput{CurrentAction: &swapper.SignSmartChainTransaction{Chain: "CITREA"}}
	s.IsFinished = r.taken
	return s, nil
}

func (r *refusing) SubmitTransaction(context.Context, swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	if len(r.refuses) > 0 {
		err := r.refuses[0]
		r.refuses = r.refuses[1:]
		return nil, err
	}
	r.taken = true
	return &swapper.SubmitTransactionOutput{}, nil
}
