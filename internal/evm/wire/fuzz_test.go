package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

// Seeds that stand in the conformance vectors.
const (
	seedUnsigned   = "0x02f83e8210128201a5010a830186a09493d2da7e22d942ea308b5c4b2d3f7a8a1c0f4a3a861e6f2d1d3a5c947a1193ea3b16e7feddbf0a1b2c3d4e5f60718293a4b5c0"
	seedWithdrawal = "0200000003f1c0ede6c3ece5b69839242acc1f874534fd32a2f45f8e92a23bb06b5d706d60000000000032031080aba412e7fba6d9ae9f7819a639a3a65dc5c2e3b8e0fe8aa852f39ef0470eb9f30200000000000070be3199c0d111c37bbaafe77884a3f1ca39303b2b11effd0841830d1cffc4379baa0300000000fdffffff032202000000000000225120daa5230561787cb97ed8a2d48ff37d7f9016505e971fec23d8be071a4f1b0ea50000000000000000266a24c2804272d67b5903c0239db937aaaf03d00dfd61000000004b362d3700000000005d78db3e0e6000000000001976a9149d819d27b807aef28983baec6dff9e90a75a1acf88acbc054126"
)

func FuzzParseSwapData(f *testing.F) {
	d := deploymentOf(f, "CITREA/MAINNET")
	s := payInSwap(f, d, common.HexToAddress("0x1000000000000000000000000000000000000001"))
	f.Add([]byte(mustJSON(f, s)))
	s.ExtraData = make([]byte, 42)
	s.Sequence = new(big.Int).Lsh(big.NewInt(1), 191)
	f.Add([]byte(mustJSON(f, s)))
	f.Add([]byte(`{"type":"evm","amount":12.5,"sequence":"0xff","kind":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := ParseSwapData(raw)
		if err != nil {
			return
		}
		again, err := ParseSwapData(mustJSON(t, s))
		if err != nil {
			t.Fatalf("own text is refused: %v", err)
		}
		trial.Do(t, Diff(s, again, chains.Tolerance{}))
		if Diff(s, again, chains.Tolerance{}) != nil {
			t.Fatal("the escrow hash changed")
		}
		public := trial.Must(s.Public())(t)
		if d.CheckSwapData(s) == nil {
			b, err := d.ParsePublic(public)
			if b.ExtraData = s.ExtraData; err != nil || Diff(s, b, chains.Tolerance{}) != nil || b.Kind != s.Kind {
				t.Fatalf("%s is read back as %+v, %v", public, b, err)
			}
		}
		encoded, _ := s.Encode()
		tuple, err := fromTuple(s.tuple(), s.Kind, s.ExtraData)
		if back, err2 := tuple.Encode(); err != nil || err2 != nil || !bytes.Equal(encoded, back) {
			t.Fatalf("%v %v", err, err2)
		}
	})
}

func FuzzSignedTransaction(f *testing.F) {
	n, d := presetOf(f, "CITREA/MAINNET"), deploymentOf(f, "CITREA/MAINNET")
	user := addressOf(f, userKey)
	calls := trial.Must(d.Init(payInSwap(f, d, user), user, anyAuth()))(f)
	texts := trial.Must(n.Serialize(calls, 3, FeeRate{Base: big.NewInt(10), Priority: big.NewInt(1)}))(f)
	f.Add(seedUnsigned)
	for _, text := range texts {
		f.Add(text)
		f.Add(signText(f, userKey, text))
	}
	f.Add(signTx(f, userKey, &types.LegacyTx{GasPrice: big.NewInt(1), Gas: 21000, To: &user}))
	f.Add(signTx(f, userKey, &types.AccessListTx{ChainID: big.NewInt(4114), GasPrice: big.NewInt(1), Gas: 21000, AccessList: types.AccessList{{StorageKeys: []common.Hash{{}}}}}))
	for _, bad := range []string{"", "0x", "0x02", "0x02c0", "zz", "0xf9130d"} {
		f.Add(bad)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tx, err := ParseTransaction(text)
		if err != nil {
			return
		}
		again, err := ParseTransaction(tx.String())
		if err != nil || again.ID != tx.ID || again.From != tx.From || again.signingHash != tx.signingHash {
			t.Fatalf("%s: read again as %+v, %v", text, again, err)
		}
		checked, err := d.CheckSigned(n, user, calls, []string{text})
		if err == nil && (checked[0].From != user || *checked[0].To != calls[1].To || !bytes.Equal(checked[0].Data, calls[1].Data)) {
			t.Fatalf("accepted %+v", checked[0].Transaction)
		}
	})
}

func FuzzReturnedProof(f *testing.F) {
	tx := trial.Must(rawtx.Decode(unhex(f, seedWithdrawal)))(f)
	p := proofOf(f, tx, 1)
	for _, kind := range kinds() {
		f.Add(int(kind), p.witness(kind, commitment{1}))
	}
	f.Add(1, []byte{})
	d := deploymentOf(f, "CITREA/MAINNET")
	params := VaultParams{d.BtcRelay.Address, Native, Native, big.NewInt(1), big.NewInt(1), big.NewInt(1)}
	claim := trial.Must(d.ClaimVault(Vault{VaultRef: VaultRef{ID: big.NewInt(1)}, Params: params}, mustWithdrawal(f, seedWithdrawal), p, common.Address{}))(f)
	f.Add(4, claim.Data)
	f.Fuzz(func(t *testing.T, kind int, data []byte) {
		if tx, err := d.checkVaultClaim(data); err == nil && len(tx.TxIn) < 2 {
			t.Fatal("no withdrawal")
		}
		c, p, err := readWitness(chains.Kind(kind), data)
		if err == nil && !bytes.Equal(p.witness(chains.Kind(kind), c), data) {
			t.Fatalf("%x is read as %+v", data, p)
		}
	})
}

func FuzzDecodeLog(f *testing.F) {
	d := deploymentOf(f, "CITREA/MAINNET")
	for _, m := range EscrowABI().Events {
		f.Add(true, append(append([]byte{}, m.ID[:]...), make([]byte, 96)...), make([]byte, 128))
	}
	for _, m := range VaultABI().Events {
		f.Add(false, append(append([]byte{}, m.ID[:]...), make([]byte, 96)...), make([]byte, 256))
	}
	claim := EscrowABI().Events["Claim"]
	data := trial.Must(claim.Inputs.NonIndexed().Pack(d.ClaimHandlers[chains.HTLC], make([]byte, 32)))(f)
	f.Add(true, append(append([]byte{}, claim.ID[:]...), make([]byte, 96)...), data)
	f.Fuzz(func(t *testing.T, escrow bool, topics, data []byte) {
		l := types.Log{Address: d.VaultManager.Address, Data: data}
		if escrow {
			l.Address = d.EscrowManager.Address
		}
		for ; len(topics) >= 32; topics = topics[32:] {
			l.Topics = append(l.Topics, common.Hash(topics[:32]))
		}
		e, err := d.DecodeLog(l)
		if err != nil && e != nil {
			t.Fatalf("both %v and %v", e, err)
		}
		d.Outcome(WithdrawalLookup{Vault: VaultRef{ID: big.NewInt(1)}}, []types.Log{l})
	})
}

func FuzzWithdrawal(f *testing.F) {
	raw := trial.Must(hex.DecodeString(seedWithdrawal))(f)
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		w, err := withdrawalOf(raw)
		if err != nil {
			return
		}
		data := trial.Must(WithdrawalData(w.Recipient, w.Raw, w.Execution))(t)
		if w.Raw[1] != 0 && !bytes.Equal(data, w.Payload) {
			t.Fatalf("payload %x is written as %x", w.Payload, data)
		}
		if w.Amounts.Total[0] < w.Raw[0] || w.Amounts.Total[1] < w.Raw[1] {
			t.Fatalf("totals %v of %v", w.Amounts.Total, w.Raw)
		}
	})
}

// FuzzPayout is about the OP_RETURN payload alone.
func FuzzPayout(f *testing.F) {
	for _, n := range []int{0, 20, 27, 28, 29, 36, 60, 68, 69} {
		f.Add(bytes.Repeat([]byte{0xab}, n))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		p, err := PayoutFormat().Decode(payload)
		if err != nil {
			return
		}
		data, err := WithdrawalData(common.Address(p.Recipient).Hex(), p.Raw, p.ExecutionHash)
		if zero := common.Address(p.Recipient) == (common.Address{}); zero != (err != nil) {
			t.Fatalf("%x: %v", payload, err)
		}
		if err == nil && p.Raw[1] != 0 && !bytes.Equal(data, payload) {
			t.Fatalf("%x is written as %x", payload, data)
		}
	})
}

// FuzzAnswers is about all that nodes answer to view calls, and call data of others.
func FuzzAnswers(f *testing.F) {
	d := deploymentOf(f, "CITREA/MAINNET")
	user := common.HexToAddress("0x1000000000000000000000000000000000000001")
	calls := trial.Must(d.Init(payInSwap(f, d, user), user, anyAuth()))(f)
	f.Add(calls[1].Data)
	states := EscrowABI().Methods["getHashStateMultiple"]
	f.Add(pack(f, &states, []EscrowRecord{{1, 2, 3}}))
	funds := EscrowABI().Methods["getBalance"]
	f.Add(pack(f, &funds, []*big.Int{big.NewInt(5)}))
	vault := VaultABI().Methods["getVault"]
	f.Add(pack(f, &vault, VaultState{UtxoVout: 1}))
	base := StoredHeader{72: 0xff, 73: 0xff, 74: 0x00, 75: 0x1d}
	submit, _ := trial.Must2(d.SubmitHeaders(Branch{}, base, []CompactHeader{{40: 0xff, 41: 0xff, 42: 0x00, 43: 0x1d}}))(f)
	f.Add(submit.Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := DecodeStates(data, 1); err == nil && len(data) < 32*5 {
			t.Fatal("a state out of nothing")
		}
		DecodeReputation(data)
		DecodeFunds(data)
		DecodeVaultState(data)
		DecodeAmount(data)
		for _, frame := range []CallFrame{{To: d.EscrowManager.Address, Input: data}, {To: d.BtcRelay.Address, Input: data}, {Type: "CREATE", To: d.BtcRelay.Address, Input: data}} {
			if s, err := d.FindSwapData(frame, common.Hash{1}); err == nil {
				t.Fatalf("found %+v", s)
			}
			if h, ok := d.FindStoredHeader(frame, common.Hash{1}); ok {
				t.Fatalf("found %x", h)
			}
		}
	})
}

func FuzzVaultJSON(f *testing.F) {
	v := Vault{VaultRef: VaultRef{common.Address{1}, big.NewInt(7)}, Opened: true,
		Params: VaultParams{common.Address{2}, Native, Native, big.NewInt(1e10), big.NewInt(1), big.NewInt(3)}}
	v.UTXO.Hash[0] = 1
	f.Add([]byte(mustJSON(f, v)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v, again Vault
		if json.Unmarshal(raw, &v) != nil {
			return
		}
		text, err := json.Marshal(v)
		if err != nil {
			return // more confirmations than a vault can ask for
		}
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatalf("own text %s is refused: %v", text, err)
		}
		if !bytes.Equal(text, mustJSON(t, again)) {
			t.Fatalf("%s changed", text)
		}
	})
}

func FuzzSignature(f *testing.F) {
	f.Add("0xfca302a368e0040a7f03eec66fb5776fa8ccb0c4a7e55bd5ca9c64dc2c235e9c09ce489985e17459bf0208ea65935c0a4c5163d1b2c0fbfbe08588154192a83f1b")
	f.Add("0x")
	f.Fuzz(func(t *testing.T, signature string) {
		if _, err := recoverSigner(common.Hash{1}, signature); err == nil && len(signature) != 132 {
			t.Fatalf("accepted %q", signature)
		}
	})
}

// FuzzCallFrame reads transactions and traces as nodes give them.
func FuzzCallFrame(f *testing.F) {
	d := deploymentOf(f, "CITREA/MAINNET")
	f.Add([]byte(`{"type":"0x2","from":"0x1000000000000000000000000000000000000001","to":null,"input":"0x00"}`))
	f.Add([]byte(`{"type":"CALL","to":"0xc98Ef084d3911C8447DBbE4dDa18bC2c9bB0584e","input":"0x07dd7a29","calls":[{"type":"CREATE","to":"0x11ac854A68830d61af975063c91602f878C36fA6","input":"0x"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var frame CallFrame
		if json.Unmarshal(raw, &frame) != nil {
			return
		}
		if h, ok := d.FindStoredHeader(frame, common.Hash{1}); ok {
			t.Fatalf("found %x", h)
		}
		if s, err := d.FindSwapData(frame, common.Hash{1}); err == nil {
			t.Fatalf("found %+v", s)
		}
	})
}
