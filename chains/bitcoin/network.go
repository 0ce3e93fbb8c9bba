// Package bitcoin defines the Bitcoin types of the library: networks, addresses,
// and the [Backend] interface that reads the chain, with the types that it
// returns. Packages mempoolspace and noderpc implement it; package backendtest
// tests your own implementation. Smart chains verify the hashes, headers and vault
// withdrawals defined here.
package bitcoin

import "fmt"

// Network is a Bitcoin network. The numeric values are used in stored records
// and never change (protocol: bitcoin.md §1).
type Network int

const (
	Mainnet  Network = 0
	Testnet3 Network = 1
	Testnet4 Network = 2
	Regtest  Network = 3
	Signet   Network = 4
)

// Params are the constants of a network that a client needs.
type Params struct {
	Name        string // mainnet, testnet3, testnet4, regtest, signet
	HRP         string // human-readable part of segwit addresses
	P2PKH       byte   // version byte of pay-to-pubkey-hash addresses
	P2SH        byte   // version byte of pay-to-script-hash addresses
	InvoiceHRP  string // what follows "ln" in a BOLT11 invoice of this network
	GenesisHash string // hash of block 0 in display order; distinguishes networks that share address formats
}

var params = [...]Params{
	Mainnet:  {"mainnet", "bc", 0x00, 0x05, "bc", "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"},
	Testnet3: {"testnet3", "tb", 0x6f, 0xc4, "tb", "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943"},
	Testnet4: {"testnet4", "tb", 0x6f, 0xc4, "tb", "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043"},
	Regtest:  {"regtest", "bcrt", 0x6f, 0xc4, "bcrt", "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"},
	Signet:   {"signet", "tb", 0x6f, 0xc4, "tbs", "00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6"},
}

// Valid reports whether n is one of the five networks.
func (n Network) Valid() bool { return n >= 0 && int(n) < len(params) }

// Params returns the constants of n. It panics if n is not [Network.Valid];
// validate networks from outside first, for example with [ParseNetwork].
func (n Network) Params() Params { return params[n] }

// String returns the lower-case name.
func (n Network) String() string {
	if !n.Valid() {
		return fmt.Sprintf("Network(%d)", int(n))
	}
	return params[n].Name
}

// ParseNetwork returns the network with the given name; "testnet" is testnet3.
func ParseNetwork(name string) (Network, error) {
	if name == "testnet" {
		return Testnet3, nil
	}
	for n, p := range params {
		if p.Name == name {
			return Network(n), nil
		}
	}
	return 0, fmt.Errorf("unknown Bitcoin network %q", name)
}
