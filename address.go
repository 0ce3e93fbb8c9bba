package swapper

import (
	"encoding/json"
	"fmt"
)

// ParseAddressInput is the input of parseAddress.
type ParseAddressInput struct {
	// Address is a Bitcoin address or BIP-21 URI, an invoice or `lightning:` link,
	// an LNURL, a lightning address, or a smart-chain address.
	Address string
}

// Validate checks the input's length. The error is a [*fault.Error] with
// [fault.InvalidInput] that names the field.
func (in *ParseAddressInput) Validate() error {
	return first(required("address", in.Address, maxAddressText))
}

// ParseAddressOutput is the result of parseAddress.
type ParseAddressOutput struct {
	Address string  `json:"address"` // without scheme and query
	Type    string  `json:"type"`    // BITCOIN, LIGHTNING, LNURL or a chain identifier
	LNURL   LNURL   `json:"lnurl,omitempty"`
	Min     *Amount `json:"min,omitempty"` // LNURL with a variable amount
	Max     *Amount `json:"max,omitempty"`
	Amount  *Amount `json:"amount,omitempty"` // amount that an invoice, URI or LNURL fixes
}

// UnmarshalJSON implements [json.Unmarshaler].
func (o *ParseAddressOutput) UnmarshalJSON(text []byte) error {
	type plain ParseAddressOutput
	in := struct {
		*plain
		LNURL json.RawMessage `json:"lnurl"`
	}{plain: (*plain)(o)}
	err := json.Unmarshal(text, &in)
	if err == nil && in.LNURL != nil {
		o.LNURL, err = unmarshalLNURL(in.LNURL)
	}
	return err
}

// LNURL is what the service behind an LNURL offers (ApiLNURL): a [*LNURLPay] or
// [*LNURLWithdraw].
type LNURL interface {
	// Type returns the type in JSON: pay or withdraw.
	Type() string
	lnurl()
}

// LNURLPay is a service that accepts payments.
type LNURLPay struct {
	Min              Amount         `json:"min"`
	Max              Amount         `json:"max"`
	CommentMaxLength int            `json:"commentMaxLength"`
	ShortDescription string         `json:"shortDescription,omitempty"`
	LongDescription  string         `json:"longDescription,omitempty"`
	Icon             string         `json:"icon,omitempty"` // usually a data URL
	Params           LNURLPayParams `json:"params"`
}

// LNURLPayParams is the answer of an LNURL-pay service.
type LNURLPayParams struct {
	Tag             string             `json:"tag"` // payRequest
	Callback        string             `json:"callback"`
	Domain          string             `json:"domain"`
	MinSendable     int64              `json:"minSendable"` // msat
	MaxSendable     int64              `json:"maxSendable"` // msat
	Metadata        string             `json:"metadata"`
	DecodedMetadata List[List[string]] `json:"decodedMetadata"`
	CommentAllowed  int                `json:"commentAllowed"`
	URL             string             `json:"url"` // the LNURL as given by the caller
}

// LNURLWithdraw is a service that pays out.
type LNURLWithdraw struct {
	Min    Amount              `json:"min"`
	Max    Amount              `json:"max"`
	Params LNURLWithdrawParams `json:"params"`
}

// LNURLWithdrawParams is the answer of an LNURL-withdraw service.
type LNURLWithdrawParams struct {
	Tag                string `json:"tag"` // withdrawRequest
	K1                 string `json:"k1"`
	Callback           string `json:"callback"`
	Domain             string `json:"domain"`
	MinWithdrawable    int64  `json:"minWithdrawable"` // msat
	MaxWithdrawable    int64  `json:"maxWithdrawable"` // msat
	DefaultDescription string `json:"defaultDescription"`
	BalanceCheck       string `json:"balanceCheck,omitempty"`
	PayLink            string `json:"payLink,omitempty"`
	URL                string `json:"url"` // the LNURL as given by the caller
}

const (
	lnurlPay      = "pay"
	lnurlWithdraw = "withdraw"
)

func (*LNURLPay) lnurl()      {}
func (*LNURLWithdraw) lnurl() {}

// Type implements [LNURL].
func (*LNURLPay) Type() string { return lnurlPay }

// Type implements [LNURL].
func (*LNURLWithdraw) Type() string { return lnurlWithdraw }

// MarshalJSON implements [json.Marshaler].
func (l LNURLPay) MarshalJSON() ([]byte, error) {
	type plain LNURLPay
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{lnurlPay, plain(l)})
}

// MarshalJSON implements [json.Marshaler].
func (l LNURLWithdraw) MarshalJSON() ([]byte, error) {
	type plain LNURLWithdraw
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{lnurlWithdraw, plain(l)})
}

func unmarshalLNURL(text []byte) (LNURL, error) {
	var head *struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(text, &head); err != nil || head == nil {
		return nil, err
	}
	var l LNURL
	switch head.Type {
	case lnurlPay:
		l = new(LNURLPay)
	case lnurlWithdraw:
		l = new(LNURLWithdraw)
	default:
		return nil, fmt.Errorf("unknown LNURL type %.40q", head.Type)
	}
	if err := json.Unmarshal(text, l); err != nil {
		return nil, err
	}
	return l, nil
}
