package wire

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsAccountOrder(t *testing.T) {
	vectors.Each(t, "chain-solana", "account-order", func(t *testing.T, c *vectors.Case) {
		var in struct {
			FeePayer, RecentBlockhash string
			Instructions              []ixJSON
			Strings                   []string
		}
		c.Input(t, &in)
		var want json.RawMessage
		c.Expected(t, &want)
		if in.Strings != nil {
			sorted := slices.Clone(in.Strings)
			slices.SortStableFunc(sorted, compareKeys)
			vectors.SameJSON(t, want, map[string]any{"sorted": sorted})
			return
		}
		m := trial.Must(Compile(key(t, in.FeePayer), Hash(key(t, in.RecentBlockhash)), instructionsOf(t, in.Instructions)))(t)
		raw := trial.Must(m.MarshalBinary())(t)
		vectors.SameJSON(t, want, map[string]any{"accountKeys": m.AccountKeys, "message": hex.EncodeToString(raw), "header": map[string]any{
			"numRequiredSignatures": m.Header.NumRequiredSignatures, "numReadonlySignedAccounts": m.Header.NumReadonlySignedAccounts, "numReadonlyUnsignedAccounts": m.Header.NumReadonlyUnsignedAccounts}})
	})
}

// What is compiled reads back as the same instructions, with the rights that the
// message as a whole gives each account.
func TestDecompile(t *testing.T) {
	a, b, program := Key{1}, Key{2}, Key{3}
	m := trial.Must(Compile(a, Hash{9}, []Instruction{
		{program, []Account{{PublicKey: b}, {PublicKey: a}}, []byte{1}},
		{program, []Account{{PublicKey: b, IsWritable: true}}, nil},
	}))(t)
	payer, got, err := Decompile(&m)
	if err != nil || payer != a {
		t.Fatal(payer, err)
	}
	meta := Account{PublicKey: b, IsWritable: true}
	same(t, "instructions", allJSON([]Instruction{
		{program, []Account{meta, {PublicKey: a, IsSigner: true, IsWritable: true}}, []byte{1}}, {program, []Account{meta}, nil},
	}), allJSON(got))
}

func TestDecompileRefuses(t *testing.T) {
	good := func() Message {
		return trial.Must(Compile(Key{1}, Hash{9}, []Instruction{{Key{3}, []Account{{PublicKey: Key{2}}}, nil}}))(t)
	}
	if m := good(); true {
		if _, _, err := Decompile(&m); err != nil {
			t.Fatal(err)
		}
	}
	for name, spoil := range map[string]func(m *Message){
		"no signer":              func(m *Message) { m.Header.NumRequiredSignatures = 0 },
		"more signers than keys": func(m *Message) { m.Header.NumRequiredSignatures = 4 },
		"payer that is not paid": func(m *Message) { m.Header.NumReadonlySignedAccounts = 1 },
		"more read-only ones":    func(m *Message) { m.Header.NumReadonlyUnsignedAccounts = 3 },
		"a key twice":            func(m *Message) { m.AccountKeys[2] = m.AccountKeys[1] },
		"program out of range":   func(m *Message) { m.Instructions[0].ProgramIDIndex = 3 },
		"payer as program":       func(m *Message) { m.Instructions[0].ProgramIDIndex = 0 },
		"account out of range":   func(m *Message) { m.Instructions[0].Accounts[0] = 3 },
	} {
		m := good()
		spoil(&m)
		if _, _, err := Decompile(&m); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTooManyAccounts(t *testing.T) {
	var ix Instruction
	for i := range 256 {
		ix.Accounts = append(ix.Accounts, Account{PublicKey: Key{byte(i), 1}})
	}
	if _, err := Compile(Key{2, 2}, Hash{}, []Instruction{ix}); err == nil {
		t.Error("257 accounts were compiled: their indexes have one byte")
	}
}
