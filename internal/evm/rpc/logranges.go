package rpc

// BlockRange is a range of blocks, both ends included.
type BlockRange struct{ From, To uint64 }

// LogRanges cuts the blocks from first to last into ranges that one eth_getLogs
// may ask for, in ascending order. They cover every block once, the last one
// included (protocol: chain-evm.md §13.14).
func LogRanges(first, last, size uint64) []BlockRange {
	var ranges []BlockRange
	if size == 0 {
		return nil
	}
	for from := first; from <= last; {
		to := last
		if last-from >= size {
			to = from + size - 1
		}
		ranges = append(ranges, BlockRange{from, to})
		if to == last {
			break
		}
		from = to + 1
	}
	return ranges
}
