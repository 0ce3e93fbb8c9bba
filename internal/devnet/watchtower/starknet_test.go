package watchtower_test

import (
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	relays "github.com/swapper-go/swapper/internal/devnet/nostr"
	devstarknet "github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/party"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	pub "github.com/swapper-go/swapper/watchtower"
)

// starknet is a network of Starknet alone, with an LP that opens escrows and vaults.
type starknet struct {
	kit
	net       *devstarknet.Net
	d         starkwire.Deployment
	lp, watch *party.Party
	sequence  uint64
}

func newStarknet(t *testing.T) *starknet {
	t.Helper()
	s := &starknet{kit: kit{T: t, ctx: t.Context()}}
	s.net = must[*devstarknet.Net](t)(devstarknet.Start(devstarknet.Options{}))
	t.Cleanup(func() { s.net.Close() })
	s.d, s.lp, s.watch = s.net.Deployment(), s.net.Party(s.net.LP), s.net.Party(s.net.Watchtower)
	if err := s.lp.Deposit(s.ctx, devstarknet.WBTC, big.NewInt(1e9)); err != nil {
		t.Fatal(err)
	}
	s.relay = must[*relays.Relay](t)(relays.Start(""))
	t.Cleanup(func() { s.relay.Close() })
	s.tower = must[*watchtower.Tower](t)(watchtower.Start(s.ctx, watchtower.Options{Relays: []string{s.relay.URL()}, Every: 10 * time.Millisecond, Starknet: s.watch}))
	t.Cleanup(func() { s.tower.Close() })
	s.messenger = publisher(t, s.relay)
	return s
}

// escrow is what the LP opens for the user, with something for whoever claims.
func (s *starknet) escrow(secret chains.Preimage) starkwire.SwapData {
	s.Helper()
	s.sequence++
	return must[starkwire.SwapData](s.T)(s.d.NewSwapData(starkwire.Terms{
		Kind: chains.HTLC, Offerer: s.lp.Address(), Claimer: s.net.User.Address, Token: devstarknet.WBTC, Amount: big.NewInt(50_000), PayOut: true,
		SecurityDeposit: big.NewInt(5e17), ClaimerBounty: big.NewInt(2e17), ClaimData: starkwire.ClaimDataHTLC(sha256.Sum256(secret[:])), Sequence: s.sequence,
		Expiry: s.net.Time().Add(time.Hour).Unix(),
	}))
}

func (s *starknet) open(d starkwire.SwapData) {
	s.Helper()
	id := must[starkwire.Felt](s.T)(s.lp.Open(d, s.net.Time().Add(time.Minute).Unix()))
	if err := s.net.Wait(s.ctx, id); err != nil {
		s.Fatal(err)
	}
}

func (s *starknet) publish(d starkwire.SwapData, secret chains.Preimage) {
	s.Helper()
	if err := s.messenger.Publish(s.ctx, pub.Message{Chain: "STARKNET", Escrow: must[[]byte](s.T)(json.Marshal(d)), Preimage: secret}); err != nil {
		s.Fatal(err)
	}
}

func (s *starknet) state(d starkwire.SwapData) chains.EscrowState {
	s.Helper()
	return must[[]chains.EscrowFact](s.T)(s.watch.Facts(must[starkwire.Felt](s.T)(d.EscrowHash())))[0].State
}

func (s *starknet) balance(token, of starkwire.Felt) *big.Int {
	s.Helper()
	return must[*big.Int](s.T)(s.net.Balance(token, of))
}

func TestClaimsOnStarknetForAPreimage(t *testing.T) {
	t.Parallel()
	s := newStarknet(t)
	secret := chains.Preimage{1, 2, 3}
	d := s.escrow(secret)
	before := s.balance(devstarknet.WBTC, s.net.User.Address)
	s.publish(d, secret)
	s.never("claimed before it was opened", func() bool { return len(s.tower.Claims()) > 0 })
	s.open(d)
	s.eventually("claimed", func() bool { return s.state(d) == chains.EscrowClaimed })
	s.eventually("noted", func() bool { return len(s.tower.Claims()) == 1 })
	s.never("claimed twice", func() bool { return len(s.tower.Claims()) > 1 }) // and by then the watchtower has forgotten it
	hash := must[starkwire.Felt](t)(d.EscrowHash())
	if c := s.tower.Claims()[0]; c.Escrow != hash.Bytes() || c.Tx == "" {
		t.Errorf("%+v", c)
	}
	if got := before.Sub(s.balance(devstarknet.WBTC, s.net.User.Address), before); got.Int64() != 50_000 {
		t.Errorf("the user got %d", got)
	}

	// A claim that a reorganisation takes back is made again by whoever still knows the preimage.
	s.tower.Behave(watchtower.Behaviour{NoEscrows: true})
	if err := s.net.Forget(1); err != nil {
		t.Fatal(err)
	}
	s.publish(d, secret)
	s.never("off, but claimed", func() bool { return s.state(d) != chains.EscrowOpen })
	s.tower.Behave(watchtower.Behaviour{})
	s.eventually("claimed again", func() bool { return s.state(d) == chains.EscrowClaimed })
}

func TestBelievesNoMessageOfStarknet(t *testing.T) {
	t.Parallel()
	s := newStarknet(t)
	secret := chains.Preimage{5}
	d := s.escrow(secret)
	s.open(d)
	s.publish(d, chains.Preimage{6}) // does not open it
	for _, change := range []func(d *starkwire.SwapData){
		func(d *starkwire.SwapData) { d.ClaimHandler = d.RefundHandler },
		func(d *starkwire.SwapData) { d.Kind = chains.Onchain },
		func(d *starkwire.SwapData) { d.RefundHandler = s.watch.Address() },
		func(d *starkwire.SwapData) { d.Amount = big.NewInt(5) }, // an escrow that is not there
	} {
		other := d
		change(&other)
		s.publish(other, secret)
	}
	s.never("claimed", func() bool { return len(s.tower.Claims()) > 0 })
	s.publish(d, secret)
	s.eventually("claimed", func() bool { return s.state(d) == chains.EscrowClaimed })
}

// Withdrawals are claimed in their order, once Bitcoin has confirmed them as often as
// the vault demands, and again after a reorganisation of either chain.
func TestClaimsWithdrawalsOnStarknet(t *testing.T) {
	t.Parallel()
	s := newStarknet(t)
	n := s.net.Bitcoin()
	owner, user := must[*bitcoin.Wallet](t)(n.NewWallet(btc.P2TR)), must[*bitcoin.Wallet](t)(n.NewWallet(btc.P2WPKH))
	utxo := must[btc.OutPoint](t)(n.Fund(owner.Address, 1000))
	v := must[starkwire.Vault](t)(s.lp.OpenVault(s.ctx, big.NewInt(7), [2]starkwire.Felt{devstarknet.WBTC, starkwire.STRK}, [2]*big.Int{big.NewInt(10), big.NewInt(1e10)}, 2, utxo, [2]uint64{1_000_000, 500_000}))
	to := party.KeyOf("a recipient").Address()
	withdraw := func(of btc.OutPoint) *wire.MsgTx {
		paid := must[btc.OutPoint](t)(n.Fund(user.Address, 50_000))
		script := must[[]byte](t)(rawtx.OpReturn(must[[]byte](t)(starkwire.WithdrawalData(starkwire.Hex64(to), [2]uint64{100_000, 20_000}, nil))))
		s0, s1, err := btc.FeeShares{Caller: 1000}.Sequences()
		if err != nil {
			t.Fatal(err)
		}
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: of, Sequence: s0})
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: paid, Sequence: s1})
		tx.AddTxOut(wire.NewTxOut(1000, owner.Address.Script()))
		tx.AddTxOut(wire.NewTxOut(0, script))
		tx.AddTxOut(wire.NewTxOut(45_000, owner.Address.Script()))
		for _, w := range []*bitcoin.Wallet{owner, user} {
			if err := w.Sign(tx); err != nil {
				t.Fatal(err)
			}
		}
		must[btc.Hash](t)(n.Send(tx))
		return tx
	}
	claimed := func() uint32 { return must[starkwire.Vault](t)(s.watch.Vault(v.VaultRef)).Withdrawals }
	earned := s.balance(devstarknet.WBTC, s.watch.Address())
	first := withdraw(utxo)
	second := withdraw(btc.OutPoint{Hash: first.TxHash()}) // its funding confirms the first once
	s.never("claimed with one confirmation of two", func() bool { return len(s.tower.Claims()) > 0 })
	must[[]btc.Hash](t)(n.Mine(2))
	s.eventually("both claimed", func() bool { return claimed() == 2 })
	s.eventually("noted", func() bool { return len(s.tower.Claims()) == 2 })
	if c := s.tower.Claims(); c[0].Withdrawal != btc.Hash(first.TxHash()) || c[1].Withdrawal != btc.Hash(second.TxHash()) {
		t.Errorf("%+v", c)
	}
	if got := s.balance(devstarknet.WBTC, to); got.Int64() != 2*100_000*10 {
		t.Errorf("the recipient got %s", got)
	}
	if got := earned.Sub(s.balance(devstarknet.WBTC, s.watch.Address()), earned); got.Int64() != 2*1000*10 {
		t.Errorf("the watchtower earned %s", got)
	}
	if err := s.net.Forget(1); err != nil {
		t.Fatal(err)
	}
	s.eventually("claimed again", func() bool { return claimed() == 2 && len(s.tower.Claims()) == 3 })

	s.tower.Behave(watchtower.Behaviour{NoVaults: true})
	withdraw(btc.OutPoint{Hash: second.TxHash()})
	must[[]btc.Hash](t)(n.Mine(1))
	if err := n.Reorg(1); err != nil { // the withdrawal is in no block any more
		t.Fatal(err)
	}
	s.tower.Behave(watchtower.Behaviour{})
	s.never("claimed", func() bool { return claimed() > 2 })
	must[[]btc.Hash](t)(n.Mine(2))
	s.eventually("claimed after all", func() bool { return claimed() == 3 })
}
