package solana

import (
	"errors"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// How the program of v2 lays data accounts out is not published (protocol:
// chain-solana.md §22), and a claim by Bitcoin proof with an account of the wrong size
// fails whenever it is sent. So nodes are asked to try what creates such an account, which
// costs nothing and changes nothing: before an escrow is opened that only such a claim can
// end well, and before such a claim. Nothing of it is remembered: programs can be replaced.

// layout is how the program lays data accounts out, or why that is not known. The error
// has the code [fault.Unsupported] if it is in no way that is known.
type layout struct {
	of  wire.DataLayout
	err error
}

// layoutTrial is one question for the layout.
type layoutTrial struct {
	k        *contract
	payers   []wire.Key // who have SOL, as a rule
	account  wire.Key
	tried    []rpc.Simulation
	requests []rpc.Request
}

// tryLayout prepares the question if a step of the plan depends on the layout: a claim by
// Bitcoin proof, and the opening of an escrow that the signer is to claim so.
func (b *building) tryLayout() (*layoutTrial, error) {
	t := &layoutTrial{k: b.k}
	if len(b.k.DataLayouts()) == 1 {
		return t, nil
	}
	for i := range b.steps {
		if s := &b.steps[i]; s.dependsOnLayout(b.signer) {
			for _, payer := range []wire.Key{b.signer, s.d.Offerer, s.d.Claimer} {
				if !slices.Contains(t.payers, payer) {
					t.payers = append(t.payers, payer)
				}
			}
		}
	}
	if len(t.payers) == 0 {
		return t, nil
	}
	if _, err := b.k.chain.env.Rand.Read(t.account[:]); err != nil {
		return nil, err
	}
	t.tried = make([]rpc.Simulation, len(t.payers))
	for i, payer := range t.payers {
		raw, err := b.k.DataTrialTx(payer, t.account).Bytes()
		if err != nil {
			return nil, err
		}
		t.requests = append(t.requests, rpc.SimulateRequest(raw, false, true, rpc.Confirmed, &t.tried[i], t.account))
	}
	return t, nil
}

func (s *buildStep) dependsOnLayout(signer wire.Key) bool {
	return s.Kind == chains.StepClaimBitcoin || s.Kind == chains.StepInit && s.d.Kind != chains.HTLC && s.d.Claimer == signer
}

// read takes what the question was answered with.
func (t *layoutTrial) read() layout {
	if all := t.k.DataLayouts(); len(all) == 1 {
		return layout{of: all[0]}
	}
	unknown := errors.New("no node was asked")
	for i, r := range t.requests {
		got := t.tried[i]
		switch {
		case r.Err != nil:
			unknown = r.Err
		case got.Err != nil:
			e := wire.ParseTxError(got.Err)
			why := t.k.Explain(e, t.k.DataTrialTx(t.payers[i], t.account).Instructions)
			if e.Instruction > 0 { // the account could be created
				return layout{err: fault.New(fault.Unsupported, "the swap program on Solana refuses an account for the data of a claim: %s", why)}
			}
			unknown = errors.New(why)
		case len(got.After) == 0 || got.After[0] == nil:
			unknown = errors.New("the node does not show the account")
		default:
			if l, ok := t.k.TriedLayout(got.After[0].Data, t.payers[i]); ok {
				return layout{of: l}
			}
			return layout{err: fault.New(fault.Unsupported, "the swap program on Solana keeps the data of claims in a form that is not known")}
		}
	}
	return layout{err: fault.New(fault.Upstream, "the node has to try how the swap program on Solana keeps the data of claims: %w", unknown)}
}

// layoutOf is how a data account of the signer's is laid out; false if it is not the
// signer's, or not as the program lays them out now, which then neither writes to it nor
// closes it.
func (b *building) layoutOf(key wire.Key) (wire.DataLayout, bool) {
	a := b.accounts[key]
	if a == nil || a.Owner != b.k.Swap {
		return 0, false
	}
	l, ok := b.k.DataLayoutOf(a.Data, b.signer)
	return l, ok && (b.layout.err != nil || l == b.layout.of)
}

// seenLayout is the layout by the trial, or else by an account that the program has made
// the signer's before.
func (b *building) seenLayout(pr *proof) layout {
	if b.layout.err == nil || fault.CodeOf(b.layout.err) == fault.Unsupported {
		return b.layout
	}
	all := pr.own()
	for _, l := range pr.leftovers {
		all = append(all, l.Key)
	}
	for _, key := range all {
		if l, ok := b.layoutOf(key); ok {
			return layout{of: l}
		}
	}
	return b.layout
}
