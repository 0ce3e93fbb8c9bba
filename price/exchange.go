package price

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/tokens"
)

var million = big.NewInt(1_000_000)

// Options configures a source that is queried over HTTP. The zero value uses
// the public service.
type Options struct {
	URL     string            // base URL, without a slash at the end; "": the public one
	Client  *http.Client      // nil: http.DefaultClient
	Timeout time.Duration     // time limit of one request, body included; 0: 5 s
	Now     func() time.Time  // clock by which [Market]'s prices age; nil: time.Now
	Symbols map[string]string // ticker to the service's symbol, in addition to the built-in ones and overriding them; "" removes a token
}

// maxAnswer bounds the answer of a price service, which has a few hundred bytes.
const maxAnswer = 64 << 10

// exchange is a [Source] that asks one service over HTTP.
type exchange struct {
	name    string
	base    string
	json    httpx.JSON
	symbols func(symbols) string
	own     map[string]string

	ask   func(ctx context.Context, e *exchange, symbol string) (float64, error)
	unit  func(float64) (*big.Int, error)                         // from what ask returns to micro-sats
	askUS func(ctx context.Context, e *exchange) (float64, error) // US dollars per bitcoin
}

func newExchange(o Options, base string, e exchange) *exchange {
	e.base = strings.TrimSuffix(cmp.Or(o.URL, base), "/")
	e.json = httpx.JSON{Timeout: cmp.Or(o.Timeout, 5*time.Second), Limit: maxAnswer}
	if o.Client != nil {
		e.json.HTTP = o.Client
	}
	e.own = o.Symbols
	return &e
}

// Name implements [Source].
func (e *exchange) Name() string { return e.name }

// Price implements [Source]. One request for each pair of the token's symbol,
// one after the other.
func (e *exchange) Price(ctx context.Context, t tokens.Token) (*big.Int, error) {
	symbol, ok := e.own[t.Ticker]
	if !ok {
		symbol = e.symbols(known[t.Ticker])
	}
	if symbol == "" {
		return nil, fmt.Errorf("%w: %s does not list %s", ErrUnknownToken, e.name, t.ID())
	}
	p, err := e.price(ctx, symbol)
	if err == nil {
		err = sane(p)
	}
	if err != nil {
		return nil, fmt.Errorf("price of %s from %s: %w", t.ID(), e.name, err)
	}
	return p, nil
}

func (e *exchange) price(ctx context.Context, symbol string) (*big.Int, error) {
	if sats, ok := strings.CutPrefix(symbol, fixedPrefix); ok {
		n, err := strconv.ParseUint(sats, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("symbol %q: %w", symbol, err)
		}
		return new(big.Int).Mul(new(big.Int).SetUint64(n), million), nil
	}
	v, err := e.ask(ctx, e, symbol)
	if err != nil {
		return nil, err
	}
	return e.unit(v)
}

// USDPerSat implements [Source]. One request.
func (e *exchange) USDPerSat(ctx context.Context) (float64, error) {
	v, err := e.askUS(ctx, e)
	v /= 1e8
	if err == nil {
		err = saneUSD(v)
	}
	if err != nil {
		return 0, fmt.Errorf("US dollar price from %s: %w", e.name, err)
	}
	return v, nil
}

// get asks for path below the base URL.
func (e *exchange) get(ctx context.Context, path string, out any) error {
	return e.json.Get(ctx, e.base+path, out)
}

// pairs multiplies the prices of a symbol's pairs, which are joined by ";" and
// inverted where they begin with "!", in the network's order of operations.
func pairs(symbol string, price func(pair string) (float64, error)) (float64, error) {
	v := 1.0
	for pair := range strings.SplitSeq(symbol, ";") {
		pair, invert := strings.CutPrefix(pair, "!")
		p, err := price(pair)
		if err != nil {
			return 0, err
		}
		if p == 0 {
			return 0, fmt.Errorf("the price of %s is zero", pair)
		}
		if invert {
			p = 1 / p
		}
		v *= p
	}
	return v, nil
}

// fromBitcoin turns a price in bitcoin into micro-sats, cut.
func fromBitcoin(v float64) (*big.Int, error) { return whole(math.Floor(v * 1e14)) }

// fromSats turns a price in sats into micro-sats. The service gives six decimals
// at most, so rounding only takes away what the double adds to them.
func fromSats(v float64) (*big.Int, error) { return whole(math.Round(v * 1e6)) }

func whole(v float64) (*big.Int, error) {
	if math.IsNaN(v) || v < 0 || v > 1e25 {
		return nil, errors.New("the price is out of range")
	}
	n, _ := big.NewFloat(v).Int(nil)
	return n, nil
}

// number reads a price as services write it: a JSON number, or one in a string.
type number float64

// isDecimal reports whether s is a number without a sign: 1 to 40 digits, up to 60
// after a point, and an exponent of up to three digits.
func isDecimal(s string) bool {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exponent := s[i+1:]
		if exponent != "" && (exponent[0] == '+' || exponent[0] == '-') {
			exponent = exponent[1:]
		}
		if !digits(exponent, 3) {
			return false
		}
		s = s[:i]
	}
	whole, fraction, broken := strings.Cut(s, ".")
	return digits(whole, 40) && (!broken || digits(fraction, 60))
}

// digits reports whether s has from 1 to most digits and nothing else.
func digits(s string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, "0123456789") == ""
}

// UnmarshalJSON refuses everything that is not a plain decimal number.
func (n *number) UnmarshalJSON(text []byte) error {
	s := string(text)
	if len(s) > 0 && s[0] == '"' {
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
	}
	if !isDecimal(s) {
		return fmt.Errorf("%.40q is not a valid price", s)
	}
	v, err := strconv.ParseFloat(s, 64)
	*n = number(v)
	return err
}
