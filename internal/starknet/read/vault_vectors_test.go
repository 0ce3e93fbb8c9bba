package read

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	btcwire "github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

type btcTxJSON struct{ TxID, Hex string }

func (x btcTxJSON) withdrawal(t testing.TB) chains.Withdrawal {
	t.Helper()
	var tx btcwire.MsgTx
	trial.Do(t, tx.Deserialize(bytes.NewReader(vectors.Unhex(t, x.Hex))))
	return trial.Must(wire.ParseWithdrawal(&tx))(t)
}

// What a client makes of a node's events about withdrawals, and of the contract's answers
// about them.
func TestVectorsWithdrawals(t *testing.T) {
	t.Parallel()
	vault := chains.VaultID{Owner: "0x7", ID: wire.Number(wire.FeltOf(2))} // of all cases
	f := vectors.Load(t, "chain-starknet", "state").Of(t, "getWithdrawalState", "getWithdrawalStates", "getFronterAddress", "checkWithdrawalTx")
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn           string
			RPC          []exchange
			RPCResult    []string
			WithdrawalTx btcTxJSON
			Withdrawals  []struct{ Tx btcTxJSON }
		}
		c.Input(t, &in)
		s := newStub(t)
		s.learn(in.RPC)
		r := s.reader()
		switch in.Fn {
		case "getFronterAddress":
			c.NotOurs(t, "who-advanced")
		case "checkWithdrawalTx":
			s.contract = func(x callJSON) any {
				if felt(t, x.Contract) != r.VaultManager.Address || felt(t, x.Entry) != wire.Selector(wire.EntryParseBitcoinTx) ||
					!slices.Equal(x.Calldata, hexes(wire.ByteArray(vectors.Unhex(t, in.WithdrawalTx.Hex))...)) {
					t.Errorf("%+v", x)
				}
				if in.RPCResult == nil {
					return refusal{Code: 40, Text: "Contract error", Data: json.RawMessage(`{"revert_error":"x"}`)}
				}
				return in.RPCResult
			}
			err := r.DryRun(t.Context(), [][]byte{vectors.Unhex(t, in.WithdrawalTx.Hex)})
			switch {
			case len(in.RPCResult) == 1: // None, which the reference does not notice
				c.Differ(t, "stark-vault-dry-run")
				if fault.CodeOf(err) != fault.Upstream {
					t.Errorf("%v", err)
				}
			case vectors.Refused(c.Want(t)):
				if fault.CodeOf(err) != fault.Upstream {
					t.Errorf("%v", err)
				}
			default:
				c.Differ(t, "stark-byte-array") // the length of the transaction is a multiple of 31
				if err != nil {
					t.Error(err)
				}
			}
			return
		}
		all := []btcTxJSON{in.WithdrawalTx}
		if len(in.Withdrawals) > 0 {
			all = nil
			for _, w := range in.Withdrawals {
				all = append(all, w.Tx)
			}
		}
		var queries []chains.WithdrawalQuery
		for _, tx := range all {
			w := tx.withdrawal(t)
			queries = append(queries, chains.WithdrawalQuery{Vault: vault, Recipient: w.Recipient, TxID: w.TxID})
		}
		facts := trial.Must(r.Withdrawals(t.Context(), queries))(t)
		states := map[string]any{}
		for i, f := range facts {
			if f.Err != nil {
				t.Fatal(f.Err)
			}
			state := map[string]any{"type": map[chains.WithdrawalState]string{chains.WithdrawalNone: "NOT_FOUND", chains.WithdrawalFronted: "FRONTED", chains.WithdrawalClaimed: "CLAIMED", chains.WithdrawalClosed: "CLOSED"}[f.State]}
			if id := map[chains.WithdrawalState]string{chains.WithdrawalFronted: f.FrontTx, chains.WithdrawalClaimed: f.ClaimTx, chains.WithdrawalClosed: f.Close}[f.State]; id != "" {
				state["txId"] = wire.Hex64(felt(t, id))
			}
			states[all[i].TxID] = state
			if f.Final != (f.State != chains.WithdrawalNone) || f.Head.Hash != hashOf(s.height) {
				t.Errorf("%+v", f)
			}
		}
		pick := func(raw json.RawMessage) map[string]any { // what a fact tells
			var all map[string]any
			trial.Do(t, json.Unmarshal(raw, &all))
			kept := map[string]any{}
			for _, name := range []string{"type", "txId"} {
				if v, ok := all[name]; ok {
					kept[name] = v
				}
			}
			return kept
		}
		var want struct {
			State  json.RawMessage
			States map[string]json.RawMessage
		}
		c.Expected(t, &want)
		if want.States == nil {
			want.States = map[string]json.RawMessage{in.WithdrawalTx.TxID: want.State}
		}
		for _, w := range all {
			if _, ok := want.States[w.TxID]; !ok { // nothing happened
				want.States[w.TxID] = json.RawMessage(`{"type":"NOT_FOUND"}`)
			}
		}
		for id, state := range want.States {
			same(t, id, pick(state), states[id].(map[string]any))
		}
	})
}

// A signer's swaps, rebuilt from events and traces.
func TestVectorsHistory(t *testing.T) {
	t.Parallel()
	vectors.Load(t, "chain-starknet", "state").Of(t, "getHistoricalSwaps").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Now              int64
			Signer           string
			StartBlockheight uint64
			RPC              []exchange
		}
		c.Input(t, &in)
		s := newStub(t)
		s.learn(in.RPC)
		states := map[wire.Felt][3]uint64{}
		for _, e := range s.events {
			st := states[felt(t, e.Keys[4])]
			switch felt(t, e.Keys[0]) {
			case wire.SelectorInitialize:
				st[0], st[2] = *e.Height, max(st[2], 1)
			case wire.SelectorClaim:
				st[1], st[2] = *e.Height, 2
			case wire.SelectorRefund:
				st[1], st[2] = *e.Height, 3
			}
			states[felt(t, e.Keys[4])] = st
		}
		r := s.reader()
		s.escrows(r.Deployment, states)
		signer := felt(t, in.Signer)
		swaps := map[string]any{}
		last := uint64(0)
		for p, err := range r.ledger.History(t.Context(), []*Reader{r}, signer, in.StartBlockheight) {
			if err != nil {
				t.Fatal(err)
			}
			if p.Fact.Opened.Height < last {
				t.Error("not the oldest first")
			}
			last = p.Fact.Opened.Height
			got := map[string]any{"init": map[string]any{"data": p.Escrow.Data, "initTxId": wire.Hex64(felt(t, p.Fact.InitTx))}}
			if p.Fact.ClaimTx != "" {
				got["claimTxId"], got["claimResult"] = wire.Hex64(felt(t, p.Fact.ClaimTx)), hex.EncodeToString(p.Fact.Result)
			}
			if p.Fact.RefundTx != "" {
				got["refundTxId"] = wire.Hex64(felt(t, p.Fact.RefundTx))
			}
			swaps[hex.EncodeToString(p.Escrow.Hash)] = got
		}
		var want struct{ Swaps map[string]json.RawMessage }
		c.Expected(t, &want)
		for hash, told := range want.Swaps {
			want.Swaps[hash] = vectors.Without(t, told, "state")
		}
		vectors.SameJSON(t, vectors.JSON(t, want.Swaps), swaps)
	})
}

// Headers of the relay: its tip, one of a block, the newest that is Bitcoin's too.
func TestVectorsRelayLookups(t *testing.T) {
	t.Parallel()
	f := vectors.Load(t, "chain-starknet", "btcrelay").Of(t, "getTipData", "retrieveLogAndBlockheight", "retrieveLatestKnownBlockLog")
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Blockhash       string
			RequiredBlockheight uint32
			RPC                 []exchange
		}
		c.Input(t, &in)
		s := newStub(t)
		s.learn(nil)
		renamed := map[string]string{}
		for _, x := range in.RPC { // these events name no blocks, and commitments that their headers do not hash to
			if x.Method != "starknet_getEvents" {
				continue
			}
			var page struct{ Events []eventJSON }
			trial.Do(t, json.Unmarshal(x.Result, &page))
			for i := range page.Events {
				if page.Events[i].Height == nil {
					height := uint64(4000 + i)
					page.Events[i].Height = &height
				}
				page.Events[i].Tx = "0x5"
				var header []wire.Felt
				for _, f := range page.Events[i].Data {
					header = append(header, felt(t, f))
				}
				c.Differ(t, "stark-relay-commit")
				old := page.Events[i].Keys[1]
				page.Events[i].Keys[1] = wire.Hex(wire.Poseidon(header...))
				renamed[old] = page.Events[i].Keys[1]
			}
			s.add(page.Events...)
		}
		events := s.events
		s.learn(in.RPC)
		s.events = events
		recorded := s.contract
		s.contract = func(x callJSON) any {
			got := recorded(x)
			if all, ok := got.([]string); ok && len(all) == 1 && renamed[all[0]] != "" {
				return []string{renamed[all[0]]}
			}
			return got
		}
		r := s.reader()
		r.BtcRelay.Height = 100
		if len(events) > 0 {
			for old, commit := range renamed { // as it was recorded it is refused
				e := events[0]
				e.Keys = append([]string{e.Keys[0], old}, e.Keys[2:]...)
				_ = commit
				other := newStub(t)
				other.contract, other.events = recorded, []eventJSON{e}
				if h, err := other.reader().TipHeader(t.Context()); err == nil {
					t.Errorf("%+v is taken for another header", h)
				}
			}
		}
		inMain := func(h wire.StoredHeader) map[string]any {
			hash := h.Header.Hash()
			return map[string]any{"blockheight": h.Header.Height, "commitHash": wire.Digits64(h.CommitHash()), "blockhash": hash.String(), "chainWork": hex.EncodeToString(h.Work.FillBytes(make([]byte, 32)))}
		}
		switch in.Fn {
		case "getTipData":
			h, err := r.TipHeader(t.Context())
			var want struct{ Value map[string]any }
			c.Expected(t, &want)
			if want.Value == nil {
				if err == nil {
					t.Error("a tip is found")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if hash, ok := want.Value["commitHash"].(string); ok {
				want.Value["commitHash"] = strings.TrimPrefix(wire.Hex64(felt(t, renamed["0x"+hash])), "0x")
			}
			vectors.SameJSON(t, vectors.JSON(t, want.Value), inMain(h))
		case "retrieveLogAndBlockheight":
			other := s.contract
			s.contract = func(x callJSON) any { // what was not asked there is not told
				got := other(x)
				if e, ok := got.(refusal); ok && felt(t, x.Entry) == wire.Selector(wire.EntryCommitHash) {
					e.Code = 40
					return e
				}
				return got
			}
			block := trial.Must(bitcoin.ParseHash(in.Blockhash))(t)
			h, tip, found, err := r.Header(t.Context(), block, 0)
			if err != nil {
				t.Fatal(err)
			}
			var want struct {
				Found             bool
				Height            uint32
				StoredHeaderFelts []string
			}
			c.Expected(t, &want)
			found = found && tip >= in.RequiredBlockheight
			same(t, "found", want.Found, found)
			if found {
				same(t, "tip", want.Height, tip)
				vectors.SameJSON(t, vectors.JSON(t, want.StoredHeaderFelts), hexes(h.Felts()...))
			}
		case "retrieveLatestKnownBlockLog":
			first := true
			other := s.contract
			s.contract = func(x callJSON) any { // the reference does not ask it here
				if felt(t, x.Entry) == wire.Selector(wire.EntryBlockHeight) {
					return []string{"0xd4675"}
				}
				return other(x)
			}
			h, err := r.LatestHeader(t.Context(), func(_ context.Context, _ bitcoin.Hash) (bool, error) { first = false; return true, nil })
			if err != nil || first {
				t.Fatal(err)
			}
			var want struct{ StoredHeaderFelts []string }
			c.Expected(t, &want)
			vectors.SameJSON(t, vectors.JSON(t, want.StoredHeaderFelts), hexes(h.Felts()...))
		}
	})
}
