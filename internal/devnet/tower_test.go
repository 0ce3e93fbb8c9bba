package devnet_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
	pub "github.com/swapper-go/swapper/watchtower"
)

// kit is a network with a relay, a watchtower and a publisher.
type kit struct {
	*testing.T
	*evm.Net
	ctx       context.Context
	relay     *watchtower.Relay
	tower     *watchtower.Tower
	messenger pub.Messenger
	sequence  int64
}

func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{T: t, ctx: t.Context()}
	k.Net = trial.Must(evm.Start(evm.Options{}))(t)
	t.Cleanup(func() { _ = k.Net.Close() })
	k.relay = trial.Must(watchtower.StartRelay(""))(t)
	t.Cleanup(func() { _ = k.relay.Close() })
	network := &devnet.Net{Clock: new(devnet.Clock), Bitcoin: k.Net.Bitcoin(), EVM: k.Net}
	k.tower = trial.Must(network.Watch(k.ctx, watchtower.Options{Relays: []string{k.relay.URL()}, Every: 10 * time.Millisecond}))(t)
	t.Cleanup(func() { _ = k.tower.Close() })
	k.messenger = publisher(t, k.relay)
	return k
}

// publisher is a messenger whose messages are never the same one: a relay passes a
// second one of the same text, key and second on to nobody.
func publisher(t *testing.T, relay *watchtower.Relay) *pub.Nostr {
	t.Helper()
	var sent atomic.Int64
	m := trial.Must(pub.NewNostr(pub.NostrOptions{
		Network: btc.Regtest, Relays: []string{relay.URL()},
		Now: func() time.Time { return time.Now().Add(time.Duration(sent.Add(1)) * time.Second) },
	}))(t)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// escrow is what an LP would open for the user, with a bounty for whoever claims.
func (k *kit) escrow(secret chains.Preimage) evmwire.SwapData {
	k.Helper()
	k.sequence++
	return trial.Must(k.Deployment().NewSwapData(evmwire.Terms{
		Kind: chains.HTLC, Offerer: k.LP.Address, Claimer: k.User.Address, Token: k.Contracts().Token, Amount: big.NewInt(1e9), PayOut: true,
		SecurityDeposit: big.NewInt(5e6), ClaimerBounty: big.NewInt(2e6), DepositToken: evm.Native,
		ClaimData: sha256.Sum256(secret[:]), Sequence: big.NewInt(k.sequence), Expiry: k.Time().Add(time.Hour).Unix(),
	}))(k.T)
}

func (k *kit) open(s evmwire.SwapData) {
	k.Helper()
	trial.Do(k, k.Deposit(k.ctx, k.LP, s.Token, s.Amount))
	a := chains.Auth{Prefix: "initialize", Timeout: k.Time().Add(10 * time.Minute).Unix()}
	digest := trial.Must(k.Network().InitDigest(k.Deployment(), s, a.Timeout))(k.T)
	a.Signature = trial.Must(k.LP.SignDigest(digest))(k.T)
	calls := trial.Must(k.Deployment().Init(s, k.User.Address, a))(k.T)
	if _, err := k.User.SendAll(k.ctx, calls); err != nil {
		k.Fatal(err)
	}
}

func (k *kit) publish(s evmwire.SwapData, secret chains.Preimage) {
	k.Helper()
	data := trial.Must(json.Marshal(s))(k.T)
	trial.Do(k, k.messenger.Publish(k.ctx, pub.Message{Chain: "CITREA", Escrow: data, Preimage: secret}))
}

func (k *kit) state(s evmwire.SwapData) chains.EscrowState {
	k.Helper()
	hash := trial.Must(s.EscrowHash())(k.T)
	data := trial.Must(evmwire.StateCall([]common.Hash{hash}))(k.T)
	answer := trial.Must(k.Read(k.ctx, k.User.Address, evmwire.Call{To: k.Deployment().EscrowManager.Address, Data: data}))(k.T)
	return chains.EscrowState(trial.Must(evmwire.DecodeStates(answer, 1))(k.T)[0].State)
}

func (k *kit) eventually(what string, is func() bool) {
	k.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			k.Fatalf("never: %s", what)
		}
	}
}

// never gives the watchtower the time of many rounds.
func (k *kit) never(what string, is func() bool) {
	k.Helper()
	for deadline := time.Now().Add(300 * time.Millisecond); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if is() {
			k.Fatal(what)
		}
	}
}

func TestLazyTowers(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	deaf, off, slow := k.escrow(chains.Preimage{1}), k.escrow(chains.Preimage{2}), k.escrow(chains.Preimage{3})
	for _, s := range []evmwire.SwapData{deaf, off, slow} {
		k.open(s)
	}
	k.tower.Behave(watchtower.Behaviour{Deaf: true})
	k.publish(deaf, chains.Preimage{1})
	k.eventually("came to deaf ears", func() bool { return k.tower.Heard() == 1 })
	k.never("deaf, but claimed", func() bool { return len(k.tower.Claims()) > 0 })
	k.tower.Behave(watchtower.Behaviour{NoEscrows: true})
	k.publish(off, chains.Preimage{2})
	k.never("off, but claimed", func() bool { return len(k.tower.Claims()) > 0 })
	k.tower.Behave(watchtower.Behaviour{})
	k.eventually("claimed", func() bool { return k.state(off) == chains.EscrowClaimed })
	if k.state(deaf) != chains.EscrowOpen {
		t.Error("heard later what it was deaf to")
	}
	k.tower.Behave(watchtower.Behaviour{Delay: 400 * time.Millisecond})
	start := time.Now()
	k.publish(slow, chains.Preimage{3})
	k.eventually("claimed", func() bool { return k.state(slow) == chains.EscrowClaimed })
	if took := time.Since(start); took < 400*time.Millisecond {
		t.Errorf("claimed after %s", took)
	}
}

// vault opens a vault and returns what makes withdrawals from it.
func (k *kit) vault(confirmations int64) (evmwire.Vault, func(v btc.OutPoint, to common.Address) *wire.MsgTx) {
	k.Helper()
	lp := trial.Must(k.Bitcoin().NewWallet(btc.P2TR))(k.T)
	user := trial.Must(k.Bitcoin().NewWallet(btc.P2WPKH))(k.T)
	utxo := trial.Must(k.Bitcoin().Fund(lp.Address, 1000))(k.T)
	v := trial.Must(k.OpenVault(k.ctx, k.LP, 3, k.VaultParams(k.Contracts().Token, 10, confirmations), utxo, [2]uint64{1_000_000, 500_000}))(k.T)
	return v, func(of btc.OutPoint, to common.Address) *wire.MsgTx {
		k.Helper()
		paid := trial.Must(k.Bitcoin().Fund(user.Address, 50_000))(k.T)
		data := trial.Must(evmwire.WithdrawalData(to.Hex(), [2]uint64{100_000, 20_000}, nil))(k.T)
		script := trial.Must(rawtx.OpReturn(data))(k.T)
		s0, s1, err := btc.FeeShares{Caller: 1000}.Sequences()
		if err != nil {
			k.Fatal(err)
		}
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: of, Sequence: s0})
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: paid, Sequence: s1})
		tx.AddTxOut(wire.NewTxOut(1000, lp.Address.Script()))
		tx.AddTxOut(wire.NewTxOut(0, script))
		tx.AddTxOut(wire.NewTxOut(45_000, lp.Address.Script()))
		for _, w := range []*bitcoin.Wallet{lp, user} {
			trial.Do(k, w.Sign(tx))
		}
		trial.Must(k.Bitcoin().Send(tx))(k.T)
		return tx
	}
}

func TestVaultsCanWait(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.tower.Behave(watchtower.Behaviour{NoVaults: true})
	v, withdraw := k.vault(1)
	to := trial.Must(k.NewAccount())(t).Address
	withdraw(v.UTXO, to)
	trial.Must(k.Bitcoin().Mine(1))(t)
	k.never("off, but claimed", func() bool { return len(k.tower.Claims()) > 0 })
	k.tower.Behave(watchtower.Behaviour{Delay: 200 * time.Millisecond})
	k.eventually("claimed", func() bool { return trial.Must(k.ReadVault(k.ctx, v))(t).Withdrawals == 1 })
}

func TestNeedsARelay(t *testing.T) {
	t.Parallel()
	net := trial.Must(evm.Start(evm.Options{}))(t)
	defer net.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	network := &devnet.Net{Clock: new(devnet.Clock), Bitcoin: net.Bitcoin(), EVM: net}
	if tower, err := network.Watch(ctx, watchtower.Options{Relays: []string{"ws://127.0.0.1:1"}}); err == nil {
		_ = tower.Close()
		t.Error("started without any relay")
	}
}
