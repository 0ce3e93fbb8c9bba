package read

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// The rate to offer after a block, which is read once in five seconds.
func TestVectorsFeeRate(t *testing.T) {
	t.Parallel()
	vectors.Load(t, "chain-starknet", "fees").Of(t, "getFeeRate").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct{ L1GasPriceFri, L2GasPriceFri, L1DataGasPriceFri string }
		c.Input(t, &in)
		s := newStub(t)
		var asked []json.RawMessage
		s.methods["starknet_getBlockWithTxHashes"] = func(p json.RawMessage) any {
			asked = append(asked, p)
			price := func(fri string) any { return map[string]string{"price_in_fri": fri, "price_in_wei": "0x1"} }
			return map[string]any{"status": "ACCEPTED_ON_L2", "block_hash": "0x9", "block_number": 9, "timestamp": stubNow,
				"l1_gas_price": price(in.L1GasPriceFri), "l2_gas_price": price(in.L2GasPriceFri), "l1_data_gas_price": price(in.L1DataGasPriceFri)}
		}
		r := s.reader()
		rate := trial.Must(r.ledger.FeeRate(t.Context()))(t)
		again, err := r.ledger.FeeRate(t.Context())
		if err != nil || again.String() != rate.String() {
			t.Error(again, err)
		}
		if len(asked) != 1 {
			t.Fatalf("%d questions", len(asked))
		}
		vectors.SameJSON(t, c.Want(t), map[string]any{"feeRate": rate.String(), "cachedCallAddsNoRequest": len(asked) == 1,
			"request": map[string]any{"method": "starknet_getBlockWithTxHashes", "params": asked[0]}})
	})
}

// Whether an account says that a signature is its own, in every way in which accounts and
// nodes put it.
func TestVectorsAccountAnswers(t *testing.T) {
	t.Parallel()
	vectors.Load(t, "chain-starknet", "signatures").Of(t, "checkInit", "checkRefund").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Sender                 string
			Now                        int64
			PreFetchedPendingBlockTime *int64
			Swap                       json.RawMessage
			Authorization              struct {
				Prefix    string
				Timeout   string
				Signature string
			}
		}
		c.Input(t, &in)
		var want struct {
			Rpc []exchange
		}
		c.Expected(t, &want)
		s := newStub(t)
		s.learn(want.Rpc)
		recorded := s.contract
		s.contract = func(x callJSON) any { // the reference asks at one entry point after the other, here both are asked
			got := recorded(x)
			if e, ok := got.(refusal); ok && strings.Contains(string(e.Data), "nothing was recorded") {
				return refusal{Code: 21, Text: "Requested entrypoint does not exist in the contract"}
			}
			return got
		}
		now := time.Unix(in.Now, 0)
		ledger := connect(t, now, s.serve())
		n, _ := wire.NetworkFor(bitcoin.Mainnet)
		data, _ := swapOf(t, in.Swap)
		a := chains.Auth{Prefix: in.Authorization.Prefix, Signature: in.Authorization.Signature}
		var err error
		a.Timeout = trial.Must(json.Number(in.Authorization.Timeout).Int64())(t)
		blockTime := in.Now
		if in.PreFetchedPendingBlockTime != nil {
			blockTime = *in.PreFetchedPendingBlockTime
		}
		for _, x := range want.Rpc {
			var b struct{ Timestamp int64 }
			if x.Method == "starknet_getBlockWithTxHashes" && json.Unmarshal(x.Result, &b) == nil {
				blockTime = b.Timestamp
			}
		}
		var q wire.SignatureCheck
		if in.Fn == "checkInit" {
			q, err = n.CheckInit(data, a, felt(t, in.Sender), now, blockTime)
		} else {
			q, err = n.CheckRefund(data, a, now)
		}
		if err == nil {
			err = ledger.Signed(t.Context(), q)
		}
		_, refused := errors.AsType[*chains.AuthError](err)
		switch {
		case strings.Contains(c.Name, "0x5"):
			c.Differ(t, "stark-signature-answer")
			if !refused {
				t.Errorf("an account that says 5 says yes: %v", err)
			}
		case strings.Contains(c.Name, "otherwise"):
			if fault.CodeOf(err) != fault.Upstream || refused || !strings.Contains(err.Error(), "boom") {
				t.Errorf("%v", err)
			}
		case vectors.Refused(c.Want(t)):
			if !refused {
				t.Errorf("%v", err)
			}
		case err != nil:
			t.Error(err)
		}
	})
}

// Polls: what is delivered, and where the next one begins.
func TestVectorsPoll(t *testing.T) {
	t.Parallel()
	vectors.Load(t, "chain-starknet", "events").Of(t, "poll").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			State json.RawMessage
			RPC   []exchange
		}
		c.Input(t, &in)
		s := newStub(t)
		s.learn(in.RPC)
		var at Cursor
		if string(in.State) != "null" {
			at = trial.Must(ParseCursor(in.State))(t)
		} else {
			for i := range s.events { // that node gave more than it was asked for
				*s.events[i].Height = s.height
				s.events[i].Block = hashOf(s.height)
			}
		}
		r := s.reader()
		delivered := []any{}
		next := at
		err := r.ledger.Poll(t.Context(), []*Reader{r}, at, func(news []News, to Cursor) error {
			for _, n := range news {
				e, ok := n.Event.(wire.RefundEvent)
				if !ok {
					t.Fatalf("%T", n.Event)
				}
				delivered = append(delivered, map[string]any{"escrowHash": wire.Digits64(e.EscrowHash), "txId": wire.Hex64(felt(t, n.Tx))})
			}
			next = to
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var state []any
		for _, p := range next[r.Version] {
			one := map[string]any{"lastBlockNumber": p.Block}
			if p.Tx != nil {
				one["lastTxHash"] = wire.Hex64(*p.Tx)
			}
			state = append(state, one)
		}
		vectors.SameJSON(t, c.Want(t), map[string]any{"state": state, "delivered": delivered})
		text := trial.Must(json.Marshal(next))(t)
		if back, err := ParseCursor(text); err != nil || !back[r.Version][0].equal(next[r.Version][0]) || !back[r.Version][1].equal(next[r.Version][1]) {
			t.Errorf("%s is read as %v, %v", text, back, err)
		}
	})
}

// An event that is not in a block is none.
func TestVectorsEventWithoutBlock(t *testing.T) {
	t.Parallel()
	for _, c := range vectors.Load(t, "chain-starknet", "events").Of(t, "escrowEvent").Cases {
		if c.Name != "event without block number is refused" {
			continue
		}
		var in struct{ Event json.RawMessage }
		c.Input(t, &in)
		s := newStub(t)
		s.methods["starknet_getEvents"] = func(json.RawMessage) any { return map[string]any{"events": []json.RawMessage{in.Event}} }
		r := s.reader()
		one := newScan(rpc.Filter{From: felt(t, "0x1"), Blocks: rpc.Range{Last: rpc.Newest}})
		if err := r.ledger.run(t.Context(), nil, []*scan{one}); err != nil || one.err != nil || len(one.found) != 0 {
			t.Errorf("%v, %v, %v", one.found, err, one.err)
		}
		return
	}
	t.Fatal("no such case")
}
