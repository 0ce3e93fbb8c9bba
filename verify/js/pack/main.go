// Command pack compiles verify.wasm, for the folder that a wallet in JavaScript uses it from,
// and puts wasm_exec.js beside it, the part of Go's distribution that runs such programs.
//
//	go run ./verify/js/pack -o verify/js/dist
//	go run ./verify/js/pack -o verify/js/dist -chains solana,starknet
//
// It needs the go command alone. A second run compiles what has changed.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	out := flag.String("o", "", "folder that gets the two files")
	chains := flag.String("chains", strings.Join(families, ","), "families that are compiled in")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := pack(*out, strings.Split(*chains, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// families of chains; each can be left out.
var families = []string{"evm", "solana", "starknet"}

// tags leave out what a browser has no use for: HTTP/2, which fetch speaks itself, and the
// table that makes signing on secp256k1 fast, half a megabyte of what is loaded. The library
// calls the latter's tag tinygo, and means any program that must be small.
var tags = []string{"nethttpomithttp2", "tinygo"}

func pack(out string, chosen []string) error {
	tags := slices.Clone(tags)
	for _, f := range chosen {
		if !slices.Contains(families, f) {
			return fmt.Errorf("-chains has %q, must be some of %s", f, strings.Join(families, ", "))
		}
	}
	for _, f := range families {
		if !slices.Contains(chosen, f) {
			tags = append(tags, "no"+f)
		}
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("the go command: %w", err)
	}
	if err := copyFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"), filepath.Join(out, "wasm_exec.js")); err != nil {
		return err
	}
	compiled := filepath.Join(out, "verify.wasm")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-tags="+strings.Join(tags, ","), "-o", compiled+".new", "github.com/swapper-go/swapper/verify/js")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	return os.Rename(compiled+".new", compiled) // whole or not at all
}

func copyFile(from, to string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		_ = w.Close()
		return err
	}
	return w.Close()
}
