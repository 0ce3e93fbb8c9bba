package wire

import (
	"math"
	"strings"
	"testing"
)

func TestClock(t *testing.T) {
	want := Clock{Slot: 300_353_861, Unix: 1_756_278_357}
	if got, err := DecodeClock(SysvarProgram, want.Bytes()); err != nil || got != want || len(want.Bytes()) != clockSpace {
		t.Errorf("%+v, %v", got, err)
	}
	for name, c := range map[string]struct {
		owner Key
		data  []byte
	}{
		"of another program": {SystemProgram, want.Bytes()}, "short": {SysvarProgram, want.Bytes()[:clockSpace-1]}, "absent": {SysvarProgram, nil},
		"before 1970": {SysvarProgram, Clock{Unix: -1}.Bytes()}, "no time": {SysvarProgram, Clock{Unix: math.MaxInt64}.Bytes()},
	} {
		if got, err := DecodeClock(c.owner, c.data); err == nil || got != (Clock{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestParseSignature(t *testing.T) {
	for _, sig := range []Signature{{1, 2, 3}, {}, {0, 0, 5}} {
		if got, err := ParseSignature(sig.String()); err != nil || got != sig {
			t.Errorf("%s: %v, %v", sig, got, err)
		}
	}
	good := Signature{1, 2, 3}.String()
	for _, bad := range []string{"", good[4:], "0" + good[1:], " " + good, strings.Repeat("z", 88), strings.Repeat("z", 5000), Key{5}.String()} {
		if got, err := ParseSignature(bad); err == nil {
			t.Errorf("%.90q: %v", bad, got)
		}
	}
}
