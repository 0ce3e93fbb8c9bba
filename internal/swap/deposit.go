package swap

import (
	"bytes"
	"fmt"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// The bitcoin payment of FROM_BTC: the contract takes one output of exactly the agreed
// amount to the agreed script, and nothing else. Whatever else is paid to the address
// is the LP's.

// unknownConfirmations is reckoned with where a recovered swap does not know how many
// confirmations its escrow demands: the most that is agreed to.
const unknownConfirmations = 6

func (b *BitcoinPart) required() uint32 {
	if b.Confirmations == 0 {
		return unknownConfirmations
	}
	return b.Confirmations
}

// Condition is what the escrow demands of the payment.
func (b *BitcoinPart) Condition() chains.Condition {
	return chains.Condition{Kind: chains.Onchain, Script: b.Script, Sats: b.Sats, Confirmations: uint16(b.required())}
}

// pays returns the output of a transaction that the escrow can be claimed with.
func (b *BitcoinPart) pays(tx *bitcoin.Tx) (vout uint32, ok bool) {
	for i, out := range tx.Msg.TxOut {
		if uint64(out.Value) == b.Sats && bytes.Equal(out.PkScript, b.Script) {
			return uint32(i), true
		}
	}
	return 0, false
}

// deposit returns the payment to claim with, of those that Bitcoin shows: the one with
// the most confirmations, and of equals the one that was seen before. It is nil if
// Bitcoin shows no payment, or did not answer.
func deposit(in Decision, b *BitcoinPart) (best *bitcoin.Tx, vout uint32) {
	if !in.Obs.Received.Known() {
		return nil, 0
	}
	for _, tx := range in.Obs.Received.Value {
		n, ok := b.pays(tx)
		if ok && (best == nil || tx.Confirmations > best.Confirmations || tx.Confirmations == best.Confirmations && tx.ID == b.TxID) {
			best, vout = tx, n
		}
	}
	return best, vout
}

// deposited reports whether the payment has enough confirmations to be proven.
func deposited(in Decision) bool {
	tx, _ := deposit(in, in.R.Bitcoin)
	return tx != nil && tx.Confirmations >= in.R.Bitcoin.required()
}

// fillDeposit keeps the payment. A payment that was seen is forgotten only if it can
// never be mined, not because a node does not show it: a user who is asked to pay again
// would pay twice. If a reorganisation takes back the obstacle, the payment counts
// again.
func fillDeposit(in Decision, next *Record) {
	if !in.Obs.Received.Known() {
		return
	}
	next.Problem = depositProblem(in.Obs.Received.Value, next)
	tx, vout := deposit(in, next.Bitcoin)
	b := next.Bitcoin
	if tx != nil {
		if raw, err := rawtx.Encode(tx.Msg); err == nil && b.TxID != tx.ID {
			b.Tx = raw
		}
		b.TxID, b.Vout, b.Void = tx.ID, vout, nil
		if len(tx.Prevouts) > 0 && tx.Prevouts[0] != nil {
			b.SenderScript = tx.Prevouts[0].PkScript
		}
		return
	}
	s := next.Submission
	if isZero(b.TxID) && len(b.Void) > 0 {
		if id, again := revived(in, b.Void); again {
			b.TxID, b.Tx, b.Void = id, b.Void, nil
			if s != nil && s.PSBT == id {
				s.Closed, s.Reason = false, ""
			}
		}
		return
	}
	refused := s != nil && s.Closed && s.Reason != "" && s.PSBT == b.TxID
	dead := in.Obs.Spends.Known() && Conflict(b.TxID, in.Obs.Spends.Value) == ProspectDead
	if !isZero(b.TxID) && (refused || dead) {
		if b.Void = nil; dead {
			b.Void = b.Tx
		}
		b.TxID, b.Vout, b.Tx, b.SenderScript = bitcoin.Hash{}, 0, nil, nil
	}
}

// revived reports whether a transaction that could not be mined any more can be again.
func revived(in Decision, raw []byte) (id bitcoin.Hash, again bool) {
	tx, err := rawtx.Decode(raw)
	if err != nil || !in.Obs.Spends.Known() {
		return id, false
	}
	id = bitcoin.Hash(tx.TxHash())
	p := Conflict(id, in.Obs.Spends.Value)
	return id, p != ProspectDead && p != ProspectUnknown
}

// clocksDiffer is by how much a block's time may be before ours.
const clocksDiffer = 2 * time.Hour

// depositProblem says what was paid that the swap cannot use; "" if nothing was. What
// was paid before the quote concerns somebody else: LPs use addresses again.
func depositProblem(all []*bitcoin.Tx, r *Record) string {
	b, since := r.Bitcoin, r.CreatedAt.Time().Add(-clocksDiffer)
	fitting, others := 0, int64(0)
	for _, tx := range all {
		if !tx.BlockTime.IsZero() && tx.BlockTime.Before(since) {
			continue
		}
		if _, ok := b.pays(tx); ok {
			fitting++
			continue
		}
		for _, out := range tx.Msg.TxOut {
			if bytes.Equal(out.PkScript, b.Script) {
				others += out.Value
			}
		}
	}
	switch {
	case fitting > 1:
		return fmt.Sprintf("the amount was paid %d times; the swap takes one payment, and only the provider can return the others", fitting)
	case others > 0:
		return fmt.Sprintf("%d sats were paid to the address in other amounts; the swap takes one payment of exactly %d sats, and only the provider can return the rest", others, b.Sats)
	}
	return ""
}

// depositShown is the status of the payment step of a swap that was paid, and
// inactive for one that was not. A payment that Bitcoin does not show, or that is not
// asked for, has no confirmations to show.
func depositShown(in Decision) (StepStatus, *Confirmations) {
	b := in.R.Bitcoin
	tx, _ := deposit(in, b)
	switch {
	case tx == nil && isZero(b.TxID):
		return shownInactive, nil
	case tx == nil:
		return shownReceived, nil
	case tx.Confirmations >= b.required():
		return shownConfirmed, &Confirmations{Current: int(b.required()), Target: int(b.required())}
	}
	n := &Confirmations{Current: int(tx.Confirmations), Target: int(b.required()), ETASeconds: -1}
	if in.Obs.ETA.Known() {
		n.ETASeconds = in.Obs.ETA.Value
	}
	return shownReceived, n
}

// depositWait returns the action after a payment was seen: to wait.
func depositWait(in Decision, pay Step) *Wait {
	w := &Wait{Name: "Bitcoin confirmations", Description: "The Bitcoin transaction needs confirmations.", ExpectedSeconds: -1, PollSeconds: 10}
	if pay.Status == shownReceived && pay.Confirmations != nil {
		w.ExpectedSeconds = pay.Confirmations.ETASeconds
	}
	return w
}
