package lightning

import (
	"fmt"
	"strings"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// What BOLT11 says of an invoice without the tag.
const (
	defaultExpirySeconds = 3600
	defaultMinFinalCLTV  = 18
)

// Invoice is a decoded BOLT11 invoice whose signature was verified. Of a field
// that is there more than once the first valid one counts, except route hints,
// which are all kept. Pointers are nil where a field is absent.
// An Invoice is not changed after [Decode] and may be shared.
type Invoice struct {
	Prefix          string // what follows "ln": bc, tb, tbs, bcrt or sb
	AmountMsat      *int64 // 0 is an amount
	Timestamp       int64  // Unix seconds
	PaymentHash     [32]byte
	PaymentSecret   *[32]byte
	Description     *string // bytes as sent, not necessarily UTF-8
	DescriptionHash *[32]byte
	ExpirySeconds   int64 // defaultExpirySeconds unless HasExpiry
	HasExpiry       bool
	MinFinalCLTV    int64 // blocks; defaultMinFinalCLTV unless HasMinFinalCLTV
	HasMinFinalCLTV bool
	Payee           [33]byte // compressed key that signed the invoice
	RouteHints      [][]Hop
	Fallback        string // on-chain address to pay instead, or ""
	HasBlindedPaths bool
}

// Hop is one hop of a route hint, from a node that the payer can reach towards
// the payee.
type Hop struct {
	Node            [33]byte
	ShortChannelID  uint64
	FeeBaseMsat     uint32
	FeePPM          uint32 // millionths of the amount
	CLTVExpiryDelta uint16 // blocks
}

// AmountSats returns the amount in sats, rounded up, and whether the invoice has
// one (protocol: bitcoin.md §18.1).
func (inv *Invoice) AmountSats() (sats int64, ok bool) {
	if inv.AmountMsat == nil {
		return 0, false
	}
	return (*inv.AmountMsat + 999) / 1000, true
}

// RequireNetwork returns an error unless the invoice is one of network n.
// Testnet3 and testnet4 invoices cannot be told apart.
func (inv *Invoice) RequireNetwork(n bitcoin.Network) error {
	if !n.Valid() {
		return fmt.Errorf("unknown network %v", n)
	}
	if want := n.Params().InvoiceHRP; inv.Prefix != want {
		return fmt.Errorf("invoice is for another network: it begins with ln%s, but %v invoices begin with ln%s", inv.Prefix, n, want)
	}
	return nil
}

// ExpiresAt is when the invoice ends, in Unix seconds.
func (inv *Invoice) ExpiresAt() int64 { return inv.Timestamp + inv.ExpirySeconds }

// LooksLikeInvoice reports whether text begins as every invoice does, in any
// case. A stored swap may hold a bare payment hash in place of its invoice
// (protocol: bitcoin.md §18.3).
func LooksLikeInvoice(text string) bool {
	return len(text) > 2 && strings.EqualFold(text[:2], "ln")
}
