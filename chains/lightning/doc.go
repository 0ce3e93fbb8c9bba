// Package lightning reads BOLT11 invoices and holds the rules of the swap
// network that need nothing but an invoice: rounding, expiry, warnings, HTLC
// timeouts and the cap on routing fees. It calls nothing and holds no key.
//
// The decoder is our own: a general Lightning library brings a whole node into
// every program that imports it, and refuses invoices that the network pays
// (protocol: bitcoin.md §18).
package lightning
