package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/swap"
)

// world is everything outside the process, and what is left of its surprises. It is
// comparable.
type world struct {
	left   int8 // surprises
	now    int8 // moment
	headAt int8 // moment of the newest block
	off    int8 // hours by which the times of blocks are off
	rival  bool // another swap holds the payment

	asleep    bool // the process does not run
	restarted bool // it has another name than at first

	// The smart chain.
	height         int16
	opened, closed int16 // heights of the escrow's blocks, 0: not so
	end            chains.EscrowState
	txs            [slots]tx

	// liar is 1 and the state that the first of two nodes, which is the provider's, says
	// that the escrow or the withdrawal is in; 0: the chain has one node, and it is honest.
	liar int8
	mem  *recalled // nil: nothing that is not true

	mood   mood
	paid   bool // out: the provider has paid; in: it holds the payment
	auth   bool // the provider has authorised a refund
	public bool // others than the user know the preimage
	away   bool // the payment was returned
	asked  int8 // how often the user asked for the LNURL service
	handed int8 // how often it was handed the invoice
	own    bool // the user brought the payment hash
	ends   int8 // which of the expiries the provider's escrow has

	btc btcWorld
	gas gasWorld
}

// process is the name of the process that runs now.
func (w *world) process() string {
	if w.restarted {
		return "second"
	}
	return "first"
}

// tx is a transaction on the smart chain that the user or a stranger signed.
type tx struct {
	step   chains.StepKind
	by     signer
	state  txState
	at     int16 // height of its block
	excl   uint8 // slots of those with which it excludes each other
	reveal bool
	sent   bool // a node had it
}

type signer int8

const (
	owner signer = iota
	stranger
)

func (s signer) String() string { return [...]string{"me", "stranger"}[s] }

type txState int8

const (
	absent   txState = iota
	signed           // in our store alone
	waiting          // nodes have it
	dropped          // nodes had it, and have forgotten it
	mined            //
	reverted         // mined without effect
	replaced         // another one was mined in its place
)

const slots = 4

// mood is what the provider says when it is asked.
type mood int8

const (
	working mood = iota
	saysPaid
	saysRefund
	silent
	liesPaid
	liesRefund
	saysNothing // of the swap: not found
	babbles
	liesEscrow // another escrow than was agreed
	liesLate   // an escrow that lasts too short
	saysOver
)

// reformed is a liar that says what is true, while what it said is still remembered.
const reformed = -1

// zero is when quotes are made.
var zero = time.Unix(1_800_000_000, 0)

const hour = time.Hour

// finalAfter is how many blocks end all doubt: reorganisations are never deeper.
const finalAfter = 3

func (s *sim) moment(i int8) time.Time {
	if int(i) < len(s.moments) {
		return zero.Add(s.moments[i])
	}
	last := s.moments[len(s.moments)-1]
	return zero.Add(last + time.Duration(int(i)-len(s.moments)+1)*20*24*hour)
}

func (s *sim) clock(skew int8) time.Time { return s.moment(s.w.now).Add(time.Duration(skew) * hour) }

// head is the newest block that a node knows, and the height up to which it knows what
// happened.
func (s *sim) head(lag bool) (chains.Block, int16) {
	h, at := s.w.height, s.w.headAt
	if lag {
		h -= finalAfter
		if at > 0 {
			at--
		}
	}
	return chains.Block{Height: uint64(h), Time: s.moment(at).Add(time.Duration(s.w.off) * hour).Unix()}, h
}

// chainTime is the time by which contracts judge: that of the block in the making.
func (s *sim) chainTime() int64 {
	return s.moment(s.w.now).Add(time.Duration(s.w.off) * hour).Unix()
}

// canonical is the world without what cannot matter: heights count from the newest
// block, and what is final has one height.
func (w world) canonical(r *swap.Record) world {
	h := func(at int16) int16 {
		switch {
		case at == 0:
			return 0
		case at+finalAfter <= w.height:
			return 1
		}
		return 100 + at - w.height
	}
	w.opened, w.closed = h(w.opened), h(w.closed)
	for i := range w.txs {
		t := &w.txs[i]
		if t.at = h(t.at); !submitted(r, i) && (t.state == replaced || t.state == reverted && t.at == 1 || t.state == mined && t.at == 1) {
			*t = tx{}
			for j := range w.txs {
				w.txs[j].excl &^= 1 << i
			}
		}
	}
	w.gas.paidOut = h(w.gas.paidOut)
	if w.gas.back != 0 {
		w.gas.back = max(w.gas.back-w.btc.height, -6) + 100
	}
	w.btc = w.btc.canonical(h)
	w.height = 0
	return w
}

// variant names a first world.
func (w world) variant() string {
	var more []string
	if w.own {
		more = append(more, "the payment hash is the user's own")
	}
	if w.off != 0 {
		more = append(more, fmt.Sprintf("the times of blocks are %+d h off", w.off))
	}
	if w.rival {
		more = append(more, "another swap holds the same payment")
	}
	if w.ends != 0 {
		more = append(more, fmt.Sprintf("the provider's escrow has expiry %d", w.ends))
	}
	if len(more) == 0 {
		return "a quote is made"
	}
	return "a quote is made; " + strings.Join(more, ", ")
}

// escrowAt is what the chain shows of the escrow at a height.
func (w *world) escrowAt(h int16) (state chains.EscrowState, since int16) {
	switch {
	case w.closed != 0 && w.closed <= h:
		return w.end, w.closed
	case w.opened != 0 && w.opened <= h:
		return chains.EscrowOpen, w.opened
	}
	return chains.EscrowNone, 0
}

func (w *world) escrow() chains.EscrowState {
	s, _ := w.escrowAt(w.height)
	return s
}

// block finds a block.
func (s *sim) block() {
	s.w.height++
	s.w.headAt = s.w.now
}

// mine puts a waiting transaction into a new block.
func (s *sim) mine(i int) bool {
	t := &s.w.txs[i]
	if t.state != waiting && t.state != dropped {
		return false
	}
	s.block()
	t.at = s.w.height
	if s.execute(t.step) {
		t.state = mined
	} else {
		t.state = reverted
	}
	for j := range s.w.txs {
		if o := &s.w.txs[j]; t.excl&(1<<j) != 0 && (o.state == waiting || o.state == dropped || o.state == signed) {
			o.state = replaced
		}
	}
	if t.reveal {
		s.w.public = true
	}
	return true
}

// execute is the contract.
func (s *sim) execute(step chains.StepKind) bool {
	now, w := s.chainTime(), &s.w
	open := w.escrow() == chains.EscrowOpen
	switch step {
	case chains.StepInit:
		if w.opened != 0 || now > s.authUntil() {
			return false
		}
		w.opened = w.height
	case chains.StepClaimSecret, chains.StepClaimBitcoin:
		if !open || step == chains.StepClaimBitcoin && s.provable() < 0 {
			return false
		}
		w.closed, w.end = w.height, chains.EscrowClaimed
	case chains.StepRefund:
		if !open || now <= s.expiry().Unix() {
			return false
		}
		w.closed, w.end = w.height, chains.EscrowRefunded
	case chains.StepRefundAuth:
		if !open || !w.auth || now > s.expiry().Unix() {
			return false
		}
		w.closed, w.end = w.height, chains.EscrowRefunded
	case chains.StepVaultClaim:
		return s.vaultClaim()
	}
	return true
}

// reorganise takes back the last d blocks; one empty block is in their place. What was
// in them waits again, or is lost.
func (s *sim) reorganise(d int16, lost bool) bool {
	w, from := &s.w, s.w.height-d
	hit := false
	back := func(at *int16) bool {
		if *at <= from {
			return false
		}
		*at, hit = 0, true
		return true
	}
	if back(&w.closed) {
		w.end = chains.EscrowNone
	}
	back(&w.opened)
	s.vaultBack(back)
	for i := range w.txs {
		t := &w.txs[i]
		if (t.state == mined || t.state == reverted) && back(&t.at) {
			t.state = waiting
			if lost {
				t.state = dropped
			}
			for j := range w.txs {
				if o := &w.txs[j]; t.excl&(1<<j) != 0 && o.state == replaced {
					if o.state = signed; o.sent {
						o.state = dropped
					}
				}
			}
		}
	}
	if !hit {
		return false
	}
	w.height = from + 1
	return true
}

// tick goes to the next moment. Blocks are found meanwhile, unless the chain stands
// still.
func (s *sim) tick(stall bool) bool {
	if int(s.w.now) >= len(s.moments)+4 {
		return false
	}
	s.w.now++
	if !stall {
		s.w.height += finalAfter + 1
		s.w.headAt = s.w.now
	}
	s.btcTick()
	s.fade()
	return true
}

// mineAll finds a block for something that waits.
func (s *sim) mineAll() bool {
	for i := range s.w.txs {
		if s.w.txs[i].state == waiting && s.mine(i) {
			return true
		}
	}
	return s.btcMine()
}

func txID(i int) string { return fmt.Sprintf("tx%d", i) }

// submitted reports whether a transaction is of the open submission.
func submitted(r *swap.Record, i int) bool {
	return r.Submission.Open() && slices.ContainsFunc(r.Submission.Txs, func(t swap.SignedTx) bool { return t.ID == txID(i) })
}

// slot returns a place for another transaction beside those of a plan, -1 if there is none.
func (s *sim) slot(r *swap.Record, plan []swap.SignedTx) int {
	kept := func(i int) bool {
		return submitted(r, i) || slices.ContainsFunc(plan, func(t swap.SignedTx) bool { return t.ID == txID(i) })
	}
	for i, t := range s.w.txs {
		if t.state == absent || !kept(i) && (t.state == replaced || t.state == reverted || t.state == mined && t.at+finalAfter <= s.w.height) {
			return i
		}
	}
	for i, t := range s.w.txs {
		if t.state == dropped && !kept(i) { // it stays forgotten
			return i
		}
	}
	for i, t := range s.w.txs {
		if t.state == signed && !kept(i) { // nobody sends it
			return i
		}
	}
	return -1
}

// user does what the swap's action asks for: somebody signs, and hands it in.
func (s *sim) user(as signer, o opts) bool {
	res, _, err := s.turn(nil, o)
	if errors.Is(err, errDied) { // before it could show anything
		return true
	}
	if err != nil {
		s.broken("a pass failed: %v", err)
		return true
	}
	switch a := engine.ViewOf(s.flow, res).Signable().(type) {
	case *swap.Sign:
		return s.sign(as, a, res, o)
	case *swap.Fund:
		if as == stranger {
			return false
		}
		if s.pay != nil {
			s.pay(s, res)
		}
		return s.fund(res.Record, o)
	}
	if v := engine.ViewOf(s.flow, res); as == owner && v.Reveal != nil && *v.Reveal {
		if _, _, err := s.turn(swap.Reveal{Preimage: secret}, o); err != nil && !errors.Is(err, errDied) {
			s.broken("the preimage is asked for, and refused: %v", err)
		}
		return true
	}
	return false
}

func (s *sim) sign(as signer, a *swap.Sign, res *engine.Result, o opts) bool {
	r := res.Record
	plan := a.PlanFor(swap.Caller{Signer: as.String()})
	if plan.Signer != as.String() {
		return false
	}
	var excl uint8
	for i := range s.w.txs {
		for _, old := range plan.Replaces {
			if old.ID == txID(i) && s.w.txs[i].by == as {
				excl |= 1<<i | s.w.txs[i].excl
			}
		}
	}
	sub := swap.Submit{Action: a.For}
	if as == stranger && a.For == "claim" && s.flow.Type == swap.FromBTCLNAuto { // who reads it can claim, or give it to the provider
		s.o = o
		s.revealed(res, r.Public())
	}
	for n, step := range plan.Steps {
		i := s.slot(r, sub.Txs)
		if i < 0 {
			return false
		}
		t := tx{step: step.Kind, by: as, state: signed, reveal: step.Kind == chains.StepClaimSecret}
		if n == 0 { // the others are executed after it alone
			t.excl = excl
			for j := range s.w.txs {
				if excl&(1<<j) != 0 {
					s.w.txs[j].excl |= 1 << i
				}
			}
		}
		// A second transaction that opens the escrow fails, and costs a fee: none may be
		// signed that does not exclude the first, as long as that one is known to wait.
		for j, old := range s.w.txs {
			if as == owner && n == 0 && old.by == owner && old.step == t.step && old.state == waiting && submitted(r, j) && excl&(1<<j) == 0 && t.step == chains.StepInit {
				s.broken("a second transaction is signed that opens the swap, while the first can still be mined")
			}
		}
		for j := range s.w.txs {
			s.w.txs[j].excl &^= 1 << i
			if t.excl&(1<<j) != 0 {
				s.w.txs[j].excl |= 1 << i
			}
		}
		s.w.txs[i] = t
		sub.Txs = append(sub.Txs, swap.SignedTx{Signed: chains.Signed{ID: txID(i), From: as.String(), Nonce: uint64(i), Step: n, Reveals: t.reveal}})
	}
	ids := make([]string, len(sub.Txs))
	for n, tx := range sub.Txs {
		ids[n] = tx.ID
	}
	_, _, err := s.turn(sub, o)
	switch {
	case err == nil && !s.rec.Submitted(ids):
		s.broken("what was signed is taken, and not kept")
	case err == nil && s.rec.Submission.Closed:
		s.broken("what was signed is taken, and not sent")
	case err == nil:
	case errors.Is(err, errDied):
	case s.w.rival: // refused for the other swap's sake
		return false
	case s.w.liar > 0 && s.flow.Type == swap.SPVFromBTC && a.For == "claim" && contradicted(err): // by a node that was not heard when it was offered
		return false
	default:
		s.broken("what was offered for signing is refused: %v", err)
	}
	return true
}

func contradicted(err error) bool {
	_, ok := errors.AsType[*chains.ContradictionError](err)
	return ok
}

// perform carries out an effect: done, or refused for good.
func (s *sim) perform(r *swap.Record, res *engine.Result, e swap.Effect) (done, no bool) {
	switch e.Kind {
	case swap.SendTx:
		id := r.Submission.Txs[e.Step].ID
		for i := range s.w.txs {
			t := &s.w.txs[i]
			if txID(i) != id {
				continue
			}
			if t.reveal {
				s.revealed(res, res.Record.Public())
			}
			if t.step == chains.StepInit && s.flow.Type == swap.FromBTCLN {
				s.staked(res)
			}
			switch t.state {
			case signed, dropped:
				t.state, t.sent = waiting, true
			case replaced:
				return false, true
			}
			return true, false
		}
		s.broken("a transaction is sent that was not signed")
	case swap.Publish:
		s.revealed(res, res.Record.Public())
		return true, false
	case swap.CallWithdraw:
		return s.performWithdraw()
	default:
		return s.performMore(r, e)
	}
	return false, false
}

// answer is the reader of a world: what it does not answer panics.
type answer struct {
	engine.Reader
	s *sim
	o opts
}

func (a answer) missing(f fact) bool {
	if a.s.rest != nil {
		a.s.rest.asked.Or(uint32(f))
	}
	return a.o.miss&f != 0
}
