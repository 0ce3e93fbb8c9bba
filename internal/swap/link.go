package swap

import (
	"fmt"
	"strconv"
	"strings"
)

// formatBTC returns an amount of sats as a plain decimal number of bitcoin:
// exact, without exponent, without trailing zeros.
func formatBTC(sats int64) string {
	sign := ""
	magnitude := uint64(sats)
	if sats < 0 {
		sign, magnitude = "-", -magnitude
	}
	whole := sign + strconv.FormatUint(magnitude/1e8, 10)
	frac := strings.TrimRight(fmt.Sprintf("%08d", magnitude%1e8), "0")
	if frac == "" {
		return whole
	}
	return whole + "." + frac
}

// BitcoinLink returns the BIP-21 link that asks for sats to be paid to an address. Wallets
// disagree on exponents, so the amount is a plain decimal (protocol: bitcoin.md §17).
// It returns "" without an address, as for some swaps recovered from a chain.
func BitcoinLink(address string, sats int64) string {
	if address == "" {
		return ""
	}
	return "bitcoin:" + address + "?amount=" + formatBTC(sats)
}

// lightningLink returns the link of an invoice or LNURL: in upper case, which
// QR codes store in fewer dots.
func lightningLink(invoice string) string {
	return "lightning:" + strings.ToUpper(invoice)
}
