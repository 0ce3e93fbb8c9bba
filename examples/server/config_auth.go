package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/swapper-go/swapper/examples/server/internal/auth"
	"github.com/swapper-go/swapper/examples/server/internal/serve"
	"github.com/swapper-go/swapper/httpapi/limit"
)

// entryConfig admits one kind of caller.
type entryConfig struct {
	Type, Name string // apiKey, jwt or none

	// The keys of an apiKey entry: a key's text, one of these or a variable that has it,
	// or the SHA-256 of its text, which keeps the key itself out of the file; and a file
	// of hashes and holders.
	APIKey       string `secret:"text"`
	APIKeyEnv    string
	APIKeySHA256 texts
	APIKeysFile  string
	Header       string // of an apiKey entry; "x-api-key"

	PublicKey, JWKSFile string // of a jwt entry: PEM, or a key set
	Algorithms          []string
	Claims              claims // every one must match; {"includes": v} asks for a list that contains v
	Issuer, Audience    string // "" asks for none
	Leeway              duration
	WithoutExp          bool // tokens without exp are accepted, which are good for ever

	RateLimit entryLimit // absent: the global one; null: none
}

// rateConfig is so many requests per window and sender.
type rateConfig struct {
	WindowMs    int64
	MaxRequests int64
	Per         string // address, or caller: the key's holder or the token's subject
}

func (c rateConfig) rate() limit.Rate {
	return limit.Rate{Requests: c.MaxRequests, Window: time.Duration(c.WindowMs) * time.Millisecond}
}

func (c rateConfig) check() error {
	switch {
	case c.WindowMs <= 0 || c.MaxRequests <= 0:
		return errors.New("rateLimit: windowMs and maxRequests must be above 0")
	case c.WindowMs > longestWindow.Milliseconds() || c.MaxRequests > most:
		return fmt.Errorf("rateLimit: windowMs must be at most %d, a year, and maxRequests %d", longestWindow.Milliseconds(), most)
	case c.Per != "" && c.Per != "address" && c.Per != "caller":
		return fmt.Errorf("rateLimit.per: must be address or caller, not %q", c.Per)
	}
	return nil
}

// entryLimit is a rate of an entry's own.
type entryLimit struct {
	given bool
	own   *rateConfig // nil: none
}

func (l *entryLimit) fromYAML(n *yaml.Node, path string) error {
	l.given = true
	if n.Tag == "!!null" {
		return nil
	}
	l.own = new(rateConfig)
	return decodeInto(n, l.own, path)
}

// claims are values of any form.
type claims map[string]any

func (c *claims) fromYAML(n *yaml.Node, path string) error {
	if err := n.Decode((*map[string]any)(c)); err != nil {
		return wrong(n, path, "must be a mapping of names to values")
	}
	return nil
}

// texts is a text or a list of them.
type texts []string

func (t *texts) fromYAML(n *yaml.Node, path string) error {
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag != "!!null" {
			*t = texts{n.Value}
		}
		return nil
	case yaml.SequenceNode:
		return decodeInto(n, (*[]string)(t), path)
	}
	return wrong(n, path, "must be a text or a list of texts")
}

// admission is who may call, and how often.
type admission struct {
	chain  auth.Chain
	rates  map[string]*rateConfig // by entry; nil: none
	global rateConfig
	client serve.Trusted
	// guesses are logins that were refused, and signatures that were wrong.
	guesses, signatures *limit.Limiter
	// instances is how many servers share the database; each allows its part of a rate.
	instances func() int
}

// admission makes the authenticators. path says where files lie.
func (c *config) admission(log *slog.Logger) (*admission, error) {
	a := &admission{rates: map[string]*rateConfig{}, global: c.RateLimit, client: c.TrustedProxies, instances: func() int { return 1 },
		guesses: limit.New(nil), signatures: limit.New(nil)}
	var all []error
	for i, e := range c.Auth {
		who, err := e.authenticator(c.path, c.TrustedProxies, log)
		if err != nil {
			all = append(all, fmt.Errorf("auth[%d].%w", i, err))
		}
		if a.rates[e.Name], err = e.rate(c.RateLimit); err != nil {
			all = append(all, fmt.Errorf("auth[%d].%w", i, err))
		}
		for _, other := range c.Auth[:i] {
			if other.Name == e.Name && e.Name != "" {
				all = append(all, fmt.Errorf("auth[%d].name: %q is taken", i, e.Name))
			}
		}
		if e.Type == "jwt" {
			who = told{auth.Guesses(who, a.mayGuess, a.guessed), e.Name}
		}
		a.chain = append(a.chain, who)
	}
	return a, errors.Join(all...)
}

// told adds to a request's line in the log why its token was refused: the caller is not told, and
// is let in by a later entry perhaps.
type told struct {
	auth.Authenticator
	entry string
}

func (t told) Authenticate(r *http.Request) (auth.Identity, error) {
	id, err := t.Authenticator.Authenticate(r)
	if err != nil && r.Header.Get("Authorization") != "" {
		serve.Add(r.Context(), slog.String("refused", t.entry+": "+err.Error()))
	}
	return id, err
}

func (c entryConfig) rate(global rateConfig) (*rateConfig, error) {
	switch {
	case !c.RateLimit.given:
		return &global, nil
	case c.RateLimit.own == nil:
		return nil, nil
	}
	return c.RateLimit.own, c.RateLimit.own.check()
}

func (c entryConfig) authenticator(path func(string) string, trusted serve.Trusted, log *slog.Logger) (auth.Authenticator, error) {
	if c.Name == "" {
		return nil, errors.New("name: is required, such as public: logs and limits know the entry by it")
	}
	switch c.Type {
	case "none":
		return auth.Anonymous{Name: c.Name, Client: trusted.Client}, nil
	case "apiKey":
		o := auth.KeysOptions{Name: c.Name, Header: c.Header, File: path(c.APIKeysFile), Logger: log}
		add := func(hash [sha256.Size]byte) { o.Keys = append(o.Keys, auth.Key{SHA256: hash}) }
		if c.APIKey != "" {
			add(auth.HashKey(c.APIKey))
		}
		if c.APIKeyEnv != "" {
			key := os.Getenv(c.APIKeyEnv)
			if key == "" {
				return nil, fmt.Errorf("apiKeyEnv: names %s, which is not set", c.APIKeyEnv)
			}
			add(auth.HashKey(key))
		}
		for _, text := range c.APIKeySHA256 {
			hash, err := auth.ParseKeyHash(text)
			if err != nil {
				return nil, fmt.Errorf("apiKeySHA256: %w", err)
			}
			add(hash)
		}
		if len(o.Keys) == 0 && o.File == "" {
			return nil, errors.New("apiKeySHA256: or apiKeysFile, apiKeyEnv or apiKey is required")
		}
		keys, err := auth.NewKeys(o)
		if err != nil {
			return nil, fmt.Errorf("apiKeysFile: %w", err)
		}
		return keys, nil
	case "jwt":
		tokens, err := auth.NewTokens(auth.TokensOptions{Name: c.Name, PublicKey: c.PublicKey, JWKSFile: path(c.JWKSFile), Algorithms: c.Algorithms, Claims: c.Claims,
			Issuer: c.Issuer, Audience: c.Audience, Leeway: time.Duration(c.Leeway), WithoutExp: c.WithoutExp, Logger: log})
		if err != nil {
			return nil, err
		}
		return tokens, nil
	}
	return nil, fmt.Errorf("type: must be apiKey, jwt or none, not %q", c.Type)
}

// allowed says whose request it is, and how many like it there may be: for
// [limit.Requests].
func (a *admission) allowed(r *http.Request) (limit.Sender, limit.Rate) {
	id, _ := auth.Of(r.Context())
	at := a.rates[id.Entry]
	if at == nil {
		return limit.Sender{}, limit.Rate{}
	}
	if at.Per == "caller" && id.Kind != auth.KindAnonymous {
		return limit.Named(id.Entry, id.Owner()), a.share(at)
	}
	return a.line(id.Entry, r), a.share(at)
}

// refused is the same for who could not log in: others may share his address, behind
// one gateway or by a wrong key left in a script, so that what he does costs the
// holder of a valid key nothing.
func (a *admission) refused(r *http.Request) (limit.Sender, limit.Rate) {
	return a.line("", r), a.share(&a.global)
}

// mayGuess reports whether a signature that a sender shows is looked at: as often as a refused
// login is answered. Otherwise a flood of forged ones would take the processor before
// any rate is asked.
func (a *admission) mayGuess(r *http.Request) bool { return a.signatures.Left(a.refused(r)) }

func (a *admission) guessed(r *http.Request) {
	s, at := a.refused(r)
	a.signatures.AllowSender(s, at, 1)
}

// share is what this server allows of a rate.
func (a *admission) share(at *rateConfig) limit.Rate { return at.rate().Share(a.instances()) }

// sender says whose request it is, for what is bounded at once: only its entry is named if
// that has no limit. Each entry has places of its own.
func (a *admission) sender(r *http.Request) limit.Sender {
	id, _ := auth.Of(r.Context())
	switch {
	case a.rates[id.Entry] == nil:
		return limit.Sender{Crowd: id.Entry}
	case id.Kind == auth.KindAnonymous:
		return a.line(id.Entry, r)
	}
	return limit.Named(id.Entry, id.Owner())
}

func (a *admission) line(crowd string, r *http.Request) limit.Sender {
	return limit.Line(crowd, a.client.Client(r))
}
