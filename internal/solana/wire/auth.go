package wire

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// maxTimeout is later than any authorisation ends, in Unix seconds: the year 36812.
const maxTimeout = 1 << 40

// Prefixes of authorisations. On Solana they are compared, not signed.
const (
	PrefixPayIn  = "claim_initialize"
	prefixInit   = "initialize"
	prefixRefund = "refund"
)

// InitPrefix returns the prefix of an authorisation to open the escrow.
func (d *SwapData) InitPrefix() string {
	if d.PayIn {
		return PrefixPayIn
	}
	return prefixInit
}

// InitAuth is an LP's authorisation to open an escrow: its signature over the whole
// transaction, with the block hash of a slot that it names (§13).
type InitAuth struct {
	Prefix    string
	Timeout   uint64 // Unix seconds until which the program takes it
	Slot      uint64 // of the block whose hash the transaction carries
	Signature Signature
}

func authError(format string, args ...any) error {
	return &chains.AuthError{Reason: fmt.Sprintf(format, args...), Proven: true}
}

func authLate(format string, args ...any) error {
	return &chains.AuthError{Reason: fmt.Sprintf(format, args...), Late: true}
}

// ParseInitAuth reads an authorisation to open an escrow. Errors are *[chains.AuthError].
func ParseInitAuth(a chains.Auth) (InitAuth, error) {
	if a.Timeout < 0 || a.Timeout > maxTimeout {
		return InitAuth{}, authError("the timeout must be a Unix time in seconds, not %d", a.Timeout)
	}
	slot, sig, ok := strings.Cut(a.Signature, ";")
	if !ok {
		return InitAuth{}, authError("a signature is <slot>;<128 hexadecimal digits>")
	}
	n, err := feeNumber(slot)
	if err != nil || n > 1<<62 {
		return InitAuth{}, authError("the slot of the signature must be a decimal number, not %.30q", slot)
	}
	raw, err := parseSignature(sig)
	if err != nil {
		return InitAuth{}, err
	}
	return InitAuth{a.Prefix, uint64(a.Timeout), n, raw}, nil
}

func parseSignature(s string) (sig Signature, err error) {
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != ed25519.SignatureSize {
		return sig, authError("a signature has 128 hexadecimal digits")
	}
	return Signature(raw), nil
}

// Auth is the inverse of [ParseInitAuth].
func (a InitAuth) Auth() chains.Auth {
	return chains.Auth{Prefix: a.Prefix, Timeout: int64(a.Timeout), Signature: fmt.Sprintf("%d;%x", a.Slot, a.Signature[:])}
}

// NeedsAuth says whether opening the escrow takes the other party's signature. In v2
// an offerer may open one that pays out alone.
func (p Programs) NeedsAuth(d *SwapData, sender Key) bool {
	return p.Version == V1 || !d.PayOut || sender == d.Claimer
}

// Counterparty returns who authorises the sender to open the escrow. In v1 only the
// one who pays in, or is paid out, can be the sender.
func (p Programs) Counterparty(d *SwapData, sender Key) (Key, error) {
	switch {
	case p.Version == V1 && d.PayIn && sender != d.Offerer:
		return Key{}, fmt.Errorf("only the offerer (%s) can open an escrow of v1 that pays in, not %s", d.Offerer, sender)
	case p.Version == V1 && !d.PayIn && sender != d.Claimer:
		return Key{}, fmt.Errorf("only the claimer (%s) can open an escrow of v1 from an LP's balance, not %s", d.Claimer, sender)
	case sender == d.Offerer:
		return d.Claimer, nil
	case sender == d.Claimer:
		return d.Offerer, nil
	}
	return Key{}, fmt.Errorf("%s is not a party to the escrow", sender)
}

// InitTx makes the transaction that opens an escrow, without block hash and
// signatures. Who signs it signs every byte: it follows from the data, the sender, the
// timeout and the very fee rate that the LP was told (§13).
func (p Programs) InitTx(d *SwapData, sender Key, timeout uint64, f FeeRate) (*Tx, error) {
	ix, err := p.InitInstruction(d, sender, timeout)
	if err != nil {
		return nil, err
	}
	a := Action{Units: d.initUnits()}
	switch {
	case d.PayIn:
		if missing := f.wraps(d.Amount); missing > 0 {
			wrap, units := wrapInstructions(d.Offerer, missing, f.Wrap.Create, CreateATA)
			a.Instructions, a.Units = wrap, a.Units+units
		}
	case p.Version == V1:
		create := EnsureATA(sender, d.Claimer, d.Token)
		if d.ClaimerATA != nil && !d.ClaimerATA.IsZero() {
			create.Accounts[1].PublicKey = *d.ClaimerATA
		}
		a.Instructions = []Instruction{create}
	}
	a.Instructions = append(a.Instructions, ix)
	return a.Tx(sender, f)
}

// wrapInstructions turn SOL of owner into WSOL.
func wrapInstructions(owner Key, lamports uint64, create bool, with func(payer, owner, mint Key) Instruction) (all []Instruction, units uint32) {
	units = unitsWrap
	if create {
		all = append(all, with(owner, owner, WSOL))
		units += unitsATA
	}
	ata := ATA(owner, WSOL)
	return append(all, Transfer(owner, ata, lamports), SyncNative(ata)), units
}

// CheckInit checks what can be checked of an authorisation to open an escrow without
// asking a node. needed is false where none is needed and the rest is checked (§13,
// steps 1 to 5). Errors: *[chains.AuthError].
func (p Programs) CheckInit(d *SwapData, sender Key, prefix string, timeout int64, now time.Time) (needed bool, err error) {
	if _, err := p.Counterparty(d, sender); err != nil {
		return false, &chains.AuthError{Reason: "the escrow cannot be opened", Err: err}
	}
	if !d.PayIn && d.Expired(sender, now, false) {
		return false, authLate("the escrow expires too soon to be claimed")
	}
	if want := d.InitPrefix(); prefix != want {
		return false, authError("the prefix is %.40q, not %q", prefix, want)
	}
	if timeout-now.Unix() < authGraceSecs {
		return false, authLate("it ends at %d, less than %d s from now", timeout, authGraceSecs)
	}
	return p.NeedsAuth(d, sender), nil
}

// CheckSlot checks that the block hash that was signed is still good at the newest
// slot (§13, step 6).
func (a InitAuth) CheckSlot(latest uint64) error {
	if latest > a.Slot+TxSlots-slotBuffer {
		return authLate("its block hash, of slot %d, ends with slot %d; now it is %d", a.Slot, a.Slot+TxSlots, latest)
	}
	return nil
}

// VerifyInit checks the LP's signature over the opening of an escrow, with the hash of
// the block at the slot that the authorisation names (§13, step 7). The message is
// made here: one that the LP hands over is never signed.
func (p Programs) VerifyInit(d *SwapData, sender Key, a InitAuth, f FeeRate, blockhash Hash) error {
	lp, err := p.Counterparty(d, sender)
	if err != nil {
		return &chains.AuthError{Reason: "the escrow cannot be opened", Err: err}
	}
	tx, err := p.InitTx(d, sender, a.Timeout, f)
	if err != nil {
		return &chains.AuthError{Reason: "the transaction that was authorised cannot be built", Err: err}
	}
	tx.Blockhash = blockhash
	m, err := tx.Message()
	if err != nil {
		return &chains.AuthError{Reason: "the transaction that was authorised cannot be built", Err: err}
	}
	raw, err := m.MarshalBinary()
	if err != nil {
		return err
	}
	if !ed25519.Verify(lp[:], raw, a.Signature[:]) {
		// Not proven by itself: it is a node that says which hash the block has.
		return &chains.AuthError{Reason: fmt.Sprintf("the signature is not %s's over this transaction", lp)}
	}
	return nil
}

// UsableUntil returns until when the escrow can be opened with an authorisation, zero
// if that has ended. latest is the newest slot. Where no signature is needed (a is nil)
// the timeout alone counts (§13).
func UsableUntil(a *InitAuth, timeout uint64, latest uint64, now time.Time) time.Time {
	until := time.Unix(int64(min(timeout, maxTimeout))-authGraceSecs, 0)
	if a != nil {
		end := a.Slot + TxSlots - slotBuffer
		if latest > end {
			return time.Time{}
		}
		if at := now.Add(time.Duration(min(end-latest, maxTimeout/1000)) * SlotTime); at.Before(until) {
			until = at
		}
	}
	if until.Before(now) {
		return time.Time{}
	}
	return until
}

// Over reports whether nothing that is in progress with an authorisation can be
// executed any more, by the newest finalized slot and the clock. A nil authorisation
// ends by its timeout alone.
func Over(a *InitAuth, timeout uint64, finalized uint64, now time.Time) bool {
	if a != nil && finalized > a.Slot+TxSlots+slotBuffer {
		return true
	}
	return int64(min(timeout, maxTimeout))+authGraceSecs < now.Unix()
}
