// Package address recognises strings that users paste or scan: Bitcoin
// addresses and BIP-21 URIs, Lightning invoices, LNURLs and internet
// identifiers, and addresses on smart chains.
package address

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/tokens"
)

const (
	bitcoinScheme   = "bitcoin:"
	lightningScheme = "lightning:"
)

// maxText bounds what is looked at: an invoice has at most 16 Ki characters, and
// a URI may hold one beside an address.
const maxText = 20 << 10

// Chain is what the parser needs of a smart chain. Implementations are safe for
// concurrent use.
type Chain interface {
	// ID is the chain's identifier, as in tokens: SOLANA, STARKNET, CITREA, ...
	ID() string
	// Address returns the canonical text of an account address, or an error if
	// s is not one, or may be a mistyped address of another chain.
	Address(s string) (canonical string, err error)
}

// Services is what the parser needs of a client of LNURL services; it is
// implemented by [*lnurl.Client]. Implementations are safe for concurrent use.
type Services interface {
	// Check reports, without any request, whether the service of a link may be
	// called.
	Check(lnurl.Link) error
	// Fetch asks the service of a link for its parameters. It ends with ctx and
	// has a deadline of its own.
	Fetch(context.Context, lnurl.Link) (lnurl.Details, error)
}

// Config is what a [Parser] is built from.
type Config struct {
	Network bitcoin.Network
	Chains  []Chain  // in the order in which they are tried
	LNURL   Services // nil: links are recognised, but their services are neither checked nor called
}

// Parser recognises strings for one Bitcoin network and a list of smart chains.
// It is immutable and safe for concurrent use.
type Parser struct {
	network bitcoin.Network
	chains  []chain
	lnurl   Services
}

type chain struct {
	Chain
	id string
}

// New returns a parser. It refuses an unknown network and chains whose
// identifiers are not unique.
func New(c Config) (*Parser, error) {
	if !c.Network.Valid() {
		return nil, fmt.Errorf("address parser: unknown Bitcoin network %d", int(c.Network))
	}
	p := &Parser{network: c.Network, lnurl: c.LNURL}
	seen := map[string]bool{"": true, tokens.Bitcoin: true, tokens.Lightning: true, LNURL: true}
	for _, ch := range c.Chains {
		id := ch.ID()
		if seen[id] {
			return nil, fmt.Errorf("address parser: chain identifier %q is empty or used twice", id)
		}
		seen[id] = true
		p.chains = append(p.chains, chain{ch, id})
	}
	return p, nil
}

// Recognise says what a text is without any network call. The services of links
// are not called, so their bounds and details stay unknown. The text may have
// blanks around it, and the schemes `bitcoin:` and `lightning:` in any case. An
// invoice may be for another network or expired, which the caller must check
// before paying it. Errors are [fault.InvalidInput] without a field (protocol:
// utilities.md §6).
func (p *Parser) Recognise(text string) (Result, error) {
	if len(text) > maxText {
		return Result{}, fault.New(fault.InvalidInput, "text is longer than %d characters", maxText)
	}
	text = trim(text)
	if body, ok := cutScheme(text, bitcoinScheme); ok {
		return p.bitcoinURI(body)
	}
	if rest, ok := cutScheme(text, lightningScheme); ok {
		return p.lightning(rest)
	}
	base, _, _ := strings.Cut(text, "?")
	a, onBitcoin := bitcoin.ParseAddress(base, p.network)
	if onBitcoin == nil {
		return p.bitcoinBody(text, a)
	}
	r, err := p.lightning(text)
	if err == nil {
		return r, nil
	}
	// What begins like an invoice or a link may still be an address: the
	// alphabets overlap. If it is none, the first error says more.
	for _, c := range p.chains {
		if canonical, err := c.Address(text); err == nil {
			return Result{Type: c.id, Address: text, Canonical: canonical}, nil
		}
	}
	switch {
	case errors.Is(onBitcoin, bitcoin.ErrOtherNetwork):
		err = fault.New(fault.InvalidInput, "%w", onBitcoin)
	case errors.Is(err, errUnknown):
		err = fault.New(fault.InvalidInput, "%q is not a valid Bitcoin address, Lightning invoice, LNURL or address on a supported chain", shorten(text))
	}
	return Result{}, err
}

// Parse says what a text is, and asks the service of a link what it accepts. In
// addition to the errors of [Parser.Recognise], it returns those of package
// lnurl for services that fail or misbehave. It ends with ctx.
func (p *Parser) Parse(ctx context.Context, text string) (Result, error) {
	r, err := p.Recognise(text)
	if err != nil || r.Type != LNURL {
		return r, err
	}
	if p.lnurl == nil {
		return Result{}, fault.New(fault.Unsupported, "LNURL lookups are not enabled")
	}
	if r.Details, err = p.lnurl.Fetch(ctx, r.Link); err != nil {
		return Result{}, err
	}
	low, high := r.Details.Sats()
	if low == high {
		r.Amount = sats(low, tokens.LightningBTC())
	} else {
		r.Min, r.Max = sats(low, tokens.LightningBTC()), sats(high, tokens.LightningBTC())
	}
	return r, nil
}

// bitcoinURI reads what follows `bitcoin:`. Without an address, its Lightning
// alternative counts.
func (p *Parser) bitcoinURI(body string) (Result, error) {
	base, _, _ := strings.Cut(body, "?")
	if base == "" {
		uri, err := parseBIP21(body)
		if err != nil {
			return Result{}, err
		}
		if uri.lightning != "" {
			return p.lightning(trim(uri.lightning))
		}
	}
	a, err := bitcoin.ParseAddress(base, p.network)
	if err != nil {
		return Result{}, fault.New(fault.InvalidInput, "the URI does not contain a valid Bitcoin address: %w", err)
	}
	return p.bitcoinBody(body, a)
}

func (p *Parser) bitcoinBody(body string, a bitcoin.Address) (Result, error) {
	uri, err := parseBIP21(body)
	if err != nil {
		return Result{}, err
	}
	r := Result{Type: tokens.Bitcoin, Address: uri.address, Bitcoin: a}
	if uri.amount != nil {
		r.Amount = &tokens.Amount{Raw: uri.amount, Token: tokens.BTC()}
	}
	return r, nil
}

// errUnknown: a text does not begin like anything on Lightning.
var errUnknown = fault.New(fault.InvalidInput, "not a Lightning invoice or LNURL")

// lightning reads a link or an invoice; a query behind an invoice is dropped.
func (p *Parser) lightning(text string) (Result, error) {
	if _, twice := cutScheme(text, lightningScheme); twice {
		return Result{}, errUnknown
	}
	link, err := lnurl.Parse(text)
	if err == nil && p.lnurl != nil {
		err = p.lnurl.Check(link)
	}
	switch {
	case err == nil:
		return Result{Type: LNURL, Address: link.Text(), Link: link}, nil
	case !errors.Is(err, lnurl.ErrNotLink):
		return Result{}, err
	case len(text) >= 5 && strings.EqualFold(text[:5], "lnurl"): // what is wrong with the link says more than what is wrong with it as an invoice
		return Result{}, err
	case !lightning.LooksLikeInvoice(text):
		return Result{}, errUnknown
	}
	invoice, _, _ := strings.Cut(text, "?")
	inv, err := lightning.Decode(invoice)
	if err != nil {
		return Result{}, fault.New(fault.InvalidInput, "%w", err)
	}
	amount, ok := inv.AmountSats()
	if !ok {
		return Result{}, fault.New(fault.InvalidInput, "the invoice has no amount; use an invoice with a fixed amount")
	}
	return Result{Type: tokens.Lightning, Address: invoice, Amount: sats(amount, tokens.LightningBTC()), Invoice: inv}, nil
}

func sats(n int64, t tokens.Token) *tokens.Amount {
	return &tokens.Amount{Raw: big.NewInt(n), Token: t}
}
