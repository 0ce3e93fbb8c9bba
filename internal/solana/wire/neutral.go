package wire

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// maxSigned bounds how many transactions come back at once: a claim by Bitcoin proof
// of the largest transaction, which takes 106 to write, and some relay updates.
const maxSigned = 128

// maxComputeFee bounds what a wallet offers for the compute units of one transaction,
// in lamports: 0.1 SOL, some hundred times the dearest of what is usual.
const maxComputeFee = 100_000_000

// Expect describes the escrow that is agreed on. Errors have the code
// [fault.InvalidInput] and name the member of spec.
func (p Programs) Expect(spec chains.Spec) (*SwapData, error) {
	if spec.Condition.Kind != spec.Kind {
		return nil, fault.Invalid("condition", "is of kind %s, the escrow of kind %s", spec.Condition.Kind, spec.Kind)
	}
	claim, err := ClaimHashOf(spec.Condition)
	if err != nil {
		return nil, fault.Invalid("condition", "%w", err)
	}
	r := specReader{}
	s := Spec{Kind: spec.Kind, Claim: claim, PayIn: spec.PayIn, PayOut: spec.PayOut,
		Offerer: r.key("offerer", spec.Offerer), Claimer: r.key("claimer", spec.Claimer), Token: r.key("token", spec.Token), DepositToken: WSOL,
		Amount: r.number("amount", spec.Amount), Sequence: r.number("sequence", spec.Sequence),
		SecurityDeposit: r.number("securityDeposit", spec.SecurityDeposit), ClaimerBounty: r.number("claimerBounty", spec.ClaimerBounty)}
	if spec.DepositToken != "" {
		s.DepositToken = r.key("depositToken", spec.DepositToken)
	}
	if spec.Amount == nil {
		r.fail("amount", "is required")
	}
	if spec.Offerer == spec.Claimer {
		r.fail("claimer", "is the offerer too: the parties must be two")
	}
	if spec.Expiry < 0 {
		r.fail("expiry", "must be a Unix time in seconds, not %d", spec.Expiry)
	}
	if r.err != nil {
		return nil, r.err
	}
	s.Expiry = uint64(spec.Expiry)
	if spec.Hints && spec.Kind != chains.HTLC {
		hash := rawtx.TxoHash(int64(spec.Condition.Sats), spec.Condition.Script)
		s.TxoHash = &hash
	}
	d, err := p.NewSwapData(s)
	if err != nil {
		return nil, fault.Invalid("depositToken", "%w", err)
	}
	return d, p.Check(d)
}

// specReader turns the neutral members of a spec into the program's, and keeps the
// first error.
type specReader struct{ err error }

func (r *specReader) fail(field, format string, args ...any) {
	if r.err == nil {
		r.err = fault.Invalid(field, format, args...)
	}
}

func (r *specReader) key(field, text string) Key {
	k, err := ParseKey(text)
	if err != nil {
		r.fail(field, "%w", err)
	}
	return k
}

// number reads an amount, of which nil is 0, that fits the 64 bits of the program.
func (r *specReader) number(field string, n *big.Int) uint64 {
	if n == nil {
		return 0
	}
	if !n.IsUint64() {
		r.fail(field, "%s is not below 2^64", n)
		return 0
	}
	return n.Uint64()
}

// Escrow returns the neutral view of an escrow, with its JSON form in Data.
func (d *SwapData) Escrow() (chains.Escrow, error) {
	expiry, err := d.ExpiryTime()
	if err != nil {
		return chains.Escrow{}, fault.Invalid("expiry", "%w", err)
	}
	data, err := json.Marshal(d)
	if err != nil {
		return chains.Escrow{}, err
	}
	hash := d.EscrowHash()
	n := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
	return chains.Escrow{Version: d.Version, Kind: d.Kind, Offerer: d.Offerer.String(), Claimer: d.Claimer.String(), Token: d.Token.String(),
		Amount: n(d.Amount), PayIn: d.PayIn, PayOut: d.PayOut, ClaimHash: d.ClaimHash().Bytes(), Hash: hash[:], Sequence: n(d.Sequence), Expiry: expiry,
		SecurityDeposit: n(d.SecurityDeposit), ClaimerBounty: n(d.ClaimerBounty), DepositToken: WSOL.String(), Data: data}, nil
}

// SwapDataOf reads an escrow back out of its neutral view, of which only Data counts,
// and demands that it is for this program.
func (p Programs) SwapDataOf(e chains.Escrow) (*SwapData, error) {
	d, err := ParseSwapData(e.Data)
	if err != nil {
		return nil, err
	}
	return d, p.Check(d)
}

// Keys that are made for the transactions of one swap follow from its seed: two
// builds of one plan have the same.

// DataKeys is how many data accounts a signer can choose from: whoever has seen the key
// of one, or its address, can make it useless.
const DataKeys = 4

// ClaimDataKey is the n-th key of a data account for a claim by Bitcoin proof. Each
// signer has its own: the account belongs to who created it.
func ClaimDataKey(seed chains.Seed, txid bitcoin.Hash, signer Key, n int) SecretKey {
	h := sha256.New()
	h.Write(txid[:])
	h.Write(signer[:])
	h.Write([]byte{byte(n)})
	return DataKey(seed[:], [32]byte(h.Sum(nil)))
}

// GuardKey is the key that signs a refund beside the wallet.
func GuardKey(seed chains.Seed, auth RefundAuth) SecretKey {
	return DataKey(seed[:], sha256.Sum256(auth.Signature[:]))
}

// wants returns the transactions of a plan as they must come back, with the index of
// the step that each belongs to. signer is who signs them, n which data account is used.
func (p Programs) wants(plan chains.Plan, signer Key, n int) (wants []WantTx, steps []int, err error) {
	for i, step := range plan.Steps {
		more, err := p.wantStep(plan, step, signer, n)
		if err != nil {
			return nil, nil, fmt.Errorf("step %d (%s): %w", i, step.Kind, err)
		}
		for range more {
			steps = append(steps, i)
		}
		wants = append(wants, more...)
	}
	return wants, steps, nil
}

func (p Programs) wantStep(plan chains.Plan, step chains.Step, signer Key, n int) ([]WantTx, error) {
	d, err := p.SwapDataOf(step.Escrow)
	if err != nil {
		return nil, err
	}
	one := func(w WantTx, err error) ([]WantTx, error) { return []WantTx{w}, err }
	switch step.Kind {
	case chains.StepInit:
		if step.Auth.Timeout < 0 {
			return nil, fmt.Errorf("the authorization's timeout must be a Unix time in seconds, not %d", step.Auth.Timeout)
		}
		auth := InitAuth{Timeout: uint64(step.Auth.Timeout)}
		if p.NeedsAuth(d, signer) {
			if auth, err = ParseInitAuth(step.Auth); err != nil {
				return nil, err
			}
		}
		var f FeeRate
		if plan.FeeRate != "" || p.NeedsAuth(d, signer) { // else it is the sender's affair
			if f, err = ParseFeeRate(plan.FeeRate); err != nil {
				return nil, err
			}
		}
		return p.wantOpen(d, signer, auth, f, maxComputeFee)
	case chains.StepClaimSecret:
		return one(p.wantClaim(d, signer, step.Preimage, maxComputeFee))
	case chains.StepClaimBitcoin:
		if step.Payment == nil {
			return nil, fmt.Errorf("the payment is missing")
		}
		stripped, err := strip(step.Payment.Raw)
		if err != nil {
			return nil, err
		}
		pay := wantedPayment{TxID: step.Payment.TxID, Block: step.Payment.Block, Vout: step.Payment.Vout, Stripped: stripped, Confirmations: step.Payment.Confirmations}
		return p.wantBitcoinClaim(d, signer, pay, ClaimDataKey(plan.Seed, pay.TxID, signer, n).PublicKey(), maxComputeFee)
	case chains.StepRefund:
		return one(p.wantRefund(d, signer, nil, nil, maxComputeFee), nil)
	case chains.StepRefundAuth:
		sig, err := parseSignature(step.Auth.Signature)
		if err != nil {
			return nil, err
		}
		auth := RefundAuth{uint64(step.Auth.Timeout), sig}
		guard := GuardKey(plan.Seed, auth).PublicKey()
		return one(p.wantRefund(d, signer, &auth, &guard, maxComputeFee), nil)
	}
	return nil, fmt.Errorf("this kind of step does not exist on Solana")
}

// CheckSigned decodes what a wallet signed and demands that it is what a plan asks
// for, signed by the plan's signer and, where there is another, by the other party.
// What the chain could have made unnecessary may be missing, nothing may be added
// (§21). Errors have the code [fault.InvalidInput] and name signedTxs[i].
func (p Programs) CheckSigned(plan chains.Plan, signed []string) ([]chains.Signed, error) {
	txs, err := parseAll(signed)
	if err != nil {
		return nil, err
	}
	signer := txs[0].Payer
	if plan.Signer != "" {
		if signer, err = ParseKey(plan.Signer); err != nil {
			return nil, fmt.Errorf("the plan's signer: %w", err)
		}
	}
	for i, tx := range txs {
		if err := tx.Verify(); err != nil {
			return nil, fault.Invalid(field(i), "%w", err)
		}
	}
	is, steps, at, err := p.match(plan, signer, txs)
	if err != nil && is == nil && steps == nil {
		return nil, err
	}
	if err != nil {
		if at == len(txs) {
			return nil, fault.Invalid("signedTxs", "%w", err)
		}
		return nil, fault.Invalid(field(at), "%w", err)
	}
	out := make([]chains.Signed, len(txs))
	for i, tx := range txs {
		id, _ := tx.ID()
		step := steps[is[i]]
		out[i] = chains.Signed{ID: id.String(), Raw: tx.Raw, From: tx.Payer.String(), Step: step, Reveals: plan.Steps[step].Kind == chains.StepClaimSecret, MaxFee: tx.Cost()}
	}
	return out, nil
}

// match pairs transactions with what a plan asks for, with whichever data account.
// Without steps the error is about the plan itself.
func (p Programs) match(plan chains.Plan, signer Key, txs []*Parsed) (is, steps []int, at int, err error) {
	tries := 1
	if slices.ContainsFunc(plan.Steps, func(s chains.Step) bool { return s.Kind == chains.StepClaimBitcoin }) {
		tries = DataKeys
	}
	var first error
	for n := range tries {
		wants, of, err := p.wants(plan, signer, n)
		if err != nil {
			return nil, nil, 0, err
		}
		is, place, err := matchAll(wants, txs)
		if err == nil {
			return is, of, 0, nil
		}
		if first == nil || place > at {
			first, at, steps = err, place, of
		}
	}
	return nil, steps, at, first
}

func field(i int) string { return fmt.Sprintf("signedTxs[%d]", i) }

func parseAll(signed []string) ([]*Parsed, error) {
	if len(signed) == 0 || len(signed) > maxSigned {
		return nil, fault.Invalid("signedTxs", "must be 1 to %d transactions", maxSigned)
	}
	txs := make([]*Parsed, len(signed))
	for i, text := range signed {
		tx, err := parseTxHex(text)
		if err != nil {
			return nil, fault.Invalid(field(i), "%w", err)
		}
		if slices.ContainsFunc(txs[:i], func(t *Parsed) bool { return string(t.Raw) == string(tx.Raw) }) {
			return nil, fault.Invalid(field(i), "is the same transaction as an earlier one")
		}
		txs[i] = tx
	}
	return txs, nil
}

// IDs returns the ids of signed transactions without judging them.
func IDs(signed []string) ([]string, error) {
	txs, err := parseAll(signed)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(txs))
	for i, tx := range txs {
		id, ok := tx.ID()
		if !ok {
			return nil, fault.Invalid(field(i), "is not signed by %s, who pays for it", tx.Payer)
		}
		ids[i] = id.String()
	}
	return ids, nil
}
