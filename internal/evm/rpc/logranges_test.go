package rpc

import (
	"fmt"
	"testing"

	"github.com/swapper-go/swapper/internal/vectors"
)

// The ranges that the reference asks for overlap by a block; ours cover the same
// blocks once, and the tip where the reference asks for nothing.
func TestVectorsLogRanges(t *testing.T) {
	vectors.Each(t, "chain-evm", "log_ranges", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn                        string
			Start                     uint64
			End                       *uint64
			Latest, MaxLogsBlockRange uint64
		}
		c.Input(t, &in)
		var want struct{ Ranges [][2]uint64 }
		c.Expected(t, &want)
		last := in.Latest
		if in.End != nil {
			last = *in.End
		}
		var got []BlockRange
		for some := range NewLogRanges(in.Start, last, in.MaxLogsBlockRange).Up(3) {
			got = append(got, some...)
		}
		same := len(want.Ranges) == len(got)
		for i := range min(len(got), len(want.Ranges)) {
			same = same && want.Ranges[i] == [2]uint64{got[i].From, got[i].To}
		}
		if same {
			return
		}
		c.Differ(t, "evm-log-ranges")
		next := in.Start
		for _, r := range got {
			if r.From != next || r.To < r.From || r.To-r.From >= in.MaxLogsBlockRange {
				t.Fatalf("ranges %v", got)
			}
			next = r.To + 1
		}
		if next != last+1 {
			t.Errorf("ranges %v end before %d", got, last)
		}
	})
}

func TestLogRanges(t *testing.T) {
	const top = ^uint64(0)
	for _, c := range []struct {
		first, last, size uint64
		want              string
	}{
		{5, 4, 10, "[]"},
		{5, 5, 10, "[{5 5}]"},
		{0, 34, 10, "[{0 9} {10 19} {20 29} {30 34}]"},
		{0, 9, 10, "[{0 9}]"},
		{0, 10, 10, "[{0 9} {10 10}]"},
		{top - 1, top, 1, fmt.Sprintf("[{%d %d} {%d %d}]", top-1, top-1, top, top)},
		{1, 2, 0, "[]"},
	} {
		for atOnce := uint64(1); atOnce < 4; atOnce++ {
			var up, down []BlockRange
			for some := range NewLogRanges(c.first, c.last, c.size).Up(atOnce) {
				up = append(up, some...)
			}
			for some := range NewLogRanges(c.first, c.last, c.size).Down(atOnce) {
				down = append(some, down...)
			}
			if fmt.Sprint(up) != c.want || fmt.Sprint(down) != c.want {
				t.Errorf("from %d to %d by %d, %d at once: got %v and %v, want %s", c.first, c.last, c.size, atOnce, up, down, c.want)
			}
		}
	}
}

// A node may say any height.
func TestLogRangesOfALie(t *testing.T) {
	ranges := NewLogRanges(5, ^uint64(0), LogRange)
	for some := range ranges.Up(2) {
		if fmt.Sprint(some) != "[{5 954} {955 1904}]" {
			t.Errorf("the first are %v", some)
		}
		break
	}
	for some := range ranges.Down(2) {
		if len(some) != 2 || some[1].To != ^uint64(0) || some[1].From != some[0].To+1 || some[0].To-some[0].From != LogRange-1 {
			t.Errorf("the last are %v", some)
		}
		break
	}
}
