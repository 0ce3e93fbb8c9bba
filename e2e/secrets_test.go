package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// written keeps what is logged.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// forms are the ways in which 32 bytes could be written.
func forms(secret []byte) map[string]string {
	return map[string]string{
		"hexadecimal": hex.EncodeToString(secret), "base64": base64.RawStdEncoding.EncodeToString(secret), "base64 of URLs": base64.RawURLEncoding.EncodeToString(secret),
		"numbers": strings.Trim(fmt.Sprint(secret), "[]"), "numbers of JSON": strings.ReplaceAll(strings.Trim(fmt.Sprint(secret), "[]"), " ", ","),
	}
}

// Whatever is logged, at whatever level, no preimage is in it, nor what the
// randomness of a swap is made of, nor an id.
func TestLogsHoldNoSecret(t *testing.T) {
	t.Parallel()
	var log written
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w := start(t, options{config: func(c *swapper.Config) { c.Logger = logger }})
	server := httptest.NewServer(httpapi.New(w.client, httpapi.Options{Logger: logger}))
	defer server.Close()
	preimage, hash := lightning.Preimage("not to be logged")
	wrong, _ := lightning.Preimage("another one")
	secrets := map[string][]byte{"the user's preimage": preimage[:], "a wrong preimage": wrong[:]}
	keep := func(name, id string) {
		e := trial.Must(w.store.Get(t.Context(), id))(t)
		var r swap.Record
		trial.Do(t, json.Unmarshal(e.Body, &r))
		secrets["the seed of a swap with "+name] = r.Seed[:]
		if r.Lightning != nil && !r.Lightning.Preimage.IsZero() {
			secrets["the preimage of a swap with "+name] = r.Lightning.Preimage[:]
		}
	}
	swapKey := strings.Repeat("9d", 16)
	get := func(status int, query string) {
		request := trial.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/getSwapStatus?"+query, nil))(t)
		request.Header.Set("Swap-Key", swapKey)
		response := trial.Must(http.DefaultClient.Do(request))(t)
		response.Body.Close()
		if response.StatusCode != status {
			t.Errorf("%d, want %d", response.StatusCode, status)
		}
	}

	of := w.incoming()[swapper.SwapFromBTCLNAuto]()
	created := w.create(of)
	ours := created.SwapID
	keep("a preimage of its own", ours)
	for name, text := range map[string]string{"the key of a swap": created.SwapKey.Reveal(), "a wrong key": swapKey} {
		if secrets[name], _ = hex.DecodeString(text); len(secrets[name]) != 16 {
			t.Fatalf("%s has %d bytes", name, len(secrets[name]))
		}
	}
	of.PaymentHash = hex.EncodeToString(hash[:])
	theirs := w.create(of).SwapID
	keep("the user's preimage", theirs)
	outgoing := w.create(w.outgoing()[swapper.SwapToBTCLN]()).SwapID
	vault := w.create(w.incoming()[swapper.SwapSPVVaultFromBTC]()).SwapID
	keep("a vault", vault)

	w.finish(ours)
	w.until(theirs, func(s *swapper.GetSwapStatusOutput) bool {
		return s.RequiresSecretReveal != nil && *s.RequiresSecretReveal
	})
	get(http.StatusBadRequest, "swapId="+theirs+"&secret="+hex.EncodeToString(wrong[:]))
	get(http.StatusBadRequest, "swapId="+theirs+"&secret="+hex.EncodeToString(wrong[:])+"&secret="+hex.EncodeToString(preimage[:]))
	get(http.StatusBadRequest, "swapId="+theirs+"&secrets="+hex.EncodeToString(preimage[:]))
	get(http.StatusOK, "swapId="+theirs+"&secret="+hex.EncodeToString(preimage[:]))
	get(http.StatusBadRequest, "swapId="+ours+"&swapKey="+created.SwapKey.Reveal())
	w.finish(theirs)
	w.finish(outgoing)
	keep("a payout over Lightning", outgoing)
	w.finish(vault)

	text := log.String()
	if strings.Count(text, "swap moved") < 8 {
		t.Fatalf("hardly anything was logged:\n%s", text)
	}
	for _, id := range []string{ours, theirs, outgoing, vault} { // whoever knows one can act on the swap
		if strings.Contains(text, id) {
			t.Errorf("the id %s is in the log", id)
		}
		if !strings.Contains(text, storage.Label(id)) {
			t.Errorf("the log does not name %s at all", id)
		}
	}
	for name, secret := range secrets {
		for form, s := range forms(secret) {
			if strings.Contains(strings.ToLower(text), strings.ToLower(s)) {
				t.Errorf("%s is in the log as %s", name, form)
			}
		}
	}
}
