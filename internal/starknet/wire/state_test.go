package wire

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsState(t *testing.T) {
	// Blocks, nonces, confirmations and scans are read in package read.
	f := vectors.Load(t, "chain-starknet", "state").But(t, "getCommitStatusEventMissing", "getTxIdStatus", "getFinalizedBlock", "getNonce", "getHistoricalSwaps")
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, BitcoinNetwork, AskedNetwork, Signer, Address, Token, NodeChainID string
			Owner, VaultID                                                        string
			Now                                                                   int64
			Swap                                                                  json.RawMessage
			Swaps                                                                 []json.RawMessage
			HashState                                                             struct {
				InitBlockheight, FinishBlockheight uint64
				State                              uint8
			}
			RPC          []exchange
			RPCResult    []string
			WithdrawalTx btcTxJSON
			Withdrawals  []struct{ Tx btcTxJSON }
		}
		c.Input(t, &in)
		d := deploymentOf(t, in.BitcoinNetwork)
		switch in.Fn {
		case "getCommitStatus":
			s, signer, now := swapOf(t, in.Swap), feltOf(t, in.Signer), time.Unix(in.Now, 0)
			record, err := readState([]Felt{FeltOf(in.HashState.InitBlockheight), FeltOf(in.HashState.FinishBlockheight), FeltOf(uint64(in.HashState.State))})
			if err != nil || record != (EscrowRecord{in.HashState.InitBlockheight, in.HashState.FinishBlockheight, chains.EscrowState(in.HashState.State)}) {
				t.Fatalf("%+v, %v", record, err)
			}
			open, expired := record.State == chains.EscrowOpen, s.IsExpired(signer, now)
			got := map[string]any{"isExpired": expired, "isClaimable": signer == s.Claimer && open && !expired,
				"isRefundable": signer == s.Offerer && open && expired, "isCommited": open}
			for name, v := range checkEscrowRPC(t, d, s, record, in.RPC) {
				got[name] = v
			}
			var want map[string]json.RawMessage
			c.Expected(t, &want)
			if paid := record.State == chains.EscrowClaimed; paid != (string(want["type"]) == `"PAID"`) {
				t.Errorf("state %v, the reference says %s", record.State, want["type"])
			}
			delete(want, "type")
			for _, name := range []string{"initTxId", "claimTxId", "refundTxId", "claimResult", "txBlock"} { // from blocks, which few cases have
				if _, ok := got[name]; !ok {
					delete(want, name)
				}
			}
			vectors.SameJSON(t, vectors.JSON(t, want), got)
		case "getCommitStatuses":
			var want struct {
				Count int
				Keys  []string
			}
			c.Expected(t, &want)
			var hashes []string
			for _, text := range in.Swaps {
				hashes = append(hashes, Digits64(escrowHash(t, swapOf(t, text))))
			}
			if !slices.Equal(want.Keys, hashes) || c.Name != fmt.Sprintf("batch of %d keyed by escrow hash", want.Count) { // the first of them are in the file
				t.Errorf("%v, want %v", hashes, want.Keys)
			}
		case "lpReads":
			lp, token := feltOf(t, in.Address), feltOf(t, in.Token)
			got := map[string]any{}
			for _, x := range in.RPC {
				r := x.Params.Request
				asked, told := feltsOf(t, r.Calldata), x.felts(t)
				var want []Felt
				var err error
				switch feltOf(t, r.EntryPointSelector) {
				case Selector(EntryReputation):
					want = d.ReputationCall(lp, token)
					var all map[chains.Kind]chains.Reputation
					all, err = ReadReputation(told)
					reputation := map[string]any{}
					for k, v := range all {
						reputation[k.String()] = map[string]any{"successVolume": v.SuccessVolume.String(), "successCount": texts(v.Successes)[0], "coopCloseVolume": v.CoopCloseVolume.String(),
							"coopCloseCount": texts(v.CoopCloses)[0], "failVolume": v.FailureVolume.String(), "failCount": texts(v.Failures)[0]}
					}
					got["reputation"] = reputation
				case Selector(EntryLPBalance):
					want = LPBalanceCall(lp, token)
					n, e := ReadLPBalance(told)
					got["vaultBalance"], err = n.String(), e
				case Selector(EntryBalanceOf):
					want = []Felt{lp}
					n, e := ReadU256(told)
					got["walletBalance"], err = n.String(), e
				default:
					t.Fatalf("%s is asked", r.EntryPointSelector)
				}
				if err != nil || !slices.Equal(asked, want) {
					t.Errorf("the reference asks %v, here %v; %v", r.Calldata, hexes(want), err)
				}
			}
			vectors.SameJSON(t, c.Want(t), got)
		case "lpReputation":
			_, err := ReadReputation(feltsOf(t, in.RPCResult))
			c.Refuses(t, err)
		case "verifyNetwork":
			n := networkOf(t, in.BitcoinNetwork)
			err := n.CheckChainID(feltOf(t, in.NodeChainID))
			if in.AskedNetwork != "" && networkOf(t, in.AskedNetwork).Bitcoin != n.Bitcoin { // there is one Bitcoin network for all parts here
				err = fault.New(fault.Unsupported, "another Bitcoin network")
			}
			if id := feltOf(t, in.NodeChainID); id != ShortString(Mainnet) && id != ShortString(Sepolia) {
				c.Differ(t, "stark-identity")
				if err == nil {
					t.Errorf("the chain id %s is accepted", in.NodeChainID)
				}
				return
			}
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, c.Want(t), map[string]bool{"ok": true})
			}
		case "getWithdrawalState":
			vectors.SameJSON(t, c.Want(t), map[string]any{"state": withdrawalState(t, d, in.WithdrawalTx, in.RPC)})
		case "getWithdrawalStates":
			states := map[string]any{}
			for _, w := range in.Withdrawals {
				states[w.Tx.TxID] = withdrawalState(t, d, w.Tx, in.RPC)
			}
			vectors.SameJSON(t, c.Want(t), map[string]any{"states": states})
		case "getFronterAddress":
			c.NotOurs(t, "who-advanced")
		case "checkWithdrawalTx":
			if in.RPCResult == nil { // the call reverts, which is the node's to say
				if !vectors.Refused(c.Want(t)) {
					t.Error("the reference accepts it")
				}
				return
			}
			err := CheckParsedWithdrawal(feltsOf(t, in.RPCResult), in.WithdrawalTx.withdrawal(t))
			if strings.Contains(c.Name, "None") {
				c.Differ(t, "stark-vault-dry-run")
				if fault.CodeOf(err) != fault.Upstream {
					t.Errorf("a transaction that the contract cannot read: %v", err)
				}
				return
			}
			if err != nil {
				t.Error(err)
			}
			c.Differ(t, "stark-byte-array") // the length of the transaction is a multiple of 31
			var want struct {
				Request struct {
					Params struct {
						Request struct {
							ContractAddress    string   `json:"contract_address"`
							EntryPointSelector string   `json:"entry_point_selector"`
							Calldata           []string `json:"calldata"`
						}
					}
				}
			}
			c.Expected(t, &want)
			r := want.Request.Params.Request
			all := ByteArray(vectors.Unhex(t, in.WithdrawalTx.Hex))
			if n := len(r.Calldata); feltOf(t, r.ContractAddress) != d.VaultManager.Address || feltOf(t, r.EntryPointSelector) != Selector(EntryParseBitcoinTx) ||
				!slices.Equal(feltsOf(t, r.Calldata)[1:n-1], all[1:len(all)-2]) {
				t.Errorf("%v, here %v", r, hexes(all))
			}
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

// checkEscrowRPC compares what the reference asked of a contract about an escrow, and
// reads what it was told: which transactions opened and ended it, and with what result.
func checkEscrowRPC(t *testing.T, d Deployment, s SwapData, record EscrowRecord, rpc []exchange) map[string]any {
	t.Helper()
	found := map[string]any{}
	for _, x := range rpc {
		switch x.Method {
		case "starknet_call":
			r := x.Params.Request
			if feltOf(t, r.EntryPointSelector) != Selector(EntryHashState) || !slices.Equal(feltsOf(t, r.Calldata), []Felt{escrowHash(t, s)}) {
				t.Errorf("%s with %v is asked", r.EntryPointSelector, r.Calldata)
			}
			answer := x.felts(t)
			if told, err := readState(answer); err != nil || told != record {
				t.Errorf("%v is %+v, %v", answer, told, err)
			}
		case "starknet_getEvents":
			for _, l := range logsOf(t, x.Result) {
				e := trial.Must(d.DecodeLog(l.Log))(t)
				var hash Felt
				switch e := e.(type) {
				case InitializeEvent:
					hash, found["initTxId"] = e.EscrowHash, l.TxID
				case ClaimEvent:
					hash, found["claimTxId"], found["claimResult"] = e.EscrowHash, l.TxID, hex.EncodeToString(e.Result[:])
				case RefundEvent:
					hash, found["refundTxId"] = e.EscrowHash, l.TxID
				}
				if hash != escrowHash(t, s) {
					t.Errorf("%+v is of another escrow", e)
				}
			}
		}
	}
	return found
}

// withdrawalState is what the reference makes of the logs in a node's answers.
func withdrawalState(t *testing.T, d Deployment, tx btcTxJSON, rpc []exchange) map[string]any {
	t.Helper()
	w := tx.withdrawal(t)
	state := map[string]any{"type": "NOT_FOUND"}
	low, high := TxIDKeys(w.TxID)
	for _, x := range rpc {
		if x.Method != "starknet_getEvents" {
			continue
		}
		for _, l := range logsOf(t, x.Result) {
			if l.Keys[1] != low || l.Keys[2] != high {
				continue
			}
			e := trial.Must(d.DecodeLog(l.Log))(t)
			of := func(name string, v VaultRef, more map[string]any) {
				more["type"], more["btcTxId"], more["owner"], more["vaultId"], more["txId"] = name, w.TxID.String(), Hex64(v.Owner), Decimal(v.ID), l.TxID
				state = more
			}
			var ref VaultRef
			switch e := e.(type) {
			case VaultFrontEvent:
				ref = e.VaultRef
				of("FRONTED", ref, map[string]any{"recipient": Hex64(e.Recipient), "fronter": Hex64(e.Fronter)})
			case VaultClaimEvent:
				ref = e.VaultRef
				of("CLAIMED", ref, map[string]any{"recipient": Hex64(e.Recipient), "claimer": Hex64(e.Caller), "fronter": Hex64(e.Fronter)})
			case VaultCloseEvent:
				ref = e.VaultRef
				of("CLOSED", ref, map[string]any{"error": e.Reason})
			}
			f := d.Outcome(WithdrawalLookup{ref, feltOf(t, w.Recipient), w.TxID}, logsOf(t, x.Result))
			want := map[chains.WithdrawalState][]string{chains.WithdrawalFronted: {"FRONTED"}, chains.WithdrawalClaimed: {"FRONTED", "CLAIMED"}, chains.WithdrawalClosed: {"CLOSED"}}
			if !slices.Contains(want[f.State], state["type"].(string)) {
				t.Errorf("%+v, the reference says %v", f, state)
			}
		}
	}
	return state
}

// readState reads the state of one escrow.
func readState(answer []Felt) (EscrowRecord, error) {
	all, err := ReadEscrowStates(append([]Felt{FeltOf(1)}, answer...), 1)
	if err != nil {
		return EscrowRecord{}, err
	}
	return all[0], nil
}

func TestReadStateRefuses(t *testing.T) {
	for name, answer := range map[string][]Felt{
		"a state of 4": {{}, {}, FeltOf(4)}, "two felts": {{}, {}}, "four felts": {{}, {}, {}, {}}, "a height of 65 bits": {feltOf(t, "0x10000000000000000"), {}, {}}, "nothing": nil,
	} {
		if _, err := readState(answer); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	if call := EscrowStatesCall([]Felt{FeltOf(7), FeltOf(8)}); !slices.Equal(call, []Felt{FeltOf(2), FeltOf(7), FeltOf(8)}) {
		t.Errorf("%v", hexes(call))
	}
	two := []Felt{FeltOf(2), FeltOf(5), {}, FeltOf(1), FeltOf(5), FeltOf(6), FeltOf(2)}
	if all, err := ReadEscrowStates(two, 2); err != nil || all[0] != (EscrowRecord{5, 0, chains.EscrowOpen}) || all[1] != (EscrowRecord{5, 6, chains.EscrowClaimed}) {
		t.Errorf("%+v, %v", all, err)
	}
	for n, answer := range map[int][]Felt{1: two, 3: two, 2: two[:6]} {
		if _, err := ReadEscrowStates(answer, n); err == nil {
			t.Errorf("%d states are read from %d felts", n, len(answer))
		}
	}
	if _, err := ReadLPBalance([]Felt{FeltOf(2), {}, {}, {}, {}}); err == nil {
		t.Error("two balances are read as one")
	}
}
