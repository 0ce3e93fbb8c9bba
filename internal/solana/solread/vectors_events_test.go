package solread

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/solana/wire"
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
		at, err := ParseCursor(in.Cursor)
		if err != nil {
			t.Fatal(err)
		}
		var got []map[string]any
		err = l.Poll(t.Context(), readers, at, func(news []News, next Cursor) error {
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
		again, err := ParseCursor(mustJSON(t, at))
		if err != nil {
			t.Fatal(err)
		}
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

func TestVectorsLatestBlock(t *testing.T) {
	vectors.Load(t, "chain-solana", "init-auth").Of(t, "findLatestBlock").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			RPC struct {
				Slots  map[string]uint64
				Blocks map[string]json.RawMessage
			}
		}
		c.Input(t, &in)
		s := newStub(t)
		s.slots = in.RPC.Slots
		s.methods["getBlock"] = func(params []json.RawMessage) any {
			if b, ok := in.RPC.Blocks[string(params[0])]; ok {
				return b
			}
			return refusal{-32007, "Slot " + string(params[0]) + " was skipped, or missing due to ledger jump to recent snapshot"}
		}
		_, b, err := s.ledger(time.Unix(s.clock.Unix, 0)).LatestBlock(t.Context())
		if refused(t, c, err) {
			return
		}
		var want json.RawMessage
		c.Expected(t, &want)
		vectors.SameJSON(t, want, map[string]any{"height": *b.Height, "blockHash": b.Hash.String()})
	})
}

// refused ends a case in which the reference refused: so must the project.
func refused(t *testing.T, c *vectors.Case, err error) bool {
	t.Helper()
	var want json.RawMessage
	c.Expected(t, &want)
	if vectors.Refused(want) {
		if err == nil {
			t.Error("no error; the reference refuses this")
		}
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	return false
}

// What became of a transaction: its outcome, or whether it may be executed yet.
func TestVectorsTxStatus(t *testing.T) {
	vectors.Load(t, "chain-solana", "tx-serialization").Of(t, "getTxStatus").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			SignedTx, TxID string
			ReceiptMeta    json.RawMessage
			BlockhashValid bool
		}
		c.Input(t, &in)
		tx, err := wire.ParseSigned(in.SignedTx)
		if err != nil {
			t.Fatal(err)
		}
		id, _ := tx.ID()
		same(t, "id", in.TxID, id.String())
		s := newStub(t)
		final := map[string]any{"context": map[string]any{"slot": s.clock.Slot}, "value": map[string]any{"blockhash": wire.Key{7}.String(), "lastValidBlockHeight": 1000}}
		s.methods["getLatestBlockhash"] = func([]json.RawMessage) any { return final }
		s.methods["isBlockhashValid"] = func(params []json.RawMessage) any {
			same(t, "block hash", `"`+tx.Message.RecentBlockhash.String()+`"`, string(params[0]))
			return map[string]any{"context": map[string]any{"slot": s.clock.Slot}, "value": in.BlockhashValid}
		}
		known := string(in.ReceiptMeta) != `"absent"`
		var meta struct{ Err json.RawMessage }
		if known && json.Unmarshal(in.ReceiptMeta, &meta) != nil {
			t.Fatal("meta")
		}
		s.methods["getSignatureStatuses"] = func([]json.RawMessage) any {
			all := []any{nil}
			if known {
				all[0] = map[string]any{"slot": 5, "confirmations": nil, "err": meta.Err, "confirmationStatus": "confirmed"}
			}
			return map[string]any{"context": map[string]any{"slot": s.clock.Slot}, "value": all}
		}
		l := s.ledger(time.Unix(s.clock.Unix, 0))
		var want map[string]json.RawMessage
		c.Expected(t, &want)
		if string(in.ReceiptMeta) == "null" {
			// The outcome is asked for by itself here, and does not depend on the receipt. Who
			// reads the transaction is told that it does not say what became of it.
			s.methods["getTransaction"] = func([]json.RawMessage) any {
				return map[string]any{"slot": 5, "blockTime": 6, "meta": nil, "transaction": []string{"", "base64"}}
			}
			_, err := l.Transaction(t.Context(), id)
			if !vectors.Refused(want["txStatus"]) || !vectors.Refused(want["txIdStatus"]) || err == nil {
				t.Errorf("%s: %v", want["txStatus"], err)
			}
			return
		}
		names := map[bool]string{false: "success", true: "reverted"}
		name := func(sent Sent) string {
			all, err := l.Outcomes(t.Context(), []Sent{sent})
			if err != nil {
				t.Fatal(err)
			}
			switch o := all[0]; o.State.String() {
			case "unknown":
				return "not_found"
			case "pending":
				return "pending"
			default:
				return names[o.Err != nil]
			}
		}
		got := map[string]string{"txStatus": name(Sent{id, tx.Message.RecentBlockhash}), "txIdStatus": name(Sent{ID: id})}
		delete(want, "calls")
		vectors.SameJSON(t, mustJSON(t, want), got)
	})
}

// Of three data accounts one is there, one is gone and one is somebody else's: only
// the first one's deposit can be taken back.
func TestVectorsDataDeposits(t *testing.T) {
	vectors.Load(t, "chain-solana", "data-account").Of(t, "claimableDeposits").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct{ Version string }
		c.Input(t, &in)
		s := newStub(t)
		r := s.reader(in.Version, time.Unix(s.clock.Unix, 0))
		owner, other := wire.Key{1}, wire.Key{2}
		live, gone, foreign := wire.Key{3}, wire.Key{4}, wire.Key{5}
		data := func(k wire.Key) []byte { return append(k[:], make([]byte, 20)...) }
		s.accounts[live] = wire.AccountReply{Owner: r.Programs.Swap, Lamports: 5555555, Data: data(owner)}
		s.accounts[foreign] = wire.AccountReply{Owner: other, Lamports: 7777777, Data: data(owner)}
		all, err := r.DataAccounts(context.Background(), live, gone, foreign)
		if err != nil {
			t.Fatal(err)
		}
		count, total := 0, uint64(0)
		for _, a := range all {
			if a != nil {
				count++
				total += a.Lamports
			}
		}
		var want struct {
			Count      int
			TotalValue json.Number
		}
		c.Expected(t, &want)
		same(t, "accounts", want.Count, count)
		same(t, "lamports", want.TotalValue, json.Number(mustJSON(t, total)))
		if a := all[0]; in.Version == wire.V1 && (a == nil || a.Owner != owner || len(a.Payload) != 20) {
			t.Errorf("%+v", a)
		}
	})
}
