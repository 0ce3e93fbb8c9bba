package settle

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// CheckStep refuses a step that the contract is bound to refuse while its escrow has a state:
// see [CanInit]; other steps need an open escrow, or that the plan opens it before.
func CheckStep(kind chains.StepKind, state chains.EscrowState, opened bool) error {
	switch {
	case kind == chains.StepInit:
		return CanInit(state)
	case state != chains.EscrowOpen && !(state == chains.EscrowNone && opened):
		return fault.New(fault.InvalidState, "%s: the escrow is %s instead of open", kind, state)
	}
	return nil
}

// CanInit reports why an escrow with the given state cannot be opened. An escrow hash is used
// once: contracts refuse one that was refunded as much as one that is open (protocol:
// chain-evm.md §13.10).
func CanInit(state chains.EscrowState) error {
	switch state {
	case chains.EscrowNone:
		return nil
	case chains.EscrowRefunded:
		return fault.New(fault.InvalidState, "the escrow was refunded and cannot be opened again")
	default:
		return fault.New(fault.InvalidState, "the escrow is already open or paid")
	}
}
