package wire

import (
	"crypto/sha256"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// Entry points of the escrow manager and of tokens (§2, §5).
const (
	entryInitialize = "initialize"
	entryClaim      = "claim"
	entryRefund     = "refund"
	entryCoopRefund = "cooperative_refund"
	entryApprove    = "approve"
	entryTransfer   = "transfer"
	EntryBalanceOf  = "balance_of"              // of a token: the balance of an account, a u256
	EntryHashState  = "get_hash_state"          // of the escrow manager: [ReadEscrowState]
	EntryHashStates = "get_hash_state_multiple" // [ReadEscrowStates]
	EntryLPBalance  = "get_balance"             // [ReadLPBalance]
	EntryReputation = "get_reputation"          // [ReadReputation]
)

// Init builds what sender must send to open an escrow: an approval for each token that
// the contract takes from the sender, and the call itself. auth is what
// [Network.CheckInit] accepted; where the contract asks for no signature only its
// timeout counts, after which the contract refuses the call. Deposit and amount in one
// token are approved together: the second approval would overwrite the first (§20.8).
func (d Deployment) Init(s SwapData, sender Felt, auth chains.Auth) ([]Call, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if sender != s.Offerer && sender != s.Claimer {
		return nil, fault.Invalid("signer", "must be the offerer or the claimer of the escrow")
	}
	var signature []Felt
	if auth.Signature != "" || s.needsInitAuthorization(sender) {
		var err error
		if signature, err = parseSignature(auth.Signature); err != nil {
			return nil, err
		}
	}
	if auth.Timeout <= 0 {
		return nil, fault.Invalid("timeout", "is required")
	}
	var needs []Allowance
	need := func(token Felt, amount *big.Int) {
		for i := range needs {
			if needs[i].Token == token {
				needs[i].Amount = new(big.Int).Add(needs[i].Amount, amount)
				return
			}
		}
		needs = append(needs, Allowance{token, d.EscrowManager.Address, amount})
	}
	if deposit := s.TotalDeposit(); deposit.Sign() > 0 {
		need(s.FeeToken, deposit)
	}
	if s.PayIn && sender == s.Offerer { // else the offerer has approved before
		need(s.Token, s.Amount)
	}
	var calls []Call
	for _, a := range needs {
		call, err := approve(a)
		if err != nil {
			return nil, err
		}
		calls = append(calls, call)
	}
	data := s.calldata().span(signature...).uint(uint64(auth.Timeout)).span(Chunks(s.ExtraData)...)
	return append(calls, Call{To: d.EscrowManager.Address, Entry: entryInitialize, Calldata: data, Gas: initGas(s.PayIn)}), nil
}

func approve(a Allowance) (Call, error) {
	if !inBits(a.Amount, 256) {
		return Call{}, fault.Invalid("amount", "and deposit exceed 2^256-1 together")
	}
	return Call{Role: RoleApproval, To: a.Token, Entry: entryApprove, Calldata: felts{a.Spender}.u256(a.Amount), Gas: gasApprove, Allowance: &a}, nil
}

// ClaimBySecret builds the claim of a hash lock. It publishes the secret: never send
// it before the escrow is open and final.
func (d Deployment) ClaimBySecret(s SwapData, secret [32]byte) (Call, error) {
	if kind, ok := d.KindOf(s.ClaimHandler); !ok || kind != chains.HTLC {
		return Call{}, fault.Invalid("claimHandler", "%s is not the HTLC handler of this chain", Hex64(s.ClaimHandler))
	}
	if ClaimDataHTLC(sha256.Sum256(secret[:])) != s.ClaimData {
		return Call{}, fault.Invalid("secret", "does not match the payment hash")
	}
	call, err := d.claim(s, chains.HTLC, preimageWitness(secret))
	call.Reveals = true
	return call, err
}

func (d Deployment) claim(s SwapData, kind chains.Kind, witness []Felt) (Call, error) {
	if err := s.Validate(); err != nil {
		return Call{}, err
	}
	if s.SuccessAction != nil {
		return Call{}, fault.Invalid("successAction", "the escrow can only be claimed together with a contract call")
	}
	return Call{To: d.EscrowManager.Address, Entry: entryClaim, Calldata: s.calldata().span(witness...), Gas: claimGas(s.PayOut).plus(handlerGas(kind))}, nil
}

// ClaimInTime reports whether a claim is still safe to send: by the later of the clock
// and the time of the newest block (Unix seconds), with [chains.ClaimGrace] to spare
// (§20.17).
func (s SwapData) ClaimInTime(now time.Time, blockTime int64) bool {
	return !s.IsExpired(s.Claimer, time.Unix(max(now.Unix(), blockTime), 0))
}

// Refund builds the refund after the expiry. now is refused if the expiry has not
// passed; the contract goes by the time of its block, which may be earlier.
func (d Deployment) Refund(s SwapData, now time.Time) (Call, error) {
	if err := s.Validate(); err != nil {
		return Call{}, err
	}
	if s.RefundHandler != d.RefundHandler {
		return Call{}, fault.Invalid("refundHandler", "%s is not the refund handler of this chain", Hex64(s.RefundHandler))
	}
	if s.Expiry() > now.Unix() {
		return Call{}, fault.New(fault.InvalidState, "the escrow has not expired yet")
	}
	return Call{To: d.EscrowManager.Address, Entry: entryRefund, Calldata: s.calldata().span(), Gas: refundGas(s.PayIn).plus(gasTimelock)}, nil
}

// RefundAuthorized builds the refund with the claimer's authorisation, which
// [Network.CheckRefund] accepted.
func (d Deployment) RefundAuthorized(s SwapData, auth chains.Auth) (Call, error) {
	if err := s.Validate(); err != nil {
		return Call{}, err
	}
	signature, err := parseSignature(auth.Signature)
	if err != nil {
		return Call{}, err
	}
	if auth.Timeout <= 0 {
		return Call{}, fault.Invalid("timeout", "is required")
	}
	return Call{To: d.EscrowManager.Address, Entry: entryCoopRefund, Calldata: s.calldata().span(signature...).uint(uint64(auth.Timeout)), Gas: refundGas(s.PayIn)}, nil
}

// Transfer builds a transfer of a token.
func Transfer(token, to Felt, amount *big.Int) (Call, error) {
	if !inBits(amount, 256) {
		return Call{}, fault.Invalid("amount", "must be a number from 0 to 2^256-1")
	}
	if to.IsZero() || !validAddress(to) {
		return Call{}, fault.Invalid("recipient", "is not an address")
	}
	return Call{To: token, Entry: entryTransfer, Calldata: felts{to}.u256(amount), Gas: gasTransfer}, nil
}
