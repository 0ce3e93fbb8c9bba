package reference_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/ethereum/go-ethereum/common"
	"github.com/lightningnetwork/lnd/zpay32"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// alter replaces one leaf of a JSON text by another value, or all of it if leaf is 0. What is
// no JSON becomes a string.
func alter(t testing.TB, text []byte, leaf uint16, value []byte) []byte {
	t.Helper()
	if leaf == 0 {
		return value
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var root any
	trial.Do(t, d.Decode(&root))
	var by any = string(value)
	if json.Valid(value) {
		by = json.RawMessage(value)
	}
	var put []func()
	var walk func(v any, set func(any))
	walk = func(v any, set func(any)) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name], func(to any) { v[name] = to })
			}
		case []any:
			for i := range v {
				walk(v[i], func(to any) { v[i] = to })
			}
		default:
			put = append(put, func() { set(by) })
		}
	}
	walk(root, nil)
	put[int(leaf-1)%len(put)]()
	return trial.Must(json.Marshal(root))(t)
}

// tells answers with given texts, and notes whether it hears a secret.
type tells struct {
	created, status []byte
	heard           bool
}

func (s *tells) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s.heard = s.heard || strings.Contains(q.URL.RawQuery, "secret")
	if q.URL.Path == "/createSwap" {
		_, _ = w.Write(s.created)
	} else {
		_, _ = w.Write(s.status)
	}
}

// sats is what an amount is worth at the market's price.
func sats(a swapper.Amount) *big.Int {
	return new(big.Int).Div(a.RawAmount, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(a.Decimals-8)), nil))
}

// asAsked demands of a quote that it is what was asked for, at a price that can be, by other
// code than the wallet's.
func asAsked(t *testing.T, in swapper.CreateSwapInput, now time.Time, got swapper.SwapOutputBase) {
	t.Helper()
	q := got.Quote
	fixed, paid, worth := q.OutputAmount, sats(q.InputAmount), sats(q.OutputAmount)
	if in.AmountType == swapper.ExactIn {
		fixed = q.InputAmount
	}
	if n := q.Fees.NetworkOutput; n != nil {
		if fee := sats(*n); fee.Sign() < 0 || fee.Cmp(worth) > 0 {
			t.Errorf("a network fee of %s sats", fee)
		} else {
			paid.Sub(paid, fee)
		}
	}
	id := func(a swapper.Amount) string { return a.Chain + "-" + a.Symbol }
	if fixed.RawAmount.Cmp(in.Amount) != 0 || id(q.InputAmount) != in.SrcToken || id(q.OutputAmount) != in.DstToken || !strings.EqualFold(q.OutputAddress, in.DstAddress) || !q.Expiry.After(now) || got.SwapID == "" {
		t.Errorf("asked for %+v, got %+v", in, got)
	}
	if worth.Sign() <= 0 || new(big.Int).Mul(paid, big.NewInt(85)).Cmp(new(big.Int).Mul(worth, big.NewInt(100))) > 0 {
		t.Errorf("%s sats are paid for %s", paid, worth)
	}
}

// A wallet takes no answer to createSwap but one with what it has asked for.
func FuzzCreateSwap(f *testing.F) {
	r := readReference(f)
	for i, s := range r.Swaps {
		f.Add(uint8(i), uint16(0), []byte(s.Created))
		f.Add(uint8(i), uint16(7*i+1), []byte(`"1"`))
	}
	f.Fuzz(func(t *testing.T, which uint8, leaf uint16, value []byte) {
		s := r.Swaps[int(which)%len(r.Swaps)]
		now, in := time.UnixMilli(s.At), s.input(t)
		v := r.walletOf(t, now, (&tells{created: alter(t, s.Created, leaf, value)}).ServeHTTP)
		if got, err := v.CreateSwap(t.Context(), in); err == nil {
			asAsked(t, in, now, got.SwapOutputBase)
		}
	})
}

// A wallet signs and pays nothing that a status asks for but what it has agreed on, believes
// no end that its own nodes do not show, and keeps its secret.
func FuzzSwapStatus(f *testing.F) {
	r := readReference(f)
	var honest [][]byte
	for i, s := range r.Swaps {
		said := s.status(f)
		if said.SwapType == swapper.SwapSPVVaultFromBTC {
			r.showVault(f, &said)
			said.CurrentAction = template(f, *said.CurrentAction.(*swapper.SignPSBT))
			text := trial.Must(json.Marshal(said))(f)
			s.Status = text
		}
		honest = append(honest, s.Status)
		f.Add(uint8(i), false, uint16(7*i+1), []byte(`"1"`))
	}
	for i := range r.Swaps {
		for _, text := range honest {
			f.Add(uint8(i), true, uint16(0), text)
			f.Add(uint8(i), false, uint16(0), text)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, own bool, leaf uint16, value []byte) {
		s := r.Swaps[int(which)%len(r.Swaps)]
		now, in := time.UnixMilli(s.At), s.input(t)
		if own { // the wallet makes the secret
			in.PaymentHash = ""
		}
		told := &tells{created: s.Created, status: alter(t, s.Status, leaf, value)}
		v := r.walletOf(t, now, told.ServeHTTP)
		made := trial.Must(v.CreateSwap(t.Context(), in))(t)
		got, err := v.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: made.SwapID})
		if told.heard {
			t.Error("the secret was told")
		}
		if err != nil {
			return
		}
		if got.SwapID != made.SwapID || got.SwapType != made.SwapType || asText(t, got.Quote) != asText(t, made.Quote) || got.IsFinished || got.IsSuccess || got.IsFailed {
			t.Errorf("agreed on %+v, got %+v", made, got)
		}
		switch a := got.CurrentAction.(type) {
		case nil:
		case *swapper.Wait:
			if a.PollTime < 0 || a.PollTime > time.Minute {
				t.Errorf("waits for %+v", a)
			}
		case *swapper.SignSmartChainTransaction:
			r.opens(t, in, made, told.status, now, a)
		case *swapper.SendToAddress:
			pays(t, in, own, a)
		case *swapper.SignPSBT:
			r.withdraws(t, in, made, a)
		default:
			t.Errorf("asked for %+v", a)
		}
	})
}

// opens demands that a transaction opens the escrow that was agreed on, word for word.
func (r reference) opens(t *testing.T, in swapper.CreateSwapInput, made *swapper.CreateSwapOutput, told []byte, now time.Time, sign *swapper.SignSmartChainTransaction) {
	t.Helper()
	if len(sign.Txs) != 1 || made.SwapType != swapper.SwapToBTC && made.SwapType != swapper.SwapToBTCLN {
		t.Fatalf("asked for %+v", sign)
	}
	tx := trial.Must(evm.UnsignedTransaction(sign.Txs[0]))(t)
	c, data := r.Contracts, tx.Data()
	if tx.To() == nil || *tx.To() != c.SwapContract || tx.ChainId().Uint64() != r.ChainID || tx.Value().Cmp(made.Quote.InputAmount.RawAmount) != 0 || len(data) < 4+13*32 || !bytes.Equal(data[:4], evmwire.EscrowABI().Methods["initialize"].ID) {
		t.Fatalf("signs %+v", tx)
	}
	word := func(i int) common.Hash { return common.Hash(data[4+32*i:]) }
	address := func(a common.Address) common.Hash { return common.BytesToHash(a[:]) }
	kind, claim := "0", common.Hash{}
	if made.SwapType == swapper.SwapToBTCLN {
		inv := trial.Must(zpay32.Decode(in.DstAddress, &chaincfg.RegressionNetParams))(t)
		claim = *inv.PaymentHash
	} else {
		kind, claim = "2", r.paidWith(t, in, told)
	}
	for i, want := range map[int]common.Hash{0: address(common.HexToAddress(in.SrcAddress)), 2: common.BigToHash(made.Quote.InputAmount.RawAmount), 3: {}, 5: address(c.HandlerContracts.Claim[kind]), 6: claim,
		7: address(c.HandlerContracts.Refund.Timelock), 9: {}, 10: {}, 12: {}} {
		if word(i) != want {
			t.Errorf("word %d of the escrow is %s, want %s", i, word(i), want)
		}
	}
	ends := word(8).Big()
	if !ends.IsInt64() || ends.Int64() < now.Unix() || ends.Int64() > now.Add(60*24*time.Hour).Unix() || word(4)[31] != 6 { // paid in, with a reputation
		t.Errorf("the escrow ends at %s, and has the flags %s", ends, word(4))
	}
}

// paidWith is the claim condition of a payment to Bitcoin, whose nonce and confirmations are told.
func (r reference) paidWith(t *testing.T, in swapper.CreateSwapInput, told []byte) common.Hash {
	t.Helper()
	var said swapper.GetSwapStatusOutput
	if err := json.Unmarshal(told, &said); err != nil || said.Escrow == nil {
		t.Fatalf("the service says %s, %v", told, err)
	}
	nonce := trial.Must(strconv.ParseUint(said.Escrow.Nonce, 10, 64))(t)
	to := trial.Must(bitcoin.ParseAddress(in.DstAddress, bitcoin.Regtest))(t)
	return trial.Must(evmwire.Deployment{}.ClaimHash(chains.Condition{Kind: chains.OnchainNonced, Script: to.Script(), Sats: in.Amount.Uint64(), Nonce: nonce, Confirmations: uint16(said.Escrow.Confirmations)}))(t)
}

// pays demands that an invoice pays the agreed amount for the wallet's hash. No recorded one
// pays for a secret that was made just now.
func pays(t *testing.T, in swapper.CreateSwapInput, own bool, pay *swapper.SendToAddress) {
	t.Helper()
	inv, err := zpay32.Decode(pay.Txs[0].Address, &chaincfg.RegressionNetParams)
	if err != nil || own || len(pay.Txs) != 1 || in.SrcToken != "LIGHTNING-BTC" || hex.EncodeToString(inv.PaymentHash[:]) != in.PaymentHash || int64(*inv.MilliSat) != 1000*in.Amount.Int64() {
		t.Errorf("pays %+v, %v", pay, err)
	}
}

// withdraws demands that a transaction makes the vault pay what was agreed on to the recipient.
func (r reference) withdraws(t *testing.T, in swapper.CreateSwapInput, made *swapper.CreateSwapOutput, sign *swapper.SignPSBT) {
	t.Helper()
	if len(sign.Raw) != 1 || len(sign.Funded) != 0 || made.SwapType != swapper.SwapSPVVaultFromBTC {
		t.Fatalf("asked for %+v", sign)
	}
	p := trial.Must(psbt.NewFromRawBytes(hex.NewDecoder(strings.NewReader(sign.Raw[0].PSBTHex)), false))(t)
	tx, vault := p.UnsignedTx, r.shown.made
	if len(tx.TxIn) != 1 || len(tx.TxOut) != 3 || tx.TxIn[0].PreviousOutPoint.Hash != vault.TxHash() || tx.TxOut[0].Value != vault.TxOut[0].Value || !bytes.Equal(tx.TxOut[0].PkScript, vault.TxOut[0].PkScript) || tx.TxOut[2].Value != in.Amount.Int64() {
		t.Fatalf("signs %+v", tx)
	}
	to := common.HexToAddress(in.DstAddress)
	units := new(big.Int).Div(made.Quote.OutputAmount.RawAmount, big.NewInt(1e10))
	if want := slices.Concat([]byte{0x6a, 28}, to[:], units.FillBytes(make([]byte, 8))); !bytes.Equal(tx.TxOut[1].PkScript, want) {
		t.Errorf("the vault is told %x, want %x", tx.TxOut[1].PkScript, want)
	}
}
