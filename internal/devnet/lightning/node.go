package lightning

import (
	"encoding/hex"

	"github.com/btcsuite/btcd/btcec/v2"
)

// Node is a Lightning node. It is safe for concurrent use.
type Node struct {
	Key [33]byte // compressed public key

	net *Net
	key *btcec.PrivateKey

	// Under the network's mutex:
	balance   int64 // msat
	behaviour Behaviour
	invoices  map[[32]byte]*invoice
	payments  map[[32]byte]*htlc
}

// Behaviour is how a node takes what is paid to it. The zero value takes
// everything, at no routing fee.
type Behaviour struct {
	Offline bool // probes and payments find no route
	Refuse  bool // probes find it, payments are refused
	Hang    bool // payments are neither taken nor refused, until they time out

	FeeBaseMsat, FeePPM int64 // what the route to the node costs
}

// SetBehaviour changes how the node takes payments from now on.
func (d *Node) SetBehaviour(b Behaviour) {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	d.behaviour = b
}

// ID returns the node's public key in hex.
func (d *Node) ID() string { return hex.EncodeToString(d.Key[:]) }

// BalanceMsat returns what the node owns, without what is on its way.
func (d *Node) BalanceMsat() int64 {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	return d.balance
}

// BalanceSats is [Node.BalanceMsat] in sats, rounded down.
func (d *Node) BalanceSats() int64 { return d.BalanceMsat() / 1000 }
