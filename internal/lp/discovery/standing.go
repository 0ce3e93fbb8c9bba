package discovery

import (
	"slices"
	"strings"
	"time"

	"github.com/swapper-go/swapper/internal/lp/lphttp"
)

// Standing is how an LP does.
type Standing struct {
	URL     string
	Loaded  bool      // it answered the last time that the LPs were loaded
	Strikes int       // lies that are remembered
	Boxed   time.Time // end of its longest penalty; zero: none
	Calls   lphttp.Calls
}

// Standings returns the LPs that are loaded or in the penalty box, by URL.
func (d *Directory) Standings() []Standing {
	var out []Standing
	at := func(url string) *Standing {
		for i := range out {
			if out[i].URL == url {
				return &out[i]
			}
		}
		out = append(out, Standing{URL: url, Strikes: d.penalties.struck(url), Calls: d.s.Client.Calls(url)})
		return &out[len(out)-1]
	}
	for _, p := range d.LPs() {
		at(p.URL).Loaded = true
	}
	for _, p := range d.Penalties() {
		s := at(p.URL)
		if p.Until.After(s.Boxed) {
			s.Boxed = p.Until
		}
	}
	slices.SortFunc(out, func(a, b Standing) int { return strings.Compare(a.URL, b.URL) })
	return out
}
