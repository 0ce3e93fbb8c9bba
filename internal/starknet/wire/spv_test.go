package wire

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/members"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func texts(values ...uint64) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = strconv.FormatUint(v, 10)
	}
	return all
}

func TestVectorsSpv(t *testing.T) {
	vectors.Each(t, "chain-starknet", "spv", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, BitcoinNetwork, Recipient, Data, Owner, VaultID, Kind string
			RawAmounts, RPCResult                                     []string
			ExecutionHash                                             *string
			Tx                                                        btcTxJSON
			Vault                                                     json.RawMessage
		}
		c.Input(t, &in)
		switch in.Fn {
		case "toOpReturnData":
			data, err := opReturnData(in.Recipient, in.RawAmounts, in.ExecutionHash)
			if c.Refuses(t, err) {
				return
			}
			to, p := trial.Must2(parsePayout(data))(t)
			decoded := map[string]any{"recipient": Hex64(to), "rawAmounts": texts(p.Raw[:]...)}
			if p.ExecutionHash != nil {
				decoded["executionHash"] = hex.EncodeToString(p.ExecutionHash)
			}
			var want map[string]any
			c.Expected(t, &want)
			if p.Raw[0] >= 1<<63 { // which the reference reads with a sign
				c.Differ(t, "bitcoin-payout-unsigned")
				want["decoded"].(map[string]any)["rawAmounts"].([]any)[0] = in.RawAmounts[0]
			}
			vectors.SameJSON(t, vectors.JSON(t, want), map[string]any{"data": hex.EncodeToString(data), "decoded": decoded})
		case "fromOpReturnData":
			to, p, err := parsePayout(vectors.Unhex(t, in.Data))
			if err == nil && p.Raw[0] >= 1<<63 {
				c.Differ(t, "bitcoin-payout-unsigned")
				if Hex64(to) != Hex64(FeltOf(5)) || p.Raw != [2]uint64{1<<64 - 1, 0} {
					t.Errorf("%s, %v", Hex64(to), p)
				}
				return
			}
			c.Refuses(t, err)
		case "withdrawal":
			checkWithdrawal(t, c, in.Tx)
		case "getVault":
			d := deploymentOf(t, in.BitcoinNetwork)
			ref := trial.Must(VaultRefOf(chains.VaultID{Owner: in.Owner, ID: bigOf(t, in.VaultID)}))(t)
			v := trial.Must(ReadVault(ref, feltsOf(t, in.RPCResult)))(t)
			got := map[string]any{"request": map[string]any{"method": "starknet_call", "params": map[string]any{"block_id": "latest", "request": map[string]any{
				"contract_address": Hex64(d.VaultManager.Address), "entry_point_selector": Hex(Selector(EntryGetVault)), "calldata": hexes(ref.Felts())}}}}
			n := d.Neutral(v)
			if !n.OurRelay { // which nobody uses
				got["vault"] = nil
				vectors.SameJSON(t, c.Want(t), got)
				return
			}
			var again Vault
			trial.Do(t, json.Unmarshal(vectors.JSON(t, v), &again))
			got["vault"], got["isOpened"], got["latestUtxo"], got["roundTrip"] = v, n.Open, nil, string(vectors.JSON(t, again)) == string(vectors.JSON(t, v))
			if n.Open {
				got["utxo"], got["latestUtxo"] = n.UTXO.String(), n.UTXO.String()
			}
			var balances []map[string]string
			for i := range n.Tokens {
				raw := new(big.Int).SetUint64(n.Raw[i])
				balances = append(balances, map[string]string{"token": n.Tokens[i], "multiplier": n.Multipliers[i].String(), "rawAmount": raw.String(), "scaledAmount": raw.Mul(raw, n.Multipliers[i]).String()})
			}
			got["balances"] = balances
			vectors.SameJSON(t, c.Want(t), got)
			if n.Owner != in.Owner || n.ID.String() != in.VaultID || n.Confirmations != uint32(v.Confirmations) || n.Withdrawals != v.Withdrawals {
				t.Errorf("%+v", n)
			}
		case "updateState":
			c.NotOurs(t, "vault-from-events")
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

// opReturnData reads the texts of a vector: what does not fit the types is an error.
func opReturnData(recipient string, raw []string, execution *string) ([]byte, error) {
	var amounts [2]uint64
	if len(raw) == 0 || len(raw) > 2 {
		return nil, errors.New("one or two amounts")
	}
	for i, s := range raw {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			return nil, err
		}
		amounts[i] = n
	}
	var hash *Felt
	if execution != nil {
		f, err := ParseFelt(*execution)
		if err != nil {
			return nil, err
		}
		hash = &f
	}
	return WithdrawalData(recipient, amounts, hash)
}

func checkWithdrawal(t *testing.T, c *vectors.Case, tx btcTxJSON) {
	t.Helper()
	w, err := withdrawalOf(t, tx.Hex)
	switch c.Name {
	case "withdrawal total overflows u64":
		c.Differ(t, "bitcoin-withdrawal-total")
		if err == nil {
			t.Error("accepted")
		}
		return
	case "withdrawal 40 byte push of zeros":
		c.Differ(t, "address-zero")
		if !errors.Is(err, errZeroAddress) {
			t.Errorf("%v", err)
		}
		return
	}
	if c.Refuses(t, err) {
		return
	}
	a := w.Amounts
	all := trial.Must(WithdrawalFelts(w))(t)
	advance := a.Advance()
	low, high := TxIDKeys(w.TxID)
	r := reader{rest: []Felt{low, high}}
	var execution any
	if w.Execution != nil {
		execution = hex.EncodeToString(w.Execution)
	}
	var want map[string]json.RawMessage
	c.Expected(t, &want)
	delete(want, "frontingId")
	delete(want, "frontCalldata")
	delete(want, "serialized") // the transaction once more, as the reference keeps it: records here keep its bytes
	vectors.SameJSON(t, vectors.JSON(t, want), map[string]any{
		"recipient": w.Recipient, "rawAmounts": texts(w.Raw[:]...), "callerFeeRate": strconv.Itoa(int(w.Shares.Caller)), "frontingFeeRate": strconv.Itoa(int(w.Shares.Fronting)),
		"executionFeeRate": strconv.Itoa(int(w.Shares.Execution)), "executionHash": execution, "executionExpiry": w.ExecutionExpiry, "callerFee": texts(a.Caller[:]...),
		"frontingFee": texts(a.Fronting[:]...), "executionFee": texts(a.Execution), "totalOutput": map[string]any{"amounts": texts(a.Total[:]...)}, "frontingAmount": texts(advance[:]...),
		"txHash": hexOf(r.u256()), "felts": map[string]any{"felts": hexes(all)}, "spentVaultUtxo": w.Vault.String(),
		"createdVaultUtxo": w.NextVault().String(), "newVaultScript": hex.EncodeToString(w.NextScript),
	})
	answer := append(felts{{}}, all...)
	if err := CheckParsedWithdrawal(answer, w); err != nil {
		t.Errorf("the contract reads it as it is: %v", err)
	}
	for i := range answer {
		changed := slices.Clone(answer)
		changed[i].Add(&changed[i], &answer[1])
		if fault.CodeOf(CheckParsedWithdrawal(changed, w)) != fault.Upstream {
			t.Errorf("the contract may read felt %d otherwise", i)
		}
	}
}

const goodVault = `{"type":"STARKNET","owner":"0x02c50ec64e65b35bc7c4fe2a1d3b75ae9cf707c735a417c06b13113ee0533b74","vaultId":"5","relayContract":"0x057b14a4231b82f1e525ff35a722d893ca3dd2bde0baa6cee97937c5be861dbc","token0":{"token":"0x03fe2b97c1fd336e750087d68b9b867997fd64a2661ff3ca5a7c771641e8e7ac","multiplier":"1","rawAmount":"1000000000"},"token1":{"token":"0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d","multiplier":"10000000000","rawAmount":"100000000"},"utxo":"935b9d558cd7516db249e88905f766783ba35b4f0584e723aaa3d5357022c31b:0","confirmations":2,"withdrawCount":3,"depositCount":4}`

func TestVaultJSONRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, field string }{
		{`"STARKNET"`, `"EVM"`, "type"}, {`"0x02c50e`, `"02c50e`, "owner"}, {`"vaultId":"5"`, `"vaultId":"` + prime + `"`, "vaultId"}, {`"vaultId":"5",`, ``, "vaultId"},
		{`"0x057b14`, `"0xx57b14`, "relayContract"}, {`{"token":"0x03fe2b97`, `{"token":"3fe2b97`, "token0.token"}, {`"multiplier":"1"`, `"multiplier":"-1"`, "token0.multiplier"},
		{`"rawAmount":"100000000"`, `"rawAmount":"18446744073709551616"`, "token1.rawAmount"}, {`31b:0"`, `31b:-1"`, "utxo"}, {`"confirmations":2`, `"confirmations":256`, "confirmations"},
		{`"withdrawCount":3`, `"withdrawCount":4294967296`, "withdrawCount"}, {`"depositCount":4`, `"depositCount":"x"`, "depositCount"}, {`"depositCount":4`, `"depositCount":4,"initialUtxo":5`, "initialUtxo"},
		{`"token1":{"token"`, `"tokenX":{"token"`, "token1"}, {`"token0":{`, `"token0":5,"x":{`, "token0"},
	} {
		text := strings.Replace(goodVault, c.old, c.new, 1)
		var v Vault
		if err := json.Unmarshal([]byte(text), &v); text == goodVault || fieldOf(err) != c.field {
			t.Errorf("%s: %v, about %q", c.new, err, fieldOf(err))
		}
	}
	if err := new(Vault).UnmarshalJSON([]byte(`{"type":"` + strings.Repeat("x", members.MaxText) + `"}`)); err == nil {
		t.Error("a vault without bound is read")
	}
	if _, err := json.Marshal(Vault{}); err == nil {
		t.Error("a vault without multipliers is written")
	}
	v := vaultOf(t, []byte(goodVault))
	closed := v
	closed.UTXO = bitcoin.OutPoint{}
	if !v.Open() || closed.Open() {
		t.Errorf("a vault without an output is open: %+v", closed)
	}
}

// An answer of the contract is read in the width of its numbers, all of it.
func TestReadVaultRefuses(t *testing.T) {
	good := []Felt{FeltOf(1), FeltOf(2), FeltOf(3), FeltOf(4), FeltOf(5), FeltOf(6), FeltOf(7), FeltOf(8), FeltOf(9), FeltOf(10), FeltOf(11), FeltOf(12), FeltOf(13)}
	if v, err := ReadVault(VaultRef{}, good); err != nil || v.Raw != [2]uint64{12, 13} || v.Deposits != 11 || v.Withdrawals != 10 || v.Confirmations != 9 || v.UTXO.Index != 8 {
		t.Fatalf("%+v, %v", v, err)
	}
	for i, size := range map[int]uint{0: 251, 1: 251, 2: 251, 5: 128, 6: 128, 7: 32, 8: 8, 9: 32, 10: 32, 11: 64, 12: 64} {
		bad := slices.Clone(good)
		bad[i] = feltOf(t, "0x"+new(big.Int).Lsh(big.NewInt(1), size).Text(16))
		if _, err := ReadVault(VaultRef{}, bad); err == nil {
			t.Errorf("felt %d of %d bits is read", i, size+1)
		}
	}
	for _, bad := range [][]Felt{nil, good[:12], append(slices.Clone(good), Felt{})} {
		if _, err := ReadVault(VaultRef{}, bad); err == nil {
			t.Errorf("%d felts are read", len(bad))
		}
	}
	for _, id := range []chains.VaultID{{Owner: "x", ID: big.NewInt(1)}, {Owner: "0x0", ID: big.NewInt(1)}, {Owner: "0x1", ID: big.NewInt(-1)}, {Owner: "0x1"}} {
		if _, err := VaultRefOf(id); err == nil {
			t.Errorf("%+v is a vault", id)
		}
	}
}

func TestVaultCallsRefuse(t *testing.T) {
	d := deploymentOf(t, "")
	v := vaultOf(t, []byte(goodVault))
	other := v
	other.Relay = FeltOf(1)
	closed := v
	closed.UTXO = bitcoin.OutPoint{}
	for name, v := range map[string]Vault{"closed": closed, "of another relay": other} {
		if _, err := d.VaultClaim(v, BitcoinProof{}); fault.CodeOf(err) != fault.InvalidState {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.VaultClaim(v, BitcoinProof{Tx: []byte{1}}); err == nil {
		t.Error("a transaction that is none")
	}
}
