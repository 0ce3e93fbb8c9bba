package e2e

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
)

var keep = flag.String("keep", "", "folder into which TestKeepRecords writes what this version stores of swaps, for the versions to come")

// keeping is a store that remembers all that was ever written to it.
type keeping struct {
	storage.Store

	mu    *sync.Mutex
	swaps map[string][]storage.Entry
	notes map[string]storage.Note
}

func (s *keeping) wrote(e storage.Entry, err error) error {
	if err == nil {
		e.Version++
		s.mu.Lock()
		s.swaps[e.ID] = append(s.swaps[e.ID], e)
		s.mu.Unlock()
	}
	return err
}

func (s *keeping) Create(ctx context.Context, e storage.Entry) error {
	return s.wrote(e, s.Store.Create(ctx, e))
}

func (s *keeping) Update(ctx context.Context, e storage.Entry) error {
	return s.wrote(e, s.Store.Update(ctx, e))
}

func (s *keeping) SetNote(ctx context.Context, name string, data []byte, version uint64) error {
	err := s.Store.SetNote(ctx, name, data, version)
	if err == nil {
		s.mu.Lock()
		s.notes[name] = storage.Note{Name: name, Version: version + 1, Data: data}
		s.mu.Unlock()
	}
	return err
}

// TestKeepRecords writes the files by which later versions are held to reading what
// this one stores: swaps of every type on every chain, each as it was left by every
// write of its life. See CONTRIBUTING.md.
func TestKeepRecords(t *testing.T) {
	if *keep == "" {
		t.Skip("writes test data when -keep names a folder; internal/engine tests what was written")
	}
	all := &keeping{mu: new(sync.Mutex), swaps: map[string][]storage.Entry{}, notes: map[string]storage.Note{}}
	for _, chain := range []string{"", wire.V1, wire.V2, starknetName} {
		t.Run("on "+chain, func(t *testing.T) {
			w := start(t, options{on: chain, config: func(c *swapper.Config) {
				k := *all
				k.Store = c.Store
				c.Store = &k
			}})
			w.lead()
			w.close()
		})
	}
	if !t.Failed() {
		writeKept(t, *keep, all)
	}
}

// lead takes swaps of every type that the chain has to different places.
func (w *world) lead() {
	behave := func(f lp.Fault) { w.net.LPs[0].Misbehave(f) }
	quoted := func(in swapper.CreateSwapInput) { w.create(in) }
	for _, request := range w.outgoing() {
		quoted(request())
		w.finish(w.create(request()).SwapID)
		back := w.create(request()).SwapID
		behave(lp.Fault{NotPayable: true})
		w.until(back, is("REFUNDABLE"))
		w.finish(back)
		behave(lp.Fault{})
	}
	for _, request := range w.incoming() {
		quoted(request())
		w.finish(w.create(request()).SwapID)
	}
	for typ, request := range w.incoming() {
		if typ == swapper.SwapSPVVaultFromBTC || typ == swapper.SwapFromBTC {
			continue
		}
		held := w.create(request()).SwapID // paid, and not opened for
		behave(lp.Fault{NeverOpen: true})
		if err := w.net.Payer.Start(w.look(held).CurrentAction.(*swapper.SendToAddress).Txs[0].Address, lightning.Limits{}); err != nil {
			w.t.Fatal(err)
		}
		behave(lp.Fault{})
	}
	if w.chain() == "CITREA" {
		for _, source := range []string{"LIGHTNING-BTC", "BITCOIN-BTC"} {
			w.gas(w.gasInput(source, w.newcomer()))
			w.finish(w.gas(w.gasInput(source, w.newcomer())).SwapID)
			behave(lp.Fault{NeverPay: true})
			waits := w.gas(w.gasInput(source, w.newcomer())).SwapID
			if a := w.look(waits).CurrentAction; source == "LIGHTNING-BTC" {
				if err := w.net.Payer.Start(a.(*swapper.SendToAddress).Txs[0].Address, lightning.Limits{}); err != nil {
					w.t.Fatal(err)
				}
			} else {
				w.pay(payTo(w.t, w.look(waits)))
			}
			w.watch(waits, func(s *swapper.GetSwapStatusOutput) bool { return s.Steps[0].Status != "inactive" })
			behave(lp.Fault{})
		}
	}
	var open []string // and never paid for
	for _, request := range w.outgoing() {
		open = append(open, w.create(request()).SwapID, w.create(request()).SwapID)
	}
	behave(lp.Fault{NeverPay: true})
	for _, id := range open {
		w.until(id, is("COMMITED"))
	}
	behave(lp.Fault{NeverPay: true, Down: true})
	w.advance(8 * 24 * time.Hour)
	for i, id := range open {
		w.until(id, is("REFUNDABLE"))
		if i%2 == 0 {
			w.finish(id)
		}
	}
}

// keptEntry is a line of entries.jsonl.gz.
type keptEntry struct {
	ID      string          `json:"id"`
	Version uint64          `json:"version"`
	Keys    []storage.Key   `json:"keys"`
	Body    json.RawMessage `json:"body"`
}

// place is what makes two stored records of a type differ in kind.
type place struct {
	typ       swap.Type
	chain     string
	contract  string
	state     int
	submitted bool
	settled   bool
	tried     int
	ended     bool
}

func placeOf(t *testing.T, e storage.Entry) place {
	t.Helper()
	r := trial.Must(swap.Decode(e.ID, e.Version, e.Body))(t)
	return place{r.Type, r.Chain, r.Contract, r.State, r.Submission != nil, r.Settled, len(r.Tried), r.Ended != 0}
}

// writeKept writes entries.jsonl.gz, one entry for each place; notes.jsonl; and
// store.bolt.gz, with each swap once, in as many places as there are.
func writeKept(t *testing.T, folder string, all *keeping) {
	t.Helper()
	trial.Do(t, os.MkdirAll(folder, 0o755))
	path := filepath.Join(t.TempDir(), "store")
	s := trial.Must(bolt.Open(t.Context(), path, bolt.Options{}))(t)
	var dump []keptEntry
	there, stored := map[place]bool{}, map[place]int{}
	for _, id := range slices.Sorted(func(yield func(string) bool) {
		for id := range all.swaps {
			if !yield(id) {
				return
			}
		}
	}) {
		history := all.swaps[id]
		for _, e := range history {
			if at := placeOf(t, e); !there[at] {
				there[at] = true
				dump = append(dump, keptEntry{e.ID, e.Version, e.Keys, e.Body})
			}
		}
		rarest := slices.MinFunc(history, func(a, b storage.Entry) int { return cmp.Compare(stored[placeOf(t, a)], stored[placeOf(t, b)]) })
		stored[placeOf(t, rarest)]++
		rarest.Version-- // of the one that it replaces
		trial.Do(t, s.Create(t.Context(), rarest))
	}
	var notes []storage.Note
	for _, n := range all.notes {
		notes = append(notes, n)
		for v := range n.Version {
			trial.Do(t, s.SetNote(t.Context(), n.Name, n.Data, v))
		}
	}
	trial.Do(t, errors.Join(s.Verify(t.Context()), s.Close()))
	slices.SortFunc(notes, func(a, b storage.Note) int { return cmp.Compare(a.Name, b.Name) })
	pack(t, filepath.Join(folder, "store.bolt.gz"), func(w io.Writer) error {
		b, err := os.ReadFile(path)
		if err == nil {
			_, err = w.Write(b)
		}
		return err
	})
	pack(t, filepath.Join(folder, "entries.jsonl.gz"), func(w io.Writer) error { return lines(w, dump) })
	pack(t, filepath.Join(folder, "notes.jsonl.gz"), func(w io.Writer) error { return lines(w, notes) })
	t.Logf("%d swaps, %d entries, %d notes", len(all.swaps), len(dump), len(notes))
	for at := range there {
		t.Logf("%+v", at)
	}
}

func lines[T any](w io.Writer, all []T) error {
	e := json.NewEncoder(w)
	for _, v := range all {
		if err := e.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

func pack(t *testing.T, path string, write func(io.Writer) error) {
	t.Helper()
	f := trial.Must(os.Create(path))(t)
	z := trial.Must(gzip.NewWriterLevel(f, gzip.BestCompression))(t)
	trial.Do(t, errors.Join(write(z), z.Close(), f.Close()))
}
