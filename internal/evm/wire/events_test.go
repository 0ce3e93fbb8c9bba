package wire

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func texts(raw [2]uint64) []string {
	return []string{strconv.FormatUint(raw[0], 10), strconv.FormatUint(raw[1], 10)}
}

// referenceEvent writes an event as the reference gives it to its client.
func referenceEvent(t *testing.T, d Deployment, e Event, trace CallFrame) map[string]any {
	t.Helper()
	escrow := func(e EscrowEvent) string { return hex.EncodeToString(e.EscrowHash[:]) }
	switch e := e.(type) {
	case InitializeEvent:
		s := trial.Must(d.FindSwapData(trace, e.EscrowHash))(t)
		return map[string]any{"class": "InitializeEvent", "eventType": 0, "escrowHash": escrow(e.EscrowEvent),
			"swapType": e.Kind, "swapData": s}
	case ClaimEvent:
		return map[string]any{"class": "ClaimEvent", "eventType": 2, "escrowHash": escrow(e.EscrowEvent), "result": hex.EncodeToString(e.Result)}
	case RefundEvent:
		return map[string]any{"class": "RefundEvent", "eventType": 1, "escrowHash": escrow(e.EscrowEvent)}
	case VaultOpenEvent:
		return map[string]any{"class": "SpvVaultOpenEvent", "eventType": 0, "owner": e.Owner.Hex(), "vaultId": e.ID.String(),
			"btcTxId": e.UTXO.Hash.String(), "vout": e.UTXO.Index}
	case vaultDepositEvent:
		return map[string]any{"class": "SpvVaultDepositEvent", "eventType": 1, "owner": e.Owner.Hex(), "vaultId": e.ID.String(),
			"amounts": texts(e.Amounts), "depositCount": e.Deposits}
	case VaultFrontEvent:
		return map[string]any{"class": "SpvVaultFrontEvent", "eventType": 4, "owner": e.Owner.Hex(), "vaultId": e.ID.String(),
			"btcTxId": e.BitcoinTx.String(), "recipient": e.Recipient.Hex(), "executionHash": e.ExecutionHash, "amounts": texts(e.Amounts),
			"frontingAddress": e.Fronter.Hex()}
	case VaultClaimEvent:
		return map[string]any{"class": "SpvVaultClaimEvent", "eventType": 2, "owner": e.Owner.Hex(), "vaultId": e.ID.String(),
			"btcTxId": e.BitcoinTx.String(), "recipient": e.Recipient.Hex(), "executionHash": e.ExecutionHash, "amounts": texts(e.Amounts),
			"caller": e.Caller.Hex(), "frontingAddress": e.Fronter.Hex(), "withdrawCount": e.Withdrawals}
	case VaultCloseEvent:
		return map[string]any{"class": "SpvVaultCloseEvent", "eventType": 3, "owner": e.Owner.Hex(), "vaultId": e.ID.String(),
			"btcTxId": e.BitcoinTx.String(), "error": hexutil.Encode(e.Reason)}
	}
	t.Fatalf("unknown event %T", e)
	return nil
}

func TestVectorsEvents(t *testing.T) {
	vectors.Each(t, "chain-evm", "events", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Chain string
			Log   types.Log
			Trace *CallFrame
		}
		c.Input(t, &in)
		var want struct {
			Events []json.RawMessage
			State  []json.RawMessage // cursors of the escrow manager and of the vault manager
		}
		c.Expected(t, &want)
		d := deploymentOf(t, in.Chain)
		e := trial.Must(d.DecodeLog(in.Log))(t)
		var trace CallFrame
		if in.Trace != nil {
			trace = *in.Trace
		}
		got := []any{}
		if e != nil {
			m := referenceEvent(t, d, e, trace)
			// The vectors' blocks carry the time 1700000000 + height.
			when := 1_700_000_000 + in.Log.BlockNumber
			m["meta"] = map[string]any{"blockTime": when, "timestamp": when, "txId": in.Log.TxHash}
			got = append(got, m)
		}
		vectors.SameJSON(t, mustJSON(t, want.Events), got)

		// Both contracts are read up to block 5000; only one of them has a log.
		const tip = 5000
		cursors := []any{}
		for _, contract := range []Contract{d.EscrowManager, d.VaultManager} {
			var logs []types.Log
			if contract.Address == in.Log.Address {
				logs = []types.Log{in.Log}
			}
			start := rpc.LogCursor{Block: 1}
			next := start.Next(start.New(logs), tip)
			m := map[string]any{"lastBlockNumber": next.Block}
			if len(logs) > 0 {
				m["lastEvent"] = map[string]any{"blockHash": next.BlockHash, "logIndex": next.LogIndex}
				if rest := next.New(logs); len(rest) != 0 {
					t.Error("the same log would be read again")
				}
			}
			cursors = append(cursors, m)
		}
		vectors.SameJSON(t, mustJSON(t, want.State), cursors)

		in.Log.Removed = true
		if e, err := d.DecodeLog(in.Log); e != nil || err != nil {
			t.Errorf("removed log read as %v, %v", e, err)
		}
	})
}
