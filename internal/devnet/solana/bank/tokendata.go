package bank

import (
	"encoding/binary"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// States of a token account.
const (
	tokenNew  = 0
	tokenOpen = 1
	tokenHeld = 2 // frozen
)

const mintSpace = 82

// tokenData is all of a token account.
type tokenData struct {
	mint, owner Key
	amount      uint64
	delegate    *Key
	state       byte
	native      *uint64 // of a WSOL account: the rent, which is not part of the amount
	delegated   uint64
	closer      *Key
}

// mintData is all of a mint.
type mintData struct {
	authority   *Key
	supply      uint64
	decimals    uint8
	initialized bool
	freeze      *Key
}

func option[T any](v T) *T { return &v }

// keyOption reads a key that may be absent: four bytes say so.
func (a *args) keyOption() *Key {
	if tag, k := a.u32(), a.key(); tag == 1 {
		return &k
	}
	return nil
}

// parseToken reads the data of a token account, which may not be in use yet.
func parseToken(data []byte) (t tokenData, err error) {
	if len(data) != wire.TokenAccountSpace {
		return t, InvalidAccountData
	}
	in := &args{data: data}
	t.mint, t.owner, t.amount, t.delegate, t.state = in.key(), in.key(), in.u64(), in.keyOption(), in.u8()
	if tag, rent := in.u32(), in.u64(); tag == 1 {
		t.native = &rent
	}
	t.delegated, t.closer = in.u64(), in.keyOption()
	if t.state > tokenHeld {
		return t, InvalidAccountData
	}
	return t, nil
}

// readToken reads an account of the token program.
func readToken(a *Account) (tokenData, error) {
	if a.Owner != wire.TokenProgram {
		return tokenData{}, IncorrectProgramID
	}
	return parseToken(a.Data)
}

func appendKeyOption(b []byte, k *Key) []byte {
	if k == nil {
		return append(b, make([]byte, 36)...)
	}
	return append(binary.LittleEndian.AppendUint32(b, 1), k[:]...)
}

func (t tokenData) bytes() []byte {
	b := append(append(make([]byte, 0, wire.TokenAccountSpace), t.mint[:]...), t.owner[:]...)
	b = binary.LittleEndian.AppendUint64(b, t.amount)
	b = append(appendKeyOption(b, t.delegate), t.state)
	if t.native == nil {
		b = append(b, make([]byte, 12)...)
	} else {
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(b, 1), *t.native)
	}
	return appendKeyOption(binary.LittleEndian.AppendUint64(b, t.delegated), t.closer)
}

// mayClose is who may close the account.
func (t *tokenData) mayClose() Key {
	if t.closer != nil {
		return *t.closer
	}
	return t.owner
}

// parseMint reads the data of a mint, which may not be in use yet.
func parseMint(data []byte) (m mintData, err error) {
	if len(data) != mintSpace {
		return m, InvalidAccountData
	}
	in := &args{data: data}
	m.authority, m.supply, m.decimals, m.initialized, m.freeze = in.keyOption(), in.u64(), in.u8(), in.u8() == 1, in.keyOption()
	return m, nil
}

// readMint reads the account of a mint in use.
func readMint(a *Account) (mintData, error) {
	if a.Owner != wire.TokenProgram {
		return mintData{}, IncorrectProgramID
	}
	m, err := parseMint(a.Data)
	if err == nil && !m.initialized {
		err = UninitializedAccount
	}
	return m, err
}

func (m mintData) bytes() []byte {
	b := appendKeyOption(make([]byte, 0, mintSpace), m.authority)
	b = append(binary.LittleEndian.AppendUint64(b, m.supply), m.decimals, 0)
	if m.initialized {
		b[len(b)-1] = 1
	}
	return appendKeyOption(b, m.freeze)
}

// nativeMint is the mint of WSOL.
func nativeMint() *Account {
	m := MintAccount(9, 0, nil)
	return &m
}

// MintAccount is the mint of a token of which supply base units exist. More can be
// minted by authority; nil: no account may mint.
func MintAccount(decimals uint8, supply uint64, authority *Key) Account {
	m := mintData{authority: authority, supply: supply, decimals: decimals, initialized: true}
	return Account{Lamports: wire.Rent(mintSpace), Owner: wire.TokenProgram, Data: m.bytes()}
}

// TokenAccount is a token account with an amount.
func TokenAccount(mint, owner Key, amount uint64) Account {
	t := tokenData{mint: mint, owner: owner, amount: amount, state: tokenOpen}
	a := Account{Lamports: wire.TokenAccountRent, Owner: wire.TokenProgram}
	if mint == wire.WSOL {
		t.native = option(a.Lamports)
		a.Lamports += amount
	}
	a.Data = t.bytes()
	return a
}

// MintTo mints base units of a token into a token account.
func MintTo(mint, to, authority Key, amount uint64) wire.Instruction {
	return wire.Instruction{Program: wire.TokenProgram, Data: binary.LittleEndian.AppendUint64([]byte{7}, amount),
		Accounts: []wire.Account{{PublicKey: mint, IsWritable: true}, {PublicKey: to, IsWritable: true}, {PublicKey: authority, IsSigner: true}}}
}
