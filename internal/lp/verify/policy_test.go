package verify

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
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

// The least amount for a watchtower's pay is accepted, and no smaller one is.
func TestWatchtowerMin(t *testing.T) {
	for _, ppm := range []int64{0, 1, 49_999, 200_000, 1_000_000} {
		p := Policy{MaxWatchtowerPPM: ppm}
		for _, pay := range []int64{0, 1000, 1001, 12_345, 1_000_003} {
			least := p.WatchtowerMin(n(pay))
			if err := p.Watchtower(n(pay), least); err != nil {
				t.Errorf("%d ppm: %v", ppm, err)
			}
			if least.Sign() > 0 && p.Watchtower(n(pay), bigs.Sub(least, n(1))) == nil {
				t.Errorf("%d ppm: %d sats are accepted of less than %s", ppm, pay, least)
			}
		}
	}
}
