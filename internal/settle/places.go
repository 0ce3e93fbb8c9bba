package settle

import (
	"cmp"
	"slices"
)

// Place is a block in which something happened to an escrow, which is one of a list.
type Place struct {
	Height uint64
	Escrow int
}

// Places are the blocks that are known of escrows.
type Places []Place

// Add takes what is known of an escrow.
func (p *Places) Add(escrow int, at Blocks) {
	for _, height := range []uint64{at.Opened, at.Ended} {
		if height != 0 {
			*p = append(*p, Place{height, escrow})
		}
	}
}

// Groups cuts the places, which it sorts, into those that one search can serve: of at
// most so many, in a range of less than so many blocks.
func (p Places) Groups(most int, blocks uint64) (groups []Places) {
	slices.SortFunc(p, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Height, b.Height), a.Escrow-b.Escrow)
	})
	for len(p) > 0 {
		n := 1
		for n < len(p) && n < most && p[n].Height-p[0].Height < blocks {
			n++
		}
		groups = append(groups, p[:n])
		p = p[n:]
	}
	return groups
}

// Of returns what the places are of, each once, out of the list that they point into.
func Of[H comparable](p Places, list []H) (all []H) {
	for _, at := range p {
		if h := list[at.Escrow]; !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	return all
}
