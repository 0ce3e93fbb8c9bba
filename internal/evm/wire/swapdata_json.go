package wire

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/members"
)

// maxJSONNumber is the largest integer that a JSON number carries between all
// implementations; above it the others round.
const maxJSONNumber = 1 << 53

// ParseSwapData reads the JSON form that LPs send and records hold (protocol:
// chain-evm.md §3.3). Every member is validated; members that it does not know
// are ignored. Errors have the code [fault.InvalidInput] and name the member.
func ParseSwapData(data []byte) (SwapData, error) {
	fields, err := members.ReadTyped("swap data", data, "evm", "an EVM chain")
	if err != nil {
		return SwapData{}, err
	}
	r := memberReader{fields}
	s := SwapData{
		Offerer:         r.address("offerer"),
		Claimer:         r.address("claimer"),
		Token:           r.address("token"),
		RefundHandler:   r.address("refundHandler"),
		ClaimHandler:    r.address("claimHandler"),
		PayOut:          r.Flag("payOut"),
		PayIn:           r.Flag("payIn"),
		Reputation:      r.Flag("reputation"),
		Sequence:        r.number("sequence"),
		ClaimData:       r.hash("claimData"),
		RefundData:      r.hash("refundData"),
		Amount:          r.number("amount"),
		DepositToken:    r.address("depositToken"),
		SecurityDeposit: r.number("securityDeposit"),
		ClaimerBounty:   r.number("claimerBounty"),
		Kind:            r.Kind("kind"),
	}
	if r.Has("successActionCommitment") {
		s.SuccessAction = r.hash("successActionCommitment")
	}
	if r.Has("extraData") {
		s.ExtraData = r.Bytes("extraData")
	}
	if r.Err != nil {
		return SwapData{}, r.Err
	}
	return s, s.Validate()
}

// UnmarshalJSON is [ParseSwapData].
func (s *SwapData) UnmarshalJSON(data []byte) (err error) {
	*s, err = ParseSwapData(data)
	return err
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

// ParsePublic reads an escrow back from what [SwapData.Public] returns. Its kind is that of
// the claim handler, which must be one of the deployment.
func (d Deployment) ParsePublic(data []byte) (SwapData, error) {
	fields, err := members.Read(data)
	if err != nil {
		return SwapData{}, err
	}
	r := memberReader{fields}
	t := abiEscrow{
		Offerer: r.address("offerer"), Claimer: r.address("claimer"), Token: r.address("token"),
		RefundHandler: r.address("refundHandler"), ClaimHandler: r.address("claimHandler"), Flags: r.number("flags"),
		ClaimData: r.hash("claimData"), RefundData: r.hash("refundData"), Amount: r.number("amount"), DepositToken: r.address("depositToken"),
		SecurityDeposit: r.number("securityDeposit"), ClaimerBounty: r.number("claimerBounty"), SuccessActionCommitment: r.hash("successActionCommitment"),
	}
	kind, known := d.KindOf(t.ClaimHandler)
	if !known {
		r.Fail("claimHandler", "%s is not a claim handler of this chain", t.ClaimHandler)
	}
	if r.Err != nil {
		return SwapData{}, r.Err
	}
	s, err := fromTuple(t, kind, nil)
	if err != nil {
		return SwapData{}, fault.Invalid("", "%w", err)
	}
	return s, nil
}

// memberReader also reads what only EVM chains have.
type memberReader struct{ members.Reader }

func (r *memberReader) address(name string) common.Address {
	return members.As(&r.Reader, name, parseAddress)
}

func (r *memberReader) hash(name string) common.Hash {
	return members.As(&r.Reader, name, func(s string) (common.Hash, error) {
		b, err := hexBytes(s, 32)
		return common.BytesToHash(b), err
	})
}

// number reads a decimal or 0x string, or a JSON integer.
func (r *memberReader) number(name string) *big.Int {
	if !r.Has(name) {
		r.Fail(name, "is required")
		return nil
	}
	raw := string(r.Fields[name])
	if raw[0] == '"' {
		s, _ := r.String(name)
		n, err := parseNumber(s)
		if err != nil {
			r.Fail(name, "%w", err)
		}
		return n
	}
	n, err := parseNumber(raw)
	switch {
	case err != nil || strings.HasPrefix(raw, "0x"):
		r.Fail(name, "must be an integer")
	case n.Cmp(big.NewInt(maxJSONNumber)) > 0:
		r.Fail(name, "is too large for a JSON number; send it as a string")
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
