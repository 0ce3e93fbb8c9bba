package wire

import (
	"time"

	"github.com/swapper-go/swapper/chains"
)

// Prefixes of authorisations. They are not signed; they say what one is for.
const (
	prefixInitPayIn = "claim_initialize"
	prefixInit      = "initialize"
	prefixRefund    = "refund"
)

// IsExpired reports whether an escrow has expired in the eyes of signer: for its
// claimer early, for its offerer late, by [chains.ClaimGrace] and [chains.RefundGrace]
// (§12.2).
func (s SwapData) IsExpired(signer Felt, now time.Time) bool {
	at := now.Unix()
	if signer == s.Claimer {
		at += int64(chains.ClaimGrace / time.Second)
	}
	if signer == s.Offerer {
		at -= int64(chains.RefundGrace / time.Second)
	}
	return s.Expiry() < at
}

// needsInitAuthorization reports whether the contract asks for a signature of the
// other party when sender opens the escrow (§5).
func (s SwapData) needsInitAuthorization(sender Felt) bool {
	return sender != s.Offerer || s.Reputation
}

// CheckInit checks of an authorisation for sender to open the escrow all that can be
// known without asking the account that signed it, and returns that question (§8.2).
// blockTime is the time of the block that is being made, in Unix seconds. Errors are
// *[chains.AuthError].
//
// It does not look at the escrow's handlers: [Deployment.CheckSwapData] does.
func (n Network) CheckInit(s SwapData, a chains.Auth, sender Felt, now time.Time, blockTime int64) (SignatureCheck, error) {
	signer, prefix := s.Offerer, prefixInit
	switch sender {
	case s.Offerer:
		signer = s.Claimer
	case s.Claimer:
	default:
		return SignatureCheck{}, &chains.AuthError{Reason: "the sender is neither offerer nor claimer"}
	}
	if s.PayIn {
		prefix = prefixInitPayIn
	}
	switch {
	case s.SuccessAction != nil:
		return SignatureCheck{}, &chains.AuthError{Reason: "the escrow has a success action"}
	case !s.PayIn && s.IsExpired(sender, now):
		return SignatureCheck{}, &chains.AuthError{Reason: "the escrow expires too soon", Late: true}
	case a.Prefix != prefix:
		return SignatureCheck{}, &chains.AuthError{Reason: "wrong prefix", Proven: true}
	case a.Timeout < now.Add(chains.AuthGrace).Unix() || blockTime > a.Timeout:
		return SignatureCheck{}, &chains.AuthError{Reason: "expired", Late: true}
	}
	message, err := n.InitMessage(s, a.Timeout)
	return question(message, err, a.Signature, signer)
}

// CheckRefund is [Network.CheckInit] of an authorisation to take a refund before the
// expiry.
func (n Network) CheckRefund(s SwapData, a chains.Auth, now time.Time) (SignatureCheck, error) {
	switch {
	case a.Prefix != prefixRefund:
		return SignatureCheck{}, &chains.AuthError{Reason: "wrong prefix", Proven: true}
	case a.Timeout < now.Add(chains.AuthGrace).Unix():
		return SignatureCheck{}, &chains.AuthError{Reason: "expired", Late: true}
	}
	hash, err := s.EscrowHash()
	if err != nil {
		return SignatureCheck{}, &chains.AuthError{Reason: "the signature could not be checked", Err: err}
	}
	message, err := n.RefundMessage(hash, a.Timeout)
	return question(message, err, a.Signature, s.Claimer)
}

// CheckData is the question whether signer signed data to prove its identity. That the
// account says no must not be ignored: without this check anyone can pass for that LP
// (§20.1). Errors are *[chains.AuthError].
func (n Network) CheckData(signer Felt, data []byte, signature string) (SignatureCheck, error) {
	return question(n.DataMessage(data), nil, signature, signer)
}

func question(message TypedData, err error, signature string, signer Felt) (SignatureCheck, error) {
	c := SignatureCheck{Account: signer}
	if err == nil {
		c.Hash, err = message.Hash(signer)
	}
	if err != nil {
		return SignatureCheck{}, &chains.AuthError{Reason: "the signature could not be checked", Err: err}
	}
	if c.Signature, err = parseSignature(signature); err != nil {
		return SignatureCheck{}, &chains.AuthError{Reason: "invalid signature", Proven: true, Err: err}
	}
	if signer.IsZero() {
		return SignatureCheck{}, &chains.AuthError{Reason: "the signer is the zero address, which cannot be an account"}
	}
	return c, nil
}

// Refused is the error of an account that does not know a signature as its own. proven is
// as in [chains.AuthError].
func (c SignatureCheck) Refused(proven bool) error {
	return &chains.AuthError{Reason: "the signature is not by " + Hex64(c.Account), Proven: proven}
}
