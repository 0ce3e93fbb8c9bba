package discovery

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/tokenlist"
)

// Chain is what a directory asks of a smart chain; every [chains.Chain] is one.
type Chain interface {
	Info() chains.Info
	// VerifyData returns nil only if signer has signed data.
	VerifyData(ctx context.Context, signer string, data []byte, signature string) error
}

// Setup is what a [Directory] is made of.
type Setup struct {
	Client   *lphttp.Client
	Chains   []Chain             // in the order in which they are shown
	Tokens   *tokenlist.Registry // tells spellings of a token's address apart from other tokens
	URLs     []string            // the LPs; empty: those of the registry
	Registry string              // address of the list of LPs, see [Registry]; "" with URLs

	LoadTimeout time.Duration // of a whole load; 0: 20 s
	Grace       time.Duration // how long a load waits for others once one LP is there; 0: 5 s

	Notes chains.Notes // keeps the penalties; nil: they end with the process

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: silent
}

// Directory knows the LPs: what each has proven to be and offers, what bounds
// its answers have taught, and which are in the penalty box. It is empty until
// the first [Directory.Reload], which quote rounds cause by themselves. It is
// safe for concurrent use.
type Directory struct {
	s         Setup
	penalties penalties
	loads     async.Group

	mu      sync.Mutex
	lps     []*LP                // replaced as a whole
	gone    bool                 // none of them could be reached lately
	learned map[boundsKey]Bounds // what LPs of the list have answered
}

type boundsKey struct {
	url          string
	service      lp.Service
	chain, token string
}

// NewDirectory returns an empty directory.
func NewDirectory(s Setup) *Directory {
	if s.LoadTimeout <= 0 {
		s.LoadTimeout = 20 * time.Second
	}
	if s.Grace <= 0 {
		s.Grace = 5 * time.Second
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	d := &Directory{s: s, learned: map[boundsKey]Bounds{}}
	if s.Notes != nil {
		d.penalties.stored.told = make(chan struct{}, 1)
	}
	return d
}

// LPs returns the LPs that are loaded, those in the penalty box too. The values
// are shared and must not be changed.
func (d *Directory) LPs() []*LP {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lps)
}

// At returns the URL of the loaded LP that has proven an address on a chain, "" if
// there is none.
func (d *Directory) At(chain, address string) string {
	for _, p := range d.LPs() {
		if address != "" && p.Addresses[chain] == address {
			return p.URL
		}
	}
	return ""
}

// Penalties returns who is in the penalty box, and why.
func (d *Directory) Penalties() []Penalty {
	out := d.penalties.list(d.s.Now())
	slices.SortFunc(out, func(a, b Penalty) int { return cmp.Or(strings.Compare(a.URL, b.URL), a.Until.Compare(b.Until)) })
	return out
}

// Get returns the LP at a URL: the one that is loaded, else it is asked and not
// added to the list (protocol: lp-protocol.md §2.5).
func (d *Directory) Get(ctx context.Context, url string) (*LP, error) {
	url, err := d.s.Client.CheckURL(url)
	if err != nil {
		return nil, err
	}
	for _, p := range d.LPs() {
		if p.URL == url {
			return p, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, d.s.LoadTimeout)
	defer cancel()
	return d.load(ctx, url)
}

// Reload loads the list of LPs and each of them, all at once. An LP that cannot
// be reached or cannot prove its identity is left out and does not delay the
// others: once the first has answered, the rest have 5 s. The result replaces
// the previous one, unless no LP could be reached. Concurrent calls are merged
// into one.
func (d *Directory) Reload(ctx context.Context) error {
	_, err := async.Do(ctx, &d.loads, "", func(ctx context.Context) (struct{}, error) {
		return struct{}{}, d.reload(ctx)
	})
	return err
}

func (d *Directory) reload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, d.s.LoadTimeout)
	defer cancel()
	urls, err := d.urls(ctx)
	if err != nil {
		d.setGone()
		return fault.New(fault.Upstream, "the list of liquidity providers could not be loaded: %w", err)
	}
	type outcome struct {
		place int
		p     *LP
		err   error
	}
	outcomes := make(chan outcome, len(urls))
	for i, url := range urls {
		go func() {
			p, err := d.load(ctx, url)
			outcomes <- outcome{i, p, err}
		}()
	}
	found := make([]*LP, len(urls))
	loaded := 0
	for range urls {
		o := <-outcomes // each ends with ctx, at the latest
		if o.err != nil {
			d.s.Log.Warn("loading a liquidity provider failed", "lp", urls[o.place], "err", o.err)
			continue
		}
		if found[o.place] = o.p; loaded == 0 {
			grace := time.AfterFunc(d.s.Grace, cancel)
			defer grace.Stop()
		}
		loaded++
	}
	if loaded == 0 && len(urls) > 0 {
		d.setGone()
		return fault.New(fault.Upstream, "no liquidity provider can be reached; try again later")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gone = false
	d.lps = slices.DeleteFunc(found, func(p *LP) bool { return p == nil })
	clear(d.learned)
	return nil
}

// urls returns the base URLs to load, in order, without repetitions.
func (d *Directory) urls(ctx context.Context) ([]string, error) {
	list := d.s.URLs
	if len(list) == 0 && d.s.Registry != "" {
		var err error
		if list, err = d.s.Client.List(ctx, d.s.Registry); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, raw := range list {
		url, err := d.s.Client.CheckURL(raw)
		if err != nil {
			d.s.Log.Warn("loading a liquidity provider failed", "err", err)
			continue
		}
		if !slices.Contains(out, url) {
			out = append(out, url)
		}
	}
	return out, nil
}

// load asks an LP about itself and verifies what it claims.
func (d *Directory) load(ctx context.Context, url string) (*LP, error) {
	info, err := d.s.Client.Info(ctx, url)
	if err != nil {
		return nil, err
	}
	return d.prove(ctx, url, info), nil
}

// prove keeps of what an LP says about itself what it has proven: chains whose
// signature verifies and whose contracts we know, and tokens of those. A
// signature that could not be checked proves nothing (protocol: lp-protocol.md
// §2.2, §9 no. 1).
func (d *Directory) prove(ctx context.Context, url string, info lp.Info) *LP {
	p := &LP{URL: url, Addresses: map[string]string{}, Versions: map[string]string{}, Services: map[lp.Service]lp.ServiceInfo{}}
	type outcome struct {
		claim lp.ChainClaim
		err   error
	}
	outcomes := make(chan outcome, len(info.Chains))
	asked := 0
	for _, claim := range info.Chains {
		chain := d.chain(claim.Chain)
		if chain == nil {
			continue
		}
		if _, known := lp.Version(chain.Info(), claim.Version); !known {
			d.s.Log.Warn("liquidity provider uses unknown contracts", "lp", url, "chain", claim.Chain, "version", claim.Version)
			continue
		}
		asked++
		go func() {
			outcomes <- outcome{claim, chain.VerifyData(ctx, claim.Address, info.Envelope, claim.Signature)}
		}()
	}
	note := func(o outcome) {
		if o.err != nil {
			d.s.Log.Warn("liquidity provider failed to prove its address", "lp", url, "chain", o.claim.Chain, "err", o.err)
			return
		}
		p.Addresses[o.claim.Chain], p.Versions[o.claim.Chain] = o.claim.Address, o.claim.Version
	}
	for range asked {
		select {
		case o := <-outcomes:
			note(o)
			continue
		case <-ctx.Done():
		}
		for len(outcomes) > 0 { // what is proven by now counts
			note(<-outcomes)
		}
		break
	}
	for service, s := range info.Services {
		s.Chains = slices.DeleteFunc(slices.Clone(s.Chains), func(c lp.ChainTokens) bool { return p.Addresses[c.Chain] == "" })
		p.Services[service] = s
	}
	return p
}

func (d *Directory) chain(id string) Chain {
	for _, c := range d.s.Chains {
		if c.Info().ID == id {
			return c
		}
	}
	return nil
}

// spelling returns how a service spells a token's address, if it has the token.
func (d *Directory) spelling(s lp.ServiceInfo, chain, token string) (string, bool) {
	listed := s.Tokens(chain)
	if slices.Contains(listed, token) {
		return token, true
	}
	if d.s.Tokens == nil {
		return "", false
	}
	want, known := d.s.Tokens.ByAddress(chain, token)
	if !known {
		return "", false
	}
	for _, address := range listed {
		if t, ok := d.s.Tokens.ByAddress(chain, address); ok && t == want {
			return address, true
		}
	}
	return "", false
}

// Punish puts an LP into the penalty box if err says that it lied, for a minute
// at first and twice as long each time: for the pair that the lie was about, or
// altogether if the pair is the zero value or the lie shows that it means to
// steal. It is for lies that come to light after the quote; quote rounds punish
// by themselves.
func (d *Directory) Punish(url string, about lp.Pair, err error) {
	e, lied := errors.AsType[*lp.LPError](err)
	if !lied || !lp.Punishable(err) {
		return
	}
	until := d.penalties.punish(box{url, scope(e, about)}, err.Error(), d.s.Now())
	d.s.Log.Warn("liquidity provider gave a false answer", "lp", url, "until", until, "err", err)
}
