package evm

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

func offering(nonce uint64, feeCap, tip int64) *wire.Transaction {
	return &wire.Transaction{Nonce: nonce, FeeCap: big.NewInt(feeCap), TipCap: big.NewInt(tip)}
}

// Nodes take what offers a tenth more in both fees, and not a wei less in either.
func TestReplacementLimits(t *testing.T) {
	t.Parallel()
	refund := chains.Plan{Steps: []chains.Step{{Kind: chains.StepRefund}}}
	claim := chains.Plan{Steps: []chains.Step{{Kind: chains.StepRefund}, {Kind: chains.StepClaimSecret}}}
	proof := chains.Plan{Steps: []chains.Step{{Kind: chains.StepClaimBitcoin}}}
	old := replaced{offering(5, 1001, 101), offering(6, 9000, 900)}
	for name, c := range map[string]struct {
		plan chains.Plan
		txs  []*wire.Transaction
		ok   bool
	}{
		"a tenth more, rounded up":              {refund, []*wire.Transaction{offering(5, 1102, 112)}, true},
		"a wei less per gas":                    {refund, []*wire.Transaction{offering(5, 1101, 112)}, false},
		"a wei less of a tip":                   {refund, []*wire.Transaction{offering(5, 1102, 111)}, false},
		"the second too":                        {refund, []*wire.Transaction{offering(5, 1102, 112), offering(6, 9900, 990)}, true},
		"the second for too little":             {refund, []*wire.Transaction{offering(5, 1102, 112), offering(6, 9899, 990)}, false},
		"from the second on":                    {refund, []*wire.Transaction{offering(6, 9900, 990)}, true},
		"after the last":                        {refund, []*wire.Transaction{offering(7, 99_000, 9900)}, false},
		"before the first":                      {refund, []*wire.Transaction{offering(4, 99_000, 9900)}, false},
		"a claim before the first":              {claim, []*wire.Transaction{offering(4, 1, 1)}, true},
		"a claim by a proof before the first":   {proof, []*wire.Transaction{offering(4, 1, 1)}, true},
		"a claim after the last":                {claim, []*wire.Transaction{offering(7, 99_000, 9900)}, false},
		"a claim that goes on for too little":   {claim, []*wire.Transaction{offering(4, 1, 1), offering(5, 1101, 112)}, false},
		"a claim that goes on for what it must": {claim, []*wire.Transaction{offering(4, 1, 1), offering(5, 1102, 112)}, true},
	} {
		var checked []wire.CheckedTx
		for _, tx := range c.txs {
			checked = append(checked, wire.CheckedTx{Transaction: tx})
		}
		if err := old.check(c.plan, checked); (err == nil) != c.ok || err != nil && fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Only what the signer sent, and what can be outbid, is outbid.
func TestReplacedBy(t *testing.T) {
	t.Parallel()
	n := presetOf(t, "CITREA/MAINNET")
	to := common.Address{1}
	id := new(big.Int).SetUint64(n.ChainID)
	good := hexutil.MustDecode(signTx(t, userKey, &types.DynamicFeeTx{ChainID: id, Nonce: 8, GasTipCap: big.NewInt(2), GasFeeCap: big.NewInt(30), Gas: 21_000, To: &to}))
	older := hexutil.MustDecode(signTx(t, userKey, &types.AccessListTx{ChainID: id, Nonce: 9, GasPrice: big.NewInt(1), Gas: 21_000, To: &to}))
	signer := addressOf(t, userKey).Hex()
	old := replacedBy(chains.Plan{Replaces: []chains.Signed{
		{From: common.Address{7}.Hex(), Raw: good}, {From: signer, Raw: []byte{1, 2}}, {From: signer}, {From: signer, Raw: older}, {From: signer, Raw: good},
	}}, signer)
	if len(old) != 1 || old[0].Nonce != 8 {
		t.Fatalf("%d transactions", len(old))
	}
	if got := old.nonce(9); got != 9 {
		t.Errorf("nonce %d though it is mined", got)
	}

	// What waits before is replaced by a claim, if it is known.
	c, _, _ := stagedChain(t, 1, func(rpc.Request) any { return nil })
	rate := wire.FeeRate{Base: big.NewInt(10), Priority: big.NewInt(1)}
	claim := chains.Plan{Steps: []chains.Step{{Kind: chains.StepClaimSecret}}}
	c.nonces.NoteOffer(signer, 7, offering(7, 1000, 100))
	c.nonces.NoteOffer(signer, 8, offering(8, 2000, 200))
	alone := old.above(rate)
	for name, test := range map[string]struct {
		plan   chains.Plan
		mined  uint64
		first  uint64
		feeCap int64
	}{
		"nothing waits before":     {claim, 8, 8, new(big.Int).Add(alone.Base, alone.Priority).Int64()},
		"something waits before":   {claim, 7, 7, 1250},
		"something unknown before": {claim, 6, 8, new(big.Int).Add(alone.Base, alone.Priority).Int64()},
		"another step":             {chains.Plan{Steps: []chains.Step{{Kind: chains.StepInit}}}, 7, 8, new(big.Int).Add(alone.Base, alone.Priority).Int64()},
	} {
		first, at := c.instead(old, test.plan, signer, test.mined, rate)
		if got := new(big.Int).Add(at.Base, at.Priority).Int64(); first != test.first || got != test.feeCap {
			t.Errorf("%s: nonce %d at %d, want %d at %d", name, first, got, test.first, test.feeCap)
		}
	}
	// a quarter more than the highest of each, and never less than what is usual
	both := replaced{offering(1, 1000, 10), offering(2, 100, 80)}
	if r := both.above(rate); r.Priority.Int64() != 100 || r.Base.Int64() != 1250-100 {
		t.Errorf("%s and %s", r.Base, r.Priority)
	}
	if r := both.above(wire.FeeRate{Base: big.NewInt(5000), Priority: big.NewInt(101)}); r.Priority.Int64() != 101 || r.Base.Int64() != 5000 {
		t.Errorf("%s and %s", r.Base, r.Priority)
	}
}
