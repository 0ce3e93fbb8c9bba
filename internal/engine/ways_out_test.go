package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// truth is what the outside world shows of a swap, and where a swap of which it
// shows that has to be in the end, whatever state it was in.
type truth struct {
	name       string
	escrow     chains.EscrowFact
	lp         *lp.Status // nil: the LP is gone
	payment    *bitcoin.Tx
	spend      bitcoin.Spend
	withdrawal chains.WithdrawalFact
	gas        swap.GasFact
	received   []*bitcoin.Tx
	refunded   swap.RefundedFact

	want []int
	// end is where the swap is 40 days later, if nothing else happens; nil: where it was.
	end []int
}

// liar is a reader that tells a truth, or is wrong about the chain's head as well.
type liar struct {
	Reader
	now   time.Time
	truth *truth
	ahead time.Duration // of the head's time
	tall  uint64        // added to all heights

	delivers *chains.Escrow // as the one that was agreed on
	away     bool           // chains and LPs do not answer
}

func (w *liar) head() chains.Block {
	return chains.Block{Height: uint64(w.now.Unix()/60) + w.tall, Time: w.now.Add(w.ahead).Unix()}
}

func (w *liar) Escrow(context.Context, string, string, chains.EscrowQuery) (chains.EscrowFact, error) {
	if w.away {
		return chains.EscrowFact{}, errors.New("away")
	}
	f := w.truth.escrow
	f.Head = w.head()
	if f.State == chains.EscrowOpen {
		f.Escrow = w.delivers
	}
	if f.State != chains.EscrowNone {
		f.Opened = chains.Block{Height: 900 + w.tall}
		f.InitTx = "0x01"
	}
	switch f.State {
	case chains.EscrowClaimed:
		f.Finished, f.ClaimTx = chains.Block{Height: 950 + w.tall}, "0x02"
	case chains.EscrowRefunded:
		f.Finished, f.RefundTx = chains.Block{Height: 950 + w.tall}, "0x03"
	}
	return f, nil
}

func (w *liar) Vault(context.Context, string, string, chains.VaultID) (chains.VaultFact, error) {
	moved := w.truth.withdrawal.State != chains.WithdrawalNone
	return chains.VaultFact{Head: w.head(), Vault: chains.Vault{Open: !moved}}, nil
}

func (w *liar) Withdrawal(context.Context, string, string, chains.WithdrawalQuery) (chains.WithdrawalFact, error) {
	f := w.truth.withdrawal
	f.Head = w.head()
	switch f.State {
	case chains.WithdrawalFronted:
		f.FrontTx, f.Height = "0x04", 940+w.tall
	case chains.WithdrawalClaimed:
		f.ClaimTx, f.Height = "0x05", 950+w.tall
	case chains.WithdrawalClosed:
		f.Height = 950 + w.tall
	}
	return f, nil
}

func (w *liar) LPStatus(context.Context, lp.StatusQuery) (lp.Status, error) {
	if w.truth.lp == nil || w.away {
		return lp.Status{}, errors.New("gone")
	}
	return *w.truth.lp, nil
}

func (w *liar) BitcoinTx(context.Context, bitcoin.Hash) (*bitcoin.Tx, error) {
	return w.truth.payment, nil
}
func (w *liar) ETA(context.Context, swap.ETAAsk) (int, error) { return -1, nil }
func (w *liar) Spends(_ context.Context, ops []bitcoin.OutPoint) ([]bitcoin.Spend, error) {
	all := make([]bitcoin.Spend, len(ops))
	for i := range all {
		all[i] = w.truth.spend
	}
	return all, nil
}
func (w *liar) GasPayout(context.Context, string, swap.GasAsk) (swap.GasFact, error) {
	return w.truth.gas, nil
}
func (w *liar) Received(context.Context, swap.ReceivedAsk) ([]*bitcoin.Tx, error) {
	if w.away {
		return nil, errors.New("away")
	}
	return w.truth.received, nil
}
func (w *liar) VerifyInit(context.Context, string, string, swap.InitAsk) (swap.Millis, error) {
	return swap.At(w.now.Add(10 * time.Minute)), nil
}
func (w *liar) Refunded(context.Context, swap.RefundedAsk) (swap.RefundedFact, error) {
	return w.truth.refunded, nil
}
func (w *liar) Txs(_ context.Context, _ string, txs []chains.Signed) ([]chains.TxStatus, error) {
	return make([]chains.TxStatus, len(txs)), nil
}
func (w *liar) Payout(context.Context, string, string, swap.PayoutAsk) (swap.PayoutFact, error) {
	return swap.PayoutFact{}, nil
}
func (w *liar) VerifyRefund(context.Context, string, string, swap.RefundAsk) error {
	return errors.New("no authorisation")
}
func (w *liar) Delivered(context.Context, string, string, swap.DeliveredAsk) (*chains.Escrow, error) {
	if w.delivers == nil {
		return nil, errors.New("nothing was delivered")
	}
	return w.delivers, nil
}

// scenario is a type with a record in the middle of it, and all that can be true.
type scenario struct {
	flow   *swap.Flow
	record func(state int, start time.Time) *swap.Record
	truths []truth
}

func waysOut() []scenario {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	tx.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
	return waysOutWith(tx, big.NewInt(5))
}

// waysOutWith has a user's Bitcoin transaction, and what a trusted provider pays out.
func waysOutWith(tx *wire.MsgTx, paidOut *big.Int) []scenario {
	raw, err := rawtx.Encode(tx)
	if err != nil {
		panic(err)
	}
	seen := func(confirmations uint32) *bitcoin.Tx {
		return &bitcoin.Tx{ID: tx.TxHash(), Msg: tx, Confirmations: confirmations}
	}
	head := func(typ swap.Type, state int, start time.Time) swap.Head {
		return swap.Head{ID: "a", Type: typ, Chain: "CITREA", State: state, Signer: "0x1", Seen: swap.Seen{Chain: 900}, CreatedAt: swap.At(start), Expiry: swap.At(start.Add(10 * time.Minute)), LP: swap.LP{URL: "https://lp.example"}}
	}
	escrow := func(start time.Time, lasts time.Duration) *swap.EscrowPart {
		return &swap.EscrowPart{Real: &chains.Escrow{Expiry: start.Add(lasts).Unix(), Hash: []byte{1}}}
	}
	says := func(code int) *lp.Status {
		return &lp.Status{Code: code, TxID: tx.TxHash().String(), PayoutTxID: "0x06"}
	}
	arrived := swap.GasFact{Status: chains.TxStatus{State: chains.TxConfirmed, Final: true}, Paid: paidOut}
	claimed, refunded := chains.EscrowFact{State: chains.EscrowClaimed, Final: true}, chains.EscrowFact{State: chains.EscrowRefunded, Final: true}
	open := chains.EscrowFact{State: chains.EscrowOpen, Final: true}
	spent := bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{9}}
	paid := []*bitcoin.Tx{seen(1)}
	out := func(f *swap.Flow) scenario {
		return scenario{f, func(state int, start time.Time) *swap.Record {
			return &swap.Record{Head: head(f.Type, state, start), Escrow: escrow(start, 6*time.Hour), Lightning: &swap.LightningPart{Hash: fmt.Sprintf("%064x", 1)}, Bitcoin: &swap.BitcoinPart{}}
		}, []truth{
			{name: "claimed", escrow: claimed, want: []int{swap.OutClaimed}},
			{name: "refunded", escrow: refunded, want: []int{swap.OutRefunded}},
			{name: "open", escrow: open, want: []int{swap.OutCommitted, swap.OutSoftClaimed, swap.OutRefundable}, end: []int{swap.OutRefundable}},
			{name: "not open", escrow: chains.EscrowFact{Auth: chains.AuthLate}, want: []int{swap.OutSoftExpired, swap.OutExpired}, end: []int{swap.OutExpired}},
			{name: "never to be opened", escrow: chains.EscrowFact{Auth: chains.AuthOver}, want: []int{swap.OutSoftExpired, swap.OutExpired}, end: []int{swap.OutExpired}},
		}}
	}
	return []scenario{out(flowtest.Flow(swap.ToBTC)), out(flowtest.Flow(swap.ToBTCLN)),
		{flowtest.Flow(swap.FromBTC), func(state int, start time.Time) *swap.Record {
			return &swap.Record{Head: head(swap.FromBTC, state, start), Escrow: escrow(start, 24*time.Hour),
				Bitcoin: &swap.BitcoinPart{Address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", Script: []byte{0x51}, Sats: 1000, Confirmations: 3}}
		}, []truth{
			{name: "claimed", escrow: claimed, want: []int{swap.InClaimed}},
			{name: "refunded", escrow: refunded, received: []*bitcoin.Tx{seen(9)}, want: []int{swap.InFailed}},
			{name: "open", escrow: open, want: []int{swap.InCommitted}, end: []int{swap.InExpired}},
			{name: "open and paid", escrow: open, received: []*bitcoin.Tx{seen(1)}, want: []int{swap.InCommitted}, end: []int{swap.InExpired}},
			{name: "open and confirmed", escrow: open, received: []*bitcoin.Tx{seen(9)}, want: []int{swap.InConfirmed}},
			{name: "not open", escrow: chains.EscrowFact{Auth: chains.AuthLate}, want: []int{swap.InSoftExpired, swap.InQuoteOver}, end: []int{swap.InQuoteOver}},
			{name: "never to be opened", escrow: chains.EscrowFact{Auth: chains.AuthOver}, want: []int{swap.InSoftExpired, swap.InQuoteOver}, end: []int{swap.InQuoteOver}},
		}},
		{flowtest.Flow(swap.FromBTCLN), func(state int, start time.Time) *swap.Record {
			return &swap.Record{Head: head(swap.FromBTCLN, state, start), Escrow: escrow(start, 24*time.Hour),
				Lightning: &swap.LightningPart{Hash: fmt.Sprintf("%064x", 1), EndsAt: swap.At(start.Add(8 * time.Hour))}}
		}, []truth{
			{name: "claimed", escrow: claimed, want: []int{swap.LnClaimed}},
			{name: "refunded", escrow: refunded, want: []int{swap.LnFailed}},
			{name: "open", escrow: open, want: []int{swap.LnCommitted}, end: []int{swap.LnHTLCExpired}},
			{name: "not open", escrow: chains.EscrowFact{Auth: chains.AuthLate}, want: []int{swap.LnSoftExpired, swap.LnExpired}, end: []int{swap.LnExpired}},
			{name: "never to be opened", escrow: chains.EscrowFact{Auth: chains.AuthOver}, want: []int{swap.LnSoftExpired, swap.LnExpired}, end: []int{swap.LnExpired}},
		}},
		{flowtest.Flow(swap.FromBTCLNAuto), func(state int, start time.Time) *swap.Record {
			return &swap.Record{Head: head(swap.FromBTCLNAuto, state, start), Escrow: escrow(start, 24*time.Hour),
				Lightning: &swap.LightningPart{Hash: fmt.Sprintf("%064x", 1), EndsAt: swap.At(start.Add(8 * time.Hour))}}
		}, []truth{
			{name: "claimed", escrow: claimed, want: []int{swap.LnClaimed}},
			{name: "refunded", escrow: refunded, want: []int{swap.LnFailed}},
			{name: "open", escrow: open, want: []int{swap.LnCommitted}, end: []int{swap.LnHTLCExpired}},
			{name: "not open", want: []int{swap.LnPaid, swap.LnSoftExpired, swap.LnExpired}, end: []int{swap.LnExpired}},
		}},
		{flowtest.Flow(swap.SPVFromBTC), func(state int, start time.Time) *swap.Record {
			r := &swap.Record{Head: head(swap.SPVFromBTC, state, start), Bitcoin: &swap.BitcoinPart{Confirmations: 3, Posted: true, Tx: raw, TxID: tx.TxHash()},
				Vault: &swap.VaultPart{VaultID: big.NewInt(1), UTXO: bitcoin.OutPoint{}.String(), Deadline: swap.At(start.Add(11 * time.Minute))}}
			r.Tried = map[string]swap.Try{string(swap.PostPSBT): {Attempts: 1, Outcome: swap.Done}}
			return r
		}, []truth{
			{name: "claimed", payment: seen(9), withdrawal: chains.WithdrawalFact{State: chains.WithdrawalClaimed, Final: true}, want: []int{swap.SPVClaimed}},
			{name: "fronted", payment: seen(9), withdrawal: chains.WithdrawalFact{State: chains.WithdrawalFronted, Final: true}, want: []int{swap.SPVFronted}},
			{name: "closed", payment: seen(9), withdrawal: chains.WithdrawalFact{State: chains.WithdrawalClosed, Final: true}, want: []int{swap.SPVClosed}},
			{name: "confirmed", payment: seen(9), want: []int{swap.SPVConfirmed}},
			{name: "waiting", payment: seen(0), want: []int{swap.SPVBroadcasted}},
			{name: "never seen", want: []int{swap.SPVSoftExpired, swap.SPVDeclined, swap.SPVBroadcasted, swap.SPVConfirmed, swap.SPVExpired, swap.SPVFailed}},
			{name: "spent otherwise", spend: spent, want: []int{swap.SPVExpired, swap.SPVFailed}},
		}},
		{flowtest.Flow(swap.TrustedFromBTCLN), func(state int, start time.Time) *swap.Record {
			r := &swap.Record{Head: head(swap.TrustedFromBTCLN, state, start), Lightning: &swap.LightningPart{Hash: fmt.Sprintf("%064x", 1), EndsAt: swap.At(start.Add(8 * time.Hour))}}
			r.Terms.Output.Raw, r.PayoutTx = big.NewInt(5), "0x06"
			return r
		}, []truth{
			{name: "paid out", lp: says(lp.CodeDone), gas: arrived, want: []int{swap.TrustedLNFinished}},
			{name: "received", lp: says(lp.CodeGasReceived), want: []int{swap.TrustedLNPaid}},
			{name: "expired", lp: says(lp.CodeExpired), want: []int{swap.TrustedLNExpired, swap.TrustedLNFailed}},
			{name: "gone", want: []int{swap.TrustedLNCreated, swap.TrustedLNPaid, swap.TrustedLNExpired, swap.TrustedLNFailed}, end: []int{swap.TrustedLNExpired, swap.TrustedLNFailed}},
		}},
		{flowtest.Flow(swap.TrustedFromBTC), func(state int, start time.Time) *swap.Record {
			r := &swap.Record{Head: head(swap.TrustedFromBTC, state, start), Bitcoin: &swap.BitcoinPart{Address: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", Sats: 1000, Confirmations: 1},
				Gas: &swap.GasPart{Hash: "h", Sequence: big.NewInt(1), Total: big.NewInt(5), RefundTo: "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3"}}
			r.Terms.Output.Raw, r.PayoutTx = big.NewInt(5), "0x06"
			if state == swap.TrustedBTCRefunded {
				r.Gas.RefundTx = tx.TxHash().String()
			}
			return r
		}, []truth{
			{name: "paid out", lp: says(lp.CodeDone), received: paid, gas: arrived, want: []int{swap.TrustedBTCFinished}},
			{name: "pending", lp: says(lp.CodeGasPending), received: paid, want: []int{swap.TrustedBTCCreated, swap.TrustedBTCRefundable}},
			{name: "to be refunded", lp: says(lp.CodeGasRefundable), received: paid, want: []int{swap.TrustedBTCRefundable}},
			{name: "refunded", lp: says(lp.CodeGasRefunded), received: paid, refunded: swap.RefundedFact{Confirmations: 6, Sats: 900}, want: []int{swap.TrustedBTCRefunded}},
			{name: "expired unpaid", lp: says(lp.CodeExpired), want: []int{swap.TrustedBTCExpired, swap.TrustedBTCFailed}},
			{name: "gone unpaid", want: []int{swap.TrustedBTCCreated, swap.TrustedBTCExpired, swap.TrustedBTCFailed, swap.TrustedBTCRefundable}, end: []int{swap.TrustedBTCExpired, swap.TrustedBTCFailed}},
			{name: "gone paid", received: paid, want: []int{swap.TrustedBTCCreated, swap.TrustedBTCFailed, swap.TrustedBTCRefundable}, end: []int{swap.TrustedBTCFailed}},
		}},
	}
}

// From every state of every type, and after any single answer that was wrong (about
// the swap, and about the height and the time of the head), the facts lead to where
// they belong, as those who read chains remember them. Short of full depth each state and
// each truth has some of the wrong answers, and between them they have all.
func TestFactsDecideFromEveryState(t *testing.T) {
	lies := []struct {
		name  string
		ahead time.Duration
		tall  uint64
	}{{"", 0, 0}, {"ten days ahead", 240 * time.Hour, 0}, {"a week behind", -168 * time.Hour, 0}, {"far above", 0, 1 << 50}}
	start := time.Unix(1_700_000_000, 0)
	repeated := 0
	for _, c := range waysOut() {
		for i, s := range c.flow.States {
			for j, is := range c.truths {
				for wrong := range len(c.truths)*len(lies) + 1 {
					if !trial.Full() && wrong > 0 && (wrong+i+j)%4 != 0 {
						continue
					}
					w := &liar{now: start}
					now := func() time.Time { return w.now }
					m := remembers(w, now, true)
					g := newEngine(t, Config{Reader: m, Flows: []*swap.Flow{c.flow}, Now: now,
						Executor: executorFunc(func(context.Context, *swap.Record, swap.Effect) swap.Outcome {
							return swap.Outcome{Reason: "no answer"}
						})})
					r := c.record(s.Number, start)
					if s.Finished {
						r.Ended = swap.At(start.Add(time.Hour)) // one answer has said so
					}
					add(t, g, r)
					var path []int
					look := func(after time.Duration) *swap.Record {
						w.now = start.Add(after)
						res := advance(t, g, "a", nil)
						g.Effects.Drain()
						path = append(path, res.Record.State)
						return res.Record
					}
					name := fmt.Sprintf("%s %s, %s", c.flow.Type, s.Name, is.name)
					if wrong > 0 {
						lie := lies[(wrong-1)/len(c.truths)]
						w.truth, w.ahead, w.tall = &c.truths[(wrong-1)%len(c.truths)], lie.ahead, lie.tall
						name += fmt.Sprintf(", once said to be %s %s", w.truth.name, lie.name)
						look(time.Hour)
					}
					w.truth, w.ahead, w.tall = &is, 0, 0
					for _, after := range []time.Duration{80, 120, 180, 240} {
						r = look(after * time.Minute)
					}
					if !slices.Contains(is.want, r.State) {
						t.Errorf("%s: ends in %v, want %v", name, path, is.want)
					}
					if is.end == nil {
						is.end = is.want
					}
					for _, day := range []time.Duration{1, 16, 24, 40} {
						r = look(day * 24 * time.Hour)
					}
					if !slices.Contains(is.end, r.State) {
						t.Errorf("%s: is %v after 40 days (%v), want %v", name, r.State, path, is.end)
					}
					g.Close()
					repeated += m.repeated
				}
			}
		}
	}
	if repeated == 0 {
		t.Error("no answer was remembered")
	}
}
