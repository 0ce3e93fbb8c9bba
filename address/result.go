package address

import (
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/lightning"
	"github.com/swapper-go/swapper/lnurl"
	"github.com/swapper-go/swapper/tokens"
)

// LNURL is the [Result] type of links that lead to a Lightning invoice; the
// other types are chain identifiers, [tokens.Bitcoin] and [tokens.Lightning]
// among them.
const LNURL = "LNURL"

// Result says what a text is.
type Result struct {
	// Type is BITCOIN, LIGHTNING, LNURL or the identifier of a smart chain.
	// Several EVM chains share one address form: it is the first of them, so a
	// caller that knows the destination chain should not rely on it.
	Type string

	// Address is the address, invoice or link as typed, without blanks around
	// it, URI scheme and query; links in the form in which package lnurl keeps
	// them.
	Address string

	// Amount is what a BIP-21 URI or an invoice asks for (sats, rounded up), or
	// the one amount that a link accepts; nil if there is none.
	Amount *tokens.Amount

	// Min and Max are the bounds of a link that accepts a range, else nil.
	Min, Max *tokens.Amount

	// Of these, what goes with Type is set.
	Bitcoin   bitcoin.Address    // BITCOIN
	Invoice   *lightning.Invoice // LIGHTNING; neither its network nor its expiry is judged
	Link      lnurl.Link         // LNURL
	Details   lnurl.Details      // LNURL: what the service answered; nil until it was asked
	Canonical string             // smart chains: the address in the chain's canonical form
}
