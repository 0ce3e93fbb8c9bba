package bolt

import (
	"bytes"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// A bit is flipped in every page: in each byte of its header, of its first and last
// elements' headers, or in each third of them except at full depth, and here and there in what they hold. Either the file is refused,
// or all that can be read of it is what was stored.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	const swaps = 16
	path := small(t, swaps)
	whole := contents(t, path)
	m := trial.Must(currentMeta(bytes.NewReader(whole), int64(len(whole))))(t)
	r := rand.New(rand.NewPCG(3, 4))
	step := 1
	if !trial.Full() {
		step = 3 // the pages together have each byte
	}
	opened, refused := 0, 0
	for id := range int(m.pages) {
		page := whole[id*int(m.pageSize):][:m.pageSize]
		count := int(native.Uint16(page[10:]))
		var at []int
		for i := id % step; i < pageHeader+element; i += step {
			at = append(at, i)
		}
		if flags := native.Uint16(page[8:]); (flags == leafPage || flags == branchPage) && count > 1 && pageHeader+count*element < len(page) {
			for i := id % step; i < element; i += step {
				at = append(at, pageHeader+(count-1)*element+i)
			}
		}
		for range 6 / step {
			at = append(at, r.IntN(len(page)))
		}
		for _, i := range at {
			damaged := bytes.Clone(whole)
			damaged[id*int(m.pageSize)+i] ^= 1 << r.IntN(8)
			trial.Do(t, os.WriteFile(path, damaged, 0o600))
			if exercise(t, path, swaps) {
				opened++
			} else {
				refused++
			}
			if t.Failed() {
				t.Fatalf("byte %d of page %d", i, id)
			}
		}
	}
	t.Logf("%d files refused, %d opened", refused, opened)
}
