// Package verify lets a wallet use a swap service that it does not trust. [Wrap]
// returns a client with the same interface. It asks the service, and verifies every part of
// an answer on which money depends: against the request, the wallet's own list of tokens,
// market prices, the wallet's own nodes and the terms that were agreed before.
//
// A table in docs/verify.md lists what is verified. Everything else is refused with an
// error: apart from a few harmless parts that the table names, an answer that was not
// verified never reaches the wallet. At present the package verifies swaps from a smart chain
// to a Bitcoin address or a Lightning invoice, and swaps from Bitcoin and Lightning to a smart
// chain, LNURL links included; swaps that no contract secures need [Config.MaxTrustedSats].
package verify
