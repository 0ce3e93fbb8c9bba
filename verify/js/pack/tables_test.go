package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// hashes prints an example of the reference of Pedersen's hash, twice: the table is filled once.
const hashes = `package main

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/stark-curve/fp"
	pedersen "github.com/consensys/gnark-crypto/ecc/stark-curve/pedersen-hash"
)

func main() {
	var a, b fp.Element
	a.SetString("0x3d937c035c878245caf64531a5756109c53068da139362728feb561405371cb")
	b.SetString("0x208a0a10250e382e1e4bbe2880906c2791bf6275695e02fbbc6aeff9cd8b31a")
	for range 2 {
		h := pedersen.Pedersen(&a, &b)
		fmt.Print(h.Text(16), " ")
	}
}
`

// The table of Pedersen's hash is there when a hash needs it.
func TestTablesAreFilledOnUse(t *testing.T) {
	root := trial.Must(filepath.Abs(filepath.Join("..", "..", "..")))(t)
	o := &overlay{work: t.TempDir(), root: root, Replace: make(map[string]string)}
	modules := trial.Must(o.withoutTables())(t)
	program := filepath.Join(root, "instead", "hashes")
	trial.Do(t, o.write(filepath.Join(program, "main.go"), hashes))
	replaced := trial.Must(o.file())(t)
	out, err := exec.Command("go", "run", "-tags=purego", "-modfile="+modules, "-overlay="+replaced, program).CombinedOutput()
	if want := strings.Repeat("30e480bed5fe53fa909cc0f8c4d99b8f9f2c016be4c41e13a4848797979c662 ", 2); err != nil || string(out) != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
	if text, err := filledOnUse("import (\n)\n"); err == nil || !strings.Contains(fmt.Sprint(err), `no "func init() {"`) {
		t.Errorf("another file: %q, %v", text, err)
	}
}
