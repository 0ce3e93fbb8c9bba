package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Call is an instruction of the swap program or of the relay that was read: its name,
// and its accounts by what the program calls them. Optional accounts that are absent
// are not there.
type Call struct {
	Name     string
	Accounts map[string]Key
	Rest     []Account // after those that the program names
	Args     []byte    // what follows the discriminator
}

// ErrUnknownCall says that an instruction of a program is none that is known.
var ErrUnknownCall = errors.New("unknown instruction")

// DecodeCall reads an instruction of the swap program or of the relay. Its errors wrap
// [ErrUnknownCall] unless accounts are missing.
func (p Programs) DecodeCall(ix Instruction) (Call, error) {
	all := p.swap()
	switch ix.Program {
	case p.Swap:
	case p.Relay:
		all = relayLayouts
	default:
		return Call{}, fmt.Errorf("%w: the program %s is neither the swap program nor the relay", ErrUnknownCall, ix.Program)
	}
	l, ok := find(all, ix.Data)
	if !ok {
		return Call{}, fmt.Errorf("%w of %s: %x", ErrUnknownCall, ix.Program, ix.Data[:min(8, len(ix.Data))])
	}
	if len(ix.Accounts) < len(l.roles) {
		return Call{}, fmt.Errorf("%s has %d accounts, not %d", l.name, len(ix.Accounts), len(l.roles))
	}
	c := Call{Name: l.name, Accounts: make(map[string]Key, len(l.roles)), Rest: ix.Accounts[len(l.roles):], Args: ix.Data[8:]}
	for i, r := range l.roles {
		if k := ix.Accounts[i].PublicKey; !r.optional || k != ix.Program {
			c.Accounts[r.name] = k
		}
	}
	return c, nil
}

// OpenedData returns the escrow that an instruction opens, and false if it opens none.
// The event that the instruction emits carries the hash of the output, which v1's form
// that pays in leaves out; nil takes what the instruction says (§9).
func (p Programs) OpenedData(ix Instruction, event *Event) (*SwapData, bool, error) {
	if ix.Program != p.Swap {
		return nil, false, nil
	}
	c, err := p.DecodeCall(ix)
	if err != nil {
		return nil, false, err
	}
	if c.Name != ixInit && c.Name != ixInitPayIn {
		return nil, false, nil
	}
	payIn := c.Name == ixInitPayIn
	a, err := p.DecodeInitArgs(c.Args, payIn)
	if err == nil && !bytes.Equal(*p.initArgs(a, payIn), c.Args) {
		err = errors.New("data goes on after its end")
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", c.Name, err)
	}
	d := &SwapData{ProgramID: p.Swap, Version: p.Version, Offerer: c.Accounts["offerer"], Claimer: c.Accounts["claimer"], Token: c.Accounts["mint"],
		SecurityDeposit: a.SecurityDeposit, ClaimerBounty: a.ClaimerBounty, OffererATA: new(Key), ClaimerATA: new(Key)}
	d.setTerms(a.Terms)
	txoHash := a.TxoHash
	if event != nil {
		txoHash = event.TxoHash
	}
	d.TxoHash = &txoHash
	if payIn {
		*d.OffererATA = c.Accounts["offererAta"]
	}
	if d.PayOut {
		*d.ClaimerATA = c.Accounts["claimerAta"]
	}
	if p.Version == V2 {
		is := c.Accounts["initializer"] == d.Offerer
		d.OffererInitializer = &is
	}
	return d, true, nil
}

// Name says in words what an instruction is, for errors.
func (p Programs) Name(ix Instruction) string {
	if c, err := p.DecodeCall(ix); err == nil {
		return c.Name
	}
	first := func(n int) uint32 {
		b := make([]byte, 4)
		copy(b, ix.Data[:min(n, len(ix.Data))])
		return binary.LittleEndian.Uint32(b)
	}
	names := map[Key]map[uint32]string{
		SystemProgram:  {0: "create account", 2: "transfer of SOL"},
		TokenProgram:   {3: "transfer of tokens", 9: "close token account", 17: "sync of WSOL"},
		BudgetProgram:  {2: "compute unit limit", 3: "compute unit price"},
		ATAProgram:     {0: "create token account", 1: "create token account if missing"},
		Ed25519Program: {1: "check of a signature"},
	}
	kind := first(1)
	if ix.Program == SystemProgram {
		kind = first(4)
	}
	if name, ok := names[ix.Program][kind]; ok {
		return name
	}
	return "instruction of " + ix.Program.String()
}
