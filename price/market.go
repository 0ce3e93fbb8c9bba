package price

// Market returns the source that a client uses unless told otherwise: the
// median of all five public services, remembered for [CacheAge].
func Market(o Options) *Cache {
	return NewCache(Median{Sources: []Source{Binance(o), OKX(o), CoinGecko(o), CoinPaprika(o), Kraken(o)}}, 0, nil)
}
