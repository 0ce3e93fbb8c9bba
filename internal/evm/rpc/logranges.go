package rpc

import "iter"

// BlockRange is a range of blocks, both ends included.
type BlockRange struct{ From, To uint64 }

// LogRanges are the ranges that one eth_getLogs each may ask for, which together have every
// block from first to last once (protocol: chain-evm.md §13.14). They are made as they are asked
// for: the height of a chain is what a node says, and a lie may name more than memory holds.
type LogRanges struct{ first, last, size uint64 }

// NewLogRanges cuts blocks into ranges of so many, none if last is before first or size is 0.
func NewLogRanges(first, last, size uint64) LogRanges { return LogRanges{first, last, size} }

func (r LogRanges) empty() bool { return r.last < r.first || r.size == 0 }

// at is the range that begins so many ranges after the first.
func (r LogRanges) at(i uint64) BlockRange {
	from := r.first + i*r.size
	if r.last-from < r.size {
		return BlockRange{from, r.last}
	}
	return BlockRange{from, from + r.size - 1}
}

// Up yields the ranges in ascending order, so many at a time.
func (r LogRanges) Up(atOnce uint64) iter.Seq[[]BlockRange] {
	return func(yield func([]BlockRange) bool) {
		if r.empty() {
			return
		}
		for i, top := uint64(0), (r.last-r.first)/r.size; ; i += atOnce {
			if !yield(r.some(i, min(top-i, atOnce-1))) || top-i < atOnce {
				return
			}
		}
	}
}

// Down yields the same in groups from the last one down; a group is in ascending order.
func (r LogRanges) Down(atOnce uint64) iter.Seq[[]BlockRange] {
	return func(yield func([]BlockRange) bool) {
		if r.empty() {
			return
		}
		for top := (r.last - r.first) / r.size; ; top -= atOnce {
			more := min(top, atOnce-1)
			if !yield(r.some(top-more, more)) || top < atOnce {
				return
			}
		}
	}
}

// some returns a range and so many more.
func (r LogRanges) some(i, more uint64) []BlockRange {
	all := make([]BlockRange, 0, more+1)
	for n := range more + 1 {
		all = append(all, r.at(i+n))
	}
	return all
}
