package devnet

import (
	"math/big"
	"net/http"
	"sync"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/price"
)

// Service is one of the price services.
type PriceService string

const (
	Binance     PriceService = "binance"
	OKX         PriceService = "okx"
	CoinGecko   PriceService = "coingecko"
	CoinPaprika PriceService = "coinpaprika"
	Kraken      PriceService = "kraken"
)

// Services are all of them.
func Services() []PriceService { return []PriceService{Binance, OKX, CoinGecko, CoinPaprika, Kraken} }

// PriceFault is what is wrong with a service. The zero value is a good one.
type PriceFault struct {
	loopback.Fault
	Percent int    // of the true price that it tells, as in 150; 0: the truth
	Says    string // JSON that it gives for every price, as in "-1", `"NaN"` or null; "": a price
	Unknown bool   // it says of every token that it does not know it
}

// Server is a running market. Its methods are safe for concurrent use.
type Server struct {
	*loopback.Server

	mu       sync.Mutex
	worth    map[string]*big.Rat // micro-sats per coin, by ticker
	faults   map[PriceService]PriceFault
	requests map[PriceService]int
}

// Start starts a market; address is host:port, "" for a free port of 127.0.0.1.
// A bitcoin is worth 100 000 US dollars, stable coins one, others something near
// what they have been.
func StartPrices(address string) (*Server, error) { return startPricesOn(nil, address) }

// startPricesOn is [StartPrices] on another network than loopback sockets.
func startPricesOn(network *loopback.Network, address string) (*Server, error) {
	s := &Server{faults: map[PriceService]PriceFault{}, requests: map[PriceService]int{}, worth: map[string]*big.Rat{"BTC": big.NewRat(1e14, 1)}}
	for ticker, microSats := range map[string]int64{
		"USD": 1e9, "USDC": 1e9, "USDT": 1e9, "WBTC": 1e14, "TBTC": 1e14, "ETH": 35e11, "SOL": 16e10, "STRK": 13e7, "BONK": 20_000,
	} {
		s.worth[ticker] = big.NewRat(microSats, 1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /binance/ticker/price", s.service(Binance, s.binance))
	mux.HandleFunc("GET /okx/market/index-tickers", s.service(OKX, s.okx))
	mux.HandleFunc("GET /coingecko/simple/price", s.service(CoinGecko, s.coinGecko))
	mux.HandleFunc("GET /coinpaprika/tickers/{id}", s.service(CoinPaprika, s.coinPaprika))
	mux.HandleFunc("GET /kraken/public/Ticker", s.service(Kraken, s.kraken))
	var err error
	s.Server, err = network.Serve(address, mux)
	return s, err
}

// Set sets what one whole token of a ticker is worth, in micro-sats; nil makes it
// unknown. USD is a ticker too. What a bitcoin is worth in bitcoin does not change.
func (s *Server) Set(ticker string, microSats *big.Int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ticker == "BTC":
	case microSats == nil || microSats.Sign() <= 0:
		delete(s.worth, ticker)
	default:
		s.worth[ticker] = new(big.Rat).SetInt(microSats)
	}
}

// Misbehave changes what is wrong with a service from the next request on.
func (s *Server) Misbehave(who PriceService, f PriceFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[who] = f
}

// MisbehaveAll is [Server.Misbehave] for all services.
func (s *Server) MisbehaveAll(f PriceFault) {
	for _, who := range Services() {
		s.Misbehave(who, f)
	}
}

// Requests returns how many requests a service has had.
func (s *Server) Requests(who PriceService) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[who]
}

// baseURL returns what stands for a service's public base URL.
func (s *Server) baseURL(who PriceService) string { return s.URL() + "/" + string(who) }

// Sources returns the library's sources, pointed at this market; o.URL is set.
func (s *Server) Sources(o price.Options) []price.Source {
	var list []price.Source
	for _, who := range Services() {
		o.URL = s.baseURL(who)
		source, err := price.Service(string(who), o)
		if err != nil {
			panic(err) // the names of this market are the library's
		}
		list = append(list, source)
	}
	return list
}

// Market returns the source that stands for [price.Market] here. It remembers
// nothing, so that changes show at once.
func (s *Server) Market() price.Source {
	return price.Median{Sources: s.Sources(price.Options{})}
}
