package contracts

import (
	"errors"
	"fmt"
	"strings"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Panic is how a contract fails: with felts, which are text as a rule.
type Panic struct {
	Data []Felt

	// fatal is why the network ended the transaction, beside which no contract can go on;
	// "": the contract failed by itself.
	fatal string
}

// Fail returns the panic of a text, as assert and panic of Cairo make it: a short
// string, or a ByteArray if there are more than 31 characters.
func Fail(format string, args ...any) *Panic {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	if len(text) <= 31 && ascii(text) {
		return because(wire.ShortString(text))
	}
	return &Panic{Data: append([]Felt{byteArrayMagic}, byteArray([]byte(text))...)}
}

// Error shows the felts as nodes do.
func (p *Panic) Error() string {
	if p.fatal != "" {
		return p.fatal
	}
	return formatPanic(p.Data)
}

func because(reason Felt) *Panic { return &Panic{Data: []Felt{reason}} }

// unwinding carries a fatal failure through the contracts that called.
type unwinding struct{ *Panic }

// byteArrayMagic begins a panic whose text is a ByteArray.
var byteArrayMagic = wire.MustFelt("0x46a6158a16a947e5916b2a2ca68501a45e93d7110e81aa2d6438b1c57c879a3")

// Panics of the network itself.
var (
	entryFailed      = wire.ShortString("ENTRYPOINT_FAILED")
	entryNotFound    = wire.ShortString("ENTRYPOINT_NOT_FOUND")
	validated        = wire.ShortString("VALID")
	outOfGas         = wire.ShortString("Out of gas")
	notDeployed      = wire.ShortString("CONTRACT_NOT_DEPLOYED")
	classNotDeclared = wire.ShortString("CLASS_HASH_NOT_FOUND")
	addressTaken     = wire.ShortString("CONTRACT_ALREADY_DEPLOYED")
	tooDeep          = wire.ShortString("CALL_DEPTH_EXCEEDED")
	unauthorized     = wire.ShortString("UNAUTHORIZED_SYSCALL")
	invalidArgument  = wire.ShortString("Invalid argument")
)

// panicOf makes a panic of any error of a contract.
func panicOf(err error) *Panic {
	if p := (*Panic)(nil); errors.As(err, &p) {
		return p
	}
	return Fail("%s", err.Error())
}

// formatPanic writes panic data as nodes do: one value, or several in parentheses,
// each in hexadecimal with its text, if it has one.
func formatPanic(data []Felt) string {
	var items []string
	for len(data) > 0 {
		if data[0] == byteArrayMagic {
			if text, rest, ok := readByteArray(data[1:]); ok {
				items, data = append(items, fmt.Sprintf("%q", text)), rest
				continue
			}
		}
		items, data = append(items, formatFelt(data[0])), data[1:]
	}
	if len(items) == 1 {
		return items[0]
	}
	return "(" + strings.Join(items, ", ") + ")"
}

func formatFelt(f Felt) string {
	b := wire.Number(f).Bytes()
	if len(b) > 31 || !ascii(string(b)) {
		return wire.Hex(f)
	}
	return fmt.Sprintf("%s ('%s')", wire.Hex(f), b)
}

func ascii(s string) bool {
	for _, c := range []byte(s) {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

func byteArray(b []byte) []Felt {
	const word = 31
	full := len(b) / word
	out := []Felt{wire.FeltOf(uint64(full))}
	for i := range full {
		out = append(out, feltOfBytes(b[i*word:(i+1)*word]))
	}
	return append(out, feltOfBytes(b[full*word:]), wire.FeltOf(uint64(len(b)%word)))
}

func feltOfBytes(b []byte) Felt {
	f, err := wire.FeltOfBytes(b)
	if err != nil {
		panic(err) // 31 bytes always fit
	}
	return f
}

// readByteArray reads a ByteArray that is text, and what comes after it.
func readByteArray(data []Felt) (text string, rest []Felt, ok bool) {
	if len(data) < 3 {
		return "", nil, false
	}
	words := wire.Number(data[0])
	if !words.IsUint64() || words.Uint64() > uint64(len(data)-3) {
		return "", nil, false
	}
	var b []byte
	for _, w := range data[1 : 1+words.Uint64()] {
		full := w.Bytes()
		b = append(b, full[1:]...)
	}
	data = data[1+words.Uint64():]
	pending, size := data[0].Bytes(), wire.Number(data[1])
	if !size.IsUint64() || size.Uint64() > 31 {
		return "", nil, false
	}
	b = append(b, pending[32-size.Uint64():]...)
	return string(b), data[2:], ascii(string(b))
}
