//go:build unix

package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/internal/trial"
)

// conserved makes sure, once everybody has done what is left to do, that all
// tokens and sats are where people own them and none are on the way: no escrow is
// open, no Lightning payment hangs.
func (s *stage) conserved(t *testing.T) {
	t.Helper()
	contract := s.contract(t)
	var err error
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if err = s.sums(t.Context(), contract); err == nil {
			return
		}
	}
	t.Error(err)
}

// forgetful are the notes of a chain that is used for a moment.
type forgetful struct{}

func (forgetful) Note(context.Context, string) ([]byte, uint64, error)  { return nil, 0, nil }
func (forgetful) SetNote(context.Context, string, []byte, uint64) error { return nil }

// contract is the chain's contracts as the library reads them.
func (s *stage) contract(t *testing.T) chains.Contract {
	t.Helper()
	backend := trial.Must(mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{s.net.Bitcoin.URL()}, TipAge: -1}))(t)
	chain := trial.Must(s.land.factory().Open(t.Context(), chains.Env{Network: bitcoin.Regtest, Bitcoin: backend, Now: s.net.Clock.Now,
		Rand: rand.Reader, HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), Notes: forgetful{}}))(t)
	c, _ := chain.Contract(s.land.version())
	return c
}

func (s *stage) sums(ctx context.Context, contract chains.Contract) error {
	owners, lps, token := s.land.holdings()
	escrows, missing, err := s.land.held(ctx)
	if err != nil {
		return err
	}
	for _, l := range lps {
		owners = append(owners, l)
		funds, err := contract.Liquidity(ctx, l, token)
		if err != nil {
			return err
		}
		escrows.Sub(escrows, funds.Balance)
	}
	if escrows.Sign() != 0 {
		return fmt.Errorf("the escrows hold %d more tokens than the LPs own", escrows)
	}
	for _, p := range s.people {
		owners = append(owners, s.land.address(p))
	}
	for _, a := range owners {
		has, err := s.land.tokens(ctx, a)
		if err != nil {
			return err
		}
		missing.Sub(missing, has)
	}
	if missing.Sign() != 0 {
		return fmt.Errorf("%d tokens are nobody's", missing)
	}
	if hang := s.hanging() - s.others; hang != 0 {
		return fmt.Errorf("%d msat hang", hang)
	}
	return nil
}

// hanging is what the users and the LPs do not have of all msat: what others own,
// and what is on its way.
func (s *stage) hanging() int64 {
	msat := s.net.Lightning.TotalMsat()
	for _, l := range s.net.LPs {
		msat -= l.Node().BalanceMsat()
	}
	for _, p := range s.people {
		msat -= p.Lightning.BalanceMsat() + p.shop.BalanceMsat()
	}
	return msat
}
