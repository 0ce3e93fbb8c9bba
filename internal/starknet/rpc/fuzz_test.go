package rpc

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/swapper-go/swapper/internal/jsonrpc"
)

// Answers are written by others: whatever they are, reading them neither panics nor lets
// through what is not in an accepted block.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"status":"ACCEPTED_ON_L2","block_hash":"0x9","block_number":5,"timestamp":77,"l1_gas_price":{"price_in_fri":"0x3"}}`,
		`{"block_number":5,"timestamp":77}`,
		`{"events":[{"from_address":"0x5","keys":["0x1"],"data":[],"block_hash":"0x9","block_number":7,"transaction_hash":"0x3"},{"block_number":8}],"continuation_token":"8-0"}`,
		`{"transaction_hash":"0x1","execution_status":"SUCCEEDED","finality_status":"ACCEPTED_ON_L2","block_hash":"0x9","block_number":5,"actual_fee":{"amount":"0x9","unit":"FRI"},"events":[{"from_address":"0x1","keys":[],"data":[]}]}`,
		`{"transaction_hash":"0x1","execution_status":"REVERTED","finality_status":"PRE_CONFIRMED","block_number":5,"revert_reason":"x"}`,
		`{"finality_status":"CANDIDATE"}`,
		`{"l1_gas_consumed":"0x1","l1_gas_price":"0x2","overall_fee":"0xe","unit":"FRI"}`,
		`{"transaction_trace":{"type":"INVOKE","execute_invocation":{"revert_reason":"x"}},"fee_estimation":{"overall_fee":"0x1"}}`,
		`[{"transaction_hash":"0x1","trace_root":{}}]`,
		`["0x1","0x2"]`, `"0x7"`, `"0.9.0"`, `null`, `{"transaction_hash":"0x1"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var b Block
		if json.Unmarshal(data, &b) == nil && (b.Hash.IsZero() || b.Height > maxNumber || b.Time < 0 || b.Time > maxNumber) {
			t.Errorf("%s is the block %+v", data, b)
		}
		var p PreConfirmed
		if json.Unmarshal(data, &p) == nil && (p.Time < 0 || p.Height > maxNumber) {
			t.Errorf("%s is %+v", data, p)
		}
		var page Page
		if json.Unmarshal(data, &page) == nil {
			if len(page.Next) > maxToken {
				t.Error("a long token")
			}
			for _, e := range page.Events {
				if e.Block.IsZero() || e.Height > maxNumber {
					t.Errorf("%s has an event without a block", data)
				}
			}
		}
		var r Receipt
		if json.Unmarshal(data, &r) == nil {
			if block, ok := r.Accepted(); ok && (block.Hash.IsZero() || block.Height > maxNumber) || !ok && block != (BlockRef{}) {
				t.Errorf("%s is accepted in %+v", data, block)
			}
			if r.Fee != nil && r.Fee.Sign() < 0 {
				t.Error("a negative fee")
			}
		}
		var e Estimate
		if json.Unmarshal(data, &e) == nil && (e.Fee == nil || e.Fee.Sign() < 0) {
			t.Errorf("%s is %+v", data, e)
		}
		var felts Felts
		if json.Unmarshal(data, &felts) == nil && (felts == nil || len(felts) > maxFelts) {
			t.Errorf("%d felts", len(felts))
		}
		if v, err := readVersion(data); err == nil && (v < oldest || v > newestVersion) {
			t.Errorf("%s is version %d", data, v)
		}
		for _, to := range []any{new(Progress), new(Sent), new(Simulation), new(BlockTraces), new(Nonce), new(PreConfirmedNonce), new(ClassHash)} {
			_ = json.Unmarshal(data, to)
		}
		err := &jsonrpc.Error{Code: codeContractError, Text: "Contract error", Data: data}
		if len(RevertReason(err)) > 4096 {
			t.Error("a reason without end")
		}
		_, _ = IsNoEntry(err), IsNonceUsed(errors.Join(err))
	})
}
