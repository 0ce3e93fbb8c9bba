// Package lightning reads BOLT11 invoices and holds the rules of the swap
// network that need nothing but an invoice: rounding, expiry, warnings, HTLC
// timeouts and the cap on routing fees. It calls nothing and holds no key.
//
// Invoices are decoded by lnd's zpay32, as the nodes decode them that will pay.
// This package adds, before the call: the network by the invoice's prefix, no
// more than 21 million bitcoin and no absurd times (zpay32's arithmetic wraps
// around there), a bech32 checksum that is not bech32m, a recovery id below 4.
// After the call: whether times are stated or defaults, and that a named payee
// is the key that the signature recovers to (protocol: bitcoin.md §18).
package lightning
