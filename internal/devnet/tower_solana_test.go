package devnet_test

import (
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	devsolana "github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
	pub "github.com/swapper-go/swapper/watchtower"
)

// solana is a network with Solana, on which an LP opens escrows.
type solana struct {
	kit
	net      *devsolana.Net
	programs solwire.Programs
	wallet   *bitcoin.Wallet
	sequence uint64
}

func newSolana(t *testing.T, version string, layout solwire.DataLayout) *solana {
	t.Helper()
	n := trial.Must(devnet.Start(t.Context(), devnet.Options{Solana: version, Watchtower: true, TowerEvery: 10 * time.Millisecond,
		OnSolana: func(o *devsolana.Options) { o.DataV2 = layout }}))(t)
	t.Cleanup(func() { n.Close() })
	return &solana{kit: kit{T: t, ctx: t.Context(), tower: n.Tower}, net: n.Solana, programs: trial.Must(n.Solana.Network().Version(version))(t), wallet: n.Wallet}
}

func (s *solana) mine(blocks int) {
	s.Helper()
	if _, err := s.net.Bitcoin().Mine(blocks); err != nil {
		s.Fatal(err)
	}
}

// open opens an escrow of the LP's for the user.
func (s *solana) open(spec solwire.Spec) *solwire.SwapData {
	s.Helper()
	s.sequence++
	spec.Offerer, spec.Claimer, spec.Token, spec.DepositToken = s.net.LP.Address, s.net.User.Address, devsolana.WBTC, solwire.WSOL
	spec.Amount, spec.PayOut, spec.Sequence, spec.Expiry = 50_000, true, s.sequence, uint64(s.net.Time().Add(3*time.Hour).Unix())
	d := trial.Must(s.programs.NewSwapData(spec))(s.T)
	tx := trial.Must(s.programs.InitTx(d, s.net.User.Address, uint64(s.net.Time().Add(time.Minute).Unix()), devsolana.FeeRate))(s.T)
	tx.Blockhash = s.net.Head().Hash
	trial.Do(s, tx.Sign(s.net.LP.Key))
	trial.Must(s.net.User.SendTx(s.ctx, tx))(s.T)
	return d
}

func (s *solana) state(d *solwire.SwapData) chains.EscrowState {
	return devsolana.Facts(s.net.Bank(), s.programs, []*solwire.SwapData{d})[0].State
}

func (s *solana) tokens() int64 { return int64(s.net.Tokens(devsolana.WBTC, s.net.User.Address)) }

// each runs a test with both versions of the program, and both ways of v2 to keep data.
func each(t *testing.T, run func(t *testing.T, s *solana)) {
	for _, version := range []string{solwire.V1, solwire.V2} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			run(t, newSolana(t, version, solwire.DataPlain))
		})
	}
	t.Run("v2, tagged", func(t *testing.T) {
		t.Parallel()
		run(t, newSolana(t, solwire.V2, solwire.DataTagged))
	})
}

// pays is an escrow that waits for a Bitcoin payment of some sats.
func (s *solana) pays(sats int64, bounty uint64) *solwire.SwapData {
	s.Helper()
	script := s.wallet.Address.Script()
	hint := rawtx.TxoHash(sats, script)
	claim := trial.Must(solwire.ClaimHashOf(chains.Condition{Kind: chains.Onchain, Script: script, Sats: uint64(sats), Confirmations: 2}))(s.T)
	return s.open(solwire.Spec{Kind: chains.Onchain, Claim: claim, TxoHash: &hint, ClaimerBounty: bounty, SecurityDeposit: 1e6})
}

func (s *solana) pay(sats int64) {
	s.Helper()
	trial.Must(s.wallet.Pay(2, wire.NewTxOut(sats, s.wallet.Address.Script())))(s.T)
}

func TestClaimsOnSolanaByProof(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *solana) {
		d, unpaid, poor := s.pays(100_000, 2e6), s.pays(100_001, 2e6), s.pays(100_002, 0)
		before, earned := s.tokens(), s.net.Lamports(s.net.Watchtower.Address)
		s.pay(100_000)
		s.pay(100_002)
		s.mine(1)
		s.never("claimed with one confirmation of two", func() bool { return len(s.tower.Claims()) > 0 })
		s.mine(1)
		s.eventually("claimed", func() bool { return s.state(d) == chains.EscrowClaimed })
		s.never("claimed what nobody paid, or for nothing", func() bool {
			all := s.tower.Claims()
			another := slices.ContainsFunc(all, func(c pub.Claim) bool { return c.ID != all[0].ID })
			return s.state(unpaid) != chains.EscrowOpen || s.state(poor) != chains.EscrowOpen || another
		})
		if s.tokens()-before != 50_000 || s.net.Lamports(s.net.Watchtower.Address) <= earned {
			t.Errorf("the user got %d, the watchtower has %d lamports, had %d", s.tokens()-before, s.net.Lamports(s.net.Watchtower.Address), earned)
		}
	})
}

// A claim that is undone on either chain is made again.
func TestClaimsOnSolanaAgain(t *testing.T) {
	t.Parallel()
	s := newSolana(t, solwire.V1, solwire.DataPlain)
	s.tower.Behave(watchtower.Behaviour{NoProofs: true})
	d := s.pays(100_000, 2e6)
	s.pay(100_000)
	s.mine(2)
	s.never("off, but claimed", func() bool { return len(s.tower.Claims()) > 0 })
	s.tower.Behave(watchtower.Behaviour{})
	s.eventually("claimed", func() bool { return s.state(d) == chains.EscrowClaimed })
	before := len(s.tower.Claims())
	trial.Do(t, s.net.Lose(1)) // the same transaction cannot be executed again
	s.eventually("claimed again", func() bool { return s.state(d) == chains.EscrowClaimed && len(s.tower.Claims()) > before })

	d = s.pays(200_000, 2e6)
	s.pay(200_000)
	s.mine(1)
	if err := s.net.Bitcoin().Reorg(1); err != nil { // the payment is in no block any more
		t.Fatal(err)
	}
	s.mine(3)
	s.eventually("claimed after all", func() bool { return s.state(d) == chains.EscrowClaimed })
}
