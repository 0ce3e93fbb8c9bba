package settle

import (
	"cmp"
	"iter"
	"slices"

	"github.com/swapper-go/swapper/chains"
)

// Histories yields what several deployments say of an account's past, window after window of
// blocks, the oldest of each first. An error ends it. Windows are made as they are asked for,
// because a node may name a height to which there are too many.
func Histories[W, D any](windows iter.Seq[W], deployments []D, past func(D, W) ([]chains.Past, error)) iter.Seq2[chains.Past, error] {
	return func(yield func(chains.Past, error) bool) {
		for w := range windows {
			var all []chains.Past
			for _, d := range deployments {
				some, err := past(d, w)
				if err != nil {
					yield(chains.Past{}, err)
					return
				}
				all = append(all, some...)
			}
			slices.SortStableFunc(all, func(a, b chains.Past) int { return cmp.Compare(began(a), began(b)) })
			for _, p := range all {
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}

// NoHistory yields why there is none.
func NoHistory(err error) iter.Seq2[chains.Past, error] {
	return func(yield func(chains.Past, error) bool) { yield(chains.Past{}, err) }
}

// began is the block in which a swap began, as far as it is known.
func began(p chains.Past) uint64 {
	if p.Withdrawal != nil {
		return p.Withdrawal.Fact.Height
	}
	return p.Fact.Opened.Height
}
