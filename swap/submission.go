package swap

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// open reports whether submitted transactions are still to be sent or confirmed.
func (s *Submission) open() bool { return s != nil && !s.Closed }

// busy reports whether what the user signed is under way, or done in a block
// that the facts at hand do not know yet: until then nobody signs again.
func (in In) busy() bool {
	s := in.R.Submission
	if s == nil || !s.Closed {
		return s.open()
	}
	return s.Block > max(in.Obs.Escrow.Value.Head.Height, in.Obs.Withdrawal.Value.Head.Height, in.Obs.Vault.Value.Head.Height)
}

// blind reports that it cannot be told whether what the user signed is known to
// the chain, because that does not answer: nothing is handed out to be signed again.
func (in In) blind() bool {
	return !in.R.Submission.open() && !in.Obs.Escrow.Known() && !in.Obs.Withdrawal.Known() && !in.Obs.Vault.Known() && in.busy()
}

// errBlind is shown then.
var errBlind = fault.New(fault.Upstream, "the chain cannot be asked now, so it is not known whether anything is still to be signed")

// pending returns the chain transactions whose fate is still to be asked for.
func (s *Submission) pending() []chains.Signed {
	if !s.open() {
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
func accept(in In, next *Record) {
	sub := in.Input.(Submit)
	next.Submission = &Submission{Action: sub.Action, Txs: sub.Txs, Since: At(in.Now)}
	for key := range next.Tried {
		if isSend(key) {
			delete(next.Tried, key)
		}
	}
}

func isSend(key string) bool { return len(key) > len(SendTx) && key[:len(SendTx)] == string(SendTx) }

// fillSubmission takes over what became of submitted transactions. One that
// failed, was replaced or can never be mined closes the submission with the
// reason, and the action is offered again; who won a race is what the escrow
// says.
func fillSubmission(in In, next *Record) {
	s := next.Submission
	if !s.open() {
		return
	}
	if !in.Obs.Txs.Known() {
		return
	}
	refused, _ := in.Input.(Outcome)
	for i := range s.Txs {
		tx := &s.Txs[i]
		status, asked := in.Obs.Txs.Value[tx.ID]
		if tx.Sent || !asked {
			continue
		}
		switch status.State {
		case chains.TxUnknown: // refused for good, and not because it is done already
			if refused.Effect == SendTx && refused.Refused && refused.Step == i {
				s.Closed, s.Reason = true, reasonOr(refused.Reason, "the network refused the transaction")
			}
		case chains.TxConfirmed:
			tx.Sent = true
			s.Block = max(s.Block, status.Block.Height)
		case chains.TxReverted:
			s.Closed, s.Reason = true, reasonOr(status.Reason, "the transaction was reverted")
		case chains.TxReplaced:
			s.Closed, s.Reason = true, reasonOr(status.Reason, "the transaction was replaced by another one")
		}
	}
	if !s.Closed && len(s.pending()) == 0 {
		s.Closed = true
	}
}

func reasonOr(reason, otherwise string) string {
	if reason == "" {
		return otherwise
	}
	return reason
}

// sendNext returns the effect that sends the next transaction of the submission,
// if its time has come: each after the one before is confirmed. One that reveals
// a preimage waits until reveal allows it.
func sendNext(in In, reveal func(In) bool) []Effect {
	s := in.R.Submission
	if !s.open() {
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
