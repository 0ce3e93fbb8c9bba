package wire

import (
	"bytes"
	"encoding/binary"
	"math/big"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

// proofOf is an honest proof of a transaction in a block of three.
func proofOf(t testing.TB, tx *wire.MsgTx, confirmations uint32) BitcoinProof {
	t.Helper()
	txids := []bitcoin.Hash{{1}, tx.TxHash(), {3}}
	merkle, ok := bitcoin.BuildMerkleProof(txids, tx.TxHash(), 5)
	if !ok {
		t.Fatal("no proof")
	}
	full := bitcoin.Header{Height: 5, MerkleRoot: merkle.Root(), Bits: 0x1d00ffff}.Bytes()
	var stored StoredHeader
	copy(stored[:], full[:])
	binary.BigEndian.PutUint32(stored[112:], 5)
	raw := trial.Must(rawtx.Strip(tx))(t)
	return BitcoinProof{Tx: raw, Confirmations: confirmations, Header: stored, Merkle: merkle}
}

// What a wallet could return instead of a claim by Bitcoin proof that was asked for.
func TestReturnedBitcoinProofs(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	const nonce = 7<<24 | 9
	pay := wire.NewMsgTx(2)
	pay.LockTime = 500_000_007
	pay.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: bitcoin.Hash{4}}, Sequence: 0xf0000009})
	pay.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
	pay.AddTxOut(wire.NewTxOut(2000, []byte{0x00, 0x14, 21: 7}))
	pay.AddTxOut(wire.NewTxOut(0, []byte{0x6a, 1, 1})) // nobody judges it
	for _, c := range []chains.Condition{
		{Kind: chains.Onchain, Script: pay.TxOut[1].PkScript, Sats: 2000, Confirmations: 2},
		{Kind: chains.OnchainNonced, Script: pay.TxOut[1].PkScript, Sats: 2000, Nonce: nonce, Confirmations: 2},
		{Kind: chains.OnchainTxID, TxID: pay.TxHash(), Confirmations: 2},
	} {
		s := trial.Must(d.Expect(chains.Spec{Kind: c.Kind, Offerer: common.Address{1}.Hex(), Claimer: common.Address{2}.Hex(), Token: Native.Hex(),
			Amount: big.NewInt(5), Condition: c, Expiry: 2_000_000_000, PayOut: true}))(t)
		e := trial.Must(d.Escrow(s))(t)
		good := proofOf(t, pay, 2)
		good.Vout = 1
		call := trial.Must(d.ClaimByBitcoin(s, good))(t)
		check := func(data []byte) error {
			plan := chains.Plan{Steps: []chains.Step{{Kind: chains.StepClaimBitcoin, Escrow: e}}}
			calls := trial.Must(d.BitcoinClaimPattern(s))(t)
			return d.CheckProofs(plan, calls, []int{0, 0}, []CheckedTx{{&Transaction{Data: data}, 1}})
		}
		if err := check(call.Data); err != nil {
			t.Fatalf("%s: %v", c.Kind, err)
		}
		values := trial.Must(EscrowABI().Methods["claim"].Inputs.Unpack(call.Data[4:]))(t)
		witness := values[1].([]byte)
		with := func(change func([]byte) []byte) []byte {
			return trial.Must(EscrowABI().Pack("claim", s.tuple(), change(bytes.Clone(witness))))(t)
		}
		flip := func(at int) []byte {
			return with(func(w []byte) []byte { w[(at+len(w))%len(w)] ^= 1; return w })
		}
		bad := map[string][]byte{
			"another commitment":             flip(0),
			"other confirmations":            flip(35),
			"another relay":                  flip(40),
			"another merkle root":            flip(56 + 40),
			"another sibling":                flip(-1),
			"another position":               flip(-65 - 32),
			"more siblings than there are":   flip(-65),
			"an absurd number of siblings":   flip(-65 - 31),
			"bytes behind the proof":         with(func(w []byte) []byte { return append(w, make([]byte, 32)...) }),
			"a cut proof":                    with(func(w []byte) []byte { return w[:len(w)-1] }),
			"no proof":                       with(func([]byte) []byte { return nil }),
			"a header and no more":           with(func(w []byte) []byte { return w[:216] }),
			"bytes behind the data":          append(bytes.Clone(call.Data), make([]byte, 32)...),
			"an escrow and no more":          call.Data[:4+13*32],
			"another method":                 append([]byte{1, 2, 3, 4}, call.Data[4:]...),
			"a witness at an unusual offset": append(append(bytes.Clone(call.Data[:4+13*32+31]), call.Data[4+13*32+31]+32), append(make([]byte, 32), call.Data[4+14*32:]...)...),
		}
		if c.Kind != chains.OnchainTxID {
			bad["another output"] = flip(219)
			bad["an output that is not there"] = flip(216)
			bad["another transaction"] = flip(252 + 5)
			bad["an absurd length"] = flip(220)
			bad["a cut transaction"] = flip(251)
		}
		for name, data := range bad {
			if err := check(data); err == nil {
				t.Errorf("%s: %s passes", c.Kind, name)
			}
		}
	}
}

// The same for withdrawals from a vault: each claim must follow the one before,
// the last must be of the withdrawal that was asked for.
func TestReturnedVaultClaims(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	vault := Vault{VaultRef: VaultRef{common.Address{1}, big.NewInt(3)}, Params: VaultParams{d.BtcRelay.Address, Native, Native, big.NewInt(1), big.NewInt(1), big.NewInt(1)}, Opened: true}
	claims := func(v Vault, change func(*wire.MsgTx)) (all [][]byte, ids []bitcoin.Hash) {
		at := wire.OutPoint{Hash: bitcoin.Hash{9}}
		for i := range 2 {
			payload := trial.Must(WithdrawalData(common.Address{byte(40 + i)}.Hex(), [2]uint64{5, 0}, nil))(t)
			script := trial.Must(rawtx.OpReturn(payload))(t)
			tx := wire.NewMsgTx(2)
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: at, Sequence: 1 << 31})
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: bitcoin.Hash{byte(i)}}, Sequence: 1 << 31})
			tx.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
			tx.AddTxOut(wire.NewTxOut(0, script))
			w := trial.Must(ParseWithdrawal(tx))(t)
			call := trial.Must(d.ClaimVault(v, w, proofOf(t, tx, 1), common.Address{7}))(t)
			if change != nil {
				change(tx)
				p := proofOf(t, tx, 1)
				siblings := [][32]byte{p.Merkle.Hashes[0], p.Merkle.Hashes[1]}
				call.Data = trial.Must(VaultABI().Pack("claim", v.Owner, v.ID, v.Params, p.Tx, struct{ Data [5][32]byte }{p.Header.words()}, siblings, big.NewInt(int64(p.Merkle.Pos))))(t)
			}
			all, ids = append(all, call.Data), append(ids, tx.TxHash())
			at = wire.OutPoint{Hash: tx.TxHash()}
		}
		return all, ids
	}
	good, ids := claims(vault, nil)
	check := func(want bitcoin.Hash, datas ...[]byte) error {
		payment := chains.VaultPayment{Owner: vault.Owner.Hex(), ID: vault.ID, TxID: want}
		calls := d.VaultClaimPattern(vault.VaultRef)
		var checked []CheckedTx
		for _, data := range datas {
			checked = append(checked, CheckedTx{&Transaction{Data: data}, 1})
		}
		return d.CheckProofs(chains.Plan{Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &payment}}}, calls, []int{0, 0}, checked)
	}
	flip := func(at int) []byte {
		data := bytes.Clone(good[1])
		data[(at+len(data))%len(data)] ^= 1
		return data
	}
	foreign := vault
	foreign.Params.BtcRelayContract = common.Address{8}
	d.BtcRelay.Address = foreign.Params.BtcRelayContract
	other, _ := claims(foreign, nil)
	d.BtcRelay.Address = vault.Params.BtcRelayContract
	odd, oddIDs := claims(vault, func(tx *wire.MsgTx) { tx.TxOut[1].PkScript = []byte{0x6a, 1, 1} })
	for _, c := range []struct {
		name  string
		want  bitcoin.Hash
		datas [][]byte
		err   string
	}{
		{"both", ids[1], good, ""},
		{"the second, the first being claimed by somebody else", ids[1], good[1:], ""},
		{"the first alone", ids[0], good[:1], ""},
		{"only the first of two", ids[1], good[:1], "instead of " + ids[1].String()},
		{"one too many", ids[0], good, "instead of " + ids[0].String()},
		{"in another order", ids[0], [][]byte{good[1], good[0]}, "follow"},
		{"the same twice", ids[1], [][]byte{good[1], good[1]}, "follow"},
		{"another relay", ids[1], other[1:], "relay"},
		{"what would close the vault", oddIDs[1], odd[1:], "unknown format"},
		{"another sibling", ids[1], [][]byte{flip(-1)}, "merkle"},
		{"bytes behind the data", ids[1], [][]byte{append(bytes.Clone(good[1]), make([]byte, 32)...)}, "encoding"},
		{"an absurd position", ids[1], [][]byte{flip(4 + 15*32)}, "position"},
		{"cut data", ids[1], [][]byte{good[1][:100]}, "claim"},
	} {
		err := check(c.want, c.datas...)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
}
