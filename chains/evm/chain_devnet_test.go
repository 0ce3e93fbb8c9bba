package evm_test

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/evm"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// sign signs what a plan asks for, as a wallet does.
func sign(t *testing.T, a *devnet.Account, txs []string) []string {
	t.Helper()
	signed := make([]string, len(txs))
	for i, text := range txs {
		p := trial.Must(wire.ParseTransaction(text))(t)
		tx := types.NewTx(&types.DynamicFeeTx{ChainID: p.ChainID, Nonce: p.Nonce, GasTipCap: p.TipCap, GasFeeCap: p.FeeCap, Gas: p.Gas, To: p.To, Value: p.Value, Data: p.Data})
		tx = trial.Must(types.SignTx(tx, types.LatestSignerForChainID(p.ChainID), a.Key))(t)
		raw := trial.Must(tx.MarshalBinary())(t)
		signed[i] = hexutil.Encode(raw)
	}
	return signed
}

// payIn is an escrow that the user opens towards the LP, and the LP's word for it.
func (l *localNet) payIn(t *testing.T, n byte) (chains.Contract, chains.Escrow, chains.Plan) {
	t.Helper()
	k, _ := l.chain.Contract("")
	e := trial.Must(k.Expect(chains.Spec{Kind: chains.HTLC, Offerer: l.User.Address.Hex(), Claimer: l.lp.Address(), Token: wire.Native.Hex(), Amount: big.NewInt(1e15),
		Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256([]byte{n, 31: 0})}, Sequence: big.NewInt(int64(n)), Expiry: l.Time().Add(5 * 24 * time.Hour).Unix(), PayIn: true}))(t)
	auth := l.lp.AuthorizeInit(t, e, "", "", l.Time().Add(time.Hour))
	return k, e, chains.Plan{SwapID: "a", Signer: l.User.Address.Hex(), Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: auth}}}
}

// run carries a plan of the user out.
func (l *localNet) run(t *testing.T, k chains.Contract, plan chains.Plan) {
	t.Helper()
	u := trial.Must(k.Build(t.Context(), plan))(t)
	txs := trial.Must(k.Check(plan, sign(t, l.User, u.Txs)))(t)
	for _, tx := range txs {
		trial.Do(t, l.chain.Send(t.Context(), tx))
		_, err := l.Wait(t.Context(), common.HexToHash(tx.ID))
		trial.Do(t, err)
	}
}

// On a chain that charges for changed state every part of the fee rate is there,
// and what a wallet must keep back covers it.
func TestThreePartFeeRate(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{L1FeeRate: 1_000_000})
	rate := trial.Must(l.chain.FeeRate(t.Context()))(t)
	if !strings.HasSuffix(rate, ",100000,1000000") || strings.Count(rate, ",") != 2 {
		t.Errorf("fee rate %s", rate)
	}
	k, _ := l.chain.Contract("")
	cost := chains.Cost{Kind: chains.StepInit, Token: wire.Native.Hex(), Payer: l.User.Address.Hex()}
	all := trial.Must(k.Estimate(t.Context(), cost, rate))(t)
	gas := trial.Must(k.Estimate(t.Context(), cost, rate[:strings.LastIndex(rate, ",")]))(t)
	if state := new(big.Int).Sub(all, gas); state.Cmp(big.NewInt(55*1_000_000)) != 0 {
		t.Errorf("%s of %s are for changed state, want 55 bytes", state, all)
	}
	_, _, plan := l.payIn(t, 1)
	plan.FeeRate = rate
	l.run(t, k, plan)
}

// Where only finalised blocks count, nothing that is newer is acted on.
func TestFinalizedTagsOnly(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{SafeDepth: 1, FinalDepth: 3}, func(n *evm.Network) { n.SafeTag, n.FinalizedTag = "finalized", "finalized" })
	k, e, plan := l.payIn(t, 1)
	u := trial.Must(k.Build(t.Context(), plan))(l.t)
	txs := trial.Must(k.Check(plan, sign(t, l.User, u.Txs)))(t)
	trial.Do(t, l.chain.Send(t.Context(), txs[0]))
	_, err := l.Wait(t.Context(), common.HexToHash(txs[0].ID))
	trial.Do(t, err)
	for blocks := range 4 {
		final := blocks == 3
		status := trial.Must(l.chain.Status(t.Context(), txs))(t)
		facts := trial.Must(k.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: &e, Settled: true}}))(t)
		if (status[0].State == chains.TxConfirmed) != final || status[0].Final != final || facts[0].Final != final || facts[0].State != chains.EscrowOpen {
			t.Errorf("%d blocks later: %+v, %+v", blocks, status[0], facts[0])
		}
		trial.Do(t, l.Net.Mine(1))
	}
}

// A node that gives short ranges of logs only, or no traces, serves all the same.
func TestPoorNodes(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	for _, s := range l.nodes {
		s.Misbehave(devnet.Fault{LogRange: 3, Refuse: []string{"debug_traceTransaction"}})
	}
	k, e, plan := l.payIn(t, 1)
	l.run(t, k, plan)
	trial.Do(t, l.Net.Mine(30))
	found := trial.Must(k.Escrows(t.Context(), []chains.EscrowQuery{{ClaimHash: e.ClaimHash, Offerer: e.Offerer, Claimer: e.Claimer}}))(t)
	if found[0].Err != nil || found[0].Escrow == nil || found[0].State != chains.EscrowOpen {
		t.Errorf("found %+v", found[0])
	}
	past := 0
	for p, err := range l.chain.History(t.Context(), e.Offerer, 0) {
		trial.Do(t, err)
		if p.Escrow == nil || p.Fact.State != chains.EscrowOpen {
			t.Errorf("past %+v", p)
		}
		past++
	}
	if past != 1 {
		t.Errorf("%d past swaps", past)
	}
}

// An escrow that was opened through another contract is found by the trace of the
// transaction; without one it is left out, not invented.
func TestOpenedThroughAWallet(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	wallet := trial.Must(l.Deploy(t.Context(), "ContractWallet", l.User.Address))(l.t)
	spec := wire.Terms{Kind: chains.HTLC, Offerer: wallet, Claimer: l.Net.LP.Address, Amount: big.NewInt(1e9), ClaimData: sha256.Sum256([]byte("s")), Sequence: big.NewInt(3), Expiry: l.Time().Add(time.Hour).Unix(), PayIn: true}
	s := trial.Must(l.Deployment().NewSwapData(spec))(t)
	e := trial.Must(l.Deployment().Escrow(s))(t)
	calls := trial.Must(l.Deployment().Init(s, wallet, l.lp.AuthorizeInit(t, e, "", "", l.Time().Add(time.Hour))))(t)
	through := trial.Must(devnet.CallOf("ContractWallet", wallet, "run", calls[0].To, calls[0].Value, calls[0].Data))(t)
	through.Value = calls[0].Value
	_, err := l.User.Send(t.Context(), through)
	trial.Do(t, err)
	k, _ := l.chain.Contract("")
	search := func() chains.EscrowFact {
		facts := trial.Must(k.Escrows(t.Context(), []chains.EscrowQuery{{ClaimHash: e.ClaimHash, Offerer: e.Offerer, Claimer: e.Claimer}}))(t)
		return facts[0]
	}
	for _, s := range l.nodes {
		s.Misbehave(devnet.Fault{Refuse: []string{"debug_traceTransaction"}})
	}
	if f := search(); f.Err != nil || f.Escrow != nil || f.State != chains.EscrowNone {
		t.Errorf("without traces: %+v", f)
	}
	for _, s := range l.nodes {
		s.Misbehave(devnet.Fault{})
	}
	if f := search(); f.Err != nil || f.Escrow == nil || f.State != chains.EscrowOpen {
		t.Errorf("with traces: %+v", f)
	}
}

// A transaction that was taken by a node whose answer was lost is sent only once.
func TestLostAnswerToASend(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	k, _, plan := l.payIn(t, 1)
	u := trial.Must(k.Build(t.Context(), plan))(l.t)
	txs := trial.Must(k.Check(plan, sign(t, l.User, u.Txs)))(t)
	l.nodes[0].Misbehave(devnet.Fault{LoseAnswer: true})
	trial.Do(t, l.chain.Send(t.Context(), txs[0]))
	_, err := l.Wait(t.Context(), common.HexToHash(txs[0].ID))
	trial.Do(t, err)
	trial.Do(t, l.chain.Send(t.Context(), txs[0]))
}

// A stored fee rate that the chain has outgrown does not strand a transaction.
func TestStoredFeeRateIsRaised(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	k, _, plan := l.payIn(t, 1)
	now := trial.Must(l.chain.FeeRate(t.Context()))(t)
	offered := func(rate string) *big.Int {
		plan.FeeRate = rate
		u := trial.Must(k.Build(t.Context(), plan))(t)
		tx := trial.Must(wire.ParseTransaction(u.Txs[0]))(t)
		return tx.FeeCap
	}
	current := trial.Must(wire.ParseFeeRate(now))(t)
	if got := offered("1,1"); got.Cmp(current.MaxFeePerGas()) != 0 {
		t.Errorf("offers %s at a rate that has passed, want %s", got, current.MaxFeePerGas())
	}
	if got := offered("77000000000,5"); got.Cmp(big.NewInt(77_000_100_000)) != 0 {
		t.Errorf("offers %s at a higher rate", got)
	}
	plan.FeeRate = "cheap"
	if _, err := k.Build(t.Context(), plan); err == nil {
		t.Error("a fee rate that is none")
	}
}

// A wrong network is noticed when the chain is opened.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	network := l.Config()
	env := chains.Env{Network: network.Bitcoin, Now: l.Time, HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler)}
	open := func(change func(*evm.Options), env chains.Env) error {
		n := network
		o := evm.Options{RPC: []string{l.nodes[0].URL()}, Network: &n, Tokens: l.chain.Info().Tokens}
		change(&o)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c, err := evm.Custom(o).Open(ctx, env)
		if err == nil {
			_ = c.(interface{ Close() error }).Close()
		}
		return err
	}
	trial.Do(t, open(func(*evm.Options) {}, env))
	other := env
	other.Network++
	l.nodes[1].Misbehave(devnet.Fault{WrongChain: true})
	for name, err := range map[string]error{
		"another chain id":        open(func(o *evm.Options) { o.Network.ChainID++ }, env),
		"no URL":                  open(func(o *evm.Options) { o.RPC = nil }, env),
		"another Bitcoin network": open(func(*evm.Options) {}, other),
		"no native token":         open(func(o *evm.Options) { o.Tokens = o.Tokens[1:] }, env),
		"no escrow manager":       open(func(o *evm.Options) { o.Network.Deployments = []evm.Deployment{{Version: "v1"}} }, env),
		"one of two elsewhere":    open(func(o *evm.Options) { o.RPC = []string{"http://127.0.0.1:1", l.nodes[1].URL()} }, env),
	} {
		if err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

// A chain whose nodes do not answer is opened all the same, and is there when they
// do. One that then turns out to be another chain is never believed.
func TestOpensWhileNodesAreSilent(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]devnet.Fault{"cut off": {Down: true}, "hanging": {Delay: time.Minute}, "an error": {Status: 502}, "garbage": {Garbage: true}} {
		t.Run(name, func(t *testing.T) { t.Parallel(); opensWhileSilent(t, fault) })
	}
}

func opensWhileSilent(t *testing.T, fault devnet.Fault) {
	l := newNet(t, devnet.Options{})
	network := l.Config()
	env := chains.Env{Network: network.Bitcoin, Now: l.Time, HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), Notes: noNotes{}}
	f := evm.Custom(evm.Options{RPC: []string{l.nodes[0].URL()}, Network: &network, Tokens: l.chain.Info().Tokens})
	l.nodes[0].Misbehave(fault)
	began := time.Now()
	c, err := f.Open(t.Context(), env)
	if took := time.Since(began); err != nil || took > 30*time.Second {
		t.Fatalf("%v after %v", err, took)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	if _, err := c.Heads(ctx); err == nil {
		t.Error("heads of a silent node")
	}
	cancel()
	l.nodes[0].Misbehave(devnet.Fault{WrongChain: true})
	ctx, cancel = context.WithTimeout(t.Context(), time.Second)
	if _, err := c.Heads(ctx); err == nil {
		t.Error("heads of another chain")
	}
	cancel()
	l.nodes[0].Misbehave(devnet.Fault{})
	if _, err := c.Heads(t.Context()); err != nil {
		t.Errorf("then %v", err)
	}
	trial.Do(t, c.(interface{ Close() error }).Close())
	l.nodes[0].Misbehave(devnet.Fault{Delay: time.Minute})
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := f.Open(ctx, env); err == nil {
		t.Error("opened although the caller does not wait")
	}
}

// What a plain transfer pays counts once it is in a safe block, and both nodes say so.
func TestPaid(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	to := common.Address{0xab}
	paid := trial.Must(l.User.Send(t.Context(), wire.Call{To: to, Value: big.NewInt(7)}))(t)
	id := paid.TxHash.Hex()
	payouts := l.chain.(chains.Payouts)
	for i := 0; ; i++ {
		got := trial.Must(payouts.Paid(t.Context(), id, to.Hex()))(t)
		if got.Witnesses == 2 {
			if got.Amount.Int64() != 7 {
				t.Errorf("paid %s", got.Amount)
			}
			break
		}
		if got.Amount.Sign() != 0 || i == 200 {
			t.Fatalf("before it is safe: %s by %d nodes", got.Amount, got.Witnesses)
		}
		trial.Do(t, l.Net.Mine(1))
	}
	for who, tx := range map[string]string{l.User.Address.Hex(): id, to.Hex(): common.Hash{1}.Hex()} {
		if got, err := payouts.Paid(t.Context(), tx, who); err != nil || got.Amount.Sign() != 0 {
			t.Errorf("%s paid %s, %v", tx, got.Amount, err)
		}
	}
}
