package wire

import "math/big"

// SelectorTransfer is the first key of the event by which a token tells of a transfer.
var SelectorTransfer = Selector("Transfer")

// TransferTo reads a log as a transfer of a token to an address. Tokens write sender and
// recipient among the keys or, as the older ones do, in the data.
func TransferTo(l Log, token, to Felt) (amount *big.Int, ok bool) {
	if l.From != token || len(l.Keys) == 0 || l.Keys[0] != SelectorTransfer {
		return nil, false
	}
	r := &reader{}
	switch {
	case len(l.Keys) == 3 && len(l.Data) == 2, len(l.Keys) == 1 && len(l.Data) == 4:
		r.rest = append(append(r.rest, l.Keys[1:]...), l.Data...)
	default:
		return nil, false
	}
	r.felt() // the sender
	recipient := r.felt()
	amount = r.u256()
	return amount, r.end() == nil && recipient == to
}
