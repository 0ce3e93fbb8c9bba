package watchtower_test

import (
	"context"
	"math/big"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/tokens"
	"github.com/swapper-go/swapper/watchtower"
)

// vaulted is a vault with its wallets.
type vaulted struct {
	*kit
	id          chains.VaultID
	utxo        bitcoin.OutPoint // that the next withdrawal spends
	owner, user *devbitcoin.Wallet
}

func (k *kit) vault(confirmations uint8) *vaulted {
	k.Helper()
	v := &vaulted{kit: k}
	v.owner = trial.Must(k.Bitcoin.NewWallet(bitcoin.P2TR))(k.TB)
	v.user = trial.Must(k.Bitcoin.NewWallet(bitcoin.P2WPKH))(k.TB)
	v.utxo = trial.Must(k.Bitcoin.Fund(v.owner.Address, 1000))(k.TB)
	v.id = k.openVault(k.TB, v.utxo, confirmations)
	return v
}

// withdraw sends a withdrawal to the user that leaves shares to others.
func (v *vaulted) withdraw(raw [2]uint64, shares bitcoin.FeeShares) watchtower.Withdrawal {
	v.Helper()
	t := v.TB
	paid := trial.Must(v.Bitcoin.Fund(v.user.Address, 50_000))(t)
	data := trial.Must(v.contract.(chains.VaultContract).WithdrawalData(v.kit.user, raw))(t)
	script := trial.Must(rawtx.OpReturn(data))(t)
	s0, s1, err := shares.Sequences()
	if err != nil {
		t.Fatal(err)
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: v.utxo, Sequence: s0})
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: paid, Sequence: s1})
	tx.AddTxOut(wire.NewTxOut(1000, v.owner.Address.Script()))
	tx.AddTxOut(wire.NewTxOut(0, script))
	tx.AddTxOut(wire.NewTxOut(45_000, v.owner.Address.Script()))
	for _, w := range []*devbitcoin.Wallet{v.owner, v.user} {
		trial.Do(t, w.Sign(tx))
	}
	id := trial.Must(v.Bitcoin.Send(tx))(t)
	v.utxo = bitcoin.OutPoint{Hash: id}
	return watchtower.Withdrawal{Chain: v.factory.ID(), Owner: v.id.Owner, ID: v.id.ID, TxID: id}
}

func (v *vaulted) claimed() uint32 {
	v.Helper()
	facts := trial.Must(v.contract.(chains.VaultContract).Vaults(v.Context(), []chains.VaultID{v.id}))(v.TB)
	if facts[0].Err != nil {
		v.Fatal(facts[0].Err)
	}
	return facts[0].Vault.Withdrawals
}

// withVaults runs a test where there are vaults.
func withVaults(t *testing.T, run func(k *kit)) {
	t.Parallel()
	for _, f := range families {
		if f.vaults {
			t.Run(f.name, func(t *testing.T) { run(newKit(t, f)) })
		}
	}
}

// Withdrawals are claimed once Bitcoin has confirmed them as often as the vault demands, in
// their order; the relay is brought up to date on the way. The books agree with the chain in
// both tokens.
func TestClaimsWithdrawals(t *testing.T) {
	withVaults(t, func(k *kit) {
		v := k.vault(2)
		c := k.config()
		c.Chains[0].Policy.Allowance = nano(1e12, int64(k.chain.Info().Native.Decimals))
		tower, _ := k.tower(c)
		before := k.native(k.signer.Address())
		tokens := trial.Must(k.chain.Balance(k.Context(), k.signer.Address(), k.token))(k.TB)
		shares := bitcoin.FeeShares{Caller: 1000, Fronting: 500}
		hand := func(w watchtower.Withdrawal) {
			trial.Do(k, tower.Withdraw(k.Context(), w))
		}
		hand(v.withdraw([2]uint64{100_000, 20_000}, shares))
		second := v.withdraw([2]uint64{200_000, 0}, shares)
		hand(second)
		hand(second) // twice
		k.never("claimed with one confirmation of two", func() bool { return v.claimed() > 0 })
		if _, err := k.Bitcoin.Mine(2); err != nil {
			k.Fatal(err)
		}
		k.eventually("both claimed", func() bool { k.mine(k.TB); return v.claimed() == 2 })
		k.eventually("over", func() bool { k.mine(k.TB); return k.stored() == 0 })
		b := k.book(tower)
		earned := trial.Must(k.chain.Balance(k.Context(), k.signer.Address(), k.token))(k.TB)
		earned.Sub(earned, tokens)
		if b.Claims < 1 || b.Lost != 0 || b.Earned[k.token] == nil || b.Earned[k.token].Cmp(earned) != 0 || earned.Int64() != (1500+3000)*10 {
			k.Errorf("the account earned %s, by the books %+v", earned, b)
		}
		k.balanced(tower, before)
	})
}

// A withdrawal that the vault does not cover would close it: it is never claimed.
func TestAWithdrawalThatWouldCloseTheVault(t *testing.T) {
	withVaults(t, func(k *kit) {
		v := k.vault(1)
		c := k.config()
		c.Chains[0].Policy.Allowance = nano(1e12, int64(k.chain.Info().Native.Decimals))
		tower, _ := k.tower(c)
		w := v.withdraw([2]uint64{1 << 62, 0}, bitcoin.FeeShares{Caller: 1000})
		if _, err := k.Bitcoin.Mine(2); err != nil {
			k.Fatal(err)
		}
		trial.Do(k, tower.Withdraw(k.Context(), w))
		k.never("claimed, which closed the vault", func() bool {
			k.mine(k.TB)
			facts := trial.Must(v.contract.(chains.VaultContract).Vaults(k.Context(), []chains.VaultID{v.id}))(k.TB)
			return facts[0].Err == nil && !facts[0].Vault.Open
		})
		if b := k.book(tower); b.Claims > 0 {
			k.Errorf("a claim was paid for: %+v", b)
		}
	})
}

// A vault's pay has worth by its price alone, and a claim that does not pay waits.
func TestWithdrawalsThatDoNotPay(t *testing.T) {
	withVaults(t, func(k *kit) {
		v := k.vault(1)
		tower, _ := k.tower(k.config())
		w := v.withdraw([2]uint64{100_000, 0}, bitcoin.FeeShares{Caller: 1000})
		if _, err := k.Bitcoin.Mine(1); err != nil {
			k.Fatal(err)
		}
		trial.Do(k, tower.Withdraw(k.Context(), w))
		k.never("claimed for tokens of no known worth", func() bool { return v.claimed() > 0 })
		for what, wrong := range map[string]func(w *watchtower.Withdrawal){
			"another chain":      func(w *watchtower.Withdrawal) { w.Chain = "OTHER" },
			"another version":    func(w *watchtower.Withdrawal) { w.Version = "v9" },
			"no number":          func(w *watchtower.Withdrawal) { w.ID = nil },
			"no owner's address": func(w *watchtower.Withdrawal) { w.Owner = "owner" },
		} {
			other := w
			wrong(&other)
			if err := tower.Withdraw(k.Context(), other); fault.CodeOf(err) != fault.InvalidInput {
				k.Errorf("%s was taken over: %v", what, err)
			}
		}
	})
}

// rates are prices by ticker, 1 for others.
type rates map[string]int64

func (r rates) Price(_ context.Context, t tokens.Token) (*big.Int, error) {
	return big.NewInt(max(r[t.Ticker], 1)), nil
}

// A tower finds others' vaults by their events, and their withdrawals on Bitcoin. It claims what pays, once the
// vault's confirmations are there, and the next one from what it has kept of the vault.
func TestFindsWithdrawalsOfOthers(t *testing.T) {
	withVaults(t, func(k *kit) {
		v := k.vault(2)
		c := k.config()
		c.Vaults, c.Prices = true, rates{"WBTC": 1e8}
		_, stop := k.tower(c)
		before := k.native(k.signer.Address())
		mined := func() {
			k.Helper()
			if _, err := k.Bitcoin.Mine(1); err != nil {
				k.Fatal(err)
			}
		}
		v.withdraw([2]uint64{100_000, 0}, bitcoin.FeeShares{Caller: 1000})
		mined()
		k.never("claimed with one confirmation of two", func() bool { k.mine(k.TB); return v.claimed() > 0 || k.stored() > 0 })
		mined()
		k.eventually("claimed", func() bool { k.mine(k.TB); return v.claimed() == 1 })
		k.eventually("over", func() bool { k.mine(k.TB); return k.stored() == 0 })
		stop()
		tower, _ := k.tower(c)
		v.withdraw([2]uint64{100_000, 0}, bitcoin.FeeShares{Caller: 1000})
		mined()
		mined()
		k.eventually("the next one claimed", func() bool { k.mine(k.TB); return v.claimed() == 2 })
		k.eventually("over", func() bool { k.mine(k.TB); return k.stored() == 0 })
		v.withdraw([2]uint64{100_000, 0}, bitcoin.FeeShares{})
		mined()
		mined()
		k.never("claimed without pay", func() bool { k.mine(k.TB); return v.claimed() > 2 || k.stored() > 0 })
		if b := k.book(tower); b.Claims != 2 || b.Lost != 0 || b.Earned[k.token].Int64() != 2*1000*10 {
			k.Errorf("books: %+v", b)
		}
		k.balanced(tower, before)
	})
}

// An escrow that waits for a bitcoin payment is claimed by proof once Bitcoin has confirmed the
// payment often enough; on Solana in several transactions, through an account for its data.
func TestClaimsByProof(t *testing.T) {
	everywhere(t, func(k *kit) {
		wallet := trial.Must(k.Bitcoin.NewWallet(bitcoin.P2WPKH))(k.TB)
		if _, err := k.Bitcoin.Faucet(wallet.Address, 10_000_000); err != nil {
			k.Fatal(err)
		}
		at := chains.Condition{Kind: chains.Onchain, Script: wallet.Address.Script(), Sats: 100_000, Confirmations: 2}
		data := k.open(k.TB, opening{bounty: k.fair, pays: &at})
		c := k.config()
		c.Chains[0].Policy.Allowance = nano(1e12, int64(k.chain.Info().Native.Decimals))
		tower, _ := k.tower(c)
		if _, err := k.Bitcoin.Mine(1); err != nil {
			k.Fatal(err)
		}
		tx := trial.Must(wallet.Pay(2, wire.NewTxOut(100_000, wallet.Address.Script())))(k.TB)
		p := watchtower.Payment{Chain: k.factory.ID(), Escrow: data, TxID: tx.TxHash(), Condition: at}
		for tx.TxOut[p.Vout].Value != 100_000 {
			p.Vout++
		}
		before := k.native(k.signer.Address())
		trial.Do(k, tower.Prove(k.Context(), p))
		other := p
		other.Condition.Sats++
		if err := tower.Prove(k.Context(), other); fault.CodeOf(err) != fault.InvalidInput {
			k.Errorf("another condition was taken over: %v", err)
		}
		if _, err := k.Bitcoin.Mine(1); err != nil {
			k.Fatal(err)
		}
		k.never("claimed with one confirmation of two", func() bool { return k.state(data) != chains.EscrowOpen })
		if _, err := k.Bitcoin.Mine(1); err != nil {
			k.Fatal(err)
		}
		k.eventually("claimed", func() bool { k.mine(k.TB); return k.state(data) == chains.EscrowClaimed })
		k.eventually("over", func() bool { k.mine(k.TB); return k.stored() == 0 })
		if b := k.book(tower); b.Claims != 1 || b.Lost != 0 {
			k.Errorf("books: %+v", b)
		}
		k.balanced(tower, before)
	})
}
