package swapper_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

const module = "github.com/swapper-go/swapper"

// imports are what the project's packages, and all that they depend on, import without
// their tests, by import path.
var imports = sync.OnceValues(func() (map[string][]string, error) {
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all[p.ImportPath] = p.Imports
	}
})

// listed is a copy of what is imported.
func listed(t *testing.T) map[string][]string {
	t.Helper()
	all := trial.Must(imports())(t)
	return maps.Clone(all)
}

// packages are the project's packages, and what each imports of the others.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for path, imports := range listed(t) {
		name, ok := inModule(path)
		if !ok {
			continue
		}
		all[name] = nil
		for _, i := range imports {
			if other, ok := inModule(i); ok {
				all[name] = append(all[name], other)
			}
		}
	}
	return all
}

// inModule is a package's path inside the module, "." for its root.
func inModule(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

// reaches returns how a package comes to depend on one that is forbidden, nil if
// it does not.
func reaches(all map[string][]string, from string, forbidden func(string) bool) []string {
	type step struct {
		at   string
		path []string
	}
	seen := map[string]bool{from: true}
	for queue := []step{{from, []string{from}}}; len(queue) > 0; queue = queue[1:] {
		for _, next := range all[queue[0].at] {
			path := append(slices.Clone(queue[0].path), next)
			if forbidden(next) {
				return path
			}
			if !seen[next] {
				seen[next] = true
				queue = append(queue, step{next, path})
			}
		}
	}
	return nil
}

func under(folders ...string) func(string) bool {
	return func(p string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return p == f || strings.HasPrefix(p, f+"/") })
	}
}

// Imports point one way (docs/architecture.md). A caller who wants one chain does not get
// the others, and a chain knows nothing of swaps.
func TestImportsPointOneWay(t *testing.T) {
	t.Parallel()
	all := packages(t)
	if len(all["."]) == 0 || len(all) < 10 {
		t.Fatalf("only %d packages are listed", len(all))
	}
	smartChains := under("chains/evm", "chains/solana", "chains/starknet", "internal/solana", "internal/starknet")
	devnet := under("internal/devnet")
	for name := range all {
		for _, rule := range []struct {
			applies   bool
			why       string
			forbidden func(string) bool
		}{
			{name == "." || under("internal/swap", "internal/engine", "internal/chainio", "internal/quote", "internal/recovery", "internal/lp", "internal/btc", "address", "internal/address", "lnurl", "internal/lnurl", "internal/lightning", "internal/nostr", "balance", "price", "watchtower", "httpapi", "storage", "tokens", "fault")(name), "knows no chain's implementation", smartChains},
			{under("chains", "internal/btc", "internal/lightning")(name), "knows nothing of swaps", under("internal/swap", "internal/engine", "internal/chainio", "internal/quote", "internal/lp", "httpapi", "storage", "balance", "lnurl", "internal/lnurl")},
			{under("chains")(name), "does not know the library's front", func(p string) bool { return p == "." }},
			{under("chains/evm", "internal/evm")(name), "is one chain", under("chains/solana", "chains/starknet", "internal/solana", "internal/starknet")},
			{under("internal/evm")(name), "is below the chain", under("chains/evm", "internal/swap", "internal/engine", "internal/quote", "internal/lp", "httpapi", "storage", "balance", "lnurl", "internal/lnurl")},
			{under("internal/evm/wire", "internal/evm/rpc")(name), "does not read contracts", under("internal/evm/read")},
			{under("internal/evm/rpc")(name), "knows no contract", under("internal/evm/wire")},
			{!devnet(name) && !under("chains/evm", "internal/evm", "internal/flowtest", "examples", "swappertest")(name), "knows an EVM chain by package chains alone", under("internal/evm")},
			{under("chains/solana")(name), "is one chain", under("chains/evm", "chains/starknet", "internal/starknet")},
			{under("chains/starknet")(name), "is one chain", under("chains/evm", "chains/solana", "internal/solana")},
			{under("internal/starknet")(name), "is what a chain and its local network share", under("chains/evm", "chains/solana", "chains/starknet", "internal/evm", "internal/solana", "internal/devnet", "internal/swap", "internal/engine", "internal/lp", "storage")},
			{under("internal/solana")(name), "is what a chain and its local network share", under("chains/evm", "chains/solana", "chains/starknet", "internal/devnet", "internal/swap", "internal/engine", "internal/lp", "storage")},
			{under("internal/solana/wire", "internal/solana/rpc")(name), "reads no state of the chain", under("internal/solana/read")},
			{under("internal/starknet/wire", "internal/starknet/rpc")(name), "reads no state of the chain", under("internal/starknet/read")},
			{under("internal/starknet/wire")(name), "is pure", under("internal/starknet/rpc", "internal/jsonrpc", "internal/httpx")},
			{under("internal/jsonrpc")(name), "knows no chain", under("chains", "internal/evm", "internal/solana", "internal/starknet")},
			{under("chains/bitcoin", "internal/btc", "internal/lightning")(name), "is no smart chain", func(p string) bool { return p == "chains" || smartChains(p) }},
			{under("internal/swap", "internal/engine", "internal/chainio", "internal/quote", "internal/recovery", "internal/lp", "price")(name), "does not see API types", func(p string) bool { return p == "." || under("httpapi")(p) }},
			{name == "internal/lp" || under("internal/lp/verify", "internal/swap")(name), "calls and stores nothing for providers", under("internal/lp/lphttp", "internal/lp/discovery", "storage")},
			{under("internal/lp/lphttp")(name), "judges no answer", under("internal/lp/verify", "internal/lp/discovery")},
			{under("internal/swap", "internal/engine")(name), "knows of providers what they say", under("internal/lp/lphttp", "internal/lp/discovery", "internal/lp/verify")},
			{!devnet(name) && !under("internal/flowtest")(name), "is not for tests", under("internal/flowtest")},
			{under("storage")(name), "knows bytes and keys", under("internal/swap", "chains", "tokens")},
			{under("tokens", "fault")(name), "is at the bottom", under("internal", "chains", "storage", "httpapi")},
			{under("watchtower")(name), "claims escrows and withdrawals, whoever made them", func(p string) bool {
				return p == "." || under("internal/swap", "internal/engine", "internal/chainio", "internal/quote", "internal/lp", "httpapi")(p)
			}},
			{name == ".", "is under the HTTP mount", under("httpapi")},
			{under("verify")(name), "verifies any service, over whatever wire, on any chain", func(p string) bool { return under("httpapi")(p) || smartChains(p) }},
			{!under("verify", "examples", "cmd")(name), "is below the client that verifies a service", under("verify")},
			{!devnet(name) && !under("examples", "swappertest")(name), "is not for tests", devnet},
		} {
			if !rule.applies {
				continue
			}
			if path := reaches(all, name, rule.forbidden); path != nil {
				t.Errorf("%s %s: %s", name, rule.why, strings.Join(path, " -> "))
			}
		}
	}
}

// What an example shows can be written by anybody: its files, tests included, import
// the public packages alone. The conformance vectors that tests compare with, the records of the
// reference service that they write, the PostgreSQL server that they start, and how much they try,
// are not part of what is shown.
func TestExamplesUseThePublicAPI(t *testing.T) {
	files, err := filepath.Glob("examples/*/*.go")
	if root, rootErr := filepath.Glob("example*_test.go"); err == nil {
		files, err = append(files, root...), rootErr
	}
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		f := trial.Must(parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly))(t)
		for _, i := range f.Imports {
			path, own := inModule(strings.Trim(i.Path.Value, `"`))
			given := strings.HasSuffix(file, "_test.go") && (path == "internal/vectors" || path == "internal/flowtest" || path == "internal/pgtest" || path == "internal/trial")
			if own && under("internal")(path) && !given {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}

// A program links the chains that it passes in and no other, nor the libraries that
// only another chain needs.
func TestAChainLinksNoOther(t *testing.T) {
	const solanaLibrary, evmLibrary, starknetLibrary = "github.com/gagliardetto/", "github.com/ethereum/", "github.com/NethermindEth/"
	for _, c := range []struct {
		pkg       string
		forbidden []string
	}{
		{".", []string{solanaLibrary, evmLibrary, starknetLibrary}},
		{"httpapi", []string{solanaLibrary, evmLibrary, starknetLibrary}},
		{"verify", []string{solanaLibrary, evmLibrary, starknetLibrary}},
		{"chains/evm", []string{solanaLibrary, starknetLibrary}},
		{"chains/starknet", []string{solanaLibrary, evmLibrary}},
		{"chains/solana", []string{evmLibrary, starknetLibrary}},
	} {
		linksNone(t, c.pkg, c.forbidden...)
	}
}

// linksNone demands that a package depends on nothing whose path begins with one of some words.
func linksNone(t *testing.T, pkg string, words ...string) {
	t.Helper()
	all, from := listed(t), path.Join(module, pkg)
	if len(all[from]) == 0 {
		t.Fatalf("%s is not listed", from)
	}
	if way := reaches(all, from, func(p string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(p, w) })
	}); way != nil {
		t.Errorf("%s links what it must not: %s", pkg, strings.Join(way, " -> "))
	}
}

// Middleware brings its own libraries and nobody else's: who mounts httpapi alone links
// none of them.
func TestMiddlewareLinksItsOwnLibraries(t *testing.T) {
	libraries := map[string]string{ // by the one package that may link it
		"github.com/golang-jwt/": "", "github.com/go-jose/": "", "github.com/prometheus/": "httpapi/metrics",
		"go.opentelemetry.io/": "httpapi/tracing", "github.com/rs/cors": "",
	}
	for _, pkg := range []string{".", "httpapi", "httpapi/limit", "httpapi/metrics", "httpapi/tracing"} {
		for library, home := range libraries {
			if pkg != home {
				linksNone(t, pkg, library)
			}
		}
	}
}

// What goes over the wire is known to pure functions: they see no context, clock,
// store or network.
func TestSolanaWireIsPure(t *testing.T) {
	files, err := filepath.Glob("internal/solana/wire/*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	checkPure(t, files, "context", "sync", "sync/atomic", "net", "net/http", "os", "crypto/rand", "math/rand", "math/rand/v2", "github.com/gagliardetto/solana-go/rpc", module+"/storage")
}

// The same holds for Starknet.
func TestStarknetWireIsPure(t *testing.T) {
	files, err := filepath.Glob("internal/starknet/wire/*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	checkPure(t, files, "context", "sync/atomic", "net", "net/http", "os", "crypto/rand", "math/rand", "math/rand/v2",
		"github.com/NethermindEth/starknet.go/account", "github.com/NethermindEth/starknet.go/client", module+"/storage")
}

// What the contracts of EVM chains, wallets and LPs exchange is known to pure
// functions, so that vectors and fuzzing reach all of it.
func TestEVMWireIsPure(t *testing.T) {
	files, err := filepath.Glob("internal/evm/wire/*.go")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	checkPure(t, files, "context", "sync/atomic", "net", "net/http", "os", "crypto/rand", "math/rand", "math/rand/v2",
		"github.com/ethereum/go-ethereum/rpc", "github.com/ethereum/go-ethereum/ethclient",
		module+"/storage", module+"/internal/evm/rpc", module+"/internal/evm/read", module+"/internal/bounds", module+"/internal/httpx")
}

// Package swap is what a swap is and how it moves: pure, so that its tables can be
// tried from every side. Its files see no context, clock, store or network, and
// nothing that they depend on comes to the network, a store or a database.
func TestSwapIsPure(t *testing.T) {
	t.Run("depends on nothing impure", swapDependsOnNothingImpure)
	files, err := filepath.Glob("internal/swap/*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	impure := []string{"context", "sync", "sync/atomic", "net", "net/http", "os", "crypto/rand", "math/rand", "math/rand/v2",
		module + "/storage", module + "/internal/engine", module + "/internal/chainio", module + "/internal/quote"}
	checkPure(t, files, impure...)
}

func swapDependsOnNothingImpure(t *testing.T) {
	all := listed(t)
	// Ways that are not followed, with the reason.
	for _, known := range [][2]string{
		{module + "/internal/lightning", "github.com/lightningnetwork/lnd/zpay32"}, // decodes invoices; lnd links its node's code with it
		{module + "/chains", "net/http"},                                           // the type of the transport that a chain is given, see below
	} {
		if !slices.Contains(all[known[0]], known[1]) {
			t.Errorf("%s does not import %s any more: the exception is not needed", known[0], known[1])
		}
		all[known[0]] = slices.DeleteFunc(slices.Clone(all[known[0]]), func(i string) bool { return i == known[1] })
	}
	impure := []string{"net/http", "net/rpc", "database/sql", "os/exec", module + "/storage", module + "/internal/httpx", module + "/lnurl"}
	if path := reaches(all, module+"/internal/swap", func(p string) bool { return slices.Contains(impure, p) }); path != nil {
		t.Errorf("swap comes to what is not pure: %s", strings.Join(path, " -> "))
	}
	files := trial.Must(filepath.Glob("chains/*.go"))(t)
	for _, file := range files {
		f := trial.Must(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "http" && s.Sel.Name != "RoundTripper" {
					t.Errorf("%s uses http.%s: it may name the type of a transport and do nothing with it", file, s.Sel.Name)
				}
			}
			return true
		})
	}
}

// checkPure refuses imports, and readings of the clock, in files that are no tests.
func checkPure(t *testing.T, files []string, impure ...string) {
	t.Helper()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f := trial.Must(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
		for _, i := range f.Imports {
			if path := strings.Trim(i.Path.Value, `"`); slices.Contains(impure, path) {
				t.Errorf("%s imports %s", file, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep", "NewTimer", "NewTicker"}, s.Sel.Name) {
					t.Errorf("%s reads the clock: time.%s", file, s.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestNoRegularExpressions keeps what importing the library costs at a program's
// start small: expressions are compiled before main.
func TestNoRegularExpressions(t *testing.T) {
	for path, imports := range listed(t) {
		if name, own := inModule(path); own && slices.Contains(imports, "regexp") && !under("internal/vectors", "tools")(name) {
			t.Errorf("%s imports regexp", name)
		}
	}
}
