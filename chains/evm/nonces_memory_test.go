package evm

import (
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/settle"
)

// remembering is a chain of which only the memory of nonces is used; its node says
// that five transactions of every account are known, and counts how often it is asked.
func remembering(t *testing.T) (c *chain, now *time.Time, asked *int) {
	t.Helper()
	asked, now = new(int), new(time.Time)
	*now = time.Unix(1_800_000_000, 0)
	s := rpctest.Serve(t, func(calls []rpctest.Call) any {
		var all []any
		for _, call := range calls {
			if call.Method == "eth_getTransactionCount" {
				*asked++
				all = append(all, rpctest.Result(call, "0x5"))
			} else {
				all = append(all, rpctest.Result(call, hexutil.EncodeUint64(rpctest.EVMChainID)))
			}
		}
		return all
	})
	return &chain{env: chains.Env{Now: func() time.Time { return *now }}, nonces: settle.NewSentTxs[*wire.Transaction](), node: newTestNodes(t, s.URL)}, now, asked
}

// sentTx is a transaction of the test's user.
func sentTx(t *testing.T, nonce uint64, to *common.Address, data []byte) chains.Signed {
	t.Helper()
	from, sign := keyOf(t, userKey)
	raw := sign(&types.DynamicFeeTx{ChainID: big.NewInt(1), Nonce: nonce, GasTipCap: big.NewInt(2), GasFeeCap: big.NewInt(3), Gas: 100_000, To: to, Data: data})
	return chains.Signed{ID: raw[:66], From: from.Hex(), Nonce: nonce, Raw: hexutil.MustDecode(raw)}
}

// What follows the newest transaction that was sent counts for a while, whatever nodes
// say; an older one that is sent again changes nothing of it.
func TestSentNoncesAreRemembered(t *testing.T) {
	t.Parallel()
	c, now, _ := remembering(t)
	to := common.Address{1}
	send := func(nonce uint64) { c.noteSent(sentTx(t, nonce, &to, nil)) }
	sender := sentTx(t, 0, &to, nil).From
	next := func(what string, pending, want uint64) {
		t.Helper()
		if got := c.nonces.Next(sender, pending, c.env.Now()); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	next("nothing was sent", 3, 3)
	send(7)
	next("the node is behind", 3, 8)
	next("the node is ahead", 9, 9)
	send(5)
	next("an older one is sent again", 3, 8)
	*now = now.Add(settle.SendTimeout - time.Nanosecond)
	next("the last moment", 3, 8)
	send(7) // again, so that it counts from now on
	*now = now.Add(time.Nanosecond)
	next("sent again", 3, 8)
	*now = now.Add(settle.SendTimeout - time.Nanosecond)
	next("it was dropped", 3, 3)
	send(4)
	next("an older one after that", 3, 5)
	if fee, ok := c.nonces.Offer(sender, 7); !ok || fee.FeeCap.Int64() != 3 || fee.TipCap.Int64() != 2 {
		t.Errorf("what it offered: %+v", fee)
	}
	c.noteSent(sentTx(t, 6, nil, []byte{1})) // makes a contract, which no swap asks for
	if c.nonces.Follows(sender, 6, now.Add(settle.SendTimeout)) {
		t.Error("a contract's creation counts as a call")
	}
}

// The second of two calls keeps its nonce when it is asked for alone, unless something
// else was sent with it, or with a later one of its calls.
func TestNoncesOfTwoCalls(t *testing.T) {
	t.Parallel()
	approve, open := wire.Call{To: common.Address{1}, Data: []byte{1}}, wire.Call{To: common.Address{2}, Data: []byte{2}}
	other := common.Address{3}
	for name, c := range map[string]struct {
		sent           []chains.Signed
		calls          []wire.Call
		pending, mined uint64
		want           uint64
	}{
		"both again":                          {nil, []wire.Call{approve, open}, 7, 5, 5},
		"the second alone":                    {nil, []wire.Call{open}, 7, 6, 6},
		"the second, which is mined":          {nil, []wire.Call{open}, 7, 7, 7},
		"the second, as it was sent":          {[]chains.Signed{sentTx(t, 6, &open.To, open.Data)}, []wire.Call{open}, 7, 6, 6},
		"the second, whose nonce is taken":    {[]chains.Signed{sentTx(t, 6, &other, nil)}, []wire.Call{open}, 7, 6, 7},
		"both, the second's nonce is taken":   {[]chains.Signed{sentTx(t, 6, &other, nil)}, []wire.Call{approve, open}, 7, 5, 7},
		"both, the first's nonce is taken":    {[]chains.Signed{sentTx(t, 5, &other, nil)}, []wire.Call{approve, open}, 7, 5, 7},
		"both, something was sent after them": {[]chains.Signed{sentTx(t, 7, &other, nil)}, []wire.Call{approve, open}, 8, 5, 5},
	} {
		chain, _, _ := remembering(t)
		sender := sentTx(t, 0, &other, nil).From
		if first := chain.firstNonce(sender, "swap", []wire.Call{approve, open}, 5, 5); first != 5 {
			t.Fatalf("at first: %d", first)
		}
		for _, tx := range c.sent {
			chain.noteSent(tx)
		}
		if got := chain.firstNonce(sender, "swap", c.calls, c.pending, c.mined); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if got := chain.firstNonce(sender, "another", c.calls, 20, c.mined); got != 20 {
			t.Errorf("%s, of another swap: %d", name, got)
		}
	}
}

// The node is asked whether a nonce is ahead only where that is not known.
func TestWhenTheNodeIsAskedForNonces(t *testing.T) {
	t.Parallel()
	to := common.Address{1}
	for name, c := range map[string]struct {
		before func(*chain, string)
		nonce  uint64
		asked  int
		ahead  bool
	}{
		"nothing is known":            {func(*chain, string) {}, 5, 1, false},
		"nothing is known, ahead":     {func(*chain, string) {}, 6, 1, true},
		"it was handed out":           {func(c *chain, from string) { c.firstNonce(from, "", nil, 9, 9) }, 9, 0, false},
		"another one was handed out":  {func(c *chain, from string) { c.firstNonce(from, "", nil, 9, 9) }, 8, 1, true},
		"it was sent before":          {func(c *chain, _ string) { c.noteSent(sentTx(t, 9, &to, nil)) }, 9, 0, false},
		"the one before was sent":     {func(c *chain, _ string) { c.noteSent(sentTx(t, 9, &to, nil)) }, 10, 0, false},
		"one further before was sent": {func(c *chain, _ string) { c.noteSent(sentTx(t, 9, &to, nil)) }, 11, 1, true},
		"of another account": {func(c *chain, _ string) {
			c.firstNonce("0xother", "", nil, 6, 6)
			c.nonces.Sent("0xother", 5, nil, c.env.Now())
		}, 6, 1, true},
	} {
		chain, now, asked := remembering(t)
		tx := sentTx(t, c.nonce, &to, []byte{7})
		c.before(chain, tx.From)
		for try := range 2 {
			err := chain.checkNonce(t.Context(), tx)
			if (err != nil) != c.ahead || err != nil && fault.CodeOf(err) != fault.Upstream {
				t.Errorf("%s: %v", name, err)
			}
			want := c.asked
			if c.ahead {
				want *= try + 1 // until it is not missing any more
			}
			if *asked != want {
				t.Errorf("%s: asked %d times, want %d", name, *asked, want)
			}
		}
		if c.ahead {
			*now = now.Add(settle.SendTimeout)
			if err := chain.checkNonce(t.Context(), tx); fault.CodeOf(err) != fault.InvalidState {
				t.Errorf("%s, for three minutes: %v", name, err)
			}
		}
	}
	chain, _, _ := remembering(t)
	chain.node = newTestNodes(t, "http://127.0.0.1:1")
	if err := chain.checkNonce(t.Context(), sentTx(t, 6, &to, nil)); err == nil {
		t.Errorf("a node that is down: %v", err)
	}
}
