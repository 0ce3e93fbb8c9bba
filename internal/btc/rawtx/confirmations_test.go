package rawtx

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"
)

func TestGuessConfirmations(t *testing.T) {
	hash := func(n uint16) ([]byte, error) {
		if n == 2 {
			return nil, errors.New("cannot")
		}
		return []byte{byte(n)}, nil
	}
	for want, ok := range map[byte]bool{0: false, 1: true, 2: false, 3: true, 20: true, 21: false} {
		if n, found := guessConfirmations([]byte{want}, hash); found != ok || ok && n != uint16(want) {
			t.Errorf("%d: %d, %v", want, n, found)
		}
	}
}

func TestFindClaimOutput(t *testing.T) {
	tx := smallTx([]byte{0x51})
	tx.AddTxOut(wire.NewTxOut(2000, []byte{0x52}))
	tx.AddTxOut(wire.NewTxOut(2000, []byte{0x52}))
	hash := func(out *wire.TxOut, n uint16) ([]byte, error) {
		if out.Value == 1000 {
			return nil, errors.New("cannot")
		}
		return TxoHint{Txo: NoncedTxoHash(7, out.Value, out.PkScript), Nonce: 7, Confirmations: n}.Bytes(), nil
	}
	want := TxoHint{Txo: NoncedTxoHash(7, 2000, []byte{0x52}), Nonce: 7, Confirmations: 3}.Bytes()
	for given, ok := range map[uint16]bool{0: true, 3: true, 2: false} {
		vout, n, found := FindOutput(tx, want, given, hash)
		if found != ok || ok && (vout != 1 || n != 3) {
			t.Errorf("%d confirmations given: output %d, %d, %v", given, vout, n, found)
		}
	}
	want[5] ^= 1
	if _, _, found := FindOutput(tx, want, 0, hash); found {
		t.Error("found an output for another hash")
	}
}
