package swapper

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// systemClock are the files that read the system's clock, and why they do not read
// [Config.Now]: whatever decides about a swap goes by that.
var systemClock = map[string]string{
	"config.go":                             "the default",
	"price/cache.go":                        "the default",
	"internal/nostr/messenger.go":           "the default",
	"internal/lp/discovery/directory.go":    "the default",
	"internal/lp/lphttp/client.go":          "the default",
	"internal/fleet/fleet.go":               "the default; leases are real time",
	"internal/lnurl/client.go":              "the default",
	"storage/bolt/commit.go":                "measures how long a commit takes",
	"storage/postgres/attempt.go":           "measures how long a lost connection is tried anew",
	"chains/bitcoin/mempoolspace/health.go": "on the wire: how long a server rests",
	"chains/bitcoin/mempoolspace/source.go": "on the wire: how long a server asks to be left alone",
	"chains/bitcoin/mempoolspace/aged.go":   "on the wire: how old an answer is",
	"chains/bitcoin/mempoolspace/ask.go":    "on the wire: how long an answer takes",
	"chains/bitcoin/mempoolspace/blocks.go": "on the wire: how old an answer is",
	"chains/bitcoin/noderpc/follow.go":      "on the wire: how long a node waited",
	"chains/bitcoin/mempoolspace/txs.go":    "on the wire: how old an answer is",
	"internal/async/recent.go":              "on the wire: how old an answer is",
	"internal/chainio/inquiries.go":         "on the wire: how long an answer takes, and how old it is",
	"internal/chainio/batch.go":             "on the wire: how long questions are collected",
	"internal/engine/backoff.go":            "on the wire: how often a silent provider is asked",
	"httpapi/handler.go":                    "on the wire: deadlines of connections",
	"httpapi/events/options.go":             "the default",
	"httpapi/events/streams.go":             "on the wire: how long nothing was told",
	"httpapi/events/writer.go":              "on the wire: deadlines of connections",
	"httpapi/metrics/metrics.go":            "measures how long answers take",
	"httpapi/metrics/snapshot.go":           "how old the last snapshot is",
	"httpapi/webhook/options.go":            "the default",
	"verify/config.go":                      "the default",
	"httpapi/webhook/deliver.go":            "on the wire: receivers compare the time of a message with their clocks",
	"httpapi/webhook/sender.go":             "how often the store is looked at",
	"httpapi/limit/limit.go":                "the default",
	"internal/subscribe/listen.go":          "on the wire: how long a node was silent",
	"internal/subscribe/longpoll.go":        "on the wire: how often a node is asked",
	"internal/subscribe/nodes.go":           "on the wire: how long a hint waits for an answer that explains it",
	"internal/subscribe/poll.go":            "on the wire: how often a node is asked",
	"watchtower/config.go":                  "the default",
	"internal/lp/lphttp/call.go":            "measures how long answers take",
	"client_stats.go":                       "measures how long answers take",
	"client_ready.go":                       "how old the last look at the store is",
	"httpapi/metrics/webhooks.go":           "how old the last snapshot is",
}

// TestClock makes sure that the clock is [Config.Now] everywhere but on the wire.
func TestClock(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"examples", "e2e", "tools", "internal/devnet", "internal/vectors", "internal/flowtest", "storage/storagetest", "internal/pgtest", "chains/chaintest",
			"chains/bitcoin/backendtest", "swappertest"}, path) || d.Name() == "testdata" || path != "." && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"time.Now", "time.Since", "time.Until"}, fmt.Sprint(s.X)+"."+s.Sel.Name) {
				seen[path] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range seen {
		if systemClock[path] == "" {
			t.Errorf("%s reads the system's clock; read Config.Now, or say here why not", path)
		}
	}
	for path := range systemClock {
		if !seen[path] {
			t.Errorf("%s does not read the system's clock any more", path)
		}
	}
}
