package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/httpapi/limit"
)

// Swaps are in a file or in a database, never in both, and a database is not copied here.
func TestWhereTheSwapsAre(t *testing.T) {
	const rest = `bitcoinNetwork: TESTNET4
chains: {CITREA: ["http://127.0.0.1:1"]}
rateLimit: {windowMs: 1, maxRequests: 1}
auth: [{type: none, name: public}]
`
	read := func(text string) (*config, error) {
		t.Helper()
		c := &config{LogFormat: "json", Listen: "127.0.0.1:0"}
		if err := parse([]byte(rest+text), nil, c); err != nil {
			t.Fatal(err)
		}
		return c, c.check()
	}
	if c, err := read(""); err != nil || c.Store != usualStore || c.Database != nil {
		t.Errorf("%+v, %v", c, err)
	}
	t.Setenv("TEST_DATABASE", "host=127.0.0.1 user=swapper password=hunter2hunter2")
	c, err := read("database: {dsnEnv: TEST_DATABASE}")
	if err != nil || c.Store != "" || c.path(c.Store) != "" {
		t.Errorf("%+v, %v", c, err)
	}
	if !slices.Contains(secrets(c), "hunter2hunter2") {
		t.Error("the password of the database is no secret")
	}
	c, err = read("database: {dsn: 'postgres://swapper:p%40ss%20word@127.0.0.1:1/swaps?connect_timeout=1&sslmode=disable'}")
	if hidden := secrets(c); err != nil || !slices.Contains(hidden, "p@ss word") || !slices.Contains(hidden, "p%40ss%20word") {
		t.Errorf("%v, %v", hidden, err)
	}
	if _, _, err := c.openStore(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "database: ") || strings.Contains(err.Error(), "p@ss") || strings.Contains(err.Error(), "p%40ss") {
		t.Errorf("a database that is away: %v", err)
	}
	for text, want := range map[string]string{
		"store: a.db\ndatabase: {dsn: host=a}":            "database: cannot be combined with store",
		"backup: {folder: a}\ndatabase: {dsn: host=a}":    "backup: copies a file",
		"database: {dsn: host=a, dsnEnv: TEST_DATABASE}":  "database: needs dsn or dsnEnv, and not both",
		"database: {dsn: 'postgres://u:hunter2@a:port/'}": "database.dsn: ",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// What a caller may send is divided among the servers on one database.
func TestRatesAreShared(t *testing.T) {
	a := &admission{global: rateConfig{WindowMs: 1000, MaxRequests: 100}, instances: func() int { return 4 }}
	if got := a.share(&a.global); got.Requests != 25 || got != a.global.rate().Share(4) || got == (limit.Rate{}) {
		t.Errorf("%+v", got)
	}
}
