package bank

import (
	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Errors of the system program.
const (
	accountInUse     Custom = 0
	negativeLamports Custom = 1
	wrongDataLength  Custom = 3
	seedTooLong      Custom = 4
	seedMismatch     Custom = 5
)

// system is the system program, without nonce accounts.
func system(c *Call) error {
	in := &args{data: c.Data}
	kind := in.u32()
	switch kind {
	case 0: // CreateAccount
		lamports, space, owner := in.u64(), in.u64(), in.key()
		if in.short {
			return InvalidInstructionData
		}
		return create(c, 1, nil, lamports, space, owner)
	case 1: // Assign
		owner := in.key()
		if in.short {
			return InvalidInstructionData
		}
		a, err := c.Account(0)
		if err != nil {
			return err
		}
		return assign(c, a, a.Signer, owner)
	case 2: // Transfer
		lamports := in.u64()
		if in.short {
			return InvalidInstructionData
		}
		return transfer(c, 0, 1, lamports)
	case 3: // CreateAccountWithSeed
		s := seeded(in)
		lamports, space, owner := in.u64(), in.u64(), in.key()
		if in.short {
			return InvalidInstructionData
		}
		s.owner = owner
		return create(c, 1, &s, lamports, space, owner)
	case 8: // Allocate
		space := in.u64()
		if in.short {
			return InvalidInstructionData
		}
		a, err := c.Account(0)
		if err != nil {
			return err
		}
		return allocate(c, a, a.Signer, space)
	}
	return InvalidInstructionData
}

// seedBase is an address that is made from another one and a text.
type seedBase struct {
	base  Key
	seed  string
	owner Key
}

func seeded(in *args) seedBase { return seedBase{base: in.key(), seed: in.text()} }

// signs reports whether the base of an account has signed for it.
func (s *seedBase) signs(c *Call, a *Info) (bool, error) {
	if len(s.seed) > 32 {
		return false, seedTooLong
	}
	k, err := solana.CreateWithSeed(s.base, s.seed, s.owner)
	if err != nil {
		return false, seedTooLong
	}
	if k != a.Key {
		c.note("Create: address %s does not match derived address %s", a.Key, k)
		return false, seedMismatch
	}
	base := c.infos[s.base]
	return base != nil && base.Signer, nil
}

func create(c *Call, at int, s *seedBase, lamports, space uint64, owner Key) error {
	to, err := c.Account(at)
	if err != nil {
		return err
	}
	signs := to.Signer
	if s != nil {
		if signs, err = s.signs(c, to); err != nil {
			return err
		}
	}
	if to.Lamports > 0 {
		c.note("Create Account: account Address { address: %s, base: None } already in use", to.Key)
		return accountInUse
	}
	if err := allocate(c, to, signs, space); err != nil {
		return err
	}
	if err := assign(c, to, signs, owner); err != nil {
		return err
	}
	return transfer(c, 0, at, lamports)
}

func allocate(c *Call, a *Info, signs bool, space uint64) error {
	switch {
	case !signs:
		c.note("Allocate: 'to' account Address { address: %s, base: None } must sign", a.Key)
		return MissingRequiredSignature
	case len(a.Data) > 0 || a.Owner != wire.SystemProgram:
		c.note("Allocate: account Address { address: %s, base: None } already in use", a.Key)
		return accountInUse
	case space > maxAccount:
		c.note("Allocate: requested %d, max allowed %d", space, maxAccount)
		return wrongDataLength
	}
	a.Data = make([]byte, space)
	return nil
}

func assign(c *Call, a *Info, signs bool, owner Key) error {
	switch {
	case a.Owner == owner:
		return nil
	case !signs:
		c.note("Assign: account Address { address: %s, base: None } must sign", a.Key)
		return MissingRequiredSignature
	}
	a.Owner = owner
	return nil
}

func transfer(c *Call, fromAt, toAt int, lamports uint64) error {
	from, err := c.Account(fromAt)
	if err != nil {
		return err
	}
	to, err := c.Account(toAt)
	if err != nil {
		return err
	}
	switch {
	case !from.Signer:
		c.note("Transfer: `from` account %s must sign", from.Key)
		return MissingRequiredSignature
	case len(from.Data) > 0 && from != to:
		c.note("Transfer: `from` must not carry data")
		return InvalidArgument
	case lamports > from.Lamports:
		c.note("Transfer: insufficient lamports %d, need %d", from.Lamports, lamports)
		return negativeLamports
	}
	from.Lamports -= lamports
	to.Lamports += lamports
	return nil
}
