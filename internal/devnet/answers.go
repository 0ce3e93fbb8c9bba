package devnet

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
)

var errUnknown = errors.New("unknown")

// service puts the faults in front of a service's answers. An answer gets the
// function that quotes one coin in another.
func (s *Server) service(who PriceService, answer func(r *http.Request, quote quoter) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		f := s.faults[who]
		s.requests[who]++
		s.mu.Unlock()
		if f.Spoil(w, r) {
			return
		}
		v, err := answer(r, func(base, in string, digits int) (json.RawMessage, error) { return s.quote(f, base, in, digits) })
		if err != nil {
			http.Error(w, `{"error":"unknown symbol"}`, http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
}

// quoter returns the price of a coin in another one as JSON: a number with so many
// digits after the point.
type quoter func(base, in string, digits int) (json.RawMessage, error)

func (s *Server) quote(f PriceFault, base, in string, digits int) (json.RawMessage, error) {
	if f.Says != "" {
		return json.RawMessage(f.Says), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	worth, unit := s.worth[base], s.worth[in]
	if in == "SATS" {
		unit = big.NewRat(1e6, 1)
	}
	if worth == nil || unit == nil || f.Unknown {
		return nil, errUnknown
	}
	v := new(big.Rat).Quo(worth, unit)
	if f.Percent != 0 {
		v.Mul(v, big.NewRat(int64(f.Percent), 100))
	}
	return json.RawMessage(v.FloatString(digits)), nil
}

// text puts a number into a string, as exchanges do.
func text(n json.RawMessage) json.RawMessage {
	if len(n) > 0 && (n[0] >= '0' && n[0] <= '9' || n[0] == '-') {
		return json.RawMessage(`"` + string(n) + `"`)
	}
	return n
}

// quoted are the coins that exchanges quote others in, longest first.
func quoted() []string { return []string{"USDC", "USDT", "BTC", "USD"} }

// split cuts a pair without a separator into its coins.
func split(pair string) (base, in string, err error) {
	for _, in := range quoted() {
		if base, ok := strings.CutSuffix(pair, in); ok && base != "" {
			return base, in, nil
		}
	}
	return "", "", errUnknown
}

const exchangeDigits = 18

func (s *Server) binance(r *http.Request, quote quoter) (any, error) {
	pair := r.FormValue("symbol")
	base, in, err := split(pair)
	if err != nil {
		return nil, err
	}
	v, err := quote(base, in, exchangeDigits)
	return map[string]any{"symbol": pair, "price": text(v)}, err
}

func (s *Server) okx(r *http.Request, quote quoter) (any, error) {
	pair := r.FormValue("instId")
	base, in, _ := strings.Cut(pair, "-")
	v, err := quote(base, in, exchangeDigits)
	if err != nil { // the service says it in a body with status 200
		return map[string]any{"code": "51001", "msg": "unknown instrument", "data": []any{}}, nil
	}
	return map[string]any{"code": "0", "msg": "", "data": []any{map[string]any{"instId": pair, "idxPx": text(v)}}}, nil
}

// geckoIDs are the names of coins in CoinGecko.
func geckoIDs() map[string]string {
	return map[string]string{
		"bitcoin": "BTC", "wrapped-bitcoin": "WBTC", "tbtc": "TBTC", "usd-coin": "USDC", "tether": "USDT", "solana": "SOL", "bonk": "BONK", "ethereum": "ETH",
		"starknet": "STRK",
	}
}

func (s *Server) coinGecko(r *http.Request, quote quoter) (any, error) {
	var digits int
	if _, err := fmt.Sscan(r.FormValue("precision"), &digits); err != nil || digits < 0 || digits > 18 {
		return nil, errUnknown
	}
	id, in := r.FormValue("ids"), r.FormValue("vs_currencies")
	v, err := quote(geckoIDs()[id], strings.ToUpper(in), digits)
	if err != nil { // the service leaves out what it does not know
		return map[string]any{}, nil
	}
	return map[string]any{id: map[string]any{in: v}}, nil
}

func (s *Server) coinPaprika(r *http.Request, quote quoter) (any, error) {
	ticker, _, _ := strings.Cut(r.PathValue("id"), "-")
	in := r.FormValue("quotes")
	v, err := quote(strings.ToUpper(ticker), in, exchangeDigits)
	return map[string]any{"id": r.PathValue("id"), "quotes": map[string]any{in: map[string]any{"price": v}}}, err
}

// krakenPair cuts a pair into its coins, which have old names there.
func krakenPair(pair string) (base, in string, err error) {
	old := map[string][2]string{"XETHXXBT": {"ETH", "BTC"}, "XXBTZUSD": {"BTC", "USD"}}
	if p, ok := old[pair]; ok {
		return p[0], p[1], nil
	}
	return split(strings.ReplaceAll(pair, "XBT", "BTC"))
}

func (s *Server) kraken(r *http.Request, quote quoter) (any, error) {
	result := map[string]any{}
	for pair := range strings.SplitSeq(r.FormValue("pair"), ",") {
		base, in, err := krakenPair(pair)
		var v json.RawMessage
		if err == nil {
			v, err = quote(base, in, exchangeDigits)
		}
		if err != nil { // the service says it in a body with status 200
			return map[string]any{"error": []string{"EQuery:Unknown asset pair"}}, nil
		}
		result[pair] = map[string]any{"c": []any{text(v), json.RawMessage(`"1.0"`)}}
	}
	return map[string]any{"error": []string{}, "result": result}, nil
}
