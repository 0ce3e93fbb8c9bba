package wire

import (
	"math/big"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsTxCodec(t *testing.T) {
	vectors.Each(t, "chain-evm", "tx_codec", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Signed, Unsigned *string
			Given            []*uint64
		}
		c.Input(t, &in)
		want := c.Want(t)
		if in.Given != nil {
			c.NotOurs(t, "given-nonces")
		}
		text := in.Signed
		if text == nil {
			text = in.Unsigned
		}
		tx, err := ParseTransaction(*text)
		if vectors.Refused(want) {
			// Either the text is broken, or an id was asked of what is not signed.
			if err == nil && (in.Unsigned == nil || tx.Signed || tx.ID != common.Hash{}) {
				t.Errorf("accepted: %+v", tx)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]any{
			"to": nil, "from": nil, "nonce": tx.Nonce, "chainId": tx.ChainID.String(), "type": tx.Type, "value": tx.Value.String(),
			"data": hexutil.Encode(tx.Data), "reserialized": tx.String(),
		}
		if tx.To != nil {
			got["to"] = tx.To.Hex()
		}
		if tx.Signed != (in.Signed != nil) {
			t.Errorf("signed: %v", tx.Signed)
		}
		if !tx.Signed {
			got["signingHash"] = tx.signingHash
			vectors.SameJSON(t, want, got)
			return
		}
		got["from"], got["txId"] = tx.From.Hex(), tx.ID
		got["gasLimit"] = strconv.FormatUint(tx.Gas, 10)
		got["gasPrice"], got["maxFeePerGas"], got["maxPriorityFeePerGas"] = nil, nil, nil
		if tx.GasPrice != nil {
			got["gasPrice"] = tx.GasPrice.String()
		} else {
			got["maxFeePerGas"], got["maxPriorityFeePerGas"] = tx.FeeCap.String(), tx.TipCap.String()
		}
		vectors.SameJSON(t, want, got)
	})
}

// Only the oldest form of a transaction may name no chain.
func TestTransactionsOfNoChain(t *testing.T) {
	key := trial.Must(crypto.ToECDSA(common.HexToHash("0x01").Bytes()))(t)
	me, none := crypto.PubkeyToAddress(key.PublicKey), new(big.Int)
	old := types.NewTx(&types.LegacyTx{Nonce: 3, GasPrice: big.NewInt(1), Gas: 21_000, To: &me})
	signed := trial.Must(types.SignTx(old, types.HomesteadSigner{}, key))(t)
	raw := trial.Must(signed.MarshalBinary())(t)
	tx, err := ParseTransaction(hexutil.Encode(raw))
	if err != nil || tx.From != me || tx.ID != signed.Hash() || tx.ChainID.Sign() != 0 {
		t.Errorf("an old transaction is read as %+v, %v", tx, err)
	}
	for _, inner := range []types.TxData{
		&types.AccessListTx{ChainID: none, GasPrice: none, Gas: 21_000, To: &me, V: none, R: big.NewInt(1), S: big.NewInt(1)},
		&types.DynamicFeeTx{ChainID: none, GasTipCap: none, GasFeeCap: none, Gas: 21_000, To: &me, V: none, R: big.NewInt(1), S: big.NewInt(1)},
		&types.DynamicFeeTx{ChainID: none, GasTipCap: none, GasFeeCap: none, Gas: 21_000, To: &me},
	} {
		raw := trial.Must(types.NewTx(inner).MarshalBinary())(t)
		if tx, err := ParseTransaction(hexutil.Encode(raw)); err == nil {
			t.Errorf("%x is read as %+v", raw, tx)
		}
	}
}
