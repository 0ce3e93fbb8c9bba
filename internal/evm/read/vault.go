package read

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// VaultRead is the answer about one vault.
type VaultRead struct {
	Vault    wire.Vault // without parameters if it is not open
	OurRelay bool       // it believes this deployment's relay; one that does not is worthless
	Err      error      // this vault was not answered
}

// Fact returns the answer in neutral form.
func (r VaultRead) Fact(head chains.Block) chains.VaultFact {
	v := r.Vault
	f := chains.VaultFact{Err: r.Err, Head: head, Vault: chains.Vault{
		VaultID: chains.VaultID{Owner: v.Owner.Hex(), ID: v.ID},
		Open:    v.Opened, OurRelay: r.OurRelay,
		VaultState: bitcoin.VaultState{UTXO: v.UTXO, Raw: v.Raw, Withdrawals: v.Withdrawals},
	}}
	if v.Opened {
		f.Vault.Tokens = [2]string{v.Params.Token0.Hex(), v.Params.Token1.Hex()}
		f.Vault.Multipliers[0], f.Vault.Multipliers[1] = v.Params.Token0Multiplier, v.Params.Token1Multiplier
		f.Vault.Confirmations = uint32(v.Params.Confirmations.Uint64())
	}
	return f
}

// ReadVaults returns vaults as they stand at a block (the newest if its height
// is 0), in order. known, unless nil, gives the parameters of a commitment, which
// never change; for the others the log of the opening is read, in a second round
// trip (protocol: chain-evm.md §11.2).
func (d Contracts) ReadVaults(ctx context.Context, node rpc.Node, refs []wire.VaultRef, at chains.Block, known func(commitment common.Hash) (wire.VaultParams, bool)) ([]VaultRead, error) {
	answers := make([]hexutil.Bytes, len(refs))
	requests := make([]rpc.Request, len(refs))
	for i, ref := range refs {
		data, err := wire.VaultCall(ref)
		if err != nil {
			return nil, err
		}
		requests[i] = rpc.CallRequest(d.VaultManager.Address, data, rpc.BlockParam(at), &answers[i])
	}
	if len(refs) == 0 {
		return nil, nil
	}
	if err := node.Batch(ctx, requests); err != nil {
		return nil, err
	}
	reads, states := make([]VaultRead, len(refs)), make([]wire.VaultState, len(refs))
	var openings []rpc.Request
	var asked []int
	logs := make([][]types.Log, len(refs))
	for i, ref := range refs {
		reads[i].Vault.VaultRef = ref
		if reads[i].Err = requests[i].Err; reads[i].Err == nil {
			states[i], reads[i].Err = wire.DecodeVaultState(answers[i])
		}
		if reads[i].Err != nil || !states[i].Open() {
			continue
		}
		if p, ok := lookUp(known, states[i].SpvVaultParametersCommitment); ok {
			reads[i] = d.vaultRead(ref, states[i], p)
			continue
		}
		openings = append(openings, openingRequest(d, ref, states[i], &logs[i]))
		asked = append(asked, i)
	}
	if len(openings) > 0 {
		if err := node.Batch(ctx, openings); err != nil {
			return nil, err
		}
	}
	for n, i := range asked {
		if err := openings[n].Err; err != nil {
			reads[i].Err = err
			continue
		}
		p, err := d.paramsIn(logs[i], refs[i], states[i].SpvVaultParametersCommitment)
		if err != nil {
			reads[i].Err = err
			continue
		}
		reads[i] = d.vaultRead(refs[i], states[i], p)
	}
	return reads, nil
}

func (d Contracts) vaultRead(ref wire.VaultRef, s wire.VaultState, p wire.VaultParams) VaultRead {
	// NewVault refuses a foreign relay; here that is a fact to be told.
	own := d
	own.BtcRelay.Address = p.BtcRelayContract
	v, err := own.NewVault(ref, s, p)
	if err != nil {
		return VaultRead{Vault: wire.Vault{VaultRef: ref}, Err: err}
	}
	return VaultRead{Vault: v, OurRelay: p.BtcRelayContract == d.BtcRelay.Address}
}

func openingRequest(d Contracts, ref wire.VaultRef, s wire.VaultState, into *[]types.Log) rpc.Request {
	height := uint64(s.OpenBlockheight)
	owner := common.BytesToHash(ref.Owner[:])
	return rpc.LogRequest(d.VaultManager.Address, rpc.BlockRange{From: height, To: height},
		[][]common.Hash{{wire.VaultABI().Events["Opened"].ID}, {owner}, {common.BigToHash(ref.ID)}}, into)
}

// paramsIn finds the parameters of a vault among the logs of its opening.
func (d Contracts) paramsIn(logs []types.Log, ref wire.VaultRef, commitment common.Hash) (wire.VaultParams, error) {
	for _, l := range logs {
		e, err := d.DecodeLog(l)
		opened, ok := e.(wire.VaultOpenEvent)
		if err != nil || !ok {
			continue
		}
		if hash, err := opened.Params.Commitment(); err == nil && hash == commitment {
			return opened.Params, nil
		}
	}
	return wire.VaultParams{}, fmt.Errorf("found no log of the opening of vault %s of %s", ref.ID, ref.Owner)
}

// ReadWithdrawals looks for withdrawals in the logs of a range of blocks and
// returns what it says of each, in order. The first 64 withdrawals take one
// round trip for every [evmrpc.ParallelLogReads] ranges of [evmrpc.LogRange] blocks.
func (d Contracts) ReadWithdrawals(ctx context.Context, node rpc.Node, lookups []wire.WithdrawalLookup, blocks rpc.BlockRange) ([]chains.WithdrawalFact, error) {
	for _, l := range lookups {
		if !wire.InBits(l.Vault.ID, 96) {
			return nil, fault.Invalid("vaultId", "must be from 0 to 2^96-1")
		}
	}
	events := wire.VaultABI().Events
	kinds := []common.Hash{events["Fronted"].ID, events["Claimed"].ID, events["Closed"].ID}
	facts := make([]chains.WithdrawalFact, len(lookups))
	for first := 0; first < len(lookups); first += rpc.LogTopicValues {
		some := lookups[first:min(first+rpc.LogTopicValues, len(lookups))]
		ids := make([]common.Hash, len(some))
		for i, l := range some {
			ids[i] = common.Hash(l.TxID)
		}
		logs, err := d.scan(ctx, node, [][]common.Hash{kinds, nil, nil, ids}, blocks)
		if err != nil {
			return nil, err
		}
		for i, l := range some {
			facts[first+i] = d.Outcome(l, logs)
		}
	}
	return facts, nil
}

// scan returns the vault manager's logs of a range of blocks in ascending order.
func (d Contracts) scan(ctx context.Context, node rpc.Node, topics [][]common.Hash, blocks rpc.BlockRange) ([]types.Log, error) {
	var found []types.Log
	for some := range rpc.NewLogRanges(blocks.From, blocks.To, rpc.LogRange).Up(rpc.ParallelLogReads) {
		answers := make([][]types.Log, len(some))
		requests := make([]rpc.Request, len(some))
		for i, r := range some {
			requests[i] = rpc.LogRequest(d.VaultManager.Address, r, topics, &answers[i])
		}
		if err := rpc.AskAll(ctx, node, requests); err != nil {
			return nil, err
		}
		for _, logs := range answers {
			found = append(found, logs...)
		}
	}
	return found, nil
}

func lookUp(known func(common.Hash) (wire.VaultParams, bool), commitment common.Hash) (wire.VaultParams, bool) {
	if known == nil {
		return wire.VaultParams{}, false
	}
	return known(commitment)
}
