package read

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsCommitStatus(t *testing.T) {
	vectors.Each(t, "chain-evm", "commit_status", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Chain, Signer                        string
			Swap                                 json.RawMessage
			Now                                  int64
			GetHashStateCall, GetHashStateReturn hexutil.Bytes
			Logs                                 []types.Log
		}
		c.Input(t, &in)
		d, now := deploymentOf(t, in.Chain), time.Unix(in.Now, 0)
		s := trial.Must(wire.ParseSwapData(in.Swap))(t)
		signer := common.HexToAddress(in.Signer)
		hash := trial.Must(s.EscrowHash())(t)
		// The canned answer is to the single form of the call.
		single := wire.EscrowABI().Methods["getHashState"]
		if ask, err := wire.EscrowABI().Pack("getHashState", hash); err != nil || !bytes.Equal(ask, in.GetHashStateCall) {
			t.Errorf("call data %x, want %x", ask, in.GetHashStateCall)
		}
		var record wire.EscrowRecord
		trial.Do(t, wire.Unpack(wire.EscrowABI(), single.Name, in.GetHashStateReturn, &record))
		node := &cannedNode{t: t, logs: in.Logs, view: viewStates(t, map[common.Hash]wire.EscrowRecord{hash: record})}
		facts, err := Contracts{d}.ReadEscrows(context.Background(), node, []common.Hash{hash}, chains.Heads{}, Known{})
		if err != nil || facts[0].Err != nil {
			t.Fatal(err, facts[0].Err)
		}
		f := facts[0]
		var says struct{ TypeName string }
		c.Expected(t, &says)
		if paid := f.State == chains.EscrowClaimed; paid != (says.TypeName == "PAID") {
			t.Errorf("state %v, the reference says %s", f.State, says.TypeName)
		}
		got := map[string]any{
			"isExpired":           s.IsExpired(signer, now),
			"isRequestRefundable": signer == s.Offerer && f.State == chains.EscrowOpen && s.IsExpired(signer, now),
			"isClaimable":         signer == s.Claimer && f.State == chains.EscrowOpen && s.ClaimInTime(now, 0),
			"isCommited":          f.State == chains.EscrowOpen,
		}
		for name, tx := range map[string]string{"initTxId": f.InitTx, "claimTxId": f.ClaimTx, "refundTxId": f.RefundTx} {
			if tx != "" {
				got[name] = tx
			}
		}
		if f.ClaimTx != "" {
			got["claimResult"] = hexutil.Encode(f.Result)
		}
		if f.Finished.Height != 0 {
			got["txBlock"] = map[string]any{"blockTime": f.Finished.Time, "blockHeight": f.Finished.Height}
		}
		vectors.SameJSON(t, vectors.Without(t, c.Want(t), "type", "typeName"), got)
		if f.State == chains.EscrowRefunded && settle.CanInit(f.State) == nil {
			t.Error("a refunded escrow would be opened again")
		}
	})
}

func TestVectorsBtcRelayLookup(t *testing.T) {
	vectors.Each(t, "chain-evm", "btcrelay_lookup", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Chain, Blockhash, MainChainCommitment string
			RequiredBlockheight, RelayHeight      uint32
			Trace                                 wire.CallFrame
			Log                                   *types.Log
		}
		c.Input(t, &in)
		d := deploymentOf(t, in.Chain)
		block := trial.Must(bitcoin.ParseHash(in.Blockhash))(t)
		node := &cannedNode{t: t, traces: map[common.Hash]wire.CallFrame{}}
		node.view = func(_ common.Address, m *abi.Method, args []any, _ []byte) ([]byte, error) {
			switch m.Name {
			case "getBlockheight":
				return pack(t, m, in.RelayHeight), nil
			case "getCommitHash":
				// What is no hash stands for any other one.
				return pack(t, m, common.BytesToHash(common.FromHex(in.MainChainCommitment))), nil
			}
			return nil, errors.New("execution reverted")
		}
		if in.Log != nil {
			node.logs = []types.Log{*in.Log}
			node.traces[in.Log.TxHash] = in.Trace
		}
		at := chains.Heads{Latest: chains.Block{Height: d.BtcRelay.Height + 20*rpc.LogRange}}
		header, tip, found, err := Contracts{d}.ReadHeader(context.Background(), node, block, in.RequiredBlockheight, at, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]any{"found": found}
		if found {
			got["header"], got["height"] = hex.EncodeToString(header[:]), tip
		}
		vectors.SameJSON(t, c.Want(t), got)
	})
}

func TestVectorsIntermediary(t *testing.T) {
	vectors.Each(t, "chain-evm", "intermediary", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Chain, Owner, Token                    string
			GetReputationCall, GetReputationReturn hexutil.Bytes
			GetBalanceCall, GetBalanceReturn       hexutil.Bytes
		}
		c.Input(t, &in)
		node := &cannedNode{t: t, view: func(_ common.Address, _ *abi.Method, _ []any, data []byte) ([]byte, error) {
			switch {
			case bytes.Equal(data, in.GetReputationCall):
				return in.GetReputationReturn, nil
			case bytes.Equal(data, in.GetBalanceCall):
				return in.GetBalanceReturn, nil
			}
			return nil, errors.New("execution reverted")
		}}
		funds := trial.Must(Contracts{deploymentOf(t, in.Chain)}.ReadFunds(context.Background(), node, common.HexToAddress(in.Owner), common.HexToAddress(in.Token)))(t)
		if node.trips != 1 {
			t.Errorf("%d round trips", node.trips)
		}
		reputation := map[string]any{}
		for k, r := range funds.Reputation {
			number := func(n uint64) string { return strconv.FormatUint(n, 10) }
			reputation[k.String()] = map[string]string{
				"successVolume": r.SuccessVolume.String(), "successCount": number(r.Successes),
				"coopCloseVolume": r.CoopCloseVolume.String(), "coopCloseCount": number(r.CoopCloses),
				"failVolume": r.FailureVolume.String(), "failCount": number(r.Failures),
			}
		}
		vectors.SameJSON(t, c.Want(t), map[string]any{"balance": funds.Balance.String(), "reputation": reputation})
	})
}
