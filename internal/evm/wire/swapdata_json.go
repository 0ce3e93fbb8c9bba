package wire

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// maxSwapDataJSON bounds the text of one escrow. A usual one has about 1 kB.
const maxSwapDataJSON = 64 << 10

// maxJSONNumber is the largest integer that a JSON number carries between all
// implementations; above it the others round.
const maxJSONNumber = 1 << 53

// ParseSwapData reads the JSON form that LPs send and records hold (protocol:
// chain-evm.md §3.3). Every member is validated; members that it does not know
// are ignored. Errors have the code [fault.InvalidInput] and name the member.
func ParseSwapData(data []byte) (SwapData, error) {
	if len(data) > maxSwapDataJSON {
		return SwapData{}, fault.Invalid("", "swap data is longer than %d bytes", maxSwapDataJSON)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return SwapData{}, fault.Invalid("", "swap data is not a JSON object: %w", err)
	}
	r := memberReader{fields: fields}
	if t := r.text("type"); r.err == nil && t != "evm" {
		return SwapData{}, fault.Invalid("type", "swap data of type %q is not for an EVM chain", t)
	}
	s := SwapData{
		Offerer:         r.address("offerer"),
		Claimer:         r.address("claimer"),
		Token:           r.address("token"),
		RefundHandler:   r.address("refundHandler"),
		ClaimHandler:    r.address("claimHandler"),
		PayOut:          r.flag("payOut"),
		PayIn:           r.flag("payIn"),
		Reputation:      r.flag("reputation"),
		Sequence:        r.number("sequence"),
		ClaimData:       r.hash("claimData"),
		RefundData:      r.hash("refundData"),
		Amount:          r.number("amount"),
		DepositToken:    r.address("depositToken"),
		SecurityDeposit: r.number("securityDeposit"),
		ClaimerBounty:   r.number("claimerBounty"),
		Kind:            r.kind("kind"),
	}
	if r.has("successActionCommitment") {
		s.SuccessAction = r.hash("successActionCommitment")
	}
	if r.has("extraData") {
		s.ExtraData = r.bytes("extraData")
	}
	if r.err != nil {
		return SwapData{}, r.err
	}
	return s, s.Validate()
}

// UnmarshalJSON is [ParseSwapData].
func (s *SwapData) UnmarshalJSON(data []byte) error {
	parsed, err := ParseSwapData(data)
	if err != nil {
		return err
	}
	*s = parsed
	return nil
}

// MarshalJSON writes the JSON form, addresses with their EIP-55 checksum.
func (s SwapData) MarshalJSON() ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	var extra *string
	if s.ExtraData != nil {
		text := hex.EncodeToString(s.ExtraData)
		extra = &text
	}
	return json.Marshal(struct {
		Type            string      `json:"type"`
		Offerer         string      `json:"offerer"`
		Claimer         string      `json:"claimer"`
		Token           string      `json:"token"`
		RefundHandler   string      `json:"refundHandler"`
		ClaimHandler    string      `json:"claimHandler"`
		PayOut          bool        `json:"payOut"`
		PayIn           bool        `json:"payIn"`
		Reputation      bool        `json:"reputation"`
		Sequence        string      `json:"sequence"`
		ClaimData       string      `json:"claimData"`
		RefundData      string      `json:"refundData"`
		Amount          string      `json:"amount"`
		DepositToken    string      `json:"depositToken"`
		SecurityDeposit string      `json:"securityDeposit"`
		ClaimerBounty   string      `json:"claimerBounty"`
		Kind            chains.Kind `json:"kind"`
		ExtraData       *string     `json:"extraData,omitempty"`
		SuccessAction   string      `json:"successActionCommitment"`
	}{
		"evm", s.Offerer.Hex(), s.Claimer.Hex(), s.Token.Hex(), s.RefundHandler.Hex(), s.ClaimHandler.Hex(),
		s.PayOut, s.PayIn, s.Reputation, s.Sequence.String(), s.ClaimData.Hex(), s.RefundData.Hex(), s.Amount.String(),
		s.DepositToken.Hex(), s.SecurityDeposit.String(), s.ClaimerBounty.String(), s.Kind, extra, s.SuccessAction.Hex(),
	})
}

// Public returns the escrow as the REST API shows it in escrow.data: the
// contract's members, every number as minimal 0x hex.
func (s SwapData) Public() (json.RawMessage, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Offerer         string `json:"offerer"`
		Claimer         string `json:"claimer"`
		Token           string `json:"token"`
		RefundHandler   string `json:"refundHandler"`
		ClaimHandler    string `json:"claimHandler"`
		Flags           string `json:"flags"`
		ClaimData       string `json:"claimData"`
		RefundData      string `json:"refundData"`
		Amount          string `json:"amount"`
		DepositToken    string `json:"depositToken"`
		SecurityDeposit string `json:"securityDeposit"`
		ClaimerBounty   string `json:"claimerBounty"`
		SuccessAction   string `json:"successActionCommitment"`
	}{
		s.Offerer.Hex(), s.Claimer.Hex(), s.Token.Hex(), s.RefundHandler.Hex(), s.ClaimHandler.Hex(),
		hexutil.EncodeBig(s.Flags()), s.ClaimData.Hex(), s.RefundData.Hex(), hexutil.EncodeBig(s.Amount),
		s.DepositToken.Hex(), hexutil.EncodeBig(s.SecurityDeposit), hexutil.EncodeBig(s.ClaimerBounty), s.SuccessAction.Hex(),
	})
}

// memberReader takes members out of a JSON object and keeps the first error.
type memberReader struct {
	fields map[string]json.RawMessage
	err    error
}

func (r *memberReader) has(name string) bool {
	raw, ok := r.fields[name]
	return ok && string(raw) != "null"
}

func (r *memberReader) fail(name, format string, args ...any) {
	if r.err == nil {
		r.err = fault.Invalid(name, format, args...)
	}
}

func (r *memberReader) decode(name string, v any) bool {
	if !r.has(name) {
		r.fail(name, "is required")
		return false
	}
	if err := json.Unmarshal(r.fields[name], v); err != nil {
		r.fail(name, "has the wrong type")
		return false
	}
	return true
}

func (r *memberReader) text(name string) string {
	s, _ := r.string(name)
	return s
}

func (r *memberReader) string(name string) (s string, ok bool) {
	if s, ok := plainText(r.fields[name]); ok {
		return s, true
	}
	ok = r.decode(name, &s)
	return s, ok
}

// plainText is the content of a JSON string in which nothing is escaped.
func plainText(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	content := raw[1 : len(raw)-1]
	for _, c := range content {
		if c == '\\' || c >= utf8.RuneSelf {
			return "", false
		}
	}
	return string(content), true
}

func (r *memberReader) flag(name string) (b bool) {
	switch string(r.fields[name]) {
	case "true":
		return true
	case "false":
		return false
	}
	r.decode(name, &b)
	return b
}

func (r *memberReader) kind(name string) chains.Kind {
	var n int
	if r.decode(name, &n) && (n < 0 || n > int(chains.OnchainTxID)) {
		r.fail(name, "has unknown kind %d", n)
	}
	return chains.Kind(n)
}

func (r *memberReader) address(name string) common.Address {
	s, ok := r.string(name)
	if !ok {
		return common.Address{}
	}
	a, err := parseAddress(s)
	if err != nil {
		r.fail(name, "%w", err)
	}
	return a
}

func (r *memberReader) hash(name string) common.Hash {
	s, ok := r.string(name)
	if !ok {
		return common.Hash{}
	}
	b, err := hexBytes(s, 32)
	if err != nil {
		r.fail(name, "%w", err)
		return common.Hash{}
	}
	return common.Hash(b)
}

func (r *memberReader) bytes(name string) []byte {
	s, ok := r.string(name)
	if !ok {
		return nil
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		r.fail(name, "must be hexadecimal without 0x")
	}
	return b
}

// number reads a decimal or 0x string, or a JSON integer.
func (r *memberReader) number(name string) *big.Int {
	if !r.has(name) {
		r.fail(name, "is required")
		return nil
	}
	raw := string(r.fields[name])
	if raw[0] == '"' {
		s, _ := r.string(name)
		n, err := parseNumber(s)
		if err != nil {
			r.fail(name, "%w", err)
		}
		return n
	}
	n, err := parseNumber(raw)
	switch {
	case err != nil || strings.HasPrefix(raw, "0x"):
		r.fail(name, "must be an integer")
	case n.Cmp(big.NewInt(maxJSONNumber)) > 0:
		r.fail(name, "is too large for a JSON number; send it as a string")
	}
	return n
}

// parseNumber reads decimal digits or 0x and hex digits, at most 256 bits.
func parseNumber(s string) (*big.Int, error) {
	digits, base := s, 10
	if hexDigits, ok := strings.CutPrefix(s, "0x"); ok {
		digits, base = hexDigits, 16
	}
	if len(digits) == 0 || len(digits) > 80 || digits[0] == '+' || digits[0] == '-' || strings.Contains(digits, "_") {
		return nil, fmt.Errorf("must be a number from 0 to 2^256-1")
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok || n.BitLen() > 256 {
		return nil, fmt.Errorf("must be a number from 0 to 2^256-1")
	}
	return n, nil
}

// hexBytes reads 0x and exactly size bytes of hex.
func hexBytes(s string, size int) ([]byte, error) {
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok || len(digits) != 2*size {
		return nil, fmt.Errorf("must be 0x and %d hexadecimal digits", 2*size)
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		return nil, fmt.Errorf("must be 0x and %d hexadecimal digits", 2*size)
	}
	return b, nil
}

// parseAddress reads the address of an account, a contract or a token.
func parseAddress(s string) (common.Address, error) {
	canonical, err := TokenAddress(s)
	if err != nil {
		return common.Address{}, err
	}
	return common.HexToAddress(canonical), nil
}
