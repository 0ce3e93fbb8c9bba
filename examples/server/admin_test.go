package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi/metrics"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
)

// copies keeps copies of a store with an entry in a folder.
func copies(t *testing.T, every time.Duration, keep int) *backups {
	t.Helper()
	dir := t.TempDir()
	store, err := bolt.Open(t.Context(), filepath.Join(dir, "swaps.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	if err := store.Create(t.Context(), storage.Entry{ID: "a", Body: []byte("b")}); err != nil {
		t.Fatal(err)
	}
	c := &config{folder: dir, Backup: &backupConfig{Folder: "backups", Every: duration(every), Keep: keep}}
	b, err := c.backups(store, nil, quiet())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// hooked is a sender of webhooks that notes what is enabled.
type hooked struct {
	mu      sync.Mutex
	enabled []string
}

func (h *hooked) States(context.Context) ([]webhook.State, error) {
	return []webhook.State{{Name: "shop", Waiting: 3, Gone: true, Failures: 4, Problem: "HTTP status 410"}}, nil
}

func (h *hooked) Enable(_ context.Context, name string) error {
	if name != "shop" {
		return fault.New(fault.NotFound, "no endpoint has the name %q", name)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.enabled = append(h.enabled, name)
	return nil
}

// No page in the operator's browser can read the metrics, make copies or enable endpoints:
// neither by sending a request across, nor by a name that is made to lead here.
func TestAdminIsForTheOperator(t *testing.T) {
	s := newService(t, `[{"type": "none", "name": "public"}]`, "")
	s.metrics = metrics.New(metrics.Options{Registry: prometheus.NewRegistry()})
	b, h := copies(t, 0, 0), &hooked{}
	admin := s.admin(&adminConfig{Listen: "ops.internal:3001", Hosts: []string{"Swapper.Monitoring.svc"}}, b, h)
	for _, c := range []struct {
		host, origin, site string
		ok                 bool
	}{
		{"127.0.0.1:3001", "", "", true}, {"127.0.0.1", "", "", true}, {"10.0.0.7:3001", "", "", true}, {"[::1]:3001", "", "", true}, {"[fd00::1]", "", "", true},
		{"localhost:3001", "", "", true}, {"LOCALHOST", "", "", true}, {"ops.internal:3001", "", "", true}, {"swapper.monitoring.svc:3001", "", "", true}, {"ops.internal.:3001", "", "", true},
		{"127.0.0.1:3001", "http://127.0.0.1:3001", "", true}, {"127.0.0.1:3001", "", "none", true}, {"127.0.0.1:3001", "", "same-origin", true},
		{"evil.example", "", "", false}, {"evil.example:3001", "", "", false}, {"127.0.0.1.evil.example", "", "", false}, {"localhost.evil.example:3001", "", "", false}, {"", "", "", false},
		{"127.0.0.1:3001", "http://evil.example", "", false}, {"127.0.0.1:3001", "null", "", false}, {"127.0.0.1:3001", "http://127.0.0.1:3000", "", false}, {"127.0.0.1:3001", "https://127.0.0.1:3001", "", false},
		{"evil.example:3001", "http://evil.example:3001", "same-origin", false}, {"127.0.0.1:3001", "", "cross-site", false}, {"127.0.0.1:3001", "", "same-site", false},
	} {
		for _, ask := range [][2]string{{"GET", "/metrics"}, {"POST", "/backup"}, {"GET", "/webhooks"}, {"POST", "/webhooks/enable?endpoint=shop"}} {
			r := httptest.NewRequest(ask[0], ask[1], nil)
			r.Host = c.host
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			before := len(h.enabled)
			w := httptest.NewRecorder()
			admin.ServeHTTP(w, r)
			if want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[c.ok]; w.Code != want {
				t.Errorf("%v with %+v: %d %s, want %d", ask, c, w.Code, w.Body, want)
			}
			if !c.ok && (len(h.enabled) != before || strings.Contains(w.Body.String(), "shop")) {
				t.Errorf("%v with %+v: did it all the same", ask, c)
			}
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/healthz", nil) // tells nothing
		r.Host = c.host
		if admin.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Errorf("healthz for %q: %d", c.host, w.Code)
		}
	}
	if made, _ := filepath.Glob(filepath.Join(b.folder, "swaps-*.db")); len(made) > 13 {
		t.Errorf("%d copies were made", len(made))
	}
}

// Endpoints of webhooks are shown, and enabled by their names.
func TestAdminWebhooks(t *testing.T) {
	s := newService(t, `[{"type": "none", "name": "public"}]`, "")
	s.metrics = metrics.New(metrics.Options{Registry: prometheus.NewRegistry()})
	h := &hooked{}
	server := httptest.NewServer(s.admin(&adminConfig{Listen: "127.0.0.1:0"}, nil, h))
	defer server.Close()
	status, _, text := call(t, server.URL, "GET", "/webhooks", "", nil)
	var got []struct {
		Name, Problem     string
		Gone              bool
		Waiting, Failures int
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusOK || len(got) != 1 || got[0].Name != "shop" || !got[0].Gone || got[0].Waiting != 3 {
		t.Errorf("%d %s, %v", status, text, err)
	}
	for path, want := range map[string]int{"/webhooks/enable?endpoint=shop": 200, "/webhooks/enable?endpoint=nobody": 404, "/webhooks/enable": 404} {
		if status, _, text := call(t, server.URL, "POST", path, "", nil); status != want {
			t.Errorf("%s: %d %s, want %d", path, status, text, want)
		}
	}
	if status, _, _ := call(t, server.URL, "GET", "/webhooks/enable?endpoint=shop", "", nil); status == http.StatusOK || len(h.enabled) != 1 {
		t.Errorf("GET: %d, enabled %v", status, h.enabled)
	}
	without := httptest.NewServer(s.admin(&adminConfig{}, nil, nil))
	defer without.Close()
	if status, _, _ := call(t, without.URL, "GET", "/webhooks", "", nil); status != http.StatusNotFound {
		t.Errorf("without webhooks: %d", status)
	}
}

// past makes copies as of some moments before now.
func past(t *testing.T, b *backups, ago ...time.Duration) (names []string) {
	t.Helper()
	for _, d := range ago {
		name := swapsCopy.nameAt(time.Now().Add(-d))
		if err := os.WriteFile(filepath.Join(b.folder, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

func inFolder(t *testing.T, b *backups) (names []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(b.folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		names = append(names, filepath.Base(path))
	}
	slices.Sort(names)
	return names
}

// Copies that are asked for one after the other take each other's places, not those of the days before.
func TestABurstOfBackupsKeepsHistory(t *testing.T) {
	const h = time.Hour
	for name, c := range map[string]struct {
		every, gap time.Duration
	}{"every six hours": {6 * h, 6 * h}, "only when asked": {0, 24 * h}} {
		t.Run(name, func(t *testing.T) {
			b := copies(t, c.every, 5)
			history := past(t, b, 4*c.gap, 3*c.gap, 2*c.gap, c.gap)
			var made []string
			for range 20 {
				name, err := b.make(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				made = append(made, name)
				time.Sleep(2 * time.Millisecond) // names tell milliseconds
			}
			// The first takes the place of the oldest, as one that was due would, and the others that of the last.
			if got, want := inFolder(t, b), append(slices.Clone(history[1:]), made[0], made[19]); !slices.Equal(got, want) {
				t.Errorf("kept %v, want %v", got, want)
			}
		})
	}
	// Without a burst the oldest goes.
	b := copies(t, 6*h, 3)
	history := past(t, b, 18*h, 12*h, 6*h)
	made, err := b.make(t.Context())
	if got, want := inFolder(t, b), append(slices.Clone(history[1:]), made); err != nil || !slices.Equal(got, want) {
		t.Errorf("kept %v, want %v; %v", got, want, err)
	}
	// A burst that goes on for days still leaves copies of each day.
	b = copies(t, 6*h, 6)
	var all []string
	for ago := 48 * h; ago > 0; ago -= 10 * time.Minute {
		all = append(all, past(t, b, ago)[0])
		if err := b.tidy(); err != nil {
			t.Fatal(err)
		}
	}
	left := inFolder(t, b)
	at := func(name string) time.Time { when, _ := swapsCopy.timeOf(name); return when }
	if len(left) != 6 || left[5] != all[len(all)-1] || at(left[5]).Sub(at(left[0])) < 12*h {
		t.Errorf("kept %v", left)
	}
}

// What an earlier process has begun to copy and never finished goes; other files stay.
func TestUnfinishedBackupsGo(t *testing.T) {
	b := copies(t, 0, 0)
	old := time.Now().Add(-2 * time.Hour)
	for name, at := range map[string]time.Time{"swaps-20260101T000000.000Z.db.123.part": old, "swaps-20260101T000000.000Z.db.124.part": time.Now(), "notes.part": old, "swaps-mine.db": old} {
		path := filepath.Join(b.folder, name)
		if err := errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	b.keep = 1
	made, err := b.make(t.Context())
	want := []string{"notes.part", "swaps-20260101T000000.000Z.db.124.part", made, "swaps-mine.db"}
	if got := inFolder(t, b); err != nil || !slices.Equal(got, want) {
		t.Errorf("left %v, want %v; %v", got, want, err)
	}
	// They go at the start too, when no copy is made for hours.
	if err := os.Chtimes(filepath.Join(b.folder, want[1]), old, old); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.run(ctx)
	if got := inFolder(t, b); slices.Contains(got, want[1]) {
		t.Errorf("left %v", got)
	}
}

// The copies of the watchtower's file come and go with those of the swaps'; one that is alone is of a
// backup that was not completed.
func TestBackupsArePairs(t *testing.T) {
	b := copies(t, 6*time.Hour, 2)
	dir := t.TempDir()
	tower, err := bolt.Open(t.Context(), filepath.Join(dir, "watchtower.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tower.Close() })
	b.tower = tower
	alone := past(t, b, 12*time.Hour)[0] // from before there was a watchtower
	pair := func() []string {
		t.Helper()
		name, err := b.make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at, _ := swapsCopy.timeOf(name)
		time.Sleep(2 * time.Millisecond) // names tell milliseconds
		return []string{name, towerCopy.nameAt(at)}
	}
	check := func(what string, want ...string) {
		t.Helper()
		slices.Sort(want)
		if got := inFolder(t, b); !slices.Equal(got, want) {
			t.Errorf("%s: has %v, want %v", what, got, want)
		}
	}
	first := pair()
	check("one that is alone, and a pair", append(first, alone)...)
	second := pair()
	check("too many", append(second, first...)...)

	// A process that ended between the two files, or in the middle of the first.
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{towerCopy.nameAt(old), towerCopy.nameAt(old) + ".123.part"} {
		path := filepath.Join(b.folder, name)
		if err := errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Chtimes(path, old, old)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.tidy(); err != nil {
		t.Fatal(err)
	}
	check("not completed", append(second, first...)...)

	// The swaps cannot be copied: nothing of that backup stays.
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.make(t.Context()); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("the swaps' file is closed: %v", err)
	}
	check("failed", append(second, first...)...)
}

// Who asks while a copy is being made shares the next one with all others who do.
func TestBackupsAtOnce(t *testing.T) {
	b := copies(t, 0, 0)
	var all sync.WaitGroup
	var asking atomic.Int64
	var mu sync.Mutex
	names := map[string]bool{}
	b.one.Lock()
	for range 50 {
		all.Go(func() {
			began := time.Now()
			asking.Add(1)
			name, err := b.make(t.Context())
			if at, ok := swapsCopy.timeOf(name); err != nil || !ok || at.Before(began.Truncate(time.Millisecond)) {
				t.Errorf("%s, %v: the copy is older than the request", name, err)
			}
			mu.Lock()
			names[name] = true
			mu.Unlock()
		})
	}
	for asking.Load() < 50 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	b.one.Unlock()
	all.Wait()
	if len(names) != 1 {
		t.Errorf("%d copies for who asked together", len(names))
	}
	if _, err := b.make(t.Context()); err != nil || len(inFolder(t, b)) != 2 {
		t.Errorf("%v, %v", inFolder(t, b), err)
	}
}
