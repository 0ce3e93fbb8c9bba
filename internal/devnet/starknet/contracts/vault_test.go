package contracts

import (
	"encoding/binary"
	"math"
	"math/big"
	"slices"
	"testing"

	btc "github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

var (
	recipient = wire.MustFelt("0x0111111111111111111111111111111111111111111111111111111111111111")
	firstUTXO = bitcoin.OutPoint{Hash: bitcoin.Hash{7, 7}, Index: 2}
)

// newVault opens a vault of lp's with a million raw units of each token; the second is
// worth ten base units a unit.
func (k *kit) newVault() wire.Vault {
	k.Helper()
	v := wire.Vault{VaultRef: wire.VaultRef{Owner: lp, ID: wire.FeltOf(5)}, Relay: k.d.BtcRelay.Address, Tokens: [2]Felt{coin, gas},
		Multipliers: [2]*big.Int{big.NewInt(1), big.NewInt(10)}, InitialUTXO: firstUTXO, Confirmations: 2}
	open := trial.Must(OpenVault(k.d, v))(k)
	k.sent(lp, open)
	k.sent(lp, FillVault(k.d, v, [2]uint64{1_000_000, 1_000_000})...)
	return k.vault(v.VaultRef)
}

func (k *kit) vault(ref wire.VaultRef) wire.Vault {
	k.Helper()
	return trial.Must(wire.ReadVault(ref, k.ask(k.d.VaultManager.Address, wire.EntryGetVault, ref.Felts()...)))(k)
}

// spend is a withdrawal from a vault: 1 % to the sender of the claim, 0.5 % to whoever
// advances it, and with an execution 0.2 % for that.
func (k *kit) spend(from bitcoin.OutPoint, raw [2]uint64, execution *Felt, change func(*btc.MsgTx)) *btc.MsgTx {
	k.Helper()
	shares := bitcoin.FeeShares{Caller: 1000, Fronting: 500}
	if execution != nil {
		shares.Execution = 200
	}
	first, second, err := shares.Sequences()
	k.must(err)
	data := trial.Must(wire.WithdrawalData(wire.Hex64(recipient), raw, execution))(k)
	push := []byte{0x6a, byte(len(data))}
	if len(data) > 75 {
		push = []byte{0x6a, 0x4c, byte(len(data))}
	}
	tx := btc.NewMsgTx(2)
	tx.LockTime = 600_000_000
	tx.AddTxIn(&btc.TxIn{PreviousOutPoint: btc.OutPoint{Hash: [32]byte(from.Hash), Index: from.Index}, Sequence: first})
	tx.AddTxIn(&btc.TxIn{PreviousOutPoint: btc.OutPoint{Hash: [32]byte{8}}, Sequence: second})
	tx.AddTxOut(&btc.TxOut{Value: 600, PkScript: []byte{0x51}})
	tx.AddTxOut(&btc.TxOut{PkScript: append(push, data...)})
	if change != nil {
		change(tx)
	}
	return tx
}

func (k *kit) parsed(tx *btc.MsgTx) chains.Withdrawal {
	k.Helper()
	return trial.Must(wire.ParseWithdrawal(tx))(k)
}

// vaultHeld is what everybody has of both tokens.
func (k *kit) vaultHeld() map[string][2]int64 {
	all := map[string][2]int64{}
	for name, who := range map[string]Felt{"user": user, "lp": lp, "tower": tower, "recipient": recipient, "vaults": k.d.VaultManager.Address, "execution": executionAddress} {
		all[name] = [2]int64{k.has(coin, who), k.has(gas, who)}
	}
	return all
}

func (k *kit) vaultMoved(what func()) map[string][2]int64 {
	before, changed := k.vaultHeld(), map[string][2]int64{}
	what()
	for name, after := range k.vaultHeld() {
		for i := range after {
			after[i] -= before[name][i]
		}
		if after != ([2]int64{}) {
			changed[name] = after
		}
	}
	return changed
}

// rawClaim is the claim of any transaction.
func (k *kit) rawClaim(v wire.VaultRef, p wire.BitcoinProof) (*Invocation, error) {
	w := felts(v.Felts()).bytes(p.Tx).add(p.Header.Felts()...).uint(uint64(len(p.Merkle.Hashes)))
	for _, h := range p.Merkle.Hashes {
		w = w.hash(h)
	}
	return k.try(tower, k.d.VaultManager.Address, "claim", w.uint(uint64(p.Merkle.Pos))...)
}

func TestVaultOpenAndDeposit(t *testing.T) {
	k := newKit(t)
	v := wire.Vault{VaultRef: wire.VaultRef{Owner: lp, ID: wire.FeltOf(5)}, Relay: k.d.BtcRelay.Address, Tokens: [2]Felt{coin, gas},
		Multipliers: [2]*big.Int{big.NewInt(1), big.NewInt(10)}, InitialUTXO: firstUTXO, Confirmations: 2}
	_, err := k.try(lp, k.d.VaultManager.Address, "deposit", felts(v.Felts()).uint(1).uint(1)...)
	reverts(t, err, "deposit: vault closed")
	open := trial.Must(OpenVault(k.d, v))(k)
	nowhere := open
	nowhere.Calldata = slices.Clone(open.Calldata)
	nowhere.Calldata[2], nowhere.Calldata[3], nowhere.Calldata[4] = Felt{}, Felt{}, Felt{}
	_, err = k.send(lp, nowhere)
	reverts(t, err, "utxo is zero")
	if diff := cmp.Diff([]wire.Event{wire.VaultOpenEvent{VaultRef: v.VaultRef, UTXO: firstUTXO}}, k.told(k.sent(lp, open))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	_, err = k.send(lp, open)
	reverts(t, err, "open: already opened")
	fill := FillVault(k.d, v, [2]uint64{100, 20})
	var i *Invocation
	moved := k.vaultMoved(func() { i = k.sent(user, fill...) }) // anybody may
	if diff := cmp.Diff(map[string][2]int64{"user": {-100, -200}, "vaults": {100, 200}}, moved); diff != "" {
		t.Errorf("deposit (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]wire.Event{wire.VaultDepositEvent{VaultRef: v.VaultRef, Amounts: [2]uint64{100, 20}, Deposits: 1}}, k.told(i)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	got := k.vault(v.VaultRef)
	if got.UTXO != firstUTXO || got.Raw != [2]uint64{100, 20} || got.Deposits != 1 || got.Withdrawals != 0 || got.Confirmations != 2 || got.Relay != v.Relay || got.Tokens != v.Tokens || got.Multipliers[1].Int64() != 10 {
		t.Errorf("the vault is %+v", got)
	}
	_, err = k.try(lp, k.d.VaultManager.Address, "deposit", felts(v.Felts()).uint(math.MaxUint64).uint(0)...)
	reverts(t, err, "u64_add Overflow")
	_, err = k.try(lp, k.d.VaultManager.Address, "deposit", felts(v.Felts()).uint(1).uint(0)...)
	reverts(t, err, "ERC20: insufficient allowance")
}

func TestVaultClaim(t *testing.T) {
	executed := wire.FeltOf(77)
	for _, c := range []struct {
		name      string
		raw       [2]uint64
		execution *Felt
		front     bool
		fronted   map[string][2]int64
		claimed   map[string][2]int64
		total     [2]uint64
	}{
		{"plain", [2]uint64{100_000, 0}, nil, false, nil,
			map[string][2]int64{"vaults": {-101_500, 0}, "recipient": {100_000, 0}, "tower": {1500, 0}}, [2]uint64{101_500, 0}},
		{"both tokens", [2]uint64{100_000, 10_000}, nil, false, nil,
			map[string][2]int64{"vaults": {-101_500, -101_500}, "recipient": {100_000, 100_000}, "tower": {1500, 1500}}, [2]uint64{101_500, 10_150}},
		{"advanced", [2]uint64{100_000, 10_000}, nil, true,
			map[string][2]int64{"user": {-100_000, -100_000}, "recipient": {100_000, 100_000}},
			map[string][2]int64{"vaults": {-101_500, -101_500}, "user": {100_500, 100_500}, "tower": {1000, 1000}}, [2]uint64{101_500, 10_150}},
		{"with calls", [2]uint64{100_000, 10_000}, &executed, false, nil,
			map[string][2]int64{"vaults": {-101_700, -101_500}, "execution": {100_200, 0}, "recipient": {0, 100_000}, "tower": {1500, 1500}}, [2]uint64{101_700, 10_150}},
		{"with calls, advanced", [2]uint64{100_000, 0}, &executed, true,
			map[string][2]int64{"user": {-100_200, 0}, "execution": {100_200, 0}},
			map[string][2]int64{"vaults": {-101_700, 0}, "user": {100_700, 0}, "tower": {1000, 0}}, [2]uint64{101_700, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKit(t)
			v := k.newVault()
			tx := k.spend(v.UTXO, c.raw, c.execution, nil)
			w := k.parsed(tx)
			var execution Felt
			if c.execution != nil {
				execution = *c.execution
			}
			id := bitcoin.Hash(tx.TxHash())
			var fronter Felt
			if c.front {
				calls, err := FrontVault(k.d, v, w, 0)
				k.must(err)
				var i *Invocation
				if diff := cmp.Diff(c.fronted, k.vaultMoved(func() { i = k.sent(user, calls...) })); diff != "" {
					t.Errorf("advancing (-want +got):\n%s", diff)
				}
				want := wire.VaultFrontEvent{VaultRef: v.VaultRef, BitcoinTx: id, Recipient: recipient, ExecutionHash: execution, Fronter: user, Amounts: w.Amounts.Advance()}
				if diff := cmp.Diff([]wire.Event{want}, k.told(i)); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
				_, err = k.send(user, calls...)
				reverts(t, err, "front: already fronted")
				fronter = user
				data := trial.Must(wire.WithdrawalFelts(w))(k)
				for entry, args := range map[string]felts{"get_fronter_address_by_id": {felts(nil).txid(id).add(data...).poseidon()}, "get_fronter_address": felts(nil).txid(id).add(data...)} {
					if got := k.ask(k.d.VaultManager.Address, entry, append(felts(v.VaultRef.Felts()), args...)...); got[0] != user {
						t.Errorf("%s answers %v", entry, got)
					}
				}
			}
			proof, _ := k.confirm(genesis(), tx, 2)
			claim, err := k.d.VaultClaim(v, proof)
			k.must(err)
			var i *Invocation
			if diff := cmp.Diff(c.claimed, k.vaultMoved(func() { i = k.sent(tower, claim) })); diff != "" {
				t.Errorf("claim (-want +got):\n%s", diff)
			}
			want := wire.VaultClaimEvent{VaultRef: v.VaultRef, BitcoinTx: id, Recipient: recipient, ExecutionHash: execution, Caller: tower, Fronter: fronter, Withdrawals: 1, Amounts: c.total}
			if diff := cmp.Diff([]wire.Event{want}, k.told(i)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			got := k.vault(v.VaultRef)
			if got.UTXO != (bitcoin.OutPoint{Hash: id}) || got.Withdrawals != 1 || got.Raw != [2]uint64{1_000_000 - c.total[0], 1_000_000 - c.total[1]} {
				t.Errorf("the vault is %+v", got)
			}
			_, err = k.send(tower, claim)
			reverts(t, err, "claim: incorrect in_0 utxo")
			if c.execution != nil {
				salt := wire.Poseidon(k.d.VaultManager.Address, felts(nil).txid(id).poseidon())
				answer := k.ask(executionAddress, "get_execution", recipient, salt)
				want := felts{coin, execution}.u256(big.NewInt(100_000)).u256(big.NewInt(200)).uint(1_600_000_000)
				if diff := cmp.Diff([]Felt(want), answer); diff != "" {
					t.Errorf("the execution (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestVaultClaimReverts(t *testing.T) {
	k := newKit(t)
	v := k.newVault()
	tx := k.spend(v.UTXO, [2]uint64{100_000, 0}, nil, nil)
	proof, tip := k.confirm(genesis(), tx, 1)
	_, err := k.rawClaim(wire.VaultRef{Owner: user, ID: v.ID}, proof)
	reverts(t, err, "claim: vault closed")
	_, err = k.rawClaim(v.VaultRef, proof)
	reverts(t, err, "claim: confirmations")
	k.submitted(tower, wire.Branch{}, tip, blocks(tip.Header, 1, 9))
	for name, c := range map[string]struct {
		change func(*wire.BitcoinProof)
		reason string
	}{
		"another output":  {func(p *wire.BitcoinProof) { p.Tx[5]++ }, "claim: incorrect in_0 utxo"},
		"another index":   {func(p *wire.BitcoinProof) { p.Tx[5+32]++ }, "claim: incorrect in_0 utxo"},
		"no inputs":       {func(p *wire.BitcoinProof) { p.Tx = slices.Concat(p.Tx[:4], []byte{0}, p.Tx[5+82:]) }, "claim: empty inputs"},
		"not the block's": {func(p *wire.BitcoinProof) { p.Tx[0]++ }, "merkle_tree: verify failed"},
		"cut":             {func(p *wire.BitcoinProof) { p.Tx = p.Tx[:len(p.Tx)-3] }, "bitcointx: more data"},
	} {
		t.Run(name, func(t *testing.T) {
			p := proof
			p.Tx = slices.Clone(proof.Tx)
			c.change(&p)
			_, err := k.rawClaim(v.VaultRef, p)
			reverts(t, err, c.reason)
		})
	}
	before := k.vault(v.VaultRef)
	if before.Raw != v.Raw || before.Withdrawals != 0 {
		t.Errorf("the vault is %+v", before)
	}
}

// What locks a vault for ever: the execution's expiry does not fit.
func TestVaultLockTimeOverflow(t *testing.T) {
	k := newKit(t)
	v := k.newVault()
	tx := k.spend(v.UTXO, [2]uint64{1000, 0}, nil, func(tx *btc.MsgTx) { tx.LockTime = math.MaxUint32 - 1_000_000_000 + 1 })
	proof, tip := k.confirm(genesis(), tx, 2)
	_, err := k.rawClaim(v.VaultRef, proof)
	reverts(t, err, "u32_add Overflow")
	_, err = k.try(user, k.d.VaultManager.Address, wire.EntryParseBitcoinTx, wire.ByteArray(proof.Tx)...)
	reverts(t, err, "u32_add Overflow")
	tx.LockTime--
	proof, _ = k.confirm(tip, tx, 2)
	_, err = k.rawClaim(v.VaultRef, proof)
	k.must(err)
}

// closings are withdrawals that close a vault, and the reason that its event gives.
var closings = []struct {
	name, reason string
	raw          [2]uint64
	tx           func(*btc.MsgTx)
}{
	{"one output", "tx_data: output 1 not found", [2]uint64{1}, func(tx *btc.MsgTx) { tx.TxOut = tx.TxOut[:1] }},
	{"no script", "tx_data: output 1 empty script", [2]uint64{1}, func(tx *btc.MsgTx) { tx.TxOut[1].PkScript = nil }},
	{"no data", "tx_data: output 1 not OP_RETURN", [2]uint64{1}, func(tx *btc.MsgTx) { tx.TxOut[1].PkScript[0] = 0x51 }},
	{"one input", "tx_data: input 1 not found", [2]uint64{1}, func(tx *btc.MsgTx) { tx.TxIn = tx.TxIn[:1] }},
	{"a byte more", "tx_data: output 1 invalid len", [2]uint64{1}, func(tx *btc.MsgTx) { tx.TxOut[1].PkScript = append(tx.TxOut[1].PkScript, 0) }},
	{"no address", "tx_data: invalid recipient", [2]uint64{1}, func(tx *btc.MsgTx) {
		tx.TxOut[1].PkScript[2] = 0x08 // 2^251 and more, but not the prime
		for i := range 31 {
			tx.TxOut[1].PkScript[3+i] = 0
		}
	}},
	{"too large a fee for claiming", "tx_data: caller fee 0", [2]uint64{math.MaxUint64}, func(tx *btc.MsgTx) { tx.TxIn[0].Sequence = 1<<31 | 1<<20 - 1 }},
	{"too large a fee for advancing", "tx_data: fronting fee 0", [2]uint64{math.MaxUint64}, func(tx *btc.MsgTx) { tx.TxIn[0].Sequence = 1<<31 | 1<<29; tx.TxIn[1].Sequence = 1 << 31 }},
	{"too large a fee for execution", "tx_data: execution fee 0", [2]uint64{math.MaxUint64}, func(tx *btc.MsgTx) {
		tx.TxIn[0].Sequence = 1 << 31
		tx.TxIn[1].Sequence = 1<<31 | 1<<20 - 1
	}},
	{"too large a second fee", "tx_data: caller fee 1", [2]uint64{0, math.MaxUint64}, func(tx *btc.MsgTx) { tx.TxIn[0].Sequence = 1<<31 | 1<<20 - 1 }},
	{"too large a second fee for advancing", "tx_data: fronting fee 1", [2]uint64{0, math.MaxUint64}, func(tx *btc.MsgTx) { tx.TxIn[0].Sequence = 1<<31 | 1<<29 }},
	{"sum beyond 64 bits", "get_full_amts: amt0-0", [2]uint64{math.MaxUint64}, nil},
	{"sum with the fee for advancing", "get_full_amts: amt0-1", [2]uint64{math.MaxUint64 - 1<<56}, func(tx *btc.MsgTx) { tx.TxIn[0].Sequence = 1<<31 | 2<<20 }},
	{"sum with the fee for execution", "get_full_amts: amt0-2", [2]uint64{math.MaxUint64 - 1<<56}, func(tx *btc.MsgTx) {
		tx.TxIn[0].Sequence = 1 << 31
		tx.TxIn[1].Sequence = 1<<31 | 5000
	}},
	{"second sum", "get_full_amts: amt1-0", [2]uint64{0, math.MaxUint64}, nil},
	{"second sum with the fee for advancing", "get_full_amts: amt1-1", [2]uint64{0, math.MaxUint64 - 1<<56}, func(tx *btc.MsgTx) { tx.TxIn[0].Sequence = 1<<31 | 2<<20 }},
	{"more than there is", "withdraw: amount 0", [2]uint64{990_000, 0}, nil},
	{"more than there is of the second", "withdraw: amount 1", [2]uint64{0, 990_000}, nil},
}

func TestVaultCloses(t *testing.T) {
	for _, c := range closings {
		t.Run(c.name, func(t *testing.T) {
			k := newKit(t)
			v := k.newVault()
			tx := k.spend(v.UTXO, c.raw, nil, c.tx)
			proof, _ := k.confirm(genesis(), tx, 2)
			var i *Invocation
			moved := k.vaultMoved(func() {
				i = trial.Must(k.rawClaim(v.VaultRef, proof))(k)
			})
			if diff := cmp.Diff(map[string][2]int64{"vaults": {-1_000_000, -10_000_000}, "lp": {1_000_000, 10_000_000}}, moved); diff != "" {
				t.Errorf("the money (-want +got):\n%s", diff)
			}
			want := wire.VaultCloseEvent{VaultRef: v.VaultRef, BitcoinTx: bitcoin.Hash(tx.TxHash()), Reason: c.reason}
			if diff := cmp.Diff([]wire.Event{want}, k.told(i)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if got := k.vault(v.VaultRef); got.Open() || got.Raw != [2]uint64{} || got.Deposits != 1 || got.Withdrawals != 0 {
				t.Errorf("the vault is %+v", got)
			}
			if _, err := wire.ParseWithdrawal(tx); err == nil && c.raw[0] != 990_000 && c.raw[1] != 990_000 {
				t.Error("the client takes it for a withdrawal")
			}
			open, err := OpenVault(k.d, v) // it may be opened again
			k.must(err)
			open.Calldata[2] = wire.FeltOf(9)
			k.sent(lp, open)
		})
	}
}

// The withdrawal is taken off before it is noticed that it has more than 256 bits: what
// it was about is lost.
func TestVaultAmountBeyond256Bits(t *testing.T) {
	huge, err := wire.FeltOfBig(new(big.Int).Lsh(big.NewInt(1), 250))
	if err != nil {
		t.Fatal(err)
	}
	k := newKit(t)
	v := vault{wire.Vault{VaultRef: wire.VaultRef{Owner: lp, ID: wire.FeltOf(6)}, Relay: k.d.BtcRelay.Address, Tokens: [2]Felt{coin, gas},
		Multipliers: [2]*big.Int{wire.Number(huge), big.NewInt(1)}, UTXO: firstUTXO, Raw: [2]uint64{120, 0}}}
	tx := k.spend(firstUTXO, [2]uint64{100, 0}, nil, nil)
	_, all, no := v.withdraw(bitcoinTx{id: bitcoin.Hash(tx.TxHash()), lockTime: tx.LockTime, ins: []bitcoinIn{{firstUTXO, tx.TxIn[0].Sequence}, {sequence: tx.TxIn[1].Sequence}},
		outs: []bitcoinOut{{}, {script: tx.TxOut[1].PkScript}}})
	if no != "parse_and_wthdrw: u256 overflow" || all != [2]uint64{101, 0} || v.Raw != [2]uint64{19, 0} || v.Withdrawals != 1 {
		t.Errorf("%q takes %v and leaves %+v", no, all, v)
	}
	_, err = entry(func(*call) { v.mustReal([2]uint64{64, 0}) })(nil, nil)
	reverts(t, err, "Option::unwrap failed.")
}

// A withdrawal for the zero address can never be paid, and so locks the vault; without an
// amount there is nothing to pay.
func TestVaultRecipientZero(t *testing.T) {
	for _, n := range []uint64{1, 0} {
		k := newKit(t)
		v := k.newVault()
		tx := k.spend(v.UTXO, [2]uint64{n, 0}, nil, func(tx *btc.MsgTx) { clear(tx.TxOut[1].PkScript[2:34]) })
		proof, _ := k.confirm(genesis(), tx, 2)
		_, err := k.rawClaim(v.VaultRef, proof)
		if n == 0 {
			k.must(err)
			continue
		}
		reverts(t, err, "ERC20: transfer to 0")
	}
}

func TestFrontReverts(t *testing.T) {
	k := newKit(t)
	v := k.newVault()
	w := k.parsed(k.spend(v.UTXO, [2]uint64{1000, 0}, nil, nil))
	stranger := v
	stranger.Owner = user
	calls, err := FrontVault(k.d, stranger, w, 0)
	k.must(err)
	_, err = k.send(user, calls...)
	reverts(t, err, "front: vault closed")
	tx := k.spend(v.UTXO, [2]uint64{5, 0}, nil, nil)
	proof, _ := k.confirm(genesis(), tx, 2)
	_, err = k.rawClaim(v.VaultRef, proof)
	k.must(err)
	calls = trial.Must(FrontVault(k.d, v, w, 0))(k)
	_, err = k.send(user, calls...)
	reverts(t, err, "front: already processed")
	calls = trial.Must(FrontVault(k.d, v, w, 1))(k)
	_, err = k.send(user, calls[len(calls)-1])
	k.must(err) // the first call's approval is there
	_, err = k.try(user, k.d.VaultManager.Address, "front", felts(v.VaultRef.Felts()).uint(1).txid(w.TxID).add(make([]Felt, 9)...)...)
	reverts(t, err, "Failed to deserialize param #5")
	over := withdrawal{recipient: recipient, amounts: [2]uint64{math.MaxUint64}, executionFee: 1}
	_, err = k.try(user, k.d.VaultManager.Address, "front", felts(v.VaultRef.Felts()).uint(1).txid(w.TxID).add(over.felts()...)...)
	reverts(t, err, "u64_add Overflow")
}

// The contract reads what the client reads, of the vectors' transactions and of those
// with every length of data.
func TestVectorsWithdrawals(t *testing.T) {
	k := newKit(t)
	compare := func(t *testing.T, tx *btc.MsgTx) {
		answer := k.ask(k.d.VaultManager.Address, wire.EntryParseBitcoinTx, wire.ByteArray(rawTx(t, tx))...)
		w, err := wire.ParseWithdrawal(tx)
		if err != nil {
			t.Logf("the client refuses it: %v; the contract answers %v", err, answer[0])
			return
		}
		if err := wire.CheckParsedWithdrawal(answer, w); err != nil {
			t.Error(err)
		}
	}
	vectors.Load(t, "chain-starknet", "spv").Of(t, "withdrawal").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct{ Tx struct{ Hex string } }
		c.Input(t, &in)
		tx, err := rawtx.Decode(vectors.Unhex(t, in.Tx.Hex))
		if err != nil {
			c.NotRun(t, "the project refuses the transaction before it is shown to a contract")
			return
		}
		if tx.LockTime > math.MaxUint32-expiryOffset {
			_, err := k.try(user, k.d.VaultManager.Address, wire.EntryParseBitcoinTx, wire.ByteArray(rawTx(t, tx))...)
			reverts(t, err, "u32_add Overflow")
			return
		}
		compare(t, tx)
	})
	h := wire.FeltOf(3)
	for _, raw := range [][2]uint64{{1, 0}, {1, 1}, {math.MaxUint32, 5}} {
		for _, execution := range []*Felt{nil, &h} {
			compare(t, k.spend(firstUTXO, raw, execution, nil))
		}
	}
}

// A recipient is read modulo the prime; so is the hash of calls.
func TestWithdrawalReducesModuloPrime(t *testing.T) {
	k := newKit(t)
	tx := k.spend(firstUTXO, [2]uint64{9, 0}, nil, nil)
	prime := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 251), new(big.Int).Add(new(big.Int).Mul(big.NewInt(17), new(big.Int).Lsh(big.NewInt(1), 192)), big.NewInt(1)))
	prime.Add(prime, big.NewInt(5)).FillBytes(tx.TxOut[1].PkScript[2:34])
	answer := k.ask(k.d.VaultManager.Address, wire.EntryParseBitcoinTx, wire.ByteArray(rawTx(t, tx))...)
	if !answer[0].IsZero() || answer[1] != wire.FeltOf(5) || answer[2] != wire.FeltOf(binary.LittleEndian.Uint64(tx.TxOut[1].PkScript[34:])) {
		t.Errorf("answers %v", answer)
	}
	if _, err := wire.ParseWithdrawal(tx); err == nil {
		t.Error("the client takes it for a withdrawal")
	}
}
