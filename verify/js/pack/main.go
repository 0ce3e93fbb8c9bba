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
var tags = []string{"nethttpomithttp2", "tinygo", "testify_yaml_fail"}

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
	module, err := output("env", "GOMOD")
	if err != nil {
		return err
	}
	o := &overlay{work: work, root: filepath.Dir(module), Replace: make(map[string]string)}
	if err := o.withoutSockets(runtime); err != nil {
		return err
	}
	modules, err := o.withoutTables()
	if err != nil {
		return err
	}
	if err := o.withoutLibraries(modules); err != nil {
		return err
	}
	replaced, err := o.file()
	if err != nil {
		return err
	}
	_, err = output("build", "-modfile="+modules, "-overlay="+replaced, "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-tags="+strings.Join(tags, ","), "-o", filepath.Join(out, "verify.wasm"), program)
	return err
}

// unused are functions of Go's distribution that a page cannot use, and which would be linked with all that
// they call, for requests go through the page's fetch: connections, TLS with its certificates and curves, and proxies. Each returns at
// once instead. A distribution that has another function of the name is refused.
var unused = []struct{ file, function, instead string }{
	{"net/http/transport.go", "func (t *Transport) roundTrip(req *Request) (_ *Response, err error) {", "return nil, errors.ErrUnsupported"},
	{"net/http/transport.go", "func (t *Transport) dialConn(ctx context.Context, cm connectMethod, isClientConn bool, internalStateHook func()) (pconn *persistConn, err error) {", "return nil, errors.ErrUnsupported"},
	{"net/http/transport.go", "func ProxyFromEnvironment(req *Request) (*url.URL, error) {", "return nil, nil"},
	{"net/dial.go", "func (d *Dialer) DialContext(ctx context.Context, network, address string) (Conn, error) {", "return nil, ErrClosed"},
	{"crypto/tls/conn.go", "func (c *Conn) handshakeContext(ctx context.Context) (ret error) {", "return net.ErrClosed"},
	{"crypto/tls/conn.go", "func (c *Conn) readRecordOrCCS(expectChangeCipherSpec bool) error {", "return net.ErrClosed"},
	{"crypto/tls/conn.go", "func (c *Conn) handlePostHandshakeMessage() error {", "return net.ErrClosed"},
	{"crypto/ecdh/nist.go", "func P256() Curve {", "return nil"},
	{"crypto/ecdh/nist.go", "func P384() Curve {", "return nil"},
	{"crypto/ecdh/nist.go", "func P521() Curve {", "return nil"},
	{"crypto/tls/conn.go", "func (c *Conn) Write(b []byte) (int, error) {", "return 0, net.ErrClosed"},
}

// withoutSockets replaces files of the distribution by ones in which the unused functions do nothing.
func (o *overlay) withoutSockets(distribution string) error {
	texts := make(map[string]string)
	for _, u := range unused {
		text, ok := texts[u.file]
		if !ok {
			b, err := os.ReadFile(filepath.Join(distribution, "src", filepath.FromSlash(u.file)))
			if err != nil {
				return err
			}
			text = string(b)
		}
		before, after, ok := strings.Cut(text, u.function)
		if !ok {
			return fmt.Errorf("%s of this distribution has no %q, which is to be left out", u.file, u.function)
		}
		texts[u.file] = before + u.function + " " + u.instead + ";" + after
	}
	for file, text := range texts {
		if err := o.write(filepath.Join(distribution, "src", filepath.FromSlash(file)), text); err != nil {
			return err
		}
	}
	return nil
}

// withoutTables returns a go.mod by which the build has copies of two libraries that make tables. That of
// secp256k1 has no table, nor what unpacks it: with the tag nothing reads it, but it would be linked, half a megabyte
// that cannot be compressed, of three or four. That of Starknet's curve fills the table of Pedersen's hash
// when something is hashed so, the address of an account that is to be deployed, and not whenever the program starts, which would be most of a start.
func (o *overlay) withoutTables() (modfile string, err error) {
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(o.root, name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(o.work, name), text, 0o644); err != nil {
			return "", err
		}
	}
	modfile = filepath.Join(o.work, "go.mod")
	if err := o.change(modfile, "github.com/decred/dcrd/dcrec/secp256k1/v4", map[string]func(string) (string, error){
		"compressedbytepoints.go": func(string) (string, error) { return "package secp256k1\n", nil },
		"loadprecomputed.go": func(string) (string, error) {
			return "package secp256k1\n\ntype bytePointTable [32][256]JacobianPoint\n\nfunc s256BytePoints() *bytePointTable { return nil }\n", nil
		},
	}); err != nil {
		return "", err
	}
	return modfile, o.change(modfile, "github.com/consensys/gnark-crypto", map[string]func(string) (string, error){"ecc/stark-curve/pedersen-hash/pedersen_hash.go": filledOnUse})
}

// filledOnUse has what the file did when the program starts done when the first hash is computed.
func filledOnUse(text string) (string, error) {
	for _, c := range [][2]string{
		{"import (", "import (\n\t\"sync\""},
		{"func init() {", "var filled sync.Once\n\nfunc fill() {"},
		{"func Pedersen(a *fp.Element, b *fp.Element) fp.Element {", "func Pedersen(a *fp.Element, b *fp.Element) fp.Element {\n\tfilled.Do(fill)"},
	} {
		before, after, ok := strings.Cut(text, c[0])
		if !ok {
			return "", fmt.Errorf("this version of the library of Starknet's curve has no %q in the file of Pedersen's hash", c[0])
		}
		text = before + c[1] + after
	}
	return text, nil
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
