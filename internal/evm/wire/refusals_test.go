package wire

import (
	"encoding/hex"
	"math"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestNewVaultRefuses(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	ref := VaultRef{common.Address{1}, big.NewInt(1)}
	params := VaultParams{d.BtcRelay.Address, Native, Native, big.NewInt(1e10), big.NewInt(1e10), big.NewInt(2)}
	with := func(p VaultParams) VaultState {
		commitment := trial.Must(p.Commitment())(t)
		return VaultState{SpvVaultParametersCommitment: commitment, UtxoTxHash: common.Hash{1}}
	}
	if v, err := d.NewVault(ref, with(params), params); err != nil || !v.Opened {
		t.Fatal(v, err)
	}
	relay, patient, negative, wide := params, params, params, params
	relay.BtcRelayContract = common.Address{7}
	patient.Confirmations = new(big.Int).Lsh(big.NewInt(1), 40)
	negative.Token0Multiplier = big.NewInt(-1)
	wide.Token1Multiplier = new(big.Int).Lsh(big.NewInt(1), 192)
	for name, c := range map[string]struct {
		ref VaultRef
		s   VaultState
		p   VaultParams
	}{
		"not open":              {ref, VaultState{}, params},
		"other parameters":      {ref, with(patient), params},
		"another relay":         {ref, with(relay), relay},
		"absurd confirmations":  {ref, with(patient), patient},
		"negative multiplier":   {ref, with(params), negative},
		"multiplier of 2^192":   {ref, with(params), wide},
		"no parameters":         {ref, with(params), VaultParams{}},
		"number of 2^96":        {VaultRef{ref.Owner, new(big.Int).Lsh(big.NewInt(1), 96)}, with(params), params},
		"no number of a vault":  {VaultRef{Owner: ref.Owner}, with(params), params},
		"negative vault number": {VaultRef{ref.Owner, big.NewInt(-1)}, with(params), params},
	} {
		if v, err := d.NewVault(c.ref, c.s, c.p); err == nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
	w := mustWithdrawal(t, seedWithdrawal)
	for name, v := range map[string]Vault{
		"another relay":       {VaultRef: ref, Params: relay},
		"negative multiplier": {VaultRef: ref, Params: negative},
		"no parameters":       {VaultRef: ref},
		"no number":           {Params: params},
	} {
		if _, err := d.ClaimVault(v, w, BitcoinProof{Tx: unhex(t, seedWithdrawal)}, common.Address{1}); err == nil {
			t.Errorf("%s: claimed", name)
		}
	}
	vault := Vault{VaultRef: ref, Params: params, Opened: true}
	other := w
	other.TxID = bitcoin.Hash{1}
	if _, err := d.ClaimVault(vault, other, BitcoinProof{Tx: unhex(t, seedWithdrawal)}, common.Address{1}); err == nil {
		t.Error("claimed with the proof of another transaction")
	}
}

func TestSerializeRefuses(t *testing.T) {
	n := presetOf(t, "CITREA/MAINNET")
	rate := FeeRate{Base: big.NewInt(1), Priority: big.NewInt(1)}
	huge := new(big.Int).Lsh(big.NewInt(1), 256)
	for name, c := range map[string]struct {
		call  Call
		nonce uint64
		rate  FeeRate
	}{
		"negative value":      {Call{Value: big.NewInt(-1)}, 1, rate},
		"value of 2^256":      {Call{Value: huge}, 1, rate},
		"fee of 2^256":        {Call{}, 1, FeeRate{Base: huge}},
		"negative tip":        {Call{}, 1, FeeRate{Priority: big.NewInt(-1)}},
		"the very last nonce": {Call{}, math.MaxUint64, rate},
	} {
		if texts, err := n.Serialize([]Call{c.call}, c.nonce, c.rate); err == nil {
			t.Errorf("%s: %v", name, texts)
		}
	}
	if _, err := n.Serialize([]Call{{}}, 1, FeeRate{}); err != nil {
		t.Errorf("nothing given: %v", err)
	}
}

func TestViewCalls(t *testing.T) {
	owner, spender := common.HexToAddress("0x01"), common.HexToAddress("0x02")
	word := func(last byte) string { return hex.EncodeToString(common.LeftPadBytes([]byte{last}, 32)) }
	for name, c := range map[string]viewCall{
		"balance":   viewOf(BalanceCall(owner)).with("70a08231" + word(1)),
		"allowance": viewOf(AllowanceCall(owner, spender)).with("dd62ed3e" + word(1) + word(2)),
		"dry run":   viewOf(ParseCall([]byte{0xff})).with("94c37bf9" + word(32) + word(1) + "ff" + word(0)[2:]),
	} {
		if c.err != nil || hex.EncodeToString(c.data) != c.want {
			t.Errorf("%s: got %x, %v; want %s", name, c.data, c.err, c.want)
		}
	}
	if n, err := DecodeAmount(common.LeftPadBytes([]byte{5}, 32)); err != nil || n.Int64() != 5 {
		t.Errorf("amount %v, %v", n, err)
	}
	for _, answer := range [][]byte{nil, make([]byte, 31), make([]byte, 64)} {
		if _, err := DecodeAmount(answer); err == nil {
			t.Errorf("read an amount from %d bytes", len(answer))
		}
	}
}

type viewCall struct {
	data []byte
	err  error
	want string
}

func viewOf(data []byte, err error) viewCall { return viewCall{data: data, err: err} }

func (v viewCall) with(want string) viewCall {
	v.want = want
	return v
}
