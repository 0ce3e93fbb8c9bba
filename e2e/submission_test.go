package e2e

import (
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// signed is what an action asks for, signed by an account with other fees.
func (w *world) signed(by *devnet.Account, a swapper.Action, fees func(*types.DynamicFeeTx)) (texts []string, all []*types.Transaction) {
	w.t.Helper()
	sign, ok := a.(*swapper.SignSmartChainTransaction)
	if !ok {
		w.t.Fatalf("nothing is to be signed: %+v", a)
	}
	for _, text := range sign.Txs {
		p, err := wire.ParseTransaction(text)
		if err != nil {
			w.t.Fatal(err)
		}
		inner := &types.DynamicFeeTx{ChainID: p.ChainID, Nonce: p.Nonce, GasTipCap: p.TipCap, GasFeeCap: p.FeeCap, Gas: p.Gas, To: p.To, Value: p.Value, Data: p.Data}
		fees(inner)
		tx, err := types.SignNewTx(by.Key, types.LatestSignerForChainID(p.ChainID), inner)
		if err != nil {
			w.t.Fatal(err)
		}
		raw, err := tx.MarshalBinary()
		if err != nil {
			w.t.Fatal(err)
		}
		texts, all = append(texts, hexutil.Encode(raw)), append(all, tx)
	}
	return texts, all
}

func (w *world) submit(id string, signed []string) error {
	w.t.Helper()
	began := time.Now()
	_, err := w.client.SubmitTransaction(w.t.Context(), swapper.SubmitTransactionInput{SwapID: id, SignedTxs: signed})
	if took := time.Since(began); took > time.Minute {
		w.t.Errorf("answered after %s", took)
	}
	return err
}

// asked waits until the user is to sign something.
func (w *world) asked(id string) *swapper.SignSmartChainTransaction {
	w.t.Helper()
	return asksFor[*swapper.SignSmartChainTransaction](w.watch(id, func(s *swapper.GetSwapStatusOutput) bool {
		return asksFor[*swapper.SignSmartChainTransaction](s) != nil
	}))
}

func usual(*types.DynamicFeeTx) {}

// No transaction that is handed in keeps a swap from going on.
func TestSubmissionsBlockNobody(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	w := start(t, options{})
	chain := w.net.EVM
	request := w.outgoing()[swapper.SwapToBTC]
	open := func(w *world) (*swapper.CreateSwapOutput, *big.Int) {
		before := w.balance(chain.Contracts().Token)
		w.net.LPs[0].Misbehave(lp.Fault{})
		s := w.create(request())
		w.net.LPs[0].Misbehave(lp.Fault{NotPayable: true})
		w.until(s.SwapID, is("REFUNDABLE"))
		return s, before
	}
	whole := func(w *world, before *big.Int) {
		if got := w.balance(chain.Contracts().Token); got.Cmp(before) != 0 {
			w.t.Errorf("has %v, had %v", got, before)
		}
	}
	t.Run("a stranger's refund that nobody mines", func(t *testing.T) {
		w := w.in(t)
		s, before := open(w)
		stranger, err := chain.NewAccount()
		if err != nil {
			t.Fatal(err)
		}
		trial.Do(t, chain.Fund(t.Context(), stranger.Address, devnet.Coins(1)))
		var got *swapper.GetSwapStatusOutput
		for ctx := w.within(30 * time.Second); got == nil || got.CurrentAction == nil; time.Sleep(50 * time.Millisecond) {
			got = trial.Must(w.client.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID, Signer: stranger.Address.Hex()}))(t)
			if ctx.Err() != nil {
				t.Fatalf("the stranger is never asked to sign: %+v, %+v", got.State, got.ActionError)
			}
		}
		// A fee below the base fee is refused at once, by name.
		below, _ := w.signed(stranger, got.CurrentAction, func(tx *types.DynamicFeeTx) {
			tx.GasFeeCap, tx.GasTipCap = new(big.Int).Sub(chain.Head().BaseFee, big.NewInt(1)), big.NewInt(1)
		})
		if err := w.submit(s.SwapID, below); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("a fee below the base fee: %v", err)
		}
		// One that falls below it later waits for ever.
		chain.SetMining(false)
		stuck, _ := w.signed(stranger, got.CurrentAction, usual)
		if err := w.submit(s.SwapID, stuck); err != nil {
			t.Errorf("taken by the node: %v", err)
		}
		own, _ := w.signed(chain.User, w.asked(s.SwapID), usual)
		chain.DropPending()
		// Handed in before anything is mined: the stranger's, which is sent again too, may
		// otherwise be first, and then nothing is left to be handed in.
		if err := w.submit(s.SwapID, own); err != nil {
			t.Errorf("the owner's: %v", err)
		}
		chain.SetMining(true)
		trial.Do(t, chain.Advance(time.Second))
		w.reached(s.SwapID, "REFUNDED")
		whole(w, before)
	})
	t.Run("an opening whose fee is overtaken", func(t *testing.T) {
		w := w.in(t)
		w.net.LPs[0].Misbehave(lp.Fault{})
		s := w.create(request())
		chain.SetMining(false)
		slow, first := w.signed(chain.User, w.asked(s.SwapID), usual)
		if err := w.submit(s.SwapID, slow); err != nil && fault.CodeOf(err) != fault.Timeout {
			t.Errorf("the first: %v", err)
		}
		if a := w.look(s.SwapID).CurrentAction; a != nil {
			t.Errorf("asked to do %+v at once", a)
		}
		w.net.Clock.Add(4 * time.Minute)
		fast, second := w.signed(chain.User, w.asked(s.SwapID), usual)
		if first[0].Nonce() != second[0].Nonce() || second[0].GasFeeCap().Cmp(first[0].GasFeeCap()) <= 0 {
			t.Errorf("nonce %d, fee %v after nonce %d, fee %v", second[0].Nonce(), second[0].GasFeeCap(), first[0].Nonce(), first[0].GasFeeCap())
		}
		// Before anything is mined: the first, which is sent again too, may otherwise win.
		if err := w.submit(s.SwapID, fast); err != nil && fault.CodeOf(err) != fault.Timeout {
			t.Errorf("the second: %v", err)
		}
		chain.SetMining(true)
		trial.Do(t, chain.Advance(time.Second))
		w.ended(s.SwapID, "CLAIMED")
		if _, err := chain.Wait(t.Context(), second[len(second)-1].Hash()); err != nil {
			t.Errorf("the second was not mined: %v", err)
		}
	})
	t.Run("a refund that the nodes forget", func(t *testing.T) {
		w := w.in(t)
		s, before := open(w)
		chain.SetMining(false)
		forgotten, first := w.signed(chain.User, w.asked(s.SwapID), usual)
		if err := w.submit(s.SwapID, forgotten); err != nil {
			t.Errorf("taken by the node: %v", err)
		}
		chain.Server().Misbehave(devnet.Fault{Fail: []string{"eth_sendRawTransaction"}}) // it is not sent again
		chain.DropPending()
		w.look(s.SwapID)
		w.advance(20 * time.Minute)
		again := w.asked(s.SwapID)
		chain.Server().Misbehave(devnet.Fault{})
		chain.SetMining(true)
		if err := w.user.Do(w.within(30*time.Second), s.SwapID, again); err != nil {
			// An attempt to send the first one may have been under way, and have got through.
			if _, lost := chain.Wait(w.within(time.Second), first[0].Hash()); lost != nil {
				t.Errorf("again: %v", err)
			}
		}
		w.reached(s.SwapID, "REFUNDED")
		whole(w, before)
	})
	t.Run("the last transaction without the first", func(t *testing.T) {
		w := w.in(t)
		w.net.LPs[0].Misbehave(lp.Fault{})
		s := w.create(request())
		all, txs := w.signed(chain.User, w.asked(s.SwapID), usual)
		if len(txs) != 2 {
			t.Fatalf("%d transactions", len(txs))
		}
		began := time.Now()
		if err := w.submit(s.SwapID, all[1:]); fault.CodeOf(err) != fault.InvalidInput || time.Since(began) > 14*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if err := w.submit(s.SwapID, all); err != nil {
			t.Error(err)
		}
		w.ended(s.SwapID, "CLAIMED")
	})
}
