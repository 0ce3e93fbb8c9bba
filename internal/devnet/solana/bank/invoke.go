package bank

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

const (
	maxDepth      = 5        // of calls, the transaction's own being the first
	maxGrowth     = 10 << 10 // bytes that a call of a program may add to an account
	maxAccount    = 10 << 20 // bytes of an account
	invokeUnits   = 1000     // that a call of another program takes
	programUnits  = 1000     // of a program that does not say
	builtinUnits  = 150
	maxLogs       = 10_000 // bytes of a transaction's log
	maxReturnData = 1024
)

// execute runs an instruction at a depth.
func (r *run) execute(ix wire.Instruction, depth int) (err error) {
	program, ok := r.programs[ix.Program]
	if !ok {
		return UnsupportedProgramID
	}
	if program.precompile {
		return program.Execute(&Call{Program: ix.Program, Data: ix.Data, run: r, depth: depth})
	}
	c := &Call{Program: ix.Program, Data: ix.Data, run: r, depth: depth, infos: map[Key]*Info{}}
	for _, a := range ix.Accounts {
		info := c.infos[a.PublicKey]
		if info == nil {
			info = &Info{Key: a.PublicKey, Account: *r.account(a.PublicKey).clone()}
			c.infos[a.PublicKey] = info
			c.before += info.Lamports
		}
		info.Signer = info.Signer || a.IsSigner
		info.Writable = info.Writable || a.IsWritable
		c.Accounts = append(c.Accounts, info)
	}
	r.stack = append(r.stack, ix.Program)
	defer func() { r.stack = r.stack[:len(r.stack)-1] }()
	r.returned = ReturnData{}
	r.log(fmt.Sprintf("Program %s invoke [%d]", ix.Program, depth))
	left := r.left
	if err = r.consume(program.units()); err == nil {
		err = c.call(program)
	}
	if err == nil {
		if err = c.failed; err == nil {
			err = c.settle()
		}
	}
	if !program.Builtin {
		r.log(fmt.Sprintf("Program %s consumed %d of %d compute units", ix.Program, left-r.left, left))
		if data := r.returned.Data; len(data) > 0 {
			r.log(fmt.Sprintf("Program return: %s %s", ix.Program, base64.StdEncoding.EncodeToString(data)))
		}
	}
	if err != nil {
		err = r.named(err)
		r.log(fmt.Sprintf("Program %s failed: %v", ix.Program, err))
		return err
	}
	r.log(fmt.Sprintf("Program %s success", ix.Program))
	return nil
}

func (p *program) units() uint64 {
	switch {
	case p.Units > 0:
		return p.Units
	case p.Builtin:
		return builtinUnits
	}
	return programUnits
}

// call runs the program's code; a panic of it is an error of the transaction.
func (c *Call) call(p *program) (err error) {
	defer func() {
		if r := recover(); r != nil {
			c.run.log(fmt.Sprintf("Program log: panicked: %v", r))
			err = ProgramFailedToComplete
		}
	}()
	return p.Execute(c)
}

// named makes an error one that a transaction's status can have.
func (r *run) named(err error) error {
	var reason Reason
	var number Custom
	switch {
	case errors.As(err, &number):
		return number
	case errors.As(err, &reason):
		return reason
	}
	r.log("Program log: Error: " + err.Error())
	return GenericError
}

// settle checks and keeps what an instruction has done, at its end.
func (c *Call) settle() error {
	if err := c.sync(); err != nil {
		return err
	}
	var after uint64
	for _, info := range c.infos {
		after += info.Lamports
	}
	if after != c.before {
		return UnbalancedInstruction
	}
	return nil
}

// sync keeps the changes so far, each of which the program must be entitled to.
func (c *Call) sync() error {
	for _, info := range c.infos {
		was := c.run.account(info.Key)
		if was.equal(&info.Account) {
			continue
		}
		if err := c.entitled(info, was); err != nil {
			return err
		}
		c.run.set(info.Key, info.clone())
	}
	return nil
}

func (c *Call) entitled(now *Info, was *Account) error {
	owns := was.Owner == c.Program
	switch {
	case now.Executable != was.Executable:
		return ExecutableModified
	case now.Lamports != was.Lamports && !now.Writable:
		return ReadonlyLamportChange
	case now.Lamports < was.Lamports && !owns:
		return ExternalAccountLamportSpend
	case len(now.Data) != len(was.Data) && !owns:
		return AccountDataSizeChanged
	case len(now.Data) > maxAccount, len(now.Data) > len(was.Data)+maxGrowth && c.depth > 1 && c.Program != wire.SystemProgram:
		return InvalidRealloc
	case string(now.Data) != string(was.Data) && !owns:
		return ExternalAccountDataModified
	case string(now.Data) != string(was.Data) && !now.Writable:
		return ReadonlyDataModified
	case now.Owner != was.Owner && (!owns || !now.Writable || !zeroed(now.Data)):
		return ModifiedProgramID
	}
	return nil
}

func zeroed(data []byte) bool {
	for _, b := range data {
		if b != 0 {
			return false
		}
	}
	return true
}

// Invoke calls another program. Accounts sign in it that sign in this call, and
// program-derived addresses of this program whose seeds are given; they can be
// written only if they can be written here. The program itself must be among the
// call's accounts. Changes of the called program are in [Call.Accounts] afterwards.
//
// An error fails the transaction even if it is not returned.
func (c *Call) Invoke(ix wire.Instruction, signers ...Seeds) error {
	if c.failed == nil {
		c.failed = c.invoke(ix, signers)
	}
	return c.failed
}

func (c *Call) invoke(ix wire.Instruction, signers []Seeds) error {
	r := c.run
	if err := r.consume(invokeUnits); err != nil {
		return err
	}
	if c.depth >= maxDepth {
		return CallDepth
	}
	derived := map[Key]bool{}
	for _, seeds := range signers {
		k, err := solana.CreateProgramAddress(seeds, c.Program)
		if err != nil {
			return InvalidSeeds
		}
		derived[k] = true
	}
	if err := c.sync(); err != nil {
		return err
	}
	for _, a := range ix.Accounts {
		info := c.infos[a.PublicKey]
		switch {
		case info == nil:
			r.log(fmt.Sprintf("Instruction references an unknown account %s", a.PublicKey))
			return MissingAccount
		case a.IsWritable && !info.Writable:
			r.log(fmt.Sprintf("%s's writable privilege escalated", a.PublicKey))
			return PrivilegeEscalation
		case a.IsSigner && !info.Signer && !derived[a.PublicKey]:
			r.log(fmt.Sprintf("%s's signer privilege escalated", a.PublicKey))
			return PrivilegeEscalation
		}
	}
	if _, ok := c.infos[ix.Program]; !ok && ix.Program != c.Program {
		r.log(fmt.Sprintf("Unknown program %s", ix.Program))
		return MissingAccount
	}
	if ix.Program != c.Program && slices.Contains(r.stack, ix.Program) {
		return ReentrancyNotAllowed
	}
	r.noteInner(ix, c.depth+1)
	if err := r.execute(ix, c.depth+1); err != nil {
		return err
	}
	for _, info := range c.infos {
		info.Account = *r.account(info.Key).clone()
	}
	return nil
}
