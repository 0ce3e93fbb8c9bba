package wire

import (
	"fmt"

	"github.com/gagliardetto/solana-go"
)

// Account is a key in an instruction, with what the instruction may do with it.
type Account = solana.AccountMeta

// Instruction is one call of a program.
type Instruction struct {
	Program  Key
	Accounts []Account
	Data     []byte
}

// accounts pairs the keys of an instruction with its roles. The zero key of an
// optional role stands for none.
func (l layout) accounts(program Key, keys []Key) []Account {
	if len(keys) != len(l.roles) {
		panic(fmt.Sprintf("%s takes %d accounts, not %d", l.name, len(l.roles), len(keys)))
	}
	metas := make([]Account, len(keys))
	for i, r := range l.roles {
		if r.optional && keys[i].IsZero() {
			metas[i] = Account{PublicKey: program}
			continue
		}
		metas[i] = Account{PublicKey: keys[i], IsSigner: r.signer, IsWritable: r.writable}
	}
	return metas
}

func (p Programs) swapCall(name string, args *writer, keys ...Key) Instruction {
	l := p.swap()[name]
	return Instruction{p.Swap, l.accounts(p.Swap, keys), append(l.id[:], *args...)}
}

func (p Programs) relayCall(name string, args *writer, keys ...Key) Instruction {
	l := relayLayouts[name]
	return Instruction{p.Relay, l.accounts(p.Relay, keys), append(l.id[:], *args...)}
}

// authority returns the accounts that v1 has and v2 has not.
func (p Programs) authority() []Key {
	if p.Version == V2 {
		return nil
	}
	return []Key{p.Authority()}
}

func keys(parts ...any) (all []Key) {
	for _, part := range parts {
		switch k := part.(type) {
		case Key:
			all = append(all, k)
		case []Key:
			all = append(all, k...)
		}
	}
	return all
}

func when(is bool, k func() Key) Key {
	if is {
		return k()
	}
	return Key{}
}
