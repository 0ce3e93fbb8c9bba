package lp

import (
	"encoding/json"
	"testing"
	"time"
)

func TestFaultsByName(t *testing.T) {
	t.Parallel()
	f, err := ParseFault("NeverPay, Withhold,Stall,Status")
	if err != nil || !f.NeverPay || !f.Withhold || f.Stall != time.Hour || f.Status != 503 || f.Down {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err := ParseFault(""); err != nil || f.Down || f.Answer != nil {
		t.Errorf("%+v, %v", f, err)
	}
	for _, names := range []string{"Unknown", "Escrow", "NeverPay,,x", "On", "neverPay"} {
		if f, err := ParseFault(names); err == nil {
			t.Errorf("%s: %+v", names, f)
		}
	}
}

func TestLiesAreOfTheTypeOfTheTruth(t *testing.T) {
	t.Parallel()
	answer := map[string]any{"data": map[string]any{"total": "5", "rate": json.Number("2"), "gone": "x", "word": json.Number("1")}}
	for field, value := range map[string]string{"data.total": "6", "data.rate": "3", "data.gone": "", "data.word": "no number"} {
		LieText("/tobtc", field, value)("/tobtc/payInvoice", answer)
		LieText("/elsewhere", field, "99")("/tobtc/payInvoice", answer)
	}
	text, err := json.Marshal(answer)
	if want := `{"data":{"rate":3,"total":"6","word":"no number"}}`; err != nil || string(text) != want {
		t.Errorf("got %s, want %s (%v)", text, want, err)
	}
}
