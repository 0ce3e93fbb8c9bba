package bitcoin

import (
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		n := trial.Must(Start(Options{}))(b)
		trial.Do(b, n.Close())
	}
}

func BenchmarkMine(b *testing.B) {
	n := trial.Must(Start(Options{}))(b)
	defer n.Close()
	for b.Loop() {
		if _, err := n.Mine(1); err != nil {
			b.Fatal(err)
		}
	}
}
