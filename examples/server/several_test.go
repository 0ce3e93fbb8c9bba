//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/postgres"
)

// neighbour starts another server, as a process of its own, and returns what kills it.
func (v *town) neighbour(name string, settings map[string]any) (other *town, admin string, kill func()) {
	v.Helper()
	admin = free(v.T)
	own := map[string]any{"admin": map[string]string{"listen": admin}}
	for key, value := range settings {
		if own[key] == nil {
			own[key] = value
		}
	}
	other = &town{T: v.T, net: v.net, text: v.text, says: v.says, dir: v.dir}
	return other, admin, other.process(v.write(name+".yaml", own), free(v.T))
}

// until waits for something, with patience: other work may load the machine.
func (v *town) until(what string, is func() bool) {
	v.Helper()
	for late := time.Now().Add(2 * time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(late) {
			v.Fatalf("never: %s\n%s", what, v.log.String())
		}
	}
}

// metric is what a server says of itself by a metric without labels; -1 if it does not.
func metric(t *testing.T, admin, name string) int {
	t.Helper()
	_, text := get(t, "http://"+admin+"/metrics", nil)
	found := regexp.MustCompile(`(?m)^` + name + ` (\d+)$`).FindStringSubmatch(text)
	if found == nil {
		return -1
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// leased returns what counts the processes that have a part of the swaps, if all of them are given out.
func leased(t *testing.T, dsn, schema string) func() (owners int) {
	t.Helper()
	store, err := postgres.Open(t.Context(), dsn, postgres.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return func() int {
		all, err := store.Leases(t.Context(), "swaps/")
		if err != nil {
			t.Fatal(err)
		}
		if len(all) < 64 {
			return 0
		}
		return len(slices.Compact(slices.Sorted(maps.Values(all))))
	}
}

// Servers need nothing but the same database to share the work: what one has made any
// shows, streams and webhooks tell what others do, and when one is killed in the middle of
// swaps, the other brings them to their end without being asked, which is tried at full depth.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	schema := pgtest.Schema(t, dsn)
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	shop := &shop{T: t, held: make(chan delivery, 1)}
	hooks := httptest.NewServer(shop)
	defer hooks.Close()
	admin := free(t)
	settings := map[string]any{
		"local": "local.json", "database": map[string]string{"dsn": dsn, "schema": schema}, "admin": map[string]string{"listen": admin}, "logLevel": "error",
		"webhooks":  map[string]any{"allowLocal": true, "endpoints": []any{map[string]any{"name": "shop", "url": hooks.URL, "secrets": []string{webhook.NewSecret()}}}},
		"auth":      []any{map[string]any{"type": "none", "name": "public", "rateLimit": nil}},
		"rateLimit": map[string]int{"windowMs": 1000, "maxRequests": 10},
	}
	v.serve(settings)
	delete(settings, "admin")
	other, otherAdmin, kill := v.neighbour("other", settings)
	leases := leased(t, dsn, schema)
	v.until("both have leases", func() bool { return leases() > 1 }) // metrics that are asked for sooner serve for seconds
	divided := func() bool {
		mine, others := metric(t, admin, "swapper_shards"), metric(t, otherAdmin, "swapper_shards")
		return mine > 0 && others > 0 && mine+others == 64 && metric(t, admin, "swapper_instances") == 2
	}
	v.until("both have a part of the swaps", divided)

	// A stream at one tells what is made at the other.
	stream, err := http.Get(v.base + "/api/subscribe?signer=" + url.QueryEscape(v.me()))
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatal(stream, err)
	}
	defer stream.Body.Close()
	var mu sync.Mutex
	var heard []string // in any order
	go func() {
		lines := bufio.NewReader(stream.Body)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			mu.Lock()
			heard = append(heard, line)
			mu.Unlock()
		}
	}()
	hears := func(id, what string) {
		t.Helper()
		v.until("the stream says "+what, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return slices.ContainsFunc(heard, func(line string) bool { return strings.Contains(line, id) && strings.Contains(line, what) })
		})
	}
	in := v.fromLightning()
	in.IdempotencyKey = "once"
	first, err := other.swaps.CreateSwap(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	hears(first.SwapID, `"isFinished":false`)
	if again := v.create(in); again.SwapID != first.SwapID {
		t.Error("a request that is repeated elsewhere makes another swap")
	}
	v.until("the webhook", func() bool { return shop.last(first.SwapID).id != "" })

	if !trial.Full() { // leases last long
		return
	}

	// Swaps that are paid, and nobody asks for any more.
	var paid []string
	for range 8 {
		in := v.fromLightning()
		in.Amount = big.NewInt(20_000 + int64(len(paid)))
		s, err := other.swaps.CreateSwap(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.net.User.FinishUntil(t.Context(), other.swaps, s.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
			_, waits := s.CurrentAction.(*swapper.Wait)
			return s.CurrentAction == nil || waits
		}); err != nil {
			t.Fatal(err)
		}
		paid = append(paid, s.SwapID)
	}
	killed := time.Now()
	kill()
	v.until("the other's swaps are taken over", func() bool { return metric(t, admin, "swapper_shards") == 64 })
	t.Logf("taken over after %s", time.Since(killed).Round(time.Millisecond))
	for _, id := range paid {
		v.until("a swap succeeds that nobody asks for", func() bool { return shop.last(id).Data.IsSuccess })
		hears(id, `"isSuccess":true`)
	}

	// One that comes gets its part, and one that ends leaves it.
	other, otherAdmin, _ = v.neighbour("third", settings)
	v.until("both have a part of the swaps", divided)
	v.finish(first.SwapID, nil)
	if s, err := other.swaps.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: first.SwapID}); err != nil || !s.IsSuccess {
		t.Errorf("a swap that another has finished: %+v, %v", s, err)
	}
	stream.Body.Close()
	if err := v.end(); err != nil {
		t.Error(err)
	}
	v.until("the last one has all", func() bool {
		return metric(t, otherAdmin, "swapper_shards") == 64 && metric(t, otherAdmin, "swapper_instances") == 1
	})
}
