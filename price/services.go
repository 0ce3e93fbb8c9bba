package price

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// binance returns the prices of the exchange's spot market. One request per
// trading pair.
func binance(o Options) Source {
	one := func(ctx context.Context, e *exchange, pair string) (float64, error) {
		var a struct {
			Price *number `json:"price"`
		}
		if err := e.get(ctx, "/ticker/price?symbol="+url.QueryEscape(pair), &a); err != nil {
			return 0, err
		}
		return given(a.Price)
	}
	return newExchange(o, "https://api.binance.com/api/v3", exchange{
		name: "Binance", symbols: func(s symbols) string { return s.binance }, unit: fromBitcoin,
		ask:   eachPair(one),
		askUS: func(ctx context.Context, e *exchange) (float64, error) { return one(ctx, e, "BTCUSDC") },
	})
}

// okx returns the exchange's index prices. One request per trading pair.
func okx(o Options) Source {
	one := func(ctx context.Context, e *exchange, pair string) (float64, error) {
		var a struct {
			Data []struct {
				Price *number `json:"idxPx"`
			} `json:"data"`
		}
		if err := e.get(ctx, "/market/index-tickers?instId="+url.QueryEscape(pair), &a); err != nil {
			return 0, err
		}
		if len(a.Data) == 0 {
			return 0, errNoPrice
		}
		return given(a.Data[0].Price)
	}
	return newExchange(o, "https://www.okx.com/api/v5", exchange{
		name: "OKX", symbols: func(s symbols) string { return s.okx }, unit: fromBitcoin,
		ask:   eachPair(one),
		askUS: func(ctx context.Context, e *exchange) (float64, error) { return one(ctx, e, "BTC-USD") },
	})
}

// coinGecko returns the averages of that service. One request.
func coinGecko(o Options) Source {
	one := func(ctx context.Context, e *exchange, id, currency string, precision int) (float64, error) {
		var a map[string]map[string]*number
		path := fmt.Sprintf("/simple/price?ids=%s&vs_currencies=%s&precision=%d", url.QueryEscape(id), currency, precision)
		if err := e.get(ctx, path, &a); err != nil {
			return 0, err
		}
		return given(a[id][currency])
	}
	return newExchange(o, "https://api.coingecko.com/api/v3", exchange{
		name: "CoinGecko", symbols: func(s symbols) string { return s.coinGecko }, unit: fromSats,
		ask:   func(ctx context.Context, e *exchange, id string) (float64, error) { return one(ctx, e, id, "sats", 6) },
		askUS: func(ctx context.Context, e *exchange) (float64, error) { return one(ctx, e, "bitcoin", "usd", 9) },
	})
}

// coinPaprika returns the averages of that service. One request.
func coinPaprika(o Options) Source {
	one := func(ctx context.Context, e *exchange, id, currency string) (float64, error) {
		var a struct {
			Quotes map[string]struct {
				Price *number `json:"price"`
			} `json:"quotes"`
		}
		if err := e.get(ctx, "/tickers/"+url.PathEscape(id)+"?quotes="+currency, &a); err != nil {
			return 0, err
		}
		return given(a.Quotes[currency].Price)
	}
	return newExchange(o, "https://api.coinpaprika.com/v1", exchange{
		name: "CoinPaprika", symbols: func(s symbols) string { return s.coinPaprika }, unit: fromBitcoin,
		ask:   func(ctx context.Context, e *exchange, id string) (float64, error) { return one(ctx, e, id, "BTC") },
		askUS: func(ctx context.Context, e *exchange) (float64, error) { return one(ctx, e, "btc-bitcoin", "USD") },
	})
}

// kraken returns the last trades of the exchange's spot market. One request for
// all pairs of a token.
func kraken(o Options) Source {
	return newExchange(o, "https://api.kraken.com/0", exchange{
		name: "Kraken", symbols: func(s symbols) string { return s.kraken }, unit: fromBitcoin,
		ask:   askKraken,
		askUS: func(ctx context.Context, e *exchange) (float64, error) { return askKraken(ctx, e, "XBTUSDC") },
	})
}

func askKraken(ctx context.Context, e *exchange, symbol string) (float64, error) {
	var a struct {
		Error  json.RawMessage `json:"error"`
		Result map[string]struct {
			Last []json.RawMessage `json:"c"` // price, volume
		} `json:"result"`
	}
	var list []string
	for pair := range strings.SplitSeq(symbol, ";") {
		list = append(list, url.QueryEscape(strings.TrimPrefix(pair, "!")))
	}
	if err := e.get(ctx, "/public/Ticker?pair="+strings.Join(list, ","), &a); err != nil {
		return 0, err
	}
	return pairs(symbol, func(pair string) (float64, error) {
		last := a.Result[pair].Last
		if len(last) == 0 {
			if len(a.Error) > 2 { // more than []
				return 0, fmt.Errorf("%w: %.200s", errNoPrice, a.Error)
			}
			return 0, errNoPrice
		}
		var n *number
		if err := json.Unmarshal(last[0], &n); err != nil {
			return 0, err
		}
		return given(n)
	})
}

// eachPair asks for the pairs of a symbol one after the other.
func eachPair(one func(context.Context, *exchange, string) (float64, error)) func(context.Context, *exchange, string) (float64, error) {
	return func(ctx context.Context, e *exchange, symbol string) (float64, error) {
		return pairs(symbol, func(pair string) (float64, error) { return one(ctx, e, pair) })
	}
}

var errNoPrice = errors.New("the response contains no price")

func given(n *number) (float64, error) {
	if n == nil {
		return 0, errNoPrice
	}
	return float64(*n), nil
}
