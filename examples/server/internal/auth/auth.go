// Package auth authenticates requests: by API keys, by signed tokens, or as an
// anonymous caller.
//
//	keys, err := auth.NewKeys(auth.KeysOptions{Name: "backend", Keys: []auth.Key{{SHA256: hash}}})
//	chain := auth.Chain{keys, auth.Anonymous{Name: "public", Client: proxies.Client}}
//	handler := auth.Require(chain, nil)(httpapi.New(client, httpapi.Options{Caller: auth.Caller}))
//
// A [Chain] asks its entries in order. A handler behind [Require] learns from [Of] who
// calls; give [Caller] to httpapi.Options, so that
// no caller can use the idempotency keys of another.
package auth

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/swapper-go/swapper/internal/httpx"
)

// Kind is how somebody proved who he is.
type Kind string

// The kinds.
const (
	KindKey       Kind = "apiKey"
	KindToken     Kind = "jwt"
	KindAnonymous Kind = "none"
)

// Identity is who sends a request. It holds no secret and may be logged.
type Identity struct {
	Entry   string // name of the authenticator that knows him
	Kind    Kind
	Subject string // who of those that the authenticator knows: a key's name, a token's subject, an address; may be ""
}

// Owner returns a text that differs between identities and that callers cannot choose
// freely: the owner of idempotency keys.
func (i Identity) Owner() string {
	return strconv.Quote(i.Entry) + " " + strconv.Quote(i.Subject)
}

// errUnknown is the error of an [Authenticator] that does not know who sends a
// request: he shows nothing, or nothing that is valid. What is wrong with it is for
// logs; he is not told.
var errUnknown = errors.New("no valid credentials")

// Authenticator knows who sends a request. It is safe for concurrent use, does not
// change the request, and fails with an error that wraps errUnknown.
type Authenticator interface {
	Authenticate(r *http.Request) (Identity, error)
}

// Chain asks authenticators in order; the first that knows the sender counts.
// Credentials that one of them refuses do not end the search: with an [Anonymous]
// entry at the end, a request with a wrong key is treated as anonymous. An empty chain
// refuses every request.
type Chain []Authenticator

// Authenticate implements [Authenticator].
func (c Chain) Authenticate(r *http.Request) (Identity, error) {
	var all []error
	for _, a := range c {
		id, err := a.Authenticate(r)
		if err == nil {
			return id, nil
		}
		all = append(all, err)
	}
	return Identity{}, errors.Join(append(all, errUnknown)...)
}

// Require lets requests through whose sender a knows, and makes [Of] tell who it is.
// All others are answered by refused; nil means [Refused]. Put a limit in front of
// refused where guesses are to be slowed down.
func Require(a Authenticator, refused http.Handler) func(http.Handler) http.Handler {
	if refused == nil {
		refused = http.HandlerFunc(Refused)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			id, err := a.Authenticate(r)
			if err != nil {
				refused.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r.WithContext(with(r.Context(), id)))
		})
	}
}

// Refused answers 401 in the form of the API's errors, with the code unauthorized.
func Refused(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("WWW-Authenticate", "Bearer") // RFC 9110 demands one; API keys have no scheme of their own
	httpx.WriteError(w, http.StatusUnauthorized, "unauthorized", "Unauthorized", 0)
}

type contextKey struct{}

// with returns a context that says who calls.
func with(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// Of returns who calls, and whether that is known.
func Of(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(contextKey{}).(Identity)
	return id, ok
}

// Caller returns the owner of the idempotency keys of a request that [Require] let
// through, "" of any other.
func Caller(r *http.Request) string {
	id, ok := Of(r.Context())
	if !ok {
		return ""
	}
	return id.Owner()
}
