package price

// Market returns the default source of a client: the median of all five public
// services, cached for 10 s.
func Market(o Options) Source {
	return NewCache(Median{Sources: []Source{Binance(o), OKX(o), CoinGecko(o), CoinPaprika(o), Kraken(o)}}, 0, o.Now)
}
