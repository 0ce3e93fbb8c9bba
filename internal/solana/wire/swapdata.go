package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// SwapData is an escrow as LPs, stored records and watchtowers describe it (§10).
// Amounts are base units of the token, deposit and bounty are lamports.
type SwapData struct {
	ProgramID       Key
	Version         string // V1 or V2
	Offerer         Key
	Claimer         Key
	Token           Key
	Amount          uint64
	PaymentHash     [32]byte
	Sequence        uint64
	Expiry          uint64 // Unix seconds; below 10^9 a Bitcoin height, which no swap uses
	Nonce           uint64
	Confirmations   uint16
	Kind            chains.Kind
	PayIn, PayOut   bool
	SecurityDeposit uint64
	ClaimerBounty   uint64

	// Nil where the description does not say.
	OffererATA, ClaimerATA *Key      // zero where the escrow takes or pays no wallet
	TxoHash                *[32]byte // hint at the output that is paid; published, not enforced
	OffererInitializer     *bool     // v2, of escrows that are open: the offerer opened it
}

// MaxConfirmations is the most that the program takes.
const MaxConfirmations = 200

// firstTime is the lowest expiry that is a time and not a Bitcoin height.
const firstTime = 1_000_000_000

// Spec is what escrow data is made from.
type Spec struct {
	Kind             chains.Kind
	Claim            ClaimHash
	Offerer, Claimer Key
	Token            Key
	Amount           uint64
	Sequence, Expiry uint64
	PayIn, PayOut    bool
	SecurityDeposit  uint64
	ClaimerBounty    uint64
	DepositToken     Key
	TxoHash          *[32]byte
}

// NewSwapData describes an escrow of the program that does not exist yet.
func (p Programs) NewSwapData(s Spec) (*SwapData, error) {
	if s.DepositToken != WSOL {
		return nil, fmt.Errorf("deposits on Solana are in SOL (%s), not in %s", WSOL, s.DepositToken)
	}
	d := &SwapData{ProgramID: p.Swap, Version: p.Version, Offerer: s.Offerer, Claimer: s.Claimer, Token: s.Token, Amount: s.Amount,
		PaymentHash: s.Claim.PaymentHash, Sequence: s.Sequence, Expiry: s.Expiry, Nonce: s.Claim.Nonce, Confirmations: s.Claim.Confirmations,
		Kind: s.Kind, PayIn: s.PayIn, PayOut: s.PayOut, SecurityDeposit: s.SecurityDeposit, ClaimerBounty: s.ClaimerBounty,
		OffererATA: new(Key), ClaimerATA: new(Key), TxoHash: s.TxoHash}
	if s.PayIn {
		*d.OffererATA = ATA(s.Offerer, s.Token)
	}
	if s.PayOut {
		*d.ClaimerATA = ATA(s.Claimer, s.Token)
	}
	return d, nil
}

// Check refuses data that the program would refuse, or that is not for this program
// at all. Errors have the code [fault.InvalidInput] and name the member (§8, §21).
func (p Programs) Check(d *SwapData) error {
	switch {
	case d.Version != p.Version:
		return fault.Invalid("version", "is %q, this contract is %s", d.Version, p.Version)
	case d.ProgramID != p.Swap:
		return fault.Invalid("programId", "is %s, the swap program is %s", d.ProgramID, p.Swap)
	case d.Confirmations > MaxConfirmations:
		return fault.Invalid("confirmations", "%d are more than %d", d.Confirmations, MaxConfirmations)
	case d.Nonce != 0 && d.Kind != chains.OnchainNonced:
		return fault.Invalid("nonce", "an escrow of kind %s has none", d.Kind)
	case p.Version == V1 && d.PayIn && d.SecurityDeposit != 0:
		return fault.Invalid("securityDeposit", "v1 of the program takes none from an offerer who pays in")
	case p.Version == V1 && d.PayIn && d.ClaimerBounty != 0:
		return fault.Invalid("claimerBounty", "v1 of the program takes none from an offerer who pays in")
	case d.Expiry < firstTime:
		return fault.Invalid("expiry", "%d is a Bitcoin height, not a time", d.Expiry)
	}
	return nil
}

// Terms are the members that the program takes together.
func (d *SwapData) Terms() Terms {
	return Terms{d.Kind, d.Confirmations, d.Nonce, d.PaymentHash, d.PayIn, d.PayOut, d.Amount, d.Expiry, d.Sequence}
}

// ClaimHash returns what has to be proven to claim.
func (d *SwapData) ClaimHash() ClaimHash { return ClaimHash{d.PaymentHash, d.Nonce, d.Confirmations} }

// EscrowHash names the escrow.
func (d *SwapData) EscrowHash() [32]byte { return EscrowHash(d.PaymentHash, d.Sequence) }

// TxoHint returns the hash of the output that is paid, nil if none was published:
// zeros mean that the opener of the escrow opted out.
func (d *SwapData) TxoHint() *[32]byte {
	if d.TxoHash == nil || *d.TxoHash == [32]byte{} {
		return nil
	}
	return d.TxoHash
}

// ExpiryTime returns the expiry in Unix seconds; a Bitcoin height is an error.
func (d *SwapData) ExpiryTime() (int64, error) {
	if d.Expiry < firstTime {
		return 0, fmt.Errorf("the escrow expires at the Bitcoin height %d, not at a time", d.Expiry)
	}
	if d.Expiry > 1<<62 {
		return 0, fmt.Errorf("the expiry must be a Unix time in seconds, not %d", d.Expiry)
	}
	return int64(d.Expiry), nil
}

// IsClaimer reports whether a key is the claimer, and what is paid out goes to its
// own token account: the program does not check whose that account is.
func (d *SwapData) IsClaimer(k Key) bool {
	return d.Claimer == k && (!d.PayOut || d.ClaimerATA != nil && *d.ClaimerATA == ATA(k, d.Token))
}

// member is one member of escrow data as text, for comparisons.
type member struct{ name, text string }

func (d *SwapData) members() []member {
	u := func(v uint64) string { return strconv.FormatUint(v, 10) }
	return []member{
		{"programId", d.ProgramID.String()}, {"version", d.Version},
		{"offerer", d.Offerer.String()}, {"claimer", d.Claimer.String()}, {"token", d.Token.String()},
		{"kind", d.Kind.String()}, {"paymentHash", hex.EncodeToString(d.PaymentHash[:])}, {"nonce", u(d.Nonce)}, {"confirmations", u(uint64(d.Confirmations))},
		{"payIn", strconv.FormatBool(d.PayIn)}, {"payOut", strconv.FormatBool(d.PayOut)},
		{"offererAta", ataText(d.OffererATA, d.PayIn)}, {"claimerAta", ataText(d.ClaimerATA, d.PayOut)},
		{"amount", u(d.Amount)}, {"sequence", u(d.Sequence)}, {"expiry", u(d.Expiry)},
		{"securityDeposit", u(d.SecurityDeposit)}, {"claimerBounty", u(d.ClaimerBounty)},
		{"txoHash", textOf(d.TxoHint(), func(h [32]byte) string { return hex.EncodeToString(h[:]) })}, {"offererInitializer", textOf(d.OffererInitializer, strconv.FormatBool)},
	}
}

const unset = "not set"

// textOf is a member that may be left out.
func textOf[T any](v *T, text func(T) string) string {
	if v == nil {
		return unset
	}
	return text(*v)
}

// ataText is a token account. One that plays no part may be left out, or be the zero
// address: LPs do either (§10).
func ataText(k *Key, used bool) string {
	if k == nil && !used {
		k = new(Key)
	}
	return textOf(k, Key.String)
}

// Diff compares escrow data with the one expected, member by member, and returns the
// first difference that is not named in may as a *[chains.DiffError]. Token accounts
// are compared with those that the expected data derives; who opens the escrow is
// not agreed on beforehand.
func Diff(want, got *SwapData, may chains.Tolerance) error {
	allowed := map[string]bool{
		"offererInitializer": true, "sequence": may.AnySequence, "expiry": may.AnyExpiry, "txoHash": may.AnyExtraData,
		"amount":          may.AtLeastAmount && got.Amount > want.Amount,
		"securityDeposit": may.AtMostDeposits && got.SecurityDeposit < want.SecurityDeposit,
		"claimerBounty":   may.AtMostDeposits && got.ClaimerBounty < want.ClaimerBounty,
	}
	w, g := want.members(), got.members()
	for i := range w {
		if w[i].text != g[i].text && !allowed[w[i].name] {
			return &chains.DiffError{Member: w[i].name, Want: w[i].text, Got: g[i].text}
		}
	}
	return nil
}

// errOtherEscrow says that an account holds another escrow with the same payment hash.
var errOtherEscrow = errors.New("the account holds another escrow of the same payment hash")

// Match refuses an escrow's account that is not the escrow that is described: terms,
// parties, token, deposits. Token accounts and the initializer are compared if the
// description says them. Errors wrap [errOtherEscrow] (§10).
func (p Programs) Match(s EscrowState, d *SwapData) error {
	differs := func(member string) error { return fmt.Errorf("%w: %s differs", errOtherEscrow, member) }
	switch {
	case s.Data != d.Terms():
		return differs("what is agreed on (" + termsDiff(s.Data, d.Terms()) + ")")
	case s.Offerer != d.Offerer:
		return differs("offerer")
	case s.Claimer != d.Claimer:
		return differs("claimer")
	case s.Mint != d.Token:
		return differs("token")
	case s.ClaimerBounty != d.ClaimerBounty:
		return differs("claimerBounty")
	case s.SecurityDeposit != d.SecurityDeposit:
		return differs("securityDeposit")
	case d.OffererATA != nil && s.OffererATA != *d.OffererATA:
		return differs("offererAta")
	case d.ClaimerATA != nil && s.ClaimerATA != *d.ClaimerATA:
		return differs("claimerAta")
	case d.OffererInitializer != nil && (p.Version == V1 || s.OffererInitializer != *d.OffererInitializer):
		return differs("offererInitializer")
	}
	return nil
}

func termsDiff(a, b Terms) string {
	for _, m := range []struct {
		name string
		same bool
	}{
		{"kind", a.Kind == b.Kind}, {"confirmations", a.Confirmations == b.Confirmations}, {"nonce", a.Nonce == b.Nonce},
		{"paymentHash", bytes.Equal(a.Hash[:], b.Hash[:])}, {"payIn", a.PayIn == b.PayIn}, {"payOut", a.PayOut == b.PayOut},
		{"amount", a.Amount == b.Amount}, {"expiry", a.Expiry == b.Expiry}, {"sequence", a.Sequence == b.Sequence},
	} {
		if !m.same {
			return m.name
		}
	}
	return ""
}

// SwapData describes the escrow of an account.
func (p Programs) SwapData(s EscrowState) *SwapData {
	d := &SwapData{ProgramID: p.Swap, Version: p.Version, Offerer: s.Offerer, Claimer: s.Claimer, Token: s.Mint, SecurityDeposit: s.SecurityDeposit, ClaimerBounty: s.ClaimerBounty,
		OffererATA: &s.OffererATA, ClaimerATA: &s.ClaimerATA}
	d.setTerms(s.Data)
	if p.Version == V2 {
		d.OffererInitializer = &s.OffererInitializer
	}
	return d
}

func (d *SwapData) setTerms(t Terms) {
	d.Kind, d.Confirmations, d.Nonce, d.PaymentHash, d.PayIn, d.PayOut = t.Kind, t.Confirmations, t.Nonce, t.Hash, t.PayIn, t.PayOut
	d.Amount, d.Expiry, d.Sequence = t.Amount, t.Expiry, t.Sequence
}
