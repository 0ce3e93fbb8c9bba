package wire

import (
	"errors"
	"fmt"

	"github.com/swapper-go/swapper/chains"
)

var (
	escrowAccount = NameOf("account", "EscrowState")
	userAccount   = NameOf("account", "UserAccount")
)

// EscrowState is the account of an open escrow (§6).
type EscrowState struct {
	Data               Terms
	Offerer            Key
	OffererATA         Key // zero unless the offerer paid in
	Claimer            Key
	ClaimerATA         Key // zero unless the claimer is paid out
	Mint               Key
	ClaimerBounty      uint64 // lamports
	SecurityDeposit    uint64 // lamports
	OffererInitializer bool   // v2: the offerer opened it and gets its rent back
}

// Terms are the members of an escrow that the swap program takes as one argument.
type Terms struct {
	Kind          chains.Kind
	Confirmations uint16
	Nonce         uint64
	Hash          [32]byte
	PayIn, PayOut bool
	Amount        uint64
	Expiry        uint64 // Unix seconds; below 10^9 a Bitcoin height
	Sequence      uint64
}

// termsSize is the number of bytes of [Terms].
const termsSize = 69

func (t Terms) append(w *writer) {
	w.u8(uint8(t.Kind)).u16(t.Confirmations).u64(t.Nonce).bytes(t.Hash[:]...).flag(t.PayIn).flag(t.PayOut).u64(t.Amount).u64(t.Expiry).u64(t.Sequence)
}

// Bytes returns the terms as the program takes them.
func (t Terms) Bytes() []byte {
	w := make(writer, 0, termsSize)
	t.append(&w)
	return w
}

func (r *reader) terms() (t Terms) {
	t.Kind = chains.Kind(r.u8())
	if r.err == nil && !validKind(t.Kind) {
		r.err = fmt.Errorf("unknown kind %d of escrow", int(t.Kind))
	}
	t.Confirmations, t.Nonce, t.Hash = r.u16(), r.u64(), r.hash()
	t.PayIn, t.PayOut = r.flag(), r.flag()
	t.Amount, t.Expiry, t.Sequence = r.u64(), r.u64(), r.u64()
	return t
}

// escrowSpace are the allocated bytes, of which the last is spare.
func escrowSpace(version string) int {
	if version == V2 {
		return 255
	}
	return 254
}

// EscrowRent is what an escrow's account needs, in lamports.
func (p Programs) EscrowRent() uint64 { return Rent(escrowSpace(p.Version)) }

// Rent is what an account of the given number of bytes must hold to stay, in lamports.
func Rent(bytes int) uint64 { return uint64(bytes+128) * 6960 }

// ErrAbsent means that the account does not exist or has no data.
var ErrAbsent = errors.New("the account does not exist")

// DecodeEscrow reads an escrow's account. No data is [ErrAbsent]; data of another
// account is an error, not an absence.
func (p Programs) DecodeEscrow(data []byte) (s EscrowState, err error) {
	r, err := open(data, escrowAccount, "an escrow")
	if err != nil {
		return EscrowState{}, err
	}
	s.Data = r.terms()
	s.Offerer, s.OffererATA, s.Claimer, s.ClaimerATA, s.Mint = r.key(), r.key(), r.key(), r.key(), r.key()
	s.ClaimerBounty, s.SecurityDeposit = r.u64(), r.u64()
	if p.Version == V2 {
		s.OffererInitializer = r.flag()
	}
	if r.err != nil {
		return EscrowState{}, fmt.Errorf("account of an escrow: %w", r.err)
	}
	return s, nil
}

// EncodeEscrow writes an escrow's account, spare byte included.
func (p Programs) EncodeEscrow(s EscrowState) []byte {
	w := make(writer, 0, escrowSpace(p.Version))
	w.bytes(escrowAccount[:]...)
	s.Data.append(&w)
	for _, k := range []Key{s.Offerer, s.OffererATA, s.Claimer, s.ClaimerATA, s.Mint} {
		w.bytes(k[:]...)
	}
	w.u64(s.ClaimerBounty).u64(s.SecurityDeposit)
	if p.Version == V2 {
		w.flag(s.OffererInitializer)
	}
	return append(w, 0)
}

// open begins to read an account that must have the given discriminator.
func open(data []byte, want Discriminator, what string) (reader, error) {
	if len(data) == 0 {
		return reader{}, ErrAbsent
	}
	r := reader{data: data}
	if got := r.discriminator(); r.err != nil || got != want {
		return reader{}, fmt.Errorf("the account is not %s: it begins with %x, not %x", what, data[:min(8, len(data))], want)
	}
	return r, nil
}

// UserVault is the account of a user's balance and reputation in one mint (§6).
type UserVault struct {
	Amount     uint64
	Reputation [4]KindReputation // by kind
	Bump       uint8
}

// KindReputation counts how the escrows of one kind towards a user's vault ended.
type KindReputation struct {
	SuccessVolume, SuccessCount     uint64
	FailVolume, FailCount           uint64
	CoopCloseVolume, CoopCloseCount uint64
}

// UserVaultSpace is the size of the account.
const UserVaultSpace = 209

// columns are the counters in the account's order: each is kept for all kinds.
func (v *UserVault) columns() (all [6][4]*uint64) {
	for i := range v.Reputation {
		k := &v.Reputation[i]
		for c, p := range []*uint64{&k.SuccessVolume, &k.SuccessCount, &k.FailVolume, &k.FailCount, &k.CoopCloseVolume, &k.CoopCloseCount} {
			all[c][i] = p
		}
	}
	return all
}

// DecodeUserVault reads the account of [Programs.UserVault]. No data is [ErrAbsent].
func DecodeUserVault(data []byte) (v UserVault, err error) {
	r, err := open(data, userAccount, "a user's vault")
	if err != nil {
		return UserVault{}, err
	}
	v.Amount = r.u64()
	for _, column := range v.columns() {
		for _, p := range column {
			*p = r.u64()
		}
	}
	v.Bump = r.u8()
	if r.err != nil {
		return UserVault{}, fmt.Errorf("account of a user's vault: %w", r.err)
	}
	return v, nil
}

// Bytes writes the account.
func (v UserVault) Bytes() []byte {
	w := make(writer, 0, UserVaultSpace)
	w.bytes(userAccount[:]...).u64(v.Amount)
	for _, column := range v.columns() {
		for _, p := range column {
			w.u64(*p)
		}
	}
	return *w.u8(v.Bump)
}
