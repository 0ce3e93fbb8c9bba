package solana_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	sol "github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func signData(key wire.SecretKey, data []byte) []byte {
	hash := sha256.Sum256(data)
	return ed25519.Sign(ed25519.PrivateKey(key), hash[:])
}

// alterations are changes of a transaction that was handed out.
func alterations() map[string]func(*testing.T, string) string {
	stranger := sol.PublicKey{31: 9}
	last := func(m *sol.Message) *sol.CompiledInstruction { return &m.Instructions[len(m.Instructions)-1] }
	all := map[string]func(*testing.T, string) string{}
	for name, change := range map[string]func(*sol.Message){
		"another program":      func(m *sol.Message) { m.AccountKeys[last(m).ProgramIDIndex] = stranger },
		"another account":      func(m *sol.Message) { m.AccountKeys[last(m).Accounts[2]] = stranger },
		"another method":       func(m *sol.Message) { last(m).Data[0] ^= 1 },
		"another argument":     func(m *sol.Message) { last(m).Data[len(last(m).Data)/2] ^= 1 },
		"another end":          func(m *sol.Message) { last(m).Data[len(last(m).Data)-1] ^= 1 },
		"a byte more":          func(m *sol.Message) { last(m).Data = append(last(m).Data, 0) },
		"a byte less":          func(m *sol.Message) { last(m).Data = last(m).Data[:len(last(m).Data)-1] },
		"no data":              func(m *sol.Message) { last(m).Data = nil },
		"an account less":      func(m *sol.Message) { last(m).Accounts = last(m).Accounts[:len(last(m).Accounts)-1] },
		"accounts turned":      func(m *sol.Message) { a := last(m).Accounts; a[1], a[3] = a[3], a[1] },
		"an instruction less":  func(m *sol.Message) { m.Instructions = m.Instructions[:len(m.Instructions)-1] },
		"an instruction twice": func(m *sol.Message) { m.Instructions = append(m.Instructions, *last(m)) },
		"a right more":         func(m *sol.Message) { m.Header.NumReadonlyUnsignedAccounts-- },
		"no block hash":        func(m *sol.Message) { m.RecentBlockhash = sol.Hash{} },
		"an account that nothing needs": func(m *sol.Message) {
			m.AccountKeys = append(m.AccountKeys, stranger)
			m.Header.NumReadonlyUnsignedAccounts++
		},
	} {
		all[name] = func(t *testing.T, text string) string {
			t.Helper()
			return altered(t, text, func(m *sol.Message) sol.Message { change(m); return *m })
		}
	}
	again := func(change func(payer wire.Key, all []wire.Instruction) []wire.Instruction) func(*testing.T, string) string {
		return func(t *testing.T, text string) string {
			t.Helper()
			return altered(t, text, func(m *sol.Message) sol.Message {
				payer, instructions := trial.Must2(wire.Decompile(m))(t)
				return trial.Must(wire.Compile(payer, m.RecentBlockhash, change(payer, instructions)))(t)
			})
		}
	}
	all["a transfer"] = again(func(payer wire.Key, all []wire.Instruction) []wire.Instruction {
		return append(all, wire.Transfer(payer, wire.Key(stranger), 1))
	})
	all["a transfer before"] = again(func(payer wire.Key, all []wire.Instruction) []wire.Instruction {
		return append([]wire.Instruction{wire.Transfer(payer, wire.Key(stranger), 1)}, all...)
	})
	all["an absurd fee"] = again(func(_ wire.Key, all []wire.Instruction) []wire.Instruction {
		out := []wire.Instruction{wire.SetLimit(wire.MaxUnits), wire.SetPrice(1 << 50)}
		for _, ix := range all {
			if ix.Program != wire.BudgetProgram {
				out = append(out, ix)
			}
		}
		return out
	})
	return all
}

// altered changes the message of a transaction that was handed out.
func altered(t *testing.T, text string, change func(*sol.Message) sol.Message) string {
	t.Helper()
	var members map[string]json.RawMessage
	trial.Do(t, json.Unmarshal([]byte(text), &members))
	tx, _ := unsigned(t, text)
	tx.Message = change(&tx.Message)
	raw := trial.Must(tx.MarshalBinary())(t)
	members["tx"], _ = json.Marshal(hex.EncodeToString(raw))
	out := trial.Must(json.Marshal(members))(t)
	return string(out)
}
