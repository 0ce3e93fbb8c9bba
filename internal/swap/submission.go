package swap

import (
	"cmp"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// A submission is a claim on a swap's next step, not a lock. It ends by being
// final, reverted, replaced, refused, forgotten by the nodes, superseded, or by
// time, and every end but the first gives the action back:
//
//   - the owner's replaces a stranger's at once: anyone who knows a swap's id may
//     submit a claim or a refund, with a fee too low to be mined;
//   - one that waits too long is offered again in a form that conflicts with it, so
//     that only one of them can be mined;
//   - one that no node has known for a long time is closed.

// How long a submission may wait until its step is offered again, and how long
// nodes may not know of a transaction until it counts as forgotten. A claim has a
// deadline, so it comes first.
const (
	claimMinedWithin = time.Minute
	minedWithin      = 3 * time.Minute
	forgottenAfter   = 10 * time.Minute
)

// Open reports whether submitted transactions still have to be sent or
// confirmed.
func (s *Submission) Open() bool { return s != nil && !s.Closed }

// pays reports whether a submitted bitcoin payment still has to be sent or confirmed.
func (s *Submission) pays() bool { return s.Open() && !isZero(s.PSBT) }

// signerOf returns who signed a submission, or "" if unknown.
func signerOf(txs []SignedTx) string {
	if len(txs) == 0 {
		return ""
	}
	return txs[0].From
}

// byStranger reports whether someone other than the swap's owner signed it.
func (r *Record) byStranger(txs []SignedTx) bool {
	who := signerOf(txs)
	return who != "" && who != r.Signer
}

// stale reports whether an open submission has waited longer than it may.
func (s *Submission) stale(now time.Time) bool {
	patience := minedWithin
	if s.Action == actionClaim || s.Action == actionLastClaim {
		patience = claimMinedWithin
	}
	return now.Sub(max(s.Since, s.Moved).Time()) > patience
}

// busy reports whether a submission of the owner is in progress, or one was mined
// in a block that the current facts do not cover yet. Until that has ended, nothing
// is offered for signing again.
func (in Decision) busy() bool {
	s := in.R.Submission
	switch {
	case s == nil || len(s.Txs) == 0 && !isZero(s.PSBT): // a bitcoin payment hinders nothing on the smart chain
		return false
	case s.Closed:
		return s.Block > max(in.Obs.Escrow.Value.Head.Height, in.Obs.Withdrawal.Value.Head.Height, in.Obs.Vault.Value.Head.Height)
	case in.R.byStranger(s.Txs), in.heldBack():
		return false
	}
	return !s.stale(in.Now) || !in.Obs.Txs.Known()
}

// heldBack reports whether all that is left of a submission is a claim that was signed
// along with the opening, and that is not sent any more because it is too late.
func (in Decision) heldBack() bool {
	r := in.R
	return r.Type == FromBTCLN && r.State == LnHTLCExpired && r.Submission.Action == ActionInit && !r.Public() && !in.opens()
}

// takes reports whether sub may replace the current submission.
func (in Decision) takes(sub Submit) bool {
	s := in.R.Submission
	return !in.busy() && (!s.Open() || s.stale(in.Now) || !in.R.byStranger(sub.Txs))
}

// blind reports whether the chain does not answer, so that it is unknown whether it
// has what the user signed: nothing is offered for signing again.
func (in Decision) blind() bool {
	s := in.R.Submission
	return in.busy() && (s.Closed || s.stale(in.Now)) && !in.Obs.Escrow.Known() && !in.Obs.Withdrawal.Known() && !in.Obs.Vault.Known()
}

// again makes an action replace the open submission, so that only one of them can
// be mined. Until a stranger's submission is stale, only the owner is asked to sign.
func (in Decision) again(a *Sign) *Sign {
	s := in.R.Submission
	if !s.Open() {
		return a
	}
	a.Plan.Replaces = s.pending()
	if !s.stale(in.Now) {
		a.AnySigner, a.Waiting = false, signerOf(s.Txs)
	}
	return a
}

// closeSubmission ends a submission that can no longer succeed.
func closeSubmission(next *Record, reason string) {
	if s := next.Submission; s.Open() {
		s.Closed, s.Reason = true, reason
	}
}

// errBlind is shown while blind holds.
var errBlind = fault.New(fault.Upstream, "the chain is not responding, so it is not known whether anything still needs to be signed")

// asked returns the chain transactions about whose state to ask, including confirmed
// ones while others wait for them.
func (s *Submission) asked() []chains.Signed {
	if !s.Open() {
		return nil
	}
	txs := make([]chains.Signed, len(s.Txs))
	for i, tx := range s.Txs {
		txs[i] = tx.Signed
	}
	return txs
}

// pending returns the chain transactions that are still to be confirmed.
func (s *Submission) pending() []chains.Signed {
	if !s.Open() {
		return nil
	}
	var txs []chains.Signed
	for _, tx := range s.Txs {
		if !tx.Sent {
			txs = append(txs, tx.Signed)
		}
	}
	return txs
}

// accept stores what the user signed. It goes out in the effects of this pass.
func accept(in Decision, next *Record) {
	sub := in.Input.(Submit)
	next.Submission = &Submission{Action: sub.Action, Txs: sub.Txs, Since: At(in.Now)}
	for key := range next.Tried { // of the submission before
		if isSend(key) {
			delete(next.Tried, key)
		}
	}
}

func isSend(key string) bool { return len(key) > len(SendTx) && key[:len(SendTx)] == string(SendTx) }

// fillSubmission records the outcome of submitted transactions. One that
// failed, was replaced or can never be mined closes the submission with the
// reason, and the action is offered again; who won a race is what the escrow
// says.
func fillSubmission(in Decision, next *Record) {
	s := next.Submission
	if !s.Open() || len(s.Txs) == 0 || !in.Obs.Txs.Known() {
		return
	}
	refused, _ := in.Input.(Outcome)
	missing := false
	for i := range s.Txs {
		tx := &s.Txs[i]
		status, asked := in.Obs.Txs.Value[tx.ID]
		if !asked {
			continue
		}
		if tx.Sent && (status.State == chains.TxUnknown || status.State == chains.TxPending) {
			tx.Sent = false // a reorganisation took it back: it is sent again, before what follows it
		}
		switch status.State {
		case chains.TxUnknown:
			if refused.Refused && refused.isSend(tx.ID, i) { // for good, and not because it is done already
				closeSubmission(next, cmp.Or(refused.Reason, "the network refused the transaction"))
			}
			missing = missing || next.Tried[Effect{Kind: SendTx, Step: i}.Key()].Attempts > 0
		case chains.TxConfirmed:
			if !tx.Sent {
				tx.Sent, s.Moved = true, At(in.Now)
			}
			s.Block = max(s.Block, status.Block.Height)
		case chains.TxReverted:
			closeSubmission(next, cmp.Or(status.Reason, "the transaction was reverted"))
		case chains.TxReplaced:
			closeSubmission(next, cmp.Or(status.Reason, "the transaction was replaced by another one"))
		}
	}
	switch {
	case !missing:
		s.Missing = 0
	case s.Missing == 0:
		s.Missing = At(in.Now)
	case in.Now.Sub(s.Missing.Time()) > forgottenAfter:
		closeSubmission(next, "the network no longer knows the transaction")
	}
	if !s.Closed && len(s.pending()) == 0 {
		s.Closed = true
	}
}

// isSend reports whether an outcome is that of sending a transaction, and not one
// that another submission has replaced meanwhile.
func (o Outcome) isSend(id string, step int) bool {
	return o.Effect == SendTx && o.Step == step && (o.Tx == "" || o.Tx == id)
}

// sendNext returns the effect that sends the next transaction of the submission,
// if its time has come: each after the one before is confirmed. One that reveals
// a preimage waits until reveal allows it.
func sendNext(in Decision, reveal func(Decision) bool) []Effect {
	s := in.R.Submission
	if !s.Open() {
		return nil
	}
	for i, tx := range s.Txs {
		if tx.Sent {
			continue
		}
		if tx.Reveals && !reveal(in) {
			return nil
		}
		e := Effect{Kind: SendTx, Step: i}
		if tx.Reveals {
			e = revealing(in.R, e)
		}
		return []Effect{e}
	}
	return nil
}

// UnderWay reports whether the ids are those of an open submission.
func (r *Record) UnderWay(ids []string) bool { return r.Submission.Open() && r.Submitted(ids) }

// Submitted reports whether the ids are those of the last submission.
func (r *Record) Submitted(ids []string) bool {
	s := r.Submission
	if s == nil {
		return false
	}
	foreign := func(id string) bool {
		return !slices.ContainsFunc(s.Txs, func(tx SignedTx) bool { return tx.ID == id })
	}
	return len(s.Txs) > 0 && !slices.ContainsFunc(ids, foreign) || !isZero(s.PSBT) && slices.Equal(ids, []string{s.PSBT.String()})
}

// Knows reports whether the ids are those of a submission that took effect, or
// whether one of them is a transaction of the user that the chain has shown (protocol:
// swap-flows-escrow.md §4.5).
func (r *Record) Knows(ids []string) bool {
	if s := r.Submission; s != nil && !(s.Closed && s.Reason != "") && r.Submitted(ids) {
		return true
	}
	own := r.ownTxs()
	return slices.ContainsFunc(ids, func(id string) bool { return id != "" && slices.Contains(own, id) })
}

// ownTxs are the transactions on the chain that the user signed, and not an LP.
func (r *Record) ownTxs() []string {
	var own []string
	switch {
	case r.Escrow == nil:
	case r.Type == ToBTC || r.Type == ToBTCLN:
		own = append(own, r.Escrow.InitTx, r.Escrow.RefundTx)
	case r.Type == FromBTC || r.Type == FromBTCLN:
		own = append(own, r.Escrow.InitTx, r.Escrow.ClaimTx)
	default:
		own = append(own, r.Escrow.ClaimTx)
	}
	if r.Vault != nil {
		own = append(own, r.Vault.ClaimTx)
	}
	if r.Posted() || r.Type == FromBTC && r.Bitcoin != nil && !isZero(r.Bitcoin.TxID) {
		own = append(own, r.Bitcoin.TxID.String())
	}
	return own
}
