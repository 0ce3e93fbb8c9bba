// Package swap describes the types of swaps: the states that each type moves through
// (their names, texts and meaning), the wallets that it needs, and its diagram.
// Package swapper makes and follows swaps.
package swap

import "github.com/swapper-go/swapper/internal/swap"

// Type is the type of a swap: the member swapType of every answer that has a swap.
type Type string

// Types returns the types in the order of their numbers in the protocol.
func Types() []Type {
	var all []Type
	for t := swap.Type(0); t.Valid(); t++ {
		all = append(all, Type(t.String()))
	}
	return all
}

// State is a state of a type. Numbers and names are those of the network; the same
// number means another state in another type.
type State struct {
	Number      int
	Name        string
	Description string // a sentence for the user

	Finished bool // the user has nothing to do or to expect any more
	Success  bool // the recipient has the output
	Failed   bool // the swap did not succeed; what was paid was given back, or is lost to a trusted provider
	Expired  bool // the quote was not used in time
	Pending  bool // listPendingSwaps has swaps in this state
}

// States returns the states of a type, in the order in which a swap comes to them; nil
// for a type that does not exist.
func (t Type) States() []State {
	f := flow(t)
	if f == nil {
		return nil
	}
	all := make([]State, len(f.States))
	for i, s := range f.States {
		all[i] = State{
			Number: s.Number, Name: s.Name, Description: s.Description,
			Finished: s.Finished, Success: s.Success, Failed: s.Failed, Expired: s.Expired, Pending: s.Pending && !s.Finished,
		}
	}
	return all
}

// State returns the state of a number, and false if the type has none.
func (t Type) State(number int) (State, bool) {
	for _, s := range t.States() {
		if s.Number == number {
			return s, true
		}
	}
	return State{}, false
}

// NeedsSourceWallet reports whether the user signs with a wallet on the source side: a
// smart chain's, or one that can sign a PSBT.
func (t Type) NeedsSourceWallet() bool {
	f := flow(t)
	return f != nil && f.Type.NeedsSourceWallet()
}

// NeedsDestinationWallet reports whether the user must sign on the destination chain to
// get paid.
func (t Type) NeedsDestinationWallet() bool {
	f := flow(t)
	return f != nil && f.Type.NeedsDestinationWallet()
}

// Diagram returns the states and moves of a type as Markdown with a Mermaid diagram,
// made from the table that decides; "" for a type that does not exist.
func (t Type) Diagram() string {
	if f := flow(t); f != nil {
		return f.Diagram()
	}
	return ""
}

func flow(t Type) *swap.Flow {
	for _, f := range swap.Flows() {
		if f.Type.String() == string(t) {
			return f
		}
	}
	return nil
}
