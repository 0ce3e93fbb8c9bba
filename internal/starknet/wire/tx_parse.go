package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/members"
)

// maxTxText bounds the text of a transaction. The largest that a network takes, with
// some thousand felts of calldata twice, is far below.
const maxTxText = 1 << 20

// ParseTransaction reads the text of a transaction, signed or not (§10.3, §10.4).
// Numbers may be written in hexadecimal or decimal text, as JSON numbers, or wrapped
// as {"_type":"bigint"}; null counts as absent, unknown members are ignored. What
// matters is what is beside the signature: a wallet that signs other details than it
// gives back made a signature that no node takes.
func ParseTransaction(text string) (*Transaction, error) {
	if len(text) > maxTxText {
		return nil, fault.Invalid("", "transaction is longer than %d characters", maxTxText)
	}
	data, err := unwrapped([]byte(text))
	if err != nil {
		return nil, err
	}
	fields, err := members.Read(data)
	if err != nil {
		return nil, err
	}
	r := &memberReader{fields}
	t := &Transaction{Type: TxType(r.Text("type"))}
	if r.Err == nil && t.Type != Invoke && t.Type != DeployAccount {
		return nil, fault.Invalid("type", "is %q, must be %s or %s", t.Type, Invoke, DeployAccount)
	}
	details := r.object("details")
	if r.Err != nil {
		return nil, r.Err
	}
	t.Details = details.details()
	r.FailWith(details.Err)
	if t.Type == Invoke {
		t.Calls = r.calls("tx")
	}
	if r.Has("signed") {
		signed := r.object("signed")
		if r.Err == nil {
			t.readSigned(signed)
			r.FailWith(signed.Err)
		}
	} else if t.Type == DeployAccount && r.Has("tx") {
		if tx := r.object("tx"); r.Err == nil {
			t.Deploy.ClassHash, t.Deploy.ConstructorCalldata = tx.feltOr("classHash"), tx.felts("constructorCalldata")
			r.FailWith(tx.Err)
		}
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return t, nil
}

func (r *memberReader) details() Details {
	if r.Has("version") && r.number("version", 64).Uint64() != 3 {
		r.Fail("version", "must be 3")
	}
	d := Details{
		Sender: r.address("walletAddress"), ChainID: r.feltNumber("chainId"), Nonce: r.number("nonce", 64).Uint64(),
		PaymasterData: r.felts("paymasterData"), AccountDeploymentData: r.felts("accountDeploymentData"),
		NonceMode: r.mode("nonceDataAvailabilityMode"), FeeMode: r.mode("feeDataAvailabilityMode"),
	}
	if r.Has("tip") {
		d.Tip = r.number("tip", 64).Uint64()
	}
	if bounds := r.object("resourceBounds"); r.Err == nil {
		d.Bounds = Bounds{L1: bounds.bound("l1_gas"), L2: bounds.bound("l2_gas"), L1Data: bounds.bound("l1_data_gas")}
		r.FailWith(bounds.Err)
	}
	return d
}

func (t *Transaction) readSigned(r *memberReader) {
	t.Signed = true
	t.Signature = r.signature("signature")
	if t.Type == DeployAccount {
		if !r.Has("constructorCalldata") {
			r.Fail("constructorCalldata", "is required")
		}
		t.Deploy = Deploy{ClassHash: r.feltNumber("classHash"), Salt: r.feltNumber("addressSalt"), ConstructorCalldata: r.felts("constructorCalldata")}
		return
	}
	t.Calldata = r.felts("calldata")
	if r.Err == nil && len(t.Calldata) == 0 {
		r.Fail("calldata", "is required")
	}
	if r.Has("contractAddress") {
		if sender := r.address("contractAddress"); r.Err == nil && sender != t.Sender {
			r.Fail("contractAddress", "is %s, but details.walletAddress is %s", Hex64(sender), Hex64(t.Sender))
		}
	}
}

// object reads a member that is an object. It is never nil.
func (r *memberReader) object(name string) *memberReader {
	if !r.Has(name) {
		r.Fail(name, "is required")
		return &memberReader{members.Reader{Err: r.Err}}
	}
	inner, err := r.In(name, r.Fields[name])
	if err != nil {
		r.FailWith(err)
		inner.Err = r.Err
	}
	return &memberReader{inner}
}

func (r *memberReader) bound(name string) Bound {
	b := r.object(name)
	bound := Bound{}
	if b.Err == nil {
		bound = Bound{b.number("max_amount", 64).Uint64(), b.number("max_price_per_unit", priceBits)}
	}
	r.FailWith(b.Err)
	return bound
}

func (r *memberReader) mode(name string) DAMode {
	if !r.Has(name) {
		return DAModeL1
	}
	m := DAMode(r.Text(name))
	if r.Err == nil && m != DAModeL1 && m != DAModeL2 {
		r.Fail(name, "must be %s or %s", DAModeL1, DAModeL2)
	}
	return m
}

// feltNumber reads a felt in any notation of numbers.
func (r *memberReader) feltNumber(name string) Felt {
	n := r.number(name, 252)
	f, err := FeltOfBig(n)
	if err != nil {
		r.Fail(name, "%w", err)
	}
	return f
}

// feltOr reads a felt that may be missing: zero.
func (r *memberReader) feltOr(name string) Felt {
	if !r.Has(name) {
		return Felt{}
	}
	return r.feltNumber(name)
}

// felts reads a list of felts in any notation; no list is an empty one.
func (r *memberReader) felts(name string) []Felt {
	if !r.Has(name) {
		return nil
	}
	var parts []json.RawMessage
	if !r.Decode(name, &parts) {
		return nil
	}
	return r.feltsOf(name, parts)
}

func (r *memberReader) feltsOf(name string, parts []json.RawMessage) []Felt {
	all := make([]Felt, len(parts))
	for i, p := range parts {
		n, err := numberOf(p, 252)
		if err == nil {
			all[i], err = FeltOfBig(n)
		}
		if err != nil {
			r.Fail(name+"["+strconv.Itoa(i)+"]", "%w", err)
			return nil
		}
	}
	return all
}

// signature reads a list of felts, or r and s of a plain key.
func (r *memberReader) signature(name string) []Felt {
	if r.Has(name) && r.Fields[name][0] == '{' {
		s := r.object(name)
		all := []Felt{s.feltNumber("r"), s.feltNumber("s")}
		r.FailWith(s.Err)
		return all
	}
	all := r.felts(name)
	if r.Err == nil && (len(all) == 0 || len(all) > maxSignature) {
		r.Fail(name, "must have 1 to %d felts", maxSignature)
	}
	return all
}

func (r *memberReader) calls(name string) []Call {
	if !r.Has(name) {
		return nil
	}
	var parts []json.RawMessage
	if !r.Decode(name, &parts) {
		return nil
	}
	if len(parts) > maxCalls {
		r.Fail(name, "must have at most %d calls", maxCalls)
		return nil
	}
	var calls []Call
	for i, p := range parts {
		fields, err := r.In(fmt.Sprintf("%s[%d]", name, i), p)
		if err != nil {
			r.FailWith(err)
			return nil
		}
		c := &memberReader{fields}
		calls = append(calls, Call{To: c.address("contractAddress"), Entry: c.Text("entrypoint"), Calldata: c.felts("calldata")})
		r.FailWith(c.Err)
	}
	return calls
}

// unwrapped replaces the wrappers of an older form of big numbers by their values.
func unwrapped(text []byte) ([]byte, error) {
	if !bytes.Contains(text, []byte(`"_type"`)) {
		return text, nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil || d.More() {
		return nil, fault.Invalid("", "must be a JSON object")
	}
	return json.Marshal(unwrap(v, 0))
}

func unwrap(v any, depth int) any {
	if depth > 16 {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		if v["_type"] == "bigint" {
			return v["_value"]
		}
		for name, m := range v {
			v[name] = unwrap(m, depth+1)
		}
	case []any:
		for i, m := range v {
			v[i] = unwrap(m, depth+1)
		}
	}
	return v
}
