package bank

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Key is an address.
type Key = wire.Key

// Program is what runs when an instruction names its address.
type Program struct {
	// Execute carries an instruction out. It changes the accounts of the call in
	// place; an error undoes the whole transaction. Errors are a [Reason] or a
	// [Custom] number, any other is reported as GenericError with its text in the
	// log. A panic is ProgramFailedToComplete.
	//
	// It must be a function of the call alone: it runs again in simulations and after
	// a fork, and not under any lock of its own.
	Execute func(*Call) error

	Units   uint64 // compute units that a call takes before Execute begins; 0: 1000
	Builtin bool   // part of the validator, as the system program: its logs have no line about compute units
}

// Account is what the ledger keeps under an address. The zero value is that of an
// address which has nothing.
type Account struct {
	Lamports   uint64
	Owner      Key // the program that may change it
	Data       []byte
	Executable bool
}

func (a *Account) clone() *Account {
	c := *a
	c.Data = append([]byte(nil), a.Data...)
	return &c
}

func (a *Account) equal(b *Account) bool {
	return a.Lamports == b.Lamports && a.Owner == b.Owner && a.Executable == b.Executable && string(a.Data) == string(b.Data)
}

// Info is an account in a call. A program may change Lamports, Owner and Data
// freely; what it was not entitled to is found when it returns or calls another
// program, and fails the transaction. An address that the instruction names twice is
// the same Info twice.
type Info struct {
	Key              Key
	Signer, Writable bool
	Account
}

// Clock is the clock sysvar.
type Clock struct {
	Slot, Epoch uint64
	Time        time.Time // whole seconds
}

// Call is one instruction under execution.
type Call struct {
	Program  Key
	Accounts []*Info // in the instruction's order
	Data     []byte

	run    *run
	depth  int
	infos  map[Key]*Info
	before uint64 // lamports of the accounts
	failed error  // of a call to another program
}

// Account returns the i-th account, or NotEnoughAccountKeys.
func (c *Call) Account(i int) (*Info, error) {
	if i >= len(c.Accounts) {
		return nil, NotEnoughAccountKeys
	}
	return c.Accounts[i], nil
}

// Clock returns the clock sysvar.
func (c *Call) Clock() Clock { return c.run.clock }

// Instructions returns the top-level instructions of the transaction, as the
// instructions sysvar shows them. A program should demand that the sysvar's account
// was passed. They must not be changed.
func (c *Call) Instructions() []wire.Instruction { return c.run.tx.Instructions }

// Index returns which of [Call.Instructions] is under execution.
func (c *Call) Index() int { return c.run.current }

// Depth returns how deep the call is: 1 for a top-level instruction, 2 for what that
// one calls.
func (c *Call) Depth() int { return c.depth }

// Log writes a line "Program log: ...".
func (c *Call) Log(format string, args ...any) {
	c.run.log("Program log: " + fmt.Sprintf(format, args...))
}

// Emit writes a line "Program data: ..." with each field in base64: Anchor events
// are one field.
func (c *Call) Emit(fields ...[]byte) {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = base64.StdEncoding.EncodeToString(f)
	}
	c.run.log("Program data: " + strings.Join(parts, " "))
}

// Consume takes compute units; an error means that the budget is used up and must
// be returned.
func (c *Call) Consume(units uint64) error { return c.run.consume(units) }

// Return sets the data that the transaction, or the calling program, gets back.
func (c *Call) Return(data []byte) {
	c.run.returned = ReturnData{c.Program, append([]byte(nil), data...)}
}

// Returned returns the data that the last called program has returned.
func (c *Call) Returned() ReturnData { return c.run.returned }

// ReturnData is what a program returned.
type ReturnData struct {
	Program Key
	Data    []byte
}

// Seeds make a program-derived address sign: the bump is the last of them.
type Seeds [][]byte

// Derive returns the program-derived address of seeds and the bump that was found.
func Derive(program Key, seeds ...[]byte) (Key, uint8) {
	k, bump, err := solana.FindProgramAddress(seeds, program)
	if err != nil {
		panic(fmt.Sprintf("no program-derived address of %s: %v", program, err))
	}
	return k, bump
}
