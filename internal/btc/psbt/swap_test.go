package psbt

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// quoteJSON is a vault swap as the vectors about swap flows write it: the quote
// itself, of which the Bitcoin layer knows only the data that the chain wants.
type quoteJSON struct {
	Chain, Recipient                                    string
	VaultTokenMultipliers                               [2]string
	VaultBTCAddress, VaultUTXO, BTCDestinationAddress   string
	VaultUTXOValue                                      int64 `json:",string"`
	BTCAmount                                           int64 `json:",string"`
	MinimumBTCFeeRate                                   float64
	OutputTotalSwap, OutputTotalGas                     string
	CallerFeeShare, FrontingFeeShare, ExecutionFeeShare uint32 `json:",string"`
	Locktime                                            uint32
}

// data writes recipient and raw amounts as the chain does.
func (q *quoteJSON) data(t *testing.T) []byte {
	t.Helper()
	recipient := strings.TrimPrefix(q.Recipient, "0x")
	f := vault.PayoutFormat{RecipientLen: 20}
	if q.Chain == "STARKNET" {
		f = vault.PayoutFormat{RecipientLen: 32, LittleEndian: true}
		recipient = strings.Repeat("0", max(64-len(recipient), 0)) + recipient
	}
	p := vault.Payout{Recipient: vectors.Unhex(t, recipient)}
	for i, total := range []string{q.OutputTotalSwap, q.OutputTotalGas} {
		n, ok := new(big.Int).SetString(total, 10)
		m, ok2 := new(big.Int).SetString(q.VaultTokenMultipliers[i], 10)
		if !ok || !ok2 {
			t.Fatalf("no numbers: %q, %q", total, q.VaultTokenMultipliers[i])
		}
		p.Raw[i] = n.Div(n, m).Uint64()
	}
	return trial.Must(f.Encode(p))(t)
}

func (q *quoteJSON) terms(t *testing.T) VaultTerms {
	t.Helper()
	op := trial.Must(bitcoin.ParseOutPoint(q.VaultUTXO))(t)
	var f fundJSON
	return VaultTerms{
		Vault: op, VaultValue: q.VaultUTXOValue, VaultScript: f.address(t, q.VaultBTCAddress).Script(),
		Data:      q.data(t),
		PayScript: f.address(t, q.BTCDestinationAddress).Script(), PaySats: q.BTCAmount,
		Shares:   bitcoin.FeeShares{Caller: q.CallerFeeShare, Fronting: q.FrontingFeeShare, Execution: q.ExecutionFeeShare},
		LockTime: q.Locktime,
	}
}

// txView is the transaction of a PSBT as the vectors show it.
func txView(t *testing.T, raw PSBT) map[string]any {
	t.Helper()
	p := openPSBT(t, raw)
	inputs, outputs := []map[string]any{}, []map[string]any{}
	for i, in := range p.UnsignedTx.TxIn {
		view := map[string]any{
			"txid": in.PreviousOutPoint.Hash.String(), "index": in.PreviousOutPoint.Index, "sequence": in.Sequence, "amount": nil, "script": nil,
		}
		if spent := p.Inputs[i].WitnessUtxo; spent != nil {
			view["amount"], view["script"] = itoa(spent.Value), hex.EncodeToString(spent.PkScript)
		}
		inputs = append(inputs, view)
	}
	for _, out := range p.UnsignedTx.TxOut {
		outputs = append(outputs, map[string]any{"amount": itoa(out.Value), "script": hex.EncodeToString(out.PkScript)})
	}
	return map[string]any{"version": p.UnsignedTx.Version, "locktime": p.UnsignedTx.LockTime, "inputs": inputs, "outputs": outputs}
}

func TestVectorsRawVault(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "psbt_raw", func(t *testing.T, c *vectors.Case) {
		var in quoteJSON
		c.Input(t, &in)
		template := trial.Must(in.terms(t).Template())(t)
		raw := trial.Must(template.Raw())(t)
		vectors.SameJSON(t, numbers(t, c.Want(t)), map[string]any{
			"psbtHex": raw.Hex(), "psbtBase64": raw.Base64(), "in1sequence": template.Sequence,
			"feeRate": in.MinimumBTCFeeRate, "tx": txView(t, raw),
		})
	})
}

func TestVectorsFundedVaultSwap(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "psbt_funded", func(t *testing.T, c *vectors.Case) {
		var in struct {
			quoteJSON
			WalletAddress, WalletPublicKey string
			FeeRate, BackendFeeRate        float64
			UTXOs                          []struct {
				TxID   string
				Vout   uint32
				Value  int64 `json:",string"`
				CPFP   *cpfpJSON
				PrevTx string
			}
		}
		c.Input(t, &in)
		f := fundJSON{}
		f.Wallet.Address, f.Wallet.PublicKey = in.WalletAddress, in.WalletPublicKey
		for _, u := range in.UTXOs {
			f.UTXOs = append(f.UTXOs, fundCoinJSON{coinJSON{TxID: u.TxID, Vout: u.Vout, Value: u.Value, CPFP: u.CPFP}, u.PrevTx})
		}
		wallet := trial.Must(WalletFeeRate(in.BackendFeeRate, 0))(t)
		var p *Funded
		rate, err := VaultFeeRate(in.FeeRate, in.MinimumBTCFeeRate, wallet)
		if err == nil { // the rate is checked before a lock time is drawn
			template, terr := in.terms(t).Template()
			if terr != nil {
				t.Fatal(terr)
			}
			p, _, err = f.fund(t, template, rate)
		}
		checkFunded(t, c, &f, true, p, err, func(p *Funded) any {
			return map[string]any{
				"psbtHex": p.PSBT.Hex(), "psbtBase64": p.PSBT.Base64(), "signInputs": p.SignInputs, "feeRate": p.FeeRate, "tx": txView(t, p.PSBT),
			}
		})
	})
}
