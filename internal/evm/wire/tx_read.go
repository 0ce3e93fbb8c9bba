package wire

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
)

// ReadStep reads call data of the escrow manager as the step that it carries out, and the
// escrow that it is about. Step.Escrow is left to the caller. What was not read (call data
// in an unusual encoding, for example) shows when the call is made again and compared.
func (d Deployment) ReadStep(input []byte) (chains.Step, SwapData, error) {
	c, ok := readManagerCall(input)
	if !ok {
		return chains.Step{}, SwapData{}, fmt.Errorf("neither opens, claims nor refunds an escrow")
	}
	kind, known := d.KindOf(c.Escrow.ClaimHandler)
	if !known {
		return chains.Step{}, SwapData{}, fmt.Errorf("has the unknown claim handler %s", c.Escrow.ClaimHandler)
	}
	s, err := fromTuple(c.Escrow, kind, c.ExtraData)
	if err != nil {
		return chains.Step{}, SwapData{}, err
	}
	if c.Timeout != nil && !c.Timeout.IsInt64() {
		return chains.Step{}, SwapData{}, fmt.Errorf("has an authorization that ends at %s, must be a Unix time in seconds below 2^63", c.Timeout)
	}
	auth := func(prefix string) chains.Auth {
		a := chains.Auth{Prefix: prefix, Timeout: c.Timeout.Int64()}
		if len(c.Signature) > 0 {
			a.Signature = hexutil.Encode(c.Signature)
		}
		return a
	}
	switch c.Method {
	case "initialize":
		prefix := prefixInit
		if s.PayIn {
			prefix = prefixInitPayIn
		}
		return chains.Step{Kind: chains.StepInit, Auth: auth(prefix)}, s, nil
	case "cooperativeRefund":
		return chains.Step{Kind: chains.StepRefundAuth, Auth: auth(prefixRefund)}, s, nil
	case "refund":
		return chains.Step{Kind: chains.StepRefund}, s, nil
	}
	if kind != chains.HTLC || len(c.Witness) != 32 {
		return chains.Step{}, SwapData{}, fmt.Errorf("is a claim of kind %s, only claims with a secret can be read", kind)
	}
	return chains.Step{Kind: chains.StepClaimSecret, Preimage: chains.Preimage(c.Witness)}, s, nil
}

// MaxFee is the most that the network can charge for a transaction, in wei, without
// what rollups add for their data.
func (t *Transaction) MaxFee() *big.Int { return gasCost(t.Gas, t.FeeCap) }
