package wire

import (
	"crypto/sha256"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// Init builds what sender must send to open an escrow: an approval for each
// token that the contract takes from the sender, and the call itself. auth is
// what [Network.VerifyInit] accepted; where the contract asks for no signature
// only its timeout counts, after which the contract refuses the call. Approvals
// that are not needed are for [WithoutApproved] to leave out.
func (d Deployment) Init(s SwapData, sender common.Address, auth chains.Auth) ([]Call, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if sender != s.Offerer && sender != s.Claimer {
		return nil, fault.Invalid("signer", "must be the offerer or the claimer of the escrow")
	}
	if sender != s.Offerer && s.PayIn && s.Token == Native {
		return nil, fault.Invalid("signer", "must be the offerer, who pays the escrow in the native token")
	}
	var signature []byte
	if auth.Signature != "" || s.needsInitAuthorization(sender) {
		var err error
		if signature, err = hexBytes(auth.Signature, 65); err != nil {
			return nil, fault.Invalid("signature", "%w", err)
		}
	}
	if auth.Timeout <= 0 {
		return nil, fault.Invalid("timeout", "is required")
	}
	data, err := EscrowABI().Pack("initialize", s.tuple(), signature, big.NewInt(auth.Timeout), s.ExtraData)
	if err != nil {
		return nil, err
	}
	value, deposit := new(big.Int), s.TotalDeposit()
	var needs allowances
	if s.PayIn && sender == s.Offerer { // else the offerer has approved before
		if s.Token == Native {
			value.Add(value, s.Amount)
		} else {
			needs.add(s.Token, s.Amount)
		}
	}
	if s.DepositToken == Native {
		value.Add(value, deposit)
	} else if deposit.Sign() > 0 {
		needs.add(s.DepositToken, deposit)
	}
	calls, err := needs.calls(d.EscrowManager.Address)
	if err != nil {
		return nil, err
	}
	return append(calls, Call{To: d.EscrowManager.Address, Value: value, Data: data, Gas: initGas(s), Alike: s.alike("initialize", d.EscrowManager.Address, data)}), nil
}

// ClaimBySecret builds the claim of a hash lock. It publishes the secret: never
// send it before the escrow is open and final.
func (d Deployment) ClaimBySecret(s SwapData, secret [32]byte) (Call, error) {
	kind, ok := d.KindOf(s.ClaimHandler)
	if !ok || kind != chains.HTLC {
		return Call{}, fault.Invalid("claimHandler", "%s is not the HTLC handler of this chain", s.ClaimHandler)
	}
	if common.Hash(sha256.Sum256(secret[:])) != s.ClaimData {
		return Call{}, fault.Invalid("secret", "does not match the payment hash")
	}
	call, err := d.claim(s, chains.HTLC, secret[:])
	call.Reveals, call.Alike = true, s.alike("claim", call.To, call.Data)
	return call, err
}

func (d Deployment) claim(s SwapData, kind chains.Kind, witness []byte) (Call, error) {
	if err := s.Validate(); err != nil {
		return Call{}, err
	}
	if s.SuccessAction != (common.Hash{}) {
		return Call{}, fault.Invalid("successActionCommitment", "the escrow can only be claimed together with a contract call")
	}
	data, err := EscrowABI().Pack("claim", s.tuple(), witness)
	return Call{To: d.EscrowManager.Address, Data: data, Gas: claimGas(s, kind)}, err
}

// ClaimInTime reports whether a claim is still safe to send: by the later of the
// clock and the time of the newest block (Unix seconds), with [chains.ClaimGrace] to
// spare (protocol: chain-evm.md §13.8).
func (s SwapData) ClaimInTime(now time.Time, blockTime int64) bool {
	late := max(now.Unix(), blockTime)
	return !s.IsExpired(s.Claimer, time.Unix(late, 0))
}

// Refund builds the refund after the expiry. now is refused if the expiry has
// not passed; the contract goes by the time of its block, which may be earlier.
func (d Deployment) Refund(s SwapData, now time.Time) (Call, error) {
	if err := s.Validate(); err != nil {
		return Call{}, err
	}
	if s.RefundHandler != d.RefundHandler {
		return Call{}, fault.Invalid("refundHandler", "%s is not the refund handler of this chain", s.RefundHandler)
	}
	if s.Expiry() > now.Unix() {
		return Call{}, fault.New(fault.InvalidState, "the escrow has not expired yet")
	}
	data, err := EscrowABI().Pack("refund", s.tuple(), []byte{})
	return Call{To: d.EscrowManager.Address, Data: data, Gas: refundGas(s) + gasTimelock, Alike: s.alike("refund", d.EscrowManager.Address, data)}, err
}

// RefundAuthorized builds the refund with the claimer's authorisation, which
// [Network.VerifyRefund] accepted.
func (d Deployment) RefundAuthorized(s SwapData, auth chains.Auth) (Call, error) {
	if err := s.Validate(); err != nil {
		return Call{}, err
	}
	signature, err := hexBytes(auth.Signature, 65)
	if err != nil {
		return Call{}, fault.Invalid("signature", "%w", err)
	}
	if auth.Timeout < 0 {
		return Call{}, fault.Invalid("timeout", "must not be negative")
	}
	data, err := EscrowABI().Pack("cooperativeRefund", s.tuple(), signature, big.NewInt(auth.Timeout))
	return Call{To: d.EscrowManager.Address, Data: data, Gas: refundGas(s), Alike: s.alike("cooperativeRefund", d.EscrowManager.Address, data)}, err
}
