package bank

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// The memo programs.
var (
	MemoProgram    = solana.MemoProgramID
	MemoProgramOld = wire.MustKey("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo")
)

// builtins are the programs of Solana itself.
func builtins() map[Key]*program {
	return map[Key]*program{
		wire.SystemProgram:  {Program: Program{Execute: system, Builtin: true}},
		wire.BudgetProgram:  {Program: Program{Execute: func(*Call) error { return nil }, Builtin: true}},
		wire.Ed25519Program: {Program: Program{Execute: checkSignatures, Builtin: true}, precompile: true},
		wire.TokenProgram:   {Program: Program{Execute: token, Units: 3000}},
		wire.ATAProgram:     {Program: Program{Execute: associated, Units: 7000}},
		MemoProgram:         {Program: Program{Execute: memo, Units: 5000}},
		MemoProgramOld:      {Program: Program{Execute: memo, Units: 500}},
	}
}

// account is how the ledger shows a program.
func (p *program) account(id Key) *Account {
	if p.Builtin {
		return &Account{Lamports: 1, Owner: nativeLoader, Data: []byte("builtin"), Executable: true}
	}
	data := binary.LittleEndian.AppendUint32(nil, 2) // a program; then where its code is
	code, _ := Derive(solana.BPFLoaderUpgradeableProgramID, id[:])
	data = append(data, code[:]...)
	return &Account{Lamports: wire.Rent(len(data)), Owner: solana.BPFLoaderUpgradeableProgramID, Data: data, Executable: true}
}

func seedKey(seed [32]byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(seed[:]) }

// memo logs a text.
func memo(c *Call) error {
	for _, a := range c.Accounts {
		if !a.Signer {
			return MissingRequiredSignature
		}
		c.Log("Signed by %s", a.Key)
	}
	if !utf8.Valid(c.Data) {
		c.Log("Invalid UTF-8")
		return InvalidInstructionData
	}
	c.Log("Memo (len %d): %q", len(c.Data), c.Data)
	return nil
}

// Errors of the ed25519 program.
const (
	wrongSignature   Custom = 2
	wrongOffsets     Custom = 3
	wrongInstruction Custom = 4 // its size
)

// checkSignatures is the ed25519 program: every signature that the instruction points
// at must be good.
func checkSignatures(c *Call) error {
	const head, each = 2, 14
	if len(c.Data) < head || c.Data[0] == 0 && len(c.Data) > head || len(c.Data) < head+each*int(c.Data[0]) {
		return wrongInstruction
	}
	// part returns n bytes of an instruction's data.
	part := func(instruction, offset uint16, n int) ([]byte, error) {
		data := c.Data
		if instruction != 0xffff {
			all := c.Instructions()
			if int(instruction) >= len(all) {
				return nil, wrongOffsets
			}
			data = all[instruction].Data
		}
		if int(offset)+n > len(data) {
			return nil, wrongOffsets
		}
		return data[offset : int(offset)+n], nil
	}
	for i := range int(c.Data[0]) {
		var at [7]uint16
		for j := range at {
			at[j] = binary.LittleEndian.Uint16(c.Data[head+each*i+2*j:])
		}
		signature, err := part(at[1], at[0], ed25519.SignatureSize)
		if err != nil {
			return err
		}
		key, err := part(at[3], at[2], ed25519.PublicKeySize)
		if err != nil {
			return err
		}
		message, err := part(at[6], at[4], int(at[5]))
		if err != nil {
			return err
		}
		if !ed25519.Verify(key, message, signature) {
			return wrongSignature
		}
	}
	return nil
}

// args takes the arguments of an instruction off its data; a short one is an error at
// the end.
type args struct {
	data  []byte
	short bool
}

func (a *args) take(n int) []byte {
	if n > len(a.data) {
		a.short = true
		return make([]byte, n)
	}
	out := a.data[:n]
	a.data = a.data[n:]
	return out
}

func (a *args) u8() uint8   { return a.take(1)[0] }
func (a *args) u32() uint32 { return binary.LittleEndian.Uint32(a.take(4)) }
func (a *args) u64() uint64 { return binary.LittleEndian.Uint64(a.take(8)) }
func (a *args) key() Key    { return Key(a.take(32)) }

// text reads a string of the system program: its length has eight bytes.
func (a *args) text() string {
	n := a.u64()
	if n > uint64(len(a.data)) {
		a.short = true
		return ""
	}
	return string(a.take(int(n)))
}

// note writes a line of the validator itself.
func (c *Call) note(format string, args ...any) { c.run.log(fmt.Sprintf(format, args...)) }
