package engine

import (
	"context"
	"errors"
	"math/big"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// filled sets everything in a value to something that is not zero, and to something else each time.
func filled(v reflect.Value, n *int64) {
	*n++
	switch v.Addr().Interface().(type) {
	case *time.Time:
		v.Set(reflect.ValueOf(time.Unix(1_700_000_000+*n, *n)))
		return
	case *big.Int:
		v.Set(reflect.ValueOf(*big.NewInt(-*n)))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(-(*n % 100))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n % 200))
	case reflect.String:
		v.SetString([]string{"0x00ff", "0xFF", "0x0", "text"}[*n%4])
	case reflect.Struct:
		for i := range v.NumField() {
			filled(v.Field(i), n)
		}
	case reflect.Array:
		for i := range v.Len() {
			filled(v.Index(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range v.Len() {
			filled(v.Index(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), n)
	}
}

// All that is answered can be kept, and is the same afterwards.
func TestAnswersAreKeptWhole(t *testing.T) {
	var none, all said
	n := int64(0)
	filled(reflect.ValueOf(&all).Elem(), &n)
	partly := said{Escrow: reply[chains.EscrowFact]{Heard: 1, Answer: chains.EscrowFact{Result: []byte{}, Escrow: &chains.Escrow{Amount: new(big.Int)}}}}
	for name, want := range map[string]said{"nothing": none, "everything": all, "what is empty and not nil": partly} {
		text, err := pack(nil, reflect.ValueOf(want))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		u := &unpacker{string(text)}
		var got said
		if u.unpack(reflect.ValueOf(&got).Elem()); u.rest != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v of %+v, %d bytes are left", name, got, want, len(u.rest))
		}
	}
	held := new(big.Int).Sub(big.NewInt(1<<40), big.NewInt(1<<40)) // zero, in memory that was another number's
	if !same(chains.VaultID{ID: new(big.Int)}, chains.VaultID{ID: held}) || same(chains.VaultID{ID: new(big.Int)}, chains.VaultID{}) {
		t.Error("what is compared is how numbers are held")
	}
	if _, err := pack(nil, reflect.ValueOf(chains.EscrowFact{Err: errors.New("down")})); err == nil {
		t.Error("an error is kept")
	}
}

// Questions that differ in anything differ.
func TestQuestionsDiffer(t *testing.T) {
	seen := map[digest]string{}
	for name, q := range map[string]any{
		"none": chains.EscrowQuery{}, "hash": chains.EscrowQuery{Escrow: &chains.Escrow{Hash: []byte{1}}}, "claim hash": chains.EscrowQuery{Escrow: &chains.Escrow{ClaimHash: []byte{1}}},
		"empty": chains.EscrowQuery{Escrow: &chains.Escrow{}}, "from": chains.EscrowQuery{From: 1}, "settled": chains.EscrowQuery{Settled: true},
		"two texts": lp.StatusQuery{URL: "a", Endpoint: "bc"}, "cut elsewhere": lp.StatusQuery{URL: "ab", Endpoint: "c"},
	} {
		d, err := digestOf(q)
		if err != nil || seen[d] != "" {
			t.Errorf("%s is %q, %v", name, seen[d], err)
		}
		seen[d] = name
	}
}

// One swap's answers take a bounded amount of memory, however large its transaction.
func TestLargeTransactionsAreNotKept(t *testing.T) {
	s := said{Vault: reply[chains.VaultFact]{Heard: 1}, Tx: reply[*bitcoin.Tx]{Heard: 1, Answer: &bitcoin.Tx{Msg: &wire.MsgTx{TxIn: []*wire.TxIn{{SignatureScript: make([]byte, saidMost)}}}}}}
	if got := unpackSaid(s.packed()); got.Tx.Heard != 0 || got.Vault.Heard != 1 {
		t.Errorf("kept: %+v", got)
	}
	s.Vault.Answer.Vault.Owner = strings.Repeat("x", saidMost)
	if text := s.packed(); text != "" {
		t.Errorf("%d bytes are kept", len(text))
	}
}

// What is kept of a swap that Run follows is driven out by no other swap, and forgotten with it.
func TestAnswersOfFollowedSwapsStay(t *testing.T) {
	g, _ := hearing(t, 7, lamp())
	s := &schedule{at: map[string]*turn{}}
	r := newToy("followed")
	text := (&said{LP: reply[lp.Status]{Heard: 1}}).packed()
	g.keep(r.ID, text) // before Run has it
	g.reschedule(s, r, 0)
	if _, known := g.kept(r.ID); known {
		t.Error("older answers count")
	}
	g.keep(r.ID, text)
	for i := range saidOthers + 1 {
		g.keep(strconv.Itoa(i), text)
	}
	g.reschedule(s, r, 0)
	if _, known := g.kept(r.ID); !known {
		t.Error("others have driven its answers out")
	}
	g.keep(r.ID, "")
	if _, known := g.kept(r.ID); known {
		t.Error("answers that may not be repeated are kept")
	}
	g.keep(r.ID, text)
	r.Settled = true
	if g.reschedule(s, r, 0); g.said.Len() != saidOthers {
		t.Errorf("%d swaps that are not followed are known, want %d", g.said.Len(), saidOthers)
	}
	if _, known := g.kept(r.ID); known {
		t.Error("answers outlive the swap")
	}
}

// BenchmarkKeptAnswers shows what is kept of a swap of each type that waits.
func BenchmarkKeptAnswers(b *testing.B) {
	for _, c := range waysOut() {
		b.Run(c.flow.Type.String(), func(b *testing.B) {
			start := time.Unix(1_700_000_000, 0)
			is := c.truths[0]
			for _, of := range c.truths {
				if name := waiting[c.flow.Type].truth; of.name == name {
					is = of
				}
			}
			w := &counting{liar: &liar{now: start, truth: &is}, hears: true}
			g := newEngine(b, Config{Reader: w, Flows: []*swap.Flow{c.flow}, Now: func() time.Time { return start }})
			r := c.record(waiting[c.flow.Type].state, start)
			trial.Do(b, g.Create(context.Background(), r))
			if _, err := g.advance(context.Background(), r.ID, nil, asRoutine); err != nil {
				b.Fatal(err)
			}
			answers, _ := g.kept(r.ID)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			all := make([]string, b.N)
			for i := range all {
				all[i] = answers.packed()
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(b.N), "B/kept")
			runtime.KeepAlive(all)
		})
	}
}
