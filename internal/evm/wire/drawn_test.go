package wire

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// set makes a number of the kind that go-ethereum has for some members.
func set[T any, P interface {
	*T
	SetUint64(uint64) *T
}](to *P, n uint64) {
	*to = new(T)
	(*to).SetUint64(n)
}

// drawTx is a transaction of any type with members of all sizes.
func drawTx(f *vectors.Drawn) types.TxData {
	to := common.Address(f.Bytes(20))
	at := &to
	if f.Int(8) == 0 {
		at = nil
	}
	chain := f.Big(60)
	list := func() (all types.AccessList) {
		for range f.Int(3) {
			t := types.AccessTuple{Address: common.Address(f.Bytes(20))}
			for range f.Int(3) {
				t.StorageKeys = append(t.StorageKeys, common.Hash(f.Bytes(32)))
			}
			all = append(all, t)
		}
		return all
	}
	switch f.Int(5) {
	case 0:
		return &types.LegacyTx{Nonce: f.Uint64(), GasPrice: f.Big(100), Gas: f.Uint64(), To: at, Value: f.Big(256), Data: f.Some(200)}
	case 1:
		return &types.AccessListTx{ChainID: chain, Nonce: f.Uint64(), GasPrice: f.Big(100), Gas: f.Uint64(), To: at, Value: f.Big(256), Data: f.Some(200), AccessList: list()}
	case 2:
		tx := &types.BlobTx{Nonce: f.Uint64(), Gas: f.Uint64(), To: to, Data: f.Some(100), AccessList: list(), BlobHashes: []common.Hash{common.Hash(f.Bytes(32))}}
		set(&tx.ChainID, chain.Uint64())
		set(&tx.GasTipCap, f.Uint64())
		set(&tx.GasFeeCap, f.Uint64())
		set(&tx.Value, f.Uint64())
		set(&tx.BlobFeeCap, f.Uint64())
		return tx
	case 3:
		tx := &types.SetCodeTx{Nonce: f.Uint64(), Gas: f.Uint64(), To: to, Data: f.Some(100), AccessList: list(), AuthList: []types.SetCodeAuthorization{{Address: to, Nonce: f.Uint64()}}}
		set(&tx.ChainID, chain.Uint64())
		set(&tx.GasTipCap, f.Uint64())
		set(&tx.GasFeeCap, f.Uint64())
		set(&tx.Value, f.Uint64())
		return tx
	}
	return &types.DynamicFeeTx{ChainID: chain, Nonce: f.Uint64(), GasTipCap: f.Big(100), GasFeeCap: f.Big(100), Gas: f.Uint64(), To: at, Value: f.Big(256), Data: f.Some(200), AccessList: list()}
}

// FuzzTransactions signs transactions of all types with all members and compares what is
// read of them, and of bent ones, with go-ethereum's reading: the id, the signer and every
// member. What go-ethereum has written is accepted.
func FuzzTransactions(f *testing.F) {
	for kind := range byte(5) {
		f.Add(append(bytes.Repeat([]byte{1}, 22), 2, 16, 18, kind, 1, 9, 1, 9, 1, 9), []byte{})
	}
	f.Add(bytes.Repeat([]byte{7}, 100), []byte{1, 30, 0, 3})
	key := trial.Must(crypto.ToECDSA(bytes.Repeat([]byte{9}, 32)))(f)
	f.Fuzz(func(t *testing.T, fields, bends []byte) {
		data := drawTx(vectors.Draw(fields))
		unsigned := types.NewTx(data)
		chain := unsigned.ChainId()
		if chain.Sign() == 0 {
			chain = big.NewInt(1)
		}
		signed, err := types.SignNewTx(key, types.LatestSignerForChainID(chain), data)
		if err != nil {
			t.Skip("go-ethereum does not sign what was drawn: ", err)
		}
		raw := trial.Must(signed.MarshalBinary())(t)
		bent := vectors.Draw(bends).Bent(raw)
		tx, err := ParseTransaction(hexutil.Encode(bent))
		var theirs types.Transaction
		unknown := theirs.UnmarshalBinary(bent)
		if err != nil {
			if bytes.Equal(bent, raw) {
				t.Fatalf("%x is refused: %v", raw, err)
			}
			return
		}
		if !tx.Signed {
			return // the signature is cut off, which go-ethereum does not read
		}
		if unknown != nil {
			t.Fatalf("%x is accepted, and not by go-ethereum: %v", bent, unknown)
		}
		from, err := types.Sender(types.LatestSignerForChainID(theirs.ChainId()), &theirs)
		switch {
		case err != nil, from != tx.From, theirs.Hash() != tx.ID, theirs.Type() != tx.Type, theirs.Nonce() != tx.Nonce, theirs.Gas() != tx.Gas,
			theirs.Value().Cmp(tx.Value) != 0, !bytes.Equal(theirs.Data(), tx.Data), (theirs.To() == nil) != (tx.To == nil), tx.To != nil && *tx.To != *theirs.To(),
			tx.GasPrice != nil && tx.GasPrice.Cmp(theirs.GasPrice()) != 0, tx.TipCap != nil && tx.TipCap.Cmp(theirs.GasTipCap()) != 0, tx.FeeCap != nil && tx.FeeCap.Cmp(theirs.GasFeeCap()) != 0,
			theirs.ChainId().Cmp(tx.ChainID) != 0, len(theirs.AccessList()) != len(tx.AccessList):
			t.Fatalf("%x is read as %+v; signer %s, %v", bent, tx, from, err)
		}
	})
}
