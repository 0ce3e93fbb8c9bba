package httpapi

import (
	"net/http"
	"strings"
)

// otherCost is the cost of what is served beside the operations, as streams of events: each
// begins with a list and looks at what is in it.
const otherCost = 5

// Cost returns for how many requests of a rate one below the base path should count, for
// package limit: by what it makes the service, its nodes and the providers do, and by what it
// leaves behind. A getSwapStatus, which wallets repeat, counts as 1, a createSwap as 10;
// docs/operate.md has all.
func Cost(base string) func(*http.Request) int64 {
	base = cleanBase(base)
	costs := map[string]int64{documentName: 1, docsName: 1}
	for _, op := range operations() {
		costs[op.name] = op.cost
	}
	return func(r *http.Request) int64 {
		name, ok := strings.CutPrefix(r.URL.Path, base+"/")
		if !ok {
			return 1
		}
		if cost := costs[name]; cost != 0 {
			return cost
		}
		return otherCost
	}
}
