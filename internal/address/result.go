package address

import (
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
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

	// Address is the address, invoice or link as typed, without surrounding
	// blanks, URI scheme and query; links in the form of [lnurl.Link.Text].
	Address string

	// Amount is what a BIP-21 URI or an invoice requests (sats, rounded up), or
	// the only amount that a link accepts; nil if there is none.
	Amount *tokens.Amount

	// Min and Max are the bounds of a link that accepts a range, else nil.
	Min, Max *tokens.Amount

	// Only the fields that belong to Type are set.
	Bitcoin   bitcoin.Address    // BITCOIN
	Invoice   *lightning.Invoice // LIGHTNING; its network and expiry are not checked
	Link      lnurl.Link         // LNURL
	Details   lnurl.Details      // LNURL: the service's response; nil until it was called
	Canonical string             // smart chains: the address in the chain's canonical form
}
