package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

func TestMain(m *testing.M) {
	trial.SideBySide()
	m.Run()
}

// bench is a service, and who uses it.
type bench struct {
	network *swappertest.Network
	client  *swapper.Client
	url     string // "": in this process
	keys    string // file of swaps' keys
}

func open(t *testing.T, remote bool) *bench {
	t.Helper()
	n := swappertest.Start(t, swappertest.Options{})
	client, err := swapper.Open(t.Context(), n.Config())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.Run(context.Background()) }()
	t.Cleanup(func() { client.Close(); <-ended })
	b := &bench{network: n, client: client}
	if remote {
		server := httptest.NewServer(httpapi.New(client, httpapi.Options{Address: func(*http.Request) netip.Addr { return netip.Addr{} }}))
		t.Cleanup(server.Close)
		b.url, b.keys = server.URL, filepath.Join(t.TempDir(), "new", "keys")
	}
	return b
}

// run runs a command, and returns what it wrote.
func (b *bench) run(t *testing.T, in string, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	c := &cli{in: strings.NewReader(in), out: &out, getenv: func(string) string { return "" }, pause: 50 * time.Millisecond}
	if b.url == "" {
		c.swaps = b.client
	} else {
		args = append([]string{"-url", b.url, "-keys", b.keys}, args...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := c.run(ctx, args)
	return out.String(), err
}

// has runs a command that has to write all of some texts.
func (b *bench) has(t *testing.T, args []string, texts ...string) string {
	t.Helper()
	out, err := b.run(t, "", args...)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("%q wrote\n%swithout %q", args, out, text)
		}
	}
	return out
}

// A swap is made, signed elsewhere, handed in and followed to its end, in this process
// and over HTTP.
func TestSwapFromTheCommandLine(t *testing.T) {
	t.Parallel()
	for name, remote := range map[string]bool{"in process": false, "remote": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, remote)
			me, invoice := b.network.User.Address("CITREA"), b.network.Invoice(20_000)
			b.has(t, []string{"tokens"}, "CITREA-WBTC", "LIGHTNING-BTC", "Wrapped BTC")
			b.has(t, []string{"tokens", "-from", "LIGHTNING-BTC"}, "CITREA-USDC")
			b.has(t, []string{"limits", "CITREA-WBTC", "LIGHTNING-BTC"}, "LEAST", "pay", "receive", " BTC")
			b.has(t, []string{"parse", invoice}, "LIGHTNING", "0.00020000 BTC")
			b.has(t, []string{"balance", "CITREA-WBTC", me}, " WBTC")

			pair := []string{"-from", "CITREA-WBTC", "-to", "LIGHTNING-BTC", "-out", "0.0002", "-payer", me, "-recipient", invoice}
			b.has(t, append([]string{"quote"}, pair...), "GOOD UNTIL", "0.00020000 BTC", "\nswap ")
			var s swapper.GetSwapStatusOutput
			if err := json.Unmarshal([]byte(b.has(t, append([]string{"-json", "create"}, pair...))), &s); err != nil {
				t.Fatal(err)
			}
			b.has(t, []string{"status", s.SwapID}, "CREATED: ", "Initiate swap: ", "Sign as "+me, s.CurrentAction.(*swapper.SignSmartChainTransaction).Txs[0])
			signed, err := b.network.User.Sign(s.CurrentAction)
			if err != nil {
				t.Fatal(err)
			}
			defer trial.Hasten(t, b.network)()
			if out, err := b.run(t, strings.Join(signed, "\n")+"\n", "submit", s.SwapID); err != nil || strings.Count(out, "0x") != len(signed) {
				t.Fatalf("submit: %s%v", out, err)
			}
			b.has(t, []string{"status", "-watch", s.SwapID}, "Settlement settled | Refund inactive] CLAIMED\n")
			b.has(t, []string{"status", s.SwapID}, "The swap has ended.")
			b.has(t, []string{"list", me}, "CLAIMED", s.SwapID, "CREATED  ")
			if out := b.has(t, []string{"list", "-pending", me}); strings.Contains(out, "CLAIMED") {
				t.Errorf("a swap that is over is pending: %s", out)
			}
			first := b.has(t, []string{"list", "-limit", "1", "-chain", "citrea", me}, "There may be more; the next page: -after ")
			_, after, _ := strings.Cut(first, "-after ")
			if second := b.has(t, []string{"list", "-limit", "1", "-after", strings.TrimSpace(after), me}, "SWAP"); strings.Contains(second, strings.TrimSpace(after)+"\n") && !strings.Contains(second, "-after") {
				t.Errorf("the second page repeats the first: %s", second)
			}
		})
	}
}

// What is wrong with a command is said with the name of the flag, or the service's field and code.
func TestFaultsAreNamed(t *testing.T) {
	t.Parallel()
	b := open(t, false)
	for say, args := range map[string][]string{
		`"buy" is not a command`:                                 {"buy"},
		"<swap> is missing; usage: cli status [flags] <swap>":    {"status"},
		"<to> is missing":                                        {"limits", "CITREA-WBTC"},
		"one argument too many; usage: cli limits":               {"limits", "a", "b", "c"},
		"-in and -out cannot be combined":                        {"quote", "-from", "a", "-to", "b", "-in", "1", "-out", "1"},
		"-in: must be above 0":                                   {"quote", "-from", "CITREA-WBTC", "-to", "BITCOIN-BTC", "-in", "0.0"},
		"-gas: must be at most 0.01 CBTC (":                      {"quote", "-from", "LIGHTNING-BTC", "-to", "CITREA-WBTC", "-in", "0.0005", "-gas", "100000", "-recipient", b.network.User.Address("CITREA")},
		"to: CITREA-WBTC cannot be swapped for":                  {"limits", "CITREA-WBTC", "CITREA-USDC"},
		"-from and -to are required":                             {"quote", "-in", "1"},
		"either -in or -out is required":                         {"quote", "-from", "a", "-to", "b"},
		`"a" is not a token`:                                     {"quote", "-from", "a", "-to", "b", "-in", "1"},
		"-in: ":                                                  {"quote", "-from", "CITREA-WBTC", "-to", "BITCOIN-BTC", "-in", "1e3"},
		"-from and -to cannot be combined":                       {"tokens", "-from", "a", "-to", "b"},
		"(not_found)":                                            {"status", "0123"},
		"too many; usage: cli settle":                            {"settle", "a", "b", "c"},
		"is one argument too many for version":                   {"version", "now"},
		"completion is for bash, zsh or fish":                    {"completion", "sh"},
		"flag provided but not defined: -all; see cli help list": {"list", "-all"},
		"flag provided but not defined: -all; see cli help\n":    {"-all", "list"},
		"-gas: ":                           {"quote", "-from", "LIGHTNING-BTC", "-to", "CITREA-WBTC", "-in", "1", "-gas", "1e3"},
		"-out: NOWHERE has no own token":   {"gas", "-out", "1", "nowhere", "0x00"},
		"-out is required":                 {"gas", "citrea", "0x00"},
		"(invalid_input)":                  {"list", "nobody"},
		"-in: must be from 0.000":          {"quote", "-from", "LIGHTNING-BTC", "-to", "CITREA-WBTC", "-in", "5", "-recipient", b.network.User.Address("CITREA")},
		"amount: must be -out when paying": {"quote", "-from", "CITREA-WBTC", "-to", "LIGHTNING-BTC", "-in", "0.001", "-payer", b.network.User.Address("CITREA"), "-recipient", b.network.Invoice(20_000)},
		"-recipient: is required":          {"quote", "-from", "LIGHTNING-BTC", "-to", "CITREA-WBTC", "-in", "0.001"},
		"-payer: ":                         {"quote", "-from", "CITREA-WBTC", "-to", "BITCOIN-BTC", "-in", "0.001", "-payer", "x", "-recipient", "y"},
		"no such file or directory":        {"-store", "/nowhere/swaps.db", "tokens"},
	} {
		c := *b
		if strings.HasPrefix(say, "no such file") {
			c.client = nil
		}
		out, err := c.run0(t, args...)
		var said strings.Builder
		if err != nil {
			new(cli).fail(&said, err)
		}
		if !strings.Contains(said.String(), say) {
			t.Errorf("%q: %v, want %q\n%s", args, err, say, out)
		}
	}
	b.has(t, []string{"help", "create"}, "usage: cli create [flags]: ", "-recipient", "For example: cli create ", "-json")
	b.has(t, []string{"help", "completion"}, "usage: cli completion bash|zsh|fish: ")
	b.has(t, []string{"version"}, "swapper ", "go1.")
	if out, err := b.run(t, "", "help"); err != nil || !strings.Contains(out, "status <swap>") || !strings.Contains(out, "-store") {
		t.Errorf("help: %s%v", out, err)
	}
}

// run0 is run without a service, if the bench has none.
func (b *bench) run0(t *testing.T, args ...string) (string, error) {
	if b.client != nil {
		return b.run(t, "", args...)
	}
	var out strings.Builder
	err := (&cli{in: strings.NewReader(""), out: &out, getenv: func(string) string { return "" }}).run(t.Context(), args)
	return out.String(), err
}

// The general flags are taken behind a command as well, what is wrong leaves the output empty,
// and where no service is, its address is named.
func TestFlagsOfEveryCommand(t *testing.T) {
	t.Parallel()
	b := open(t, false)
	me := b.network.User.Address("CITREA")
	if out, err := b.run(t, "", "list", me, "-json"); err != nil || strings.TrimSpace(out) != "[]" {
		t.Errorf("-json behind: %s%v", out, err)
	}
	for _, args := range [][]string{{"list", "-all"}, {"-all"}, {"create"}, {"status"}} {
		if out, err := b.run(t, "", args...); out != "" || status(err) != exitMisuse {
			t.Errorf("%q: %s%v", args, out, err)
		}
	}
	if out, err := b.run(t, "", "list", "-h"); !errors.Is(err, flag.ErrHelp) || !strings.Contains(out, "usage: cli list [flags] <signer>") {
		t.Errorf("-h: %s%v", out, err)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	remote := &bench{keys: filepath.Join(t.TempDir(), "keys"), url: gone.URL}
	if _, err := remote.run(t, "", "tokens"); status(err) != exitLater || !strings.Contains(err.Error(), "no service listens at "+gone.URL) {
		t.Errorf("without a service: %v", err)
	}
	remote.url = "127.0.0.1:3000"
	if _, err := remote.run(t, "", "tokens"); status(err) != exitMisuse || !strings.Contains(err.Error(), "-url: ") {
		t.Errorf("without a scheme: %v", err)
	}
}

// The amount to pay an invoice need not be typed again, and what is to be done next is named.
func TestAmountOfAnInvoice(t *testing.T) {
	t.Parallel()
	b := open(t, false)
	me := b.network.User.Address("CITREA")
	out := b.has(t, []string{"create", "-from", "CITREA-WBTC", "-to", "LIGHTNING-BTC", "-payer", me, "-recipient", b.network.Invoice(20_000)}, "0.00020000 BTC", ", then: cli submit ")
	_, id, _ := strings.Cut(out, "\nswap ")
	id, _, _ = strings.Cut(id, "\n")
	s, err := b.client.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: id})
	if err != nil {
		t.Fatal(err)
	}
	if got := progress(s); !strings.HasSuffix(got, "; to be done: Initiate swap, see cli status") {
		t.Errorf("followed as %s", got)
	}
	b.has(t, []string{"create", "-from", "BITCOIN-BTC", "-to", "CITREA-WBTC", "-in", "0.001", "-recipient", me}, "Add inputs of your wallet and sign it, then: cli submit ", "To have the inputs chosen: cli status -bitcoin ")
}

// Programs learn of an error by the exit status, and with -json by the service's object.
func TestErrorsForPrograms(t *testing.T) {
	bounds := &fault.Error{Code: fault.AmountOutOfBounds, Field: "amount", Message: "Swap amount too high! It must be at most 5 base units", Max: big.NewInt(5)}
	for _, c := range []struct {
		name   string
		err    error
		status int
		json   string
	}{
		{"bounds", fmt.Errorf("asked: %w", bounds), exitFailed, `{"error":"asked: Swap amount too high! It must be at most 5 base units","code":"amount_out_of_bounds","field":"amount","max":"5"}`},
		{"away", &fault.Error{Code: fault.Upstream, Message: "is away"}, exitLater, `{"error":"is away","code":"upstream"}`},
		{"misuse", misuse{errors.New("no <swap>")}, exitMisuse, `{"error":"no <swap>","code":"invalid_input"}`},
		{"refunded", unsuccessful{errors.New("refunded")}, exitUnsuccessful, `{"error":"refunded"}`},
	} {
		var out strings.Builder
		(&cli{json: true}).fail(&out, c.err)
		if got := strings.TrimSpace(out.String()); got != c.json || status(c.err) != c.status {
			t.Errorf("%s: %s, status %d; want %s, %d", c.name, got, status(c.err), c.json, c.status)
		}
	}
}

// A person is asked for what a command lacks; what is to be paid is drawn as well.
func TestAPersonIsAsked(t *testing.T) {
	t.Parallel()
	b := open(t, false)
	var out strings.Builder
	answers := "lightning-btc\nCITREA-wbtc\n0.0005\n" + b.network.User.Address("CITREA") + "\n"
	c := &cli{in: strings.NewReader(answers), out: &out, asks: true, swaps: b.client, getenv: os.Getenv}
	if err := c.run(t.Context(), []string{"create", "-qr"}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, text := range []string{"Token to pay", "CITREA-USDC", "How much", "0.00050000 BTC to lnbc", "██ ▄▄▄▄▄ █"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("without %q:\n%s", text, out.String())
		}
	}
	c.in = strings.NewReader("")
	if err := c.run(t.Context(), []string{"create"}); status(err) != exitMisuse {
		t.Errorf("without answers: %v", err)
	}
}

// Gas is bought of any service, and lost swaps are found by one in this process; one at an
// address has no such operation.
func TestGasAndRecovery(t *testing.T) {
	t.Parallel()
	b := open(t, false)
	me := b.network.User.Address("CITREA")
	b.has(t, []string{"gas", "-out", "0.0002", "citrea", me}, "PAY", "CBTC", " to lnbc")
	b.has(t, []string{"recover", me}, "STATE")
	remote := open(t, true)
	remote.has(t, []string{"gas", "-out", "0.0002", "citrea", me}, "PAY", "CBTC", " to lnbc")
	if keys, err := os.ReadFile(remote.keys); err != nil || strings.Count(string(keys), "\n") != 1 {
		t.Errorf("keys %q, %v; want that of the gas", keys, err)
	}
	if _, err := remote.run(t, "", "recover", me); status(err) != exitMisuse || !strings.Contains(err.Error(), "-store") {
		t.Errorf("recover at an address: %v", err)
	}
}

// A service is found below /api, where examples/server has it, and where the URL says.
func TestTheServiceIsFound(t *testing.T) {
	t.Parallel()
	b := open(t, false)
	mux := http.NewServeMux()
	httpapi.Mount(mux, "/api", b.client, httpapi.Options{})
	below := httptest.NewServer(mux)
	t.Cleanup(below.Close)
	top := httptest.NewServer(httpapi.New(b.client, httpapi.Options{}))
	t.Cleanup(top.Close)
	for _, url := range []string{below.URL, below.URL + "/", below.URL + "/api", top.URL} {
		remote := &bench{url: url, keys: filepath.Join(t.TempDir(), "keys")}
		remote.has(t, []string{"tokens"}, "CITREA-WBTC")
	}
	remote := &bench{url: below.URL + "/elsewhere", keys: filepath.Join(t.TempDir(), "keys")}
	if out, err := remote.run(t, "", "tokens"); err == nil {
		t.Errorf("found where it is not: %s", out)
	}
}

// An invoice is paid through a link, for which the key of the swap is shown.
func TestSettle(t *testing.T) {
	t.Parallel()
	b := open(t, true)
	me := b.network.User.Address("CITREA")
	out := b.has(t, []string{"quote", "-from", "LIGHTNING-BTC", "-to", "CITREA-WBTC", "-in", "0.001", "-recipient", me}, "\nswap ")
	_, id, _ := strings.Cut(out, "\nswap ")
	if _, err := b.run(t, "", "settle", strings.TrimSpace(id), "lnurl1nonsense"); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("a link that is none: %v", err)
	}
	link, err := b.network.WithdrawLink()
	if err != nil {
		t.Fatal(err)
	}
	b.has(t, []string{"settle", strings.TrimSpace(id), link}, "paid; payment hash ")
}

// The completion of bash offers commands, and the flags of the command that is typed.
func TestCompletion(t *testing.T) {
	b := &bench{client: new(swapper.Client)}
	for shell, want := range map[string]string{"bash": "complete -F _cli cli", "zsh": "bashcompinit", "fish": "complete -c cli -n '__fish_seen_subcommand_from status' -o watch"} {
		if out, err := b.run0(t, "completion", shell); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %s%v", shell, out, err)
		}
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("the completion script is tried in bash, which is not installed")
	}
	script, _ := b.run0(t, "completion", "bash")
	for typed, want := range map[string]string{"cli st": "status", "cli status -w": "-watch", "cli -j": "-json", "cli submit -j": "-json"} {
		words := strings.Fields(typed)
		test := script + "COMP_WORDS=(" + typed + "); COMP_CWORD=" + string(rune('0'+len(words)-1)) + "; _cli cli " + words[len(words)-1] + "; echo \"${COMPREPLY[@]}\""
		if out, err := exec.CommandContext(t.Context(), bash, "-c", test).CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%q completes to %q, %v; want %q", typed, out, err, want)
		}
	}
}

// A command that is run later, from anywhere, shows the key of the swap that an earlier one
// has made, and prints it nowhere.
func TestKeysAreKept(t *testing.T) {
	t.Parallel()
	b := open(t, true)
	me := b.network.User.Address("CITREA")
	out := b.has(t, []string{"quote", "-from", "LIGHTNING-BTC", "-to", "CITREA-WBTC", "-in", "0.001", "-recipient", me}, "\nswap ")
	_, id, _ := strings.Cut(out, "\nswap ")
	id = strings.TrimSpace(id)
	text, err := os.ReadFile(b.keys)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(b.keys)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	key, ok := strings.CutPrefix(strings.TrimSpace(string(text)), id+" ")
	if !ok || len(key) != 32 {
		t.Fatalf("kept %q of %s", text, id)
	}
	if strings.Contains(out+b.has(t, []string{"-json", "status", id}, id), key) {
		t.Errorf("the key is printed: %s", out)
	}
	shown := []string{}
	k := keyed{&shows{keys: &shown}, b.keys}
	_, _ = k.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: id})
	_, _ = k.SubmitTransaction(t.Context(), swapper.SubmitTransactionInput{SwapID: id})
	_, _ = k.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: "another"})
	if got := fmt.Sprintf("%q", shown); got != fmt.Sprintf("%q", []string{key, key, ""}) {
		t.Errorf("shown %s", got)
	}
}

// shows notes the keys that it is shown.
type shows struct {
	swapper.Service
	keys *[]string
}

func (s *shows) GetSwapStatus(_ context.Context, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	*s.keys = append(*s.keys, in.SwapKey.Reveal())
	return nil, nil
}

func (s *shows) SubmitTransaction(_ context.Context, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	*s.keys = append(*s.keys, in.SwapKey.Reveal())
	return nil, nil
}

// With -verify no answer of a remote service is passed on as it is.
func TestRemoteServiceIsVerified(t *testing.T) {
	t.Parallel()
	b := open(t, true)
	me, folder := b.network.User.Address("CITREA"), t.TempDir()
	b.has(t, []string{"list", me}, "SWAP")
	good := `{"network": "testnet4", "store": "` + filepath.Join(folder, "agreed.db") + `", "nodes": {"CITREA": ["http://127.0.0.1:1"]}, "bitcoin": ["http://127.0.0.1:1"]}`
	for name, c := range map[string]struct{ from, to, says string }{
		"wrapped":         {"", "", "no swap with this id was agreed on by this wallet"},
		"unknown network": {"testnet4", "moon", "network: "},
		"unknown chain":   {"CITREA", "MOON", `"MOON" is not a chain`},
		"unknown member":  {"bitcoin", "coin", `unknown field "coin"`},
		"no store":        {filepath.Join(folder, "agreed.db"), "", "store: must name a file"},
		"no nodes":        {`"CITREA": ["http://127.0.0.1:1"]`, "", "must have at least one chain"},
	} {
		path := filepath.Join(folder, "own.json")
		if err := os.WriteFile(path, []byte(strings.Replace(good, c.from, c.to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := b.run(t, "", "-verify", path, "status", "of nobody"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %s%v, want %q", name, out, err, c.says)
		}
	}
}
