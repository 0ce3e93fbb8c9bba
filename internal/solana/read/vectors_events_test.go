package read

import (
	"encoding/hex"
	"encoding/json"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// What happened since a cursor, and where the next look begins.
func TestVectorsPoll(t *testing.T) {
	vectors.Load(t, "chain-solana", "events").Of(t, "poll").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			PageLimit    int
			Cursor       json.RawMessage
			Signatures   map[string][]sigJSON
			Transactions map[string]*txJSON
		}
		c.Input(t, &in)
		s := newStub(t)
		for id, tx := range in.Transactions {
			if tx != nil {
				s.add(id, *tx)
			}
		}
		for of, all := range in.Signatures {
			s.history[key(t, of)] = all
		}
		l := s.ledger(time.Unix(s.clock.Unix, 0))
		l.pageSize = in.PageLimit
		readers := []*Reader{New(programs(t, wire.V1), l), New(programs(t, wire.V2), l)}
		at := trial.Must(ParseCursor(in.Cursor))(t)
		var got []map[string]any
		err := l.Poll(t.Context(), readers, at, 1, func(news []News, next Cursor) error {
			for _, n := range news {
				got = append(got, newsJSON(n))
			}
			at = next
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Cursor map[string]*struct {
				Signature string
				Slot      uint64
			}
			Events []json.RawMessage
		}
		c.Expected(t, &want)
		for version, w := range want.Cursor {
			p, ok := at[version]
			if same(t, "position of "+version, w != nil, ok); w != nil {
				same(t, "position", w.Signature, p.Signature.String())
				same(t, "position", w.Slot, p.Slot)
			}
		}
		if same(t, "events", len(want.Events), len(got)); len(want.Events) != len(got) {
			return
		}
		for i := range got {
			vectors.SameJSON(t, want.Events[i], got[i])
		}
		again := trial.Must(ParseCursor(mustJSON(t, at)))(t)
		same(t, "cursor read back", at, again)
	})
}

// newsJSON is an event as the reference tells it.
func newsJSON(n News) map[string]any {
	hash := n.EscrowHash()
	out := map[string]any{"type": n.Kind.String(), "escrowHash": hex.EncodeToString(hash[:]), "contractVersion": n.Version,
		"meta": map[string]any{"blockTime": n.Block.Time, "timestamp": n.Block.Time, "txId": n.Tx}}
	switch n.Kind {
	case wire.Initialized:
		out["swapType"], out["swapData"] = int(n.Escrow), n.Opened
	case wire.Claimed:
		out["result"] = hex.EncodeToString(n.Result[:])
	}
	return out
}
