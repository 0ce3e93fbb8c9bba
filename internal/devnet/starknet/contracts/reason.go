package contracts

import (
	"fmt"
	"strings"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Way returns the invocations from a failed one to the one that failed first: a
// contract that hands on what another one failed with is followed by that one.
func (i *Invocation) Way() []*Invocation {
	way := []*Invocation{i}
	for {
		last := i.lastFailed()
		if last == nil || i.Failed.fatal == "" && (len(i.Failed.Data) == 0 || i.Failed.Data[len(i.Failed.Data)-1] != entryFailed) {
			return way
		}
		i = last
		way = append(way, i)
	}
}

func (i *Invocation) lastFailed() *Invocation {
	if n := len(i.Calls); n > 0 && i.Calls[n-1].Failed != nil {
		return i.Calls[n-1]
	}
	return nil
}

func (i *Invocation) where() string {
	return fmt.Sprintf("(contract address: %s, class hash: %s, selector: %s)", wire.Hex64(i.Contract), wire.Hex64(i.Class), wire.Hex64(i.Selector))
}

// Reason writes why an invocation failed as nodes write it, each contract on the way
// in a line of its own.
func (i *Invocation) Reason() string {
	return i.reason("Transaction execution has failed", "Error in the called contract")
}

// reason is what failed and why.
func (i *Invocation) reason(what, where string) string {
	return fmt.Sprintf("%s:\n0: %s %s:\n%s", what, where, i.where(), i.frames("Execution failed. Failure reason:"))
}

// frames writes the contracts on the way under a heading, or, where the network ended it,
// from one contract to the next.
func (i *Invocation) frames(heading string) string {
	way := i.Way()
	last := way[len(way)-1].Failed
	var b strings.Builder
	if last.fatal != "" {
		for n, f := range way[1:] {
			fmt.Fprintf(&b, "\n%d: Error in the called contract %s:\n", n+1, f.where())
		}
	} else {
		fmt.Fprintln(&b, heading)
		for _, f := range way {
			fmt.Fprintf(&b, "Error in contract %s:\n", f.where())
		}
	}
	fmt.Fprintf(&b, "%s.\n", last.Error())
	return b.String()
}
