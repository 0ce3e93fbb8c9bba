package relay

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// A proof must lead from the very transaction to the very header, and whoever gave one that does
// not is the Bitcoin backend, on every chain.
func TestCheckProof(t *testing.T) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: [32]byte{7}}})
	tx.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
	var raw bytes.Buffer
	trial.Do(t, tx.Serialize(&raw))
	merkle, ok := bitcoin.BuildMerkleProof([]bitcoin.Hash{{1}, tx.TxHash(), {3}}, tx.TxHash(), 5)
	if !ok {
		t.Fatal("no proof")
	}
	header := bitcoin.Header{Height: 5, MerkleRoot: merkle.Root(), Bits: 0x1d00ffff}
	trial.Do(t, CheckProof(raw.Bytes(), merkle, header))
	otherTx, otherPos, otherHeader := merkle, merkle, header
	otherTx.TxID, otherPos.Pos, otherHeader.MerkleRoot = bitcoin.Hash{9}, 0, bitcoin.Hash{9}
	for _, c := range []struct {
		name   string
		proof  bitcoin.MerkleProof
		header bitcoin.Header
	}{{"another transaction", otherTx, header}, {"another position", otherPos, header}, {"another header", merkle, otherHeader}} {
		if err := CheckProof(raw.Bytes(), c.proof, c.header); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s: got %v, want an error of the Bitcoin backend", c.name, err)
		}
	}
	if err := CheckProof(raw.Bytes()[:raw.Len()-1], merkle, header); err == nil {
		t.Error("a transaction that is cut short is accepted")
	}
}

// A fork that lasts over several transactions keeps its number, which is never 0.
func TestForks(t *testing.T) {
	drawn := Forks{Rand: bytes.NewReader([]byte{0, 0, 0, 0, 1, 2, 9, 9, 9, 9, 9, 9})}
	zero := Forks{Rand: bytes.NewReader(make([]byte, 6))}
	none := Forks{Rand: errReader{}}
	for _, c := range []struct {
		name  string
		forks *Forks
		op    Op
		short bool
		want  uint64
	}{
		{"main", &drawn, SaveMain, false, 0}, {"short", &drawn, SaveShortFork, true, 0},
		{"new fork", &drawn, SaveNewFork, false, 258}, {"its next batch", &drawn, SaveFork, false, 258},
		{"zero is drawn", &zero, SaveNewFork, false, 1}, {"nothing can be drawn", &none, SaveNewFork, false, 1},
	} {
		if short, number := c.forks.Of(c.op); short != c.short || number != c.want {
			t.Errorf("%s: got %v, %d; want %v, %d", c.name, short, number, c.short, c.want)
		}
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("no randomness") }
