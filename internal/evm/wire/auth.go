package wire

import (
	"time"

	"github.com/ethereum/go-ethereum/common"

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
// (protocol: chain-evm.md §8).
func (s SwapData) IsExpired(signer common.Address, now time.Time) bool {
	at := now.Unix()
	if signer == s.Claimer {
		at += int64(chains.ClaimGrace / time.Second)
	}
	if signer == s.Offerer {
		at -= int64(chains.RefundGrace / time.Second)
	}
	return s.Expiry() < at
}

// needsInitAuthorization reports whether the contract asks for a signature of
// the other party when sender opens the escrow.
func (s SwapData) needsInitAuthorization(sender common.Address) bool {
	return sender != s.Offerer || s.Reputation
}

// VerifyInit checks an authorisation for sender to open the escrow, as the
// contract will (protocol: chain-evm.md §5.1). blockTime is the time of the
// newest block that counts, Unix seconds. Errors are *[chains.AuthError].
//
// It does not look at the escrow's handlers: [Deployment.CheckSwapData] does.
func (n Network) VerifyInit(d Deployment, s SwapData, a chains.Auth, sender common.Address, now time.Time, blockTime int64) error {
	signer, prefix := s.Offerer, prefixInit
	switch sender {
	case s.Offerer:
		signer = s.Claimer
	case s.Claimer:
	default:
		return &chains.AuthError{Reason: "the sender is neither offerer nor claimer"}
	}
	if s.PayIn {
		prefix = prefixInitPayIn
	}
	switch {
	case s.SuccessAction != common.Hash{}:
		return &chains.AuthError{Reason: "the escrow has a success action"}
	case s.IsExpired(sender, now):
		return &chains.AuthError{Reason: "the escrow expires too soon", Late: true}
	case a.Prefix != prefix:
		return &chains.AuthError{Reason: "wrong prefix", Proven: true}
	case a.Timeout < now.Add(chains.AuthGrace).Unix() || blockTime > a.Timeout:
		return &chains.AuthError{Reason: "expired", Late: true}
	}
	digest, err := n.InitDigest(d, s, a.Timeout)
	return checkSigner(digest, err, a.Signature, signer)
}

// VerifyRefund checks an authorisation to take a refund before the expiry.
// Errors are *[chains.AuthError].
func (n Network) VerifyRefund(d Deployment, s SwapData, a chains.Auth, now time.Time) error {
	switch {
	case a.Prefix != prefixRefund:
		return &chains.AuthError{Reason: "wrong prefix", Proven: true}
	case a.Timeout < now.Add(chains.AuthGrace).Unix():
		return &chains.AuthError{Reason: "expired", Late: true}
	}
	digest, err := n.RefundDigest(d, s, a.Timeout)
	return checkSigner(digest, err, a.Signature, s.Claimer)
}

// VerifyData checks that signer signed data to prove its identity. Errors are
// *[chains.AuthError] and must not be ignored: without this check anyone can
// pass for that LP (protocol: chain-evm.md §13.2).
func (n Network) VerifyData(signer common.Address, data []byte, signature string) error {
	return checkSigner(n.DataDigest(data), nil, signature, signer)
}

func checkSigner(digest common.Hash, err error, signature string, want common.Address) error {
	if err != nil {
		return &chains.AuthError{Reason: "the signature could not be checked", Err: err}
	}
	got, err := recoverSigner(digest, signature)
	if err != nil {
		return &chains.AuthError{Reason: "invalid signature", Proven: true, Err: err}
	}
	if got != want || want == (common.Address{}) {
		return &chains.AuthError{Reason: "the signature is not by " + want.Hex(), Proven: true}
	}
	return nil
}
