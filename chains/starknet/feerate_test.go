package starknet

import (
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
)

func TestCheckFeeRate(t *testing.T) {
	for s, good := range map[string]bool{
		"1,2,3;v3": true, "0,0,0;v3": true, strings.Repeat("9", 39) + ",1,1;v3": true,
		"": false, ";v3": false, "1,2;v3": false, "1,2,3": false, "1,2,3;v1": false, "1,2,3,4;v3": false, "1,,3;v3": false, "1,-2,3;v3": false,
		"1, 2,3;v3": false, "1.5,2,3;v3": false, "1,2,3;v3;v3": false, strings.Repeat("9", 40) + ",1,1;v3": false, "٣,2,3;v3": false,
	} {
		err := CheckFeeRate(s)
		if good != (err == nil) || !good && fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%q: %v", s, err)
		}
	}
}
