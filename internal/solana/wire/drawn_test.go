package wire

import (
	"bytes"
	"testing"

	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/internal/vectors"
)

// FuzzMessages compiles instructions with accounts of all kinds, some of them the same,
// and compares what solana-go reads of the message with them: each account is where it
// was, and signs and is written to if one instruction or another says so. A bent
// transaction is read as solana-go reads it, or not.
func FuzzMessages(f *testing.F) {
	f.Add([]byte{1, 2, 1, 1, 3, 0, 1, 2}, []byte{})
	f.Add(bytes.Repeat([]byte{7, 1, 0, 3}, 40), []byte{1, 0, 0, 7})
	f.Fuzz(func(t *testing.T, fields, bends []byte) {
		d := vectors.Draw(fields)
		keys := make([]Key, 8)
		for i := range keys {
			keys[i] = Key(d.Bytes(32))
			keys[i][0], keys[i][31] = byte(i), byte(i+1)
		}
		payer, block := keys[0], Hash(d.Bytes(32))
		signs, written := map[Key]bool{payer: true}, map[Key]bool{payer: true}
		var all []Instruction
		for range 1 + d.Int(4) {
			ix := Instruction{Program: keys[1+d.Int(7)], Data: d.Some(40)}
			for range d.Int(6) {
				a := Account{PublicKey: keys[d.Int(len(keys))], IsSigner: d.Bool(), IsWritable: d.Bool()}
				signs[a.PublicKey], written[a.PublicKey] = signs[a.PublicKey] || a.IsSigner, written[a.PublicKey] || a.IsWritable
				ix.Accounts = append(ix.Accounts, a)
			}
			all = append(all, ix)
		}
		tx := &Tx{Payer: payer, Blockhash: block, Instructions: all}
		raw, err := tx.Bytes()
		if err != nil {
			if _, err := Compile(payer, block, all); err == nil && len(raw) > 0 {
				t.Fatal("it compiles, and has no bytes")
			}
			return
		}
		theirs, err := solana.TransactionFromBytes(raw)
		if err != nil {
			t.Fatalf("%x is not read by solana-go: %v", raw, err)
		}
		if len(theirs.Message.Instructions) != len(all) || theirs.Message.RecentBlockhash != block || theirs.Message.AccountKeys[0] != payer {
			t.Fatalf("%x has %d instructions of %d", raw, len(theirs.Message.Instructions), len(all))
		}
		for i, c := range theirs.Message.Instructions {
			program, err := theirs.ResolveProgramIDIndex(c.ProgramIDIndex)
			if err != nil || program != all[i].Program || !bytes.Equal(c.Data, all[i].Data) {
				t.Fatalf("instruction %d calls %s, %v, with %x", i, program, err, c.Data)
			}
			accounts, err := c.ResolveInstructionAccounts(&theirs.Message)
			if err != nil || len(accounts) != len(all[i].Accounts) {
				t.Fatalf("instruction %d has %d accounts, %v", i, len(accounts), err)
			}
			for j, a := range accounts {
				if k := a.PublicKey; k != all[i].Accounts[j].PublicKey || a.IsSigner != signs[k] || a.IsWritable != written[k] {
					t.Fatalf("account %d of instruction %d is %+v, want %+v, signs %v, written %v", j, i, a, all[i].Accounts[j], signs[k], written[k])
				}
			}
		}
		bent := vectors.Draw(bends).Bent(raw)
		p, err := ParseTx(bent)
		if err != nil {
			if bytes.Equal(bent, raw) && !callsPayer(all, payer) {
				t.Fatalf("own transaction %x is refused: %v", raw, err)
			}
			return
		}
		theirs, err = solana.TransactionFromBytes(bent)
		if err != nil || len(p.Instructions) != len(theirs.Message.Instructions) || p.Payer != theirs.Message.AccountKeys[0] {
			t.Fatalf("%x is accepted: %v", bent, err)
		}
		if id, ok := p.ID(); ok && id != theirs.Signatures[0] {
			t.Fatalf("id %s, want %s", id, theirs.Signatures[0])
		}
		if (p.Verify() == nil) != (theirs.VerifySignatures() == nil) {
			t.Fatalf("%x: signatures are %v, solana-go says %v", bent, p.Verify(), theirs.VerifySignatures())
		}
	})
}

// callsPayer reports whether an instruction calls the payer.
func callsPayer(all []Instruction, payer Key) bool {
	for _, ix := range all {
		if ix.Program == payer {
			return true
		}
	}
	return false
}
