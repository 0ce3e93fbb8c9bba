package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

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
	binary := filepath.Join(t.TempDir(), "watchtower")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
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
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, binary, append([]string{"-network", "local", "-chains", "CITREA"}, c.args...)...)
			var out, problems said
			cmd.Stdout, cmd.Stderr = &out, &problems
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for !strings.Contains(out.String(), c.wait) && ctx.Err() == nil {
				time.Sleep(50 * time.Millisecond)
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 130 || !strings.Contains(problems.String(), "run the same command again") {
				t.Errorf("ended with %v and %q, want the status 130 and how to go on", err, problems.String())
			}
			text := out.String()
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

// A command line that is wrong says what would be right, before anything is opened.
func TestCommandLine(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"stray argument":        {[]string{"-dry-run", "now"}, `"now" is not a flag`},
		"unknown network":       {[]string{"-network", "testnet3"}, "testnet4, mainnet or local"},
		"unknown chain":         {[]string{"-chains", "CITREA,MOON"}, `"MOON" is not known`},
		"mainnet without nodes": {[]string{"-network", "mainnet", "-chains", "CITREA"}, "-rpc CITREA=https://"},
		"nodes without a chain": {[]string{"-rpc", "https://rpc.example"}, "CITREA=https://rpc.example"},
		"profit":                {[]string{"-profit", "much"}, "-profit must be an amount"},
		"fee":                   {[]string{"-max-fee", "0,1"}, "-max-fee must be an amount"},
	} {
		var out bytes.Buffer
		err := run(t.Context(), c.args, func(string) string { return "" }, &out)
		if _, ok := errors.AsType[misuse](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error of the command line with %q", name, err, c.want)
		}
	}
}
