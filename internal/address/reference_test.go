package address

import (
	"math/big"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/btcsuite/btcd/chaincfg"
)

// asReference is what the reference makes of a text without a network call, by
// its own rules: schemes and keys as they are spelled, amounts as floating-point
// numbers, EVM addresses by their length. nil is a refusal. It says what the
// answer is where a rule of ours gives another one, so that the rest of it is
// compared all the same. LNURLs are left out.
func asReference(p *Parser, text string) *synchronous {
	body, bitcoin := strings.CutPrefix(text, "bitcoin:")
	base, query, found := strings.Cut(body, "?")
	params := map[string]*chaincfg.Params{"mainnet": &chaincfg.MainNetParams, "regtest": &chaincfg.RegressionNetParams}[p.network.String()]
	if params == nil {
		params = &chaincfg.TestNet3Params
	}
	if a, err := btcutil.DecodeAddress(base, params); err == nil && a.IsForNet(params) {
		out := &synchronous{Type: "BITCOIN", Address: base}
		if !found {
			return out
		}
		query, _, _ = strings.Cut(query, "?")
		for param := range strings.SplitSeq(query, "&") {
			key, value, _ := strings.Cut(param, "=")
			value, err := url.PathUnescape(value)
			if err != nil {
				return nil
			}
			if key == "amount" {
				sats, ok := floatSats(value)
				if !ok {
					return nil
				}
				out.Sats = sats
			}
		}
		return out
	}
	if bitcoin {
		return nil
	}
	body, lightning := strings.CutPrefix(text, "lightning:")
	if m := plainInvoice.FindStringSubmatch(body); m != nil && wholeBech32(body) && m[1] != "" {
		return &synchronous{Type: "LIGHTNING", Address: body, Sats: invoiceSats(m[1], m[2])}
	}
	for _, c := range p.chains {
		if lightning {
			break
		}
		is := len(text) == 42
		switch c.id {
		case "SOLANA":
			_, err := c.Address(text)
			is = err == nil || strings.Trim(text, "1") == "" && len(text) == 32
		case "STARKNET":
			n, ok := new(big.Int).SetString(strings.TrimPrefix(strings.ToLower(text), "0x"), 16)
			bound := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 251), big.NewInt(256))
			is = len(text) == 66 && ok && n.Cmp(bound) < 0
		}
		if is {
			return &synchronous{Type: c.id, Address: text}
		}
	}
	return nil
}

var (
	leadingFloat = regexp.MustCompile(`^\s*([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)`)
	plainInvoice = regexp.MustCompile(`(?i)^ln(?:bcrt|bc|tb|sb)([0-9]*)([munp]?)1[02-9ac-hj-np-z]{100,}$`)
)

func wholeBech32(text string) bool {
	_, _, err := bech32.DecodeNoLimit(text)
	return err == nil
}

// floatSats is the number that a text begins with, read as a binary fraction and
// rounded to sats.
func floatSats(btc string) (string, bool) {
	m := leadingFloat.FindStringSubmatch(btc)
	if m == nil {
		return "", false
	}
	f, err := strconv.ParseFloat(m[1], 64)
	if err != nil || f >= 1e21 { // which it writes with an exponent, and cannot read
		return "", false
	}
	r := new(big.Rat).SetFloat64(f)
	negative := r.Sign() < 0
	r.Abs(r).Mul(r, big.NewRat(100_000_000, 1)).Add(r, big.NewRat(1, 2))
	n := new(big.Int).Div(r.Num(), r.Denom())
	if negative {
		n.Neg(n)
	}
	return n.String(), true
}

// invoiceSats is the amount in the prefix of an invoice, in sats rounded up.
func invoiceSats(digits, multiplier string) string {
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return ""
	}
	unit := map[string]*big.Rat{"": big.NewRat(100_000_000, 1), "m": big.NewRat(100_000, 1), "u": big.NewRat(100, 1), "n": big.NewRat(1, 10), "p": big.NewRat(1, 10_000)}[strings.ToLower(multiplier)]
	r := new(big.Rat).Mul(new(big.Rat).SetInt(n), unit)
	up := new(big.Int).Add(r.Num(), new(big.Int).Sub(r.Denom(), big.NewInt(1)))
	return up.Div(up, r.Denom()).String()
}

// sameAsReference compares the reference's answer, nil for a refusal, with what
// its rules give.
func sameAsReference(t *testing.T, p *Parser, text string, want *synchronous) {
	t.Helper()
	theirs := asReference(p, text)
	if (theirs == nil) != (want == nil) || want != nil && *want != *theirs {
		t.Errorf("%q: the reference answers %+v, by its rules %+v", text, want, theirs)
	}
}

var (
	bech32Link     = regexp.MustCompile(`lnurl[0-9]+[a-z0-9]+`)
	schemeLink     = regexp.MustCompile(`^lnurl[pw]://`)
	identifierLink = regexp.MustCompile(`[^\s@/:]+@([^\s@/:]+\.[A-Za-z0-9]|\[)`)
)

// looseLink reports whether the reference takes a text for an LNURL: a bech32 text
// or an identifier anywhere in it, or one of the schemes.
func looseLink(p *Parser, text string) bool {
	if strings.HasPrefix(text, "bitcoin:") || baseIsBitcoin(p, text) {
		return false
	}
	text = strings.TrimPrefix(text, "lightning:")
	return bech32Link.MatchString(strings.ToLower(text)) || schemeLink.MatchString(text) || identifierLink.MatchString(text)
}

func baseIsBitcoin(p *Parser, text string) bool {
	base, _, _ := strings.Cut(strings.TrimPrefix(text, "bitcoin:"), "?")
	a := asReference(p, base)
	return a != nil && a.Type == "BITCOIN"
}

// triedAndFailed reports whether the reference fails on a text that it has begun to
// read as something, in contrast to one in which it sees nothing.
func triedAndFailed(p *Parser, text string) bool {
	if strings.HasPrefix(text, "bitcoin:") || strings.HasPrefix(text, "lightning:") || baseIsBitcoin(p, text) {
		return true
	}
	if _, query, found := strings.Cut(text, "?"); found {
		if _, err := url.PathUnescape(query); err != nil {
			return true
		}
	}
	m := plainInvoice.FindStringSubmatch(text)
	return m != nil && wholeBech32(text)
}
