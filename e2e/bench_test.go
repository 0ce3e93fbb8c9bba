package e2e

import (
	"bytes"
	"fmt"
	"math/big"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/storage"
)

func (w *world) toBitcoin(tb testing.TB) string {
	s, err := w.client.CreateSwap(tb.Context(), swapper.CreateSwapInput{SrcToken: "CITREA-CBTC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactOut,
		SrcAddress: w.address(), DstAddress: w.net.Taproot.Address.String()})
	if err != nil {
		tb.Fatal(err)
	}
	return s.SwapID
}

// Every operation is measured against the whole local network in the same
// process: the provider's and the chains' work is in the figures.
func BenchmarkCreateSwap(b *testing.B) {
	w := start(b, options{slow: true})
	for b.Loop() {
		w.toBitcoin(b)
	}
}

// With sync: the swap's chain is asked. Without: the answer is at most a second old.
func BenchmarkGetSwapStatus(b *testing.B) {
	w := start(b, options{slow: true})
	for _, sync := range []bool{true, false} {
		b.Run(fmt.Sprintf("sync=%t", sync), func(b *testing.B) {
			var ids []string
			id := w.toBitcoin(b)
			if sync {
				for range 200 {
					ids = append(ids, w.toBitcoin(b))
				}
			}
			n := 0
			for b.Loop() {
				if sync { // the next swap: its last facts are older than what serves others
					id = ids[n%len(ids)]
					n++
				}
				if _, err := w.client.GetSwapStatus(b.Context(), swapper.GetSwapStatusInput{SwapID: id}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLists(b *testing.B) {
	w := start(b, options{slow: true})
	id := w.toBitcoin(b)
	like, err := w.store.Get(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	have := 1
	for _, count := range []int{1_000, 10_000} {
		for ; have < count; have++ {
			other := fmt.Sprintf("%0*x", len(id), have)
			e := storage.Entry{ID: other, Body: bytes.ReplaceAll(like.Body, []byte(id), []byte(other))}
			for _, k := range like.Keys {
				if k.Index == "signer" || k.Index == "pending" {
					e.Keys = append(e.Keys, k)
				}
			}
			if err := w.store.Create(b.Context(), e); err != nil {
				b.Fatal(err)
			}
		}
		for name, list := range map[string]func() (int, error){
			"listSwaps": func() (int, error) {
				l, err := w.client.ListSwaps(b.Context(), swapper.ListSwapsInput{Signer: w.address()})
				return len(l), err
			},
			"listPendingSwaps": func() (int, error) {
				l, err := w.client.ListPendingSwaps(b.Context(), swapper.ListPendingSwapsInput{Signer: w.address()})
				return len(l), err
			},
		} {
			b.Run(fmt.Sprintf("%s/%d", name, count), func(b *testing.B) {
				for b.Loop() {
					if n, err := list(); err != nil || n != count {
						b.Fatalf("%d swaps, %v", n, err)
					}
				}
			})
		}
	}
}
