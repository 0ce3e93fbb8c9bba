package rawtx_test

import (
	"encoding/hex"
	"strconv"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsNonces(t *testing.T) {
	vectors.Each(t, "bitcoin", "nonces", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Kind                 string
			Nonce                string
			Sequence0, Sequence1 uint32
			LockTime             uint32
			Out1Script           string
			Inputs, Outputs      *int
		}
		c.Input(t, &in)
		switch in.Kind {
		case "escrowNonce":
			nonce, err := strconv.ParseUint(in.Nonce, 10, 64)
			if err != nil { // such a number is no nonce at all
				if !vectors.Refused(c.Want(t)) {
					t.Fatal(err)
				}
				return
			}
			lockTime, sequence, err := rawtx.NonceFields(nonce, time.Now())
			if vectors.Refused(c.Want(t)) != (err != nil) {
				t.Fatalf("NonceFields: %v", err)
			}
			if err != nil {
				return
			}
			tx := twoInputs()
			tx.LockTime = lockTime
			tx.TxIn[0].Sequence, tx.TxIn[1].Sequence = sequence, sequence
			back := trial.Must(rawtx.TxNonce(tx, true))(t)
			vectors.SameJSON(t, c.Want(t), map[string]any{"locktime": lockTime, "sequences": []uint32{sequence, sequence},
				"nonceReadBack": strconv.FormatUint(back, 10)})
		case "vaultTx":
			tx := wire.NewMsgTx(2)
			tx.LockTime = in.LockTime
			sequences := []uint32{in.Sequence0, in.Sequence1}
			scripts := [][]byte{{0x51}, vectors.Unhex(t, in.Out1Script)}
			for i := range orElse(in.Inputs, 2) {
				tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(i)}, nil, nil))
				if i < len(sequences) {
					tx.TxIn[i].Sequence = sequences[i]
				}
			}
			for i := range orElse(in.Outputs, 2) {
				tx.AddTxOut(wire.NewTxOut(600, nil))
				if i < len(scripts) {
					tx.TxOut[i].PkScript = scripts[i]
				}
			}
			w, err := bitcoin.ParseWithdrawal(tx)
			if vectors.Refused(c.Want(t)) != (err != nil) {
				t.Fatalf("ParseWithdrawal: %v", err)
			}
			if err != nil {
				return
			}
			vectors.SameJSON(t, c.Want(t), map[string]any{
				"payload": hex.EncodeToString(w.Payload), "executionExpiry": w.ExecutionExpiry,
				"callerFeeRate":    strconv.Itoa(int(w.Shares.Caller)),
				"executionFeeRate": strconv.Itoa(int(w.Shares.Execution)),
				"frontingFeeRate":  strconv.Itoa(int(w.Shares.Fronting)),
			})
		default:
			c.NotRun(t, "unknown kind "+in.Kind)
		}
	})
}

func orElse(v *int, otherwise int) int {
	if v == nil {
		return otherwise
	}
	return *v
}

func TestEscrowNonce(t *testing.T) {
	now := time.Unix(1_763_000_000, 0)
	nonce, err := rawtx.NewNonce(now, 0xff123456)
	if err != nil || nonce != 1_063_000_000<<24|0x123456 {
		t.Fatalf("got %d, %v", nonce, err)
	}
	if _, err := rawtx.NewNonce(time.Unix(600_000_000, 0), 0); err == nil {
		t.Error("made a negative nonce")
	}
	if _, err := rawtx.NewNonce(time.Unix(1<<41, 0), 0); err == nil {
		t.Error("made a nonce of more than 64 bits")
	}
	lockTime, sequence, err := rawtx.NonceFields(nonce, now)
	if err != nil || lockTime != 1_563_000_000 || sequence != 0xFE123456 {
		t.Errorf("fields %d %x, %v", lockTime, sequence, err)
	}
	// The lock time must have passed for a day.
	for back, ok := range map[time.Duration]bool{24 * time.Hour: true, 24*time.Hour - time.Second: false, -time.Hour: false} {
		at := time.Unix(int64(lockTime), 0).Add(back)
		if _, _, err := rawtx.NonceFields(nonce, at); (err == nil) != ok {
			t.Errorf("%s after the lock time: %v", back, err)
		}
	}
	if _, _, err := rawtx.NonceFields(1<<64-1, time.Unix(1<<45, 0)); err == nil {
		t.Error("made a lock time of more than 32 bits")
	}
}

func twoInputs() *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	for i := range uint32(2) {
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: i}, nil, nil))
	}
	tx.AddTxOut(wire.NewTxOut(1000, nil))
	return tx
}

func TestTxNonceRefuses(t *testing.T) {
	tx := twoInputs()
	tx.LockTime, tx.TxIn[0].Sequence, tx.TxIn[1].Sequence = 1_500_000_000, 0xFE000005, 0xFE000005
	if nonce, err := rawtx.TxNonce(tx, true); err != nil || nonce != 1_000_000_000<<24|5 {
		t.Fatalf("got %d, %v", nonce, err)
	}
	for name, c := range map[string]struct {
		change     func(*wire.MsgTx)
		first, all bool // accepted when only the first or every input counts
	}{
		"another low part on input 1": {func(tx *wire.MsgTx) { tx.TxIn[1].Sequence++ }, true, false},
		"no flags on input 1":         {func(tx *wire.MsgTx) { tx.TxIn[1].Sequence = 5 }, true, false},
		"no flags on input 0":         {func(tx *wire.MsgTx) { tx.TxIn[0].Sequence = 0x7E000005 }, false, false},
		"lock time is a height":       {func(tx *wire.MsgTx) { tx.LockTime = 499_999_999 }, false, false},
		"no inputs":                   {func(tx *wire.MsgTx) { tx.TxIn = nil }, false, false},
	} {
		changed := tx.Copy()
		c.change(changed)
		if _, err := rawtx.TxNonce(changed, false); (err == nil) != c.first {
			t.Errorf("%s, first input: %v", name, err)
		}
		if _, err := rawtx.TxNonce(changed, true); (err == nil) != c.all {
			t.Errorf("%s, all inputs: %v", name, err)
		}
	}
}
