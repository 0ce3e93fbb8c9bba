package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/members"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsSigned(t *testing.T) {
	vectors.Each(t, "chain-starknet", "signed", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, BitcoinNetwork, PrivateKey, PublicKey, Address, Tx string
			Unsigned, Signed                                       []string
			Details                                                json.RawMessage
			Calls                                                  []callJSON
		}
		c.Input(t, &in)
		switch in.Fn {
		case "submit":
			checkSubmit(t, c, networkOf(t, in.BitcoinNetwork), feltOf(t, in.PublicKey), in.Unsigned, in.Signed)
		case "ozAccount":
			key := publicKeyOf(t, in.PrivateKey)
			d := OpenZeppelin(key)
			vectors.SameJSON(t, c.Want(t), map[string]any{"publicKey": Hex(key), "address": Hex64(d.Address()), "deployment": map[string]any{
				"classHash": Hex64(d.ClassHash), "constructorCalldata": decimals(d.ConstructorCalldata), "addressSalt": Hex(d.Salt), "contractAddress": Hex(d.Address())}})
		case "invokeHash":
			fields := trial.Must(members.Read(in.Details))(t)
			r := &memberReader{fields}
			tx := &Transaction{Type: Invoke, Details: r.details(), Calls: callsOf(t, in.Calls)}
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			h := trial.Must(tx.Hash())(t)
			vectors.SameJSON(t, c.Want(t), map[string]any{"executeCalldata": hexes(ExecuteCalldata(tx.Calls)), "txHash": Hex64(h)})
			if again, err := ParseTransaction(tx.String()); err != nil || again.String() != tx.String() {
				t.Errorf("read back as %v, %v", again, err)
			}
		case "executeCalldata":
			calls := callsOf(t, in.Calls)
			vectors.SameJSON(t, c.Want(t), map[string]any{"executeCalldata": hexes(ExecuteCalldata(calls))})
			if made, err := ParseExecuteCalldata(ExecuteCalldata(calls)); err != nil || len(made) != len(calls) {
				t.Errorf("read back as %+v, %v", made, err)
			}
		case "deserialize":
			tx, err := ParseTransaction(in.Tx)
			var id string
			if err == nil {
				id, err = tx.ID()
			}
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, c.Want(t), map[string]any{"type": tx.Type, "txId": Hex64(feltOf(t, id))})
			}
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

func callsOf(t *testing.T, in []callJSON) (calls []Call) {
	t.Helper()
	for _, c := range in {
		calls = append(calls, Call{To: feltOf(t, c.ContractAddress), Entry: c.Entrypoint, Calldata: feltsOf(t, c.Calldata)})
	}
	return calls
}

func checkSubmit(t *testing.T, c *vectors.Case, n Network, key Felt, unsigned, signed []string) {
	t.Helper()
	var want struct {
		Txs []struct {
			Type, TxID, RPCMethod, Reserialized string
			RPCParams                           map[string]json.RawMessage
		}
	}
	c.Expected(t, &want)
	if len(want.Txs) != len(signed) {
		t.Fatalf("%d transactions, want %d", len(signed), len(want.Txs))
	}
	ids := trial.Must(IDs(signed))(t)
	var calls []Call
	for i, text := range signed {
		tx := trial.Must(ParseTransaction(text))(t)
		w := want.Txs[i]
		method, param, body, err := tx.Broadcast()
		if err != nil {
			t.Fatal(err)
		}
		if string(tx.Type) != w.Type || Hex64(feltOf(t, ids[i])) != w.TxID || method != w.RPCMethod {
			t.Errorf("%s %s by %s", tx.Type, ids[i], method)
		}
		vectors.SameJSON(t, w.RPCParams[param], body)
		h, err := tx.Hash()
		if err != nil || !SignedByKey(key, h, tx.Signature) {
			t.Errorf("the signature is not of the key: %v", err)
		}
		reserialized := w.Reserialized
		if tx.Type == DeployAccount {
			c.Differ(t, "stark-deploy-fields")
			salt, constructor := `"addressSalt":"`+Hex64(tx.Deploy.Salt)+`",`, `"`+strings.Join(decimals(tx.Deploy.ConstructorCalldata), `","`)+`"`
			at := strings.Index(reserialized, `"signed":`)
			tail := strings.Replace(reserialized[at:], `"constructorCalldata":[]`, salt+`"constructorCalldata":[`+constructor+`]`, 1)
			reserialized = reserialized[:at] + tail
		}
		if tx.String() != reserialized {
			t.Errorf("got  %s\nwant %s", tx, reserialized)
		}
		again, err := ParseTransaction(tx.String())
		if err != nil || again.String() != tx.String() {
			t.Errorf("read back as %v, %v", again, err)
		}
		handed, err := ParseTransaction(unsigned[i])
		if err != nil || handed.Signed || handed.String() != unsigned[i] {
			t.Errorf("what was handed out is %v, %v", handed, err)
		}
		if _, err := handed.ID(); err == nil {
			t.Error("what is not signed has an id")
		}
		calls = append(calls, handed.Calls...)
	}
	// What came back is what was handed out.
	checked, err := n.Deployments[0].CheckSigned(n, Felt{}, calls, signed)
	if err != nil || len(checked) != len(signed) {
		t.Fatalf("%d are checked: %v", len(checked), err)
	}
	for i, tx := range checked {
		if tx.ID != ids[i] {
			t.Errorf("%d: %s", i, tx.ID)
		}
	}
}
