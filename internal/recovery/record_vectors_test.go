package recovery

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

func TestVectorsStates(t *testing.T) {
	t.Parallel()
	vectors.Each(t, "swap-flows-escrow", "states", func(t *testing.T, c *vectors.Case) {
		var in struct {
			SwapTypeNumber swap.Type
			State          int
			Initiated      bool
		}
		c.Input(t, &in)
		at := slices.IndexFunc(swap.Flows(), func(f *swap.Flow) bool { return f.Type == in.SwapTypeNumber })
		var want struct {
			Name    string
			Pending bool
			Flags   struct{ IsFinished, IsSuccessful, IsFailed, IsQuoteExpired bool }
		}
		c.Expected(t, &want)
		var says struct {
			Flags                                            map[string]bool
			Pending, Ticked, RefundableQuery, ClaimableQuery *bool
		}
		c.Expected(t, &says)
		theirs := flowtest.Predicates(in.SwapTypeNumber, in.State, in.Initiated)
		for name, is := range map[string]*bool{"pending": says.Pending, "ticked": says.Ticked, "refundableQuery": says.RefundableQuery, "claimableQuery": says.ClaimableQuery} {
			if is != nil {
				says.Flags[name] = *is
			}
		}
		if diff := cmp.Diff(theirs, says.Flags); diff != "" {
			t.Errorf("the reference's predicates differ (-rule +vector):\n%s", diff)
		}
		row, ok := swap.Flows()[at].State(in.State)
		if !ok {
			t.Fatalf("no state %d", in.State)
		}
		pending := want.Pending
		if in.SwapTypeNumber == swap.FromBTCLNAuto && in.State == swap.LnHTLCExpired {
			pending = true
			c.Differ(t, "auto-expired-is-pending")
		}
		if row.Name != want.Name || row.Finished != want.Flags.IsFinished || row.Success != want.Flags.IsSuccessful || row.Failed != want.Flags.IsFailed ||
			row.Expired != want.Flags.IsQuoteExpired || (row.Pending && !row.Finished) != pending {
			t.Errorf("state %+v, want %+v", row, want)
		}
		if !row.Finished && !row.Watched {
			t.Error("nobody looks at an unfinished swap")
		}
	})
}

func TestVectorsRecordReading(t *testing.T) {
	t.Parallel()
	f := vectors.Load(t, "swap-flows-escrow", "record_reading")
	file := flowtest.Read(t, f)
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in flowtest.Input
		c.Input(t, &in)
		var want struct {
			State     int
			IDs       map[string]*string
			CreatedAt int64
			Fields    map[string]json.RawMessage
		}
		c.Expected(t, &want)
		s := file.Setup(t, in)
		text := trial.Must(json.Marshal(s.Record))(t)
		r := trial.Must(ImportRecord(s.Chain, text))(t)
		event, _ := r.EventHash()
		got := map[string]string{"swapId": r.ID, "claimHash": hex.EncodeToString(r.Escrow.Expected.ClaimHash), "initiator": r.Signer,
			"outputAddress": r.Terms.Recipient, "escrowHash": hex.EncodeToString(event)}
		switch r.Type {
		case swap.ToBTCLN:
			got["outputTxId"], got["inputTxId"], got["inputAddress"] = r.Lightning.Hash, r.Escrow.InitTx, r.Signer
		case swap.ToBTC:
			got["outputTxId"], got["inputTxId"], got["inputAddress"] = facts(r)["txId"], r.Escrow.InitTx, r.Signer
		case swap.FromBTC:
			got["inputTxId"], got["outputTxId"], got["inputAddress"] = facts(r)["txId"], r.Escrow.ClaimTx, "" // who paid is not known yet
		default:
			got["inputTxId"], got["outputTxId"] = r.Lightning.Hash, r.Escrow.ClaimTx
			if got["inputAddress"] = r.Lightning.Invoice; r.Lightning.Invoice == "" {
				got["inputAddress"] = r.Lightning.Hash
			}
		}
		for name, v := range want.IDs {
			if v == nil {
				v = new(string)
			}
			if got[name] != *v {
				t.Errorf("%s is %q, want %q", name, got[name], *v)
			}
		}
		if raw := want.Fields["initialSwapData"]; raw != nil {
			got := r.Escrow.Expected.Data
			if s.Chain.Info().ID == "CITREA" { // the reference keeps addresses in the case in which they came
				raw, got = bytes.ToLower(raw), bytes.ToLower(got)
			}
			vectors.SameJSON(t, raw, got)
		}
		if raw, ok := want.Fields["data"]; ok && (string(raw) != "null" || r.Escrow.Real != nil) {
			t.Errorf("data is %v, want %s", r.Escrow.Real, raw)
		}
		if r.State != want.State || int64(r.CreatedAt) != want.CreatedAt {
			t.Errorf("state %d created at %d, want %d and %d", r.State, r.CreatedAt, want.State, want.CreatedAt)
		}
		for name, is := range map[string]*big.Int{"swapFeeBtc": r.Terms.FeeSats, "networkFeeBtc": r.Terms.NetworkSats} {
			var text *string
			if raw, ok := want.Fields[name]; ok && json.Unmarshal(raw, &text) == nil && text != nil && (is == nil || is.String() != *text) {
				t.Errorf("%s is %s, want %s", name, is, *text)
			}
		}
	})
}

func TestVectorsQuoteAmounts(t *testing.T) {
	t.Parallel()
	f := vectors.Load(t, "swap-flows-escrow", "quote_amounts")
	file := flowtest.Read(t, f)
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in flowtest.Input
		c.Input(t, &in)
		type amount struct{ Raw, Amount string }
		type figure struct{ Src, Dst, Base amount }
		var want struct {
			Input, InputWithoutFee, Output amount
			Fee                            struct {
				figure
				PercentagePPM *string
			}
			Breakdown []struct {
				Type string
				figure
				PercentagePPM string
			}
			GasDrop                                                    *amount
			QuoteExpiry, HTLCExpiry, DefinitiveExpiryTime, TimeoutTime int64
		}
		c.Expected(t, &want)
		s := file.Setup(t, in)
		text := trial.Must(json.Marshal(s.Record))(t)
		r := trial.Must(ImportRecord(s.Chain, text))(t)
		is := func(what string, got tokens.Amount, want amount) {
			if got.Raw == nil || got.Raw.String() != want.Raw || got.Decimal() != want.Amount {
				t.Errorf("%s is %s (%s), want %s (%s)", what, got.Raw, got.Decimal(), want.Raw, want.Amount)
			}
		}
		is("input", r.Terms.Input, want.Input)
		is("output", r.Terms.Output, want.Output)
		network, parts := new(big.Int), 1
		if r.Terms.NetworkFee != nil {
			network, parts = r.Terms.NetworkFee.Raw, 2
		}
		if legacy := r.Type == swap.FromBTC || r.Type == swap.FromBTCLN; legacy != (parts == 1) {
			t.Errorf("network fee %v", r.Terms.NetworkFee)
		}
		rest := new(big.Int).Sub(r.Terms.Input.Raw, r.Terms.SwapFee.Raw)
		is("input without fees", tokens.NewAmount(rest.Sub(rest, network), r.Terms.Input.Token), want.InputWithoutFee)
		sats := r.Terms.Output.Token
		fees := tokens.NewAmount(new(big.Int).Add(r.Terms.SwapFee.Raw, network), r.Terms.Input.Token)
		is("fees", fees, want.Fee.Src)
		inSats := tokens.NewAmount(new(big.Int), r.Terms.Output.Token)
		for i, b := range want.Breakdown {
			if b.Type != []string{"SWAP", "NETWORK_OUTPUT"}[i] {
				t.Errorf("fee %d is a %s", i, b.Type)
			}
			if dst, ok := new(big.Int).SetString(b.Dst.Raw, 10); ok {
				is("fee in the other token", tokens.NewAmount(dst, r.Terms.Output.Token), b.Dst)
				inSats.Raw.Add(inSats.Raw, dst)
			}
			switch b.Type {
			case "SWAP":
				is("swap fee", r.Terms.SwapFee, b.Src)
				is("base fee", tokens.NewAmount(r.Terms.Price.BaseFeeSats, tokens.BTC()), b.Base)
				of := r.Terms.Output.Raw // what the fee is a part of, in sats
				switch {
				case r.Type == swap.ToBTC || r.Type == swap.ToBTCLN:
					is("swap fee in sats", tokens.NewAmount(r.Terms.FeeSats, sats), b.Dst)
				case parts == 1:
					of = new(big.Int).Sub(r.Terms.Input.Raw, r.Terms.FeeSats)
				default:
					continue
				}
				ppm := bigs.MulDiv(bigs.Sub(r.Terms.FeeSats, r.Terms.Price.BaseFeeSats), big.NewInt(1_000_000), of).String()
				if ppm != b.PercentagePPM || want.Fee.PercentagePPM != nil && ppm != *want.Fee.PercentagePPM {
					t.Errorf("fee of %s ppm, want %s", ppm, b.PercentagePPM)
				}
			case "NETWORK_OUTPUT":
				is("network fee", *r.Terms.NetworkFee, b.Src)
				if r.Type == swap.ToBTC || r.Type == swap.ToBTCLN {
					is("network fee in sats", tokens.NewAmount(r.Terms.NetworkSats, sats), b.Dst)
				}
			}
		}
		if len(want.Breakdown) != parts {
			t.Errorf("%d fees", len(want.Breakdown))
		}
		is("fees in the other token", inSats, want.Fee.Dst)
		if want.Fee.Base.Raw != "" {
			is("base fee of all", tokens.NewAmount(r.Terms.Price.BaseFeeSats, tokens.BTC()), want.Fee.Base)
		}
		if want.TimeoutTime != 0 {
			end := int64(r.Expiry) // of the invoice
			if r.Type == swap.FromBTC {
				end = lp.SendTimeout(r.Escrow.Real.Expiry, int64(r.Bitcoin.Confirmations)) * 1000
			}
			if end != want.TimeoutTime {
				t.Errorf("must be paid by %d, want %d", end, want.TimeoutTime)
			}
		}
		if want.GasDrop != nil {
			drop := tokens.NewAmount(new(big.Int), s.Chain.Info().Native)
			if r.Terms.GasDrop != nil {
				drop = *r.Terms.GasDrop
			}
			is("gas drop", drop, *want.GasDrop)
		}
		if int64(r.Expiry) != want.QuoteExpiry {
			t.Errorf("quote expires at %d, want %d", r.Expiry, want.QuoteExpiry)
		}
		if want.DefinitiveExpiryTime != 0 && int64(r.Lightning.EndsAt) != want.DefinitiveExpiryTime {
			t.Errorf("definitive expiry %d, want %d", r.Lightning.EndsAt, want.DefinitiveExpiryTime)
		}
		if want.HTLCExpiry != 0 {
			at := time.Unix(r.Escrow.Real.Expiry, 0)
			if fromLightning(r.Type) { // the time by which it is to be claimed
				at = at.Add(-chains.ClaimGrace)
			}
			if at.UnixMilli() != want.HTLCExpiry {
				t.Errorf("escrow expires at %d, want %d", at.UnixMilli(), want.HTLCExpiry)
			}
		}
	})
}

// TestImportNeedsItsChain refuses records of contracts that are not configured.
func TestImportNeedsItsChain(t *testing.T) {
	t.Parallel()
	w := &flowtest.World{}
	c := flowtest.NewChain(w, "CITREA", []tokens.Token{flowtest.Native["CITREA"]}, flowtest.Contracts{})
	for _, body := range []string{`{}`, `{"id":"a","type":2,"contractVersion":"v9"}`, `{"id":"a","type":9}`, `[]`, `{"id":"a","type":2,"initiator":"0x0"}`} {
		if r, err := ImportRecord(c, []byte(body)); err == nil {
			t.Errorf("%s was read as %v", body, r)
		}
	}
	var _ chains.Chain = c
}
