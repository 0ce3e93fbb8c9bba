package bank

import (
	"encoding/binary"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// associatedWrongOwner is the associated-token program's own error: the token
// account is there, but was given to somebody else.
const associatedWrongOwner Custom = 0

// associated is the associated-token program, without the recovery of nested
// accounts.
func associated(c *Call) error {
	idempotent := false
	switch {
	case len(c.Data) == 0, len(c.Data) == 1 && c.Data[0] == 0:
		c.Log("Create")
	case len(c.Data) == 1 && c.Data[0] == 1:
		idempotent = true
		c.Log("CreateIdempotent")
	default:
		return InvalidInstructionData
	}
	if len(c.Accounts) < 6 {
		return NotEnoughAccountKeys
	}
	payer, account, owner, mint, program := c.Accounts[0], c.Accounts[1], c.Accounts[2], c.Accounts[3], c.Accounts[5]
	seeds := [][]byte{owner.Key[:], program.Key[:], mint.Key[:]}
	at, bump := Derive(c.Program, seeds...)
	if at != account.Key {
		c.Log("Error: Associated address does not match seed derivation")
		return InvalidSeeds
	}
	if idempotent && account.Owner == program.Key {
		if t, err := parseToken(account.Data); err == nil && t.state != tokenNew {
			switch {
			case t.owner != owner.Key:
				return associatedWrongOwner
			case t.mint != mint.Key:
				return InvalidAccountData
			}
			return nil
		}
	}
	if account.Owner != wire.SystemProgram {
		return IllegalOwner
	}
	if program.Key != wire.TokenProgram {
		return IncorrectProgramID
	}
	signer := Seeds(append(seeds, []byte{bump}))
	writable := wire.Account{PublicKey: account.Key, IsWritable: true}
	if err := c.Invoke(wire.Instruction{Program: program.Key, Accounts: []wire.Account{{PublicKey: mint.Key}}, Data: []byte{21, 7, 0}}); err != nil {
		return err
	}
	space := binary.LittleEndian.Uint64(c.Returned().Data)
	need := wire.Rent(int(space))
	if account.Lamports == 0 {
		if err := c.Invoke(wire.CreateAccount(payer.Key, account.Key, program.Key, need, space), signer); err != nil {
			return err
		}
	} else {
		if need > account.Lamports {
			if err := c.Invoke(wire.Transfer(payer.Key, account.Key, need-account.Lamports)); err != nil {
				return err
			}
		}
		self := wire.Account{PublicKey: account.Key, IsSigner: true, IsWritable: true}
		allocate := binary.LittleEndian.AppendUint64([]byte{8, 0, 0, 0}, space)
		if err := c.Invoke(wire.Instruction{Program: wire.SystemProgram, Accounts: []wire.Account{self}, Data: allocate}, signer); err != nil {
			return err
		}
		if err := c.Invoke(wire.Instruction{Program: wire.SystemProgram, Accounts: []wire.Account{self}, Data: append([]byte{1, 0, 0, 0}, program.Key[:]...)}, signer); err != nil {
			return err
		}
	}
	c.Log("Initialize the associated token account")
	if err := c.Invoke(wire.Instruction{Program: program.Key, Accounts: []wire.Account{writable}, Data: []byte{22}}); err != nil {
		return err
	}
	return c.Invoke(wire.Instruction{Program: program.Key, Accounts: []wire.Account{writable, {PublicKey: mint.Key}}, Data: append([]byte{18}, owner.Key[:]...)})
}
