package e2e

import (
	"encoding/hex"
	"encoding/json"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/depth"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// theirs is a stored swap as the reference service would have stored it (protocol:
// swap-flows-escrow.md §2, swap-flows-spv-and-core.md A3).
func (w *world) theirs(id string) []byte {
	w.t.Helper()
	e, err := w.store.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := swap.Decode(id, e.Version, e.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	path := map[swap.Type]string{swap.ToBTC: "tobtc", swap.ToBTCLN: "tobtcln", swap.FromBTCLNAuto: "frombtcln_auto", swap.SPVFromBTC: "frombtc_spv"}[r.Type]
	m := map[string]any{
		"id": r.ID, "type": int(r.Type), "initiator": r.Signer, "state": r.State, "url": r.LP.URL + "/" + path, "expiry": int64(r.Expiry), "version": 1,
		"initiated": true, "exactIn": r.Terms.ExactIn, "createdAt": int64(r.CreatedAt), "contractVersion": r.Contract, "swapFee": r.Terms.SwapFee.Raw.String(),
		"swapFeeBtc": "100", "randomNonce": r.ID[max(0, len(r.ID)-32):], "usesClaimHashAsId": true, "_isValid": true, "_satsBaseFee": "10", "_feePPM": "3000",
		"_differencePPM": "0", "_realPriceUSatPerToken": "1000000000", "_swapPriceUSatPerToken": "1000000000",
	}
	if x := r.Escrow; x != nil {
		m["commitTxId"], m["claimTxId"], m["refundTxId"], m["feeRate"] = x.InitTx, x.ClaimTx, x.RefundTx, x.FeeRate
		if x.Real != nil {
			m["data"] = x.Real.Data
		}
		if x.Init != nil {
			m["prefix"], m["timeout"], m["signature"] = x.Init.Prefix, quoted(x.Init.Timeout), x.Init.Signature
		}
		if r.Type == swap.FromBTCLNAuto {
			m["initialSwapData"], m["commitedAt"] = x.Expected.Data, int64(x.OpenedAt)
			m["btcAmountSwap"], m["btcAmountGas"], m["gasSwapFeeBtc"], m["gasSwapFee"] = r.Terms.Input.Raw.String(), "0", "0", "0"
		}
	}
	if l := r.Lightning; l != nil {
		m["pr"], m["paymentHash"] = l.Invoice, l.Hash
		if !l.Preimage.IsZero() {
			m["secret"] = hex.EncodeToString(l.Preimage[:])
		}
	}
	if r.Terms.NetworkFee != nil {
		m["networkFee"], m["networkFeeBtc"] = r.Terms.NetworkFee.Raw.String(), "50"
	}
	if b := r.Bitcoin; r.Type == swap.ToBTC {
		m["address"], m["amount"], m["requiredConfirmations"], m["nonce"] = b.Address, quoted(int64(b.Sats)), b.Confirmations, quoted(int64(b.Nonce))
	}
	if v := r.Vault; v != nil {
		m["quoteId"], m["vaultOwner"], m["vaultId"], m["vaultRequiredConfirmations"] = v.QuoteID, v.Owner, v.VaultID.String(), r.Bitcoin.Confirmations
		m["vaultTokenMultipliers"] = []string{v.Multipliers[0].String(), v.Multipliers[1].String()}
		m["vaultBtcAddress"], m["vaultUtxo"], m["vaultUtxoValue"] = w.addressOf(v.Script), v.UTXO, quoted(v.UTXOSats)
		m["btcDestinationAddress"], m["btcAmount"], m["minimumBtcFeeRate"] = w.addressOf(v.LPScript), quoted(int64(r.Bitcoin.Sats)), v.MinFeeRate
		m["btcAmountSwap"], m["btcAmountGas"] = quoted(v.Sats[0]), quoted(v.Sats[1])
		m["outputTotalSwap"], m["outputTotalGas"], m["outputSwapToken"] = r.Terms.Output.Raw.String(), "0", r.Terms.Output.Token.Address
		m["callerFeeShare"], m["frontingFeeShare"], m["executionFeeShare"] = quoted(int64(v.Shares[0])), quoted(int64(v.Shares[1])), quoted(int64(v.Shares[2]))
		m["expiry"], m["genesisSmartChainBlockHeight"], m["recipient"] = int64(v.Deadline), r.From, r.Signer
	}
	text, err := json.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func quoted(n int64) string { return strconv.FormatInt(n, 10) }

func (w *world) addressOf(script []byte) string {
	w.t.Helper()
	_, all, _, err := txscript.ExtractPkScriptAddrs(script, &chaincfg.RegressionNetParams)
	if err != nil || len(all) != 1 {
		w.t.Fatalf("script %x: %v", script, err)
	}
	return all[0].EncodeAddress()
}

// each yields records.
func each(records ...[]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// outcomes counts what became of records.
type outcomes struct{ stored, present, refused int }

// imported imports records and returns what was reported.
func (w *world) imported(dry bool, records ...[]byte) (sum outcomes, all []swapper.ImportReport) {
	w.t.Helper()
	for r, err := range w.client.Import(w.within(30*time.Second), swapper.ImportInput{ChainID: "CITREA", Records: each(records...), DryRun: dry}) {
		switch {
		case err != nil:
			w.t.Fatal(err)
		case r.Err != nil:
			sum.refused++
		case r.Present:
			sum.present++
		default:
			sum.stored++
		}
		all = append(all, r)
	}
	return sum, all
}

// Swaps of the reference service go on here where they were there: each type from a
// quote, and one whose money is locked already.
func TestImportedSwapsSettle(t *testing.T) {
	depth.OnlyFull(t)
	t.Parallel()
	w := start(t, options{})
	wbtc := w.net.EVM.Contracts().Token
	outgoing, incoming := w.outgoing(), w.incoming()
	want := map[string]swapper.SwapType{} // by id
	var records [][]byte
	for typ, request := range map[swapper.SwapType]func() swapper.CreateSwapInput{
		swapper.SwapToBTC: outgoing[swapper.SwapToBTC], swapper.SwapToBTCLN: outgoing[swapper.SwapToBTCLN],
		swapper.SwapFromBTCLNAuto: incoming[swapper.SwapFromBTCLNAuto], swapper.SwapSPVVaultFromBTC: incoming[swapper.SwapSPVVaultFromBTC],
	} {
		id := w.create(request()).SwapID
		want[id] = typ
		records = append(records, w.theirs(id))
	}
	before := w.balance(wbtc)
	w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
	locked := w.create(outgoing[swapper.SwapToBTC]()).SwapID
	w.until(locked, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == "COMMITED" })
	records = append(records, w.theirs(locked))
	w.net.LPs[0].Misbehave(lp.Fault{})

	w.close()
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	w.open()
	if sum, _ := w.imported(true, records...); sum != (outcomes{stored: 5}) {
		t.Errorf("dry run: %+v", sum)
	}
	if all, err := w.client.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: w.address()}); err != nil || len(all) != 0 {
		t.Fatalf("a dry run stored %d swaps, %v", len(all), err)
	}
	sum, reports := w.imported(false, records...)
	if sum != (outcomes{stored: 5}) {
		t.Fatalf("%+v: %+v", sum, reports)
	}
	for i, r := range reports {
		if r.Record != i || r.Swap.SwapID != locked && r.Swap.SwapType != want[r.Swap.SwapID] {
			t.Errorf("report %d: %+v", i, r)
		}
	}
	if sum, _ := w.imported(false, records...); sum != (outcomes{present: 5}) {
		t.Errorf("the second time: %+v", sum)
	}
	for id, typ := range want {
		if end := w.finish(id); !end.IsSuccess {
			t.Errorf("%s ended as %s", typ, end.State.Name)
		}
	}
	if err := w.net.Advance(8 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if end := w.finish(locked); end.State.Name != "REFUNDED" && !end.IsSuccess {
		t.Errorf("the locked one ended as %s, %v are missing", end.State.Name, w.gained(before))
	}
	// An older copy of the same records changes nothing.
	if sum, reports := w.imported(false, records...); sum != (outcomes{present: 5}) || slices.ContainsFunc(reports, func(r swapper.ImportReport) bool { return !r.Swap.IsFinished }) {
		t.Errorf("afterwards: %+v %+v", sum, reports)
	}
}

// A record that is damaged, or that says another thing than its escrow, is refused
// by the name of its member, and those around it are stored.
func TestImportRefusesByName(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	id := w.create(w.outgoing()[swapper.SwapToBTC]()).SwapID
	ln := w.create(w.outgoing()[swapper.SwapToBTCLN]()).SwapID
	auto := w.create(w.incoming()[swapper.SwapFromBTCLNAuto]()).SwapID
	preimage, _ := lightning.Preimage("of another invoice")
	other, err := w.net.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 50_000_000})
	if err != nil {
		t.Fatal(err)
	}
	good := map[string][]byte{"btc": w.theirs(id), "ln": w.theirs(ln), "auto": w.theirs(auto)}
	with := func(record, member string, v any) []byte {
		var m map[string]any
		if err := json.Unmarshal(good[record], &m); err != nil {
			t.Fatal(err)
		}
		if data, inner, ok := strings.Cut(member, "."); ok {
			m[data].(map[string]any)[inner] = v
		} else {
			m[member] = v
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	someone := "0x000000000000000000000000000000000000dEaD"
	cases := []struct {
		name, field string
		code        fault.Code
		body        []byte
	}{
		{"no JSON", "", fault.InvalidInput, []byte("{")},
		{"no object", "", fault.InvalidInput, []byte("[]")},
		{"no id", "id", fault.InvalidInput, with("btc", "id", "")},
		{"a type that does not exist", "type", fault.InvalidInput, with("btc", "type", 99)},
		{"a type in which the parties are the other way round", "initiator", fault.InvalidInput, with("btc", "type", 0)},
		{"a member of another type", "state", fault.InvalidInput, with("btc", "state", "zero")},
		{"an amount that is no number", "swapFee", fault.InvalidInput, with("btc", "swapFee", "1.5")},
		{"a state that does not exist", "state", fault.InvalidInput, with("btc", "state", 17)},
		{"no time", "createdAt", fault.InvalidInput, with("btc", "createdAt", -1)},
		{"an unknown contract version", "contractVersion", fault.Unsupported, with("btc", "contractVersion", "v9")},
		{"another owner", "initiator", fault.InvalidInput, with("btc", "initiator", someone)},
		{"another recipient", "data", fault.InvalidInput, with("btc", "address", w.net.Wallet.Address.String())},
		{"an address of mainnet", "address", fault.InvalidInput, with("btc", "address", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq")},
		{"another sum", "data", fault.InvalidInput, with("btc", "amount", "50001")},
		{"another contract", "data.claimHandler", fault.InvalidInput, with("btc", "data.claimHandler", someone)},
		{"an unknown token", "data", fault.Unsupported, with("btc", "data.token", someone)},
		{"data that is no escrow", "data.type", fault.InvalidInput, with("btc", "data.type", "strk")},
		{"another invoice", "data", fault.InvalidInput, with("ln", "pr", other)},
		{"a provider on no host", "url", fault.InvalidInput, with("ln", "url", "file:///tobtcln")},
		{"another preimage", "secret", fault.InvalidInput, with("auto", "secret", strings.Repeat("07", 32))},
		{"half a preimage", "secret", fault.InvalidInput, with("auto", "secret", "0707")},
		{"another escrow than agreed", "initialSwapData", fault.InvalidInput, with("auto", "initialSwapData.claimData", "0x"+strings.Repeat("08", 32))},
		{"a record without end", "", fault.InvalidInput, with("btc", "padding", strings.Repeat("x", 2<<20))},
	}
	w.close()
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	w.open()
	records := [][]byte{good["btc"]}
	for _, c := range cases {
		records = append(records, c.body)
	}
	records = append(records, good["ln"], good["auto"])
	for _, err := range w.client.Import(w.within(30*time.Second), swapper.ImportInput{ChainID: "CITREA", Records: each(good["btc"], good["ln"])}) {
		if err != nil {
			t.Fatal(err)
		}
		break // ends the import: the second record is not stored
	}
	sum, reports := w.imported(false, records...)
	if sum != (outcomes{stored: 2, present: 1, refused: len(cases)}) {
		t.Errorf("%+v", sum)
	}
	for i, c := range cases {
		r := reports[i+1]
		e, ok := r.Err.(*fault.Error)
		if r.Swap != nil || !ok || e.Field != c.field || e.Code != c.code {
			t.Errorf("%s: %+v; want a refusal (%s) for %q", c.name, r, c.code, c.field)
			continue
		}
		if strings.Contains(e.Error(), strings.Repeat("07", 32)) {
			t.Errorf("%s: the error shows a secret", c.name)
		}
	}
}
