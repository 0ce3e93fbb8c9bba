package e2e

import (
	"cmp"
	"encoding/json"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	invoices "github.com/swapper-go/swapper/internal/lightning"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

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
	for r, err := range w.client.Import(w.within(30*time.Second), swapper.ImportInput{ChainID: w.chain(), Records: each(records...), DryRun: dry}) {
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

// underWay is a swap that the reference service has begun and that ends here.
type underWay struct {
	typ swapper.SwapType
	// in is the state in which it comes over: all that the user pays is paid, and nobody
	// has answered.
	in string
	// refused is set where the payee refuses the LP's payment afterwards.
	refused bool
}

// comeOver are swaps on each chain, the first of which is always tried.
var comeOver = []struct {
	on    string
	swaps []underWay
}{
	{"", []underWay{{typ: swapper.SwapFromBTCLNAuto, in: "CLAIM_COMMITED"}, {typ: swapper.SwapToBTC, in: "COMMITED"}, {typ: swapper.SwapToBTCLN, in: "COMMITED"},
		{typ: swapper.SwapToBTCLN, in: "COMMITED", refused: true}, {typ: swapper.SwapSPVVaultFromBTC, in: "BROADCASTED"},
		{typ: swapper.SwapTrustedFromLN, in: "PR_PAID"}, {typ: swapper.SwapTrustedFromBTC, in: "PR_CREATED"}}},
	{solwire.V1, []underWay{{typ: swapper.SwapFromBTC, in: "CLAIM_COMMITED"}, {typ: swapper.SwapFromBTCLN, in: "PR_PAID"}, {typ: swapper.SwapToBTC, in: "COMMITED"},
		{typ: swapper.SwapToBTCLN, in: "COMMITED"}, {typ: swapper.SwapToBTCLN, in: "COMMITED", refused: true},
		{typ: swapper.SwapTrustedFromLN, in: "PR_PAID"}, {typ: swapper.SwapTrustedFromBTC, in: "PR_CREATED"}}},
	{solwire.V2, []underWay{{typ: swapper.SwapTrustedFromLN, in: "PR_PAID"}, {typ: swapper.SwapTrustedFromBTC, in: "PR_CREATED"}, {typ: swapper.SwapFromBTC, in: "CLAIM_COMMITED"},
		{typ: swapper.SwapFromBTCLNAuto, in: "CLAIM_COMMITED"}, {typ: swapper.SwapToBTC, in: "COMMITED"}, {typ: swapper.SwapToBTCLN, in: "COMMITED"},
		{typ: swapper.SwapToBTCLN, in: "COMMITED", refused: true}}},
	{starknetName, []underWay{{typ: swapper.SwapSPVVaultFromBTC, in: "BROADCASTED"}, {typ: swapper.SwapFromBTCLNAuto, in: "CLAIM_COMMITED"}, {typ: swapper.SwapToBTC, in: "COMMITED"},
		{typ: swapper.SwapToBTCLN, in: "COMMITED"}, {typ: swapper.SwapToBTCLN, in: "COMMITED", refused: true},
		{typ: swapper.SwapTrustedFromLN, in: "PR_PAID"}, {typ: swapper.SwapTrustedFromBTC, in: "PR_CREATED"}}},
}

// Swaps of the reference service go on here where they were there, each to its end: those
// whose money is on its way, and those that are quotes yet.
func TestImportedSwapsSettle(t *testing.T) {
	t.Parallel()
	for _, c := range comeOver {
		for _, taken := range trial.Of(1, []string{underway, quote}) {
			t.Run(cmp.Or(c.on, "evm")+" "+taken, func(t *testing.T) {
				t.Parallel()
				w := start(t, options{on: c.on, slow: true})
				w.settleImported(trial.Of(1, c.swaps), taken)
			})
		}
	}
}

// An older copy of the reference's records may know a swap as a quote that has been paid since, whose
// payment it does not name: the chains and the provider do.
func TestImportedQuotesThatWerePaidSince(t *testing.T) {
	t.Parallel()
	onBitcoin := []underWay{{typ: swapper.SwapFromBTC, in: "CLAIM_COMMITED"}, {typ: swapper.SwapTrustedFromBTC, in: "PR_CREATED"}}
	for _, c := range comeOver {
		swaps := slices.DeleteFunc(slices.Clone(c.swaps), func(s underWay) bool { return s.typ == swapper.SwapSPVVaultFromBTC })
		if !trial.Full() {
			if c.on != solwire.V1 {
				continue
			}
			swaps = onBitcoin
		}
		for _, taken := range trial.Of(1, []string{paidLong, paidSince}) {
			swaps := slices.Clone(swaps)
			if taken == paidLong { // no payment over Lightning is held that long for a client that is away
				swaps = slices.DeleteFunc(swaps, func(s underWay) bool { return s.typ == swapper.SwapFromBTCLN || s.typ == swapper.SwapFromBTCLNAuto })
			}
			t.Run(cmp.Or(c.on, "evm")+" "+taken, func(t *testing.T) {
				t.Parallel()
				w := start(t, options{on: c.on, slow: true})
				w.settleImported(swaps, taken)
			})
		}
	}
}

// When the records of the reference were taken, and what happened then.
const (
	underway  = "under way"       // after the user's payment
	quote     = "quoted"          // before it
	paidSince = "paid since"      // before it, and the user has paid then
	paidLong  = "paid long since" // the same, and the quote has expired
)

// settleImported begins swaps, moves them to an empty store as records of the reference,
// and takes them to their ends.
func (w *world) settleImported(swaps []underWay, taken string) {
	t := w.t.(*testing.T)
	before := w.book()
	w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
	w.tower.Behave(watchtower.Behaviour{Deaf: true, NoVaults: true, NoProofs: true})
	begun := make([]*swapper.CreateSwapOutput, len(swaps))
	records := make([][]byte, len(swaps))
	for i, s := range swaps {
		begun[i] = w.begin(s.typ)
		if taken == paidSince || taken == paidLong {
			records[i] = w.theirs(begun[i].SwapID)
		}
		if taken != quote {
			w.until(begun[i].SwapID, func(now *swapper.GetSwapStatusOutput) bool {
				switch now.CurrentAction.(type) {
				case nil, *swapper.SendToAddress, *swapper.SignPSBT:
					return false
				}
				return now.State.Name == s.in
			})
		}
		if records[i] == nil {
			records[i] = w.theirs(begun[i].SwapID)
		}
	}
	w.close()
	trial.Do(t, os.Remove(w.path))
	if taken == paidLong {
		trial.Do(t, w.net.Advance(45*time.Minute))
	}
	for i, s := range swaps {
		if s.refused {
			w.refuse(begun[i].Quote.OutputAddress)
		}
	}
	w.net.LPs[0].Misbehave(lp.Fault{})
	w.tower.Behave(watchtower.Behaviour{})
	w.open()
	w.user.Mine = func() { w.mine(1) }

	if sum, reports := w.imported(true, records...); sum != (outcomes{stored: len(swaps)}) {
		t.Fatalf("dry run: %+v: %+v", sum, reports)
	}
	if all, err := w.client.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: w.address()}); err != nil || len(all) != 0 {
		t.Fatalf("a dry run stored %d swaps, %v", len(all), err)
	}
	sum, reports := w.imported(false, records...)
	if sum != (outcomes{stored: len(swaps)}) {
		t.Fatalf("%+v: %+v", sum, reports)
	}
	for i, r := range reports {
		var record struct{ ID string }
		trial.Do(t, json.Unmarshal(records[i], &record))
		if r.Record != i || r.Swap.SwapType != swaps[i].typ || r.Swap.SwapID != record.ID {
			t.Errorf("report %d: %+v, want %s %s", i, r.Swap, swaps[i].typ, record.ID)
		}
	}
	if sum, _ := w.imported(false, records...); sum != (outcomes{present: len(swaps)}) {
		t.Errorf("the second time: %+v", sum)
	}
	want := map[string]int64{}
	var miners int64 // how many Bitcoin transactions of the user pay them
	for i, s := range swaps {
		t.Run(string(s.typ)+map[bool]string{true: " refused"}[s.refused], func(t *testing.T) {
			w := w.in(t)
			end, q := w.finish(reports[i].Swap.SwapID), begun[i].Quote
			if end.IsSuccess == s.refused || s.refused && end.State.Name != "REFUNDED" {
				t.Errorf("ended as %s", end.State.Name)
			}
			in, out := raw(q.InputAmount), raw(q.OutputAmount)
			switch {
			case s.refused:
			case s.typ == swapper.SwapToBTC:
				to := trial.Must(bitcoin.ParseAddress(q.OutputAddress, bitcoin.Regtest))(t)
				if got := w.at(to); got != out {
					t.Errorf("received %d sats, agreed on %d", got, out)
				}
				want["user WBTC"] -= in
			case s.typ == swapper.SwapToBTCLN:
				want["user WBTC"] -= in
				want["recipient msat"] += 1000 * out
			case s.typ == swapper.SwapTrustedFromLN, s.typ == swapper.SwapTrustedFromBTC:
				if got := w.coins(q.OutputAddress); got.Cmp(q.OutputAmount.RawAmount) != 0 {
					t.Errorf("received %v, agreed on %v", got, q.OutputAmount.RawAmount)
				}
			default:
				want["user WBTC"] += out
			}
			switch s.typ {
			case swapper.SwapFromBTCLN, swapper.SwapFromBTCLNAuto, swapper.SwapTrustedFromLN:
				want["user msat"] -= 1000 * in
			case swapper.SwapFromBTC, swapper.SwapSPVVaultFromBTC, swapper.SwapTrustedFromBTC:
				want["user sats"] -= in
				miners++
			}
		})
	}
	changed := w.since(before)
	for _, name := range []string{"user WBTC", "escrows WBTC", "recipient msat", "user msat"} {
		if changed[name] != want[name] {
			t.Errorf("%s changed by %d, want %d", name, changed[name], want[name])
		}
	}
	if fees := want["user sats"] - changed["user sats"]; fees < miners || fees > miners*10_000 {
		t.Errorf("the user's bitcoin changed by %d sats, want %d and a fee for each of %d transactions", changed["user sats"], want["user sats"], miners)
	}
	// An older copy of the same records changes nothing.
	if sum, reports := w.imported(false, records...); sum != (outcomes{present: len(swaps)}) || slices.ContainsFunc(reports, func(r swapper.ImportReport) bool { return !r.Swap.IsFinished }) {
		t.Errorf("afterwards: %+v %+v", sum, reports)
	}
}

// begin asks for a swap of any type.
func (w *world) begin(typ swapper.SwapType) *swapper.CreateSwapOutput {
	w.t.Helper()
	switch typ {
	case swapper.SwapTrustedFromLN:
		return w.gas(w.gasInput("LIGHTNING-BTC", w.newcomer()))
	case swapper.SwapTrustedFromBTC:
		return w.gas(w.gasInput("BITCOIN-BTC", w.newcomer()))
	case swapper.SwapToBTC, swapper.SwapToBTCLN:
		return w.create(w.outgoing()[typ]())
	}
	return w.create(w.incoming()[typ]())
}

// refuse has the recipient take no payment of an invoice any more.
func (w *world) refuse(invoice string) {
	w.t.Helper()
	decoded, err := invoices.Decode(invoice)
	if err == nil {
		err = w.net.Recipient.Cancel(decoded.PaymentHash)
	}
	if err != nil {
		w.t.Fatal(err)
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
	other := trial.Must(w.net.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 50_000_000}))(t)
	good := map[string][]byte{"btc": w.theirs(id), "ln": w.theirs(ln), "auto": w.theirs(auto)}
	with := func(record, member string, v any) []byte {
		var m map[string]any
		trial.Do(t, json.Unmarshal(good[record], &m))
		if data, inner, ok := strings.Cut(member, "."); ok {
			m[data].(map[string]any)[inner] = v
		} else {
			m[member] = v
		}
		return trial.Must(json.Marshal(m))(t)
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
	trial.Do(t, os.Remove(w.path))
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
