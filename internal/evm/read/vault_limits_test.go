package read

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// The searched range holds the logs of all withdrawals that are asked for, and a
// node may send more than it was asked for: only a log's own words count.
func TestOutcomeOfTheVeryTransaction(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	vault := wire.VaultRef{Owner: common.Address{1}, ID: big.NewInt(7)}
	recipient := common.Address{2}
	ours := wire.WithdrawalLookup{Vault: vault, Recipient: recipient, TxID: bitcoin.Hash{3}}
	topics := func(v wire.VaultRef, recipient common.Address, tx bitcoin.Hash) []common.Hash {
		return []common.Hash{wire.PackVaultRef(v), common.BytesToHash(recipient[:]), common.Hash(tx)}
	}
	other := wire.VaultRef{Owner: common.Address{9}, ID: big.NewInt(7)}
	front := func(v wire.VaultRef, recipient common.Address, tx bitcoin.Hash) types.Log {
		return vaultLog(t, d, 1, "Fronted", topics(v, recipient, tx), common.Address{5}, common.Hash{}, uint64(1), uint64(0))
	}
	claim := func(v wire.VaultRef, recipient common.Address, tx bitcoin.Hash) types.Log {
		return vaultLog(t, d, 2, "Claimed", topics(v, recipient, tx), common.Address{5}, common.Hash{}, common.Address{5}, uint32(1), uint64(1), uint64(0))
	}
	closing := func(v wire.VaultRef, tx bitcoin.Hash) types.Log {
		return vaultLog(t, d, 3, "Closed", []common.Hash{common.BytesToHash(v.Owner[:]), common.BigToHash(v.ID), common.Hash(tx)}, []byte("no"))
	}
	for name, c := range map[string]struct {
		log  types.Log
		want chains.WithdrawalState
	}{
		"advanced":                   {front(vault, recipient, ours.TxID), chains.WithdrawalFronted},
		"another one advanced":       {front(vault, recipient, bitcoin.Hash{4}), chains.WithdrawalNone},
		"advanced to somebody else":  {front(vault, common.Address{8}, ours.TxID), chains.WithdrawalNone},
		"advanced by another vault":  {front(other, recipient, ours.TxID), chains.WithdrawalNone},
		"claimed":                    {claim(vault, recipient, ours.TxID), chains.WithdrawalClaimed},
		"another one claimed":        {claim(vault, recipient, bitcoin.Hash{4}), chains.WithdrawalNone},
		"claimed for somebody else":  {claim(vault, common.Address{8}, ours.TxID), chains.WithdrawalNone},
		"claimed from another vault": {claim(other, recipient, ours.TxID), chains.WithdrawalNone},
		"closed":                     {closing(vault, ours.TxID), chains.WithdrawalClosed},
		"closed over another one":    {closing(vault, bitcoin.Hash{4}), chains.WithdrawalNone},
		"another vault closed":       {closing(other, ours.TxID), chains.WithdrawalNone},
	} {
		if f := d.Outcome(ours, []types.Log{c.log}); f.State != c.want {
			t.Errorf("%s: state %d, want %d", name, f.State, c.want)
		}
	}
	wide := ours
	wide.Vault.ID = new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 96), big.NewInt(7))
	if f := d.Outcome(wide, []types.Log{claim(vault, recipient, ours.TxID)}); f.State != chains.WithdrawalNone {
		t.Errorf("a vault's number of 2^96 and more: state %d", f.State)
	}
	node := &cannedNode{t: t}
	if _, err := (Contracts{d}).ReadWithdrawals(context.Background(), node, []wire.WithdrawalLookup{ours, wide}, rpc.BlockRange{From: 1, To: 2}); fault.CodeOf(err) != fault.InvalidInput || node.trips != 0 {
		t.Errorf("a vault's number of 2^96 and more: %v, %d round trips", err, node.trips)
	}
	// logs that were not read are not logs that are not there
	if facts, err := (Contracts{d}).ReadWithdrawals(context.Background(), brokenNode{}, []wire.WithdrawalLookup{ours}, rpc.BlockRange{From: 1, To: 2}); err == nil {
		t.Errorf("from a node that answers nothing: %+v", facts)
	}
}

// failsLater answers a number of batches and then nothing; or it answers all but
// the calls of one method.
type failsLater struct {
	rpc.Node
	good   int
	method string
}

func (f *failsLater) Batch(ctx context.Context, requests []rpc.Request) error {
	if f.good--; f.good < 0 {
		return errors.New("broken")
	}
	if err := f.Node.Batch(ctx, requests); err != nil {
		return err
	}
	for i := range requests {
		if requests[i].Method == f.method {
			requests[i].Err = errors.New("not told")
		}
	}
	return nil
}

func TestReadVaultsGuards(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	params := wire.VaultParams{BtcRelayContract: d.BtcRelay.Address, Token0: wire.Native, Token1: wire.Native, Token0Multiplier: big.NewInt(1e10), Token1Multiplier: big.NewInt(1e10), Confirmations: big.NewInt(2)}
	forged := params
	forged.Token0Multiplier = big.NewInt(1)
	commitment := trial.Must(params.Commitment())(t)
	ref := wire.VaultRef{Owner: common.Address{1}, ID: big.NewInt(1)}
	topics := []common.Hash{common.BytesToHash(ref.Owner[:]), common.BigToHash(ref.ID), {1}}
	canned := &cannedNode{t: t, view: func(_ common.Address, m *abi.Method, _ []any, _ []byte) ([]byte, error) {
		return pack(t, m, wire.VaultState{SpvVaultParametersCommitment: commitment, UtxoTxHash: common.Hash{1}, OpenBlockheight: 9, Token0Amount: 5}), nil
	}, logs: []types.Log{
		vaultLog(t, d, 9, "Opened", topics, uint32(0), forged), // somebody's, in the same block
		vaultLog(t, d, 9, "Opened", topics, uint32(0), params),
	}}
	read := func(node rpc.Node, refs []wire.VaultRef, known func(common.Hash) (wire.VaultParams, bool)) ([]VaultRead, error) {
		return Contracts{d}.ReadVaults(context.Background(), node, refs, chains.Block{}, known)
	}
	if reads, err := read(canned, []wire.VaultRef{ref}, nil); err != nil || reads[0].Err != nil || !reads[0].Vault.Opened || reads[0].Vault.Params.Token0Multiplier.Int64() != 1e10 {
		t.Errorf("the log behind a forged one: %+v, %v", reads, err)
	}
	if reads, err := read(canned, []wire.VaultRef{ref}, func(common.Hash) (wire.VaultParams, bool) { return forged, true }); err != nil || reads[0].Err == nil || reads[0].Vault.Opened {
		t.Errorf("parameters that are known wrongly: %+v, %v", reads, err)
	}
	if reads, err := read(brokenNode{}, nil, nil); err != nil || len(reads) != 0 {
		t.Errorf("no vaults: %+v, %v", reads, err)
	}
	canned.trips = 0
	wide := wire.VaultRef{Owner: ref.Owner, ID: new(big.Int).Lsh(big.NewInt(1), 96)}
	if reads, err := read(canned, []wire.VaultRef{ref, wide}, nil); err == nil || canned.trips != 0 {
		t.Errorf("a number of 2^96: %+v, %d round trips", reads, canned.trips)
	}
	for good := range 2 {
		if reads, err := read(&failsLater{Node: canned, good: good}, []wire.VaultRef{ref}, nil); err == nil {
			t.Errorf("after %d answers: %+v", good, reads)
		}
	}
	for _, method := range []string{"eth_call", "eth_getLogs"} {
		reads, err := read(&failsLater{Node: canned, good: 2, method: method}, []wire.VaultRef{ref}, nil)
		if err != nil || reads[0].Vault.Opened || reads[0].Err == nil || !strings.Contains(reads[0].Err.Error(), "not told") {
			t.Errorf("%s is not told: %+v, %v", method, reads, err)
		}
	}
}
