package starknet_test

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func start(t *testing.T, o starknet.Options) *starknet.Net {
	t.Helper()
	n := trial.Must(starknet.Start(o))(t)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func balance(t *testing.T, n *starknet.Net, token, of wire.Felt) *big.Int {
	t.Helper()
	return trial.Must(n.Balance(token, of))(t)
}

func transfer(t *testing.T, token, to wire.Felt, amount *big.Int) wire.Call {
	t.Helper()
	return trial.Must(wire.Transfer(token, to, amount))(t)
}

func TestFunds(t *testing.T) {
	n, ctx := start(t, starknet.Options{}), t.Context()
	a := n.NewAccount()
	trial.Do(t, n.Fund(ctx, a.Address, starknet.STRK(3)))
	for token, amount := range map[wire.Felt]int64{starknet.USDC: 5, starknet.WBTC: 6, starknet.ETH: 7} {
		trial.Do(t, n.Mint(ctx, token, a.Address, big.NewInt(amount)))
		if got := balance(t, n, token, a.Address); got.Int64() != amount {
			t.Errorf("%d of %s, want %d", got, wire.Hex64(token), amount)
		}
	}
	trial.Do(t, a.Deploy(ctx))
	before := balance(t, n, starknet.WBTC, n.LP.Address)
	if _, err := a.Send(ctx, transfer(t, starknet.WBTC, n.LP.Address, big.NewInt(4))); err != nil {
		t.Fatal(err)
	}
	if got := balance(t, n, starknet.WBTC, n.LP.Address); got.Sub(got, before).Int64() != 4 {
		t.Errorf("the LP got %d", got)
	}
	if got := balance(t, n, wire.STRK, a.Address); got.Cmp(starknet.STRK(3)) >= 0 {
		t.Error("the transactions cost nothing")
	}
	had := balance(t, n, wire.STRK, a.Address)
	_, err := a.Send(ctx, transfer(t, starknet.WBTC, n.LP.Address, big.NewInt(40)))
	var reverted *starknet.RevertedError
	if !errors.As(err, &reverted) {
		t.Errorf("overspending: %v", err)
	}
	if now := balance(t, n, wire.STRK, a.Address); now.Cmp(had) >= 0 {
		t.Error("a transaction that reverted cost nothing")
	}
	_, err = n.User.Send(ctx, transfer(t, starknet.WBTC, n.LP.Address, new(big.Int).Lsh(big.NewInt(1), 130)))
	if !errors.As(err, &reverted) || !strings.Contains(reverted.Tx.Reverted, "ERC20: insufficient balance") {
		t.Errorf("overspending: %v", err)
	}
}

func TestDeposit(t *testing.T) {
	n, ctx := start(t, starknet.Options{Manual: true}), t.Context()
	trial.Do(t, n.Deposit(ctx, n.LP, starknet.WBTC, big.NewInt(1_000_000)))
	got, err := n.Party(n.LP).Funds(starknet.WBTC)
	if err != nil || got.Int64() != 1_000_000 {
		t.Fatalf("the LP has %v in the contract: %v", got, err)
	}
}

// relayed demands that the relay knows Bitcoin's tip.
func relayed(t *testing.T, n *starknet.Net) {
	t.Helper()
	trial.Do(t, n.SyncRelay(t.Context()))
	tip, _ := n.Bitcoin().Tip()
	if height, err := n.RelayHeight(); err != nil || height != tip {
		t.Errorf("the relay is at %d, Bitcoin at %d: %v", height, tip, err)
	}
	want := trial.Must(n.StoredHeader(tip))(t)
	answer, err := n.Call(n.Deployment().BtcRelay.Address, wire.EntryTipCommitHash)
	if err != nil || answer[0] != want.CommitHash() {
		t.Errorf("another tip: %v", err)
	}
	// The tip's event is there from the start, as clients find the header by it.
	told := func(l contracts.Log) bool { return l.Keys[1] == want.CommitHash() }
	if !slices.ContainsFunc(n.Logs(n.Deployment().BtcRelay.Address, 0), told) {
		t.Error("no event tells of the tip")
	}
}

// TestRelayFollows brings the relay over new blocks, and over forks that take one or
// several transactions.
func TestRelayFollows(t *testing.T) {
	n := start(t, starknet.Options{})
	relayed(t, n)
	for _, depth := range []int{1, 2, 41} {
		if _, err := n.Bitcoin().Mine(45); err != nil {
			t.Fatal(err)
		}
		relayed(t, n)
		trial.Do(t, n.Bitcoin().Reorg(depth))
		relayed(t, n)
	}
}

func TestTimeAndForks(t *testing.T) {
	now := time.Unix(1_760_000_000, 0)
	n := start(t, starknet.Options{Now: func() time.Time { return now }, L1Lag: 3})
	ctx := t.Context()
	before := n.Head()
	n.Advance(time.Hour)
	if !n.Time().Equal(now.Add(time.Hour)) || n.Head().Height != before.Height+1 {
		t.Errorf("the time is %s", n.Time())
	}
	a := n.NewAccount().Address
	has := func() *big.Int { return balance(t, n, wire.STRK, a) }
	trial.Do(t, n.Fund(ctx, a, big.NewInt(1)))
	head := n.Head()
	trial.Do(t, n.Branch(1, 1))
	if n.Head().Height != head.Height || n.Head().Hash == head.Hash || n.Head().Time < head.Time {
		t.Errorf("the branch ends with %+v", n.Head())
	}
	if has().Sign() != 0 {
		t.Error("the replaced block left something")
	}
	n.Mine(1)
	if has().Int64() != 1 {
		t.Error("the transaction did not come again")
	}
	trial.Do(t, n.Forget(1))
	n.Mine(1)
	if has().Sign() != 0 {
		t.Error("the transaction came again")
	}
}

// TestPreConfirmed looks at what is executed and in no block yet.
func TestPreConfirmed(t *testing.T) {
	n := start(t, starknet.Options{})
	n.SetMining(false)
	a := n.NewAccount().Address
	sum := func() (accepted, open int64) {
		n.Chain().Read(0, func(v *contracts.View) {
			accepted, open = v.Balance(a, v.Head()).Int64(), v.Balance(a, v.Open()).Int64()
		})
		return accepted, open
	}
	want := func(accepted, open int64) {
		t.Helper()
		if got, gotOpen := sum(); got != accepted || gotOpen != open {
			t.Errorf("accepted %d, pre-confirmed %d, want %d and %d", got, gotOpen, accepted, open)
		}
	}
	pay := func() {
		t.Helper()
		if _, err := n.User.Submit(transfer(t, wire.STRK, a, big.NewInt(1))); err != nil {
			t.Fatal(err)
		}
	}
	pay()
	pay()
	want(0, 2)
	n.Mine(1)
	want(2, 2)
	pay()
	n.DropPreConfirmed()
	want(2, 2)
	n.Hold(true)
	pay()
	pay()
	want(2, 2)
	n.Mine(1)
	want(4, 4)
	pay()
	n.DropPending()
	n.Mine(1)
	want(4, 4)
	n.Hold(false)
	pay() // the nonces of what was dropped are free again
	want(4, 5)
	trial.Do(t, n.Reorg(1))
	want(4, 4)
	n.Mine(1)
	want(5, 5)
}

func TestBlockTime(t *testing.T) {
	n := start(t, starknet.Options{BlockTime: 5 * time.Millisecond})
	a := n.NewAccount().Address
	for range 3 {
		trial.Do(t, n.Fund(t.Context(), a, big.NewInt(1)))
	}
	if has := balance(t, n, wire.STRK, a); has.Int64() != 3 {
		t.Errorf("%d arrived", has)
	}
}

// Accounts that stand from the start have spent the nonce of their deployment, as on
// public networks, where wallets take one with the nonce 0 for not deployed.
func TestAccountsAreDeployed(t *testing.T) {
	n := start(t, starknet.Options{})
	for _, a := range []*starknet.Account{n.User, n.Watchtower, n.LP} {
		n.Chain().Read(0, func(v *contracts.View) {
			if nonce := v.Nonce(a.Address, v.Head()); nonce != 1 {
				t.Errorf("%s has the nonce %d", wire.Hex64(a.Address), nonce)
			}
		})
	}
	if _, err := n.User.Send(t.Context(), transfer(t, wire.STRK, n.LP.Address, big.NewInt(1))); err != nil {
		t.Error(err)
	}
}

// While blocks come by the clock nobody makes others, and afterwards each transaction has its own again.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) // after Bitcoin's first block
		network := new(loopback.Network)
		coins := trial.Must(bitcoin.Start(bitcoin.Options{Network: network}))(t)
		defer coins.Close()
		n := start(t, starknet.Options{Bitcoin: coins, Network: network})
		defer n.Close()
		a, began, height := n.NewAccount(), time.Now(), n.Head().Height
		stop := n.Pace(6 * time.Second)
		if err := n.Fund(t.Context(), a.Address, big.NewInt(1)); err != nil || time.Since(began) != 6*time.Second {
			t.Errorf("executed after %v: %v", time.Since(began), err)
		}
		time.Sleep(time.Minute)
		stop()
		if got := n.Head().Height - height; got != 11 {
			t.Errorf("%d blocks in 66 s", got)
		}
		began = time.Now()
		if err := n.Fund(t.Context(), a.Address, big.NewInt(1)); err != nil || time.Since(began) != 0 {
			t.Errorf("executed after %v: %v", time.Since(began), err)
		}
	})
}
