package lp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// allChecks are the checks that there are, as the source has them.
func allChecks(t *testing.T) (all []Check) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "check.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Check") {
			word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, Check(word))
		}
		return true
	})
	return all
}

// Who would steal, or is not who it says, is believed about nothing; any other lie
// is about one pair.
func TestPenaltyOfEachCheck(t *testing.T) {
	thefts := []Check{CheckEscrow, CheckAuth, CheckLPKey, CheckPaymentHash, CheckVaultOwner, CheckSecret, CheckPayout, CheckCommitted, CheckTooLate}
	pair := Pair{ToBTC, "CITREA", "T"}
	for _, c := range allChecks(t) {
		want := pair
		if slices.Contains(thefts, c) {
			want = Pair{}
		}
		if got := (&LPError{Check: c}).pair(pair); got != want {
			t.Errorf("%s: left alone for %+v, want %+v", c, got, want)
		}
	}
}

// A lie is remembered for a day after it was told, to the second.
func TestLiesAreRememberedForADay(t *testing.T) {
	var p penalties
	b, other := box{"lp", Pair{ToBTC, "CITREA", "T"}}, box{url: "other"}
	at := noon
	length := func() time.Duration { return p.punish(b, "lie", at).Sub(at) }
	for i, pause := range []time.Duration{time.Hour, forgiveness} {
		if got := length(); got != firstPenalty<<i {
			t.Errorf("the lie no. %d costs %v", i, got)
		}
		at = at.Add(pause)
	}
	if got := length(); got != 4*firstPenalty {
		t.Errorf("a day later exactly it costs %v", got)
	}
	at = at.Add(forgiveness + 1)
	p.punish(other, "lie", at)
	if len(p.boxes) != 1 {
		t.Errorf("a forgiven lie is kept: %v", p.boxes)
	}
	if got := length(); got != firstPenalty {
		t.Errorf("after more than a day it costs %v", got)
	}
	if !p.free("lp", Pair{}, at) || p.free("lp", b.pair, at) || p.free("other", b.pair, at) || !p.free("third", b.pair, at) {
		t.Errorf("others are punished, or the liar is not: %v", p.boxes)
	}
	if got := p.list(at); len(got) != 2 {
		t.Errorf("listed are %v", got)
	}
	if end := at.Add(firstPenalty); !p.free("lp", b.pair, end) || len(p.list(end)) != 0 {
		t.Error("it does not end when it was said to")
	}
}
