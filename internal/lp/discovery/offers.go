package discovery

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/tokens"
)

// Side is how a token is used in a swap.
type Side int

const (
	Input  Side = iota // paid by the user
	Output             // paid out to the user
)

// offerOrder is the order in which an LP's services make tokens appear.
var offerOrder = [...]lp.Service{lp.ToBTC, lp.ToBTCLN, lp.FromBTC, lp.FromBTCLN, lp.SPVFromBTC, lp.FromBTCLNAuto}

// Supported returns the tokens that can be used on a side: bitcoin on Lightning
// and on Bitcoin first, then chain by chain as LPs offer them (protocol:
// swap-flows-spv-and-core.md C8).
func (d *Directory) Supported(side Side) []tokens.Token {
	var out []tokens.Token
	for _, btc := range []tokens.Token{tokens.LightningBTC(), tokens.BTC()} {
		if len(d.offered(btc, 1-side)) > 0 {
			out = append(out, btc)
		}
	}
	list := grouped{}
	d.each(func(s lp.Service, t tokens.Token) {
		if s.ToBitcoin() == (side == Input) {
			list.add(t)
		}
	})
	return append(out, list.all()...)
}

// Counter returns the tokens that a token can be swapped with. side is how the
// token itself is used: of an input it returns what can be received for it.
func (d *Directory) Counter(t tokens.Token, side Side) []tokens.Token {
	if t == tokens.LightningBTC() || t == tokens.BTC() {
		return d.offered(t, 1-side)
	}
	var out []tokens.Token
	for _, btc := range []tokens.Token{tokens.LightningBTC(), tokens.BTC()} {
		found := false
		d.each(func(s lp.Service, offered tokens.Token) {
			found = found || offered == t && s.ToBitcoin() == (side == Input) && bitcoinOf(s) == btc
		})
		if found {
			out = append(out, btc)
		}
	}
	return out
}

// offered returns the tokens of smart chains that stand on a side of a swap with
// btc on the other.
func (d *Directory) offered(btc tokens.Token, side Side) []tokens.Token {
	list := grouped{}
	d.each(func(s lp.Service, t tokens.Token) {
		if s.ToBitcoin() == (side == Input) && bitcoinOf(s) == btc {
			list.add(t)
		}
	})
	return list.all()
}

// each yields every token of every service that LPs offer and the token's chain
// uses. An LP without a service for one chain does not end the search in its
// others (protocol: swap-flows-spv-and-core.md D26).
func (d *Directory) each(yield func(lp.Service, tokens.Token)) {
	now := d.s.Now()
	for _, p := range d.LPs() {
		for _, service := range offerOrder {
			s := p.Services[service]
			for _, chain := range d.s.Chains { // in this order, whatever the LP's own is
				info := chain.Info()
				if !uses(info, service) {
					continue
				}
				for _, address := range s.Tokens(info.ID) {
					t, known := d.s.Tokens.ByAddress(info.ID, address)
					if known && d.penalties.free(p.URL, lp.Pair{Service: service, Chain: t.Chain, Token: t.Address}, now) {
						yield(service, t)
					}
				}
			}
		}
	}
}

// uses reports whether a chain is routed through a service.
func uses(info chains.Info, s lp.Service) bool {
	return s.ToBitcoin() || s == lp.FromLightning(info) || s == lp.FromBitcoin(info)
}

// bitcoinOf returns the form of bitcoin that a service swaps.
func bitcoinOf(s lp.Service) tokens.Token {
	switch s {
	case lp.ToBTCLN, lp.FromBTCLN, lp.FromBTCLNAuto, lp.TrustedFromBTCLN:
		return tokens.LightningBTC()
	}
	return tokens.BTC()
}

// grouped is a set of tokens: chains in the order in which they appeared, and
// within each its tokens likewise.
type grouped struct {
	chains []string
	tokens map[string][]tokens.Token
	seen   map[tokens.Token]bool
}

func (g *grouped) add(t tokens.Token) {
	if g.seen == nil {
		g.seen, g.tokens = map[tokens.Token]bool{}, map[string][]tokens.Token{}
	}
	if g.seen[t] {
		return
	}
	g.seen[t] = true
	if g.tokens[t.Chain] == nil {
		g.chains = append(g.chains, t.Chain)
	}
	g.tokens[t.Chain] = append(g.tokens[t.Chain], t)
}

func (g *grouped) all() []tokens.Token {
	var out []tokens.Token
	for _, c := range g.chains {
		out = append(out, g.tokens[c]...)
	}
	return out
}
