package engine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/storage"
)

// storageQuery is one query of the reference: an OR of ANDs. A value is one of a
// list, or just that one.
type storageQuery struct {
	Storage string // its prefix and the chain
	Params  [][]struct {
		Key   string
		Value any
	}
}

// selects reports whether the query finds a record.
func (q storageQuery) selects(r *swap.Record) bool {
	if !strings.HasSuffix(q.Storage, "-"+r.Chain) {
		return false
	}
	column := map[string]string{"id": r.ID, "type": fmt.Sprint(int(r.Type)), "initiator": r.Signer, "state": fmt.Sprint(r.State)}
	return slices.ContainsFunc(q.Params, func(all []struct {
		Key   string
		Value any
	}) bool {
		for _, p := range all {
			values, many := p.Value.([]any)
			if !many {
				values = []any{p.Value}
			}
			if !slices.ContainsFunc(values, func(v any) bool { return fmt.Sprint(v) == column[p.Key] }) {
				return false
			}
		}
		return true
	})
}

// population stores a swap of every type in every state that a record is kept
// in, for two signers on each of the chains, and one that is called "id".
func population(t *testing.T, g *Engine, chains []string) map[string]*swap.Record {
	t.Helper()
	all := map[string]*swap.Record{}
	for _, chain := range chains {
		for _, signer := range []string{"signer", "another"} {
			for _, f := range swap.Flows() {
				for _, row := range f.States {
					if row.Hidden { // the reference deletes it when it is saved
						continue
					}
					r := &swap.Record{Schema: 1, Head: swap.Head{ID: fmt.Sprintf("%s-%s-%s-%s", chain, signer, f.Type, row.Name), Type: f.Type, Chain: chain,
						Signer: signer, State: row.Number, CreatedAt: swap.Millis(1000 + len(all))}}
					all[r.ID] = r
				}
			}
		}
	}
	one := &swap.Record{Schema: 1, Head: swap.Head{ID: "id", Type: swap.ToBTC, Chain: "CITREA", Signer: "signer", CreatedAt: 1}}
	all[one.ID] = one
	for _, r := range all {
		add(t, g, r)
	}
	return all
}

// operation takes `name(chain, signer)` apart. Some arguments may be missing or
// undefined.
var operation = regexp.MustCompile(`^(\w+) ?(?:\(([^)]*)\)|.*)$`)

func TestVectorsStorageQueries(t *testing.T) {
	file := vectors.Load(t, "swap-flows-spv-and-core", "storage_queries")
	chains := map[string]bool{"CITREA": true, "ELSEWHERE": true}
	for _, c := range file.Cases {
		for _, q := range queriesOf(t, c) {
			chains[q.Storage[strings.LastIndex(q.Storage, "-")+1:]] = true
		}
	}
	g := newEngine(t, Config{Flows: swap.Flows()})
	everybody := population(t, g, slices.Sorted(maps.Keys(chains)))

	file.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct{ Operation string }
		c.Input(t, &in)
		queries := queriesOf(t, c)
		want := map[string]bool{}
		asked := map[string]bool{} // chains and signers that the queries are about
		for id, r := range everybody {
			want[id] = slices.ContainsFunc(queries, func(q storageQuery) bool { return q.selects(r) })
			if want[id] {
				asked[swap.SignerValue(r.Chain, r.Signer)] = true
			}
		}
		got := map[string]bool{}
		watching := false
		list := func(pending bool) {
			for value := range asked {
				chain, signer, _ := strings.Cut(value, "\x00")
				for r, err := range g.List(t.Context(), chain, signer, pending, nil, 0) {
					if err != nil {
						t.Fatal(err)
					}
					got[r.ID] = true
				}
			}
		}
		parts := operation.FindStringSubmatch(in.Operation)
		if parts == nil {
			t.Fatalf("operation %q", in.Operation)
		}
		switch name := parts[1]; name {
		case "getAllSwaps":
			list(false)
		case "getPendingSwaps":
			list(true)
		case "getSwapById":
			id, _, _ := strings.Cut(parts[2], ",")
			if r, err := g.Load(t.Context(), id); err == nil {
				got[r.ID] = true
			}
		case "_syncSwaps", "tick", "checkPastSwaps":
			watching = true
			for n := range bounds.Shards {
				for e, err := range g.Store.Find(t.Context(), storage.Query{Index: swap.ByWatch, Value: bounds.ShardText(n)}) {
					if err != nil {
						t.Fatal(err)
					}
					// The queries may be about one type only: the rest is not compared.
					r := everybody[e.ID]
					got[e.ID] = slices.ContainsFunc(queries, func(q storageQuery) bool { return q.about(r) })
				}
			}
		case "getRefundableSwaps", "getClaimableSwaps":
			c.NotRun(t, "no operation lists by action (docs/api.md): getSwapStatus says what is to be done")
		default:
			t.Fatalf("operation %q", in.Operation)
		}
		for id, r := range everybody {
			if got[id] == want[id] {
				continue
			}
			// The reference names the states of each query one by one, finished
			// ones among them, and forgets others. Here the flags of the state decide.
			c.Differ(t, "pending-is-unfinished")
			row, _ := swap.Flows()[slices.IndexFunc(swap.Flows(), func(f *swap.Flow) bool { return f.Type == r.Type })].State(r.State)
			if want[id] && !row.Finished || got[id] && row.Finished && !(watching && row.Watched) {
				t.Errorf("%s: found %v, the reference %v", id, got[id], want[id])
			}
		}
	})
}

// about reports whether the query is about the record's chain and type, whatever
// its state.
func (q storageQuery) about(r *swap.Record) bool {
	other := *r
	for _, all := range q.Params {
		for _, p := range all {
			if p.Key != "state" {
				continue
			}
			values, _ := p.Value.([]any)
			for _, v := range values {
				if n, err := fmt.Sscan(fmt.Sprint(v), &other.State); n == 1 && err == nil && q.selects(&other) {
					return true
				}
			}
		}
	}
	return false
}

func queriesOf(t *testing.T, c *vectors.Case) []storageQuery {
	t.Helper()
	var want struct{ Queries []storageQuery }
	c.Expected(t, &want)
	return want.Queries
}
