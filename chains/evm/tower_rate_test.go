package evm

import (
	"errors"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/trial"
)

// If no node tells its fee at first they are asked once more, and what is told then
// counts. If none tells it ever, the nodes' own words are the reason.
func TestTowerRateIsAskedForAgain(t *testing.T) {
	t.Parallel()
	block := map[string]any{"number": "0x10", "timestamp": "0x10", "hash": "0x" + zeros(64), "baseFeePerGas": "0x989680", "l1FeeRate": "0x64"}
	node := func(refusals int32) string {
		var asked atomic.Int32
		return rpctest.Serve(t, func(calls []rpctest.Call) any {
			var all []any
			for _, c := range calls {
				if c.Method == "eth_getBlockByNumber" && asked.Add(1) <= refusals {
					all = append(all, rpctest.Refusal(c, -32000, "no such block"))
					continue
				}
				all = append(all, rpctest.Result(c, block))
			}
			return all
		}).URL
	}
	network := presetOf(t, "CITREA/MAINNET")
	network.ChainID = rpctest.EVMChainID
	on := func(node rpc.Node) *chain { return &chain{net: network, node: node, env: chains.Env{Now: time.Now}} }
	want, err := on(newTestNodes(t, node(0))).towerRate(t.Context())
	if err != nil || want.Base == nil || want.Base.Sign() <= 0 {
		t.Fatalf("%+v, %v", want, err)
	}
	if got, err := on(newTestNodes(t, node(1), node(1))).towerRate(t.Context()); err != nil || got.Base.Cmp(want.Base) != 0 || got.L1.Cmp(want.L1) != 0 {
		t.Errorf("told when asked again: %+v, %v, want %+v", got, err, want)
	}
	if got, err := on(newTestNodes(t, node(1<<30), node(1<<30))).towerRate(t.Context()); err == nil || !strings.Contains(err.Error(), "no such block") {
		t.Errorf("never told: %+v, %v", got, err)
	}
	c := on(newTestNodes(t, node(0), node(0)))
	if _, err := c.towerRate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if at, ok := c.latest.Get(time.Now()); !ok || at != 0x10 {
		t.Errorf("the block that the fees were read from is remembered: %v, with time %d", ok, at)
	}
	// a node of the caller's own is one node
	staged, _, _ := stagedChain(t, 1, func(rpc.Request) any { return block })
	if got, err := staged.towerRate(t.Context()); err != nil || got.Base.Cmp(want.Base) != 0 {
		t.Errorf("a single node: %+v, %v", got, err)
	}
}

// Only what an opening cannot do without is called left out.
func TestWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	_, k, _ := stagedChain(t, 1, func(rpc.Request) any { return nil })
	user := addressOf(t, userKey)
	s := payInSwap(t, k.Deployment, user)
	s.DepositToken, s.SecurityDeposit = common.HexToAddress("0x00000000000000000000000000000000000000cc"), big.NewInt(5)
	e := trial.Must(k.Deployment.Escrow(s))(t)
	plan := chains.Plan{Signer: user.Hex(), Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: anyAuth()}}}
	calls := trial.Must(k.Deployment.Init(s, user, anyAuth()))(t)
	as := func(c wire.Call) *wire.Transaction {
		return &wire.Transaction{From: user, To: &c.To, Value: bigs.OrZero(c.Value), Data: c.Data}
	}
	last := len(calls) - 1
	for i, c := range calls {
		if got, want := k.leftOut(plan, as(c)), i == last && last > 0; got != want {
			t.Errorf("call %d of %d: %v, want %v", i, len(calls), got, want)
		}
	}
	stranger := as(calls[last])
	stranger.To = &common.Address{9}
	if k.leftOut(plan, stranger) {
		t.Error("something is left out before a transaction that is not part of the plan")
	}
}

// A nonce that was sent lately is counted though the node has not heard of it, and
// a swap keeps what it was given only while that is free.
func TestNonceLimits(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	c := &chain{nonces: settle.NewSentTxs[*wire.Transaction](), env: chains.Env{Now: func() time.Time { return now }}}
	sent := func(nonce uint64) { c.noteSent(chains.Signed{From: "me", Nonce: nonce}) }
	next := func(what string, pending, want uint64) {
		t.Helper()
		if got := c.nonces.Next("me", pending, c.env.Now()); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	next("nothing was sent", 4, 4)
	sent(6)
	next("one was sent", 4, 7)
	next("the node is ahead", 9, 9)
	sent(5)
	next("one was sent before that", 4, 7)
	now = now.Add(settle.SendTimeout - time.Second)
	next("just remembered", 4, 7)
	now = now.Add(time.Second)
	next("too long ago", 4, 4)
	sent(5)
	next("sent when the other was dropped", 4, 6)
	sent(6)
	next("one was sent after that", 4, 7)
	now = now.Add(settle.SendTimeout - time.Second)
	sent(6)
	now = now.Add(time.Second)
	next("sent once more", 4, 7)

	a, b := wire.Call{To: common.Address{1}, Data: []byte{1}}, wire.Call{To: common.Address{2}, Data: []byte{2}}
	c.nonces = settle.NewSentTxs[*wire.Transaction]()
	first := func(what, swap string, call wire.Call, pending, mined, want uint64) {
		t.Helper()
		if got := c.firstNonce("me", swap, []wire.Call{call}, pending, mined); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	first("given", "x", a, 5, 5, 5)
	first("asked again while it waits", "x", a, 6, 5, 5)
	first("something else of the same swap", "x", b, 6, 5, 6)
	first("another swap", "y", a, 6, 5, 6)
	first("without a swap", "", a, 7, 5, 7)
	first("without a swap again", "", a, 8, 5, 8)
	first("once it is mined", "x", a, 6, 6, 6)
	what := deed(b.To, b.Data)
	c.nonces.Sent("me", 6, &what, now.Add(-settle.SendTimeout))
	first("taken by something else", "x", a, 8, 6, 8)
	first("sent by itself", "x", b, 8, 6, 6)
	first("given far ahead", "z", a, 9, 6, 9)
	first("what was before it is gone", "z", a, 7, 6, 7)
	c.nonces = settle.NewSentTxs[*wire.Transaction]()
	first("never given, and others wait from the first nonce on", "x", a, 2, 0, 2)
	if got := c.firstNonce("me", "x", nil, 3, 0); got != 3 {
		t.Errorf("of no call: %d, want 3", got)
	}
}

// Nothing of a stranger's is replaced, and who replaces nothing may send what he likes.
func TestNothingToReplace(t *testing.T) {
	t.Parallel()
	n := presetOf(t, "CITREA/MAINNET")
	to := common.Address{1}
	raw := hexutil.MustDecode(signTx(t, userKey, &types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(n.ChainID), Nonce: 8, GasTipCap: big.NewInt(2), GasFeeCap: big.NewInt(30), Gas: 21_000, To: &to}))
	old := replacedBy(chains.Plan{Replaces: []chains.Signed{{From: to.Hex(), Raw: raw}}}, addressOf(t, userKey).Hex())
	if len(old) != 0 {
		t.Fatalf("%d transactions of a stranger", len(old))
	}
	if err := old.check(chains.Plan{}, []wire.CheckedTx{{Transaction: offering(3, 1, 1)}}); err != nil {
		t.Error(err)
	}
}

// What cannot be mined at the present base fee is not admitted.
func TestAdmitDemandsTheBaseFee(t *testing.T) {
	t.Parallel()
	n := presetOf(t, "CITREA/MAINNET")
	user := addressOf(t, userKey)
	to := common.Address{1}
	for fee, want := range map[int64]fault.Code{99: fault.InvalidInput, 100: ""} {
		_, k, _ := stagedChain(t, 1, func(r rpc.Request) any {
			switch r.Method {
			case "eth_getTransactionCount":
				return "0x5"
			case "eth_getBlockByNumber":
				return map[string]string{"number": "0x10", "timestamp": "0x10", "baseFeePerGas": "0x64", "l1FeeRate": "0x1"}
			case "eth_call":
				return "0x"
			}
			return nil
		})
		raw := hexutil.MustDecode(signTx(t, userKey, &types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(n.ChainID), Nonce: 5, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(fee), Gas: 21_000, To: &to}))
		if err := k.Admit(t.Context(), chains.Plan{}, []chains.Signed{{From: user.Hex(), Nonce: 5, Raw: raw}}); fault.CodeOf(err) != want {
			t.Errorf("%d wei at a base fee of 100: %v", fee, err)
		}
	}
}

// A nonce ahead of the account's may wait for a while, and is then refused for good.
func TestNonceAheadLimits(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	asked := 0
	var answer any = hexutil.Uint64(5)
	c, _, _ := stagedChain(t, 1, func(rpc.Request) any { asked++; return answer })
	c.env.Now = func() time.Time { return now }
	check := func(what string, nonce uint64, code fault.Code, trips int) {
		t.Helper()
		asked = 0
		if err := c.checkNonce(t.Context(), chains.Signed{ID: "id", From: "me", Nonce: nonce}); fault.CodeOf(err) != code || asked != trips {
			t.Errorf("%s: %v after %d questions, want %s after %d", what, err, asked, code, trips)
		}
	}
	check("the next", 5, "", 1)
	check("the next, known", 5, "", 0)
	check("used", 4, "", 1)
	check("ahead", 6, fault.Upstream, 1)
	now = now.Add(settle.SendTimeout - time.Second)
	check("still ahead", 6, fault.Upstream, 1)
	now = now.Add(time.Second)
	check("ahead for too long", 6, fault.InvalidState, 1)
	answer = hexutil.Uint64(6)
	check("no longer ahead", 6, "", 1)
	c.noteSent(chains.Signed{From: "me", Nonce: 7})
	check("after one that was sent", 8, "", 0)
	answer = errors.New("not told")
	for range 2 { // not for good, however long the node keeps silent
		if err := c.checkNonce(t.Context(), chains.Signed{ID: "other", From: "me", Nonce: 9}); err == nil || fault.CodeOf(err) == fault.InvalidState {
			t.Errorf("the node does not tell its count: %v", err)
		}
		now = now.Add(settle.SendTimeout)
	}
}
