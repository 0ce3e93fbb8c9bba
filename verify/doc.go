// Package verify lets a wallet use a swap service that it does not trust. [Wrap]
// returns a client of the same interface, which asks the service and believes nothing
// of what money depends on: it compares the answers with the request, with the wallet's
// own view of the tokens, with market prices and with what was agreed before.
//
// What is verified is a table in docs/verify.md. Everything else is refused, with an
// error that says so: an answer that was not verified never reaches the wallet. At
// present, swaps from a smart chain to a Bitcoin address or a Lightning invoice are
// verified; others are refused.
package verify
