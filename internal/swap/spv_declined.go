package swap

import (
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// A signed transaction that the LP refuses does not end a vault swap, since anyone who
// knows the swap's id can hand one in: the LP accepts another one until the quote
// expires (protocol: lp-protocol.md §5.8). A refused transaction may still be sent. All of
// a swap's transactions spend the vault's output, so that only one of them can be mined; the
// spender of that output shows which.

// mostDeclined is how many refusals leave a quote open; the next one ends the swap.
const mostDeclined = 5

func (r *Record) declined() bool { return r.Bitcoin != nil && len(r.Bitcoin.Declined) > 0 }

// spvSigned takes a signed transaction.
func spvSigned(in Decision, next *Record) {
	sub := in.Input.(Submit)
	b := dup(next.Bitcoin)
	b.TxID, b.Tx, b.PSBT, b.Posted, b.ByStranger, b.MinerSats = sub.PSBT.TxID, sub.PSBT.Tx, sub.PSBT.Posted, true, !sub.ByOwner, sub.PSBT.Fee
	next.Bitcoin, next.Problem = b, ""
}

// spvReplaceable reports whether a stranger's transaction waits to be handed to the LP.
func spvReplaceable(r *Record) bool {
	return r.State == SPVSigned && r.Bitcoin.ByStranger && r.Tried[string(PostPSBT)].Started == 0
}

// spentElsewhere reports whether a transaction other than ours spends one of the outputs.
func spentElsewhere(ours bitcoin.Hash, spends []bitcoin.Spend) bool {
	return slices.ContainsFunc(spends, func(s bitcoin.Spend) bool {
		return (s.State == bitcoin.SpentInMempool || s.State == bitcoin.SpentConfirmed) && s.TxID != ours
	})
}

// spvInputsAreThere reports whether Bitcoin was asked for the inputs of a transaction that
// it does not show, and says of none that something else spends it. Of a record that was
// read from elsewhere, without the transaction, they are not known.
func spvInputsAreThere(in Decision) bool {
	f := in.Obs.Payment
	if len(in.R.Bitcoin.Tx) == 0 {
		return true
	}
	return f.Known() && f.Value == nil && in.Obs.Spends.Known() && !spentElsewhere(in.R.Bitcoin.TxID, in.Obs.Spends.Value)
}

// clearSigned makes the quote wait for another transaction, and keeps the one that an LP
// may have.
func clearSigned(next *Record, handedOver bool) {
	b := dup(next.Bitcoin)
	if handedOver {
		b.Declined = append(slices.Clone(b.Declined), Declined{b.TxID, b.Tx})
	}
	b.TxID, b.Tx, b.PSBT, b.Posted, b.ByStranger = bitcoin.Hash{}, nil, nil, false, false
	next.Bitcoin = b
	delete(next.Tried, string(PostPSBT))
}

func withoutTx(all []Declined, id bitcoin.Hash) []Declined {
	return slices.DeleteFunc(slices.Clone(all), func(d Declined) bool { return d.TxID == id })
}

// spvLeavesOpen is the row by which a refusal leaves the quote open: also when one of the
// transaction's inputs is spent elsewhere, which may be why, and when the quote counted as
// expired by a clock that was ahead for a moment.
func spvLeavesOpen() Move {
	return Move{From: []int{SPVSigned, SPVSoftExpired}, To: SPVCreated, Why: "the provider refused the transaction, and takes another one", On: OnOutcome, If: func(in Decision) bool {
		o := in.Input.(Outcome)
		return o.Effect == PostPSBT && o.Again && in.R.Tried[string(PostPSBT)].Outcome == Refused && !in.R.Expiry.Passed(in.Now) && len(in.R.Bitcoin.Declined) < mostDeclined
	}, Do: func(in Decision, next *Record) {
		clearSigned(next, true)
		next.Problem = in.Input.(Outcome).Reason
	}}
}

func spvNotHandedOver() Move {
	return Move{From: []int{SPVSigned}, To: SPVCreated, Why: "an input of a stranger's transaction was spent elsewhere before the provider had it", If: func(in Decision) bool {
		f := in.Obs.Payment
		return spvReplaceable(in.R) && f.Known() && f.Value == nil && in.Obs.Spends.Known() && spentElsewhere(in.R.Bitcoin.TxID, in.Obs.Spends.Value)
	}, Do: func(_ Decision, next *Record) {
		clearSigned(next, false)
		next.Problem = "another transaction spends one of its inputs"
	}}
}

func spvStaysDeclined() Move {
	return Move{From: []int{SPVCreated}, To: SPVDeclined, Why: "the quote expired, and the provider has refused what was signed", If: func(in Decision) bool {
		return in.R.declined() && in.R.Expiry.Passed(in.Now)
	}, Do: func(_ Decision, next *Record) {
		all := next.Bitcoin.Declined
		take(next, all[len(all)-1], Refused)
	}}
}

func spvSentAfterAll() Move {
	sent := func(in Decision) int {
		if !in.Obs.Spends.Known() || in.R.Posted() && !(in.Obs.Payment.Known() && in.Obs.Payment.Value == nil) {
			return -1
		}
		return slices.IndexFunc(in.R.Bitcoin.Declined, func(d Declined) bool {
			return d.TxID != in.R.Bitcoin.TxID && slices.ContainsFunc(in.Obs.Spends.Value, func(s bitcoin.Spend) bool {
				return (s.State == bitcoin.SpentInMempool || s.State == bitcoin.SpentConfirmed) && s.TxID == d.TxID
			})
		})
	}
	return Move{From: []int{SPVCreated, SPVSoftExpired, SPVSigned, SPVPosted, SPVDeclined, SPVExpired, SPVFailed, SPVBroadcasted, SPVConfirmed},
		To: SPVBroadcasted, Why: "a transaction that the provider had refused was sent after all", If: func(in Decision) bool { return sent(in) >= 0 },
		Do: func(in Decision, next *Record) { take(next, next.Bitcoin.Declined[sent(in)], Done) }}
}

// take makes a transaction that an LP refused the one that is followed. The one that was
// followed until now may come back.
func take(next *Record, d Declined, said string) {
	b := dup(next.Bitcoin)
	b.Declined = withoutTx(b.Declined, d.TxID)
	if b.Posted {
		b.Declined = append(withoutTx(b.Declined, b.TxID), Declined{b.TxID, b.Tx})
	}
	b.TxID, b.Tx, b.PSBT, b.Posted, b.ByStranger, b.ConfirmedAt, b.SenderScript = d.TxID, d.Tx, nil, true, false, 0, nil
	next.Bitcoin = b
	if next.Tried == nil {
		next.Tried = map[string]Try{}
	}
	next.Tried[string(PostPSBT)] = Try{Started: next.CreatedAt, Attempts: 1, Outcome: said}
	if said == Done {
		next.Problem = ""
	}
}
