package swap

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/swapper-go/swapper/chains"
)

// newToBTCLN returns the type TO_BTCLN: the user opens an escrow on a smart
// chain, an LP pays a Lightning invoice and claims by its preimage.
func newToBTCLN() *Flow {
	return outgoingFlow(outgoing{
		typ:   ToBTCLN,
		chain: onLightning,
		// A recovered swap that does not know its invoice is known by its escrow.
		id: func(r *Record) string {
			if r.Lightning != nil && r.Lightning.Hash != "" {
				return r.Lightning.Hash
			}
			return hex.EncodeToString(r.Escrow.Real.Hash)
		},
		proof: func(in Decision) *PayoutAsk {
			if len(in.Obs.LP.Value.Secret) != len(chains.Preimage{}) {
				return nil
			}
			return &PayoutAsk{Escrow: *in.R.Escrow.Real, Secret: in.Obs.LP.Value.Secret}
		},
		keep:      func(in Decision, next *Record) { _ = next.KeepPreimage(in.Obs.LP.Value.Secret) },
		fromChain: func(result []byte, next *Record) { _ = next.KeepPreimage(result) },
		output: func(r *Record) string {
			if r.Lightning == nil {
				return ""
			}
			return r.Lightning.Hash
		},
	})
}

// KeepPreimage stores a preimage if it matches the payment hash, and reports
// whether it does. A recovered swap without a hash takes over the preimage's.
func (r *Record) KeepPreimage(preimage []byte) bool {
	if len(preimage) != len(chains.Preimage{}) {
		return false
	}
	sum := sha256.Sum256(preimage)
	hash := hex.EncodeToString(sum[:])
	if r.Lightning == nil {
		r.Lightning = &LightningPart{}
	}
	switch r.Lightning.Hash {
	case "":
		r.Lightning.Hash = hash
	case hash:
	default:
		return false
	}
	r.Lightning.Preimage = chains.Preimage(preimage)
	return true
}
