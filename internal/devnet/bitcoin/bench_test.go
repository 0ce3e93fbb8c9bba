package bitcoin

import "testing"

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		n, err := Start(Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := n.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMine(b *testing.B) {
	n, err := Start(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	for b.Loop() {
		if _, err := n.Mine(1); err != nil {
			b.Fatal(err)
		}
	}
}
