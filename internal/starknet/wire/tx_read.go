package wire

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/swapper-go/swapper/chains"
)

// ReadStep reads a call of the escrow manager as the step that it carries out, and the
// escrow that it is about. Step.Escrow is left to the caller. What was not read (published
// bytes of an unusual form, for example) shows when the call is made again and compared.
func (d Deployment) ReadStep(c Call) (chains.Step, SwapData, error) {
	none := func(err error) (chains.Step, SwapData, error) { return chains.Step{}, SwapData{}, err }
	auth := func(prefix string, signature []Felt, timeout uint64) (a chains.Auth, err error) {
		if timeout > math.MaxInt64 {
			return a, fmt.Errorf("has an authorization that ends at %d, must be a Unix time in seconds below 2^63", timeout)
		}
		a = chains.Auth{Prefix: prefix, Timeout: int64(timeout)}
		if len(signature) > 0 {
			a.Signature = FormatSignature(signature)
		}
		return a, nil
	}
	if c.selector() == Selector(entryInitialize) {
		s, signature, timeout, err := d.readOpening(c.Calldata)
		if err != nil {
			return none(err)
		}
		prefix := prefixInit
		if s.PayIn {
			prefix = prefixInitPayIn
		}
		a, err := auth(prefix, signature, timeout)
		return chains.Step{Kind: chains.StepInit, Auth: a}, s, err
	}
	r := &reader{rest: c.Calldata}
	s := d.readSwapData(r)
	step := chains.Step{Kind: chains.StepRefund}
	switch c.selector() {
	case Selector(entryRefund):
		r.span()
	case Selector(entryCoopRefund):
		signature, timeout := r.span(), r.uint(64)
		a, err := auth(prefixRefund, signature, timeout)
		if err != nil {
			return none(err)
		}
		step.Kind, step.Auth = chains.StepRefundAuth, a
	case Selector(entryClaim):
		secret, ok := bytesOfWords(r.span())
		if s.Kind != chains.HTLC || !ok || len(secret) != 32 {
			return none(fmt.Errorf("is a claim of kind %s, only claims with a secret can be read", s.Kind))
		}
		step.Kind, step.Preimage = chains.StepClaimSecret, chains.Preimage(secret)
	default:
		return none(errors.New("neither opens, claims nor refunds an escrow"))
	}
	if err := r.end(); err != nil {
		return none(err)
	}
	return step, s, s.Validate()
}

// MaxFee is the most that the network can charge for a transaction, in fri.
func (t *Transaction) MaxFee() *big.Int {
	tip := new(big.Int).SetUint64(t.Tip)
	tip.Mul(tip, new(big.Int).SetUint64(t.Bounds.L2.MaxAmount))
	return tip.Add(tip, t.Bounds.MaxFee())
}
