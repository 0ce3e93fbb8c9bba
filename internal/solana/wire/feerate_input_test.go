package wire

import (
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
)

func TestCheckFeeRate(t *testing.T) {
	for s, good := range map[string]bool{
		"9000": true, "0;0": true, strings.Repeat("9", 19): true,
		"": false, ";": false, "1;": false, ";1": false, "1;2;3": false, "1#1;0": false, "-1": false, "1.5": false, " 1": false, "1,2": false,
		strings.Repeat("9", 20): false,
	} {
		err := CheckFeeRate(s)
		if good != (err == nil) || !good && fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%q: %v", s, err)
		}
	}
}
