package lp

import (
	"context"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
)

// ledger is a smart chain with the LP's account on it. Addresses and tokens are
// texts in the chain's canonical form, amounts are base units. It is safe for
// concurrent use.
type ledger interface {
	chain() string   // its identifier
	version() string // of the contracts
	address() string // the LP's
	native() string  // the token that gas is paid in
	opens() bool     // the LP can open an escrow without the claimer: FROM_BTCLN_AUTO
	authTime() int64 // seconds in which a swap may be opened (protocol: lp-protocol.md §8.1)

	parseAddress(text string) (string, error)
	parseToken(text string) (string, error)

	// signData signs what the LP says of itself, with a stranger's key on request.
	signData(data []byte, stranger bool) (string, error)
	// prefetch is what clients are told early for checking authorisations
	// (signDataPrefetch); nil if the chain has nothing of the kind.
	prefetch(ctx context.Context) (any, error)

	escrow(spec chains.Spec, lie EscrowLie) (chains.Escrow, error)
	// authorizeInit lets the other party open an escrow until a time in Unix
	// seconds, at the fee rate that it sent.
	authorizeInit(ctx context.Context, e chains.Escrow, feeRate string, until int64, stranger bool) (chains.Auth, error)
	// authorizeRefund lets the user take an escrow back until a time in Unix seconds.
	authorizeRefund(e chains.Escrow, until int64, stranger bool) (chains.Auth, error)

	head() chains.Block
	// facts are those of escrows at the head, by [factKey]. One that was asked for
	// in vain is missing.
	facts(ctx context.Context, of []chains.Escrow, at chains.Block) (map[string]chains.EscrowFact, error)
	funds(ctx context.Context, token string) (*big.Int, error) // of the LP in the contracts
	gas(ctx context.Context) (*big.Int, error)                 // native coin of the LP

	refundCost() *big.Int // native coin that taking an escrow back costs

	deposit(ctx context.Context, token string, amount *big.Int) error // into the contracts
	pay(ctx context.Context, to string, amount *big.Int) (txID string, err error)
	// open sends an escrow of the LP's that needs no other signature. It does not
	// wait for it.
	open(ctx context.Context, e chains.Escrow, until int64) error
	claimSecret(ctx context.Context, e chains.Escrow, secret [32]byte) error
	// claimBitcoin proves a payment that is deep enough, once the relay knows its block.
	claimBitcoin(ctx context.Context, e chains.Escrow, id btc.Hash, vout, confirmations uint32) error
	refund(ctx context.Context, e chains.Escrow, now time.Time) error

	close() error
}

// factKey is what facts of an escrow are kept under.
func factKey(e chains.Escrow) string { return string(e.Hash) }

// side is a chain that the LP serves, with what it deals in there.
type side struct {
	faced
	tokens []Token
	gasMax *big.Int // base units of the native coin
	prices map[string]Price
	seen   look // of the goroutine that follows the chains
}

func newSide(g ledger, tokens []Token, gasMax *big.Int) *side {
	s := &side{faced: faced{ledger: g}, tokens: tokens, gasMax: gasMax, prices: make(map[string]Price)}
	for _, t := range tokens {
		s.prices[t.Address] = t.Price
	}
	return s
}

func (s *side) price(token string) (Price, bool) {
	p, ok := s.prices[token]
	return p, ok
}

// side finds the chain that a request is for.
func (l *LP) side(r *reader) (*side, error) {
	chain, _ := r.query("chain")
	for _, s := range l.sides {
		if s.chain() == chain {
			return s, nil
		}
	}
	return nil, refuse(20200, "Invalid chain specified")
}

// address reads an address of a chain.
func (r *reader) address(s *side, name string) string {
	return r.parsed(name, s.parseAddress)
}

// token reads the address of a chain's token.
func (r *reader) token(s *side, name string) string { return r.parsed(name, s.parseToken) }

func (r *reader) parsed(name string, parse func(string) (string, error)) string {
	text := r.str(name)
	if r.err != nil {
		return ""
	}
	v, err := parse(text)
	if err != nil {
		r.bad(name)
	}
	return v
}
