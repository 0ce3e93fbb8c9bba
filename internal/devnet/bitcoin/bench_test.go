package bitcoin

import (
	"testing"

	"github.com/swapper-go/swapper/internal/must"
)

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		n := must.Get(Start(Options{}))(b)
		must.Do(b, n.Close())
	}
}

func BenchmarkMine(b *testing.B) {
	n := must.Get(Start(Options{}))(b)
	defer n.Close()
	for b.Loop() {
		if _, err := n.Mine(1); err != nil {
			b.Fatal(err)
		}
	}
}
