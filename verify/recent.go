package verify

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/storage"
)

// recentNote is the note with the swaps whose escrow or payment was agreed on last, the newest
// at the end. A list asks the wallet's own nodes about them while the service is asked, so
// that nothing is left to ask when its answer comes. Nothing else depends on it: without it,
// or with a wrong one, a list only asks later.
const recentNote = "verify/recent"

type recent struct {
	ID    string
	Ended bool // all own nodes have shown its end, which is final
}

// shows reports whether own nodes can say something of a swap.
func (t terms) shows() bool {
	return t.Escrow != nil || t.Vault != nil && len(t.Vault.Sent) > 0
}

// recently reads the note. One that cannot be read counts as empty, and is written anew.
func (v *verifier) recently(ctx context.Context) (all []recent, version uint64, err error) {
	text, version, err := v.config.Store.Note(ctx, recentNote)
	if err != nil || version == 0 {
		return nil, version, err
	}
	if json.Unmarshal(text, &all) != nil {
		return nil, version, nil
	}
	return all, version, nil
}

// changeRecent changes the note, unless change says that nothing is to be changed.
func (v *verifier) changeRecent(ctx context.Context, change func([]recent) ([]recent, bool)) error {
	for {
		all, version, err := v.recently(ctx)
		if err != nil {
			return err
		}
		all, changed := change(all)
		if !changed {
			return nil
		}
		text, err := json.Marshal(all)
		if err != nil {
			return err
		}
		if err := v.config.Store.SetNote(ctx, recentNote, text, version); !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
}

// noteRecent adds a swap to the note, once own nodes can say something of it. A failure costs
// lists time, and the swap nothing.
func (v *verifier) noteRecent(ctx context.Context, id string, t terms) {
	if !t.shows() {
		return
	}
	_ = v.changeRecent(ctx, func(all []recent) ([]recent, bool) {
		if slices.ContainsFunc(all, func(r recent) bool { return r.ID == id }) {
			return all, false
		}
		all = append(all, recent{ID: id})
		return all[max(0, len(all)-mostAsked):], true
	})
}

// noteEnded notes that swaps have ended, which lists of pending swaps need not ask about. A
// failure costs them time.
func (v *verifier) noteEnded(ctx context.Context, ids []string) {
	if len(ids) == 0 {
		return
	}
	_ = v.changeRecent(ctx, func(all []recent) (_ []recent, changed bool) {
		for i, r := range all {
			if !r.Ended && slices.Contains(ids, r.ID) {
				all[i].Ended, changed = true, true
			}
		}
		return all, changed
	})
}

// askEarly asks the wallet's own nodes about the swaps that a list is likely to have, before
// it is known which it has. What cannot be read is left to the list, if it has it.
func (v *verifier) askEarly(ctx context.Context, o *opened, in swapper.ListSwapsInput, pending bool) map[string]entry {
	all, _, err := v.recently(ctx)
	if err != nil {
		return nil
	}
	var ids []string
	var likely []*entry
	after := in.After
	for _, r := range slices.Backward(all) {
		if after != "" { // the page before
			if r.ID == after {
				after = ""
			}
			continue
		}
		if r.Ended && pending {
			continue
		}
		if in.Limit > 0 && len(ids) == in.Limit {
			break
		}
		if t, version, err := v.agreed(ctx, r.ID); err == nil && t.ofSigner(o, in) {
			ids, likely = append(ids, r.ID), append(likely, &entry{terms: t, version: version})
		}
	}
	v.askAbout(ctx, o, likely)
	early := map[string]entry{}
	for i, e := range likely {
		if errors.Is(e.unseen, errNotAsked) || e.fact != nil && errors.Is(e.fact.Err, errNotAsked) {
			continue
		}
		e.asked = true
		early[ids[i]] = *e
	}
	return early
}

// ofSigner reports whether a list is to have the swap.
func (t terms) ofSigner(o *opened, in swapper.ListSwapsInput) bool {
	chain := o.byID[t.smart().Chain]
	if chain == nil || in.ChainID != "" && in.ChainID != t.smart().Chain {
		return false
	}
	signer, err := chain.Address(in.Signer)
	return err == nil && (signer == t.Payer || signer == t.Recipient)
}
