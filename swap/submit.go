package swap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/swap/lp"
)

// Checker compares what a wallet signed with what it was asked to sign; [*Live]
// is one.
type Checker interface {
	// IDs returns the ids of what is handed in, without judging it.
	IDs(r *Record, signed []string) ([]string, error)
	// Check compares it with the action and returns what is to be stored. It
	// errs on the side of refusing: nothing of it has been sent yet.
	Check(ctx context.Context, r *Record, a Action, signed []string) (Submit, error)
}

// callerPatience is how long whoever hands something in is kept waiting.
const callerPatience = 15 * time.Second

// Submit takes what the user signed for the current action, stores it, and waits
// until the swap has moved on, the submission has failed, or callerPatience is
// over. It returns the ids of the transactions once the network has them.
//
// Handing in the same transactions again joins what is under way, in every
// state. If the time or ctx ends before the network has them, the error has the
// code fault.Timeout and says whether they are stored; then the submission goes on,
// and the status tells the rest. Errors: fault.InvalidInput for transactions that
// are not what was asked for, or cannot be executed as they are; fault.InvalidState
// when nothing is to be signed now, when another submission is under way, or with
// the reason why this one failed.
func (g *Engine) Submit(ctx context.Context, check Checker, id string, signed []string) ([]string, error) {
	if len(signed) == 0 {
		return nil, fault.Invalid("signedTxs", "must not be empty")
	}
	ctx, cancel := context.WithTimeout(ctx, callerPatience)
	defer cancel()
	ids, err := g.submit(ctx, check, id, signed)
	if err == nil || ctx.Err() == nil || g.base.Err() != nil {
		return ids, err
	}
	brief, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	r, loadErr := g.Load(brief, id)
	switch {
	case loadErr != nil:
		return nil, fault.New(fault.Timeout, "it is not known whether the transactions are stored, hand them in again: %w", err)
	case !r.underWay(ids) && !r.knows(ids):
		return nil, fault.New(fault.Timeout, "the transactions are not stored yet, hand them in again: %w", err)
	case r.taken():
		return ids, nil
	}
	return nil, fault.New(fault.Timeout, "the transactions are stored and are being sent, the swap's status tells the rest")
}

// submit also returns the ids, once they are known, beside an error.
func (g *Engine) submit(ctx context.Context, check Checker, id string, signed []string) ([]string, error) {
	res, err := g.Advance(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	ids, err := check.IDs(res.Record, signed)
	if err != nil {
		return nil, err
	}
	// What a reorganisation took out of the chain is expected again, though it is known.
	if r := res.Record; !r.underWay(ids) && (!r.knows(ids) || r.submitted(ids)) {
		in, err := g.expected(ctx, check, res, signed)
		switch {
		case err == nil:
			if res, err = g.accepted(ctx, id, in, ids); err != nil {
				return ids, err
			}
		case ctx.Err() != nil || !r.knows(ids):
			return ids, err
		}
	}
	if err := g.await(ctx, id, res.Record); err != nil {
		return ids, err
	}
	return ids, nil
}

// expected compares what was signed with the current action.
func (g *Engine) expected(ctx context.Context, check Checker, res *Result, signed []string) (Submit, error) {
	v := g.View(res)
	switch a := v.signable().(type) {
	case *Sign, *Fund:
		return check.Check(ctx, res.Record, a, signed)
	}
	if v.Blocked != nil {
		return Submit{}, v.Blocked
	}
	return Submit{}, fault.New(fault.InvalidState, "no transactions are expected now")
}

// accepted stores a submission. Another caller may have handed in the same at the
// same moment.
func (g *Engine) accepted(ctx context.Context, id string, in Submit, ids []string) (*Result, error) {
	res, err := g.Advance(ctx, id, in)
	if !errors.Is(err, errNotTaken) {
		return res, err
	}
	r, loadErr := g.Load(ctx, id)
	switch {
	case loadErr != nil || !r.Submission.open():
		return nil, err
	case !r.underWay(ids):
		return nil, errUnderWay
	}
	return &Result{Record: r, Observation: &Observation{}, At: g.now()}, nil
}

// errUnderWay refuses a submission beside a fresh one.
var errUnderWay = fault.New(fault.InvalidState, "another submission is under way: its fate is to be awaited for some minutes, unless the swap's owner signs")

// underWay reports whether the ids are those of an open submission.
func (r *Record) underWay(ids []string) bool { return r.Submission.open() && r.submitted(ids) }

// submitted reports whether the ids are those of the last submission.
func (r *Record) submitted(ids []string) bool {
	s := r.Submission
	if s == nil {
		return false
	}
	foreign := func(id string) bool {
		return !slices.ContainsFunc(s.Txs, func(tx SignedTx) bool { return tx.ID == id })
	}
	return len(s.Txs) > 0 && !slices.ContainsFunc(ids, foreign) || !isZero(s.PSBT) && slices.Equal(ids, []string{s.PSBT.String()})
}

// taken reports whether the network has all that was submitted.
func (r *Record) taken() bool {
	s := r.Submission
	if s == nil || len(s.Txs) == 0 {
		return s != nil && r.Tried[string(Broadcast)].Outcome == Done
	}
	for i, tx := range s.Txs {
		if !tx.Sent && r.Tried[Effect{Kind: SendTx, Step: i}.key()].Outcome != Done {
			return false
		}
	}
	return true
}

// knows reports whether the ids are those of a submission that had its effect, or
// one of them is a transaction of the user that the chain has shown (protocol:
// swap-flows-escrow.md §4.5).
func (r *Record) knows(ids []string) bool {
	if s := r.Submission; s != nil && !(s.Closed && s.Reason != "") && r.submitted(ids) {
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
	default:
		own = append(own, r.Escrow.ClaimTx)
	}
	if r.Vault != nil {
		own = append(own, r.Vault.ClaimTx)
	}
	if r.posted() {
		own = append(own, r.Bitcoin.TxID.String())
	}
	return own
}

// await returns when what was handed in has had its effect.
func (g *Engine) await(ctx context.Context, id string, from *Record) error {
	already := !from.Submission.open()
	settled := func(r *Record) (bool, error) {
		if r.State == spvDeclined && r.Type == SPVFromBTC {
			return true, fault.New(fault.Upstream, "the provider refused the transaction: %s", r.Problem)
		}
		if r.Type == SPVFromBTC && r.State == spvSigned {
			return false, nil
		}
		if s := r.Submission; s != nil && !isZero(s.PSBT) && s.Reason == "" && (s.Closed || r.Tried[string(Broadcast)].Outcome == Done) {
			return true, nil
		}
		if r.State != from.State {
			return true, nil
		}
		if s := from.Submission; s.open() && (r.Submission == nil || r.Submission.Since != s.Since) {
			return true, fault.New(fault.InvalidState, "another submission took the place of this one")
		}
		if s := r.Submission; s != nil && s.Closed && s.Reason != "" {
			return true, fault.New(fault.InvalidState, "the submission failed: %s", s.Reason)
		}
		return already && !r.Submission.open(), nil
	}
	var failure error
	done := false
	sub := g.feed.add()
	if sub == nil {
		return ErrClosed
	}
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	// What happened between the pass and the subscription is in the record.
	r, err := g.Load(ctx, id)
	if err != nil {
		g.feed.remove(sub)
		return err
	}
	if done, failure = settled(r); done {
		g.feed.remove(sub)
		return failure
	}
	poll := make(chan struct{})
	go func() { // without Run nobody else looks
		defer close(poll)
		g.poll(wait, id)
	}()
	g.deliver(wait, sub, func(c Change) bool {
		if c.Record.ID == id {
			done, failure = settled(c.Record)
		}
		return !done
	})
	cancel()
	<-poll
	switch {
	case done:
		return failure
	case g.base.Err() != nil:
		return ErrClosed
	}
	return context.Cause(ctx)
}

// IDs implements [Checker].
func (w *Live) IDs(r *Record, signed []string) ([]string, error) {
	k, _, err := w.contract(r.Chain, r.Contract)
	if err != nil {
		return nil, err
	}
	if r.Vault == nil && r.Gas == nil {
		return k.IDs(signed)
	}
	// A vault swap takes a PSBT first, and the chain's transactions later; gas a PSBT alone.
	ids := make([]string, len(signed))
	for i, text := range signed {
		if u, err := bitcoin.ParsePSBT(text); err == nil {
			id, _ := u.TxID(nil)
			ids[i] = id.String()
			continue
		}
		id, err := k.IDs([]string{text})
		if err != nil {
			return nil, fault.Invalid(fmt.Sprintf("signedTxs[%d]", i), "is neither a PSBT nor a transaction of %s", r.Chain)
		}
		ids[i] = id[0]
	}
	return ids, nil
}

// Check implements [Checker].
func (w *Live) Check(ctx context.Context, r *Record, a Action, signed []string) (Submit, error) {
	switch a := a.(type) {
	case *Sign:
		k, _, err := w.contract(r.Chain, r.Contract)
		if err != nil {
			return Submit{}, err
		}
		plan := a.Plan
		if a.AnySigner {
			plan.Signer = ""
		}
		if err := w.prove(ctx, &plan); err != nil {
			return Submit{}, err
		}
		txs, err := k.Check(plan, signed)
		if err != nil {
			return Submit{}, err
		}
		// A chain that cannot be asked hinders nobody: what cannot be executed comes back.
		if err := k.Admit(ctx, plan, txs); fault.CodeOf(err) == fault.InvalidInput || fault.CodeOf(err) == fault.InvalidState {
			return Submit{}, err
		}
		in := Submit{Action: a.For}
		for _, tx := range txs {
			in.Txs = append(in.Txs, SignedTx{Signed: tx})
		}
		return in, nil
	case *Fund:
		if len(signed) != 1 {
			return Submit{}, fault.Invalid("signedTxs", "must be one PSBT")
		}
		return w.checkPSBT(ctx, r, a, signed[0])
	}
	return Submit{}, fault.New(fault.InvalidState, "no transactions are expected now")
}

// checkPSBT compares a PSBT with the agreed template, its inputs with what the
// backend says of them, and looks at the vault once more: after this the
// transaction is out of our hands.
func (w *Live) checkPSBT(ctx context.Context, r *Record, a *Fund, text string) (Submit, error) {
	u, err := bitcoin.ParsePSBT(text)
	if err != nil {
		return Submit{}, fault.Invalid("signedTxs[0]", "%w", err)
	}
	t, err := w.template(r, a)
	if err != nil {
		return Submit{}, err
	}
	agreed := bitcoin.Agreement{Template: t, AnySalt: a.Vault, Prevouts: map[bitcoin.OutPoint]*wire.TxOut{}, Unconfirmed: map[bitcoin.Hash]bitcoin.CPFP{}}
	rates, err := w.bitcoin.FeeRates(ctx)
	if err != nil {
		return Submit{}, err
	}
	if a.Vault {
		agreed.MinFeeRate = r.Vault.MinFeeRate
	}
	agreed.MaxFeeRate = highestRate(a, agreed.MinFeeRate, rates)
	if err := w.parents(ctx, u.Inputs(), &agreed); err != nil {
		return Submit{}, err
	}
	tx, err := u.Check(agreed)
	if err != nil {
		return Submit{}, err
	}
	if a.Vault {
		if err := w.recheckVault(ctx, r, tx.Tx); err != nil {
			return Submit{}, err
		}
	}
	raw, err := bitcoin.EncodeTx(tx.Tx)
	if err != nil {
		return Submit{}, err
	}
	return Submit{Action: ActionFund, PSBT: &SignedPSBT{TxID: tx.ID, Tx: raw, Posted: tx.PSBT}}, nil
}

// parents learns what the inputs spend and, of unconfirmed parents, what they
// weigh and pay.
func (w *Live) parents(ctx context.Context, ops []bitcoin.OutPoint, agreed *bitcoin.Agreement) error {
	var ids []bitcoin.Hash
	for _, op := range ops {
		if !slices.Contains(ids, op.Hash) {
			ids = append(ids, op.Hash)
		}
	}
	var unconfirmed []bitcoin.Hash
	parents := map[bitcoin.Hash]*bitcoin.Tx{}
	for i, res := range w.bitcoin.Txs(ctx, ids) {
		if res.Err != nil {
			return fault.New(fault.Upstream, "the transaction %s that an input spends cannot be looked up: %w", ids[i], res.Err)
		}
		parents[ids[i]] = res.Value
		if !res.Value.Confirmed() {
			unconfirmed = append(unconfirmed, ids[i])
		}
	}
	for _, op := range ops {
		if out, ok := parents[op.Hash].Output(op.Index); ok {
			agreed.Prevouts[op] = out
		}
	}
	for i, res := range w.bitcoin.CPFPs(ctx, unconfirmed) {
		if res.Err != nil {
			return res.Err
		}
		if res.Value != nil {
			agreed.Unconfirmed[unconfirmed[i]] = *res.Value
		}
	}
	return nil
}

// recheckVault makes sure that the vault can still pay this very transaction
// (protocol: swap-flows-spv-and-core.md A7 steps 10 to 12): its output is
// unspent, the withdrawals before ours lead to it, the balances cover ours with
// all fees, and the contract can read it.
func (w *Live) recheckVault(ctx context.Context, r *Record, tx *wire.MsgTx) error {
	k, _, err := w.contract(r.Chain, r.Contract)
	if err != nil {
		return err
	}
	c, ok := k.(chains.VaultContract)
	if !ok {
		return noVaults(r.Chain)
	}
	ours, err := c.ParseWithdrawal(tx)
	if err != nil {
		return fault.Invalid("signedTxs[0]", "%w", err)
	}
	facts, err := w.VaultFacts(ctx, c, func(ctx context.Context) (*chains.Vault, error) {
		f, err := w.Vault(ctx, r.Chain, r.Contract, chains.VaultID{Owner: r.Vault.Owner, ID: r.Vault.VaultID})
		return &f.Vault, err
	}, ours.Vault, tx)
	if err != nil {
		return err
	}
	return lp.VaultPays(facts, bitcoin.PendingWithdrawal{Withdrawal: ours.Withdrawal, Amounts: ours.Amounts})
}

// poll looks at a swap until ctx ends: every second at first, because somebody
// waits, then ever slower, at last as often as its state asks for.
func (g *Engine) poll(ctx context.Context, id string) {
	for wait := snapshotLife; ; wait += wait / 8 {
		res, err := g.Advance(ctx, id, nil)
		every := 5 * time.Second
		if err == nil {
			if f := g.flows[res.Record.Type]; f != nil {
				if row, ok := f.State(res.Record.State); ok && row.Every > 0 {
					every = min(every, row.Every)
				}
			}
		}
		wait = min(wait, every)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}
