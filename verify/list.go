package verify

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bounds"
)

// How much a list can make the wallet's own nodes do, however long it is.
const (
	mostAsked  = 100 // escrows and payments that are asked about after the service's answer, the first of the list; and as many swaps meanwhile
	mostAtOnce = 8   // questions that are under way
)

// ListSwaps implements [swapper.Service]. A swap that this wallet agreed on is shown as by
// GetSwapStatus: what was agreed, and what the wallet's own nodes say of it, but that they are
// asked about the first 100 escrows and payments of a list alone, besides the last hundred that were agreed
// on, about which they are asked while the service is. Every other swap is the
// service's word, as is which swaps the list has.
func (v *verifier) ListSwaps(ctx context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	return v.list(ctx, in, false, v.service.ListSwaps)
}

// ListPendingSwaps implements [swapper.Service], as ListSwaps does.
func (v *verifier) ListPendingSwaps(ctx context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	return v.list(ctx, in, true, v.service.ListPendingSwaps)
}

// entry is a swap of a list that this wallet agreed on.
type entry struct {
	terms
	version uint64 // under which the terms are stored
	asked   bool   // own nodes were asked while the service was
	fact    *chains.EscrowFact
	seen    *withdrawal
	unseen  error
}

func (v *verifier) list(ctx context.Context, in swapper.ListSwapsInput, pending bool, ask func(context.Context, swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error)) ([]swapper.ListSwapOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	o, err := v.chains(ctx)
	if err != nil {
		return nil, err
	}
	var got []swapper.ListSwapOutput
	var early map[string]entry
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) { got, err = ask(gctx, in); return err })
	g.Go(func() error { early = v.askEarly(gctx, o, in, pending); return nil })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if in.Limit > 0 && len(got) > in.Limit {
		return nil, &RefusedError{Reason: reasonID, Field: "swaps", Said: fmt.Sprint(len(got)), True: fmt.Sprintf("at most %d, as asked for", in.Limit)}
	}
	all := make([]*entry, len(got))
	listed := map[string]bool{}
	for i, said := range got {
		at := fmt.Sprintf("[%d].", i)
		if said.SwapID == "" || len(entryID(said.SwapID)) > bounds.MaxID || listed[said.SwapID] {
			return nil, &RefusedError{Reason: reasonID, Field: at + "swapId", Said: said.SwapID, True: "the id of a swap that was not listed before"}
		}
		listed[said.SwapID] = true
		t, version, err := v.agreed(ctx, said.SwapID)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return nil, err
		}
		all[i] = &entry{terms: t, version: version}
		if err != nil {
			continue
		}
		if err := v.unchanged(o, at, said.SwapID, t, said.SwapOutputBase); err != nil {
			return nil, err
		}
		if e, ok := early[said.SwapID]; ok && e.version == version {
			all[i] = &e
		}
	}
	v.askAbout(ctx, o, all)
	out := make([]swapper.ListSwapOutput, len(got))
	var ended []string
	for i, said := range got {
		out[i] = v.listed(said, *all[i])
		if out[i].IsFinished && all[i].shows() {
			ended = append(ended, said.SwapID)
		}
	}
	v.noteEnded(ctx, ended)
	return out, nil
}

// askAbout asks the wallet's own nodes about the first of the swaps: about all escrows of a
// contract set at once. What they do not answer is in the entries.
func (v *verifier) askAbout(ctx context.Context, o *opened, all []*entry) {
	type set struct{ chain, version string }
	escrows := map[set][]*entry{}
	var g errgroup.Group
	g.SetLimit(mostAtOnce)
	left := mostAsked
	for _, e := range all {
		switch {
		case e.asked:
		case v.reachesFrom(e.Src) != nil && e.Vault != nil:
			e.unseen = v.reachesFrom(e.Src)
		case e.Vault != nil && len(e.Vault.Sent) > 0:
			if left -= len(e.Vault.Sent); left < 0 {
				e.unseen = errNotAsked
				continue
			}
			g.Go(func() error { e.seen, e.unseen = v.withdrawals(ctx, o, e.terms); return nil })
		case e.Escrow != nil:
			if left--; left < 0 {
				e.fact = &chains.EscrowFact{Err: errNotAsked}
				continue
			}
			of := set{e.smart().Chain, e.Escrow.Version}
			escrows[of] = append(escrows[of], e)
		}
	}
	for _, group := range escrows {
		g.Go(func() error {
			asked := make([]terms, len(group))
			for i, e := range group {
				asked[i] = e.terms
			}
			for i, fact := range v.facts(ctx, o, asked) {
				group[i].fact = &fact
			}
			return nil
		})
	}
	_ = g.Wait() // all keep their errors
}

var errNotAsked = errors.New("a list asks about the first escrows and payments only")

// listed is a swap as the wallet sees it in a list.
func (v *verifier) listed(said swapper.ListSwapOutput, e entry) swapper.ListSwapOutput {
	if e.Schema == 0 {
		said.State.Description = "Not a swap that this wallet has agreed on. All of it is told by the service, not verified: " + said.State.Description
		said.Steps, said.LNURL, said.Flags = nil, nil, nil
		return said
	}
	if e.trusts() {
		return trustedNow(e.terms, said)
	}
	if e.Type == swapper.SwapSPVVaultFromBTC {
		return v.throughVaultNow(said.SwapID, e.terms, asTold(said.State), e.seen, e.unseen)
	}
	return v.byEscrowNow(said.SwapID, e.terms, asTold(said.State), e.fact)
}
