package wire

import (
	"encoding/binary"
	"fmt"
	"math/big"
)

// TokenAccountSpace is the size of a token account.
const TokenAccountSpace = 165

// TokenAccountRent is what a token account needs, in lamports.
const TokenAccountRent = (TokenAccountSpace + 128) * 6960

// TokenAccount is what the library reads of an account of the token program.
type TokenAccount struct {
	Mint, Owner Key
	Amount      uint64
}

// DecodeTokenAccount reads a token account. An account of the System program, which
// anybody can make by sending lamports to the address, is as good as none: it is
// [ErrAbsent], and the idempotent creation takes it over (§21.7).
func DecodeTokenAccount(program Key, data []byte) (TokenAccount, error) {
	if len(data) == 0 && (program == SystemProgram || program.IsZero()) {
		return TokenAccount{}, ErrAbsent
	}
	if program != TokenProgram {
		return TokenAccount{}, fmt.Errorf("a token account belongs to the program %s, this one to %s", TokenProgram, program)
	}
	if len(data) < TokenAccountSpace {
		return TokenAccount{}, fmt.Errorf("a token account has %d bytes, this one %d", TokenAccountSpace, len(data))
	}
	return TokenAccount{Mint: Key(data[:32]), Owner: Key(data[32:64]), Amount: binary.LittleEndian.Uint64(data[64:])}, nil
}

// Bytes writes an initialised account without delegate, native reserve or closing
// authority.
func (a TokenAccount) Bytes() []byte {
	w := make(writer, 0, TokenAccountSpace)
	w.bytes(a.Mint[:]...).bytes(a.Owner[:]...).u64(a.Amount)
	w = append(w, make([]byte, TokenAccountSpace-len(w))...)
	w[108] = 1 // state: initialised
	return w
}

// reserve is what a wallet keeps back of its native balance for fees, in lamports.
const reserve = 1_000_000

// SpendableSOL returns the SOL balance that a wallet can spend, in lamports: the
// wallet's own, less the rent of a WSOL account if there is none (wsol is nil),
// what is wrapped already, less a reserve for fees (§2).
func SpendableSOL(lamports uint64, wsol *uint64) *big.Int {
	own, wrapped := new(big.Int).SetUint64(lamports), new(big.Int)
	if wsol == nil {
		own.Sub(own, big.NewInt(TokenAccountRent))
	} else {
		wrapped.SetUint64(*wsol)
	}
	if own.Sign() > 0 {
		wrapped.Add(wrapped, own)
	}
	if wrapped.Sub(wrapped, big.NewInt(reserve)).Sign() < 0 {
		wrapped.SetInt64(0)
	}
	return wrapped
}
