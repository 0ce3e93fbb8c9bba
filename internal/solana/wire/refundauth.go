package wire

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// RefundAuth is the claimer's authorisation to refund an escrow before it expires.
type RefundAuth struct {
	Timeout   uint64 // Unix seconds until which the program takes it
	Signature Signature
}

// RefundMessage is what the claimer signs. Neither token nor parties are in it (§14).
func (d *SwapData) RefundMessage(timeout uint64) [32]byte {
	w := new(writer).bytes([]byte("refund")...).u64(d.Amount).u64(d.Expiry).u64(d.Sequence).bytes(d.PaymentHash[:]...).u64(timeout)
	return sha256.Sum256(*w)
}

// Auth is the authorisation as LPs send it.
func (a RefundAuth) Auth() chains.Auth {
	return chains.Auth{Prefix: prefixRefund, Timeout: int64(a.Timeout), Signature: fmt.Sprintf("%x", a.Signature[:])}
}

// VerifyRefund checks an authorisation to refund. Errors: *[chains.AuthError].
func (d *SwapData) VerifyRefund(a chains.Auth, now time.Time) (RefundAuth, error) {
	if a.Prefix != prefixRefund {
		return RefundAuth{}, authError("the prefix is %.40q, not %q", a.Prefix, prefixRefund)
	}
	if a.Timeout < 0 || a.Timeout > maxTimeout {
		return RefundAuth{}, authError("the timeout must be a Unix time in seconds, not %d", a.Timeout)
	}
	if a.Timeout-now.Unix() < authGraceSecs {
		return RefundAuth{}, authLate("it ends at %d, less than %d s from now", a.Timeout, authGraceSecs)
	}
	sig, err := parseSignature(a.Signature)
	if err != nil {
		return RefundAuth{}, err
	}
	m := d.RefundMessage(uint64(a.Timeout))
	if !ed25519.Verify(d.Claimer[:], m[:], sig[:]) {
		return RefundAuth{}, authError("the signature is not %s's over this refund", d.Claimer)
	}
	return RefundAuth{uint64(a.Timeout), sig}, nil
}

// VerifyInstruction makes the network check the claimer's signature. It must be
// instruction 0, where the swap program looks for it.
func (a RefundAuth) VerifyInstruction(d *SwapData) Instruction {
	const here = 0xffff // the data of this very instruction
	m := d.RefundMessage(a.Timeout)
	w := new(writer).u8(1).u8(0).u16(48).u16(here).u16(16).u16(here).u16(112).u16(uint16(len(m))).u16(here)
	return Instruction{Program: Ed25519Program, Data: *w.bytes(d.Claimer[:]...).bytes(a.Signature[:]...).bytes(m[:]...)}
}
