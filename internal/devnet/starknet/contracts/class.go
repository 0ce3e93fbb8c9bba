package contracts

import (
	"maps"
	"slices"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Function is an entry point of a contract. It gets the whole calldata, and returns
// what the caller gets. It must be a function of the frame and the calldata alone: it
// runs again in simulations and after a reorganisation, and not under any lock of its
// own. What it did to storage, and what the contracts that it called did, is undone if
// it returns an error: a *[Panic], or any other, which becomes the panic of its text. A
// Go panic is a panic of the contract too.
type Function func(f *Frame, calldata []Felt) ([]Felt, error)

// Class is the code of contracts.
type Class struct {
	Name string // for people
	Hash Felt
	ABI  string // JSON, as a Cairo compiler writes it; "" is an interface without entry points

	// Constructor runs when a contract of the class is deployed; nil: it takes no
	// arguments.
	Constructor Function
	// Entries are the external entry points by name. An account has __validate__,
	// __execute__ and, to be deployed by itself, __validate_deploy__.
	Entries map[string]Function
}

// Entry points that the network itself calls.
var (
	selectorConstructor    = wire.Selector("constructor")
	selectorValidate       = wire.Selector("__validate__")
	selectorValidateDeploy = wire.Selector("__validate_deploy__")
	selectorExecute        = wire.Selector("__execute__")
	selectorTransfer       = wire.Selector("transfer")
	selectorBalance        = wire.Selector("balance_of")
)

// class is a class as the chain keeps it.
type class struct {
	Class
	entries map[Felt]Function // by selector
}

func newClass(c Class) *class {
	k := &class{Class: c, entries: make(map[Felt]Function, len(c.Entries))}
	for name, f := range c.Entries {
		k.entries[wire.Selector(name)] = f
	}
	return k
}

// Selectors returns the selectors of the external entry points in ascending order, as
// nodes list them.
func (c Class) Selectors() []Felt {
	var all []Felt
	for name := range maps.Keys(c.Entries) {
		all = append(all, wire.Selector(name))
	}
	slices.SortFunc(all, func(a, b Felt) int { return a.Cmp(&b) })
	return all
}

// ClassHash returns a hash for a class that has none on a public network: always the
// same for a name.
func ClassHash(name string) Felt {
	return wire.Poseidon(wire.ShortString("LOCAL_CLASS"), wire.Selector(name))
}
