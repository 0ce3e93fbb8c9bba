// Package lnurl is an LNURL client: it recognises links (bech32, lnurlp://,
// lnurlw://, internet identifiers such as name@host), gets the parameters of
// the service behind a link, requests invoices from LNURL-pay services, submits
// invoices to LNURL-withdraw services, and reads success actions.
//
// Links come from strangers. A [Client] calls only hosts on the public
// internet, checks the address that is actually dialled, reads bounded
// responses, follows few redirects and ends within a deadline; everything that
// a service sends is checked before it is used (protocol: utilities.md §§6.4,
// 7, 8).
//
// Codec and wire types are those of fiatjaf/go-lnurl, with checks around them:
//
//   - bech32: LNURLEncode and LNURLDecode. Before: ASCII only, one case, no other
//     form of link. After: the address is UTF-8.
//   - identifiers: ParseInternetIdentifier. After: the characters of LUD-16, a
//     DNS name that no resolver reads as a number.
//   - pay and withdraw parameters: LNURLPayParams, LNURLWithdrawResponse,
//     LNURLPayValues. Before: members of another kind are left out. After:
//     bounds, callback, k1 and invoice.
//   - metadata: LNURLPayParams.Normalize, of which the descriptions and the image
//     are used; the invoice commits to the text as received.
//   - success actions: SuccessAction and its Decipher. Before: lengths, base64 and
//     padding, on which it would panic. After: the text is UTF-8.
//
// Its HTTP calls are not used: they take no context and have no limits.
//
// Errors carry codes of package fault: InvalidInput for an unusable link or
// value, AmountOutOfBounds, Upstream for a service that fails or misbehaves
// (its own reason is in [*ServiceError]), Timeout.
package lnurl
