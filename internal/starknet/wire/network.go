package wire

import (
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// DefaultVersion is the contract version that an LP means when it names none. It is the
// only one.
const DefaultVersion = "v1"

// Chain ids, as nodes and wallets name them.
const (
	Mainnet = "SN_MAIN"
	Sepolia = "SN_SEPOLIA"
)

// STRK is the native token: fees are paid in it.
var STRK = MustFelt("0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d")

// Contract is one deployed contract and the height from which its events can exist.
type Contract struct {
	Address Felt
	Height  uint64
}

// Deployment is one version of the swap contracts on one network. Everything an LP
// says is compared with it: no address outside of it is ever trusted.
type Deployment struct {
	Version       string // as in v1
	EscrowManager Contract
	VaultManager  Contract
	BtcRelay      Contract
	ClaimHandlers [4]Felt // by kind
	RefundHandler Felt    // the timelock refund handler
}

// Network is a Starknet network and what is deployed there for one Bitcoin network.
// It is a value; a custom network is one that is filled in by the caller and passed
// through [Network.Validate].
type Network struct {
	Bitcoin     bitcoin.Network
	ChainID     string // at most 31 ASCII characters
	Deployments []Deployment
}

// NetworkFor returns the published deployments for a Bitcoin network, and false if
// there are none (§1).
func NetworkFor(on bitcoin.Network) (Network, bool) {
	at := MustFelt
	sepolia := Deployment{
		Version:       DefaultVersion,
		EscrowManager: Contract{at("0x017bf50dd28b6d823a231355bb25813d4396c8e19d2df03026038714a22f0413"), 1118142},
		VaultManager:  Contract{at("0x02d581ea838cd5ca46ba08660eddd064d50a0392f618e95310432147928d572e"), 1118191},
		ClaimHandlers: [4]Felt{
			chains.HTLC:          at("0x04a57ea54d4637c352aad1bbee046868926a11702216a0aaf7eeec1568be2d7b"),
			chains.Onchain:       at("0x051bef6f5fd12e2832a7d38653bdfc8eb84ba7eb7a4aada5b87ef38a9999cf17"),
			chains.OnchainNonced: at("0x050e50eacd16da414f2c3a7c3570fd5e248974c6fe757d41acbf72d2836fa0a1"),
			chains.OnchainTxID:   at("0x04c7cde88359e14b6f6f779f8b9d8310cee37e91a6f143f855ae29fab33c396e"),
		},
		RefundHandler: at("0x034b8f28b3ca979036cb2849cfa3af7f67207459224b6ca5ce2474aa398ec3e7"),
	}
	switch on {
	case bitcoin.Mainnet:
		return Network{on, Mainnet, []Deployment{{
			Version:       DefaultVersion,
			EscrowManager: Contract{at("0x04f278e1f19e495c3b1dd35ef307c4f7510768ed95481958fbae588bd173f79a"), 1617247},
			VaultManager:  Contract{at("0x01932042992647771f3d0aa6ee526e65359c891fe05a285faaf4d3ffa373e132"), 1617295},
			BtcRelay:      Contract{at("0x057b14a4231b82f1e525ff35a722d893ca3dd2bde0baa6cee97937c5be861dbc"), 1278562},
			ClaimHandlers: [4]Felt{
				chains.HTLC:          at("0x07b74b50a883ebee262b6db0e3c0c697670c6f30e3d610e75faf33a89c46aa2a"),
				chains.Onchain:       at("0x02c45a81c4a48d0645a0a199e620061e8a55dcc9c2b5946d050eaeeddba64e9a"),
				chains.OnchainNonced: at("0x0019b5480dd7ed8ded10a09437b0a7a30b8997b4ef139deb24ff8c86f995d84f"),
				chains.OnchainTxID:   at("0x016c2db2b03f39cf4fd7f871035000f66b62307d9983056e33a38315da8a44dc"),
			},
			RefundHandler: at("0x06a59659990c2aefbf7239f6d911617b3ae60b79cb3364f3bd242a6ca8f4f4f7"),
		}}}, true
	case bitcoin.Testnet3: // shares every contract of Sepolia but the relay with Testnet4
		sepolia.BtcRelay = Contract{at("0x068601c79da2231d21e015ccfd59c243861156fa523a12c9f987ec28eb8dbc8c"), 633915}
	case bitcoin.Testnet4:
		sepolia.BtcRelay = Contract{at("0x0099b63f39f0cabb767361de3d8d3e97212351a51540e2687c2571f4da490dbe"), 760719}
	default:
		return Network{}, false
	}
	return Network{on, Sepolia, []Deployment{sepolia}}, true
}

// ChainIDFelt is the chain id as transactions and nodes carry it.
func (n Network) ChainIDFelt() Felt { return ShortString(n.ChainID) }

// CheckChainID refuses the chain id of another network: what is signed is good on one
// alone.
func (n Network) CheckChainID(id Felt) error {
	if id != n.ChainIDFelt() {
		return fmt.Errorf("serves the network %s (%s) instead of %s", feltText(id), Hex(id), n.ChainID)
	}
	return nil
}

// Validate returns an error if a field of n is missing or inconsistent. A network
// that fails must not be used: with a zero contract address money would be lost.
func (n Network) Validate() error {
	switch {
	case !n.Bitcoin.Valid():
		return fault.Invalid("bitcoin", "is not a known Bitcoin network")
	case n.ChainID == "" || len(n.ChainID) > 31:
		return fault.Invalid("chainId", "must be a text of 1 to 31 characters")
	case len(n.Deployments) == 0:
		return fault.Invalid("deployments", "is required")
	}
	for _, c := range []byte(n.ChainID) {
		if c < 0x21 || c > 0x7e {
			return fault.Invalid("chainId", "must be ASCII letters, digits and signs")
		}
	}
	seen := map[string]bool{}
	for i, d := range n.Deployments {
		field := fmt.Sprintf("deployments[%d]", i)
		if err := d.validate(); err != nil {
			return fault.Invalid(field, "%w", err)
		}
		if seen[d.Version] {
			return fault.Invalid(field, "version %s is configured twice", d.Version)
		}
		seen[d.Version] = true
	}
	return nil
}

func (d Deployment) validate() error {
	if d.Version == "" {
		return fmt.Errorf("the version is required")
	}
	for _, p := range []struct {
		name string
		at   Felt
	}{
		{"escrow manager", d.EscrowManager.Address},
		{"relay", d.BtcRelay.Address},
		{"vault manager", d.VaultManager.Address},
		{"refund handler", d.RefundHandler},
	} {
		if p.at.IsZero() || !validAddress(p.at) {
			return fmt.Errorf("the address of the %s is required", p.name)
		}
	}
	seen := map[Felt]chains.Kind{}
	for kind, at := range d.ClaimHandlers {
		k := chains.Kind(kind)
		if at.IsZero() || !validAddress(at) {
			return fmt.Errorf("the address of the %s claim handler is required", k)
		}
		if other, ok := seen[at]; ok {
			return fmt.Errorf("the %s and %s claim handlers have the same address", other, k)
		}
		seen[at] = k
	}
	return nil
}

// KindOf returns the kind whose claim handler has an address.
func (d Deployment) KindOf(claimHandler Felt) (chains.Kind, bool) {
	i := slices.Index(d.ClaimHandlers[:], claimHandler)
	return chains.Kind(max(i, 0)), i >= 0
}

func validKind(k chains.Kind) bool { return k >= chains.HTLC && k <= chains.OnchainTxID }

// Contracts returns the addresses that are contracts of the network.
func (n Network) Contracts() []Felt {
	var all []Felt
	for _, d := range n.Deployments {
		all = append(all, d.EscrowManager.Address, d.BtcRelay.Address, d.VaultManager.Address, d.RefundHandler)
		all = append(all, d.ClaimHandlers[:]...)
	}
	return all
}

// actionTimeout is within how many seconds a wallet is expected to send what it was
// handed out (§12.2).
const actionTimeout = 180

// How much one transaction carries (§14.2, §15.5).
const (
	MainHeaders    = 40 // onto the main chain, or as a fork in one transaction
	ForkHeaders    = 25 // onto a fork that is kept under a number
	MaxVaultClaims = 10
)
