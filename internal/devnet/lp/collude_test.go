package lp_test

import (
	"math/big"
	"testing"
	"time"

	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// An LP that colludes with a node pays in the story of that node alone, and in the network's
// chain again afterwards.
func TestCollude(t *testing.T) {
	t.Parallel()
	k := newKit(t, func(o *lp.Options) { o.Vaults, o.Deposit = 1, 1_000_000 })
	token, account := k.evm.Contracts().Token, k.lp.Account()
	split := trial.Must(k.evm.Split(trial.Must(k.evm.Serve(""))(t)))(t)
	told := split.Net()
	defer k.evm.Pace(50 * time.Millisecond)() // a story has no blocks of its own making
	paid := func(what string, wantHere, wantThere bool) {
		t.Helper()
		balances := func() (all [2]*big.Int) {
			for i, n := range []*devnet.Net{k.evm, told} {
				all[i] = trial.Must(n.Balance(k.ctx, token, account.Address))(t)
			}
			return all
		}
		before := balances()
		trial.Do(t, k.lp.FillVaults(k.ctx, token.Hex(), 1000))
		after := balances()
		if here, there := after[0].Cmp(before[0]) < 0, after[1].Cmp(before[1]) < 0; here != wantHere || there != wantThere {
			t.Errorf("%s: the LP pays in the chain %t, in the story %t; want %t, %t", what, here, there, wantHere, wantThere)
		}
	}
	if _, err := k.lp.Collude(lp.Story{}); err == nil {
		t.Error("an LP colludes in no story")
	}
	paid("before it", true, false)
	repent := trial.Must(func() (func() error, error) {
		stop, err := k.lp.Collude(lp.Story{EVM: told, Account: told.AccountOf(account.Key)})
		return func() error { return stop(k.ctx) }, err
	}())(t)
	paid("while it colludes", false, true)
	trial.Do(t, repent())
	paid("after it", true, false)
	trial.Do(t, split.Rejoin())
}
