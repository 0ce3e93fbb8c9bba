package starknet

import (
	"context"
	"fmt"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// calls returns the contract calls of a step by transaction: what a transaction calls is
// executed together or not at all. With proofs set they are complete; without, calls
// that carry a Bitcoin proof hold only the calldata before the proof, and no request is
// sent.
func (k *contract) calls(ctx context.Context, step chains.Step, signer wire.Felt, proofs bool) ([][]wire.Call, error) {
	if step.Kind == chains.StepVaultClaim {
		if step.Vault == nil {
			return nil, fault.Invalid("vault", "is required")
		}
		if proofs {
			return k.vaultClaims(ctx, *step.Vault)
		}
		ref, err := wire.VaultRefOf(chains.VaultID{Owner: step.Vault.Owner, ID: step.Vault.ID})
		if err != nil {
			return nil, err
		}
		return [][]wire.Call{k.VaultClaimPattern(ref)}, nil
	}
	s, err := wire.SwapDataOf(step.Escrow)
	if err != nil {
		return nil, err
	}
	if err := k.CheckSwapData(s); err != nil {
		return nil, err
	}
	one := func(c wire.Call, err error) ([][]wire.Call, error) { return [][]wire.Call{{c}}, err }
	switch step.Kind {
	case chains.StepInit:
		calls, err := k.Init(s, signer, step.Auth)
		return [][]wire.Call{calls}, err
	case chains.StepClaimSecret:
		return one(k.ClaimBySecret(s, step.Preimage))
	case chains.StepClaimBitcoin:
		if !proofs {
			calls, err := k.BitcoinClaimPattern(s)
			return [][]wire.Call{calls}, err
		}
		if step.Payment == nil {
			return nil, fault.Invalid("payment", "is required")
		}
		return k.bitcoinClaim(ctx, s, *step.Payment)
	case chains.StepRefund:
		return one(k.Refund(s, k.chain.env.Now()))
	case chains.StepRefundAuth:
		return one(k.RefundAuthorized(s, step.Auth))
	}
	return nil, fault.New(fault.Unsupported, "unknown step %d", step.Kind)
}

func at(step chains.Step, err error) error { return fmt.Errorf("%s: %w", step.Kind, err) }
