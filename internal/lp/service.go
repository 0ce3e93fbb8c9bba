package lp

import (
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/chains"
)

// Service is a kind of swap that an LP offers. The numbers are the network's
// swap types (protocol: lp-protocol.md §1).
type Service int

const (
	FromBTC          Service = 0 // Bitcoin to a smart chain through an escrow; legacy
	FromBTCLN        Service = 1 // Lightning to a smart chain, the user opens the escrow; legacy
	ToBTC            Service = 2 // smart chain to Bitcoin
	ToBTCLN          Service = 3 // smart chain to Lightning
	TrustedFromBTC   Service = 4 // trusted gas swap from Bitcoin
	TrustedFromBTCLN Service = 5 // trusted gas swap from Lightning
	SPVFromBTC       Service = 6 // Bitcoin to a smart chain through a vault
	FromBTCLNAuto    Service = 7 // Lightning to a smart chain, the LP opens the escrow
)

// services lists, by number, how a service is called in /info and where it lives.
var services = [...]struct{ key, path string }{
	FromBTC:          {"FROM_BTC", "/frombtc"},
	FromBTCLN:        {"FROM_BTCLN", "/frombtcln"},
	ToBTC:            {"TO_BTC", "/tobtc"},
	ToBTCLN:          {"TO_BTCLN", "/tobtcln"},
	TrustedFromBTC:   {"FROM_BTC_TRUSTED", "/frombtc_trusted"},
	TrustedFromBTCLN: {"FROM_BTCLN_TRUSTED", "/lnforgas"},
	SPVFromBTC:       {"FROM_BTC_SPV", "/frombtc_spv"},
	FromBTCLNAuto:    {"FROM_BTCLN_AUTO", "/frombtcln_auto"},
}

// Valid reports whether s is one of the eight services.
func (s Service) Valid() bool { return s >= 0 && int(s) < len(services) }

// String returns the name that /info uses.
func (s Service) String() string {
	if !s.Valid() {
		return fmt.Sprintf("Service(%d)", int(s))
	}
	return services[s].key
}

// Path returns the path of the service's endpoints below an LP's base URL, with
// a leading slash: what a stored swap's URL ends in. It is empty for an unknown
// service.
func (s Service) Path() string {
	if !s.Valid() {
		return ""
	}
	return services[s].path
}

// ToBitcoin reports whether the service pays out on Bitcoin or Lightning. The
// bitcoin side is the output then, else the input.
func (s Service) ToBitcoin() bool { return s == ToBTC || s == ToBTCLN }

// serviceNamed returns the service with the name that /info uses. An unknown
// name yields no service (protocol: lp-protocol.md §9 no. 16).
func serviceNamed(key string) (Service, bool) {
	for s, row := range services {
		if row.key == key {
			return Service(s), true
		}
	}
	return 0, false
}

// Pair is a service between bitcoin and one token of a smart chain: what a quote
// is about. The zero value is everything that an LP does.
type Pair struct {
	Service      Service
	Chain, Token string
}

// FromLightning returns the service by which a chain is reached from Lightning.
// What LPs offer does not matter (protocol: swap-flows-spv-and-core.md C4).
func FromLightning(info chains.Info) Service {
	if v, ok := Version(info, info.Default); ok && v.LPInit {
		return FromBTCLNAuto
	}
	return FromBTCLN
}

// FromBitcoin returns the service by which a chain is reached from Bitcoin.
func FromBitcoin(info chains.Info) Service {
	if v, ok := Version(info, info.Default); ok && v.Vaults {
		return SPVFromBTC
	}
	return FromBTC
}

// Version returns the description of a contract version of a chain.
func Version(info chains.Info, name string) (chains.Version, bool) {
	i := slices.IndexFunc(info.Versions, func(v chains.Version) bool { return v.Name == name })
	if i < 0 {
		return chains.Version{}, false
	}
	return info.Versions[i], true
}
