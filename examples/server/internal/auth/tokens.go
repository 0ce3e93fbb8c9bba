package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/swapper-go/swapper/examples/server/internal/serve"
)

// TokensOptions are the tokens that [NewTokens] accepts.
type TokensOptions struct {
	Name string // of this authenticator

	// PublicKey is one key in PEM form, JWKSFile the path of a JSON Web Key Set (RFC
	// 7517); one of them is required. The file is read again when it changes; a version
	// that cannot be read leaves the one before in force, and keys that verify nothing
	// here are left out. A token that names a key (kid) is verified by a key of that name
	// or by one without a name.
	PublicKey, JWKSFile string

	// Algorithms are those that are accepted, of RS256, RS384, RS512, PS256, PS384,
	// PS512, ES256, ES384, ES512 and EdDSA. Empty: RS256, ES256 and EdDSA. Each is
	// only ever used with a key that is made for it.
	Algorithms []string

	Issuer   string // that a token must name; "": any
	Audience string // that a token must be for; "": any
	// Claims must all be in a token with the same JSON value; {"includes": v} asks for
	// a list that contains v.
	Claims map[string]any
	Leeway time.Duration // by how much clocks may differ; 0 is none
	// WithoutExp accepts tokens without an expiry. Such a token is good until its key is
	// taken away.
	WithoutExp bool

	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // tells of changes of JWKSFile; nil: silent
}

// Tokens knows the bearers of JSON Web Tokens (RFC 7519) in the header Authorization:
// Bearer. A token must have an expiry, unless WithoutExp is set: one without is good for ever.
// exp and nbf are obeyed. It must have a sub, which is its subject: all bearers of tokens without one
// would be one caller. Make one with [NewTokens].
type Tokens struct {
	name   string
	parser *jwt.Parser
	accept []string
	claims map[string]any
	one    []verificationKey
	set    *serve.Value[[]verificationKey]
}

// usualAlgorithms are accepted where nothing else is configured.
var usualAlgorithms = []string{"RS256", "ES256", "EdDSA"}

// NewTokens returns an authenticator. It fails if there is no key, if a key cannot be
// read, or if an algorithm cannot be used with the public key.
func NewTokens(o TokensOptions) (*Tokens, error) {
	t := &Tokens{name: o.Name, accept: o.Algorithms}
	if len(t.accept) == 0 {
		t.accept = usualAlgorithms
	}
	asymmetric := []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
	for _, a := range t.accept {
		if !slices.Contains(asymmetric, a) {
			return nil, fmt.Errorf("algorithms: %q cannot be used, must be one of %s", a, strings.Join(asymmetric, ", "))
		}
	}
	switch {
	case (o.PublicKey == "") == (o.JWKSFile == ""):
		return nil, errors.New("exactly one of publicKey and jwksFile is required")
	case o.PublicKey != "":
		key, err := parsePEM(o.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("publicKey: %w", err)
		}
		for _, a := range o.Algorithms {
			if !slices.Contains(key.algorithms, a) {
				return nil, fmt.Errorf("algorithms: %q cannot be used with this public key; it has %s", a, strings.Join(key.algorithms, ", "))
			}
		}
		t.one = []verificationKey{key}
	default:
		log := o.Logger
		if log == nil {
			log = slog.New(slog.DiscardHandler)
		}
		set, err := serve.Watch(log, func() ([]verificationKey, error) { return readJWKS(o.JWKSFile, log) }, o.JWKSFile)
		if err != nil {
			return nil, fmt.Errorf("jwksFile: %w", err)
		}
		t.set = set
	}
	if err := sameForm(o.Claims, &t.claims); err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	options := []jwt.ParserOption{jwt.WithValidMethods(t.accept), jwt.WithJSONNumber(), jwt.WithLeeway(o.Leeway)}
	if !o.WithoutExp {
		options = append(options, jwt.WithExpirationRequired())
	}
	if o.Issuer != "" {
		options = append(options, jwt.WithIssuer(o.Issuer))
	}
	if o.Audience != "" {
		options = append(options, jwt.WithAudience(o.Audience))
	}
	if o.Now != nil {
		options = append(options, jwt.WithTimeFunc(o.Now))
	}
	t.parser = jwt.NewParser(options...)
	return t, nil
}

// Authenticate implements [Authenticator].
func (t *Tokens) Authenticate(r *http.Request) (Identity, error) {
	scheme, text, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return Identity{}, fmt.Errorf("no bearer token: %w", errUnknown)
	}
	text = strings.TrimLeft(text, " ")
	claims := jwt.MapClaims{}
	if _, err := t.parser.ParseWithClaims(text, claims, t.keys); err != nil {
		return Identity{}, fmt.Errorf("%w: %w", errUnknown, err)
	}
	for name, want := range t.claims {
		if got, ok := claims[name]; !ok || !matches(got, want) {
			return Identity{}, fmt.Errorf("claim %q: %w", name, errUnknown)
		}
	}
	subject, err := claims.GetSubject()
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", errUnknown, err)
	}
	if subject == "" {
		return Identity{}, fmt.Errorf("claim %q: %w", "sub", errUnknown)
	}
	return Identity{Entry: t.name, Kind: KindToken, Subject: subject}, nil
}

// keys returns the keys that may verify a token.
func (t *Tokens) keys(token *jwt.Token) (any, error) {
	if _, ok := token.Header["crit"]; ok { // RFC 7515 §4.1.11
		return nil, errors.New("the token has critical extensions, and none is known here")
	}
	id, _ := token.Header["kid"].(string)
	known := t.one
	if t.set != nil {
		known = t.set.Get()
	}
	var fitting jwt.VerificationKeySet
	for _, k := range known {
		if slices.Contains(k.algorithms, token.Method.Alg()) && (k.id == "" || id == "" || k.id == id) {
			fitting.Keys = append(fitting.Keys, k.key)
		}
	}
	if len(fitting.Keys) == 0 {
		return nil, errors.New("no key of this name is made for the token's algorithm")
	}
	return fitting, nil
}

// sameForm brings configured claims into the form in which tokens are read.
func sameForm(from map[string]any, into *map[string]any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

func matches(got, want any) bool {
	if rule, ok := want.(map[string]any); ok && len(rule) == 1 {
		if member, ok := rule["includes"]; ok {
			list, ok := got.([]any)
			return ok && slices.ContainsFunc(list, func(x any) bool { return reflect.DeepEqual(x, member) })
		}
	}
	return reflect.DeepEqual(got, want) // strictly: 3 is not "3"
}
