package engine

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/storage/postgres"
)

// What earlier versions have stored: a folder for each, with entries.jsonl.gz (swaps as
// each write of their lives left them), notes.jsonl.gz and store.bolt.gz (each swap once),
// written by `go test ./e2e -run TestKeepRecords -keep <folder>` of that version.
const keptFolder = "testdata/kept"

// everyVersion runs a test for each of them.
func everyVersion(t *testing.T, run func(t *testing.T, folder string)) {
	t.Helper()
	folders, err := os.ReadDir(keptFolder)
	if err != nil || len(folders) == 0 {
		t.Fatalf("no version has kept anything: %v", err)
	}
	for _, f := range folders {
		t.Run(f.Name(), func(t *testing.T) { run(t, filepath.Join(keptFolder, f.Name())) })
	}
}

func unpack(t *testing.T, path string) []byte {
	t.Helper()
	f := trial.Must(os.Open(path))(t)
	defer f.Close()
	z := trial.Must(gzip.NewReader(f))(t)
	return trial.Must(io.ReadAll(z))(t)
}

func keptLines[T any](t *testing.T, path string) (all []T) {
	t.Helper()
	for d := json.NewDecoder(bytes.NewReader(unpack(t, path))); ; {
		var v T
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
}

// keptEntries are the swaps of a version, as its writes left them.
func keptEntries(t *testing.T, folder string) (all []storage.Entry) {
	t.Helper()
	type line struct {
		ID      string
		Version uint64
		Keys    []storage.Key
		Body    json.RawMessage
	}
	for _, l := range keptLines[line](t, filepath.Join(folder, "entries.jsonl.gz")) {
		all = append(all, storage.Entry{ID: l.ID, Version: l.Version, Keys: l.Keys, Body: l.Body})
	}
	return all
}

// keptBolt opens a copy of a version's file.
func keptBolt(t *testing.T, folder string) *bolt.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "swaps")
	trial.Do(t, os.WriteFile(path, unpack(t, filepath.Join(folder, "store.bolt.gz")), 0o600))
	s := trial.Must(bolt.Open(t.Context(), path, bolt.Options{}))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func generic(t *testing.T, text []byte) (v map[string]any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	trial.Do(t, d.Decode(&v))
	return v
}

// Every record of every version is read without losing anything: what is written anew in
// the same schema says the same, and is found by the keys by which it was found.
func TestKeptRecordsAreRead(t *testing.T) {
	everyVersion(t, func(t *testing.T, folder string) {
		states := map[swap.Type]map[int]bool{}
		chain := map[string]bool{}
		flows := map[swap.Type]*swap.Flow{}
		for _, f := range swap.Flows() {
			flows[f.Type] = f
		}
		entries := keptEntries(t, folder)
		for _, e := range entries {
			r := trial.Must(swap.Decode(e.ID, e.Version, e.Body))(t)
			again := trial.Must(r.Encode())(t)
			was, is := generic(t, e.Body), generic(t, again)
			if was["schema"] == is["schema"] {
				if d := cmp.Diff(was, is); d != "" {
					t.Errorf("%s in state %d is changed by reading it: %s", r.Type, r.State, d)
				}
				for i, k := range e.Keys {
					if k.Index == swap.ByWatch && k.Value == "" { // of before there were shards; Run reads both
						e.Keys[i].Value = bounds.ShardText(bounds.Shard(e.ID))
					}
				}
				if d := cmp.Diff(e.Keys, keysOf(flows[r.Type], r, r.Changed.Time())); d != "" {
					t.Errorf("%s in state %d has other keys: %s", r.Type, r.State, d)
				}
			}
			if states[r.Type] == nil {
				states[r.Type] = map[int]bool{}
			}
			states[r.Type][r.State], chain[r.Chain] = true, true
		}
		for _, f := range swap.Flows() {
			if len(states[f.Type]) < 2 {
				t.Errorf("%s was kept in states %v: too few", f.Type, states[f.Type])
			}
		}
		if len(chain) < 3 {
			t.Errorf("swaps of %v were kept", chain)
		}
		t.Logf("%d entries, %v", len(entries), states)
	})
}

// truthsOf are what can be true of a kept swap: that of its type, told of its own
// transaction and amounts.
func truthsOf(t *testing.T, r *swap.Record) (*swap.Flow, []truth) {
	t.Helper()
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	if b := r.Bitcoin; b != nil && len(b.Tx) > 0 {
		own := trial.Must(rawtx.Decode(b.Tx))(t)
		tx = own
	} else if b != nil && b.Address != "" {
		to := trial.Must(bitcoin.ParseAddress(b.Address, bitcoin.Regtest))(t)
		tx.AddTxOut(wire.NewTxOut(int64(b.Sats), to.Script()))
	}
	for _, c := range waysOutWith(tx, r.Terms.Output.Raw) {
		if c.flow.Type == r.Type {
			return c.flow, c.truths
		}
	}
	t.Fatalf("%s has no truths", r.Type)
	return nil, nil
}

// canBe reports whether something can be true of a swap of which this is the record. What
// the user has not paid for is neither opened nor withdrawn.
func canBe(r *swap.Record, is truth) bool {
	switch {
	case r.Type == swap.SPVFromBTC && !r.Posted():
		return is.payment == nil && is.withdrawal.State == chains.WithdrawalNone
	case (r.Type == swap.FromBTCLN || r.Type == swap.FromBTCLNAuto) && r.Escrow.Real == nil:
		return is.escrow.State == chains.EscrowNone
	}
	return true
}

// keptEngine is an engine on a store with kept swaps, in a world that a test makes.
func keptEngine(t *testing.T, s storage.Store, w *liar) *Engine {
	t.Helper()
	g := newEngine(t, Config{Store: s, Reader: w, Flows: swap.Flows(), Now: func() time.Time { return w.now },
		Executor: executorFunc(func(context.Context, *swap.Record, swap.Effect) swap.Outcome {
			return swap.Outcome{Reason: "no answer"}
		})})
	return g
}

// Every record of every version moves on, whatever is true of its swap by now, and comes
// to the end to which a swap of this version comes.
func TestKeptRecordsMoveOn(t *testing.T) {
	everyVersion(t, func(t *testing.T, folder string) {
		ends := 0
		for _, e := range keptEntries(t, folder) {
			r := trial.Must(swap.Decode(e.ID, e.Version, e.Body))(t)
			flow, truths := truthsOf(t, r)
			for _, is := range truths {
				if !canBe(r, is) {
					continue
				}
				w := &liar{now: r.Changed.Time(), truth: &is}
				s := new(storage.Memory)
				stored := e
				stored.Version--
				trial.Do(t, s.Create(t.Context(), stored))
				g := keptEngine(t, s, w)
				start := max(r.CreatedAt, r.Changed).Time()
				path, last := []int{r.State}, r
				for _, after := range []time.Duration{time.Minute, time.Hour, 3 * time.Hour, 24 * time.Hour, 16 * 24 * time.Hour, 24 * 24 * time.Hour, 40 * 24 * time.Hour} {
					w.now = start.Add(after)
					res, err := g.Advance(t.Context(), e.ID, nil)
					if err != nil {
						t.Fatalf("%s in state %d, %s: %v", r.Type, r.State, is.name, err)
					}
					g.Effects.Drain()
					last = res.Record
					path = append(path, last.State)
				}
				want := is.end
				switch {
				case r.Settled: // nobody looks any more
					want = []int{r.State}
				case want == nil:
					want = is.want
				case last.Public() && is.escrow.State == chains.EscrowOpen: // is claimed as long as it can be
					want = append(want, swap.LnCommitted)
				}
				if end := path[len(path)-1]; !slices.Contains(want, end) {
					t.Errorf("%s on %s in state %d, %s: goes %v, want %v", r.Type, r.Chain, r.State, is.name, path, want)
				} else if row, _ := flow.State(end); row.Finished {
					ends++
				}
				g.Close()
			}
		}
		t.Logf("%d lives ended", ends)
	})
}

// Records of a version that is not there yet are refused with what to do, whatever is
// done with them, and stay as they are: an older program beside a newer one, or after it,
// neither moves nor deletes its swaps.
func TestNewerRecordsAreLeftAlone(t *testing.T) {
	everyVersion(t, func(t *testing.T, folder string) {
		s, w := new(storage.Memory), &liar{truth: &truth{}}
		var newer []storage.Entry
		signers := map[[2]string]bool{}
		for _, e := range keptEntries(t, folder) {
			var members map[string]any
			trial.Do(t, json.Unmarshal(e.Body, &members))
			signers[[2]string{members["chain"].(string), members["signer"].(string)}] = true
			members["schema"], members["terms"] = 1000, []string{"in another form"}
			e.Body = trial.Must(json.Marshal(members))(t)
			e.Version--
			if err := s.Create(t.Context(), e); errors.Is(err, storage.ErrExists) {
				continue // an earlier moment of it is there
			} else if _, taken := errors.AsType[*storage.KeyTakenError](err); taken {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			e.Version++
			newer = append(newer, e)
			if k := slices.IndexFunc(e.Keys, func(k storage.Key) bool { return k.Index == swap.ByPurge }); k >= 0 {
				w.now = time.UnixMilli(e.Keys[k].Order).Add(100 * 24 * time.Hour)
			}
		}
		g := keptEngine(t, s, w)
		says := func(what string, err error) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), "its schema is 1000") || !strings.Contains(err.Error(), "run the version that wrote it or a newer one") {
				t.Errorf("%s: %v", what, err)
			}
		}
		listed := 0
		for _, e := range newer {
			_, err := g.Advance(t.Context(), e.ID, nil)
			says("a pass", err)
			_, err = g.Advance(t.Context(), e.ID, swap.Look{})
			says("a look", err)
		}
		for at := range signers {
			for _, err := range g.List(t.Context(), at[0], at[1], false, nil, 0) {
				says("a list", err)
				listed++
			}
		}
		g.Purge(t.Context())
		if len(newer) < 20 || listed < len(newer)/2 || w.now.IsZero() {
			t.Fatalf("%d records, listed %d times", len(newer), listed)
		}
		for _, e := range newer {
			if got, err := s.Get(t.Context(), e.ID); err != nil || got.Version != e.Version || !bytes.Equal(got.Body, e.Body) {
				t.Errorf("a record is changed: version %d after %d, %v", got.Version, e.Version, err)
			}
		}
	})
}

// A store that an earlier version has left is opened as it is, in either form of store:
// all swaps are found, each goes to an end, and what was noted is still there. The
// database takes what its rows had, which is what entries and notes are.
func TestKeptStoresGoOn(t *testing.T) {
	everyVersion(t, func(t *testing.T, folder string) {
		type verified interface {
			storage.Store
			Verify(context.Context) error
		}
		goesOn := func(t *testing.T, s verified) {
			t.Helper()
			for _, n := range keptLines[storage.Note](t, filepath.Join(folder, "notes.jsonl.gz")) {
				if data, version, err := s.Note(t.Context(), n.Name); err != nil || version != n.Version || !bytes.Equal(data, n.Data) {
					t.Errorf("note %s: %q at version %d, %v", n.Name, data, version, err)
				}
			}
			is := truth{name: "nothing", received: []*bitcoin.Tx{}}
			w := &liar{truth: &is}
			g := keptEngine(t, s, w)
			watched := map[string]bool{}
			for e, err := range s.Find(t.Context(), storage.Query{Index: swap.ByWatch}) {
				if err != nil {
					t.Fatal(err)
				}
				watched[e.ID] = true
			}
			if len(watched) < 10 {
				t.Fatalf("only %d swaps are watched", len(watched))
			}
			var late swap.Millis
			for id := range watched {
				r := load(t, g, id)
				late = max(late, r.Changed)
			}
			for _, after := range []time.Duration{1, 2, 3, 10, 11, 40, 41, 42} {
				w.now = late.Time().Add(after * 24 * time.Hour)
				for id := range watched {
					r := load(t, g, id)
					if r.Escrow != nil && r.Escrow.InitTx != "" { // what was opened is claimed
						is.escrow = chains.EscrowFact{State: chains.EscrowClaimed, Final: true}
					} else {
						is.escrow = chains.EscrowFact{Auth: chains.AuthOver}
					}
					advance(t, g, id, nil)
					g.Effects.Drain() // before the world is another one
				}
			}
			for id := range watched {
				r := load(t, g, id)
				if row, _ := g.Flows[r.Type].State(r.State); !row.Finished {
					t.Errorf("%s on %s is still in state %s", r.Type, r.Chain, row.Name)
				}
			}
			if err := s.Verify(t.Context()); err != nil {
				t.Error(err)
			}
		}
		t.Run("bolt", func(t *testing.T) { goesOn(t, keptBolt(t, folder)) })
		t.Run("PostgreSQL", func(t *testing.T) {
			dsn := pgtest.DSN(t)
			s := trial.Must(postgres.Open(t.Context(), dsn, postgres.Options{Schema: pgtest.Schema(t, dsn)}))(t)
			t.Cleanup(func() { s.Close() })
			for e, err := range keptBolt(t, folder).Entries(t.Context(), "") {
				if err != nil {
					t.Fatal(err)
				}
				e.Version--
				trial.Do(t, s.Create(t.Context(), e))
			}
			for _, n := range keptLines[storage.Note](t, filepath.Join(folder, "notes.jsonl.gz")) {
				for v := range n.Version {
					trial.Do(t, s.SetNote(t.Context(), n.Name, n.Data, v))
				}
			}
			goesOn(t, s)
		})
	})
}
