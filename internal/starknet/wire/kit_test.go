package wire

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

func feltOf(t testing.TB, s string) Felt {
	t.Helper()
	f, err := ParseFelt(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return f
}

func feltsOf(t testing.TB, texts []string) []Felt {
	t.Helper()
	all := make([]Felt, len(texts))
	for i, s := range texts {
		all[i] = feltOf(t, s)
	}
	return all
}

// hexes are felts as the vectors print lists of them.
func hexes(all []Felt) []string {
	texts := make([]string, len(all))
	for i, f := range all {
		texts[i] = Hex(f)
	}
	return texts
}

func bigOf(t testing.TB, s string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(s, 0)
	if !ok {
		t.Fatalf("%q is not a number", s)
	}
	return n
}

// networkOf is the preset that a vector means.
func networkOf(t testing.TB, name string) Network {
	t.Helper()
	if name == "" {
		name = "MAINNET"
	}
	on := trial.Must(bitcoin.ParseNetwork(strings.ToLower(name)))(t)
	n, ok := NetworkFor(on)
	if !ok {
		t.Fatalf("no preset for %s", on)
	}
	return n
}

func deploymentOf(t testing.TB, name string) Deployment {
	t.Helper()
	return networkOf(t, name).Deployments[0]
}

func feeRateOf(t testing.TB, s string) FeeRate {
	t.Helper()
	return trial.Must(ParseFeeRate(s))(t)
}

// fieldOf is the member that an error names.
func fieldOf(err error) string {
	var e *fault.Error
	if errors.As(err, &e) {
		return e.Field
	}
	return ""
}
