package evm

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// VaultRead is the answer about one vault.
type VaultRead struct {
	Vault    Vault // without parameters if it is not open
	OurRelay bool  // it believes this deployment's relay; one that does not is worthless
	Err      error // this vault was not answered
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
func (d Deployment) ReadVaults(ctx context.Context, node Node, refs []VaultRef, at chains.Block, known func(commitment common.Hash) (VaultParams, bool)) ([]VaultRead, error) {
	answers := make([]hexutil.Bytes, len(refs))
	requests := make([]Request, len(refs))
	for i, ref := range refs {
		data, err := VaultCall(ref)
		if err != nil {
			return nil, err
		}
		requests[i] = callRequest(d.VaultManager.Address, data, blockParam(at), &answers[i])
	}
	if len(refs) == 0 {
		return nil, nil
	}
	if err := node.Batch(ctx, requests); err != nil {
		return nil, err
	}
	reads, states := make([]VaultRead, len(refs)), make([]VaultState, len(refs))
	var openings []Request
	var asked []int
	logs := make([][]types.Log, len(refs))
	for i, ref := range refs {
		reads[i].Vault.VaultRef = ref
		if reads[i].Err = requests[i].Err; reads[i].Err == nil {
			states[i], reads[i].Err = DecodeVaultState(answers[i])
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

func (d Deployment) vaultRead(ref VaultRef, s VaultState, p VaultParams) VaultRead {
	// NewVault refuses a foreign relay; here that is a fact to be told.
	own := d
	own.BtcRelay.Address = p.BtcRelayContract
	v, err := own.NewVault(ref, s, p)
	if err != nil {
		return VaultRead{Vault: Vault{VaultRef: ref}, Err: err}
	}
	return VaultRead{Vault: v, OurRelay: p.BtcRelayContract == d.BtcRelay.Address}
}

func openingRequest(d Deployment, ref VaultRef, s VaultState, into *[]types.Log) Request {
	height := uint64(s.OpenBlockheight)
	owner := common.BytesToHash(ref.Owner[:])
	return logRequest(d.VaultManager.Address, BlockRange{height, height},
		[][]common.Hash{{vaultABI().Events["Opened"].ID}, {owner}, {common.BigToHash(ref.ID)}}, into)
}

// paramsIn finds the parameters of a vault among the logs of its opening.
func (d Deployment) paramsIn(logs []types.Log, ref VaultRef, commitment common.Hash) (VaultParams, error) {
	for _, l := range logs {
		e, err := d.DecodeLog(l)
		opened, ok := e.(VaultOpenEvent)
		if err != nil || !ok {
			continue
		}
		if hash, err := opened.Params.Commitment(); err == nil && hash == commitment {
			return opened.Params, nil
		}
	}
	return VaultParams{}, fmt.Errorf("no log of the opening of vault %s of %s", ref.ID, ref.Owner)
}

// WithdrawalLookup names a withdrawal to look for.
type WithdrawalLookup struct {
	Vault     VaultRef
	Recipient common.Address
	TxID      bitcoin.Hash
}

// Outcome reads what became of a withdrawal from logs in ascending order
// (protocol: chain-evm.md §11.4). That it was advanced is overridden by its
// claim or by the closing of the vault. Logs name a Bitcoin transaction that
// anybody can choose, so those of another vault or recipient do not count.
func (d Deployment) Outcome(l WithdrawalLookup, logs []types.Log) chains.WithdrawalFact {
	var f chains.WithdrawalFact
	if !inBits(l.Vault.ID, 96) {
		return f
	}
	want := packVaultRef(l.Vault)
	for _, log := range logs {
		e, err := d.DecodeLog(log)
		if err != nil {
			continue
		}
		tx := log.TxHash.Hex()
		switch e := e.(type) {
		case VaultFrontEvent:
			if packVaultRef(e.VaultRef) == want && e.Recipient == l.Recipient && e.BitcoinTx == l.TxID {
				f.FrontTx = tx
				if f.State == chains.WithdrawalNone {
					f.State, f.Height = chains.WithdrawalFronted, log.BlockNumber
				}
			}
		case VaultClaimEvent:
			if packVaultRef(e.VaultRef) == want && e.Recipient == l.Recipient && e.BitcoinTx == l.TxID {
				f.State, f.ClaimTx, f.Height = chains.WithdrawalClaimed, tx, log.BlockNumber
			}
		case VaultCloseEvent:
			if packVaultRef(e.VaultRef) == want && e.BitcoinTx == l.TxID {
				f.State, f.Close, f.Height = chains.WithdrawalClosed, tx, log.BlockNumber
			}
		}
	}
	return f
}

// ReadWithdrawals looks for withdrawals in the logs of a range of blocks and
// returns what it says of each, in order. The first 64 withdrawals take one
// round trip for every [ParallelLogReads] ranges of [LogRange] blocks.
func (d Deployment) ReadWithdrawals(ctx context.Context, node Node, lookups []WithdrawalLookup, blocks BlockRange) ([]chains.WithdrawalFact, error) {
	for _, l := range lookups {
		if !inBits(l.Vault.ID, 96) {
			return nil, fault.Invalid("vaultId", "must be from 0 to 2^96-1")
		}
	}
	events := vaultABI().Events
	kinds := []common.Hash{events["Fronted"].ID, events["Claimed"].ID, events["Closed"].ID}
	facts := make([]chains.WithdrawalFact, len(lookups))
	for first := 0; first < len(lookups); first += LogTopicValues {
		some := lookups[first:min(first+LogTopicValues, len(lookups))]
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
func (d Deployment) scan(ctx context.Context, node Node, topics [][]common.Hash, blocks BlockRange) ([]types.Log, error) {
	var found []types.Log
	ranges := LogRanges(blocks.From, blocks.To, LogRange)
	for len(ranges) > 0 {
		some := ranges[:min(ParallelLogReads, len(ranges))]
		ranges = ranges[len(some):]
		answers := make([][]types.Log, len(some))
		requests := make([]Request, len(some))
		for i, r := range some {
			requests[i] = logRequest(d.VaultManager.Address, r, topics, &answers[i])
		}
		if err := batch(ctx, node, requests); err != nil {
			return nil, err
		}
		for _, logs := range answers {
			found = append(found, logs...)
		}
	}
	return found, nil
}

func lookUp(known func(common.Hash) (VaultParams, bool), commitment common.Hash) (VaultParams, bool) {
	if known == nil {
		return VaultParams{}, false
	}
	return known(commitment)
}
