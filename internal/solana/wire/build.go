package wire

import (
	"errors"
	"fmt"
)

// errNoATA says that the token account which is paid to does not exist and may not
// be created.
var errNoATA = errors.New("the token account that is paid to does not exist")

// ToATA is what is known of the token account that a transaction pays to.
type ToATA struct {
	Missing bool // it does not exist, or may not exist
	Create  bool // and may be created
}

// ensure adds the creation of a token account to an action. That it may exist by the
// time the transaction is executed does no harm.
func (t ToATA) ensure(a *Action, payer, owner, mint Key, named *Key) error {
	if !t.Missing {
		return nil
	}
	if !t.Create {
		return errNoATA
	}
	if named != nil && *named != ATA(owner, mint) {
		return fmt.Errorf("the token account %s is not %s's own, %s: it cannot be created", named, owner, ATA(owner, mint))
	}
	a.Instructions = append(a.Instructions, EnsureATA(payer, owner, mint))
	a.Units += unitsATA
	return nil
}

// do adds instructions to an action.
func (a *Action) do(units uint32, ixs ...Instruction) {
	a.Instructions = append(a.Instructions, ixs...)
	a.Units += units
}

// SignedBlock is the block whose hash an LP signed.
type SignedBlock struct {
	Hash   Hash
	Height uint64 // block height, which is less than its slot
}

// OpenTxs makes the transactions that open an escrow: those that wrap SOL where the
// signed one does not, and the one that the LP authorised, with its signature and the
// hash of its block. Where no authorisation is needed only its timeout counts. wsol is
// the offerer's WSOL balance, nil if it has no such account; it counts only if the token
// is WSOL and the fee rate says nothing of it (§15).
func (p Programs) OpenTxs(d *SwapData, sender Key, auth InitAuth, f FeeRate, block SignedBlock, wsol *uint64) ([]*Tx, error) {
	lp, err := p.Counterparty(d, sender)
	if err != nil {
		return nil, err
	}
	tx, err := p.InitTx(d, sender, auth.Timeout, f)
	if err != nil {
		return nil, err
	}
	txs := []*Tx{tx}
	if d.PayIn && d.Token == WSOL && f.Wrap == nil {
		have := Wrap{Create: wsol == nil}
		if wsol != nil {
			have.Balance = *wsol
		}
		if have.Balance < d.Amount {
			var a Action
			a.Instructions, a.Units = wrapInstructions(d.Offerer, d.Amount-have.Balance, have.Create, EnsureATA)
			wrap, err := a.Tx(d.Offerer, f)
			if err != nil {
				return nil, err
			}
			txs = []*Tx{wrap, tx}
		}
	}
	if !p.NeedsAuth(d, sender) {
		return txs, nil
	}
	for _, t := range txs {
		t.Blockhash, t.LastValid = block.Hash, block.Height+TxSlots
	}
	return txs, tx.addSignature(lp, auth.Signature)
}

// ClaimTx makes the transaction that claims a hash lock by its secret. What is paid
// out in WSOL to the signer itself is unwrapped, with all that its WSOL account held
// before.
func (p Programs) ClaimTx(d *SwapData, signer Key, secret [32]byte, f FeeRate, to ToATA) (*Tx, error) {
	var a Action
	if d.PayOut {
		if err := to.ensure(&a, signer, d.Claimer, d.Token, d.ClaimerATA); err != nil {
			return nil, err
		}
	}
	ix, err := p.ClaimInstruction(d, signer, &secret, nil)
	if err != nil {
		return nil, err
	}
	a.do(d.claimUnits(), ix)
	if d.unwraps(signer) {
		a.do(unitsUnwrap, Unwrap(signer))
	}
	return a.Tx(signer, f)
}

// unwraps says that a claim by signer is followed by unwrapping what it pays.
func (d *SwapData) unwraps(signer Key) bool {
	return d.PayOut && d.Token == WSOL && d.Claimer == signer
}

// RefundTx makes the transaction that takes an escrow back: after its expiry, or
// early with the claimer's authorisation. guard is then a key made for this
// transaction, which signs it too, so that no wallet adds instructions to it; it may
// be nil. to is what is known of the offerer's token account.
func (p Programs) RefundTx(d *SwapData, signer Key, auth *RefundAuth, guard SecretKey, f FeeRate, to ToATA) (*Tx, error) {
	if p.Version == V1 && signer != d.Offerer {
		return nil, fmt.Errorf("only the offerer (%s) can take an escrow of v1 back, not %s", d.Offerer, signer)
	}
	var a Action
	var timeout uint64
	if auth != nil {
		verify := auth.VerifyInstruction(d)
		a.First, timeout = &verify, auth.Timeout
	}
	if d.PayIn {
		if err := to.ensure(&a, signer, d.Offerer, d.Token, nil); err != nil {
			return nil, err
		}
	}
	ix := p.RefundInstruction(d, timeout)
	if guard != nil {
		ix.Accounts = append(ix.Accounts, Account{PublicKey: guard.PublicKey(), IsSigner: true})
	}
	a.do(d.refundUnits(), ix)
	if d.PayIn && d.Token == WSOL && d.Offerer == signer {
		a.do(unitsUnwrap, Unwrap(signer))
	}
	tx, err := a.Tx(signer, f)
	if err == nil && guard != nil {
		tx.Signers = []SecretKey{guard}
	}
	return tx, err
}
