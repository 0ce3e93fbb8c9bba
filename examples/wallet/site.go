package main

import (
	"errors"
	"math/big"
	"net/http"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/swappertest"
	"github.com/swapper-go/swapper/tokens"
)

// evmChainID is the number of the local network's EVM chain.
const evmChainID = 31337

// site tells the page what the operations do not: the network's name, by which it chooses
// links to explorers, how a browser wallet reaches the chains, what it verifies with, the
// local network's time, and what tokens are worth.
type site struct {
	swaps    swapper.Service
	prices   price.Source
	chains   map[string]addedChain
	wallet   map[string]any // what the page verifies with
	verifies *verifier
	now      func() time.Time
}

// addedChain is the parameter of wallet_addEthereumChain (EIP-3085).
type addedChain struct {
	ChainID  string   `json:"chainId"`
	Name     string   `json:"chainName"`
	RPC      []string `json:"rpcUrls"`
	Currency struct {
		Name     string `json:"name"`
		Symbol   string `json:"symbol"`
		Decimals int    `json:"decimals"`
	} `json:"nativeCurrency"`
}

func newSite(n *swappertest.Network, swaps swapper.Service, wallet map[string]any, verifies *verifier) *site {
	c := addedChain{ChainID: "0x" + big.NewInt(evmChainID).Text(16), Name: "Citrea (local)", RPC: []string{n.URL("CITREA")}}
	c.Currency.Name, c.Currency.Symbol, c.Currency.Decimals = "Citrea BTC", "CBTC", 18
	return &site{swaps: swaps, prices: price.NewCache(n.Config().Prices, 0, nil), chains: map[string]addedChain{"CITREA": c}, wallet: wallet, verifies: verifies, now: n.Now}
}

func (s *site) describe(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{"network": "local", "chains": s.chains, "wallet": s.wallet, "verifier": s.verifies.state(), "now": s.now().UnixMilli()})
}

// rates answers with the price source that quotes are checked against: micro-sats per whole
// token by identifier, without those that have no price, and US dollars per sat. The page
// shows values by them and computes no payment.
func (s *site) rates(w http.ResponseWriter, r *http.Request) {
	worth := make(map[string]string)
	var all []swapper.Token
	for _, side := range []swapper.Side{swapper.SideInput, swapper.SideOutput} {
		list, err := s.swaps.GetSupportedTokens(r.Context(), swapper.GetSupportedTokensInput{Side: side})
		if err != nil {
			httpapi.WriteError(w, r, nil, err)
			return
		}
		all = append(all, list...)
	}
	for _, t := range all {
		p, err := s.prices.Price(r.Context(), tokens.Token{Chain: t.ChainID, Ticker: t.Ticker, Name: t.Name, Decimals: t.Decimals, Address: t.Address})
		if errors.Is(err, price.ErrUnknownToken) {
			continue
		}
		if err != nil {
			httpapi.WriteError(w, r, nil, err)
			return
		}
		worth[t.ID] = p.String()
	}
	usd, err := s.prices.USDPerSat(r.Context())
	if err != nil {
		httpapi.WriteError(w, r, nil, err)
		return
	}
	answer(w, map[string]any{"source": s.prices.Name(), "microSats": worth, "usdPerSat": usd})
}
