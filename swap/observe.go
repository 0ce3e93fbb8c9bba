package swap

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/swap/lp"
)

// Fact is an answer of the outside world: not asked, not answered (Err), or
// answered. "Not found" is an answer. Nothing moves on a fact that is not Known.
type Fact[T any] struct {
	Value T
	Asked bool
	Err   error
	At    time.Time
}

// Known reports whether there is an answer.
func (f Fact[T]) Known() bool { return f.Asked && f.Err == nil }

// Observation is what one pass has learnt.
type Observation struct {
	Escrow     Fact[chains.EscrowFact] // by the agreed data
	Found      Fact[chains.EscrowFact] // by claim hash and parties, or by data that the LP delivered
	LP         Fact[lp.Status]
	Delivered  Fact[*chains.Escrow] // escrow data from the LP or the chain, equal to what was agreed; Err is a *chains.DiffError if not
	Wait       Fact[int]            // seconds until the user\'s transaction is confirmed, -1 when nobody can tell
	Refund     Fact[struct{}]       // the LP's refund authorisation verifies; Err is a *chains.AuthError if not
	Payment    Fact[*bitcoin.Tx]    // the user's Bitcoin transaction; nil: not found
	Payout     Fact[PayoutFact]     // what the LP says it paid with
	Spends     Fact[[]bitcoin.Spend]
	Vault      Fact[chains.VaultFact]
	Withdrawal Fact[chains.WithdrawalFact]
	Txs        Fact[map[string]chains.TxStatus] // of the submission, by id: what is asked changes within a pass
	GasTx      Fact[GasFact]                    // a trusted payout
	Received   Fact[[]*bitcoin.Tx]              // what pays to the address of the swap
	Refunded   Fact[RefundedFact]               // what an LP says it paid back
	Rival      Fact[bool]                       // another stored swap pays for the same
}

// Ask is what a flow wants to know next; nil members are not wanted.
type Ask struct {
	Escrow     *chains.EscrowQuery
	Found      *chains.EscrowQuery
	LP         *lp.StatusQuery
	Delivered  *DeliveredAsk
	Wait       *WaitAsk
	Refund     *RefundAsk
	Payment    *bitcoin.Hash
	Payout     *PayoutAsk
	Spends     []bitcoin.OutPoint
	Vault      *chains.VaultID
	Withdrawal *chains.WithdrawalQuery
	Txs        []chains.Signed
	GasTx      *GasAsk
	Received   string // Bitcoin address
	Refunded   *RefundedAsk
	Rival      *RivalAsk
}

// RivalAsk asks the store whether another swap holds a key of ours.
type RivalAsk struct{ index, value string }

// GasAsk asks whether a transaction of the smart chain pays native tokens to
// somebody.
type GasAsk struct{ TxID, To string }

// GasFact is the answer. Paid is nil where the chain cannot tell.
type GasFact struct {
	Status chains.TxStatus
	Paid   *big.Int
}

// RefundedAsk asks whether a Bitcoin transaction pays to an address; any address
// will do if there is none.
type RefundedAsk struct {
	TxID bitcoin.Hash
	To   string
}

// RefundedFact is the answer; all zero for a transaction that is not found.
type RefundedFact struct {
	Confirmations uint32
	Sats          int64
}

// DeliveredAsk asks whether escrow data is what was agreed. What may differ is
// what an LP is free to choose: a later check bounds the expiry, and more than
// the agreed amount is as good.
type DeliveredAsk struct {
	Want chains.Escrow
	Data json.RawMessage
}

// WaitAsk asks how long a transaction will take to be confirmed so often.
type WaitAsk struct {
	TxID          bitcoin.Hash
	Confirmations uint32
}

// RefundAsk asks whether an authorisation to refund early is good.
type RefundAsk struct {
	Escrow chains.Escrow
	Auth   chains.Auth
}

// PayoutAsk asks whether what an LP presents fulfils an escrow's condition: a
// preimage, or else a Bitcoin transaction.
type PayoutAsk struct {
	Escrow chains.Escrow
	Secret []byte
	TxID   bitcoin.Hash
	// Nonce and Confirmations are part of the condition of an on-chain payout; 0
	// where a recovered swap does not know them.
	Nonce         uint64
	Confirmations uint32
}

// PayoutFact is the answer. Proven is false as well for a transaction that is
// not to be found: it may yet appear.
type PayoutFact struct {
	Proven        bool
	TxID          bitcoin.Hash
	Vout          uint32
	Address       string // "" if the script has none
	Sats          uint64
	Nonce         uint64
	Confirmations uint32 // that the condition demands
}

// World is where questions are answered. Its methods are safe for concurrent
// use and may merge what several swaps ask.
type World interface {
	Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error)
	Delivered(ctx context.Context, chain, contract string, q DeliveredAsk) (*chains.Escrow, error)
	Wait(ctx context.Context, q WaitAsk) (seconds int, err error)
	VerifyRefund(ctx context.Context, chain, contract string, q RefundAsk) error
	Vault(ctx context.Context, chain, contract string, id chains.VaultID) (chains.VaultFact, error)
	Withdrawal(ctx context.Context, chain, contract string, q chains.WithdrawalQuery) (chains.WithdrawalFact, error)
	Txs(ctx context.Context, chain string, txs []chains.Signed) ([]chains.TxStatus, error)
	Payout(ctx context.Context, chain, contract string, q PayoutAsk) (PayoutFact, error)
	LPStatus(ctx context.Context, q lp.StatusQuery) (lp.Status, error)
	BitcoinTx(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) // nil: not found
	Spends(ctx context.Context, ops []bitcoin.OutPoint) ([]bitcoin.Spend, error)
	GasPayout(ctx context.Context, chain string, q GasAsk) (GasFact, error)
	Received(ctx context.Context, address string) ([]*bitcoin.Tx, error)
	Refunded(ctx context.Context, q RefundedAsk) (RefundedFact, error)
}

// world is what one pass asks: the world, and the store.
type world struct {
	World
	rival func(ctx context.Context, id string, q RivalAsk) (bool, error)
}

// maxRounds bounds how often one pass asks. No type needs more than three.
const maxRounds = 4

// observe asks until the flow knows enough, each round in parallel.
func observe(ctx context.Context, w world, f *Flow, in In) {
	for range maxRounds {
		if !answer(ctx, w, in, f.Ask(in)) {
			return
		}
	}
}

// answer puts one round of answers into in.Obs and reports whether anything was asked.
func answer(ctx context.Context, w world, in In, ask Ask) bool {
	r, obs := in.R, in.Obs
	var g errgroup.Group
	asked := 0
	add := func(f func()) {
		asked++
		g.Go(func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("%v\n%s", p, debug.Stack())
				}
			}()
			f()
			return nil
		})
	}
	if q := ask.Escrow; q != nil {
		add(func() {
			put(&obs.Escrow, in.Now)(inOurTime(in.Now, escrowHead)(notLagging(r)(w.Escrow(ctx, r.Chain, r.Contract, *q))))
		})
	}
	if q := ask.Found; q != nil {
		add(func() {
			put(&obs.Found, in.Now)(inOurTime(in.Now, escrowHead)(notLagging(r)(w.Escrow(ctx, r.Chain, r.Contract, *q))))
		})
	}
	if q := ask.LP; q != nil {
		add(func() { put(&obs.LP, in.Now)(w.LPStatus(ctx, *q)) })
	}
	if q := ask.Delivered; q != nil {
		add(func() { put(&obs.Delivered, in.Now)(w.Delivered(ctx, r.Chain, r.Contract, *q)) })
	}
	if q := ask.Wait; q != nil {
		add(func() { put(&obs.Wait, in.Now)(w.Wait(ctx, *q)) })
	}
	if q := ask.Refund; q != nil {
		add(func() { put(&obs.Refund, in.Now)(struct{}{}, w.VerifyRefund(ctx, r.Chain, r.Contract, *q)) })
	}
	if q := ask.Payment; q != nil {
		add(func() { put(&obs.Payment, in.Now)(w.BitcoinTx(ctx, *q)) })
	}
	if q := ask.Payout; q != nil {
		add(func() { put(&obs.Payout, in.Now)(w.Payout(ctx, r.Chain, r.Contract, *q)) })
	}
	if q := ask.Spends; q != nil {
		add(func() { put(&obs.Spends, in.Now)(w.Spends(ctx, q)) })
	}
	if q := ask.Vault; q != nil {
		add(func() { put(&obs.Vault, in.Now)(inOurTime(in.Now, vaultHead)(w.Vault(ctx, r.Chain, r.Contract, *q))) })
	}
	if q := ask.Withdrawal; q != nil {
		add(func() {
			put(&obs.Withdrawal, in.Now)(inOurTime(in.Now, withdrawalHead)(w.Withdrawal(ctx, r.Chain, r.Contract, *q)))
		})
	}
	if q := ask.Txs; q != nil {
		add(func() { put(&obs.Txs, in.Now)(byID(q)(w.Txs(ctx, r.Chain, q))) })
	}
	if q := ask.GasTx; q != nil {
		add(func() { put(&obs.GasTx, in.Now)(w.GasPayout(ctx, r.Chain, *q)) })
	}
	if to := ask.Received; to != "" {
		add(func() { put(&obs.Received, in.Now)(w.Received(ctx, to)) })
	}
	if q := ask.Refunded; q != nil {
		add(func() { put(&obs.Refunded, in.Now)(w.Refunded(ctx, *q)) })
	}
	if q := ask.Rival; q != nil {
		add(func() { put(&obs.Rival, in.Now)(w.rival(ctx, r.ID, *q)) })
	}
	if err := g.Wait(); err != nil { // a panic, which belongs to the pass; facts carry their own errors
		panic(err)
	}
	return asked > 0
}

// byID names the states of transactions by their ids.
func byID(asked []chains.Signed) func([]chains.TxStatus, error) (map[string]chains.TxStatus, error) {
	return func(all []chains.TxStatus, err error) (map[string]chains.TxStatus, error) {
		if err != nil {
			return nil, err
		}
		if len(all) != len(asked) {
			return nil, fmt.Errorf("%d answers to %d questions", len(all), len(asked))
		}
		m := make(map[string]chains.TxStatus, len(all))
		for i, tx := range asked {
			m[tx.ID] = all[i]
		}
		return m, nil
	}
}

func put[T any](to *Fact[T], now time.Time) func(T, error) {
	return func(v T, err error) { *to = Fact[T]{Value: v, Asked: true, Err: err, At: now} }
}
