package lightning

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/btcsuite/btcd/chaincfg"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// rawField is a tagged field as it stands in an invoice, found without Decode,
// so that a rule on the input can say why an answer differs.
type rawField struct {
	tag   byte
	words []byte
}

// rawFields returns the fields of an invoice and whether the last one was cut.
func rawFields(text string) (fields []rawField, cut bool) {
	_, words, err := bech32.DecodeNoLimit(text)
	if err != nil || len(words) < timestampWords+signatureWords {
		return nil, false
	}
	words = words[timestampWords : len(words)-signatureWords]
	for len(words) >= 3 {
		n := int(words[1])*32 + int(words[2])
		if n > len(words)-3 {
			return fields, true
		}
		fields = append(fields, rawField{words[0], words[3 : 3+n]})
		words = words[3+n:]
	}
	return fields, len(words) > 0
}

// Tags that only the tests look at.
const (
	tagPaymentHash     = 1
	tagRouteHint       = 3
	tagFeatures        = 5
	tagFallback        = 9
	tagDescription     = 13
	tagPaymentSecret   = 16
	tagBlindedPath     = 20
	tagDescriptionHash = 23
)

// wholeBytes packs 5-bit words into bytes and drops the bits that fill no byte.
func wholeBytes(words []byte) []byte {
	var out []byte
	var acc, bits uint
	for _, w := range words {
		if acc, bits = acc<<5|uint(w), bits+5; bits >= 8 {
			bits -= 8
			out = append(out, byte(acc>>bits))
		}
	}
	return out
}

// fallbackAddress is the address of a fallback field.
func fallbackAddress(t *testing.T, prefix string, version byte, program string) string {
	t.Helper()
	var params *chaincfg.Params
	for _, n := range networks {
		if n.prefix == prefix {
			params = n.params
		}
	}
	b, err := hex.DecodeString(program)
	if err != nil {
		t.Fatal(err)
	}
	var a btcutil.Address
	switch {
	case version == 17:
		a, err = btcutil.NewAddressPubKeyHash(b, params)
	case version == 18:
		a, err = btcutil.NewAddressScriptHashFromHash(b, params)
	case version == 0 && len(b) == 20:
		a, err = btcutil.NewAddressWitnessPubKeyHash(b, params)
	case version == 0:
		a, err = btcutil.NewAddressWitnessScriptHash(b, params)
	default:
		a, err = btcutil.NewAddressTaproot(b, params)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a.EncodeAddress()
}

func countOf(fields []rawField, tag byte) (n int) {
	for _, f := range fields {
		if f.tag == tag {
			n++
		}
	}
	return n
}

// firstOf returns the first field with a tag and, unless 0, a length.
func firstOf(fields []rawField, tag byte, length int) []byte {
	for _, f := range fields {
		if f.tag == tag && (length == 0 || len(f.words) == length) {
			return f.words
		}
	}
	return nil
}

type wantHop struct {
	Pubkey         string
	ShortChannelID string `json:"short_channel_id"`
	FeeBase        uint32 `json:"fee_base_msat"`
	FeePPM         uint32 `json:"fee_proportional_millionths"`
	CLTV           uint16 `json:"cltv_expiry_delta"`
}

type wantInvoice struct {
	Error              bool
	Prefix, Network    string
	Millisatoshis      *string
	SatsRoundedUp      *string
	Timestamp          int64
	ExpirySeconds      *int64
	ExpiresAt          *int64
	Payee              string
	PaymentHash        *string
	PaymentSecret      *string
	Description        *string
	DescriptionHash    *string
	MinFinalCltvExpiry *int64
	RouteHints         []wantHop
	HasBlindedPaths    bool
	Fallback           *struct {
		Code        byte
		AddressHash string
	}
	AcceptedAsInvoice, AcceptedWithAmount                                   bool
	ToLnNonCustodial                                                        bool
	ToLnWillLikelyFailAtZeroConfidence, ToLnWillLikelyFailAtHalfConfidence  bool
	Hyperlink                                                               string
	FromLnTimeoutMs, FromLnDefinitiveExpiryMs, FromLnAutoDefinitiveExpiryMs json.RawMessage
}

func TestVectorsBOLT11(t *testing.T) {
	vectors.Each(t, "bitcoin", "bolt11", func(t *testing.T, c *vectors.Case) {
		var in struct{ Invoice string }
		c.Input(t, &in)
		var want wantInvoice
		c.Expected(t, &want)
		inv, err := Decode(in.Invoice)
		fields, cut := rawFields(in.Invoice)
		goodHash := firstOf(fields, tagPaymentHash, 52) != nil
		descriptions := min(countOf(fields, tagDescription), 1) + min(countOf(fields, tagDescriptionHash), 1)
		switch {
		case want.Error && strings.HasPrefix(strings.ToLower(in.Invoice), "lntbs") && err == nil:
			c.Differ(t, "bolt11-signet")
			if inv.Prefix != "tbs" {
				t.Errorf("prefix %q", inv.Prefix)
			}
			return
		case want.Error:
			if err == nil {
				t.Errorf("accepted: %+v", inv)
			}
			return
		case cut:
			c.Differ(t, "bolt11-cut-field")
			if err == nil {
				t.Error("accepted with a field beyond its end")
			}
			return
		case !goodHash:
			c.Differ(t, "bolt11-payment-hash")
			if err == nil {
				t.Error("accepted without a payment hash")
			}
			return
		case descriptions != 1:
			c.Differ(t, "bolt11-zpay32")
			if err == nil {
				t.Errorf("accepted with %d descriptions", descriptions)
			}
			return
		case err != nil:
			t.Fatal(err)
		}
		compareInvoice(t, c, in.Invoice, fields, inv, &want)
	})
}

func compareInvoice(t *testing.T, c *vectors.Case, text string, fields []rawField, inv *Invoice, want *wantInvoice) {
	t.Helper()
	same := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	hexOf := func(b *[32]byte) string {
		if b == nil {
			return ""
		}
		return hex.EncodeToString(b[:])
	}
	of := func(s *string) string {
		if s == nil {
			return "absent"
		}
		return *s
	}
	ofHash := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	same("network", inv.Prefix, want.Network)
	low := strings.ToLower(text)
	same("prefix", low[:strings.LastIndexByte(low, '1')], want.Prefix)
	msat, sats := "absent", "absent"
	if inv.AmountMsat != nil {
		n, _ := inv.AmountSats()
		msat, sats = strconv.FormatInt(*inv.AmountMsat, 10), strconv.FormatInt(n, 10)
	}
	same("msat", msat, of(want.Millisatoshis))
	same("sats", sats, of(want.SatsRoundedUp))
	same("timestamp", inv.Timestamp, want.Timestamp)
	number := func(what string, tag byte, got int64, stated bool, want *int64, normal int64) {
		t.Helper()
		if first := firstOf(fields, tag, 0); countOf(fields, tag) > 1 && want != nil && got != *want {
			c.Differ(t, "bolt11-first-field")
			v := int64(0)
			for _, w := range first {
				v = v*32 + int64(w)
			}
			same("first "+what, got, v)
			return
		}
		same(what+" stated", stated, want != nil)
		if want != nil {
			normal = *want
		}
		same(what, got, normal)
	}
	number("expiry", tagExpiry, inv.ExpirySeconds, inv.HasExpiry, want.ExpirySeconds, 3600)
	number("final delta", tagMinFinalCLTV, inv.MinFinalCLTV, inv.HasMinFinalCLTV, want.MinFinalCltvExpiry, 18)
	if want.ExpiresAt != nil && countOf(fields, tagExpiry) == 1 {
		same("end", inv.ExpiresAt(), *want.ExpiresAt)
	}
	same("payee", hex.EncodeToString(inv.Payee[:]), want.Payee)
	if text := of(inv.Description); text != of(want.Description) && countOf(fields, tagDescription) > 1 {
		c.Differ(t, "bolt11-first-field")
		same("first description", text, string(wholeBytes(firstOf(fields, tagDescription, 0))))
	} else {
		same("description", text, of(want.Description))
	}
	same("blinded paths", inv.HasBlindedPaths, want.HasBlindedPaths)
	for _, h := range []struct {
		what string
		tag  byte
		got  *[32]byte
		want *string
	}{
		{"payment hash", tagPaymentHash, &inv.PaymentHash, want.PaymentHash},
		{"payment secret", tagPaymentSecret, inv.PaymentSecret, want.PaymentSecret},
		{"description hash", tagDescriptionHash, inv.DescriptionHash, want.DescriptionHash},
	} {
		if hexOf(h.got) == ofHash(h.want) {
			continue
		}
		if len(ofHash(h.want)) == 64 && countOf(fields, h.tag) > 1 {
			c.Differ(t, "bolt11-first-field")
		} else if len(ofHash(h.want)) != 64 && h.want != nil {
			c.Differ(t, "bolt11-field-length")
		} else {
			t.Errorf("%s: got %s, want %s", h.what, hexOf(h.got), ofHash(h.want))
		}
		same(h.what, hexOf(h.got), hex.EncodeToString(wholeBytes(firstOf(fields, h.tag, 52))))
	}

	// The reference keeps the last route hint only.
	same("number of route hints", len(inv.RouteHints), countOf(fields, tagRouteHint))
	var last []Hop
	if n := len(inv.RouteHints); n > 0 {
		last = inv.RouteHints[n-1]
	}
	same("hops of the last hint", len(last), len(want.RouteHints))
	for i, h := range want.RouteHints {
		scid, _ := strconv.ParseUint(h.ShortChannelID, 16, 64)
		key, _ := hex.DecodeString(h.Pubkey)
		same("hop", last[i], Hop{[33]byte(key), scid, h.FeeBase, h.FeePPM, h.CLTV})
	}
	onlyLast := &Invoice{RouteHints: [][]Hop{last}}
	same("non-custodial by the last hint", onlyLast.IsNonCustodial(), want.ToLnNonCustodial)
	same("likely fails by the last hint", onlyLast.WillLikelyFail(0), want.ToLnWillLikelyFailAtZeroConfidence)
	if len(inv.RouteHints) > 1 && (inv.IsNonCustodial() != want.ToLnNonCustodial || inv.WillLikelyFail(0) != want.ToLnWillLikelyFailAtZeroConfidence) {
		c.Differ(t, "bolt11-all-route-hints")
	} else {
		same("non-custodial", inv.IsNonCustodial(), want.ToLnNonCustodial)
		same("likely fails", inv.WillLikelyFail(0), want.ToLnWillLikelyFailAtZeroConfidence)
	}
	same("likely fails at half confidence", inv.WillLikelyFail(0.5), want.ToLnWillLikelyFailAtHalfConfidence)

	same("fallback stated", inv.Fallback != "", want.Fallback != nil)
	if want.Fallback != nil {
		same("fallback", inv.Fallback, fallbackAddress(t, inv.Prefix, want.Fallback.Code, want.Fallback.AddressHash))
	}
	same("accepted", true, want.AcceptedAsInvoice)
	same("accepted with amount", inv.AmountMsat != nil, want.AcceptedWithAmount)
	same("hyperlink", "lightning:"+strings.ToUpper(text), want.Hyperlink)

	if countOf(fields, tagExpiry) > 1 || countOf(fields, tagMinFinalCLTV) > 1 {
		return // the times follow from the first fields, checked above
	}
	end, err := inv.QuoteExpiry()
	sameMs(t, "quote expiry", want.FromLnTimeoutMs, end, err)
	end, err = inv.DefinitiveExpiry(true)
	sameMs(t, "definitive expiry, legacy", want.FromLnDefinitiveExpiryMs, end, err)
	end, err = inv.DefinitiveExpiry(false)
	sameMs(t, "definitive expiry", want.FromLnAutoDefinitiveExpiryMs, end, err)
}

// sameMs compares seconds with wanted milliseconds, or an error with a refusal.
func sameMs(t *testing.T, what string, want json.RawMessage, seconds int64, err error) {
	t.Helper()
	if vectors.Refused(want) {
		if err == nil {
			t.Errorf("%s: %d, want an error", what, seconds)
		}
		return
	}
	if got := strconv.FormatInt(seconds*1000, 10); err != nil || got != string(want) {
		t.Errorf("%s: %s, %v; want %s", what, got, err, want)
	}
}

func TestVectorsLightningFlags(t *testing.T) {
	vectors.Each(t, "swap-flows-escrow", "lightning_flags", func(t *testing.T, c *vectors.Case) {
		var in struct {
			PR         string
			Confidence float64
		}
		c.Input(t, &in)
		type flags struct{ LightningRecipientIsNonCustodialWallet, LightningPaymentWillLikelyFail bool }
		var want, got flags
		c.Expected(t, &want)
		if LooksLikeInvoice(in.PR) {
			inv := trial.Must(Decode(in.PR))(t)
			got = flags{inv.IsNonCustodial(), inv.WillLikelyFail(in.Confidence)}
			if got != want && len(inv.RouteHints) > 1 {
				c.Differ(t, "bolt11-all-route-hints")
				last := &Invoice{RouteHints: inv.RouteHints[len(inv.RouteHints)-1:]}
				if of := (flags{last.IsNonCustodial(), last.WillLikelyFail(in.Confidence)}); of != want {
					t.Errorf("by the last hint alone %+v, want %+v", of, want)
				}
				return
			}
		}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

// TestVectorsLightningTimeouts covers the cases about Lightning; the others belong to
// package verify of the providers.
func TestVectorsLightningTimeouts(t *testing.T) {
	file := vectors.Load(t, "swap-flows-escrow", "timeouts")
	kinds := []string{"toBtclnOptions", "toBtclnMaxFee", "lnDefinitiveExpiry"}
	file.Cases = slices.DeleteFunc(file.Cases, func(c *vectors.Case) bool {
		var in struct{ Kind string }
		c.Input(t, &in)
		return !slices.Contains(kinds, in.Kind)
	})
	file.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Kind, PR, SwapType      string
			Now                     int64
			ExpirySeconds           *json.Number
			AmountSats              string
			MaxRoutingFeePercentage float64
			MaxRoutingBaseFee       string
		}
		c.Input(t, &in)
		var want struct {
			Error                               bool
			ExpiryTimestamp, MaxFeeSats         string
			DefinitiveExpiryTime, InvoiceExpiry json.RawMessage
		}
		c.Expected(t, &want)
		sats, _ := strconv.ParseInt(in.AmountSats, 10, 64)
		switch in.Kind {
		case "toBtclnOptions":
			base := int64(DefaultHTLCTimeoutSeconds)
			if in.ExpirySeconds != nil {
				v, err := in.ExpirySeconds.Int64()
				if err != nil {
					if !want.Error {
						t.Error(err)
					}
					return
				}
				base = v
			}
			timeout, extended, err := HTLCTimeout(base, DefaultMaxHTLCTimeoutSeconds, defaultMinFinalCLTV)
			if base <= 0 {
				c.Differ(t, "htlc-timeout-positive")
				if fault.CodeOf(err) != fault.InvalidInput {
					t.Errorf("timeout of %d s: %v", base, err)
				}
				return
			}
			if got := strconv.FormatInt(in.Now/1000+timeout, 10); err != nil || extended || got != want.ExpiryTimestamp {
				t.Errorf("expiry %s, %v, %v; want %s", got, extended, err, want.ExpiryTimestamp)
			}
			if got := strconv.FormatInt(MaxRoutingFee(sats, RoutingFeeBaseSats, RoutingFeePPM), 10); got != want.MaxFeeSats {
				t.Errorf("fee cap %s, want %s", got, want.MaxFeeSats)
			}
		case "toBtclnMaxFee":
			base, _ := strconv.ParseInt(in.MaxRoutingBaseFee, 10, 64)
			ppm := int64(math.Floor(in.MaxRoutingFeePercentage * 10_000))
			if got := strconv.FormatInt(MaxRoutingFee(sats, base, ppm), 10); got != want.MaxFeeSats {
				t.Errorf("fee cap %s, want %s", got, want.MaxFeeSats)
			}
		case "lnDefinitiveExpiry":
			inv := trial.Must(Decode(in.PR))(t)
			end, err := inv.DefinitiveExpiry(in.SwapType == "FROM_BTCLN")
			if want.Error {
				if err == nil {
					t.Errorf("definitive expiry %d, want an error", end)
				}
				return
			}
			sameMs(t, "definitive expiry", want.DefinitiveExpiryTime, end, err)
			end, err = inv.QuoteExpiry()
			sameMs(t, "quote expiry", want.InvoiceExpiry, end, err)
		}
	})
}

func TestWholeBytesDropsTheRest(t *testing.T) {
	if got := wholeBytes([]byte{31, 31, 31}); !bytes.Equal(got, []byte{255}) {
		t.Errorf("got %x", got)
	}
}
