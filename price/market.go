package price

import (
	"maps"
	"slices"

	"github.com/swapper-go/swapper/fault"
)

// services are the public services by name.
var services = map[string]func(Options) Source{
	"binance": binance, "okx": okx, "coingecko": coinGecko, "coinpaprika": coinPaprika, "kraken": kraken,
}

// Service returns the prices of one public service: binance, okx, coingecko, coinpaprika or
// kraken. An error is a [fault.Error] with [fault.InvalidInput].
func Service(name string, o Options) (Source, error) {
	open, ok := services[name]
	if !ok {
		return nil, fault.Invalid("services", "%q is not one of %v", name, slices.Sorted(maps.Keys(services)))
	}
	return open(o), nil
}

// Market returns the default source of a client: the median of all five public
// services, cached for 10 s.
func Market(o Options) Source {
	return NewCache(Median{Sources: []Source{binance(o), okx(o), coinGecko(o), coinPaprika(o), kraken(o)}}, 0, o.Now)
}
