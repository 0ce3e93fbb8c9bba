package evm

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"

	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func start(t *testing.T, o Options) *Net {
	t.Helper()
	n := trial.Must(Start(o))(t)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestNetworkIsReady(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	began := time.Now()
	n := start(t, Options{})
	t.Logf("ready after %v", time.Since(began))
	ok(t, n.Network().Validate())
	client := trial.Must(ethclient.Dial(n.URL()))(t)
	defer client.Close()
	if id := trial.Must(client.ChainID(ctx))(t); id.Uint64() != n.Network().ChainID {
		t.Errorf("chain id %s", id)
	}
	if behind := time.Since(n.Time()); behind < 0 || behind > 2*time.Minute {
		t.Errorf("the newest block is %v old", behind)
	}
	if height := trial.Must(n.RelayHeight(ctx))(t); height != 110 {
		t.Errorf("relay at %d", height)
	}
	a := trial.Must(n.NewAccount())(t)
	ok(t, n.Fund(ctx, a.Address, Coins(3)))
	if got := trial.Must(client.BalanceAt(ctx, a.Address, nil))(t); got.Cmp(Coins(3)) != 0 {
		t.Errorf("balance %s", got)
	}
	d := n.Deployment()
	for _, at := range append(d.ClaimHandlers[:], d.EscrowManager.Address, d.VaultManager.Address, d.RefundHandler, d.Execution) {
		if code := trial.Must(client.CodeAt(ctx, at, nil))(t); len(code) == 0 {
			t.Errorf("no contract at %s", at)
		}
	}
}

// A branch as long as what it replaces, or shorter, is the chain that is shown, and
// what was in the old blocks is mined again.
func TestBranchesOfAnyLength(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := start(t, Options{FinalDepth: 2})
	client := trial.Must(ethclient.Dial(n.URL()))(t)
	defer client.Close()
	for _, c := range []struct{ depth, length uint64 }{{1, 1}, {3, 1}, {2, 2}, {1, 3}, {3, 2}} {
		ok(t, n.Mine(2))
		r := trial.Must(n.User.Send(ctx, wire.Call{To: common.Address{9}, Value: big.NewInt(5), Gas: 21_000}))(t)
		head := n.Head()
		ok(t, n.Branch(c.depth, c.length))
		shown := trial.Must(client.HeaderByNumber(ctx, nil))(t)
		if want := head.Number.Uint64() - c.depth + c.length; shown.Number.Uint64() != want || shown.Hash() == head.Hash() || shown.Time < head.Time {
			t.Errorf("%d by %d: head %d of %d after %d of %d", c.depth, c.length, shown.Number, shown.Time, head.Number, head.Time)
		}
		if _, err := client.TransactionReceipt(ctx, r.TxHash); err == nil {
			t.Errorf("%d by %d: the transaction is still mined", c.depth, c.length)
		}
		if final := trial.Must(client.HeaderByNumber(ctx, big.NewInt(-3)))(t); final.Number.Uint64() != shown.Number.Uint64()-2 {
			t.Errorf("%d by %d: finalized is %d of %d", c.depth, c.length, final.Number, shown.Number)
		}
		ok(t, n.Mine(1))
		if again := trial.Must(client.TransactionReceipt(ctx, r.TxHash))(t); again.BlockHash == r.BlockHash {
			t.Errorf("%d by %d: mined in the old block", c.depth, c.length)
		}
	}
	for _, c := range []struct{ depth, length uint64 }{{0, 1}, {1, 0}, {1000, 1}} {
		if err := n.Branch(c.depth, c.length); err == nil {
			t.Errorf("%d by %d: no error", c.depth, c.length)
		}
	}
}

func TestTimeAndReorganisation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := start(t, Options{FinalDepth: 2})
	client := trial.Must(ethclient.Dial(n.URL()))(t)
	defer client.Close()
	to := common.Address{9}
	r := trial.Must(n.User.Send(ctx, wire.Call{To: to, Value: big.NewInt(5), Gas: 21_000}))(t)
	before := n.Time()
	ok(t, n.Advance(time.Hour))
	if got := n.Time().Sub(before); got != time.Hour {
		t.Errorf("advanced %v", got)
	}
	ok(t, n.Mine(1))
	if got := n.Time().Sub(before); got < time.Hour+time.Second {
		t.Errorf("chain time fell back to %v", got)
	}
	if final := trial.Must(client.HeaderByNumber(ctx, big.NewInt(-3)))(t); final.Number.Uint64() != n.Head().Number.Uint64()-2 {
		t.Errorf("finalized is %d of %d", final.Number, n.Head().Number)
	}

	head := n.Head()
	ok(t, n.Reorg(3))
	if got := n.Head(); got.Number.Uint64() != head.Number.Uint64()+1 {
		t.Errorf("head %d after %d", got.Number, head.Number)
	}
	if _, err := client.TransactionReceipt(ctx, r.TxHash); err == nil {
		t.Error("the transaction is still mined")
	}
	if _, pending, err := client.TransactionByHash(ctx, r.TxHash); err != nil || !pending {
		t.Errorf("the transaction does not wait: %v", err)
	}
	ok(t, n.Mine(1))
	if again := trial.Must(client.TransactionReceipt(ctx, r.TxHash))(t); again.BlockHash == r.BlockHash {
		t.Error("mined in the block that is gone")
	}
	if n.Reorg(1000) == nil {
		t.Error("a reorganisation below the first block")
	}
}

func TestMiningOnDemand(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := start(t, Options{Manual: true})
	call := wire.Call{To: common.Address{1}, Value: big.NewInt(1), Gas: 21_000}
	height := n.Head().Number.Uint64()
	first := trial.Must(n.User.Submit(ctx, call))(t)
	second := trial.Must(n.User.Submit(ctx, call))(t)
	if second.Nonce() != first.Nonce()+1 || n.Head().Number.Uint64() != height {
		t.Errorf("nonces %d %d, height %d", first.Nonce(), second.Nonce(), n.Head().Number)
	}
	ok(t, n.Mine(1))
	a, b := trial.Must(n.Wait(ctx, first.Hash()))(t), trial.Must(n.Wait(ctx, second.Hash()))(t)
	if a.BlockHash != b.BlockHash {
		t.Error("not in one block")
	}
	trial.Must(n.User.Submit(ctx, call))(t)
	n.DropPending()
	ok(t, n.Mine(1))
	if n.Head().GasUsed != 0 {
		t.Error("a dropped transaction was mined")
	}
	third := trial.Must(n.User.Submit(ctx, call))(t)
	n.SetMining(true)
	fourth := trial.Must(n.User.Submit(ctx, call))(t)
	for _, tx := range []*types.Transaction{third, fourth} {
		trial.Must(n.Wait(ctx, tx.Hash()))(t)
	}
}

func TestBlocksByTheClock(t *testing.T) {
	t.Parallel()
	n := start(t, Options{BlockTime: 20 * time.Millisecond})
	height := n.Head().Number.Uint64()
	ok(t, waitFor(context.Background(), time.Minute, func() bool { return n.Head().Number.Uint64() > height+1 }))
}

func TestRefusalsSayWhy(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	n := start(t, Options{})
	call := trial.Must(n.Withdraw(Native, big.NewInt(1), n.LP.Address))(t)
	for _, err := range []error{second(n.LP.Send(ctx, call)), second(n.Read(ctx, n.LP.Address, call))} {
		if r, isRevert := errors.AsType[*revertError](err); !isRevert || r.Reason != "withdraw: not enough balance" {
			t.Errorf("got %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
