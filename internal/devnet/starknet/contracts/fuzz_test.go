package contracts

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	btc "github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// contractTx is readTx with its revert as an error; anything but a revert fails.
func contractTx(t testing.TB, raw []byte) (tx bitcoinTx, err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			reverted, ok := p.(*Panic)
			if !ok {
				t.Fatalf("%x: %v", raw, p)
			}
			err = reverted
		}
	}()
	return parseTx(raw), nil
}

// Contracts and Bitcoin read a transaction alike, where both read it. Contracts read
// more: counts in longer forms, any amounts, no inputs.
func FuzzReadTx(f *testing.F) {
	for _, tx := range []*btc.MsgTx{payment(script, sats, nonced), payment(nil, 0, nil), payment(make([]byte, 300), sats, func(tx *btc.MsgTx) { tx.AddTxIn(&btc.TxIn{SignatureScript: make([]byte, 260)}) })} {
		f.Add(rawTx(f, tx))
	}
	f.Add(make([]byte, 64))
	f.Add([]byte{2, 0, 0, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := contractTx(t, raw)
		tx, decodeErr := rawtx.Decode(raw)
		if decodeErr != nil {
			return
		}
		if len(raw) == 64 || tx.HasWitness() {
			if err == nil {
				t.Fatalf("%x is read", raw)
			}
			return
		}
		if err != nil {
			t.Fatalf("%x is refused: %v", raw, err)
		}
		if got.id != bitcoin.Hash(tx.TxHash()) || got.lockTime != tx.LockTime || len(got.ins) != len(tx.TxIn) || len(got.outs) != len(tx.TxOut) {
			t.Fatalf("%+v is read as %+v", tx, got)
		}
		for i, in := range tx.TxIn {
			if p := in.PreviousOutPoint; got.ins[i] != (bitcoinIn{bitcoin.OutPoint{Hash: bitcoin.Hash(p.Hash), Index: p.Index}, in.Sequence}) {
				t.Fatalf("input %d of %+v is %+v", i, tx, got.ins[i])
			}
		}
		for i, out := range tx.TxOut {
			if got.outs[i].value != uint64(out.Value) || !bytes.Equal(got.outs[i].script, out.PkScript) {
				t.Fatalf("output %d of %+v is %+v", i, tx, got.outs[i])
			}
		}
	})
}

// A withdrawal that the client takes, the contract reads as the client does, and pays:
// it neither closes the vault over it nor takes another amount. What the contract takes
// off a vault is what it pays out.
func FuzzWithdrawal(f *testing.F) {
	payload := func(raw [2]uint64, execution *Felt) []byte {
		return trial.Must(wire.WithdrawalData(wire.Hex64(recipient), raw, execution))(f)
	}
	h := wire.FeltOf(3)
	for _, data := range [][]byte{payload([2]uint64{1000, 0}, nil), payload([2]uint64{1000, 7}, nil), payload([2]uint64{1000, 0}, &h), payload([2]uint64{math.MaxUint64, 7}, &h)} {
		f.Add(uint32(1<<31|1000), uint32(1<<31|5<<20|200), uint32(600_000_000), byte(0), data)
		f.Add(uint32(0xffffffff), uint32(0xffffffff), uint32(math.MaxUint32), byte(1), data)
		f.Add(uint32(1000), uint32(200), uint32(0), byte(2), data)
	}
	f.Fuzz(func(t *testing.T, first, second, lockTime uint32, form byte, data []byte) {
		if len(data) > 200 {
			return
		}
		push := []byte{0x6a, byte(len(data))}
		if len(data) > 75 {
			push = []byte{0x6a, 0x4c, byte(len(data))}
		}
		tx := btc.NewMsgTx(2)
		tx.LockTime = lockTime
		tx.AddTxIn(&btc.TxIn{PreviousOutPoint: btc.OutPoint{Hash: [32]byte{7}}, Sequence: first})
		tx.AddTxIn(&btc.TxIn{PreviousOutPoint: btc.OutPoint{Hash: [32]byte{8}}, Sequence: second})
		tx.AddTxOut(&btc.TxOut{Value: 600, PkScript: []byte{0x51}})
		tx.AddTxOut(&btc.TxOut{PkScript: append(push, data...)})
		switch form % 8 {
		case 1:
			tx.TxOut[1].PkScript = append([]byte{0x6a}, data...)
		case 2:
			tx.TxOut[1].PkScript = data
		case 3:
			tx.TxIn = tx.TxIn[:1]
		case 4:
			tx.TxOut = tx.TxOut[:1]
		}
		read, err := contractTx(t, rawTx(t, tx))
		if err != nil {
			if len(rawTx(t, tx)) != 64 {
				t.Fatal(err)
			}
			return
		}
		v := vault{wire.Vault{Multipliers: [2]*big.Int{big.NewInt(1), big.NewInt(10)}, Raw: [2]uint64{math.MaxUint64, math.MaxUint64}}}
		before := v.Raw
		var w withdrawal
		var all [2]uint64
		var no refusal
		_, locked := entry(func(*call) { w, all, no = v.withdraw(read) })(nil, nil)
		want, err := wire.ParseWithdrawal(tx)
		if err == nil {
			if locked != nil || no != "" {
				t.Fatalf("the client takes %+v; the contract says %q, %v", want, no, locked)
			}
			members := trial.Must(wire.WithdrawalFelts(want))(t)
			if !slices.Equal([]Felt(w.felts()), members) || all != want.Amounts.Total {
				t.Fatalf("the client reads %+v, the contract %+v of %v", want, w, all)
			}
		}
		if locked != nil || no != "" {
			return
		}
		for i := range all {
			paid := new(big.Int)
			for _, n := range []uint64{w.amounts[i], w.caller[i], w.fronting[i]} {
				paid.Add(paid, new(big.Int).SetUint64(n))
			}
			if i == 0 {
				paid.Add(paid, new(big.Int).SetUint64(w.executionFee))
			}
			if !paid.IsUint64() || paid.Uint64() != all[i] || v.Raw[i] != before[i]-all[i] {
				t.Fatalf("%v of token %d is paid, %d taken off %d, which leaves %d", paid, i, all[i], before[i], v.Raw[i])
			}
		}
	})
}

// The relay takes a header by Bitcoin's rules and no other, and stores it as the client
// predicts.
func FuzzRelayHeader(f *testing.F) {
	f.Add(uint32(600), uint32(0x207fffff), true, true, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	f.Add(uint32(0), uint32(0x1d00ffff), true, false, []byte{})
	f.Add(uint32(math.MaxUint32), uint32(0x20ffffff), false, true, []byte{200, 0, 200})
	f.Add(uint32(20_000), uint32(0x2100ffff), true, true, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, later, bits uint32, linked, mine bool, times []byte) {
		on := genesis()
		for i := range on.PreviousTimes {
			on.PreviousTimes[i] = on.Header.Time - 1000
			if i < len(times) {
				on.PreviousTimes[i] = on.Header.Time + 10*uint32(times[i]) - 1000
			}
		}
		now := uint64(on.Header.Time) + 3000
		h := bitcoin.Header{Version: 1, Time: on.Header.Time - 1000 + later, Bits: bits}
		if linked {
			h.PrevBlock = on.Header.Hash()
		}
		limit, targetErr := rawtx.Target(bits)
		if mine && targetErr == nil && limit.BitLen() > 250 {
			h = mined(h)
		}
		var next wire.StoredHeader
		_, err := entry(func(*call) { next = Rules{}.next(on, h, now) })(nil, nil)
		var reverted *Panic
		if err != nil && !errors.As(err, &reverted) {
			t.Fatal(err)
		}
		hash := h.Hash()
		slices.Reverse(hash[:])
		all := append(slices.Clone(on.PreviousTimes[:]), on.Header.Time)
		slices.Sort(all)
		good := linked && targetErr == nil && new(big.Int).SetBytes(hash[:]).Cmp(limit) < 0 && h.Time > all[5] && uint64(h.Time) < now+4*60*60
		if (err == nil) != good {
			t.Fatalf("%+v: %v, want taken %v", h, err, good)
		}
		if err != nil {
			return
		}
		want, err := on.Next(h)
		if err != nil || next.CommitHash() != want.CommitHash() {
			t.Fatalf("%+v is stored as %+v, want %+v, %v", h, next, want, err)
		}
	})
}

// No calldata makes a contract fail in a way of Go's instead of its own.
func FuzzCalldata(f *testing.F) {
	k := newKit(f)
	s := k.deal(user, lp)
	k.sent(user, k.initBy(s, user)...)
	v := k.newVault()
	proof, _ := k.confirm(genesis(), k.spend(v.UTXO, [2]uint64{100, 0}, nil, nil), 2)
	type target struct {
		at    Felt
		class Class
	}
	targets := []target{
		{coin, Token()}, {user, openZeppelinAccount()}, {k.argent(keys[user], nil), argentAccount()}, {DeployerAddress, UniversalDeployer()},
		{k.d.EscrowManager.Address, escrowManager()}, {k.d.VaultManager.Address, vaultManager()}, {k.d.BtcRelay.Address, relay(Rules{})}, {executionAddress, executionClass()},
		{k.d.ClaimHandlers[0], hashlock()}, {k.d.ClaimHandlers[1], outputClass()}, {k.d.ClaimHandlers[2], noncedOutput()}, {k.d.ClaimHandlers[3], transactionID()}, {k.d.RefundHandler, timelock()},
	}
	// encode makes bytes of felts: small ones of two bytes, others of 33.
	encode := func(all []Felt) (b []byte) {
		for _, x := range all {
			full := x.Bytes()
			if n := new(big.Int).SetBytes(full[:]); n.IsUint64() && n.Uint64() < 1<<15 {
				b = binary.BigEndian.AppendUint16(b, uint16(n.Uint64()))
				continue
			}
			b = append(append(b, 0x80), full[:]...)
		}
		return b
	}
	decode := func(b []byte) (all []Felt) {
		for len(b) >= 2 {
			if b[0]&0x80 == 0 {
				all, b = append(all, wire.FeltOf(uint64(binary.BigEndian.Uint16(b)))), b[2:]
				continue
			}
			var x Felt
			x.SetBytes(b[1:min(33, len(b))])
			all, b = append(all, x), b[min(33, len(b)):]
		}
		return all
	}
	claim := trial.Must(k.d.VaultClaim(v, proof))(k)
	submit, _, err := k.d.SubmitHeaders(wire.Branch{Fork: 2}, genesis(), blocks(genesis().Header, 2, 0))
	k.must(err)
	calls := append(k.initBy(s, user), k.claimCall(s), k.agreedCall(s, theFuture), claim, submit)
	for i, to := range targets {
		for _, c := range calls {
			f.Add(byte(i), c.Entry, encode(c.Calldata))
			if to.at == c.To {
				f.Add(byte(i), c.Entry, encode(c.Calldata[:len(c.Calldata)-1]))
			}
		}
		for name := range to.class.Entries {
			f.Add(byte(i), name, []byte{0, 1, 0, 2, 0, 3})
		}
	}
	f.Fuzz(func(t *testing.T, which byte, name string, data []byte) {
		to := targets[int(which)%len(targets)]
		function := to.class.Entries[name]
		if function == nil || len(data) > 1<<14 {
			return
		}
		k.Read(0, func(v *View) {
			i := v.Call(to.at, wire.Selector(name), decode(data), v.Open())
			if i.Failed != nil && strings.Contains(i.Failed.Error(), "panicked") {
				t.Fatalf("%s of %s with %x: %v", name, to.class.Name, data, i.Failed)
			}
		})
	})
}
