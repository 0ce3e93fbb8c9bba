// Package lnurl speaks LNURL: it recognises links (bech32, lnurlp://, lnurlw://,
// internet identifiers such as name@host), asks the service behind one what it
// wants or offers, gets an invoice from an LNURL-pay service, hands one to an
// LNURL-withdraw service, and reads success actions.
//
// Links come from strangers. A [Client] calls only hosts of the public internet,
// checked on the address that is dialled, reads bounded answers, follows few
// redirects and ends within a deadline; what a service says is checked before
// it is used (protocol: utilities.md §§6.4, 7, 8).
//
// Errors carry codes of package fault: InvalidInput for a link or a value that
// cannot be used, AmountOutOfBounds, Upstream for what a service did wrong (its
// own words are in [*ServiceError]), Timeout.
package lnurl
