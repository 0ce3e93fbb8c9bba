package starknet

import (
	"context"
	"encoding/json"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/read"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// contract is one deployment as a [chains.VaultContract].
type contract struct {
	chain *chain
	wire.Deployment
	reader *read.Reader
}

var (
	_ chains.VaultList    = (*contract)(nil)
	_ chains.PublicReader = (*contract)(nil)
)

func (k *contract) Version() string { return k.Deployment.Version }

func (k *contract) Expect(spec chains.Spec) (chains.Escrow, error) {
	s, err := k.Deployment.Expect(spec)
	if err != nil {
		return chains.Escrow{}, err
	}
	return k.Deployment.Escrow(s)
}

// Decode also demands the configured handlers, whatever kind the data claims to be.
func (k *contract) Decode(data json.RawMessage) (chains.Escrow, error) {
	return k.checked(wire.ParseSwapData(data))
}

// ReadPublic implements [chains.PublicReader].
func (k *contract) ReadPublic(data json.RawMessage) (chains.Escrow, error) {
	return k.checked(k.ParsePublic(data))
}

// checked is the neutral view of an escrow that was read, if it is one of this deployment.
func (k *contract) checked(s wire.SwapData, err error) (chains.Escrow, error) {
	if err == nil {
		err = k.CheckSwapData(s)
	}
	if err != nil {
		return chains.Escrow{}, err
	}
	return k.Deployment.Escrow(s)
}

func (k *contract) Diff(want, got chains.Escrow, may chains.Tolerance) error {
	a, err := wire.SwapDataOf(want)
	if err != nil {
		return err
	}
	b, err := wire.SwapDataOf(got)
	if err != nil {
		return &chains.DiffError{Member: "data", Want: "escrow data", Got: err.Error()}
	}
	return wire.Diff(a, b, may)
}

func (k *contract) ClaimHash(c chains.Condition) ([]byte, error) {
	h, err := k.Deployment.ClaimHash(c)
	b := h.Bytes()
	return b[:], err
}

func (k *contract) ClaimHashText(hash []byte) string {
	f, err := wire.FeltOfBytes(hash)
	if err != nil {
		return ""
	}
	return wire.ClaimHashText(f)
}

func (k *contract) Public(e chains.Escrow) (json.RawMessage, error) {
	s, err := wire.SwapDataOf(e)
	if err != nil {
		return nil, err
	}
	return s.Public()
}

// IDs takes no round trip.
func (k *contract) IDs(signed []string) ([]string, error) { return wire.IDs(signed) }

// Check takes no round trip. What a wallet may change is gas and its prices, within wide
// bounds, and a tip; its signature is judged by [contract.Admit], which asks the account.
func (k *contract) Check(plan chains.Plan, signed []string) ([]chains.Signed, error) {
	var signer wire.Felt
	if plan.Signer != "" {
		var err error
		if signer, err = account("signer", plan.Signer); err != nil {
			return nil, err
		}
	} else if len(signed) > 0 {
		tx, err := wire.ParseTransaction(signed[0])
		if err != nil {
			return nil, fault.Invalid(fieldOf(0), "%w", err)
		}
		signer = tx.Sender
	}
	var calls []wire.Call
	var steps []int
	for i, step := range plan.Steps {
		txs, err := k.calls(context.Background(), step, signer, false)
		if err != nil {
			return nil, at(step, err)
		}
		for _, tx := range txs {
			calls = append(calls, tx...)
			for range tx {
				steps = append(steps, i)
			}
		}
	}
	checked, err := k.CheckSigned(k.chain.net, signer, calls, signed)
	if err != nil {
		return nil, err
	}
	if err := replacedBy(plan, signer).check(plan, checked); err != nil {
		return nil, err
	}
	if err := k.CheckProofs(plan, calls, steps, checked); err != nil {
		return nil, err
	}
	all := make([]chains.Signed, len(checked))
	for i, tx := range checked {
		s := chains.Signed{ID: tx.ID, Raw: []byte(tx.String()), From: wire.Hex64(tx.Sender), Nonce: tx.Nonce, MaxFee: tx.MaxFee()}
		for n, call := range tx.Calls {
			// Together, the claim would show its preimage while the escrow is not open yet.
			if n > 0 && steps[call] != s.Step {
				return nil, fault.Invalid(fieldOf(i), "carries out two steps of the action, each of which must have its own transaction")
			}
			s.Step, s.Reveals = steps[call], s.Reveals || calls[call].Reveals
		}
		all[i] = s
	}
	return all, nil
}
