package vault

import (
	"encoding/binary"
	"fmt"
)

// Payout is what a withdrawal's OP_RETURN tells the vault to do. How the
// recipient's bytes read as an address, and which of them are none, is the smart
// chain's business.
type Payout struct {
	Recipient     []byte
	Raw           [2]uint64 // amounts of token 0 and 1, divided by the vault's multipliers
	ExecutionHash []byte    // 32 bytes, or nil for a plain payout
}

// PayoutFormat is how a kind of smart chain writes a [Payout]: recipient, raw
// amount of token 0, that of token 1 unless it is 0, execution hash if any
// (protocol: swap-flows-spv-and-core.md A5).
type PayoutFormat struct {
	RecipientLen int  // bytes: 20 for EVM chains, 32 for Starknet
	LittleEndian bool // order of the amounts' bytes: big endian for EVM chains, little endian for Starknet
}

const (
	rawAmountLen     = 8
	executionHashLen = 32
)

// Encode returns the payload for p; [rawtx.OpReturn] makes an output script of it.
func (f PayoutFormat) Encode(p Payout) ([]byte, error) {
	if len(p.Recipient) != f.RecipientLen {
		return nil, fmt.Errorf("recipient has %d bytes instead of %d", len(p.Recipient), f.RecipientLen)
	}
	if n := len(p.ExecutionHash); p.ExecutionHash != nil && n != executionHashLen {
		return nil, fmt.Errorf("execution hash has %d bytes instead of %d", n, executionHashLen)
	}
	b := append(make([]byte, 0, f.RecipientLen+2*rawAmountLen+executionHashLen), p.Recipient...)
	b = f.order().AppendUint64(b, p.Raw[0])
	if p.Raw[1] != 0 {
		b = f.order().AppendUint64(b, p.Raw[1])
	}
	return append(b, p.ExecutionHash...), nil
}

// Decode reads a payload. Amounts are unsigned, as the contracts read them. An
// amount of token 1 that is written out though it is 0 is accepted, as the
// contracts do. The result shares no memory with payload.
func (f PayoutFormat) Decode(payload []byte) (Payout, error) {
	rest := len(payload) - f.RecipientLen
	var amounts int
	switch rest {
	case rawAmountLen, rawAmountLen + executionHashLen:
		amounts = 1
	case 2 * rawAmountLen, 2*rawAmountLen + executionHashLen:
		amounts = 2
	default:
		return Payout{}, fmt.Errorf("payout data of %d bytes has an unknown format", len(payload))
	}
	p := Payout{Recipient: append([]byte(nil), payload[:f.RecipientLen]...)}
	payload = payload[f.RecipientLen:]
	for i := range amounts {
		p.Raw[i] = f.order().Uint64(payload)
		payload = payload[rawAmountLen:]
	}
	if len(payload) > 0 {
		p.ExecutionHash = append([]byte(nil), payload...)
	}
	return p, nil
}

// Len returns the length of the payload of a plain payout, with an amount of
// token 1 if gasDrop.
func (f PayoutFormat) Len(gasDrop bool) int {
	if gasDrop {
		return f.RecipientLen + 2*rawAmountLen
	}
	return f.RecipientLen + rawAmountLen
}

func (f PayoutFormat) order() interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if f.LittleEndian {
		return binary.LittleEndian
	}
	return binary.BigEndian
}
