// Command pack makes the folder that a wallet in JavaScript uses: the files of verify/js,
// verify.wasm, which it compiles, and wasm_exec.js, the part of Go's distribution that runs
// such programs.
//
//	go run ./verify/js/pack -o verify/js/dist
//	go run ./verify/js/pack -o verify/js/dist -chains solana,starknet
//
// It needs the go command alone. A second run compiles what has changed.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	out := flag.String("o", "", "folder that gets the package")
	chains := flag.String("chains", strings.Join(families, ","), "families that are compiled in")
	flag.Parse()
	switch {
	case flag.NArg() > 0:
		refuse("%q is not a flag", flag.Arg(0))
	case *out == "":
		refuse("-o is required: the folder that gets the package")
	}
	if err := pack(*out, strings.Split(*chains, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func refuse(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "pack: "+format+"\n", args...)
	flag.Usage()
	os.Exit(2)
}

// families of chains; each can be left out.
var families = []string{"evm", "solana", "starknet"}

// tags leave out what a browser has no use for: HTTP/2, which fetch speaks itself, and the use
// of a table that makes signing on secp256k1 fast. The library calls the latter's tag tinygo,
// and means any program that must be small.
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
	runtime, err := output("env", "GOROOT")
	if err != nil {
		return err
	}
	source, err := output("list", "-f", "{{.Dir}}", program)
	if err != nil {
		return err
	}
	for _, from := range []string{filepath.Join(runtime, "lib", "wasm", "wasm_exec.js"), filepath.Join(source, "index.js"), filepath.Join(source, "index.d.ts"), filepath.Join(source, "package.json"), filepath.Join(source, "README.md")} {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, filepath.Base(from)), text, 0o644); err != nil {
			return err
		}
	}
	work, err := os.MkdirTemp("", "pack")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	modules, err := withoutTable(work)
	if err != nil {
		return err
	}
	_, err = output("build", "-modfile="+modules, "-trimpath", "-ldflags=-s -w", "-tags="+strings.Join(tags, ","), "-o", filepath.Join(out, "verify.wasm"), program)
	return err
}

// withoutTable returns a go.mod by which the build has a copy of the library of secp256k1 whose
// table is left out. With the tag nothing reads it, but it would be linked: half a megabyte
// that cannot be compressed, of three or four.
func withoutTable(work string) (modfile string, err error) {
	const library = "github.com/decred/dcrd/dcrec/secp256k1/v4"
	from, err := output("list", "-f", "{{.Dir}}", library)
	if err != nil {
		return "", err
	}
	module, err := output("env", "GOMOD")
	if err != nil {
		return "", err
	}
	copied := filepath.Join(work, "secp256k1")
	if err := os.CopyFS(copied, os.DirFS(from)); err != nil {
		return "", err
	}
	if err := os.Remove(filepath.Join(copied, "compressedbytepoints.go")); err != nil {
		return "", err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(module), name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(work, name), text, 0o644); err != nil {
			return "", err
		}
	}
	modfile = filepath.Join(work, "go.mod")
	_, err = output("mod", "edit", "-replace="+library+"="+copied, modfile)
	return modfile, err
}

const program = "github.com/swapper-go/swapper/verify/js"

// output runs the go command for the program's system.
func output(arguments ...string) (string, error) {
	command := exec.Command("go", arguments...)
	command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", arguments[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
