package swap

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"

	"github.com/swapper-go/swapper/chains"
)

// Owner identifies the owner of a swap: the caller who created it, and its key. Both are
// stored as hashes for this swap only, so that neither can be read from a record, and two
// records of one caller have nothing in common. A record without either, such as an imported
// or recovered one or one of a version without owners, belongs to the service.
type Owner struct {
	Caller string `json:"caller,omitempty"`
	Key    string `json:"key,omitempty"`
}

// Own sets the owner of a swap that has its id: a text that identifies the caller, and
// the swap's key. Either may be "".
func (r *Record) Own(caller, key string) {
	r.Owner = Owner{Caller: r.ownerHash("caller", caller), Key: r.ownerHash("key", key)}
}

// OwnedBy reports whether the caller, or the key, is the one that was passed to [Record.Own].
// "" never matches. It compares in constant time.
func (r *Record) OwnedBy(caller, key string) bool {
	same := func(kept, given string) int {
		if kept == "" || given == "" {
			return 0
		}
		return subtle.ConstantTimeCompare([]byte(kept), []byte(given))
	}
	return same(r.Owner.Caller, r.ownerHash("caller", caller))|same(r.Owner.Key, r.ownerHash("key", key)) == 1
}

func (r *Record) ownerHash(of, text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("swapper/owner\x00" + r.ID + "\x00" + of + "\x00" + text))
	return hex.EncodeToString(sum[:])
}

// ProvedBy reports whether a preimage proves that its holder is the one who gets the
// money of this swap from Lightning: it is the swap's, and cannot be known to anybody else,
// because the escrow that it claims was never open.
func (r *Record) ProvedBy(p chains.Preimage) bool {
	if r.Type != FromBTCLN && r.Type != FromBTCLNAuto || p.IsZero() || r.Lightning == nil || r.Escrow == nil {
		return false
	}
	unopened := r.State == LnCreated || r.State == LnSoftExpired || r.State == LnPaid
	if !unopened || r.Public() || r.Escrow.OpenedAt != 0 || r.Escrow.InitTx != "" {
		return false
	}
	sum := sha256.Sum256(p[:])
	return subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum[:])), []byte(r.Lightning.Hash)) == 1
}

// Discreet returns the view for callers who do not own the swap: its actions have no
// transaction that carries a preimage before the escrow is open and final. Where the owner
// signs the opening and the claim together, others are asked only for the opening, and for
// the claim once it can cost the owner nothing.
func (v View) Discreet() View {
	v.Action, v.Late = Discreet(v.Action), Discreet(v.Late)
	return v
}

// Discreet returns an action as [View.Discreet] shows it. Whoever signs that has done a
// part of what the action itself asks for.
func Discreet(a Action) Action {
	s, ok := a.(*Sign)
	if !ok {
		return a
	}
	at := slices.IndexFunc(s.Plan.Steps, func(step chains.Step) bool { return step.Kind == chains.StepClaimSecret })
	switch {
	case s.For == actionLastClaim: // the refund may win against it
		return nil
	case at <= 0: // else a claim alone is asked for only when publishing the preimage is safe
		return a
	}
	less := *s
	less.Plan.Steps = s.Plan.Steps[:at:at]
	less.Description = "Sign and submit the transactions that open the escrow; once it is final, the claim is asked for."
	return &less
}
