package main

import (
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/storage/bolt"
)

// checked says what -check finds in a configuration with some members changed; nil takes one out.
func checked(t *testing.T, change map[string]any, environ ...string) error {
	t.Helper()
	members := map[string]any{
		"bitcoinNetwork": "TESTNET4", "chains": map[string]any{"CITREA": []string{"http://127.0.0.1:1"}}, "listen": "127.0.0.1:0",
		"rateLimit": map[string]any{"windowMs": 1000, "maxRequests": 10}, "auth": []any{map[string]any{"type": "none", "name": "public"}},
	}
	maps.Copy(members, change)
	maps.DeleteFunc(members, func(_ string, v any) bool { return v == nil })
	text, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(path, environ)
	if err == nil {
		err = run(t.Context(), c, true, quiet())
	}
	return err
}

type m = map[string]any

// What the start would stumble over, and what would leave a door open, -check names.
func TestCheckFindsWhatTheStartWould(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	if err := os.WriteFile(foreign, []byte("not a store"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := filepath.Join(dir, "good.db")
	s, err := bolt.Open(t.Context(), good, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // by the service that runs while -check does
	t.Setenv("TEST_SHORT_KEY", "abc")
	key := strings.Repeat("k", 16)
	auth := func(entries ...m) m { return m{"auth": entries} }
	public := m{"type": "none", "name": "public"}
	for name, c := range map[string]struct {
		change m
		want   string // "": nothing is wrong
	}{
		"good": {m{}, ""},

		"base path":                        {m{"basePath": "/swaps/v1"}, ""},
		"base path of everything":          {m{"basePath": "/"}, ""},
		"base path with a wildcard":        {m{"basePath": "/{x}"}, "basePath"},
		"base path with half a wildcard":   {m{"basePath": "/api{"}, "basePath"},
		"base path to the end":             {m{"basePath": "/{$}"}, "basePath"},
		"base path with a space":           {m{"basePath": "/a b"}, "basePath"},
		"base path that goes up":           {m{"basePath": "/../api"}, "basePath"},
		"base path with empty parts":       {m{"basePath": "/a//b"}, "basePath"},
		"base path with a query":           {m{"basePath": "/a?b"}, "basePath"},
		"base path in the checks' place":   {m{"basePath": "/healthz"}, ""},
		"base path that has to be escaped": {m{"basePath": "/%61"}, "basePath"},

		"an address that is taken":         {m{"listen": busy.Addr().String()}, ""}, // by the service that is to be restarted
		"no address":                       {m{"listen": "everywhere"}, "listen"},
		"an address without a port":        {m{"listen": "127.0.0.1"}, "listen"},
		"a port that is none":              {m{"listen": "127.0.0.1:70000"}, "listen"},
		"an address of another machine":    {m{"listen": "192.0.2.1:3000"}, "listen"},
		"the operator's, without a port":   {m{"admin": m{"listen": "127.0.0.1"}}, "admin.listen"},
		"the operator's, nowhere":          {m{"admin": m{}}, "admin.listen"},
		"the operator's, everybody's":      {m{"listen": "127.0.0.1:3999", "admin": m{"listen": "127.0.0.1:3999"}}, "admin.listen"},
		"the operator's, also everybody's": {m{"listen": ":3999", "admin": m{"listen": "127.0.0.1:3999"}}, "admin.listen"},
		"a name of the operator's":         {m{"admin": m{"listen": "127.0.0.1:0", "hosts": []string{"swapper.internal"}}}, ""},
		"a URL in place of the name":       {m{"admin": m{"listen": "127.0.0.1:0", "hosts": []string{"http://swapper.internal"}}}, "admin.hosts[0]"},
		"a pattern in place of the name":   {m{"admin": m{"listen": "127.0.0.1:0", "hosts": []string{"*"}}}, "admin.hosts[0]"},

		"a store that is open":             {m{"store": good}, ""},
		"a store that is to be made":       {m{"store": filepath.Join(dir, "new.db")}, ""},
		"a store in no folder":             {m{"store": filepath.Join(dir, "none", "swaps.db")}, "store"},
		"a store that is none":             {m{"store": foreign}, "store"},
		"a store that is a folder":         {m{"store": dir}, "store"},
		"a store where nothing is written": {m{"store": "/proc/swaps.db"}, "store"},
		"a database that is away":          {m{"database": m{"dsn": "host=127.0.0.1 port=1 connect_timeout=1"}}, "database"},
		"a database's schema":              {m{"database": m{"dsn": "host=127.0.0.1 port=1 connect_timeout=1", "schema": "No Schema"}}, "schema"},
		"no folder for backups":            {m{"backup": m{"keep": 3}}, "backup.folder"},
		"less than no backups":             {m{"backup": m{"folder": "b", "keep": -1}}, "backup.keep"},
		"a folder for backups":             {m{"backup": m{"folder": filepath.Join(dir, "b"), "keep": 3}}, ""},
		"a file in the folder's place":     {m{"backup": m{"folder": foreign}}, "backup.folder"},
		"a folder that cannot be made":     {m{"backup": m{"folder": "/proc/backups"}}, "backup.folder"},

		"RPC of no scheme":               {m{"chains": m{"CITREA": []string{"rpc.example"}}}, "rpc"},
		"RPC over something else":        {m{"chains": m{"CITREA": []string{"ws://rpc.example"}}}, "rpc"},
		"RPC without a host":             {m{"chains": m{"SOLANA": []string{"https:///x"}}}, "rpc"},
		"RPC of Starknet":                {m{"chains": m{"STARKNET": []string{"https://ok.example", "starknet"}}}, "rpc"},
		"no graph":                       {m{"bitcoinNetwork": "MAINNET", "chains": m{"SOLANA": []string{"http://127.0.0.1:1"}}, "bitcoin": m{"node": m{"url": "http://127.0.0.1:1"}}}, "graph"},
		"a provider of no scheme":        {m{"lps": []string{"lp.example"}}, "lps.urls[0]"},
		"a provider by http":             {m{"lps": []string{"http://lp.example"}}, "lps.urls[0]"},
		"a provider by http, as allowed": {m{"lps": m{"urls": []string{"http://lp.example"}, "allowHttp": true}}, ""},
		"a local provider":               {m{"lps": m{"urls": []string{"http://127.0.0.1:4000"}, "allowLocal": true}}, ""},
		"a list of no scheme":            {m{"lps": m{"registry": "lps.example/list.json"}}, "lps.registry"},
		"trust in no URL":                {m{"lps": m{"trusted": "lp.example"}}, "lps.trusted"},

		"a key":                          {auth(m{"type": "apiKey", "name": "x", "apiKey": key}), ""},
		"a key of one letter":            {auth(m{"type": "apiKey", "name": "x", "apiKey": "a"}), "auth[0].apiKey"},
		"a key of fifteen letters":       {auth(m{"type": "apiKey", "name": "x", "apiKey": key[1:]}), "auth[0].apiKey"},
		"a short key in a variable":      {auth(m{"type": "apiKey", "name": "x", "apiKeyEnv": "TEST_SHORT_KEY"}), "auth[0].apiKeyEnv"},
		"a key with a line end":          {auth(m{"type": "apiKey", "name": "x", "apiKey": key + "\n"}), "auth[0].apiKey"},
		"a header":                       {auth(m{"type": "apiKey", "name": "x", "apiKey": key, "header": "X-Own"}), ""},
		"a header with a space":          {auth(m{"type": "apiKey", "name": "x", "apiKey": key, "header": "X Own"}), "auth[0].header"},
		"a header with a colon":          {auth(m{"type": "apiKey", "name": "x", "apiKey": key, "header": "X-Own:"}), "auth[0].header"},
		"a header that is not handed on": {auth(m{"type": "apiKey", "name": "x", "apiKey": key, "header": "Host"}), "auth[0].header"},
		"an entry behind none":           {auth(public, m{"type": "apiKey", "name": "x", "apiKey": key}), "auth[1]"},
		"two that admit everybody":       {auth(public, m{"type": "none", "name": "all"}), "auth[1]"},
		"everybody at the end":           {auth(m{"type": "apiKey", "name": "x", "apiKey": key}, public), ""},
		"pages' headers":                 {m{"cors": m{"origin": "*", "allowedHeaders": []string{"X Own"}}}, "cors.allowedHeaders[0]"},
		"pages' methods":                 {m{"cors": m{"origin": "*", "methods": []string{"GET POST"}}}, "cors.methods[0]"},
		"the collector's headers":        {m{"tracing": m{"endpoint": "http://127.0.0.1:1", "headers": m{"X Own": "1"}}}, "tracing.headers"},
		"the collector's values":         {m{"tracing": m{"endpoint": "http://127.0.0.1:1", "headers": m{"X-Own": "a\nb"}}}, "tracing.headers"},

		"every proxy":             {m{"trustedProxies": []string{"0.0.0.0/0"}}, "trustedProxies[0]"},
		"every proxy by IPv6":     {m{"trustedProxies": []string{"127.0.0.0/8", "::/0"}}, "trustedProxies[1]"},
		"half of all":             {m{"trustedProxies": []string{"0.0.0.0/1", "128.0.0.0/1"}}, "trustedProxies[0]"},
		"what maps all":           {m{"trustedProxies": []string{"::ffff:0:0/96"}}, "trustedProxies[0]"},
		"private networks":        {m{"trustedProxies": []string{"10.0.0.0/8", "fc00::/7", "::1/128", "2400:cb00::/32"}}, ""},
		"a window that is long":   {m{"rateLimit": m{"windowMs": 86_400_000, "maxRequests": 1_000_000}}, ""},
		"a window that overflows": {m{"rateLimit": m{"windowMs": 9_300_000_000_000, "maxRequests": 1}}, "rateLimit"},
		"a window of an entry's":  {auth(m{"type": "none", "name": "x", "rateLimit": m{"windowMs": 9_300_000_000_000, "maxRequests": 1}}), "auth[0].rateLimit"},
		"more than any requests":  {m{"rateLimit": m{"windowMs": 1000, "maxRequests": int64(9_000_000_000_000_000_000)}}, "rateLimit"},
		"more than any places":    {m{"limits": m{"connections": int64(9_000_000_000_000_000_000)}}, "limits"},

		"webhooks":                          {m{"webhooks": m{"endpoints": []m{{"name": "shop", "url": "https://shop.example", "secrets": webhook.NewSecret()}}}}, ""},
		"a webhook to nowhere, if local":    {m{"webhooks": m{"allowLocal": true, "endpoints": []m{{"name": "shop", "url": "ftp://shop.example", "secrets": webhook.NewSecret()}}}}, "webhooks"},
		"two webhooks of one name":          {m{"webhooks": m{"endpoints": []m{{"name": "shop", "url": "https://a.example", "secrets": webhook.NewSecret()}, {"name": "shop", "url": "https://b.example", "secrets": webhook.NewSecret()}}}}, "webhooks"},
		"a proxy for onions that is no one": {m{"lnurl": m{"onionProxy": "tor"}}, "lnurl.onionProxy"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checked(t, c.change)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); !slices.Equal(left, []string{foreign, good}) {
		t.Errorf("-check leaves %v", left)
	}
}

// -check sends nothing to nodes, providers or services.
func TestCheckAsksNobody(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	all := []string{server.URL}
	if err := checked(t, m{"chains": m{"CITREA": all, "SOLANA": all, "STARKNET": all}, "bitcoin": m{"urls": all}, "clock": server.URL,
		"lps": m{"urls": all, "allowLocal": true}, "prices": m{"services": m{"binance": server.URL}}, "tracing": m{"endpoint": server.URL}, "relays": []string{"ws" + server.URL[4:]},
		"webhooks": m{"allowLocal": true, "endpoints": []m{{"name": "shop", "url": server.URL, "secrets": webhook.NewSecret()}}}}); err != nil {
		t.Error(err)
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// Who configures no address serves this machine alone.
func TestListensAtHome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("bitcoinNetwork: TESTNET4\nchains: {CITREA: [\"http://127.0.0.1:1\"]}\nrateLimit: {windowMs: 1, maxRequests: 1}\nauth: [{type: none, name: public}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := load(path, nil)
	if err != nil || c.Listen != "127.0.0.1:3000" {
		t.Errorf("%+v, %v", c, err)
	}
}
