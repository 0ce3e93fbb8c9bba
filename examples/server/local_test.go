package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/storage/bolt"
)

// A server reads where a network stands from what the network printed.
func TestServesALocalNetwork(t *testing.T) {
	net, err := devnet.Start(t.Context(), devnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	dir := t.TempDir()
	write := func(name string, v any) string {
		text, err := json.Marshal(v)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	write("local.json", net.Describe())
	settings := map[string]any{"local": "local.json", "auth": []any{map[string]string{"type": "none", "name": "public"}}, "rateLimit": map[string]int{"windowMs": 1000, "maxRequests": 10}}
	c, err := load(write("config.json", settings))
	if err != nil {
		t.Fatal(err)
	}
	swaps, err := c.swaps(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if swaps.Store, err = bolt.Open(t.Context(), c.path(c.Store), bolt.Options{}); err != nil {
		t.Fatal(err)
	}
	defer swaps.Store.(*bolt.Store).Close()
	client, err := swapper.Open(t.Context(), swaps)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	in, err := client.GetSupportedTokens(t.Context(), swapper.GetSupportedTokensInput{Side: swapper.SideInput})
	if err != nil || len(in) != 5 {
		t.Errorf("%d tokens, %v", len(in), err)
	}

	settings["bitcoinNetwork"] = "TESTNET4"
	if _, err := load(write("config.json", settings)); err == nil {
		t.Error("two networks at once")
	}
}
