package state

import (
	"fmt"
	"strings"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// failed is the way from an invocation to the one that failed first: a contract that
// hands on what another one failed with is followed by that one.
func (i *Invocation) failed() []*Invocation {
	way := []*Invocation{i}
	for {
		last := i.lastFailed()
		if last == nil || len(i.Failed.Data) == 0 || i.Failed.Data[len(i.Failed.Data)-1] != entryFailed {
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

// Way returns the invocations from a failed one to the one that failed first.
func (i *Invocation) Way() []*Invocation { return i.failed() }

func (i *Invocation) where() string {
	return fmt.Sprintf("(contract address: %s, class hash: %s, selector: %s)", wire.Hex64(i.Contract), wire.Hex64(i.Class), wire.Hex64(i.Selector))
}

// Reason writes why an invocation failed as nodes write it, each contract on the way
// in a line of its own.
func (i *Invocation) Reason() string {
	return i.reason("Transaction execution has failed", "Error in the called contract", "Execution failed. Failure reason:")
}

func (i *Invocation) reason(what, first, header string) string {
	way := i.failed()
	var b strings.Builder
	fmt.Fprintf(&b, "%s:\n0: %s %s:\n%s\n", what, first, i.where(), header)
	for _, f := range way {
		fmt.Fprintf(&b, "Error in contract %s:\n", f.where())
	}
	fmt.Fprintf(&b, "%s.\n", way[len(way)-1].Failed.Error())
	return b.String()
}
