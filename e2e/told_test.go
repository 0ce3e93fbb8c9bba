package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// told is what an endpoint and a reader were told, byte by byte and by swap.
type told struct {
	written
	name string

	mu   sync.Mutex
	all  map[string][]swapper.GetSwapStatusOutput
	data map[string]string // the latest, as it came
}

func (o *told) take(t *testing.T, data []byte) {
	var s swapper.GetSwapStatusOutput
	if err := json.Unmarshal(data, &s); err != nil {
		t.Errorf("%s: %s: %v", o.name, data, err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all, o.data = map[string][]swapper.GetSwapStatusOutput{}, map[string]string{}
	}
	o.all[s.SwapID] = append(o.all[s.SwapID], s)
	o.data[s.SwapID] = string(data)
}

func (o *told) last(id string) (s swapper.GetSwapStatusOutput, data string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if all := o.all[id]; len(all) > 0 {
		s = all[len(all)-1]
	}
	return s, o.data[id]
}

// Who is told how swaps move, by events or webhooks, is told all of it up to the end, in
// the object of getSwapStatus, and no secret: no preimage, not even in the transaction
// that claims with it, no seed, no withdrawal link and no success action.
func TestToldWithoutSecrets(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	w := start(t, options{})
	streams := events.New(w.client, events.Options{Poll: 50 * time.Millisecond})
	defer streams.Close()
	server := httptest.NewServer(httpapi.New(w.client, httpapi.Options{Operations: []httpapi.Operation{streams.Operation()}}))
	defer server.Close()
	defer streams.Close()

	reader, endpoint := &told{name: "the stream"}, &told{name: "the endpoint"}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		_ = r.Header.Write(endpoint)
		_, _ = endpoint.Write(body)
		var m struct{ Data json.RawMessage }
		if err := json.Unmarshal(body, &m); err != nil {
			t.Error(err)
		}
		endpoint.take(t, m.Data)
	}))
	defer receiver.Close()
	secret := webhook.NewSecret()
	sender := trial.Must(webhook.New(w.client, webhook.Options{Store: w.store, AllowLocal: true, Now: w.net.Clock.Now, Poll: 50 * time.Millisecond,
		Endpoints: []webhook.Endpoint{{Name: "shop", URL: receiver.URL, Secrets: []string{secret}}}}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { _ = sender.Run(ctx) })
	request := trial.Must(http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/subscribe?signer="+w.address(), nil))(t)
	response := trial.Must(http.DefaultClient.Do(request))(t)
	defer response.Body.Close()
	running.Go(func() {
		lines := bufio.NewReader(io.TeeReader(response.Body, reader))
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				reader.take(t, bytes.TrimSpace(data))
			}
		}
	})
	time.Sleep(200 * time.Millisecond) // the sender has begun

	services := trial.Must(lightning.StartLNURL(lightning.LNURLOptions{Node: w.net.Payer, Now: w.net.Clock.Now}))(t)
	defer services.Close()
	shop := trial.Must(services.AddPay(lightning.Pay{Name: "shop", MinMsat: 1_000, MaxMsat: 1_000_000_000,
		Action: &lightning.Action{Tag: "aes", Description: "a gift", Text: "voucher 88-17"}}))(t)
	faucet := trial.Must(services.AddWithdraw(lightning.Withdraw{Name: "faucet", MinMsat: 1_000, MaxMsat: 1_000_000_000, Description: "for you"}))(t)

	w.tower.Behave(watchtower.Behaviour{NoEscrows: true}) // the user claims
	claimed := w.create(w.incoming()[swapper.SwapFromBTCLNAuto]()).SwapID
	w.until(claimed, func(s *swapper.GetSwapStatusOutput) bool {
		return nameOf(s.CurrentAction) == "Automatic settlement"
	})
	trial.Do(t, w.net.Advance(2*time.Minute))
	asked := asksFor[*swapper.SignSmartChainTransaction](w.until(claimed, manually))
	if len(asked.Txs) == 0 {
		t.Fatal("getSwapStatus hands out no claim")
	}
	withClaim := func(o *told) bool {
		s, _ := o.last(claimed)
		return manually(&s)
	}
	for end := time.Now().Add(time.Minute); !withClaim(reader) || !withClaim(endpoint); time.Sleep(20 * time.Millisecond) {
		if _, err := w.client.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: claimed}); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			a, _ := reader.last(claimed)
			b, _ := endpoint.last(claimed)
			t.Fatalf("nobody was told of the claim: %s %+v, %s %+v", a.State.Name, a.CurrentAction, b.State.Name, b.CurrentAction)
		}
	}
	for _, o := range []*told{reader, endpoint} {
		s, _ := o.last(claimed)
		if sign := asksFor[*swapper.SignSmartChainTransaction](&s); len(sign.Txs) != 0 || sign.RequiredSigner != asked.RequiredSigner || sign.Chain != asked.Chain {
			t.Errorf("%s was told %+v", o.name, sign)
		}
	}
	w.finish(claimed)
	w.tower.Behave(watchtower.Behaviour{})
	linked := w.create(swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: w.token("WBTC"), Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, SrcAddress: faucet.LNURL, DstAddress: w.address()}).SwapID
	if _, err := w.client.SettleWithLnurl(w.within(30*time.Second), swapper.SettleWithLnurlInput{SwapID: linked}); err != nil {
		t.Fatal(err)
	}
	w.finish(linked)
	bought := w.create(swapper.CreateSwapInput{SrcToken: w.token("WBTC"), DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut, SrcAddress: w.address(), DstAddress: shop.LNURL}).SwapID
	if end := w.finish(bought); end.LNURL == nil || end.LNURL.SuccessAction == nil {
		t.Fatal("getSwapStatus shows no success action")
	}
	vault := w.create(w.incoming()[swapper.SwapSPVVaultFromBTC]()).SwapID
	w.finish(vault)
	out := w.create(w.outgoing()[swapper.SwapToBTC]()).SwapID
	w.finish(out)

	secrets := map[string]string{"the endpoint's secret": strings.TrimPrefix(secret, "whsec_"), "the withdrawal link": faucet.LNURL, "the success action": "voucher 88-17"}
	for _, id := range []string{claimed, linked, bought, vault, out} {
		for _, o := range []*told{reader, endpoint} {
			deadline := time.Now().Add(time.Minute)
			for s, _ := o.last(id); !s.IsFinished || !s.IsSuccess; s, _ = o.last(id) {
				if time.Now().After(deadline) {
					t.Fatalf("%s was not told the end of %s: %s", o.name, s.SwapType, s.State.Name)
				}
				time.Sleep(20 * time.Millisecond)
			}
			if id == linked || id == bought {
				continue // with less than getSwapStatus
			}
			response := trial.Must(http.Get(server.URL + "/getSwapStatus?swapId=" + id))(t)
			now := trial.Must(io.ReadAll(response.Body))(t)
			response.Body.Close()
			if _, data := o.last(id); data != strings.TrimSpace(string(now)) {
				t.Errorf("%s was told\n%s\ngetSwapStatus says\n%s", o.name, data, now)
			}
		}
		entry := trial.Must(w.store.Get(t.Context(), id))(t)
		var r swap.Record
		trial.Do(t, json.Unmarshal(entry.Body, &r))
		for form, s := range forms(r.Seed[:]) {
			secrets["the seed of "+r.Type.String()+" as "+form] = s
		}
		if r.Lightning == nil {
			continue
		}
		if r.Lightning.Preimage.IsZero() {
			t.Errorf("%s has no preimage to look for", r.Type)
		}
		for form, s := range forms(r.Lightning.Preimage[:]) {
			secrets["the preimage of "+r.Type.String()+" as "+form] = s
		}
		if l := r.Lightning.Withdraw; l != nil {
			secrets["the withdrawal's k1"], secrets["the withdrawal's address"] = l.Params.K1, l.Params.Callback
		}
	}
	for _, o := range []*told{reader, endpoint} {
		text := strings.ToLower(o.String())
		if strings.Count(text, claimed) < 3 {
			t.Fatalf("%s was told hardly anything", o.name)
		}
		for name, s := range secrets {
			if s == "" || strings.Contains(text, strings.ToLower(s)) {
				t.Errorf("%s was told %s, %q", o.name, name, s)
			}
		}
	}
}
