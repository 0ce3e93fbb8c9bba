package psbt

import (
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

func vaultToRead(t testing.TB) VaultTerms {
	return VaultTerms{
		Vault: bitcoin.OutPoint{Hash: bitcoin.Hash{4}, Index: 1}, VaultValue: 600, VaultScript: testAddress(t, bitcoin.P2TR).Script(), Data: []byte{1, 2, 3},
		PayScript: testAddress(t, bitcoin.P2WPKH).Script(), PaySats: 10_000, LockTime: VaultLockTime(7), Shares: bitcoin.FeeShares{Caller: 100, Fronting: 1200, Execution: 1 << 12},
	}
}

// A transaction that somebody else has made says what the terms say from which it would be
// made, and is refused as soon as it says anything else.
func TestVaultTermsAreRead(t *testing.T) {
	want := vaultToRead(t)
	made := trial.Must(want.Template())(t)
	for name, c := range map[string]struct {
		change   func(*wire.MsgTx)
		sequence uint32
		ok       bool
	}{
		"as it is made":       {func(*wire.MsgTx) {}, made.Sequence, true},
		"another version":     {func(tx *wire.MsgTx) { tx.Version = 1 }, made.Sequence, false},
		"a height as lock":    {func(tx *wire.MsgTx) { tx.LockTime = 900_000 }, made.Sequence, false},
		"an input more":       {func(tx *wire.MsgTx) { tx.AddTxIn(&wire.TxIn{Sequence: made.Sequence}) }, made.Sequence, false},
		"an output more":      {func(tx *wire.MsgTx) { tx.AddTxOut(tx.TxOut[2]) }, made.Sequence, false},
		"an output less":      {func(tx *wire.MsgTx) { tx.TxOut = tx.TxOut[:2] }, made.Sequence, false},
		"data with a value":   {func(tx *wire.MsgTx) { tx.TxOut[1].Value = 1 }, made.Sequence, false},
		"no data":             {func(tx *wire.MsgTx) { tx.TxOut[1].PkScript = tx.TxOut[2].PkScript }, made.Sequence, false},
		"a long push":         {func(tx *wire.MsgTx) { tx.TxOut[1].PkScript = []byte{0x6a, 0x4c, 3, 1, 2, 3} }, made.Sequence, false},
		"other outputs":       {func(tx *wire.MsgTx) { tx.TxOut[0], tx.TxOut[2] = tx.TxOut[2], tx.TxOut[0] }, made.Sequence, false},
		"no shares":           {func(*wire.MsgTx) {}, wire.MaxTxInSequenceNum, false},
		"bits of no meaning":  {func(*wire.MsgTx) {}, made.Sequence | 1<<30, false},
		"shares of the input": {func(tx *wire.MsgTx) { tx.TxIn[0].Sequence = wire.MaxTxInSequenceNum }, made.Sequence, false},
	} {
		p := trial.Must(made.packet())(t)
		c.change(p.UnsignedTx)
		u := &Unchecked{tx: p.UnsignedTx}
		got, err := u.VaultTerms(c.sequence)
		if (err == nil) != c.ok || !c.ok && fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s: got %v, want it read: %v", name, err, c.ok)
		}
		if diff := cmp.Diff(want, got); c.ok && diff != "" {
			t.Errorf("%s (-made +read):\n%s", name, diff)
		}
	}
	draft := trial.Must(want.Draft())(t)
	if w, err := bitcoin.ParseWithdrawal(draft); err != nil || w.Vault != want.Vault || w.Shares != want.Shares || string(w.Payload) != string(want.Data) {
		t.Errorf("the draft is read as %+v, %v", w, err)
	}
}

func FuzzVaultTerms(f *testing.F) {
	made := trial.Must(vaultToRead(f).Template())(f)
	raw := trial.Must(made.Raw())(f)
	f.Add([]byte(raw), made.Sequence)
	f.Fuzz(func(t *testing.T, raw []byte, sequence uint32) {
		u, err := decodePSBT(raw)
		if err != nil {
			return
		}
		read, err := u.VaultTerms(sequence)
		if err != nil {
			return
		}
		again, err := read.Template()
		if err != nil {
			t.Fatalf("what was read cannot be made: %v", err)
		}
		p, err := again.packet()
		if err != nil || p.UnsignedTx.TxHash() != u.tx.TxHash() || again.Sequence != sequence {
			t.Errorf("what was read makes %+v, %v", p, err)
		}
	})
}
