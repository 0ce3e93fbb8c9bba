package watchtower

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// Config configures a [Tower]. Bitcoin, Store and Chains are required.
type Config struct {
	Network bitcoin.Network // the zero value is mainnet
	Bitcoin bitcoin.Backend // for withdrawals and proofs; the caller closes it
	// Store keeps what is to be claimed, what was sent, and the books. It should be the
	// watchtower's own: it contains preimages. If it is a [storage.Leaser], Towers of several
	// processes may use it with the same keys; else one Tower uses it at a time, because the
	// transactions of one key must follow each other. The caller closes it.
	Store  storage.Store
	Chains []Account // where to claim
	// AllNodes demands that all nodes of a chain agree before something is claimed, instead
	// of half of them.
	AllNodes bool

	Sources []Source // where messages come from; none: what is handed over in process
	// Vaults also claims what others withdraw from the vaults that the chains' events name, if
	// that pays by the policy. About once a minute the nodes are asked about 64 vaults of each set
	// of contracts, and Bitcoin about the outputs that the next withdrawals spend.
	Vaults bool
	// Payments also claims others' escrows that wait for a bitcoin payment, if that pays by the
	// policy, on chains whose contracts are a [chains.PaymentList] (Solana). About once a minute a node is asked for new
	// ones; while there are any whose claims pay, each Bitcoin block is read, for which Bitcoin must be a
	// [bitcoin.BlockReader].
	Payments bool
	// Prices tell what pay in other tokens than the native one is worth, for example a
	// price.Source. nil: nothing but the native token has worth.
	Prices pricing

	// Approve is asked before a claim is signed, by the goroutine that claims on the chain, and
	// must answer at once. What it declines is asked about again later. nil: all is approved.
	Approve func(Claim) bool

	Every time.Duration     // how often the watchtower looks; 0: 5 s
	HTTP  http.RoundTripper // for the nodes of the chains; nil: [http.DefaultTransport]
	Now   func() time.Time  // nil: the system's clock
	Rand  io.Reader         // nil: the system's secure source; safe for concurrent use
	Log   *slog.Logger      // nil: silence. Preimages are never logged
}

// Claim is a claim that pays by the policy and is about to be signed. Amounts are base units of the
// chain's native token.
type Claim struct {
	ID       string // of what is claimed, the same each time
	Chain    string
	Kind     chains.StepKind
	Own      bool     // for an own user
	Pay      *big.Int // what it earns is worth
	Cost     *big.Int // what it costs, by the chain's estimate
	Replaces bool     // one that is stuck
}

// Account is an account of the operator on one chain.
type Account struct {
	Chain  chains.Factory
	Signer Signer
	Policy Policy
}

// Signer signs for one account of the watchtower's operator. It holds the key, which must
// not be a user's, nor be used by another program: the transactions of one key must
// follow each other. It must be safe for concurrent use.
type Signer interface {
	// Address returns the account's address. It does not change.
	Address() string
	// Sign signs transactions in the form in which [chains.Contract.Build] makes them, and
	// returns them in their order in the form that [chains.Contract.Check] reads.
	Sign(ctx context.Context, unsigned []string) ([]string, error)
}

// Source is where messages of others come from.
type Source interface {
	// Listen calls deliver with messages until ctx ends, whose cause it returns. Any message
	// may be a lie, and may come several times. deliver returns at once, and may be called
	// concurrently.
	Listen(ctx context.Context, deliver func(Message)) error
}

// pricing tells what a whole token (10^Decimals base units) is worth, in any unit that is the
// same for all tokens. A price.Source is one.
type pricing interface {
	Price(ctx context.Context, t tokens.Token) (*big.Int, error)
}

// Policy says what a claim must earn and may cost on one chain. Amounts are base units of
// the chain's native token. The cost of a claim is the most that the network can charge for
// its transactions, or what the chain estimates if that is more.
//
// Whoever loses a race, because somebody else claims first, pays a fee and earns nothing;
// MaxFee bounds this loss.
type Policy struct {
	Profit    *big.Int // what a claim must earn beyond its cost; nil: 0
	Allowance *big.Int // what a claim for an own user may cost beyond what it earns; nil: 0
	MaxFee    *big.Int // the most that one claim may cost, whatever it earns; nil: not bounded
}

// fill checks a configuration and sets what is not set.
func (c Config) fill() (Config, error) {
	switch {
	case c.Bitcoin == nil:
		return c, fault.Invalid("bitcoin", "a Bitcoin backend is required")
	case c.Store == nil:
		return c, fault.Invalid("store", "a store is required")
	case len(c.Chains) == 0:
		return c, fault.Invalid("chains", "at least one chain is required")
	case c.Every < 0:
		return c, fault.Invalid("every", "must not be negative")
	}
	seen := map[string]bool{}
	for i, a := range c.Chains {
		at := fmt.Sprintf("chains[%d]", i)
		switch {
		case a.Chain == nil:
			return c, fault.Invalid(at, "a chain is required")
		case a.Signer == nil:
			return c, fault.Invalid(at, "a signer is required")
		case seen[a.Chain.ID()]:
			return c, fault.Invalid(at, "%s is configured twice", a.Chain.ID())
		}
		for name, n := range map[string]*big.Int{"profit": a.Policy.Profit, "allowance": a.Policy.Allowance, "maxFee": a.Policy.MaxFee} {
			if n != nil && n.Sign() < 0 {
				return c, fault.Invalid(at+".policy."+name, "must not be negative")
			}
		}
		seen[a.Chain.ID()] = true
	}
	c.Every = cmp.Or(c.Every, 5*time.Second)
	if c.HTTP == nil {
		c.HTTP = http.DefaultTransport
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
