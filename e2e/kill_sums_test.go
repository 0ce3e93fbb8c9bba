//go:build unix

package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	devevm "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
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
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{s.net.Bitcoin.URL()}, TipAge: -1})
	if err != nil {
		t.Fatal(err)
	}
	factory := s.net.Chain()
	if s.flow.on != "" {
		factory = s.net.SolanaChain()
	}
	chain, err := factory.Open(t.Context(), chains.Env{Network: bitcoin.Regtest, Bitcoin: backend, Now: s.net.Clock.Now,
		Rand: rand.Reader, HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), Notes: forgetful{}})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := chain.Contract(s.flow.on)
	return c
}

// holdings are those of the flow's chain who may have tokens, but for the users; the
// escrows' own account is the first. The LPs have funds there.
func (s *stage) holdings() (owners, lps []string, token string) {
	if s.flow.on == "" {
		c := s.net.EVM.Contracts()
		for _, l := range s.net.LPs {
			lps = append(lps, l.Account().Address.Hex())
		}
		return []string{c.EscrowManager.Address.Hex(), c.VaultManager.Address.Hex(), s.net.EVM.Watchtower.Address.Hex(), s.net.EVM.User.Address.Hex()}, lps, c.Token.Hex()
	}
	for _, l := range s.net.LPs {
		lps = append(lps, l.Solana().Address().String())
	}
	return []string{s.net.Solana.Watchtower.Address.String(), s.net.Solana.User.Address.String()}, lps, solana.WBTC.String()
}

// held is what the escrows' contract holds, with the LPs' funds, and supply all tokens.
func (s *stage) held(ctx context.Context, owners []string) (held, supply *big.Int, err error) {
	if s.flow.on == "" {
		if held, err = s.tokens(ctx, owners[0]); err != nil {
			return nil, nil, err
		}
		token := s.net.EVM.Contracts().Token
		call, err := devevm.CallOf("TestToken", token, "totalSupply")
		if err != nil {
			return nil, nil, err
		}
		raw, err := s.net.EVM.Read(ctx, token, call)
		return held, new(big.Int).SetBytes(raw), err
	}
	s.net.Solana.Bank().Read(bank.Processed, 0, func(v *bank.View) {
		t, _ := v.Token(s.net.LPs[0].Solana().Programs.Vault(solana.WBTC))
		m, _ := v.Mint(solana.WBTC)
		held = new(big.Int).SetUint64(t.Amount)
		supply = new(big.Int).SetUint64(m.Supply - t.Amount) // the vault is nobody's account
	})
	return held, supply, nil
}

func (s *stage) sums(ctx context.Context, contract chains.Contract) error {
	owners, lps, token := s.holdings()
	escrows, missing, err := s.held(ctx, owners)
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
		owners = append(owners, s.addressOf(p))
	}
	for _, a := range owners {
		has, err := s.tokens(ctx, a)
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
