package evm_test

import (
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// nonceOf builds a plan and returns the nonce of its first transaction.
func (l *localNet) nonceOf(t *testing.T, k chains.Contract, plan chains.Plan) (uint64, chains.Unsigned) {
	t.Helper()
	u := trial.Must(k.Build(t.Context(), plan))(t)
	tx := trial.Must(wire.ParseTransaction(u.Txs[0]))(t)
	return tx.Nonce, u
}

// A swap that asks again is given the nonce of what it asked for before, as long
// as that is not mined; what another swap has sent meanwhile is left alone.
func TestNonceOfAPollStays(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	k, _, first := l.payIn(t, 1)
	_, _, second := l.payIn(t, 2)
	second.SwapID = "b"
	expect := func(what string, plan chains.Plan, want uint64) chains.Unsigned {
		t.Helper()
		got, u := l.nonceOf(t, k, plan)
		if got != want {
			t.Errorf("%s: nonce %d, want %d", what, got, want)
		}
		return u
	}
	n, u := l.nonceOf(t, k, first)
	expect("another swap at the same time", second, n)
	l.SetMining(false)
	txs := trial.Must(k.Check(first, sign(t, l.User, u.Txs)))(l.t)
	trial.Do(t, l.chain.Send(t.Context(), txs[0]))
	expect("asked again while it waits", first, n)
	expect("asked again once more", first, n)
	other := expect("another swap afterwards", second, n+1)
	third := first
	third.SwapID = "c"
	expect("the same call for another swap", third, n+1)
	taken := trial.Must(k.Check(second, sign(t, l.User, other.Txs)))(t)
	trial.Do(t, l.chain.Send(t.Context(), taken[0]))
	expect("what another swap took", third, n+2)
	expect("asked again while both wait", second, n+1)
	l.SetMining(true)
	trial.Do(t, l.Net.Mine(1))
	_, err := l.Wait(t.Context(), common.HexToHash(taken[0].ID))
	trial.Do(t, err)
	_, _, fourth := l.payIn(t, 4)
	expect("after all is mined", fourth, n+2)
}

// A transaction whose nonce is ahead of the account's is not sent: it would wait
// for others, and the swap with it. When those come it goes out after all.
func TestNonceAheadIsNotSent(t *testing.T) {
	t.Parallel()
	l := newNet(t, devnet.Options{})
	k, e, plan := l.payIn(t, 1)
	n, u := l.nonceOf(t, k, plan)
	p := trial.Must(wire.ParseTransaction(u.Txs[0]))(l.t)
	ahead := func(nonce uint64) chains.Signed {
		tx := trial.Must(types.SignTx(types.NewTx(&types.DynamicFeeTx{ChainID: p.ChainID, Nonce: nonce, GasTipCap: p.TipCap, GasFeeCap: p.FeeCap, Gas: p.Gas, To: p.To, Value: p.Value, Data: p.Data}),
			types.LatestSignerForChainID(p.ChainID), l.User.Key))(t)
		raw := trial.Must(tx.MarshalBinary())(t)
		checked := trial.Must(k.Check(plan, []string{hexutil.Encode(raw)}))(t)
		return checked[0]
	}
	state := func(tx chains.Signed) chains.TxState {
		t.Helper()
		all := trial.Must(l.chain.Status(t.Context(), []chains.Signed{tx}))(t)
		return all[0].State
	}
	far, next := ahead(n+3), ahead(n+1)
	for _, tx := range []chains.Signed{far, next} {
		if err := l.chain.Send(t.Context(), tx); fault.CodeOf(err) != fault.Upstream || state(tx) != chains.TxUnknown {
			t.Errorf("nonce %d, the account is at %d: %v, %s", tx.Nonce, n, err, state(tx))
		}
	}
	_, err := l.User.Send(t.Context(), wire.Call{To: common.Address{9}, Gas: 21_000})
	trial.Do(t, err)
	trial.Do(t, l.chain.Send(t.Context(), next))
	_, err = l.Wait(t.Context(), common.HexToHash(next.ID))
	trial.Do(t, err)
	facts := trial.Must(k.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: &e}}))(t)
	if facts[0].State != chains.EscrowOpen {
		t.Errorf("the escrow is %s", facts[0].State)
	}
	l.Advance(t, 3*time.Minute+time.Second)
	if err := l.chain.Send(t.Context(), far); fault.CodeOf(err) != fault.InvalidState || state(far) != chains.TxUnknown {
		t.Errorf("still ahead after a while: %v, %s", err, state(far))
	}
}
