package wire

import (
	"bytes"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"

	"github.com/swapper-go/swapper/internal/trial"
)

func pack(t testing.TB, m *abi.Method, values ...any) []byte {
	t.Helper()
	return trial.Must(m.Outputs.Pack(values...))(t)
}

// An answer that is cut or that lies about its size is an error, not a panic.
func TestDecodeStatesRefuses(t *testing.T) {
	m := EscrowABI().Methods["getHashStateMultiple"]
	good := pack(t, &m, []EscrowRecord{{1, 2, 3}})
	if r, err := DecodeStates(good, 1); err != nil || r[0] != (EscrowRecord{1, 2, 3}) {
		t.Fatalf("%v, %v", r, err)
	}
	for name, answer := range map[string][]byte{
		"empty":         {},
		"cut":           good[:len(good)-1],
		"one too few":   pack(t, &m, []EscrowRecord{}),
		"unknown state": pack(t, &m, []EscrowRecord{{1, 2, 4}}),
		"huge length":   append(bytes.Repeat([]byte{0}, 31), append([]byte{0x20}, bytes.Repeat([]byte{0xff}, 32)...)...),
	} {
		if _, err := DecodeStates(answer, 1); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
