package discovery

import (
	"context"
	"errors"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
)

// Ready reports whether some LP can be asked for a quote now. It loads the LPs if
// none is known, or if none could be reached lately. Errors have the code
// fault.Upstream, or fault.Timeout.
func (d *Directory) Ready(ctx context.Context) error {
	d.mu.Lock()
	load := len(d.lps) == 0 || d.gone
	d.mu.Unlock()
	if load {
		if err := d.Reload(ctx); err != nil {
			return err
		}
	}
	return d.Offering()
}

// Offering returns nil if some LP can be asked about something, else
// [Directory.NoOffer].
func (d *Directory) Offering() error {
	if len(d.Supported(Input)) > 0 || len(d.Supported(Output)) > 0 {
		return nil
	}
	return d.NoOffer()
}

// NoOffer returns the error that explains why no LP offers the swap, with the code fault.Upstream.
func (d *Directory) NoOffer() error {
	switch {
	case len(d.LPs()) == 0:
		return fault.New(fault.Upstream, "no liquidity provider can be reached; try again later")
	case len(d.Penalties()) > 0:
		return errBoxed()
	}
	return fault.New(fault.Upstream, "no liquidity provider offers this swap at the moment; try again later")
}

func errBoxed() error {
	return fault.New(fault.Upstream, "all liquidity providers are excluded for now after invalid responses; try again later")
}

// setGone notes that no LP could be reached, so that the next question whether
// there is one does not believe in those that were loaded.
func (d *Directory) setGone() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gone = true
}

// unreached reports that not one LP of a round has answered.
func unreached(failures []Failure) bool {
	for _, f := range failures {
		if _, ok := errors.AsType[*lp.CallError](f.Err); !ok {
			return false
		}
	}
	return len(failures) > 0
}
