package lp

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
)

// Every number of the policy is refused by its name when it is negative: taken for the
// usual value, it would mean the opposite of what was meant.
func TestPolicyRefusesNegativeValues(t *testing.T) {
	of := reflect.TypeFor[Policy]()
	numbers := 0
	for i := range of.NumField() {
		if of.Field(i).Type.Kind() != reflect.Int64 {
			continue
		}
		numbers++
		for _, v := range []int64{-1, -5, -1 << 63} {
			var p Policy
			reflect.ValueOf(&p).Elem().Field(i).SetInt(v)
			e, ok := errors.AsType[*fault.Error](p.Validate())
			if !ok || e.Code != fault.InvalidInput || !strings.EqualFold(e.Field, "policy."+of.Field(i).Name) {
				t.Errorf("%s of %d: %v", of.Field(i).Name, v, e)
			}
		}
		for _, v := range []int64{0, 1, 1<<63 - 1} {
			var p Policy
			reflect.ValueOf(&p).Elem().Field(i).SetInt(v)
			if err := p.Validate(); err != nil {
				t.Errorf("%s of %d: %v", of.Field(i).Name, v, err)
			}
		}
	}
	if numbers < 6 {
		t.Errorf("the policy has %d numbers", numbers)
	}
}
