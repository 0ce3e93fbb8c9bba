package solana

import (
	"encoding/binary"
	"math/big"
	"unicode/utf8"

	"github.com/mr-tron/base58"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// parsedInstruction writes an instruction as nodes do that know its program; others
// stay as they are, with addresses in place of indexes.
func parsedInstruction(ix wire.Instruction, height any) any {
	out := map[string]any{"programId": ix.Program.String(), "stackHeight": height}
	if name, parsed := known(ix); parsed != nil {
		out["program"], out["parsed"] = name, parsed
		return out
	}
	accounts := []string{}
	for _, a := range ix.Accounts {
		accounts = append(accounts, a.PublicKey.String())
	}
	out["accounts"], out["data"] = accounts, base58.Encode(ix.Data)
	return out
}

func known(ix wire.Instruction) (program string, parsed any) {
	switch ix.Program {
	case wire.SystemProgram:
		return "system", shaped(ix, systemShapes, 4)
	case wire.TokenProgram:
		return "spl-token", shaped(ix, tokenShapes, 1)
	case wire.ATAProgram:
		s := shape{kind: "create", accounts: []string{"source", "account", "wallet", "mint", "systemProgram", "tokenProgram"}}
		if len(ix.Data) == 1 && ix.Data[0] == 1 {
			s.kind = "createIdempotent"
		}
		if len(ix.Data) > 1 {
			return "", nil
		}
		return "spl-associated-token-account", s.parse(ix, nil)
	case bank.MemoProgram, bank.MemoProgramOld:
		if utf8.Valid(ix.Data) {
			return "spl-memo", string(ix.Data)
		}
	}
	return "", nil
}

// shape names the parts of an instruction.
type shape struct {
	kind     string
	accounts []string
	fields   []field // of the data, after the number of the instruction
}

// field is an argument: u64 is a number, amount the same as text, key an address, ui
// a token's amount with its decimals.
type field struct{ name, of string }

var systemShapes = map[uint32]shape{
	0: {"createAccount", []string{"source", "newAccount"}, []field{{"lamports", "u64"}, {"space", "u64"}, {"owner", "key"}}},
	1: {"assign", []string{"account"}, []field{{"owner", "key"}}},
	2: {"transfer", []string{"source", "destination"}, []field{{"lamports", "u64"}}},
	8: {"allocate", []string{"account"}, []field{{"space", "u64"}}},
}

var tokenShapes = map[uint32]shape{
	1:  {"initializeAccount", []string{"account", "mint", "owner", "rentSysvar"}, nil},
	3:  {"transfer", []string{"source", "destination", "authority"}, []field{{"amount", "amount"}}},
	4:  {"approve", []string{"source", "delegate", "owner"}, []field{{"amount", "amount"}}},
	5:  {"revoke", []string{"source", "owner"}, nil},
	7:  {"mintTo", []string{"mint", "account", "mintAuthority"}, []field{{"amount", "amount"}}},
	8:  {"burn", []string{"account", "mint", "authority"}, []field{{"amount", "amount"}}},
	9:  {"closeAccount", []string{"account", "destination", "owner"}, nil},
	12: {"transferChecked", []string{"source", "mint", "destination", "authority"}, []field{{"tokenAmount", "ui"}}},
	17: {"syncNative", []string{"account"}, nil},
	18: {"initializeAccount3", []string{"account", "mint"}, []field{{"owner", "key"}}},
	21: {"getAccountDataSize", []string{"mint"}, nil},
	22: {"initializeImmutableOwner", []string{"account"}, nil},
}

// shaped parses an instruction whose number has so many bytes.
func shaped(ix wire.Instruction, shapes map[uint32]shape, width int) any {
	if len(ix.Data) < width {
		return nil
	}
	var number [4]byte
	copy(number[:], ix.Data[:width])
	s, ok := shapes[binary.LittleEndian.Uint32(number[:])]
	if !ok {
		return nil
	}
	return s.parse(ix, ix.Data[width:])
}

func (s shape) parse(ix wire.Instruction, data []byte) any {
	if len(ix.Accounts) < len(s.accounts) {
		return nil
	}
	info := map[string]any{}
	for i, name := range s.accounts {
		info[name] = ix.Accounts[i].PublicKey.String()
	}
	for _, f := range s.fields {
		size := map[string]int{"u64": 8, "amount": 8, "key": 32, "ui": 9}[f.of]
		if len(data) < size {
			return nil
		}
		part := data[:size]
		data = data[size:]
		switch f.of {
		case "u64":
			info[f.name] = binary.LittleEndian.Uint64(part)
		case "amount":
			info[f.name] = new(big.Int).SetUint64(binary.LittleEndian.Uint64(part)).String()
		case "key":
			info[f.name] = wire.Key(part).String()
		case "ui":
			info[f.name] = uiAmount(binary.LittleEndian.Uint64(part), part[8])
		}
	}
	if s.kind == "getAccountDataSize" {
		info["extensionTypes"] = []string{"immutableOwner"}
	}
	return map[string]any{"type": s.kind, "info": info}
}
