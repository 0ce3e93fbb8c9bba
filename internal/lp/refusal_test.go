package lp

import (
	"errors"
	"math/big"
	"strconv"
	"testing"
)

// An LP's refusal in whatever form.
func TestRefusalsAreRead(t *testing.T) {
	for text, want := range map[string]RequestError{
		`{"code":20504,"msg":"no","data":{"max":"900"}}`: {Code: 20504, Message: "no", Most: big.NewInt(900)},
		`{"code":20504,"msg":"no","data":{"max":"-1"}}`:  {Code: 20504, Message: "no"},
		`{"code":20504,"msg":"no"}`:                      {Code: 20504, Message: "no"},
		`{"code":20505,"msg":"no","data":{"max":"900"}}`: {Code: 20505, Message: "no"},
		`{"code":20003,"msg":"no","data":{"min":"1"}}`:   {Code: 20003, Message: "no"},
		`{"code":20505.5,"msg":"no"}`:                    {Message: "no"},
		`{"code":"20505","msg":"no"}`:                    {Message: "no"},
		`{"code":20505,"msg":null}`:                      {Code: 20505, Message: `{"code":20505,"msg":null}`},
		`{"code":20505,"msg":7}`:                         {Code: 20505, Message: "7"},
		`{"code":20505,"msg":"{\"msg\":\"no\"}"}`:        {Code: 20505, Message: "no"},
		`busy`: {Message: "busy"},
	} {
		e, ok := errors.AsType[*RequestError](Refusal("https://lp", 400, text))
		if !ok || e.Code != want.Code || e.Message != want.Message || (e.Most == nil) != (want.Most == nil) || e.Most != nil && e.Most.Cmp(want.Most) != 0 {
			t.Errorf("%s is %+v", text, e)
		}
	}
	for _, code := range []int{CodeTooLow, CodeTooHigh} {
		text := refusalText(code)
		if _, bounded := errors.AsType[*OutOfBoundsError](Refusal("https://lp", 400, text)); !bounded {
			t.Errorf("%s has no bounds", text)
		}
		if _, bounded := errors.AsType[*OutOfBoundsError](PlainRefusal("https://lp", 400, text)); bounded {
			t.Errorf("%s has bounds where they do not count", text)
		}
	}
	if _, bounded := errors.AsType[*OutOfBoundsError](Refusal("https://lp", 400, refusalText(20005))); bounded {
		t.Error("any code has bounds")
	}
}

func refusalText(code int) string {
	return `{"code":` + strconv.Itoa(code) + `,"msg":"no","data":{"min":"1","max":"2"}}`
}
