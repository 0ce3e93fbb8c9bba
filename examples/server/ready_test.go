//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// readyz is what the server says: whether it is ready, and what it lacks.
func (v *town) readyz() (status int, missing string) {
	v.Helper()
	status, text := get(v.T, v.base+"/readyz", nil)
	var said struct{ NotReady []string }
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		v.Fatalf("%v: %s", err, text)
	}
	return status, strings.Join(said.NotReady, ", ")
}

// becomes waits until readyz says something.
func (v *town) becomes(what string, status int, missing string) {
	v.Helper()
	v.until(fmt.Sprintf("%s: %d %q", what, status, missing), func() bool {
		got, lacks := v.readyz()
		return got == status && lacks == missing
	})
}

// A server is ready while it can make and move some swaps: what all servers lack alike is
// named, and turns no caller away.
func TestReadyWithoutProvidersOrBitcoin(t *testing.T) {
	trial.OnlyFull(t)
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	v.net.Misbehave(swappertest.LPFault{Down: true})
	v.serve(map[string]any{"local": "local.json"}) // which is ready
	if status, text := get(t, v.base+"/readyz", nil); status != http.StatusOK || !strings.Contains(text, `"oneNode":["CITREA"]`) {
		t.Errorf("with one node: %d %s", status, text)
	}
	v.becomes("no provider", http.StatusOK, "liquidity providers")
	v.net.Misbehave(swappertest.BitcoinFault{Down: true})
	v.becomes("no Bitcoin", http.StatusOK, "bitcoin")
	v.net.Misbehave(swappertest.NodeFault{Chain: "CITREA", Down: true})
	v.becomes("no chain at all", http.StatusServiceUnavailable, "CITREA")
	v.net.Misbehave()
	v.becomes("all of it", http.StatusOK, "")
	v.settle(v.fromLightning())
}

// A store on a disk that is full reads as well as ever. Whoever gets callers for it
// answers 500 to each that makes a swap.
func TestNotReadyWithAFullDisk(t *testing.T) {
	trial.OnlyFull(t)
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	path := v.write("config.yaml", map[string]any{"local": "local.json", "logLevel": "error",
		"auth": []any{map[string]any{"type": "none", "name": "public", "rateLimit": nil}}, "rateLimit": map[string]int{"windowMs": 1000, "maxRequests": 10}})
	v.process(path, free(t))
	v.create(v.fromBitcoin())
	file := filepath.Join(v.dir, usualStore)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(v.orders, "file %d\n", info.Size()); err != nil {
		t.Fatal(err)
	}
	made, failed := 0, 0
	for late := time.Now().Add(2 * time.Minute); failed < 3; {
		if _, err := v.swaps.CreateSwap(t.Context(), v.fromBitcoin()); err == nil {
			made++ // in pages that the file had left
		} else {
			failed++
		}
		if time.Now().After(late) {
			t.Fatalf("the disk is full, and %d swaps were made", made)
		}
	}
	v.becomes("a full disk", http.StatusServiceUnavailable, "store")
	if status, _ := get(t, v.base+"/healthz", nil); status != http.StatusOK {
		t.Errorf("a full disk is no reason to start again, healthz says %d", status)
	}
	// It stays so, and says it of itself alone.
	for range 3 {
		time.Sleep(5 * time.Second)
		if status, lacks := v.readyz(); status != http.StatusServiceUnavailable || lacks != "store" {
			t.Errorf("the disk is still full: %d %q", status, lacks)
		}
	}
	if _, err := fmt.Fprintln(v.orders, "file 0"); err != nil {
		t.Fatal(err)
	}
	v.becomes("room again", http.StatusOK, "")
	v.create(v.fromBitcoin())
	t.Logf("%d swaps were made in what the file had left", made)
}

// So does a database that has become a standby, or was set to be read only; and one that is
// away says nothing.
func TestNotReadyWithADatabaseThatCannotWrite(t *testing.T) {
	trial.OnlyFull(t)
	server := pgtest.Start(t)
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	t.Setenv("TEST_READY_DATABASE", server.DSN())
	v.serve(map[string]any{"local": "local.json", "database": map[string]string{"dsnEnv": "TEST_READY_DATABASE"}, "logLevel": "error"})
	v.becomes("a database", http.StatusOK, "")
	order := func(is string) {
		t.Helper()
		c, err := pgx.Connect(t.Context(), server.DSN())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(t.Context())
		for _, text := range []string{"ALTER SYSTEM SET default_transaction_read_only = " + is, "SELECT pg_reload_conf()"} {
			if _, err := c.Exec(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
	}
	order("on")
	v.becomes("a database that only reads", http.StatusServiceUnavailable, "store")
	order("off")
	v.becomes("a database", http.StatusOK, "")
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	v.becomes("a database that is away", http.StatusServiceUnavailable, "store")
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	v.becomes("a database", http.StatusOK, "")
}
