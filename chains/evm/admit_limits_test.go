package evm

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestDemandBaseFeeLimits(t *testing.T) {
	t.Parallel()
	txs := []*wire.Transaction{offering(1, 100, 1), offering(2, 99, 1)}
	base := func(n int64) *feeHead { return &feeHead{BaseFee: (*hexutil.Big)(big.NewInt(n))} }
	for name, c := range map[string]struct {
		head  *feeHead
		field string
	}{
		"no block":          {nil, ""},
		"no base fee":       {&feeHead{}, ""},
		"at the lower cap":  {base(99), ""},
		"a wei above it":    {base(100), "signedTxs[1]"},
		"a wei above both":  {base(101), "signedTxs[0]"},
		"nothing to be met": {base(0), ""},
	} {
		var e *fault.Error
		if err := demandBaseFee(c.head, txs); (err == nil) != (c.field == "") || err != nil && (!asFault(err, &e) || e.Field != c.field) {
			t.Errorf("%s: %v, want a refusal of %q", name, err, c.field)
		}
	}
}

// brokenNode answers nothing at all.
type brokenNode struct{ rpc.Node }

func (brokenNode) Batch(context.Context, []rpc.Request) error { return errors.New("broken") }

func TestAdmitGuards(t *testing.T) {
	t.Parallel()
	n := presetOf(t, "CITREA/MAINNET")
	user := addressOf(t, userKey)
	s := payInSwap(t, n.Deployments[0], user)
	calls, err := n.Deployments[0].Init(s, user, anyAuth())
	if err != nil {
		t.Fatal(err)
	}
	e := trial.Must(n.Deployments[0].Escrow(s))(t)
	plan := chains.Plan{Signer: user.Hex(), Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: anyAuth()}}}
	signed := func(c wire.Call, nonce uint64, reveals bool) []chains.Signed {
		return []chains.Signed{{From: user.Hex(), Nonce: nonce, Reveals: reveals, Raw: hexutil.MustDecode(signTx(t, userKey, &types.DynamicFeeTx{
			ChainID: new(big.Int).SetUint64(n.ChainID), Nonce: nonce, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e9), Gas: 100_000, To: &c.To, Value: c.Value, Data: c.Data}))}}
	}
	approve, open := calls[0], calls[1]
	refused, trouble := &nodeError{code: 3, text: "execution reverted"}, &nodeError{code: -32000, text: "header not found"}
	for name, c := range map[string]struct {
		txs    []chains.Signed
		known  bool   // to the node
		failed string // the method that fails
		run    any
		code   fault.Code
		ran    bool
	}{
		"good":                                {signed(approve, 5, false), false, "", "0x", "", true},
		"nothing":                             {nil, false, "", nil, "", false},
		"no transaction":                      {[]chains.Signed{{From: user.Hex(), Raw: []byte{1}}}, false, "", nil, fault.InvalidInput, false},
		"a count that is not told":            {signed(approve, 5, false), false, "eth_getTransactionCount", "0x", "any", true},
		"a block that is not told":            {signed(approve, 5, false), false, "eth_getBlockByNumber", "0x", "any", true},
		"whether it is known is not told":     {signed(approve, 5, false), false, "eth_getTransactionByHash", "0x", "any", true},
		"refused, with nothing before it":     {signed(approve, 5, false), false, "", refused, fault.InvalidState, true},
		"refused, with an approval before it": {signed(open, 5, false), false, "", refused, fault.InvalidInput, true},
		"the node's own trouble":              {signed(open, 5, false), false, "", trouble, "", true},
		"refused, and known already":          {signed(open, 5, false), true, "", refused, "", true},
		"refused now, behind others":          {signed(open, 6, false), false, "", refused, "", true},
		"one that shows a secret":             {signed(open, 5, true), false, "", refused, "", false},
		"a used nonce":                        {signed(open, 4, false), false, "", "0x", fault.InvalidInput, true},
		"the next nonce but one":              {signed(open, 7, false), false, "", "0x", fault.InvalidInput, true},
	} {
		ran := false
		_, k, _ := stagedChain(t, 1, func(r rpc.Request) any {
			if r.Method == c.failed {
				return errors.New("not told")
			}
			switch r.Method {
			case "eth_getTransactionCount":
				return map[string]string{"latest": "0x5", "pending": "0x6"}[r.Params[1].(string)]
			case "eth_getTransactionByHash":
				if c.known {
					return map[string]string{}
				}
				return nil
			case "eth_getBlockByNumber":
				return map[string]string{"number": "0x10", "timestamp": "0x10", "baseFeePerGas": "0x1", "l1FeeRate": "0x1"}
			case "eth_call":
				ran = true
				return c.run
			}
			return nil
		})
		err := k.Admit(t.Context(), plan, c.txs)
		if c.code == "any" && err == nil || c.code != "any" && fault.CodeOf(err) != c.code || ran != c.ran {
			t.Errorf("%s: %v (%s), run: %v; want %s", name, err, fault.CodeOf(err), ran, c.code)
		}
	}
	c, k, _ := stagedChain(t, 1, func(rpc.Request) any { return nil })
	c.node = brokenNode{}
	if err := k.Admit(t.Context(), plan, signed(approve, 0, false)); err == nil {
		t.Error("admitted by a node that answers nothing")
	}
	// a plan that cannot be laid out tells nothing of what is left out
	tx := trial.Must(wire.ParseTransaction(hexutil.Encode(signed(open, 5, false)[0].Raw)))(t)
	if k.leftOut(chains.Plan{Steps: append(plan.Steps, chains.Step{Kind: 99, Escrow: e})}, tx) || !k.leftOut(plan, tx) {
		t.Error("what is left out is told wrongly")
	}
	coin := s
	coin.Token = wire.Native // needs no approval
	e = trial.Must(n.Deployments[0].Escrow(coin))(t)
	if calls, err = n.Deployments[0].Init(coin, user, anyAuth()); err != nil || len(calls) != 1 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	tx = trial.Must(wire.ParseTransaction(hexutil.Encode(signed(calls[0], 5, false)[0].Raw)))(t)
	if k.leftOut(chains.Plan{Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: anyAuth()}}}, tx) {
		t.Error("something is left out before the only transaction")
	}
	// it is run with the coins that it carries
	var value *hexutil.Big
	_, k, _ = stagedChain(t, 1, func(r rpc.Request) any {
		switch r.Method {
		case "eth_getTransactionCount":
			return "0x5"
		case "eth_getBlockByNumber":
			return map[string]string{"number": "0x10", "timestamp": "0x10", "baseFeePerGas": "0x1", "l1FeeRate": "0x1"}
		case "eth_call":
			value = r.Params[0].(map[string]any)["value"].(*hexutil.Big)
			return "0x"
		}
		return nil
	})
	native := chains.Plan{Signer: user.Hex(), Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: anyAuth()}}}
	if err := k.Admit(t.Context(), native, signed(calls[0], 5, false)); err != nil || value == nil || value.ToInt().Cmp(calls[0].Value) != 0 || calls[0].Value.Sign() <= 0 {
		t.Errorf("run with %s, want %s: %v", value, calls[0].Value, err)
	}
}

// A node's own trouble is no refusal.
func TestRefusedRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{&nodeError{code: 3, text: "no"}, true},
		{&nodeError{code: -32000, text: "Execution Reverted"}, true},
		{errors.New("insufficient funds for gas * price + value"), true},
		{errors.New("out of gas"), true},
		{&nodeError{code: -32000, text: "header not found"}, false},
		{errors.New("connection refused"), false},
	} {
		if got := refusedRun(c.err); got != c.want {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
