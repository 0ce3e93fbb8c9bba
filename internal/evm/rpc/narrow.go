package rpc

import (
	"context"

	"github.com/ethereum/go-ethereum/core/types"
)

// narrow asks again, in halves, for the ranges of logs that a node found too
// wide, down to a single block (protocol: chain-evm.md §1.4).
func (n *Nodes) narrow(ctx context.Context, requests []Request) error {
	var halves []Request
	var of []int
	for i, r := range requests {
		if r.Method != "eth_getLogs" || r.Err == nil || len(r.Params) != 1 || !tooWide(r.Err) {
			continue
		}
		f, ok := r.Params[0].(LogFilter)
		if !ok || f.ToBlock <= f.FromBlock {
			continue
		}
		low, high := f, f
		low.ToBlock = f.FromBlock + (f.ToBlock-f.FromBlock)/2
		high.FromBlock = low.ToBlock + 1
		for _, half := range []LogFilter{low, high} {
			halves = append(halves, Request{Method: r.Method, Params: []any{half}, Result: new([]types.Log)})
		}
		of = append(of, i)
	}
	if len(halves) == 0 {
		return nil
	}
	if err := n.Batch(ctx, halves); err != nil {
		return err
	}
	for at, i := range of {
		r := &requests[i]
		low, high := halves[2*at], halves[2*at+1]
		if r.Err = low.Err; r.Err == nil {
			r.Err = high.Err
		}
		into, ok := r.Result.(*[]types.Log)
		if r.Err == nil && ok {
			*into = append(*low.Result.(*[]types.Log), *high.Result.(*[]types.Log)...)
		}
	}
	return nil
}
