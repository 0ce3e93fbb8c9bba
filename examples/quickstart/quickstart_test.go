package main

import (
	"bytes"
	"testing"
)

func TestEveryDirectionSettles(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if n := bytes.Count(out.Bytes(), []byte("quote:")); n != 12 {
		t.Fatalf("%d swaps\n%s", n, out.String())
	}
}
