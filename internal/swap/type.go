package swap

import "fmt"

// Type is the type of a swap. The numbers are the network's and part of stored
// records (protocol: lp-protocol.md §1).
type Type int

const (
	FromBTC          Type = 0 // Bitcoin to a smart chain through an escrow; chains without vaults
	FromBTCLN        Type = 1 // Lightning to a smart chain, opened by the user; chains whose LPs cannot
	ToBTC            Type = 2 // smart chain to Bitcoin
	ToBTCLN          Type = 3 // smart chain to Lightning
	TrustedFromBTC   Type = 4 // trusted gas swap from Bitcoin
	TrustedFromBTCLN Type = 5 // trusted gas swap from Lightning
	SPVFromBTC       Type = 6 // Bitcoin to a smart chain through a vault
	FromBTCLNAuto    Type = 7 // Lightning to a smart chain, opened by the LP
)

var typeNames = [...]string{"FROM_BTC", "FROM_BTCLN", "TO_BTC", "TO_BTCLN", "TRUSTED_FROM_BTC", "TRUSTED_FROM_BTCLN", "SPV_VAULT_FROM_BTC", "FROM_BTCLN_AUTO"}

// Valid reports whether t is one of the eight types.
func (t Type) Valid() bool { return t >= 0 && int(t) < len(typeNames) }

// String returns the name used as swapType in the REST API.
func (t Type) String() string {
	if !t.Valid() {
		return fmt.Sprintf("Type(%d)", int(t))
	}
	return typeNames[t]
}

// Flows returns the flows of all supported swap types.
func Flows() []*Flow {
	all := []*Flow{newToBTC(), newToBTCLN(), newFromBTC(), newFromBTCLN(), newFromBTCLNAuto(), newSPVFromBTC(), newTrustedFromBTC(), newTrustedFromBTCLN()}
	for _, f := range all {
		f.onSettledFacts()
	}
	return all
}
