package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// The reference reads every input by a declared schema, and so do we. declared
// builds the fields of such a declaration with the converters that the operations
// use; what a type's Validate does for the operations, allowed values, is done here.
type declared struct {
	Type          string
	Required      bool
	AllowedValues []any
	Items         *declared
	Properties    orderedSchema
}

// members are what an input object holds.
type members = map[string]any

// orderedSchema keeps the declaration's order, in which missing fields are reported.
type orderedSchema []named

type named struct {
	name string
	declared
}

func (s *orderedSchema) UnmarshalJSON(text []byte) error {
	v, err := parseJSON(text)
	if err != nil {
		return err
	}
	var m map[string]declared
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		return err
	}
	for _, member := range v.members {
		*s = append(*s, named{member.name, m[member.name]})
	}
	return nil
}

func (s orderedSchema) fields() []field[members] {
	var fields []field[members]
	for _, n := range s {
		fields = append(fields, field[members]{name: n.name, required: n.Required, set: func(in *members, path string, v value) error {
			x, err := n.read(path, v)
			if *in == nil {
				*in = members{}
			}
			(*in)[n.name] = x
			return err
		}})
	}
	return fields
}

func (d declared) read(path string, v value) (x any, err error) {
	switch d.Type {
	case "string":
		x, err = toText(path, v)
	case "number":
		x, err = toNumber(path, v)
	case "bigint":
		var n *big.Int
		if n, err = toBigInt(path, v); err == nil {
			x = n.String()
		}
	case "boolean":
		x, err = toBool(path, v)
	case "array":
		item := plainValue
		if d.Items != nil {
			item = d.Items.read
		}
		x, err = toList(path, v, item)
	case "object":
		switch {
		case v.kind != kindObject:
			err = wrongKind(path, "an object", v)
		case d.Properties != nil:
			x, err = decode(d.Properties.fields(), path, v, false)
		default:
			x, err = plainValue(path, v)
		}
	default:
		err = fmt.Errorf("declared type %q", d.Type)
	}
	allowed := func(a any) bool { return fmt.Sprint(a) == fmt.Sprint(x) }
	if err == nil && d.AllowedValues != nil && !slices.ContainsFunc(d.AllowedValues, allowed) {
		err = fault.Invalid(path, "is not allowed")
	}
	return x, err
}

// plainValue passes a value of no declared type through.
func plainValue(path string, v value) (any, error) {
	switch v.kind {
	case kindBool:
		return v.truth, nil
	case kindString:
		return v.text, nil
	case kindNumber:
		f, err := strconv.ParseFloat(v.text, 64) // as JavaScript shows it
		if f == 0 {
			f = 0 // without sign
		}
		return f, err
	case kindArray:
		return toList(path, v, plainValue)
	case kindObject:
		m := members{}
		for _, member := range v.members {
			x, err := plainValue(join(path, member.name), member.value)
			if err != nil {
				return nil, err
			}
			m[member.name] = x
		}
		return m, nil
	}
	return nil, nil
}

// sameAsSent compares what the reference reads in a request that is refused
// here with what was sent: numbers by their value, hashes up to the first
// character that is no digit, all else as it is.
func sameAsSent(t *testing.T, want json.RawMessage, member, text string) {
	t.Helper()
	var says map[string]map[string]any
	var sent map[string]any
	trial.Do(t, errors.Join(json.Unmarshal(want, &says), json.Unmarshal([]byte(text), &sent)))
	sameMembers(t, says[member], sent)
}

func sameMembers(t *testing.T, says, sent map[string]any) {
	t.Helper()
	for name, v := range says {
		if inner, ok := v.(map[string]any); ok {
			of, _ := sent[name].(map[string]any)
			sameMembers(t, inner, of)
			continue
		}
		if s, hash := sent[name].(string); hash && v == strings.ToLower(evenDigits.FindString(s)) && (strings.HasSuffix(name, "Hash") || name == "secret") {
			continue
		}
		if v == "" && sent[name] == nil {
			continue
		}
		if f, number := v.(float64); number {
			if s, ok := sent[name].(string); ok && numeral.MatchString(s) {
				if got, err := strconv.ParseFloat(s, 64); err == nil && got == f {
					continue
				}
			}
		}
		if got, want := valueOf(sent[name]), valueOf(v); !cmp.Equal(got, want) {
			t.Errorf("%s: the reference reads %v in %v", name, v, sent[name])
		}
	}
}

var evenDigits = regexp.MustCompile(`^([0-9a-fA-F]{2})*`)

// valueOf is the number that a text or a JSON number is for JavaScript, else the
// value itself.
func valueOf(v any) any {
	switch v := v.(type) {
	case float64:
		return new(big.Rat).SetFloat64(v).RatString()
	case string:
		text := strings.Trim(v, " \t\n\r\v\f\u00a0\ufeff")
		if len(text) > 2 && text[0] == '0' && strings.ContainsRune("xXoObB", rune(text[1])) {
			if n, ok := new(big.Int).SetString(text, 0); ok {
				return n.String()
			}
		}
		if numeral.MatchString(text) {
			if len(text) > 15 && !strings.ContainsAny(text, ".eE") {
				return text
			}
			if len(text) > 15 { // as the reference's numbers are, which are binary fractions
				if f, err := strconv.ParseFloat(text, 64); err == nil {
					return valueOf(f)
				}
			}
			n, _ := new(big.Rat).SetString(text)
			return n.RatString()
		}
		return v
	}
	return v
}

// A long fraction is the number that the reference reads of it.
func TestValueOfALongFraction(t *testing.T) {
	if got, want := valueOf(".589294687322447299103641976260"), valueOf(0.5892946873224473); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

var numeral = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`)

func TestVectorsAPIInput(t *testing.T) {
	vectors.Each(t, "utilities", "api_input", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Schema    orderedSchema
			Operation string
			JSON      string
		}
		c.Input(t, &in)
		want := c.Want(t)
		if in.Operation != "" {
			checkOperation(t, c, in.Operation, in.JSON, want, "value")
			return
		}
		got, err := readDeclared(in.Schema, in.JSON)
		if id := ownNotation(in.Schema, in.JSON); id != "" && !vectors.Refused(want) {
			c.Differ(t, id)
			sameAsSent(t, want, "value", in.JSON)
			want = json.RawMessage(`{"error":true}`)
		}
		if vectors.Refused(want) {
			mustRefuse(t, err, got)
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got == nil {
			got = members{}
		}
		vectors.SameJSON(t, want, members{"value": got})
	})
}

func readDeclared(schema orderedSchema, text string) (members, error) {
	v, err := parseJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	return decode(schema.fields(), "", v, false)
}

func mustRefuse(t *testing.T, err error, got any) {
	t.Helper()
	e, ok := err.(*fault.Error)
	switch {
	case err == nil:
		t.Errorf("accepted as %v", got)
	case !ok || e.Code != fault.InvalidInput || e.Field == "":
		t.Errorf("refused without code or field: %#v", err)
	}
}

// captured returns what an operation would be given for a JSON input: its fields as
// a client sends them, with numbers as JSON numbers.
func captured(name, text string) (members, error) {
	v, err := parseJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	ops := operations()
	i := slices.IndexFunc(ops, func(op operation) bool { return op.name == name })
	if i < 0 {
		return nil, fmt.Errorf("no operation %q", name)
	}
	run, err := ops[i].read(v, false)
	if err != nil {
		return nil, err
	}
	rec := recorder{}
	_, _ = run(context.Background(), &rec)
	for name, x := range rec.got {
		if n, ok := x.(plain); ok {
			rec.got[name] = float64(n)
		}
	}
	return rec.got, nil
}

// checkOperation compares what an operation is given with what the reference's is,
// or with our own rules where those refuse it. member names the reference's fields
// within want.
func checkOperation(t *testing.T, c *vectors.Case, operation, text string, want json.RawMessage, member string) {
	t.Helper()
	got, err := captured(operation, text)
	if vectors.Refused(want) {
		if id := ownAcceptance(operation, text); id != "" {
			c.Differ(t, id)
			if err != nil {
				t.Errorf("refused: %v", err)
			}
			return
		}
		mustRefuse(t, err, got)
		return
	}
	if rules := ownRefusals(operation, text); len(rules) > 0 {
		mustRefuse(t, err, got)
		e, ok := err.(*fault.Error)
		if !ok || rules[e.Field] == "" {
			t.Fatalf("%v, want an error about one of %v", err, rules)
		}
		sameAsSent(t, want, member, text)
		c.Differ(t, rules[e.Field])
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]members
	d := json.NewDecoder(bytes.NewReader(want))
	d.UseNumber()
	trial.Do(t, d.Decode(&expected))
	fields := expected[member]
	for name, x := range fields {
		if x == "" || x == false { // as good as absent, where it is not refused
			delete(fields, name)
		}
	}
	const added = "lightningPaymentMaxHTLCTimeout"
	if x, ok := got[added]; ok && fields[added] == nil {
		c.Differ(t, "interface-1.0.1")
		fields[added] = x
	}
	if x, ok := got["limit"]; ok && fields["limit"] == nil { // which no request of the reference has
		if fmt.Sprint(x) != fmt.Sprint(maxPage+1) {
			t.Errorf("a list is asked for by %v", x)
		}
		c.Differ(t, "list-pages")
		fields["limit"] = x
	}
	fieldsText := trial.Must(json.Marshal(fields))(t)
	vectors.SameJSON(t, fieldsText, got)
}

func TestVectorsEscrowAPIInput(t *testing.T) {
	vectors.Each(t, "swap-flows-escrow", "api_input", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Operation string
			Body      json.RawMessage
		}
		c.Input(t, &in)
		checkOperation(t, c, in.Operation, string(in.Body), c.Want(t), "parsed")
	})
}

func TestVectorsCreateSwapBody(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "create_swap_body", func(t *testing.T, c *vectors.Case) {
		var in struct{ Body json.RawMessage }
		c.Input(t, &in)
		want := c.Want(t)
		if vectors.Refused(want) {
			checkOperation(t, c, "createSwap", string(in.Body), want, "")
			return
		}
		// The arguments of the reference's call, under the names of the body.
		var args struct {
			SwapArgs struct {
				SrcToken, DstToken, Amount, SrcAddress, DstAddress string
				ExactIn                                            bool
				Options                                            members
			}
		}
		d := json.NewDecoder(bytes.NewReader(want))
		d.UseNumber()
		trial.Do(t, d.Decode(&args))
		a := args.SwapArgs
		body := members{"srcToken": a.SrcToken, "dstToken": a.DstToken, "amount": a.Amount, "srcAddress": a.SrcAddress, "dstAddress": a.DstAddress,
			"amountType": "EXACT_OUT"}
		if a.ExactIn {
			body["amountType"] = "EXACT_IN"
		}
		for option, x := range a.Options {
			name, ok := map[string]string{"gasAmount": "gasAmount", "paymentHash": "paymentHash", "description": "lightningInvoiceDescription",
				"descriptionHash": "lightningInvoiceDescriptionHash", "expirySeconds": "lightningPaymentHTLCTimeout"}[option]
			if !ok {
				t.Fatalf("no field for the option %s", option)
			}
			body[name] = x
		}
		text := trial.Must(json.Marshal(members{"body": body}))(t)
		checkOperation(t, c, "createSwap", string(in.Body), text, "body")
	})
}

// recorder is a Service that keeps the fields of the input that it was given.
type recorder struct{ got members }

func record[In, Out any](r *recorder, fields []field[In], in In) (Out, error) {
	r.got = members{}
	for _, f := range fields {
		if x := f.get(&in); x != nil {
			r.got[f.name] = x
		}
	}
	var none Out
	return none, nil
}

func (r *recorder) CreateSwap(_ context.Context, in swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	return record[swapper.CreateSwapInput, *swapper.CreateSwapOutput](r, createSwapFields, in)
}

func (r *recorder) CreateGasSwap(_ context.Context, in swapper.CreateGasSwapInput) (*swapper.CreateSwapOutput, error) {
	return record[swapper.CreateGasSwapInput, *swapper.CreateSwapOutput](r, createGasSwapFields, in)
}

func (r *recorder) GetSwapStatus(_ context.Context, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	return record[swapper.GetSwapStatusInput, *swapper.GetSwapStatusOutput](r, getSwapStatusFields, in)
}

func (r *recorder) SubmitTransaction(_ context.Context, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	return record[swapper.SubmitTransactionInput, *swapper.SubmitTransactionOutput](r, submitTransactionFields, in)
}

func (r *recorder) SettleWithLnurl(_ context.Context, in swapper.SettleWithLnurlInput) (*swapper.SettleWithLnurlOutput, error) {
	return record[swapper.SettleWithLnurlInput, *swapper.SettleWithLnurlOutput](r, settleWithLnurlFields, in)
}

func (r *recorder) ListSwaps(_ context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	return record[swapper.ListSwapsInput, []swapper.ListSwapOutput](r, listSwapsFields, in)
}

func (r *recorder) ListPendingSwaps(_ context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	return record[swapper.ListSwapsInput, []swapper.ListSwapOutput](r, listSwapsFields, in)
}

func (r *recorder) GetSupportedTokens(_ context.Context, in swapper.GetSupportedTokensInput) ([]swapper.Token, error) {
	return record[swapper.GetSupportedTokensInput, []swapper.Token](r, getSupportedTokensFields, in)
}

func (r *recorder) GetSwapCounterTokens(_ context.Context, in swapper.GetSwapCounterTokensInput) ([]swapper.Token, error) {
	return record[swapper.GetSwapCounterTokensInput, []swapper.Token](r, getSwapCounterTokensFields, in)
}

func (r *recorder) GetSwapLimits(_ context.Context, in swapper.GetSwapLimitsInput) (*swapper.GetSwapLimitsOutput, error) {
	return record[swapper.GetSwapLimitsInput, *swapper.GetSwapLimitsOutput](r, getSwapLimitsFields, in)
}

func (r *recorder) ParseAddress(_ context.Context, in swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	return record[swapper.ParseAddressInput, *swapper.ParseAddressOutput](r, parseAddressFields, in)
}

func (r *recorder) GetSpendableBalance(_ context.Context, in swapper.GetSpendableBalanceInput) (*swapper.GetSpendableBalanceOutput, error) {
	return record[swapper.GetSpendableBalanceInput, *swapper.GetSpendableBalanceOutput](r, getSpendableBalanceFields, in)
}

// fieldNames are the fields of every operation.
var fieldNames = map[string][]string{
	"createSwap":           namesOf(createSwapFields),
	"createGasSwap":        namesOf(createGasSwapFields),
	"getSwapStatus":        namesOf(getSwapStatusFields),
	"submitTransaction":    namesOf(submitTransactionFields),
	"settleWithLnurl":      namesOf(settleWithLnurlFields),
	"listSwaps":            namesOf(listSwapsFields),
	"listPendingSwaps":     namesOf(listSwapsFields),
	"getSupportedTokens":   namesOf(getSupportedTokensFields),
	"getSwapCounterTokens": namesOf(getSwapCounterTokensFields),
	"getSwapLimits":        namesOf(getSwapLimitsFields),
	"parseAddress":         namesOf(parseAddressFields),
	"getSpendableBalance":  namesOf(getSpendableBalanceFields),
}

func namesOf[In any](fields []field[In]) (names []string) {
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}
