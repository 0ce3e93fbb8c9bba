package mempoolspace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/internal/btc/single"
	devnet "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// BenchmarkCalls measures each call against a loopback server, and how many
// requests it makes.
func BenchmarkCalls(b *testing.B) {
	n := newTown(b)
	backend := client(b, mempoolspace.Options{URLs: []string{n.URL()}, TipAge: 2 * time.Second})
	if _, err := backend.TipHeight(b.Context()); err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"TipHeight", "Txs", "Outspends", "AddressUTXOs", "AddressTxs", "MerkleProof", "HeadersFrom"} {
		b.Run(name, func(b *testing.B) {
			call := n.calls(b.Context(), backend)[name]
			n.Server().Requests()
			for b.Loop() {
				trial.Do(b, call())
			}
		})
	}
}

// BenchmarkTrips measures in round trips: the server answers after 20 ms.
func BenchmarkTrips(b *testing.B) {
	const trip = 20 * time.Millisecond
	n := newTown(b)
	var ids []bitcoin.Hash
	var ops []bitcoin.OutPoint
	for range 24 {
		op := trial.Must(n.Faucet(n.wallet.Address, 10_000))(b)
		ids, ops = append(ids, op.Hash), append(ops, op)
	}
	n.Server().Misbehave(devnet.Fault{Delay: trip})
	backend := client(b, mempoolspace.Options{URLs: []string{n.URL()}})
	if _, err := backend.TipHeight(b.Context()); err != nil {
		b.Fatal(err)
	}
	several := map[string]func() error{
		"24 transactions": func() error { return backend.Txs(b.Context(), ids)[23].Err },
		"24 outspends":    func() error { return backend.Outspends(b.Context(), ops)[23].Err },
		"90 headers":      func() error { _, err := backend.HeadersFrom(b.Context(), 5, 90); return err },
	}
	calls := n.calls(b.Context(), backend)
	for name, call := range several {
		calls[name] = call
	}
	for _, name := range []string{"Txs", "MerkleProof", "AddressUTXOs", "24 transactions", "24 outspends", "90 headers"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				trial.Do(b, calls[name]())
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(trip), "trips/op")
		})
	}
}

// BenchmarkShared measures what one of many identical concurrent callers pays.
func BenchmarkShared(b *testing.B) {
	n := newTown(b)
	backend := client(b, mempoolspace.Options{URLs: []string{n.URL()}})
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d callers", callers), func(b *testing.B) {
			b.SetParallelism(callers)
			n.Server().Requests()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if _, err := single.Tx(b.Context(), backend, n.op.Hash); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(len(n.Server().Requests()))/float64(b.N), "requests/op")
		})
	}
}
