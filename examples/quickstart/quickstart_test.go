package main

import (
	"bytes"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// Every direction settles; short of full depth the first three are tried.
func TestEveryDirectionSettles(t *testing.T) {
	want := 0
	var out bytes.Buffer
	err := run(t.Context(), &out, func(t *tour) ([]direction, error) {
		all, err := t.directions()
		all = trial.Of(3, all)
		want = len(all)
		return all, err
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if n := bytes.Count(out.Bytes(), []byte("quote:")); n != want || n < 3 {
		t.Fatalf("%d swaps, want %d\n%s", n, want, out.String())
	}
}
