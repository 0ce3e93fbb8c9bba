package reference_test

import (
	"context"
	"math/big"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	evmtypes "github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// shownVault is a vault as the wallet's own nodes show it, which the reference does not name.
type shownVault struct {
	regtest
	opened []evmtypes.Log
	state  hexutil.Bytes
	made   *wire.MsgTx // the transaction whose first output is the vault's
}

// showVault makes the vault that a recorded transaction spends. The transaction that made its
// output was not recorded, so that another one has it.
func (r *reference) showVault(t testing.TB, said *swapper.GetSwapStatusOutput) {
	t.Helper()
	funded := &said.CurrentAction.(*swapper.SignPSBT).Funded[0]
	p, err := psbt.NewFromRawBytes(strings.NewReader(funded.PSBTBase64), true)
	if err != nil {
		t.Fatal(err)
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: p.UnsignedTx.TxIn[0].PreviousOutPoint})
	tx.AddTxOut(p.UnsignedTx.TxOut[0])
	id := tx.TxHash()
	p.UnsignedTx.TxIn[0].PreviousOutPoint = wire.OutPoint{Hash: id}
	funded.PSBTBase64 = trial.Must(p.B64Encode())(t)
	c := r.Contracts
	params := evmwire.VaultParams{BtcRelayContract: c.BtcRelayContract, Token0Multiplier: big.NewInt(1e10), Token1Multiplier: big.NewInt(1e10), Confirmations: big.NewInt(2)}
	commitment := trial.Must(params.Commitment())(t)
	abi := evmwire.VaultABI()
	data := trial.Must(abi.Events["Opened"].Inputs.NonIndexed().Pack(uint32(0), params))(t)
	r.shown = &shownVault{made: tx, opened: []evmtypes.Log{{Address: c.SpvVaultContract, BlockNumber: 10, Data: data,
		Topics: []common.Hash{abi.Events["Opened"].ID, {31: 7}, {31: 3}, common.Hash(id)}}}}
	r.shown.state = trial.Must(abi.Methods["getVault"].Outputs.Pack(evmwire.VaultState{SpvVaultParametersCommitment: commitment, UtxoTxHash: common.Hash(id), OpenBlockheight: 10, WithdrawCount: 1, Token0Amount: 1e8}))(t)
}

func (s *shownVault) Txs(_ context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.Tx] {
	all := make([]bitcoin.Result[*bitcoin.Tx], len(ids))
	for i, id := range ids {
		all[i].Err = bitcoin.ErrNotFound
		if id == s.made.TxHash() {
			all[i] = bitcoin.Result[*bitcoin.Tx]{Value: &bitcoin.Tx{ID: id, Msg: s.made, Confirmations: 10}}
		}
	}
	return all
}

func (s *shownVault) Outspends(_ context.Context, ops []bitcoin.OutPoint) []bitcoin.Result[bitcoin.Spend] {
	all := make([]bitcoin.Result[bitcoin.Spend], len(ops))
	for i := range all {
		all[i].Value.State = bitcoin.Unspent
	}
	return all
}

func (s *shownVault) FeeRates(context.Context) (bitcoin.FeeRates, error) {
	return bitcoin.FeeRates{Fastest: 2, Minimum: 1}, nil
}
