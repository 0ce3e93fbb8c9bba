package contracts_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

func TestTransfer(t *testing.T) {
	k := newKit(t, contracts.Options{})
	tx := k.transfer(alice, 0, big.NewInt(5))
	before := k.Head().Number
	k.send(tx)
	done := k.done(tx)
	if k.Head().Number != before+1 || done.Block != k.Head() || done.Reverted != "" || k.nonce(alice.Address()) != 1 {
		t.Errorf("block %d, %+v", k.Head().Number, done)
	}
	paid := new(big.Int).Sub(strk(1000), k.has(alice.Address()))
	if paid.Sub(paid, big.NewInt(5)).Cmp(done.Fee) != 0 || k.has(sequencer(k.Chain)).Cmp(done.Fee) != 0 || done.Fee.Sign() <= 0 {
		t.Errorf("Alice paid %d, the fee is %d, the sequencer has %d", paid, done.Fee, k.has(sequencer(k.Chain)))
	}
	if len(done.Events) != 2 || done.Events[1].From != wire.STRK || done.Gas.L2 > tx.Bounds.L2.MaxAmount || done.Gas.L1Data > tx.Bounds.L1Data.MaxAmount {
		t.Errorf("%d events, gas %+v of %+v", len(done.Events), done.Gas, tx.Bounds)
	}
	k.refused(tx, contracts.InvalidNonce)
}

// TestReverted makes transactions that fail and are paid for all the same.
func TestReverted(t *testing.T) {
	k := newKit(t, contracts.Options{}, counter())
	at := contracts.Address(wire.Felt{}, counterClass, wire.Felt{}, nil)
	other := contracts.Address(wire.Felt{}, counterClass, wire.FeltOf(1), nil)
	k.must(k.Place(at, counterClass))
	k.must(k.Place(other, counterClass))
	k.Produce(1)
	nonce := uint64(0)
	for name, c := range map[string]struct {
		tx   func() *contracts.Tx
		want string
	}{
		"too much":        {func() *contracts.Tx { return k.transfer(alice, nonce, strk(5000)) }, "('ERC20: insufficient balance')"},
		"no such entry":   {func() *contracts.Tx { return k.call(nonce, at, "nothing") }, "('ENTRYPOINT_NOT_FOUND')"},
		"no contract":     {func() *contracts.Tx { return k.call(nonce, wire.FeltOf(9), "nothing") }, "\n1: Error in the called contract (contract address: 0x0000000000000000000000000000000000000000000000000000000000000009"},
		"inner contract":  {func() *contracts.Tx { return k.call(nonce, at, "both", other) }, wire.Hex64(other)},
		"without end":     {func() *contracts.Tx { return k.call(nonce, at, "self") }, "('CALL_DEPTH_EXCEEDED')"},
		"out of gas":      {func() *contracts.Tx { return k.call(nonce, at, "burn", wire.FeltOf(200_000_000)) }, "('Out of gas')"},
		"much is changed": {func() *contracts.Tx { return k.call(nonce, at, "fill", wire.FeltOf(400)) }, "Insufficient max L1DataGas: max amount: 10000, actual used: "},
		"all is gone":     {func() *contracts.Tx { return k.transfer(alice, nonce, k.has(alice.Address())) }, "Insufficient fee token balance"},
	} {
		before, counted := k.has(alice.Address()), k.tx
		tx := c.tx()
		k.send(tx)
		done := counted(tx.Hash)
		if done == nil || !strings.Contains(done.Reverted, c.want) {
			t.Errorf("%s: %+v", name, done)
			continue
		}
		paid := before.Sub(before, k.has(alice.Address()))
		if paid.Cmp(done.Fee) != 0 || paid.Sign() <= 0 || paid.Cmp(tx.Bounds.MaxFee()) > 0 {
			t.Errorf("%s: paid %d, fee %d of at most %d", name, paid, done.Fee, tx.Bounds.MaxFee())
		}
		if len(done.Events) != 1 {
			t.Errorf("%s: %d events, want that of the fee", name, len(done.Events))
		}
		nonce++
	}
	if k.nonce(alice.Address()) != nonce {
		t.Errorf("nonce %d of %d", k.nonce(alice.Address()), nonce)
	}
	for _, c := range []wire.Felt{at, other} {
		if i, err := k.Impersonate(wire.Felt{}, c, wire.Selector("count"), wire.Felt{}); err != nil || !i.Result[0].IsZero() {
			t.Errorf("something is left: %v %v", i.Result, err)
		}
	}
}

func TestReason(t *testing.T) {
	k := newKit(t, contracts.Options{}, counter())
	at := contracts.Address(wire.Felt{}, counterClass, wire.Felt{}, nil)
	other := contracts.Address(wire.Felt{}, counterClass, wire.FeltOf(1), nil)
	k.must(k.Place(at, counterClass))
	k.must(k.Place(other, counterClass))
	tx := k.call(0, at, "both", other)
	k.send(tx)
	where := func(at, class wire.Felt, entry string) string {
		return "(contract address: " + wire.Hex64(at) + ", class hash: " + wire.Hex64(class) + ", selector: " + wire.Hex64(wire.Selector(entry)) + "):\n"
	}
	account := where(alice.Address(), wire.ClassOpenZeppelin, "__execute__")
	want := "Transaction execution has failed:\n0: Error in the called contract " + account + "Execution failed. Failure reason:\nError in contract " + account +
		"Error in contract " + where(at, counterClass, "both") + "Error in contract " + where(other, counterClass, "countAndFail") + "0x4e6f7420656e6f756768 ('Not enough').\n"
	if got := k.done(tx).Reverted; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestRefused(t *testing.T) {
	k := newKit(t, contracts.Options{}, counter(), contracts.Class{Name: "yes", Hash: wire.FeltOf(77), Entries: map[string]contracts.Function{
		"__validate__": func(*contracts.Frame, []contracts.Felt) ([]contracts.Felt, error) {
			return []contracts.Felt{wire.FeltOf(1)}, nil
		},
		"__validate_deploy__": func(*contracts.Frame, []contracts.Felt) ([]contracts.Felt, error) { return nil, contracts.Fail("no") },
		"__execute__":         func(*contracts.Frame, []contracts.Felt) ([]contracts.Felt, error) { return nil, nil },
	}})
	one := big.NewInt(1)
	k.refused(k.transfer(alice, 201, one), contracts.InvalidNonce)
	forged := k.transfer(alice, 0, one)
	forged.Signature[1] = wire.FeltOf(1)
	k.refused(forged, contracts.ValidationFailed)
	elsewhere := network
	elsewhere.ChainID = wire.Mainnet
	call, err := wire.Transfer(wire.STRK, bob.Address(), one)
	k.must(err)
	k.refused(k.signed(alice, elsewhere.NewInvoke(alice.Address(), 0, rate(), []wire.Call{call})), contracts.ValidationFailed)
	cheap := rate()
	cheap.L2 = new(big.Int).Sub(cheap.L2, one)
	k.refused(k.signed(alice, network.NewInvoke(alice.Address(), 0, cheap, []wire.Call{call})), contracts.InsufficientResources)
	small := call
	small.Gas.L2 = 900_000 // less than the validation takes
	k.refused(k.signed(alice, network.NewInvoke(alice.Address(), 0, rate(), []wire.Call{small})), contracts.ValidationFailed)
	dear := rate()
	dear.L2 = strk(1)
	k.refused(k.signed(alice, network.NewInvoke(alice.Address(), 0, dear, []wire.Call{call})), contracts.InsufficientBalance)
	large := call
	large.Gas.L2 = 1_210_000_001
	k.refused(k.signed(alice, network.NewInvoke(alice.Address(), 0, rate(), []wire.Call{large})), contracts.Unsupported)
	k.refused(k.transfer(carol, 0, one), contracts.ValidationFailed)
	coin := network.NewInvoke(wire.STRK, 0, rate(), nil)
	coin.Bounds = rate().Bounds(wire.Gas{L2: 10_000_000, L1Data: 1000})
	coin.Signed, coin.Calldata = true, []wire.Felt{{}}
	low, high := contracts.Split(strk(1))
	_, err = k.Impersonate(alice.Address(), wire.STRK, wire.Selector("transfer"), wire.STRK, low, high)
	k.must(err)
	token, err := contracts.NewTx(coin, false)
	k.must(err)
	k.refused(token, contracts.NotAnAccount)
	query, err := contracts.NewTx(k.transfer(alice, 0, one).Transaction, true)
	k.must(err)
	k.refused(query, contracts.Unsupported)
	paymaster := network.NewInvoke(alice.Address(), 0, rate(), []wire.Call{call})
	paymaster.PaymasterData = []wire.Felt{wire.FeltOf(1)}
	k.refused(k.signed(alice, paymaster), contracts.Unsupported)
	again := k.signed(bob, network.NewDeploy(bob.Address(), rate()))
	k.refused(again, contracts.ValidationFailed)

	// An account that refuses to be deployed, and one that does not say that a transaction is its own.
	odd := wire.Deploy{ClassHash: wire.FeltOf(77)}
	_, err = k.Impersonate(alice.Address(), wire.STRK, wire.Selector("transfer"), odd.Address(), low, high)
	k.must(err)
	deploy := network.NewDeploy(odd.Address(), rate())
	deploy.Deploy, deploy.Signed = odd, true
	tx, err := contracts.NewTx(deploy, false)
	k.must(err)
	k.refused(tx, contracts.ValidationFailed)
	k.must(k.Place(odd.Address(), odd.ClassHash))
	invoke := network.NewInvoke(odd.Address(), 0, rate(), nil)
	invoke.Bounds = rate().Bounds(wire.Gas{L2: 10_000_000, L1Data: 1000})
	invoke.Signed, invoke.Calldata = true, []wire.Felt{wire.FeltOf(0)}
	tx, err = contracts.NewTx(invoke, false)
	k.must(err)
	k.refused(tx, contracts.ValidationFailed)
	undeclared := network.NewDeploy(odd.Address(), wire.FeeRate{L1: rate().L1, L2: rate().L2, L1Data: rate().L1Data})
	undeclared.Deploy, undeclared.Signed = wire.Deploy{ClassHash: wire.FeltOf(78)}, true
	_, err = k.Impersonate(alice.Address(), wire.STRK, wire.Selector("transfer"), undeclared.Deploy.Address(), low, high)
	k.must(err)
	tx, err = contracts.NewTx(undeclared, false)
	k.must(err)
	k.refused(tx, contracts.ClassNotFound)
}

// TestDeployAccount deploys an account and uses it, also where both wait for one block.
func TestDeployAccount(t *testing.T) {
	k := newKit(t, contracts.Options{})
	k.Hold(true)
	deploy := k.signed(carol, network.NewDeploy(carol.Address(), rate()))
	if deploy.Sender != carol.Address() {
		t.Fatalf("the address is %s", wire.Hex64(deploy.Sender))
	}
	invoke := k.transfer(carol, 1, big.NewInt(3))
	k.refused(invoke, contracts.ValidationFailed)
	k.send(deploy)
	k.send(invoke)
	k.Produce(1)
	if a, b := k.done(deploy), k.done(invoke); a.Reverted != "" || b.Reverted != "" || a.Construct == nil || b.Index != 1 {
		t.Errorf("%+v %+v", a, b)
	}
	if k.nonce(carol.Address()) != 2 || k.has(bob.Address()).Cmp(new(big.Int).Add(strk(1000), big.NewInt(3))) != 0 {
		t.Errorf("nonce %d", k.nonce(carol.Address()))
	}
}

// TestNonceOrder sends transactions in the wrong order.
func TestNonceOrder(t *testing.T) {
	k := newKit(t, contracts.Options{Manual: true})
	third, second, first := k.transfer(alice, 2, big.NewInt(1)), k.transfer(alice, 1, big.NewInt(1)), k.transfer(alice, 0, big.NewInt(1))
	k.send(third)
	k.send(second)
	if k.nonce(alice.Address()) != 0 {
		t.Error("a transaction was executed before its turn")
	}
	k.refused(third, contracts.Duplicate)
	k.refused(k.transfer(alice, 2, big.NewInt(2)), contracts.Underpriced)
	k.send(first)
	for i, tx := range []*contracts.Tx{first, second, third} {
		if done := k.done(tx); done.Index != i {
			t.Errorf("the %d. transaction is the %d. of the block", i+1, done.Index+1)
		}
	}
	k.refused(third, contracts.Duplicate)
}

func TestTime(t *testing.T) {
	k := newKit(t, contracts.Options{Manual: true})
	k.send(k.transfer(alice, 0, big.NewInt(1)))
	opened := uint64(k.now.Unix())
	k.now = k.now.Add(time.Minute)
	k.Produce(1)
	if k.Head().Time != opened {
		t.Errorf("the block says %d and was opened at %d", k.Head().Time, opened)
	}
	k.Advance(0)
	if k.Head().Time != opened+60 {
		t.Errorf("after the clock was moved the time is %d", k.Head().Time-opened)
	}
	k.Advance(time.Hour)
	k.Produce(1)
	if k.Head().Time != opened+3660 {
		t.Errorf("after an hour the time is %d", k.Head().Time-opened)
	}
	k.now = k.now.Add(time.Second)
	k.Produce(1)
	if k.Head().Time != opened+3661 {
		t.Errorf("a second later the time is %d", k.Head().Time-opened)
	}
}

// TestPast reads how it was.
func TestPast(t *testing.T) {
	k := newKit(t, contracts.Options{})
	for i := range uint64(4) {
		k.send(k.transfer(alice, i, big.NewInt(1)))
	}
	k.Read(0, func(v *contracts.View) {
		for i := range uint64(5) {
			b := v.Block(1 + i)
			if got := new(big.Int).Sub(v.Balance(bob.Address(), b), strk(1000)); got.Uint64() != i || v.Nonce(alice.Address(), b) != i {
				t.Errorf("after block %d Bob has %d more, Alice's nonce is %d", b.Number, got, v.Nonce(alice.Address(), b))
			}
		}
		if class := v.ClassAt(alice.Address(), v.Block(0)); !class.IsZero() {
			t.Error("the account was there before it was deployed")
		}
	})
	k.Read(2, func(v *contracts.View) {
		if v.Head().Number != 3 || v.Nonce(alice.Address(), v.Open()) != 2 || v.Block(4) != nil || v.BlockOf(k.Head().Hash) != nil {
			t.Errorf("a node that is behind is at %d", v.Head().Number)
		}
	})
}

func TestBranchLimits(t *testing.T) {
	k := newKit(t, contracts.Options{})
	for _, c := range [][2]int{{0, 1}, {1, 0}, {2, 1}, {99, 1}, {-1, 1}} {
		if err := k.Branch(c[0], c[1], false); err == nil {
			t.Errorf("replaced %d by %d", c[0], c[1])
		}
	}
}

// TestPrices raises the price under a transaction that waits: it is gone when its block
// comes.
func TestPrices(t *testing.T) {
	k := newKit(t, contracts.Options{})
	k.Hold(true)
	tx := k.transfer(alice, 0, big.NewInt(1))
	k.send(tx)
	p := contracts.DefaultPrices()
	p.Fri.L2 = new(big.Int).Lsh(p.Fri.L2, 1)
	k.SetPrices(p)
	k.Produce(1)
	if k.tx(tx.Hash) != nil || k.nonce(alice.Address()) != 0 {
		t.Error("the transaction was executed below the price")
	}
	if k.Head().Prices.Fri.L2.Cmp(p.Fri.L2) != 0 {
		t.Error("the block has the old price")
	}
}

// TestReplacement outbids a transaction that waits.
func TestReplacement(t *testing.T) {
	k := newKit(t, contracts.Options{})
	k.Hold(true)
	offer := func(percent int64, tip uint64) *contracts.Tx {
		call, err := wire.Transfer(wire.STRK, bob.Address(), big.NewInt(percent))
		k.must(err)
		r := rate()
		r.L2 = new(big.Int).Div(new(big.Int).Mul(r.L2, big.NewInt(percent)), big.NewInt(100))
		tx := network.NewInvoke(alice.Address(), 0, r, []wire.Call{call})
		tx.Tip = tip
		return k.signed(alice, tx)
	}
	first, second, third := offer(100, 0), offer(110, 0), offer(130, 10)
	k.send(first)
	k.refused(offer(109, 5), contracts.Underpriced)
	k.send(second)
	k.send(third)
	k.refused(offer(200, 10), contracts.Underpriced)
	k.Produce(1)
	if k.tx(first.Hash) != nil || k.tx(second.Hash) != nil || k.done(third).Reverted != "" || k.nonce(alice.Address()) != 1 {
		t.Error("not the dearest was executed, or not it alone")
	}
	if done := k.done(third); done.Fee.Cmp(new(big.Int).Add(rate().Cost(done.Gas), new(big.Int).SetUint64(10*done.Gas.L2))) != 0 {
		t.Errorf("the fee of %d has no tip", done.Fee)
	}
}
