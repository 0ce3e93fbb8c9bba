// Package address recognises a text that a user typed or scanned: a Bitcoin address, an
// invoice, a link. It sends no request. The operation parseAddress of package swapper
// also knows the addresses of smart chains, and asks the services behind links.
package address

import (
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/address"
	"github.com/swapper-go/swapper/tokens"
)

// Result is what [Recognise] found.
type Result struct {
	Type    string         // BITCOIN, LIGHTNING or LNURL
	Address string         // the address, invoice or link without blanks, URI scheme and query
	Amount  *tokens.Amount // in sats, what a URI or an invoice asks for; nil: nothing
}

// Recognise reads a Bitcoin address, a bitcoin: URI, a Lightning invoice or an LNURL.
// The network of an invoice, and whether it has expired, is not checked. An error has
// the code fault.InvalidInput or fault.Unsupported.
func Recognise(text string, network bitcoin.Network) (Result, error) {
	p, err := address.New(address.Config{Network: network})
	if err != nil {
		return Result{}, err
	}
	r, err := p.Recognise(text)
	return Result{Type: r.Type, Address: r.Address, Amount: r.Amount}, err
}
