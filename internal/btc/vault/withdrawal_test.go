package vault

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

var (
	evmPayout      = PayoutFormat{RecipientLen: 20}
	starknetPayout = PayoutFormat{RecipientLen: 32, LittleEndian: true}
)

func TestVectorsNSequenceEncode(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "nsequence_encode", func(t *testing.T, c *vectors.Case) {
		var in struct{ CallerFeeShare, FrontingFeeShare, ExecutionFeeShare string }
		c.Input(t, &in)
		var shares bitcoin.FeeShares
		for _, p := range []struct {
			text  string
			share *uint32
		}{{in.CallerFeeShare, &shares.Caller}, {in.FrontingFeeShare, &shares.Fronting}, {in.ExecutionFeeShare, &shares.Execution}} {
			v, err := strconv.ParseUint(p.text, 10, 32)
			if err != nil { // such a number is no FeeShares at all
				if !vectors.Refused(c.Want(t)) {
					t.Fatal(err)
				}
				return
			}
			*p.share = uint32(v)
		}
		s0, s1, err := shares.Sequences()
		if vectors.Refused(c.Want(t)) != (err != nil) {
			t.Fatalf("Sequences: %v", err)
		}
		if err != nil {
			return
		}
		vectors.SameJSON(t, c.Want(t), map[string]uint32{"in0sequence": s0, "in1sequence": s1})
	})
}

// parseVault does what every chain does with a withdrawal, up to the meaning of
// the recipient.
func parseVault(raw []byte, f PayoutFormat) (bitcoin.Withdrawal, Payout, bitcoin.WithdrawalAmounts, error) {
	tx, err := rawtx.Decode(raw)
	if err != nil {
		return bitcoin.Withdrawal{}, Payout{}, bitcoin.WithdrawalAmounts{}, err
	}
	w, err := bitcoin.ParseWithdrawal(tx)
	if err != nil {
		return bitcoin.Withdrawal{}, Payout{}, bitcoin.WithdrawalAmounts{}, err
	}
	p, err := f.Decode(w.Payload)
	if err != nil {
		return bitcoin.Withdrawal{}, Payout{}, bitcoin.WithdrawalAmounts{}, err
	}
	a, err := w.Shares.Amounts(p.Raw)
	return w, p, a, err
}

func texts(values ...uint64) []string {
	s := make([]string, len(values))
	for i, v := range values {
		s[i] = strconv.FormatUint(v, 10)
	}
	return s
}

// testWithdrawals compares all that Bitcoin decides. The fronting id and the
// contract's form of the txid belong to the smart chains.
func testWithdrawals(t *testing.T, file string, format PayoutFormat) {
	type parsed struct {
		Recipient                                         string
		RawAmounts                                        []string
		CallerFeeRate, FrontingFeeRate, ExecutionFeeRate  string
		ExecutionHash                                     string
		ExecutionExpiry                                   uint32
		TxID                                              string
		SpentVaultUtxo, CreatedVaultUtxo, NewVaultScript  string
		NewVaultBtcAmount                                 int64
		CallerFee, FrontingFee, ExecutionFee, TotalOutput []string
		FrontingAmount                                    []string
	}
	vectors.Each(t, "swap-flows-spv-and-core", file, func(t *testing.T, c *vectors.Case) {
		var in struct{ RawTx string }
		c.Input(t, &in)
		w, p, a, err := parseVault(vectors.Unhex(t, in.RawTx), format)
		if vectors.Refused(c.Want(t)) {
			if err == nil {
				t.Fatal("accepted")
			}
			return
		}
		if exceeds64Bits(w.Shares, p.Raw) {
			c.Differ(t, "bitcoin-withdrawal-total")
			if err == nil {
				t.Fatal("accepted a total of more than 64 bits")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var want parsed
		c.Expected(t, &want)
		want.Recipient = strings.ToLower(want.Recipient)
		got := parsed{
			Recipient: "0x" + hex.EncodeToString(p.Recipient), RawAmounts: texts(p.Raw[:]...),
			CallerFeeRate: texts(uint64(w.Shares.Caller))[0], FrontingFeeRate: texts(uint64(w.Shares.Fronting))[0],
			ExecutionFeeRate: texts(uint64(w.Shares.Execution))[0], ExecutionHash: hex.EncodeToString(p.ExecutionHash),
			ExecutionExpiry: w.ExecutionExpiry, TxID: w.TxID.String(), SpentVaultUtxo: w.Vault.String(),
			CreatedVaultUtxo: w.NextVault().String(), NewVaultScript: hex.EncodeToString(w.NextScript), NewVaultBtcAmount: w.NextValue,
			CallerFee: texts(a.Caller[:]...), FrontingFee: texts(a.Fronting[:]...), ExecutionFee: texts(a.Execution),
			TotalOutput: texts(a.Total[:]...),
		}
		advance := a.Advance()
		got.FrontingAmount = texts(advance[:]...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("withdrawal (-want +got):\n%s", diff)
		}
	})
}

// exceeds64Bits computes the totals with big integers.
func exceeds64Bits(s bitcoin.FeeShares, raw [2]uint64) bool {
	for i, v := range raw {
		amount := new(big.Int).SetUint64(v)
		total := new(big.Int).Set(amount)
		shares := []uint32{s.Caller, s.Fronting}
		if i == 0 {
			shares = append(shares, s.Execution)
		}
		for _, share := range shares {
			fee := new(big.Int).Mul(amount, big.NewInt(int64(share)))
			total.Add(total, fee.Div(fee, big.NewInt(100_000)))
		}
		if !total.IsUint64() {
			return true
		}
	}
	return false
}

func TestVectorsWithdrawalParseCitrea(t *testing.T) {
	testWithdrawals(t, "withdrawal_parse_citrea", evmPayout)
}

func TestVectorsWithdrawalParseStarknet(t *testing.T) {
	testWithdrawals(t, "withdrawal_parse_starknet", starknetPayout)
}

func TestVectorsVaultStateAfter(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "vault_state_after", func(t *testing.T, c *vectors.Case) {
		var in struct {
			VaultUtxo                string
			WithdrawCount            uint32
			RawAmount0, RawAmount1   uint64 `json:",string"`
			Multiplier0, Multiplier1 string
			PendingRawTxs            []string
		}
		c.Input(t, &in)
		utxo := trial.Must(bitcoin.ParseOutPoint(in.VaultUtxo))(t)
		state := bitcoin.VaultState{UTXO: utxo, Raw: [2]uint64{in.RawAmount0, in.RawAmount1}, Withdrawals: in.WithdrawCount}
		var pending []Pending
		for _, text := range in.PendingRawTxs {
			w, _, a, err := parseVault(vectors.Unhex(t, text), evmPayout)
			if err != nil {
				if !vectors.Refused(c.Want(t)) {
					t.Fatal(err)
				}
				return
			}
			pending = append(pending, Pending{Withdrawal: w, Amounts: a})
		}
		after, err := After(state, pending...)
		if vectors.Refused(c.Want(t)) != (err != nil) {
			t.Fatalf("After: %v", err)
		}
		if err != nil {
			return
		}
		var scaled [2]string
		for i, m := range []string{in.Multiplier0, in.Multiplier1} {
			multiplier, _ := new(big.Int).SetString(m, 10)
			scaled[i] = multiplier.Mul(multiplier, new(big.Int).SetUint64(after.Raw[i])).String()
		}
		vectors.SameJSON(t, c.Want(t), map[string]any{"withdrawalCount": after.Withdrawals,
			"rawAmounts": texts(after.Raw[:]...), "scaledAmounts": scaled})
	})
}

func TestAmountsOverflow(t *testing.T) {
	for name, c := range map[string]struct {
		shares bitcoin.FeeShares
		raw    [2]uint64
		ok     bool
	}{
		"all of it, no fees":             {bitcoin.FeeShares{}, [2]uint64{math.MaxUint64, math.MaxUint64}, true},
		"just fits":                      {bitcoin.FeeShares{Caller: 100_000}, [2]uint64{1<<63 - 1, 1<<63 - 1}, true},
		"token 0 by a fee":               {bitcoin.FeeShares{Caller: 100_000}, [2]uint64{1 << 63, 0}, false},
		"token 1 by a fee":               {bitcoin.FeeShares{Fronting: 100_000}, [2]uint64{0, 1 << 63}, false},
		"by three fees":                  {bitcoin.FeeShares{Caller: (1<<20 - 1), Fronting: (1<<20 - 1), Execution: (1<<20 - 1)}, [2]uint64{1 << 60, 0}, false},
		"a fee alone":                    {bitcoin.FeeShares{Execution: (1<<20 - 1)}, [2]uint64{math.MaxUint64, 0}, false},
		"execution has no say on token1": {bitcoin.FeeShares{Execution: (1<<20 - 1)}, [2]uint64{0, math.MaxUint64}, true},
	} {
		a, err := c.shares.Amounts(c.raw)
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (a.Total[0] < c.raw[0] || a.Total[1] < c.raw[1]) {
			t.Errorf("%s: total %v", name, a.Total)
		}
	}
}

func TestVaultStateAfterRefuses(t *testing.T) {
	utxo := bitcoin.OutPoint{Hash: bitcoin.Hash{1}, Index: 2}
	w := Pending{Withdrawal: bitcoin.Withdrawal{TxID: bitcoin.Hash{9}, Vault: utxo}, Amounts: bitcoin.WithdrawalAmounts{Total: [2]uint64{10, 3}}}
	state := bitcoin.VaultState{UTXO: utxo, Raw: [2]uint64{10, 3}, Withdrawals: 4}
	after, err := After(state, w)
	if want := (bitcoin.VaultState{UTXO: bitcoin.OutPoint{Hash: bitcoin.Hash{9}}, Withdrawals: 5}); err != nil || after != want {
		t.Fatalf("got %+v, %v", after, err)
	}
	if _, err := After(state, w, w); err == nil {
		t.Error("spent the same output twice")
	}
	for i := range 2 {
		poor := state
		poor.Raw[i]--
		if _, err := After(poor, w); err == nil {
			t.Errorf("token %d was overdrawn", i)
		}
	}
	if state.Raw != [2]uint64{10, 3} {
		t.Error("the state given was changed")
	}
}

func TestPayoutRefuses(t *testing.T) {
	for name, p := range map[string]Payout{
		"short recipient":      {Recipient: make([]byte, 19)},
		"long recipient":       {Recipient: make([]byte, 32)},
		"short execution hash": {Recipient: make([]byte, 20), ExecutionHash: make([]byte, 31)},
	} {
		if _, err := evmPayout.Encode(p); err == nil {
			t.Errorf("wrote a %s", name)
		}
	}
	for n := range 300 {
		_, err := evmPayout.Decode(make([]byte, n))
		if ok := n == 28 || n == 36 || n == 60 || n == 68; ok != (err == nil) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func FuzzParseWithdrawal(f *testing.F) {
	for _, s := range vectors.Inputs(f, "swap-flows-spv-and-core", "withdrawal_parse_citrea", "rawTx") {
		f.Add(vectors.Unhex(f, s), false)
	}
	for _, s := range vectors.Inputs(f, "swap-flows-spv-and-core", "withdrawal_parse_starknet", "rawTx") {
		f.Add(vectors.Unhex(f, s), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, starknet bool) {
		format := evmPayout
		if starknet {
			format = starknetPayout
		}
		w, p, a, err := parseVault(raw, format)
		if err != nil {
			return
		}
		script := trial.Must(rawtx.OpReturn(w.Payload))(t)
		tx := wire.NewMsgTx(2)
		if err := tx.Deserialize(bytes.NewReader(raw)); err != nil || !bytes.Equal(tx.TxOut[1].PkScript, script) {
			t.Fatalf("output 1 is %x, its data makes %x", tx.TxOut[1].PkScript, script)
		}
		again, err := format.Encode(p)
		if err != nil || (p.Raw[1] != 0 || len(again) == len(w.Payload)) && !bytes.Equal(again, w.Payload) {
			t.Fatalf("payload %x comes back as %x, %v", w.Payload, again, err)
		}
		if a.Total[0] < p.Raw[0] || a.Total[1] < p.Raw[1] || a.Advance()[0] > a.Total[0] {
			t.Fatalf("amounts %+v", a)
		}
	})
}

func FuzzPayout(f *testing.F) {
	for _, s := range vectors.Inputs(f, "swap-flows-spv-and-core", "op_return_citrea", "data") {
		f.Add(vectors.Unhex(f, s))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, format := range []PayoutFormat{evmPayout, starknetPayout} {
			p, err := format.Decode(payload)
			if err != nil {
				continue
			}
			back := trial.Must(format.Encode(p))(t)
			if again, err := format.Decode(back); err != nil || !cmp.Equal(again, p) {
				t.Fatalf("%x comes back as %+v, %v", payload, again, err)
			}
		}
	})
}

// Where a share would need more than 64 bits there is no quotient: an error, and no panic.
func TestSharesThatDoNotFit(t *testing.T) {
	for _, share := range []uint32{100_000 + 1, (1<<20 - 1)} {
		raw, _ := bits.Div64(100_000, 0, uint64(share)) // the last that fits, but for rounding
		for _, more := range []uint64{0, 1, 2} {
			if a, err := (bitcoin.FeeShares{Execution: share}).Amounts([2]uint64{raw + more, 0}); err == nil {
				t.Errorf("%d of %d: %+v", share, raw+more, a)
			}
		}
	}
}
