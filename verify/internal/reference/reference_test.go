package reference_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	evmtypes "github.com/ethereum/go-ethereum/core/types"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/verify"
)

// reference is what the reference service answered on a private network: for each type of
// swap that it offers there createSwap, and getSwapStatus before the user has done anything.
type reference struct {
	ChainID   uint64
	Contracts struct {
		SwapContract, BtcRelayContract, SpvVaultContract, ExecutionContract, WETH common.Address
		HandlerContracts                                                          struct {
			Refund struct{ Timelock common.Address }
			Claim  map[string]common.Address
		}
	}
	Swaps []*recorded

	shown *shownVault // by own nodes; nil for none
}

type recorded struct {
	At      int64           // Unix milliseconds
	Request json.RawMessage // of createSwap
	Created json.RawMessage
	Status  json.RawMessage
}

func readReference(t testing.TB) (r reference) {
	t.Helper()
	text, err := os.ReadFile("testdata/reference.json")
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type regtest struct{ bitcoin.Backend }

func (regtest) Network() bitcoin.Network { return bitcoin.Regtest }

func asText(t testing.TB, v any) string {
	t.Helper()
	b := trial.Must(json.Marshal(v))(t)
	return string(b)
}

// hosts are a network in this process.
type hosts map[string]http.HandlerFunc

func (a hosts) RoundTrip(q *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a[q.URL.Host](w, q)
	return w.Result(), nil
}

// node is the wallet's own, which knows the newest block, the vault that is shown, and no escrow.
func (r reference) node(t testing.TB, now time.Time) http.HandlerFunc {
	block := map[string]any{"number": "0x10", "hash": common.Hash{16}, "timestamp": hexutil.Uint64(now.Unix()), "baseFeePerGas": "0x34ef1", "l1FeeRate": "0x0"} // about the fee of the recording
	results := map[string]any{"eth_chainId": hexutil.Uint64(r.ChainID), "eth_getBlockByNumber": block}
	if r.shown != nil {
		results["eth_getLogs"], results["eth_call"] = r.shown.opened, r.shown.state
	}
	ofEscrows := func(params json.RawMessage) any {
		var asked []struct {
			Address, To common.Address
			Data        hexutil.Bytes
		}
		_ = json.Unmarshal(params, &asked) // the rest of the list is a block
		switch {
		case len(asked) == 0 || asked[0].To != r.Contracts.SwapContract && asked[0].Address != r.Contracts.SwapContract:
			return nil
		case asked[0].Data == nil:
			return []evmtypes.Log{}
		}
		n := (len(asked[0].Data) - 4 - 64) / 32
		none := make(hexutil.Bytes, 64+n*3*32)
		none[31], none[62], none[63] = 32, byte(n>>8), byte(n)
		return none
	}
	return func(w http.ResponseWriter, q *http.Request) {
		text, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		answer := func(text []byte) map[string]any {
			var c struct {
				ID, Params json.RawMessage
				Method     string
			}
			err := json.Unmarshal(text, &c)
			result := results[c.Method]
			if none := ofEscrows(c.Params); none != nil {
				result = none
			}
			if err != nil || result == nil {
				t.Errorf("the node is asked for %s, %v", text, err)
			}
			return map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": result}
		}
		var calls []json.RawMessage
		if json.Unmarshal(text, &calls) != nil {
			_ = json.NewEncoder(w).Encode(answer(text))
			return
		}
		answers := make([]map[string]any, len(calls))
		for i, c := range calls {
			answers[i] = answer(c)
		}
		_ = json.NewEncoder(w).Encode(answers)
	}
}

// chain is the recording's.
func (r reference) chain() chains.Factory {
	network, _ := evm.Preset("CITREA", bitcoin.Regtest) // its settings: the contracts are not published
	c := r.Contracts
	network.ChainID, network.WrappedNative = r.ChainID, c.WETH
	network.Deployments = []evm.Deployment{{EscrowManager: evm.Contract{Address: c.SwapContract}, BtcRelay: evm.Contract{Address: c.BtcRelayContract}, VaultManager: evm.Contract{Address: c.SpvVaultContract},
		Execution: c.ExecutionContract, RefundHandler: c.HandlerContracts.Refund.Timelock,
		ClaimHandlers: [4]common.Address{c.HandlerContracts.Claim["0"], c.HandlerContracts.Claim["1"], c.HandlerContracts.Claim["2"], c.HandlerContracts.Claim["3"]}}}
	return evm.Citrea(evm.Options{RPC: []string{"http://node"}, Network: &network})
}

// service answers as recorded.
func (s recorded) service(t testing.TB) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		switch q.URL.Path {
		case "/createSwap":
			var got, want any
			if err := errors.Join(json.NewDecoder(q.Body).Decode(&got), json.Unmarshal(s.Request, &want)); err != nil {
				t.Error(err)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("createSwap (-recorded +asked):\n%s", diff)
			}
			_, _ = w.Write(s.Created)
		case "/getSwapStatus":
			if q.Method != http.MethodGet || len(q.URL.Query()) != 1 {
				t.Errorf("getSwapStatus is asked for as %s %s, want the swap's id and nothing else", q.Method, q.URL)
			}
			_, _ = w.Write(s.Status)
		default:
			http.NotFound(w, q)
		}
	}
}

// wallet uses a service that answers as recorded, and does not trust it.
func (r reference) wallet(t testing.TB, s *recorded) swapper.Service {
	t.Helper()
	return r.walletOf(t, time.UnixMilli(s.At), s.service(t))
}

func (r reference) walletOf(t testing.TB, now time.Time, service http.HandlerFunc) swapper.Service {
	t.Helper()
	network := hosts{"service": service, "node": r.node(t, now)}
	client := trial.Must(httpapi.NewClient("http://service", httpapi.ClientOptions{HTTP: &http.Client{Transport: network}}))(t)
	var backend bitcoin.Backend = regtest{}
	if r.shown != nil {
		backend = r.shown
	}
	v := trial.Must(verify.Wrap(client, verify.Config{Network: bitcoin.Regtest, Chains: []chains.Factory{r.chain()}, HTTP: network, Store: new(storage.Memory), Bitcoin: backend,
		Prices: price.Fixed{Prices: map[string]*big.Int{"CITREA-CBTC": big.NewInt(1e14)}, USD: 1}, Now: func() time.Time { return now }}))(t)
	t.Cleanup(func() { _ = v.(io.Closer).Close() })
	return v
}

// input is the request as a wallet makes it.
func (s recorded) input(t testing.TB) swapper.CreateSwapInput {
	t.Helper()
	var q map[string]string
	trial.Do(t, json.Unmarshal(s.Request, &q))
	amount, ok := new(big.Int).SetString(q["amount"], 10)
	if !ok {
		t.Fatalf("the amount %q", q["amount"])
	}
	return swapper.CreateSwapInput{SrcToken: q["srcToken"], DstToken: q["dstToken"], Amount: amount, AmountType: swapper.AmountType(q["amountType"]),
		SrcAddress: q["srcAddress"], DstAddress: q["dstAddress"], PaymentHash: q["paymentHash"]}
}

func (s recorded) status(t testing.TB) (out swapper.GetSwapStatusOutput) {
	t.Helper()
	trial.Do(t, json.Unmarshal(s.Status, &out))
	return out
}

// createSwap is taken as the reference answers it, and refused with a part changed.
func TestReferenceQuotes(t *testing.T) {
	r := readReference(t)
	seen := map[swapper.SwapType]bool{}
	for _, s := range r.Swaps {
		var said swapper.CreateSwapOutput
		trial.Do(t, json.Unmarshal(s.Created, &said))
		seen[said.SwapType] = true
		in := s.input(t)
		got, err := r.wallet(t, s).CreateSwap(t.Context(), in)
		if err != nil {
			t.Errorf("%s: %v", said.SwapType, err)
			continue
		}
		if said.SwapType == swapper.SwapFromBTCLNAuto || said.SwapType == swapper.SwapSPVVaultFromBTC {
			said.Quote.Fees.NetworkOutput = nil // left out: part of the price
		}
		if got.SwapID != said.SwapID || got.SwapType != said.SwapType || asText(t, got.Quote) != asText(t, said.Quote) {
			t.Errorf("%s: got %+v, the reference said %+v", said.SwapType, got, said)
		}
		for name, c := range map[string]struct {
			reason string
			lie    func(q *swapper.SwapQuote)
		}{
			"fixed side": {"quote", func(q *swapper.SwapQuote) {
				fixed := map[swapper.AmountType]*swapper.Amount{swapper.ExactIn: &q.InputAmount, swapper.ExactOut: &q.OutputAmount}[in.AmountType]
				fixed.RawAmount = new(big.Int).Add(fixed.RawAmount, big.NewInt(1))
			}},
			"price": {"quote", func(q *swapper.SwapQuote) { // a tenth worse
				worse, tenths := q.OutputAmount.RawAmount, int64(9)
				if in.AmountType == swapper.ExactOut {
					worse, tenths = q.InputAmount.RawAmount, 11
				}
				worse.Mul(worse, big.NewInt(tenths)).Div(worse, big.NewInt(10))
			}},
			"recipient":   {"recipient", func(q *swapper.SwapQuote) { q.OutputAddress = r.Contracts.WETH.Hex() }},
			"token taken": {"token", func(q *swapper.SwapQuote) { q.InputAmount.Symbol = "WBTC" }},
			"token given": {"token", func(q *swapper.SwapQuote) { q.OutputAmount.Symbol = "WBTC" }},
		} {
			var changed swapper.CreateSwapOutput
			trial.Do(t, json.Unmarshal(s.Created, &changed))
			c.lie(&changed.Quote)
			lying := *s
			lying.Created = json.RawMessage(asText(t, changed))
			_, err := r.wallet(t, &lying).CreateSwap(t.Context(), in)
			if refused, _ := errors.AsType[*verify.RefusedError](err); refused == nil || refused.Reason != c.reason {
				t.Errorf("%s, %s: got %v, want the reason %q", said.SwapType, name, err, c.reason)
			}
		}
	}
	if len(r.Swaps) != 4 || len(seen) != 4 {
		t.Errorf("%d swaps of the types %v, want one of each of four", len(r.Swaps), seen)
	}
}

// ask makes a recorded swap and asks for its status.
func (r reference) ask(t *testing.T, s recorded) (*swapper.GetSwapStatusOutput, error) {
	t.Helper()
	v := r.wallet(t, &s)
	made := trial.Must(v.CreateSwap(t.Context(), s.input(t)))(t)
	return v.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: made.SwapID})
}

// What the reference asks its user to sign or to pay is verified, and is withheld for a payment
// to Bitcoin, of whose nonce it does not say anything.
func TestReferenceActions(t *testing.T) {
	r := readReference(t)
	for _, s := range r.Swaps {
		said := s.status(t)
		var changed swapper.GetSwapStatusOutput // to be refused
		var withheld string
		switch said.SwapType {
		case swapper.SwapToBTC:
			withheld = "does not say of the escrow which nonce and how many confirmations"
		case swapper.SwapSPVVaultFromBTC:
			changed = said // with coins that the service has chosen, as for a wallet that it knows
			r.showVault(t, &said)
			said.CurrentAction = template(t, *said.CurrentAction.(*swapper.SignPSBT))
		case swapper.SwapToBTCLN:
			changed = s.status(t)
			sign := changed.CurrentAction.(*swapper.SignSmartChainTransaction)
			sign.Txs[0] = strings.Replace(sign.Txs[0], "90f79bf6eb2c4f870365e785982e1f101e93b906", "90f79bf6eb2c4f870365e785982e1f101e93b907", 1) // to whom a refund goes
		case swapper.SwapFromBTCLNAuto:
			changed = s.status(t)
			changed.CurrentAction.(*swapper.SendToAddress).Txs[0].Address = r.Swaps[1].input(t).DstAddress
		}
		s := *s
		if said.SwapType == swapper.SwapSPVVaultFromBTC {
			s.Status = json.RawMessage(asText(t, said))
		}
		got, err := r.ask(t, s)
		switch {
		case err != nil:
			t.Errorf("%s: %v", said.SwapType, err)
		case withheld != "":
			if got.CurrentAction != nil || got.ActionError == nil || got.ActionError.Code != fault.Unsupported || !strings.Contains(got.ActionError.Error, withheld) {
				t.Errorf("%s: got %+v, %+v, want it withheld because the service %s", said.SwapType, got.CurrentAction, got.ActionError, withheld)
			}
		default:
			if a, want := payments(got), payments(&said); a == "" || a != want {
				t.Errorf("%s: the wallet is asked for %q, %+v, want %q", said.SwapType, a, got.ActionError, want)
			}
		}
		if changed.CurrentAction == nil {
			continue
		}
		s.Status = json.RawMessage(asText(t, changed))
		_, err = r.ask(t, s)
		if refused, _ := errors.AsType[*verify.RefusedError](err); refused == nil || refused.Reason != "action" {
			t.Errorf("%s, another action: got %v, want the reason %q", said.SwapType, err, "action")
		}
	}
}

// payments are what an action wants to be signed or paid.
func payments(of *swapper.GetSwapStatusOutput) string {
	switch a := of.CurrentAction.(type) {
	case *swapper.SignSmartChainTransaction:
		return strings.Join(a.Txs, " ")
	case *swapper.SendToAddress:
		return a.Txs[0].Address
	case *swapper.SignPSBT: // but for the lock time, which is drawn
		p, err := psbt.NewFromRawBytes(hex.NewDecoder(strings.NewReader(a.Raw[0].PSBTHex)), false)
		if err != nil {
			return err.Error()
		}
		p.UnsignedTx.LockTime = 0
		return p.UnsignedTx.TxHash().String()
	}
	return ""
}

// template is the transaction as the reference gives it to a wallet that names no coins:
// without the second input and its change.
func template(t testing.TB, funded swapper.SignPSBT) *swapper.SignPSBT {
	t.Helper()
	p, err := psbt.NewFromRawBytes(strings.NewReader(funded.Funded[0].PSBTBase64), true)
	if err != nil {
		t.Fatal(err)
	}
	raw := swapper.RawPSBT{In1Sequence: p.UnsignedTx.TxIn[1].Sequence, FeeRate: funded.Funded[0].FeeRate}
	p.UnsignedTx.TxIn, p.UnsignedTx.TxOut, p.Inputs, p.Outputs = p.UnsignedTx.TxIn[:1], p.UnsignedTx.TxOut[:3], p.Inputs[:1], p.Outputs[:3]
	raw.PSBTBase64 = trial.Must(p.B64Encode())(t)
	var b bytes.Buffer
	trial.Do(t, p.Serialize(&b))
	raw.PSBTHex = hex.EncodeToString(b.Bytes())
	funded.Funded, funded.Raw = nil, []swapper.RawPSBT{raw}
	return &funded
}
