package wire

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// payoutInput are the arguments of the OP_RETURN codec in the vectors.
type payoutInput struct {
	Recipient     string
	RawAmounts    []string
	ExecutionHash *string
	Data          *string
}

// encode does what a caller with unchecked numbers does.
func (in payoutInput) encode(t *testing.T) ([]byte, bool) {
	t.Helper()
	var raw [2]uint64
	if len(in.RawAmounts) < 1 || len(in.RawAmounts) > 2 {
		return nil, false
	}
	for i, s := range in.RawAmounts {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return nil, false
		}
		raw[i] = n
	}
	var execution []byte
	if in.ExecutionHash != nil {
		execution = unhex(t, *in.ExecutionHash)
	}
	data, err := WithdrawalData(in.Recipient, raw, execution)
	return data, err == nil
}

// decodePayout reads a payload as the vectors show it; a missing execution hash
// is left out or null, as the file has it.
func decodePayout(payload []byte, withNull bool) (map[string]any, error) {
	p, err := PayoutFormat().Decode(payload)
	if err != nil {
		return nil, err
	}
	m := map[string]any{"recipient": common.Address(p.Recipient).Hex(), "rawAmounts": texts(p.Raw)}
	if p.ExecutionHash != nil {
		m["executionHash"] = hex.EncodeToString(p.ExecutionHash)
	} else if withNull {
		m["executionHash"] = nil
	}
	return m, nil
}

var hexDigits = regexp.MustCompile(`^([0-9a-fA-F]{2})*`)

// checkPayout holds one case of the OP_RETURN codec against our answer.
func checkPayout(t *testing.T, c *vectors.Case, in payoutInput, withNull bool) {
	t.Helper()
	want := c.Want(t)
	var size struct {
		Data   string
		Length *int
	}
	if c.Expected(t, &size); size.Length != nil && *size.Length != len(size.Data)/2 {
		t.Errorf("%d bytes of %s", *size.Length, size.Data)
	}
	if in.Data != nil {
		got, err := decodePayout(unhex(t, *in.Data), withNull)
		if vectors.Refused(want) != (err != nil) {
			t.Fatalf("decode: %v", err)
		}
		if err == nil {
			var e struct{ Decoded json.RawMessage }
			if c.Expected(t, &e); e.Decoded != nil {
				want = e.Decoded
			}
			vectors.SameJSON(t, unsigned(t, c, want), got)
		}
		return
	}
	data, ok := in.encode(t)
	if vectors.Refused(want) {
		if ok {
			t.Errorf("encoded as %x", data)
		}
		return
	}
	if _, err := Address(in.Recipient); err != nil {
		c.Differ(t, "evm-recipient")
		if ok {
			t.Errorf("encoded as %x", data)
		}
		// The reference takes the bytes that its digits give, however few.
		in := in
		digits := hexDigits.FindString(strings.TrimPrefix(in.Recipient, "0x"))
		in.Recipient = common.HexToAddress("0x01").Hex()
		rest, ok := in.encode(t)
		if !ok {
			t.Fatalf("amounts %v", in.RawAmounts)
		}
		var e struct {
			Data   string
			Length *int
		}
		c.Expected(t, &e)
		data := strings.ToLower(digits) + hex.EncodeToString(rest[common.AddressLength:])
		if e.Data != data || e.Length != nil && *e.Length != len(data)/2 {
			t.Errorf("the reference encodes it as %s, by its rules %s", e.Data, data)
		}
		return
	}
	var e struct {
		Data    string
		Decoded json.RawMessage
	}
	c.Expected(t, &e)
	if !ok || hex.EncodeToString(data) != e.Data {
		t.Fatalf("got %x, want %s", data, e.Data)
	}
	back := trial.Must(decodePayout(data, withNull))(t)
	amounts := append([]string(nil), in.RawAmounts...)
	if len(amounts) == 1 {
		amounts = append(amounts, "0")
	}
	if e.Decoded != nil {
		vectors.SameJSON(t, unsigned(t, c, e.Decoded), back)
	}
	vectors.SameJSON(t, mustJSON(t, amounts), back["rawAmounts"])
	if back["recipient"] != common.HexToAddress(in.Recipient).Hex() {
		t.Errorf("recipient read back as %s", back["recipient"])
	}
}

// unsigned returns a payout as the vectors show it, with the amounts that the
// reference reads as negative put right.
func unsigned(t *testing.T, c *vectors.Case, payout json.RawMessage) json.RawMessage {
	t.Helper()
	var m map[string]any
	trial.Do(t, json.Unmarshal(payout, &m))
	amounts, _ := m["rawAmounts"].([]any)
	for i, a := range amounts {
		if n := bigOf(t, a.(string)); n.Sign() < 0 {
			c.Differ(t, "evm-unsigned-amounts")
			amounts[i] = n.Add(n, new(big.Int).Lsh(big.NewInt(1), 64)).String()
		}
	}
	return mustJSON(t, m)
}

func TestVectorsSpvCodec(t *testing.T) {
	vectors.Each(t, "chain-evm", "spv_codec", func(t *testing.T, c *vectors.Case) {
		var in struct {
			payoutInput
			Fn, Owner, VaultID string
		}
		c.Input(t, &in)
		if in.Fn != "packOwnerAndVaultId" {
			checkPayout(t, c, in.payoutInput, false)
			return
		}
		packed := PackVaultRef(VaultRef{common.HexToAddress(in.Owner), bigOf(t, in.VaultID)})
		back := unpackVaultRef(packed)
		vectors.SameJSON(t, c.Want(t), map[string]any{"packed": packed,
			"unpacked": map[string]string{"owner": back.Owner.Hex(), "vaultId": back.ID.String()}})
	})
}

func TestVectorsOpReturnCitrea(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "op_return_citrea", func(t *testing.T, c *vectors.Case) {
		var in payoutInput
		c.Input(t, &in)
		checkPayout(t, c, in, true)
	})
}

func withdrawalOf(raw []byte) (chains.Withdrawal, error) {
	tx, err := rawtx.Decode(raw)
	if err != nil {
		return chains.Withdrawal{}, err
	}
	return ParseWithdrawal(tx)
}

// mustWithdrawal reads a withdrawal that a test needs to be good.
func mustWithdrawal(t testing.TB, raw string) chains.Withdrawal {
	t.Helper()
	return trial.Must(withdrawalOf(unhex(t, raw)))(t)
}

// checkRefused demands that a withdrawal which the reference refuses is refused,
// unless the reference only took its amounts for negative.
func checkRefused(t *testing.T, c *vectors.Case, w chains.Withdrawal, err error) {
	t.Helper()
	if err != nil {
		return
	}
	if w.Raw[0] < 1<<63 && w.Raw[1] < 1<<63 {
		t.Fatalf("accepted: %+v", w)
	}
	c.Differ(t, "evm-unsigned-amounts")
	data, err := WithdrawalData(w.Recipient, w.Raw, w.Execution)
	if err != nil || hex.EncodeToString(data) != hex.EncodeToString(w.Payload) {
		t.Errorf("payload read as %v is written as %x, %v", w.Raw, data, err)
	}
}

// acceptedWithdrawal reads the withdrawal of a case, unless it is to be refused.
func acceptedWithdrawal(t *testing.T, c *vectors.Case, raw string) (w chains.Withdrawal, ok bool) {
	t.Helper()
	w, err := withdrawalOf(unhex(t, raw))
	switch {
	case vectors.Refused(c.Want(t)):
		checkRefused(t, c, w, err)
		return w, false
	case errors.Is(err, errZeroAddress):
		c.Differ(t, "evm-recipient")
		return w, false
	}
	trial.Do(t, err)
	return w, true
}

func TestVectorsSpvWithdrawal(t *testing.T) {
	vectors.Each(t, "chain-evm", "spv_withdrawal", func(t *testing.T, c *vectors.Case) {
		var in struct{ BtcTx struct{ Raw string } }
		c.Input(t, &in)
		w, ok := acceptedWithdrawal(t, c, in.BtcTx.Raw)
		if !ok {
			return
		}
		a := w.Amounts
		number := func(n uint64) string { return strconv.FormatUint(n, 10) }
		got := map[string]any{
			"recipient": w.Recipient, "rawAmounts": texts(w.Raw), "callerFeeRate": number(uint64(w.Shares.Caller)),
			"frontingFeeRate": number(uint64(w.Shares.Fronting)), "executionFeeRate": number(uint64(w.Shares.Execution)),
			"executionHash": nil, "executionExpiry": w.ExecutionExpiry, "callerFee": texts(a.Caller), "frontingFee": texts(a.Fronting),
			"executionFee": []string{number(a.Execution)}, "totalOutput": texts(a.Total), "frontingAmount": texts(a.Advance()),
			"txHash": common.Hash(w.TxID), "spentUtxo": w.Vault.String(),
			"createdUtxo": w.NextVault().String(), "vaultScript": hex.EncodeToString(w.NextScript), "serializedType": "EVM",
		}
		if w.Execution != nil {
			got["executionHash"] = hex.EncodeToString(w.Execution)
		}
		vectors.SameJSON(t, vectors.Without(t, c.Want(t), "frontingId", "struct"), got)
	})
}

// What only an EVM chain adds to a parsed withdrawal; the rest is tested with Bitcoin.
func TestVectorsWithdrawalParseCitrea(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "withdrawal_parse_citrea", func(t *testing.T, c *vectors.Case) {
		var in struct{ RawTx string }
		c.Input(t, &in)
		w, ok := acceptedWithdrawal(t, c, in.RawTx)
		if !ok {
			return
		}
		var want struct{ Recipient, TxHash string }
		c.Expected(t, &want)
		if w.Recipient != want.Recipient || common.Hash(w.TxID).Hex() != want.TxHash {
			t.Errorf("got %s %s, want %+v", w.Recipient, common.Hash(w.TxID), want)
		}
	})
}

func TestVectorsSpvVault(t *testing.T) {
	vectors.Each(t, "chain-evm", "spv_vault", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Owner, VaultID, GetVaultReturn string
			Params                         struct {
				BtcRelayContract, Token0, Token1, Token0Multiplier, Token1Multiplier, Confirmations string
			}
			Withdrawals []struct{ Raw string }
		}
		c.Input(t, &in)
		var want map[string]json.RawMessage
		c.Expected(t, &want)
		got := map[string]any{}
		var v Vault
		if in.Owner == "" { // a vault that is to be opened, known by its JSON only
			trial.Do(t, json.Unmarshal(want["serialized"], &v))
		} else {
			p := VaultParams{common.HexToAddress(in.Params.BtcRelayContract), common.HexToAddress(in.Params.Token0),
				common.HexToAddress(in.Params.Token1), bigOf(t, in.Params.Token0Multiplier), bigOf(t, in.Params.Token1Multiplier),
				bigOf(t, in.Params.Confirmations)}
			state := trial.Must(DecodeVaultState(unhex(t, in.GetVaultReturn)))(t)
			d := Deployment{BtcRelay: Contract{Address: p.BtcRelayContract}}
			v = trial.Must(d.NewVault(VaultRef{common.HexToAddress(in.Owner), bigOf(t, in.VaultID)}, state, p))(t)
			commitment := trial.Must(p.Commitment())(t)
			var again Vault
			trial.Do(t, json.Unmarshal(mustJSON(t, v), &again))
			got["paramsCommitment"], got["reserialized"], got["balances"] = commitment, again, balances(v)
			got["confirmations"] = v.Params.Confirmations.Uint64()
			checkPending(t, c, v, want, in.Withdrawals)
			delete(want, "stateAfter")
			delete(want, "updatedByFirst")
		}
		got["serialized"], got["opened"], got["utxo"] = v, v.Opened, nil
		if v.Opened {
			got["utxo"] = v.UTXO.String()
		} else if v.InitialUTXO != (bitcoin.OutPoint{}) {
			got["utxo"] = v.InitialUTXO.String()
		}
		vectors.SameJSON(t, mustJSON(t, want), got)
	})
}

func balances(v Vault) []map[string]string {
	var list []map[string]string
	for i, multiplier := range []*big.Int{v.Params.Token0Multiplier, v.Params.Token1Multiplier} {
		m := new(big.Int).Set(multiplier)
		list = append(list, map[string]string{"token": v.Params.token(i).Hex(), "multiplier": m.String(),
			"rawAmount": strconv.FormatUint(v.Raw[i], 10), "scaledAmount": m.Mul(m, new(big.Int).SetUint64(v.Raw[i])).String()})
	}
	return list
}

// vaultAfter is a vault after withdrawals, oldest first.
func vaultAfter(v Vault, pending ...chains.Withdrawal) (Vault, error) {
	var list []vault.Pending
	for _, w := range pending {
		list = append(list, vault.Pending{Withdrawal: w.Withdrawal, Amounts: w.Amounts})
	}
	after, err := vault.After(bitcoin.VaultState{UTXO: v.UTXO, Raw: v.Raw, Withdrawals: v.Withdrawals}, list...)
	v.UTXO, v.Raw, v.Withdrawals = after.UTXO, after.Raw, after.Withdrawals
	return v, err
}

// checkPending compares the vault after withdrawals that are under way.
func checkPending(t *testing.T, c *vectors.Case, v Vault, want map[string]json.RawMessage, raw []struct{ Raw string }) {
	t.Helper()
	var pending []chains.Withdrawal
	for _, w := range raw {
		pending = append(pending, mustWithdrawal(t, w.Raw))
	}
	after, err := vaultAfter(v, pending...)
	if vectors.Refused(want["stateAfter"]) != (err != nil || !v.Opened) { // a vault that is not open is none here: NewVault refuses it
		t.Fatalf("state after %d withdrawals: %v", len(pending), err)
	}
	if err == nil && v.Opened {
		vectors.SameJSON(t, want["stateAfter"], map[string]any{"withdrawalCount": after.Withdrawals, "balances": balances(after)})
	}
	first, err := vaultAfter(v, pending[:1]...)
	total := pending[0].Amounts.Total
	if !v.Opened || pending[0].Vault != v.UTXO || total[0] > v.Raw[0] || total[1] > v.Raw[1] {
		c.Differ(t, "evm-closed-vault")
		if v.Opened && err == nil {
			t.Error("a vault has paid that was not spent, or held less")
		}
		if total[0] <= v.Raw[0] && total[1] <= v.Raw[1] { // the reference looks at neither state nor output
			open := v
			open.Opened, open.UTXO = true, pending[0].Vault
			theirs := trial.Must(vaultAfter(open, pending[0]))(t)
			theirs.Opened = v.Opened
			vectors.SameJSON(t, want["updatedByFirst"], theirs)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	vectors.SameJSON(t, want["updatedByFirst"], first)
}

func TestVectorsSpvTxs(t *testing.T) {
	vectors.Each(t, "chain-evm", "spv_txs", func(t *testing.T, c *vectors.Case) {
		var in struct {
			btcProofInput
			Chain, Fn, FeeRate, Sender, PrivateKey string
			Nonce                                  uint64
			Vault                                  Vault
		}
		var shape struct {
			Fn    string
			Vault json.RawMessage
		}
		c.Input(t, &shape)
		c.Input(t, &in)
		var want struct {
			Txs []txAnswer
			Fee string
		}
		c.Expected(t, &want)
		rate, err := ParseFeeRate(in.FeeRate)
		if err != nil {
			t.Fatal(err)
		}
		n, d, sender := presetOf(t, in.Chain), deploymentOf(t, in.Chain), common.HexToAddress(in.Sender)
		var calls []Call
		switch in.Fn {
		case "open", "deposit", "front":
			c.NotOurs(t, "provider-calls")
		case "claim":
			w := mustWithdrawal(t, in.BtcTx.Hex)
			var call Call
			call, err = d.ClaimVault(in.Vault, w, in.proof(t), sender)
			calls = []Call{call}
		case "claimFeeNoData":
			if got := n.AnyVaultClaimCost(rate).String(); got != want.Fee {
				t.Errorf("claim: got %s, want %s", got, want.Fee)
			}
			return
		default:
			t.Fatalf("unknown function %s", in.Fn)
		}
		if err != nil {
			t.Fatal(err)
		}
		checkCalls(t, n, d, calls, want.Txs, in.Sender, in.PrivateKey, in.FeeRate, in.Nonce)
	})
}
