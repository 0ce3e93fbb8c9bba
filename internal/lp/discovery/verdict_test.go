package discovery

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
)

// A lie about one pair says nothing of the others; one that would steal does.
func TestBoxesHoldOnePair(t *testing.T) {
	d := NewDirectory(Setup{Chains: clientChains(), Now: func() time.Time { return noon }})
	s := lp.ServiceInfo{Min: 1, Max: 10, Chains: []lp.ChainTokens{{Chain: "CITREA", Tokens: []string{"T", "U"}}}}
	d.lps = []*LP{{URL: "lp", Services: map[lp.Service]lp.ServiceInfo{lp.ToBTC: s, lp.ToBTCLN: s}}}
	asked := func(service lp.Service, token string) bool {
		return len(d.candidates(Query{Service: service, Chain: "CITREA", Token: token})) == 1
	}
	dear := Query{Service: lp.ToBTC, Chain: "CITREA", Token: "T"}
	d.Punish("lp", dear.Pair(), lp.Lie(lp.CheckPrice, "too dear"))
	if asked(lp.ToBTC, "T") || !asked(lp.ToBTC, "U") || !asked(lp.ToBTCLN, "T") {
		t.Error("the box is not that of the pair")
	}
	if err := d.noCandidate(dear); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("nobody to ask: %v", err)
	}
	d.Punish("lp", dear.Pair(), lp.Lie(lp.CheckEscrow, "pays the LP itself"))
	if asked(lp.ToBTC, "U") || asked(lp.ToBTCLN, "T") || len(d.Penalties()) != 2 {
		t.Errorf("who would steal is still asked: %+v", d.Penalties())
	}
}

// What an LP sees first and the caller can mend is the caller's fault, by the name
// of the field, and reads the same however it is read.
func TestCallersFaultsHaveFields(t *testing.T) {
	refusal := func(code int, text string) error {
		return &lp.RequestError{LP: "https://lp", Status: 400, Code: code, Message: text}
	}
	most := &lp.RequestError{Code: 20504, Message: "Gas token amount too high!", Most: n(900)}
	tests := []struct {
		name    string
		service lp.Service
		err     error
		code    fault.Code
		field   string
	}{
		{"timeout", lp.ToBTCLN, refusal(20001, "Expiry time too low!"), fault.InvalidInput, "lightningPaymentHTLCTimeout"},
		{"paid invoice", lp.ToBTCLN, refusal(20010, "Already processed"), fault.InvalidInput, "dstAddress"},
		{"late invoice", lp.ToBTCLN, refusal(20020, "Invoice expires too soon"), fault.InvalidInput, "dstAddress"},
		{"our nonce", lp.ToBTC, refusal(20021, "Invalid request body (nonce - cannot be parsed)"), fault.Upstream, ""},
		{"address", lp.ToBTC, refusal(20031, "Invalid request body (address - cannot be parsed)"), fault.InvalidInput, "dstAddress"},
		{"hash", lp.FromBTCLNAuto, refusal(20100, "Invalid request body (paymentHash)"), fault.InvalidInput, "paymentHash"},
		{"payer", lp.ToBTC, refusal(20100, "Invalid request body (offerer)"), fault.InvalidInput, "srcAddress"},
		{"our token", lp.ToBTC, refusal(20100, "Invalid request body (token)"), fault.Upstream, ""},
		{"broken text", lp.ToBTC, refusal(20100, "Invalid request body (amount"), fault.Upstream, ""},
		{"gas", lp.SPVFromBTC, most, fault.AmountOutOfBounds, "gasAmount"},
		{"gas and reward", lp.FromBTCLNAuto, &lp.RequestError{Code: 20504, Message: "too high", Most: n(1000)}, fault.InvalidInput, "gasAmount"},
		{"amount and gas", lp.FromBTCLNAuto, &lp.OutOfBoundsError{RequestError: lp.RequestError{Code: 20003}, Min: n(100), Max: n(9000)}, fault.InvalidInput, "amount"},
		{"amount", lp.FromBTCLNAuto, &lp.OutOfBoundsError{RequestError: lp.RequestError{Code: 20003}, Min: n(6000), Max: n(9000)}, fault.AmountOutOfBounds, "amount"},
		{"liquidity", lp.ToBTC, refusal(20002, "Not enough liquidity"), fault.Upstream, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			q := Query{Service: test.service, ExactIn: true, Amount: n(5000), Gas: n(1000)}
			down := Failure{Candidate{LP: &LP{URL: "https://a"}}, &lp.CallError{LP: "https://a", Err: errors.New("reset")}}
			refused := Failure{Candidate{LP: &LP{URL: "https://lp"}}, named(Candidate{LP: &LP{URL: "https://lp"}}, test.err)}
			for _, failures := range [][]Failure{{refused}, {refused, down}, {down, refused}} {
				err := q.verdict(failures)
				e, ok := errors.AsType[*fault.Error](err)
				if !ok || e.Code != test.code || e.Field != test.field {
					t.Errorf("%d failures: %v is %+v", len(failures), err, e)
				}
				if shown := strings.ReplaceAll(err.Error(), "reset", "the service's log has the details"); e.Public() != shown {
					t.Errorf("callers read %q, want %q", e.Public(), shown)
				}
			}
		})
	}
}

// An amount between what two LPs take is not told that it may be there.
func TestBoundsAroundAGap(t *testing.T) {
	q := Query{Amount: n(4000)}
	ask := func(min, max int64) Failure {
		return Failure{Err: &lp.OutOfBoundsError{RequestError: lp.RequestError{Code: 20004}, Min: n(min), Max: n(max)}}
	}
	e, _ := errors.AsType[*fault.Error](q.verdict([]Failure{ask(9000, 10_000), ask(1000, 3000)}))
	if e == nil || e.Min.Int64() != 1000 || e.Max.Int64() != 3000 {
		t.Errorf("%+v", e)
	}
	q.Amount = n(20_000)
	e, _ = errors.AsType[*fault.Error](q.verdict([]Failure{ask(9000, 10_000), ask(1000, 3000)}))
	if e == nil || e.Min.Int64() != 1000 || e.Max.Int64() != 10_000 {
		t.Errorf("%+v", e)
	}
}
