package wire

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
)

// Message is what signatures of a transaction cover.
type Message = solana.Message

// Hash is a block hash.
type Hash = solana.Hash

// MaxTxSize is the most bytes that a transaction can have.
const MaxTxSize = 1232

// compareKeys orders addresses as the network's clients do: by their text, letters
// compared without case, digits first, a prefix first; if that finds no difference,
// by the first letter that differs in case, the small one first (§4).
func compareKeys(a, b string) int {
	fold := func(c byte) byte {
		if c >= 'A' && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}
	for i := range min(len(a), len(b)) {
		if x, y := fold(a[i]), fold(b[i]); x != y {
			return int(x) - int(y)
		}
	}
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	for i := range len(a) {
		if a[i] != b[i] {
			return int(b[i]) - int(a[i]) // small letters come later in ASCII
		}
	}
	return 0
}

// Compile makes the legacy message of instructions. LPs sign whole messages, so the
// order of its accounts is fixed to the byte; it is that of the network's clients,
// not the one of solana-go (§4).
func Compile(payer Key, blockhash Hash, instructions []Instruction) (Message, error) {
	type entry struct {
		key              Key
		text             string
		signer, writable bool
	}
	var all []entry
	at := map[Key]int{}
	add := func(k Key, signer, writable bool) {
		i, known := at[k]
		if !known {
			i = len(all)
			at[k] = i
			all = append(all, entry{key: k, text: k.String()})
		}
		all[i].signer = all[i].signer || signer
		all[i].writable = all[i].writable || writable
	}
	for _, ix := range instructions {
		for _, a := range ix.Accounts {
			add(a.PublicKey, a.IsSigner, a.IsWritable)
		}
	}
	for _, ix := range instructions {
		add(ix.Program, false, false)
	}
	first := func(a, b bool) int {
		switch {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		if c := first(a.signer, b.signer); c != 0 {
			return c
		}
		if c := first(a.writable, b.writable); c != 0 {
			return c
		}
		return compareKeys(a.text, b.text)
	})
	if i := slices.IndexFunc(all, func(e entry) bool { return e.key == payer }); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	all = slices.Insert(all, 0, entry{key: payer, signer: true, writable: true})
	if len(all) > 256 {
		return Message{}, fmt.Errorf("a transaction with %d accounts: indexes have one byte", len(all))
	}

	m := Message{RecentBlockhash: blockhash}
	// Keys that sign come first, in the order found.
	slices.SortStableFunc(all, func(a, b entry) int { return first(a.signer, b.signer) })
	clear(at)
	for i, e := range all {
		at[e.key] = i
		m.AccountKeys = append(m.AccountKeys, e.key)
		switch {
		case e.signer:
			m.Header.NumRequiredSignatures++
			if !e.writable {
				m.Header.NumReadonlySignedAccounts++
			}
		case !e.writable:
			m.Header.NumReadonlyUnsignedAccounts++
		}
	}
	for _, ix := range instructions {
		c := solana.CompiledInstruction{ProgramIDIndex: uint16(at[ix.Program]), Data: ix.Data}
		for _, a := range ix.Accounts {
			c.Accounts = append(c.Accounts, uint16(at[a.PublicKey]))
		}
		m.Instructions = append(m.Instructions, c)
	}
	return m, nil
}

// Decompile returns the payer and the instructions of a legacy message, with the
// flags that the message gives each account. Every index must be in range, every key
// unique, and the program of an instruction neither signs nor pays.
func Decompile(m *Message) (payer Key, instructions []Instruction, err error) {
	h, n := m.Header, len(m.AccountKeys)
	signed := int(h.NumRequiredSignatures)
	if signed == 0 || signed > n || int(h.NumReadonlySignedAccounts) >= signed || int(h.NumReadonlyUnsignedAccounts) > n-signed {
		return Key{}, nil, errors.New("the message's header does not fit its accounts")
	}
	seen := make(map[Key]bool, n)
	for _, k := range m.AccountKeys {
		if seen[k] {
			return Key{}, nil, fmt.Errorf("the message names %s twice", k)
		}
		seen[k] = true
	}
	meta := func(i int) Account {
		a := Account{PublicKey: m.AccountKeys[i], IsSigner: i < signed}
		if a.IsSigner {
			a.IsWritable = i < signed-int(h.NumReadonlySignedAccounts)
		} else {
			a.IsWritable = i < n-int(h.NumReadonlyUnsignedAccounts)
		}
		return a
	}
	for i, c := range m.Instructions {
		if int(c.ProgramIDIndex) >= n || c.ProgramIDIndex == 0 {
			return Key{}, nil, fmt.Errorf("instruction %d calls no program", i)
		}
		ix := Instruction{Program: m.AccountKeys[c.ProgramIDIndex], Data: c.Data}
		for _, a := range c.Accounts {
			if int(a) >= n {
				return Key{}, nil, fmt.Errorf("instruction %d names account %d of %d", i, a, n)
			}
			ix.Accounts = append(ix.Accounts, meta(int(a)))
		}
		instructions = append(instructions, ix)
	}
	return m.AccountKeys[0], instructions, nil
}
