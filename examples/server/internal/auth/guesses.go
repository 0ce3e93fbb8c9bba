package auth

import (
	"crypto/sha256"
	"fmt"
	"net/http"

	"github.com/swapper-go/swapper/internal/bounds"
)

// maxKnown is how many accepted credentials [Guesses] remembers.
const maxKnown = 4096

// guesses bounds how often strangers have credentials verified.
type guesses struct {
	inner  Authenticator
	may    func(*http.Request) bool
	failed func(*http.Request)
	known  *bounds.Cache[[sha256.Size]byte, bool] // whether they were right the last time
}

// Guesses puts a bound on how often a sender can have a look at the Authorization header that
// costs something, as the signature of a token: may says whether there is another guess
// for him, failed is told of each that was wrong. What was right lately is looked at however
// often others at the same address guess; a request without the header costs nothing.
func Guesses(a Authenticator, may func(*http.Request) bool, failed func(*http.Request)) Authenticator {
	return &guesses{a, may, failed, bounds.NewCache[[sha256.Size]byte, bool](maxKnown)}
}

// Authenticate implements [Authenticator].
func (g *guesses) Authenticate(r *http.Request) (Identity, error) {
	shown := r.Header.Get("Authorization")
	if shown == "" {
		return g.inner.Authenticate(r)
	}
	sum := sha256.Sum256([]byte(shown))
	known, _ := g.known.Get(sum)
	if !known && !g.may(r) {
		return Identity{}, fmt.Errorf("too many credentials of this sender were wrong: %w", errUnknown)
	}
	id, err := g.inner.Authenticate(r)
	if err != nil {
		g.failed(r)
		if known { // it has ended, or its key has gone
			g.known.Add(sum, false)
		}
		return Identity{}, err
	}
	g.known.Add(sum, true)
	return id, nil
}
