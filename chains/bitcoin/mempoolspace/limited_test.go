package mempoolspace

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// oneURL returns a client of a single URL.
func oneURL(t *testing.T, answers map[string][]answer, concurrency int) (*canned, *Client) {
	t.Helper()
	c := &canned{network: bitcoin.Mainnet, answers: answers}
	client := trial.Must(New(Options{Network: bitcoin.Mainnet, HTTP: &http.Client{Transport: c}, TipAge: -1, URLs: []string{"https://a.example/api/"}, Concurrency: concurrency}))(t)
	return c, client
}

// The only server there is rests for a moment when it limits us, and twice as long each
// time that it does so again; a short rest is waited for, and costs no attempt. One that
// says how long is left alone for so long.
func TestTheOnlyServerLimitsUs(t *testing.T) {
	limit := text("Too Many Requests", 429)
	for name, c := range map[string]struct {
		answers []answer
		took    time.Duration // at least; an eighth of the pauses at random
		asked   int
		ok      bool
	}{
		"once":        {[]answer{limit, text("7")}, 500 * time.Millisecond, 2, true},
		"always":      {[]answer{limit}, 7500 * time.Millisecond, 5, false},
		"with a wait": {[]answer{{Status: 429, header: http.Header{"Retry-After": {"90"}}}}, 7500 * time.Millisecond, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				canned, client := oneURL(t, map[string][]answer{tipA: c.answers}, 1)
				began := time.Now()
				_, err := client.TipHeight(t.Context())
				took := time.Since(began)
				if n := len(canned.requests()); n != c.asked || (err == nil) != c.ok || took < c.took || took > c.took*3/2 {
					t.Errorf("asked %d times in %v, %v; want %d times in %v", n, took, err, c.asked, c.took)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // what others ask meanwhile waits for the end of the rest
		canned, client := oneURL(t, map[string][]answer{tipA: {limit, limit, limit, text("7")}}, 1)
		s := client.sources[0]
		for _, want := range []time.Duration{firstRest, 2 * firstRest, 4 * firstRest} {
			if _, err := round(t.Context(), client, "", func(ctx context.Context, s *source) (struct{}, error) {
				_, err := s.get(ctx, "blocks/tip/height", textLimit)
				return struct{}{}, err
			}); err == nil {
				t.Fatal("no error")
			}
			if rest := time.Until(s.health.until); rest != want {
				t.Errorf("rests %v, want %v", rest, want)
			}
		}
		began := time.Now()
		if height, err := client.TipHeight(t.Context()); err != nil || height != 7 || time.Since(began) != 4*firstRest || len(canned.requests()) != 4 {
			t.Errorf("%d, %v after %v; want 7 after the rest", height, err, time.Since(began))
		}
	})
}

// A transaction that has to be asked for again holds up none of the others, whatever the
// number of requests at once: each answer comes by itself.
func TestEachTxByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 50
		answers := map[string][]answer{tipA: {text("7")}}
		ids := make([]bitcoin.Hash, many)
		for i := range ids {
			ids[i][0] = byte(i + 1)
			list := []answer{text("Transaction not found", 404)}
			if i < 10 { // these fail three times first
				list = slices.Concat(slices.Repeat([]answer{text("oops", 503)}, 3), list)
			}
			answers["GET https://a.example/api/tx/"+ids[i].String()] = list
		}
		_, client := oneURL(t, answers, 2)
		began := time.Now()
		var given, soon int
		for i, r := range client.EachTx(t.Context(), ids) {
			given++
			if r.Err == nil {
				t.Errorf("transaction %d: %+v", i, r)
			}
			if took := time.Since(began); i >= 10 && took == 0 {
				soon++
			} else if i < 10 && took < 3500*time.Millisecond {
				t.Errorf("transaction %d after %v, before its time", i, took)
			}
		}
		if given != many || soon != many-10 {
			t.Errorf("%d answers, %d of them at once; want %d and %d", given, soon, many, many-10)
		}
		if fmt.Sprint(client.Txs(t.Context(), nil)) != "[]" {
			t.Error("answers to no questions")
		}
	})
}
