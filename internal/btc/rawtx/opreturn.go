package rawtx

import (
	"errors"
	"fmt"
)

const (
	opReturn    = 0x6a
	opPushData1 = 0x4c
	maxPush     = 75 // longest push whose length is the opcode
)

// OpReturn returns the output script that carries data and cannot be spent:
// OP_RETURN and one push of 1 to 255 bytes in its shortest form
// (protocol: swap-flows-spv-and-core.md A5).
func OpReturn(data []byte) ([]byte, error) {
	switch n := len(data); {
	case n == 0 || n > 255:
		return nil, fmt.Errorf("an OP_RETURN output must carry 1 to 255 bytes, not %d", n)
	case n <= maxPush:
		return append([]byte{opReturn, byte(n)}, data...), nil
	default:
		return append([]byte{opReturn, opPushData1, byte(n)}, data...), nil
	}
}

// OpReturnData returns the data of a script that [OpReturn] could have made, and
// an error for every other script: contracts that read the data accept no other
// form. The result shares memory with script.
func OpReturnData(script []byte) ([]byte, error) {
	if len(script) == 0 || script[0] != opReturn {
		return nil, errors.New("not an OP_RETURN script")
	}
	rest := script[1:]
	least := 1
	switch {
	case len(rest) > 0 && rest[0] >= 1 && rest[0] <= maxPush:
	case len(rest) > 1 && rest[0] == opPushData1:
		rest, least = rest[1:], maxPush+1
	default:
		return nil, errors.New("OP_RETURN script does not push its data in a supported form")
	}
	length, data := int(rest[0]), rest[1:]
	if length < least || length != len(data) {
		return nil, fmt.Errorf("OP_RETURN script announces %d bytes but has %d", length, len(data))
	}
	return data, nil
}
