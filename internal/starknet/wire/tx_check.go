package wire

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/fault"
)

// maxSigned bounds how many transactions come back at once: an action has a deployment,
// some relay updates and a claim.
const maxSigned = 64

// Bounds of what a transaction may say, far above what the dearest one of the protocol
// costs at a hundred times the usual prices: all its bounds together below 2^80 fri
// (1.2 million STRK), of which only what blocks ask is ever paid, and its tip, which is
// always paid, below 2^62 fri (4.6 STRK).
const (
	maxTotalFeeBits = 80
	maxTotalTipBits = 62
)

// CheckedTx is a returned transaction that is one of those asked for.
type CheckedTx struct {
	*Transaction
	ID    string // as nodes write it
	Made  []Call // the calls in its calldata; empty for a deployment
	Calls []int  // for each of these, the index of the call that was asked for
}

// CheckSigned decodes what a wallet signed and demands that it is what was asked for
// (§20.14). Each transaction must be for this chain, of the signer's account (any, the
// same for all, if signer is zero) and carry calls in the order of calls: approvals and
// relay headers may be missing, every action must be there, and nothing may be added.
// Before them the account may be deployed. Of an action that carries a Bitcoin proof
// only what it does and for whom is compared here, and the proof by
// [Deployment.CheckProofs]. An approval may be for more than was asked. Relay headers
// may be others than those asked for, since the relay's tip moves between two polls.
//
// Nonces must follow each other, or a later transaction would wait for ever. Gas and
// fees are the wallet's choice within wide bounds. Whether the signature is the
// account's own is for the account to say.
//
// Errors have the code [fault.InvalidInput] and name signedTxs[i].
func (d Deployment) CheckSigned(n Network, signer Felt, calls []Call, signed []string) ([]CheckedTx, error) {
	return d.check(n, signer, calls, "signedTxs", signed)
}

// CheckUnsigned is [Deployment.CheckSigned] for what somebody else asks signer to sign: no
// transaction is signed yet, a deployment leaves the account's class to its wallet, and
// approvals are for exactly what was asked. Errors name txs[i].
func (d Deployment) CheckUnsigned(n Network, signer Felt, calls []Call, txs []string) ([]CheckedTx, error) {
	return d.check(n, signer, calls, unsignedTxs, txs)
}

const unsignedTxs = "txs"

func (d Deployment) check(n Network, signer Felt, calls []Call, name string, texts []string) ([]CheckedTx, error) {
	if len(texts) == 0 || len(texts) > maxSigned {
		return nil, fault.Invalid(name, "must have 1 to %d transactions", maxSigned)
	}
	unsigned := name == unsignedTxs
	checked := make([]CheckedTx, 0, len(texts))
	proven := map[int]bool{}
	next := 0
	for i, text := range texts {
		field := fmt.Sprintf("%s[%d]", name, i)
		t, err := ParseTransaction(text)
		if err != nil {
			return nil, fault.Invalid(field, "%w", err)
		}
		if i == 0 && signer.IsZero() {
			signer = t.Sender
		}
		if unsigned {
			if t.Signed {
				return nil, fault.Invalid(field, "is signed already")
			}
			t = t.Trial() // as it will be, but for the signature
			t.Deploy = Deploy{}
		}
		tx := CheckedTx{Transaction: t}
		if err := n.checkEnvelope(t, signer); err != nil {
			return nil, fault.Invalid(field, "%w", err)
		}
		if i > 0 {
			if before := checked[i-1].Nonce; t.Nonce != before+1 {
				return nil, fault.Invalid(field, "has nonce %d, must have %d to follow the previous transaction", t.Nonce, before+1)
			}
		}
		if t.Type == DeployAccount {
			err = checkDeploy(i, t, unsigned)
		} else if tx.Made, err = ParseExecuteCalldata(t.Calldata); err == nil && len(tx.Made) == 0 {
			err = errors.New("makes no call")
		}
		for _, made := range tx.Made {
			if err != nil {
				break
			}
			var at int
			if at, err = d.match(calls, next, made); err != nil {
				break
			}
			if unsigned && calls[at].Role == RoleApproval && !slices.Equal(made.Calldata, calls[at].Calldata) {
				err = fmt.Errorf("must approve exactly %s", calls[at].Allowance.Amount)
				break
			}
			tx.Calls = append(tx.Calls, at)
			next = at + 1
			if role := calls[at].Role; role == RoleRelay || role == RoleProofs { // the present tip may need fewer or more of them
				next = at
				proven[at] = proven[at] || role == RoleProofs
			}
		}
		if err == nil && !unsigned {
			tx.ID, err = t.ID()
		}
		if err != nil {
			return nil, fault.Invalid(field, "%w", err)
		}
		checked = append(checked, tx)
	}
	for i := next; i < len(calls); i++ {
		if calls[i].Required() && !proven[i] {
			return nil, fault.Invalid(name, "call %d of the action is missing", i)
		}
	}
	return checked, nil
}

// checkEnvelope checks what does not depend on the calls.
func (n Network) checkEnvelope(t *Transaction, signer Felt) error {
	fee := t.Bounds.MaxFee()
	tip := Number(FeltOf(t.Tip))
	tip.Mul(tip, Number(FeltOf(t.Bounds.L2.MaxAmount)))
	switch {
	case !t.Signed:
		return errUnsigned
	case t.ChainID != n.ChainIDFelt():
		return fmt.Errorf("is for chain %s, must be for chain %s (%s)", Hex(t.ChainID), Hex(n.ChainIDFelt()), n.ChainID)
	case signer.IsZero() || t.Sender != signer:
		return fmt.Errorf("is signed by the account %s, must be signed by %s", Hex64(t.Sender), Hex64(signer))
	case len(t.PaymasterData) != 0:
		return errors.New("must not have paymaster data")
	case len(t.AccountDeploymentData) != 0:
		return errors.New("must not have account deployment data")
	case t.NonceMode != DAModeL1 || t.FeeMode != DAModeL1:
		return errors.New("must have both data availability modes L1")
	case t.Bounds.L2.MaxAmount == 0 || t.Bounds.L2.MaxPrice.Sign() == 0:
		return errors.New("must offer a fee for L2 gas")
	case fee.BitLen() > maxTotalFeeBits || tip.BitLen() > maxTotalTipBits:
		return errors.New("offers an excessive fee")
	}
	return nil
}

// checkDeploy checks that a deployment makes the account that sends what follows.
// One that is not signed leaves it to the wallet how.
func checkDeploy(i int, t *Transaction, unsigned bool) error {
	switch {
	case i != 0 || t.Nonce != 0:
		return errors.New("deploys an account, which only its first transaction can")
	case unsigned:
		return nil
	case t.Deploy.ClassHash.IsZero():
		return errors.New("has no account class: the wallet must fill in the class of its account")
	case t.Deploy.Address() != t.Sender:
		return fmt.Errorf("deploys the account %s, must deploy %s", Hex64(t.Deploy.Address()), Hex64(t.Sender))
	}
	return nil
}

// match returns the first call from the given one on that a signed one is, stepping
// over optional calls only.
func (d Deployment) match(calls []Call, from int, made Call) (int, error) {
	var missing error
	for i := from; i < len(calls); i++ {
		err := matches(calls[i], made)
		if err == nil {
			return i, nil
		}
		if missing == nil || calls[i].Required() {
			missing = err // the action is what a person wants to hear about
		}
		if calls[i].Required() {
			break
		}
	}
	return 0, cmp.Or(missing, errors.New("is not part of the action"))
}

func matches(c, made Call) error {
	if made.To != c.To {
		return fmt.Errorf("calls %s, must call %s", Hex64(made.To), Hex64(c.To))
	}
	if c.Role == RoleRelay {
		if !isRelayEntry(made.Selector) {
			return errors.New("submits no Bitcoin headers to the relay")
		}
		return checkHeaders(made.Selector, made.Calldata)
	}
	if made.Selector != c.selector() {
		return fmt.Errorf("calls another entry point of %s than %s", Hex64(c.To), c.Entry)
	}
	switch c.Role {
	case RoleApproval:
		return matchApproval(c.Allowance, made.Calldata)
	case RoleProof, RoleProofs:
		if len(made.Calldata) < len(c.Calldata) || !slices.Equal(made.Calldata[:len(c.Calldata)], c.Calldata) {
			return errors.New("calls the contract differently than the action requires")
		}
		return nil
	}
	if !slices.Equal(made.Calldata, c.Calldata) {
		return errors.New("calls the contract differently than the action requires")
	}
	return nil
}

// matchApproval accepts an approval for the very spender of at least the amount:
// wallets let people raise it.
func matchApproval(need *Allowance, calldata []Felt) error {
	if need == nil {
		return errors.New("is not part of the action")
	}
	r := &reader{rest: calldata}
	spender, amount := r.felt(), r.u256()
	switch err := r.end(); {
	case err != nil:
		return fmt.Errorf("is not an approval: %w", err)
	case spender != need.Spender:
		return fmt.Errorf("must approve the spender %s", Hex64(need.Spender))
	case amount.Cmp(need.Amount) < 0:
		return fmt.Errorf("approves %s, must approve at least %s", amount, need.Amount)
	}
	return nil
}

// IDs returns the ids of signed transactions without judging them, to recognise a
// submission that is repeated.
func IDs(signed []string) ([]string, error) {
	if len(signed) > maxSigned {
		return nil, fault.Invalid("signedTxs", "must have at most %d transactions", maxSigned)
	}
	ids := make([]string, len(signed))
	for i, text := range signed {
		t, err := ParseTransaction(text)
		if err == nil {
			ids[i], err = t.ID()
		}
		if err != nil {
			return nil, fault.Invalid(fmt.Sprintf("signedTxs[%d]", i), "%w", err)
		}
	}
	return ids, nil
}
