package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// asProgram is the variable that makes the tests' binary the program.
const asProgram = "WATCHTOWER_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	trial.SideBySide()
	m.Run()
}

// said is what a program has written so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// The program claims for users of a local network who have left, and keeps books; a dry run says
// what it would claim and earn, and claims nothing. Ctrl-C ends both, with the status of shells.
func TestOnALocalNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		args        []string
		wait, never string
	}{
		{"dry run", []string{"-dry-run"}, "would claim (claim with secret): earns ", "Books:"},
		{"claims", nil, " claimed, 0 lost, 0 left to others; spent ", "would claim"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := begin(t, append([]string{"-network", "local", "-chains", "CITREA"}, c.args...)...)
			p.until(t, c.wait, func() {})
			p.interrupt(t)
			text := p.out.String()
			for _, want := range []string{c.wait, "CITREA   0x", "a user pays for"} {
				if !strings.Contains(text, want) {
					t.Errorf("lacks %q in\n%s", want, text)
				}
			}
			if strings.Contains(text, c.never) {
				t.Errorf("has %q in\n%s", c.never, text)
			}
		})
	}
}

// program is one that runs in a test.
type program struct {
	*exec.Cmd
	out, problems said
}

// begin starts it; it ends with the test.
func begin(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...)}
	p.Env = append(os.Environ(), asProgram+"=1")
	p.Stdout, p.Stderr = &p.out, &p.problems
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// until waits until it has said something, and does something else meanwhile.
func (p *program) until(t *testing.T, what string, meanwhile func()) {
	t.Helper()
	for late := time.Now().Add(2 * time.Minute); !strings.Contains(p.out.String(), what); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("never says %q: %s%s", what, p.out.String(), p.problems.String())
		}
		meanwhile()
	}
}

// interrupt is Ctrl-C. It says how to go on, and ends with the status of shells.
func (p *program) interrupt(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := p.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 130 || !strings.Contains(p.problems.String(), "run the same command again") {
		t.Errorf("ended with %v and %q, want the status 130 and how to go on", err, p.problems.String())
	}
}

// The program is killed, or interrupted, when it is about to claim. The same command goes on, and
// claims once, which its books say, and the chain.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *program){
		"killed": func(t *testing.T, p *program) {
			_ = p.Process.Kill() // SIGKILL: nothing is said, stored or closed any more
			_ = p.Wait()
		},
		"interrupted": func(t *testing.T, p *program) { p.interrupt(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := swappertest.Start(t, swappertest.Options{Hear: true, Listen: swappertest.Listen{Control: "127.0.0.1:0"}})
			n.Misbehave(swappertest.WatchtowerFault{Off: true})
			file := filepath.Join(t.TempDir(), "local.json")
			var text bytes.Buffer
			if err := errors.Join(n.Describe(&text), os.WriteFile(file, text.Bytes(), 0o600)); err != nil {
				t.Fatal(err)
			}
			args := []string{"-running", file, "-chains", "CITREA"}
			p := begin(t, args...)
			p.until(t, "CITREA   0x", func() {})
			_, account, _ := strings.Cut(p.out.String(), "CITREA   ")
			account, _, _ = strings.Cut(account, ":")

			client, err := swapper.Open(t.Context(), n.Config())
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			defer running.Wait()
			defer stop()
			running.Go(func() { _ = client.Run(ctx) })
			if err := (&screen{out: io.Discard}).leaves(ctx, client, n, "CITREA"); err != nil {
				t.Fatal(err)
			}
			mine := func() {
				if err := n.Mine(1); err != nil {
					t.Fatal(err)
				}
			}
			p.until(t, "claims (claim with secret): earns ", mine)
			end(t, p)

			const books = "1 claimed, 0 lost, 0 left to others; spent "
			p = begin(t, args...)
			p.until(t, "CITREA   0x", func() {})
			p.until(t, books, mine)
			p.interrupt(t)
			if sent := transactions(t, n.URL("CITREA"), account); sent != "0x1" {
				t.Errorf("%s has sent %s transactions, want one", account, sent)
			}
			p = begin(t, args...)
			p.until(t, books, func() {})
			p.interrupt(t)
		})
	}
}

// transactions is how many an account has sent that were executed.
func transactions(t *testing.T, rpc, account string) string {
	t.Helper()
	answer, err := http.Post(rpc, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_getTransactionCount","params":["`+account+`","pending"]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var says struct{ Result string }
	if err := json.NewDecoder(answer.Body).Decode(&says); err != nil {
		t.Fatal(err)
	}
	return says.Result
}

// A command line that is wrong says what would be right, before anything is opened.
func TestCommandLine(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a public network that runs": {[]string{"-running", "local.json", "-network", "testnet4"}, "leave -network out"},
		"stray argument":             {[]string{"-dry-run", "now"}, `"now" is not a flag`},
		"unknown network":            {[]string{"-network", "testnet3"}, "testnet4, mainnet or local"},
		"unknown chain":              {[]string{"-chains", "CITREA,MOON"}, `"MOON" is not known`},
		"mainnet without nodes":      {[]string{"-network", "mainnet", "-chains", "CITREA"}, "-rpc CITREA=https://"},
		"nodes without a chain":      {[]string{"-rpc", "https://rpc.example"}, "CITREA=https://rpc.example"},
		"profit":                     {[]string{"-profit", "much"}, "-profit must be an amount"},
		"fee":                        {[]string{"-max-fee", "0,1"}, "-max-fee must be an amount"},
	} {
		var out bytes.Buffer
		err := run(t.Context(), c.args, func(string) string { return "" }, &out)
		if _, ok := errors.AsType[misuse](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error of the command line with %q", name, err, c.want)
		}
	}
}
