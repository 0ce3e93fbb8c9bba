// Package lnurl reads and writes LNURL links. The operations of package swapper take a
// link as the user typed it, and ask the service behind it.
package lnurl

import "github.com/swapper-go/swapper/internal/lnurl"

// IsLink reports whether text is an LNURL in one of its forms: bech32, lnurlp://,
// lnurlw://, or an identifier such as name@host.
func IsLink(text string) bool { return lnurl.IsLink(text) }

// URL returns the address of the service behind a link. An error has the code
// fault.InvalidInput.
func URL(text string) (string, error) {
	link, err := lnurl.Parse(text)
	return link.URL(), err
}

// Encode returns the bech32 form of a service's address.
func Encode(url string) (string, error) { return lnurl.Encode(url) }
