package swap

import (
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// InputKind tells inputs apart in tables.
type InputKind int

const (
	OnReveal   InputKind = iota + 1 // the caller reveals a preimage
	OnSubmit                        // the caller submits what the user signed
	onWithdraw                      // the caller asks to be paid from an LNURL-withdraw link
	onRefundTo                      // the caller gives a refund address
	OnOutcome                       // an effect ended
	onHint                          // something may have happened: check again, in a pass that starts after this
)

// Input is a command of a caller or the outcome of an effect. It is decided on
// like a fact: once a pass, and again when another writer was faster.
type Input interface{ Kind() InputKind }

// Reveal is a preimage, already compared with the payment hash.
type Reveal struct{ Preimage chains.Preimage }

// Submit holds what the user signed, already checked against the plan.
type Submit struct {
	Action  string
	Txs     []SignedTx
	PSBT    *SignedPSBT
	ByOwner bool // the swap's owner or the service itself hands it in; false: a stranger who knows the id
}

// SignedPSBT is a checked Bitcoin transaction of the user.
type SignedPSBT struct {
	TxID   bitcoin.Hash
	Tx     []byte // without the LP's witness
	Posted []byte // PSBT for the LP
	Fee    int64  // sats to miners
}

// UseWithdraw asks to be paid from an LNURL-withdraw link. Nil means the link that the swap
// was created with.
type UseWithdraw struct {
	Link    string
	With    *Withdraw
	ByOwner bool // the swap's owner or the service itself asks; false: a stranger who knows the id
}

// RefundTo is the Bitcoin address to which an LP must return a payment that it
// cannot use. It can be set only once.
type RefundTo struct{ Address string }

// Outcome is the result of an effect.
type Outcome struct {
	Effect  EffectKind
	Done    bool   // it was done
	Refused bool   // it was not done and never will be; Reason says why
	Reason  string // else it is not known whether it was done; callers are shown it
	Err     error  // what Reason says less of, for the log; nil if there was none
	Step    int    // send: which transaction
	Tx      string // send: its id
	Of      string // withdraw: the k1 of the link
	Again   bool   // post: refused, and the LP takes another transaction for the same quote
	By      string // the process that made the attempt
}

// Look is a hint: it requests a pass that begins now.
type Look struct{}

func (Look) Kind() InputKind        { return onHint }
func (Reveal) Kind() InputKind      { return OnReveal }
func (Submit) Kind() InputKind      { return OnSubmit }
func (UseWithdraw) Kind() InputKind { return onWithdraw }
func (RefundTo) Kind() InputKind    { return onRefundTo }
func (Outcome) Kind() InputKind     { return OnOutcome }

// noteOutcome keeps the history of effects, which is the same for all types.
func (in Decision) noteOutcome(next *Record) {
	o, ok := in.Input.(Outcome)
	if !ok {
		return
	}
	if s := next.Submission; o.Tx != "" && (s == nil || o.Step >= len(s.Txs) || s.Txs[o.Step].ID != o.Tx) {
		return // of a submission that another one has replaced
	}
	if o.Effect == CallWithdraw && o.Of != "" && (next.Lightning.Withdraw == nil || next.Lightning.Withdraw.Params.K1 != o.Of) {
		return // of a link that another one has replaced
	}
	key := Effect{Kind: o.Effect, Step: o.Step}.Key()
	if next.Tried == nil {
		next.Tried = map[string]Try{}
	}
	try := next.Tried[key]
	uncertain := try.Attempts > 0 && try.Outcome == "" // an earlier attempt ended without an answer
	if o.By == try.By {
		try.By, try.Busy = "", 0
	}
	if o.Effect == Publish && o.Refused && !uncertain && try.Outcome != Done && next.Lightning.Revealed == try.Started && !next.Submission.reveals() {
		next.Lightning.Revealed, try.Started = 0, 0 // nothing left: the preimage is as secret as before
	}
	try.Attempts++
	try.Reason = o.Reason
	switch {
	case o.Done:
		try.Outcome = Done
		try.NotBefore = At(in.Now.Add(repeatAfter(try.Attempts)))
	case o.Refused && !uncertain:
		try.Outcome = Refused
		try.NotBefore = At(in.Now.Add(Backoff(try.Attempts)))
	default: // a refusal after an unanswered attempt says nothing about that one
		try.NotBefore = At(in.Now.Add(Backoff(try.Attempts)))
	}
	next.Tried[key] = try
}

// askAgain allows one more attempt of an effect that is only repeated when the
// user wants it. Unless the last one was refused, the service may have done it
// already, and what it says to the next one tells nothing of that.
func askAgain(next *Record, kind EffectKind) {
	try := next.Tried[string(kind)]
	switch {
	case try.Started == 0:
	case try.Outcome == Refused:
		delete(next.Tried, string(kind))
	default:
		next.Tried[string(kind)] = Try{Attempts: max(try.Attempts, 1), By: try.By, Busy: try.Busy}
	}
}

// Backoff grows from 2 s to 10 min: the pause after a failure.
func Backoff(attempts int) time.Duration {
	return min(time.Second<<min(attempts, 20), 10*time.Minute)
}

// repeatAfter grows from 4 s to 5 min: the pause before something that is safe
// to repeat is done again.
func repeatAfter(attempts int) time.Duration {
	return min(2*time.Second<<min(attempts, 20), 5*time.Minute)
}
