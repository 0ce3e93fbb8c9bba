package bank

import (
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// handler carries one instruction out.
type handler func(*call) error

// program makes a program of its instructions, by the names that it gives them.
func callProgram(p wire.Programs, data wire.DataLayout, handlers map[string]handler) Program {
	return Program{Units: callUnits, Execute: func(c *Call) error {
		if len(c.Data) < len(wire.Discriminator{}) {
			return refuse(p, c, noInstruction)
		}
		metas := make([]wire.Account, len(c.Accounts))
		for i, a := range c.Accounts {
			metas[i] = wire.Account{PublicKey: a.Key, IsSigner: a.Signer, IsWritable: a.Writable}
		}
		decoded, err := p.DecodeCall(wire.Instruction{Program: c.Program, Accounts: metas, Data: c.Data})
		for err != nil && !errors.Is(err, wire.ErrUnknownCall) {
			metas = append(metas, wire.Account{PublicKey: missing})
			decoded, err = p.DecodeCall(wire.Instruction{Program: c.Program, Accounts: metas, Data: c.Data})
		}
		if err != nil {
			return refuse(p, c, unknownInstruction)
		}
		c.Log("Instruction: %s", camel(decoded.Name))
		x := &call{Call: c, p: p, data: data, args: decoded.Args, named: make(map[string]*Info, len(decoded.Accounts)),
			rest: c.Accounts[len(c.Accounts)-len(decoded.Rest):]}
		for name, key := range decoded.Accounts {
			x.named[name] = &Info{Key: missing}
			for _, a := range c.Accounts {
				if a.Key == key {
					x.named[name] = a
				}
			}
		}
		return refuse(p, c, handlers[decoded.Name](x))
	}}
}

// callUnits are the compute units of an instruction without what it calls, and
// headerUnits those of each header that a relay stores: of the order that the deployed
// programs take, so that the limits that clients set are enough here and there.
const (
	callUnits   = 6_000
	headerUnits = 20_000
)

// refuse logs a refusal as the framework does.
func refuse(p wire.Programs, c *Call, err error) error {
	var number Custom
	if errors.As(err, &number) {
		if name := p.ProgramError(c.Program, uint32(number)); name != "" {
			c.Log("AnchorError occurred. Error Code: %s. Error Number: %d. Error Message: %s.", name, number, name)
		}
	}
	return err
}

// camel is the name of an instruction in logs.
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// call is an instruction under execution, its accounts by the names that the program
// gives them. Its methods check accounts and remember the first failure; what comes
// after one is not looked at any more. Programs read their accounts in the order of the
// instruction, create those that are to be created, and look at the constraints of the
// others last: with several things wrong, this order decides which error it is.
type call struct {
	*Call
	p     wire.Programs
	data  wire.DataLayout
	args  []byte
	named map[string]*Info // without optional accounts that are absent
	rest  []*Info
	err   error
}

// fail remembers an error, which may be nil, unless there is one.
func (x *call) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}

// require fails with an error unless something holds.
func (x *call) require(holds bool, err error) {
	if !holds {
		x.fail(err)
	}
}

// missing stands for the accounts that an instruction is too short for. What comes
// before them is looked at first.
var missing = wire.Key(sha256.Sum256([]byte("an account that was not passed")))

// account returns an account, nil if it is optional and absent.
func (x *call) account(name string) *Info {
	a := x.named[name]
	x.require(a == nil || a.Key != missing, notEnoughKeys)
	return a
}

// signer returns an account that has to have signed.
func (x *call) signer(name string) *Info {
	a := x.account(name)
	x.require(a.Signer, accountNotSigner)
	return a
}

// writable demands that accounts may be written.
func (x *call) writable(accounts ...*Info) {
	for _, a := range accounts {
		x.require(a.Writable, constraintMut)
	}
}

// is demands that an account is the one at a derived address.
func (x *call) is(a *Info, derived wire.Key) { x.require(a.Key == derived, constraintSeeds) }

// runs demands that an account is a program.
func (x *call) runs(name string, program wire.Key) {
	x.require(x.account(name).Key == program, invalidProgramID)
}

// owned demands that an account exists and is a program's.
func (x *call) owned(a *Info, program wire.Key) {
	x.require(a.Owner != wire.SystemProgram || a.Lamports > 0, accountNotInitialized)
	x.require(a.Owner == program, ownedByWrongProgram)
}

// typed demands that an account begins with the name of its type.
func (x *call) typed(a *Info, name string) {
	x.require(len(a.Data) >= len(wire.Discriminator{}), discriminatorNotFound)
	if x.err == nil {
		x.require(wire.Discriminator(a.Data[:8]) == wire.NameOf("account", name), discriminatorMismatch)
	}
}

// escrow reads an open escrow.
func (x *call) escrow(name string) (e wire.EscrowState, a *Info) {
	a = x.account(name)
	x.owned(a, x.Program)
	if x.typed(a, "EscrowState"); x.err == nil {
		var err error
		e, err = x.p.DecodeEscrow(a.Data)
		x.require(err == nil, accountNotReadable)
	}
	return e, a
}

// userVault reads a user's balance; an optional one that is absent is zero, and nil.
func (x *call) userVault(name string) (v wire.UserVault, a *Info) {
	if a = x.account(name); a == nil {
		return v, nil
	}
	x.owned(a, x.Program)
	if x.typed(a, "UserAccount"); x.err == nil {
		var err error
		v, err = wire.DecodeUserVault(a.Data)
		x.require(err == nil, accountNotReadable)
	}
	return v, a
}

// token reads a token account; an optional one that is absent is zero, and nil.
func (x *call) token(name string) (t wire.TokenAccount, a *Info) {
	if a = x.account(name); a == nil {
		return t, nil
	}
	x.owned(a, wire.TokenProgram)
	x.inUse(a, wire.TokenAccountSpace, tokenState)
	if x.err == nil {
		t, x.err = wire.DecodeTokenAccount(a.Owner, a.Data)
	}
	return t, a
}

// Where accounts of the token program say that they are in use.
const (
	tokenState = 108
	mintBytes  = 82
	mintState  = 45
)

// inUse demands that an account of the token program has a size, and is in use.
func (x *call) inUse(a *Info, space, state int) {
	x.require(len(a.Data) == space, InvalidAccountData)
	if x.err == nil {
		x.require(a.Data[state] != 0, UninitializedAccount)
	}
}

// mint demands a token.
func (x *call) mint(name string) *Info {
	a := x.account(name)
	x.owned(a, wire.TokenProgram)
	x.inUse(a, mintBytes, mintState)
	return a
}

// create makes an account at a derived address, with the rent for its size. Lamports
// that somebody has sent there before count.
func (x *call) create(a, payer *Info, space int, owner wire.Key, seeds ...[]byte) {
	key, bump := Derive(x.Program, seeds...)
	x.is(a, key)
	own := append(Seeds(seeds), []byte{bump})
	rent := wire.Rent(space)
	if x.err == nil && a.Lamports == 0 {
		x.invoke(wire.CreateAccount(payer.Key, key, owner, rent, uint64(space)), own)
		return
	}
	if x.err == nil && a.Lamports < rent {
		x.invoke(wire.Transfer(payer.Key, key, rent-a.Lamports))
	}
	x.invoke(wire.Allocate(key, uint64(space)), own)
	x.invoke(wire.Assign(key, owner), own)
}

// invoke calls another program.
func (x *call) invoke(ix wire.Instruction, signers ...Seeds) {
	if x.err == nil {
		x.fail(x.Invoke(ix, signers...))
	}
}

// add counts amounts up, which must not overflow.
func (x *call) add(a, b uint64) uint64 {
	x.require(a+b >= a, ProgramFailedToComplete)
	return a + b
}

// unixTime is the clock of the chain, in Unix seconds.
func (x *call) unixTime() uint64 { return uint64(x.Clock().Time.Unix()) }
