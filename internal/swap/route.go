package swap

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/tokens"
)

// Route returns the swap type for a pair of tokens. info returns a smart
// chain's constants by its id. The chain's default contracts decide, not what
// LPs offer. A pair that cannot be swapped is refused with the code
// fault.Unsupported, which names a token (protocol: swap-flows-spv-and-core.md C4).
func Route(src, dst tokens.Token, info func(chain string) (chains.Info, bool)) (Type, error) {
	bitcoin := func(t tokens.Token) bool { return t.Chain == tokens.Bitcoin || t.Chain == tokens.Lightning }
	smart, other := src, dst
	if bitcoin(src) {
		smart, other = dst, src
	}
	if bitcoin(smart) || !bitcoin(other) {
		return 0, fault.At("dstToken", fault.New(fault.Unsupported, "%s cannot be swapped for %s: one of them must be bitcoin on Bitcoin or Lightning, the other a token on a smart chain", src.ID(), dst.ID()))
	}
	chain, ok := info(smart.Chain)
	if !ok {
		field := "dstToken"
		if smart == src {
			field = "srcToken"
		}
		return 0, fault.At(field, fault.New(fault.Unsupported, "chain %s is not supported by this service", smart.Chain))
	}
	lightning := other.Chain == tokens.Lightning
	switch {
	case smart == src && lightning:
		return ToBTCLN, nil
	case smart == src:
		return ToBTC, nil
	case lightning:
		return Type(lp.FromLightning(chain)), nil
	}
	return Type(lp.FromBitcoin(chain)), nil
}

// NeedsSourceWallet reports whether the user signs with a wallet on the source
// side: a smart chain's, or one that can sign a PSBT.
func (t Type) NeedsSourceWallet() bool { return t == ToBTC || t == ToBTCLN || t == SPVFromBTC }

// NeedsDestinationWallet reports whether the user must sign on the destination
// chain to get paid.
func (t Type) NeedsDestinationWallet() bool { return t == FromBTC || t == FromBTCLN }

// DropsGas reports whether native tokens can be bought along with the swap.
func (t Type) DropsGas() bool { return t == SPVFromBTC || t == FromBTCLNAuto }
