package verify

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// verdict is what a vector says of an answer that the reference refuses.
type verdict struct {
	Error       bool
	Class       string
	Recoverable bool
}

// compare compares a refusal with ours and reports whether there is nothing more
// to compare.
func (w verdict) compare(t *testing.T, c *vectors.Case, err error) bool {
	t.Helper()
	if known := []string{"", "Error", "IntermediaryError", "SignatureVerificationError"}; !slices.Contains(known, w.Class) || w.Class != "" && !w.Error {
		t.Errorf("refused %v with an error of the class %q", w.Error, w.Class)
	}
	if (err != nil) != w.Error {
		t.Errorf("error %v, want one: %v", err, w.Error)
		return true
	}
	if err == nil {
		return false
	}
	e, blamed := errors.AsType[*lp.LPError](err)
	switch {
	case w.Class == "IntermediaryError" && tooFine(err):
		c.Differ(t, "lp-callers-fault")
	case w.Class == "IntermediaryError" && !blamed:
		t.Errorf("error %v does not blame the LP", err)
	case (w.Class == "Error" || w.Class == "SignatureVerificationError") && blamed:
		c.Differ(t, "lp-blamed") // the reference drops the quote and keeps asking this LP
	case w.Recoverable != (blamed && e.Recoverable):
		t.Errorf("error %v: recoverable %v", err, w.Recoverable)
	}
	if blamed && e.Check == "" {
		t.Errorf("error %v names no check", err)
	}
	return true
}

// tooFine reports that err refuses an amount that vaults cannot express.
func tooFine(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return ok && e.Code == fault.InvalidInput && (e.Field == "amount" || e.Field == "gasAmount")
}

var liesAbout = verdict{Error: true, Class: "IntermediaryError"}

// sameBytes reports that two texts are the same but for the case of hex digits.
func sameBytes(a, b string) bool { return a != b && strings.EqualFold(a, b) }

func unix(s int64) time.Time { return time.Unix(s, 0) }

func coinAt(address string) tokens.Token { return tokens.Token{Address: address, Decimals: 18} }

func fromHex(t *testing.T, s string) []byte {
	t.Helper()
	return trial.Must(hex.DecodeString(s))(t)
}

func hash32(t *testing.T, s *string) (h [32]byte) {
	t.Helper()
	if s != nil {
		copy(h[:], fromHex(t, strings.ToLower(*s)))
	}
	return h
}

func TestVectorsVerifyToBTC(t *testing.T) {
	vectors.Each(t, "lp-protocol", "verify-tobtc", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Now                               int64
			Signer, LpAddress                 string
			ExactIn                           bool
			RequestedAmount, Token            string
			Confirmations, ConfirmationTarget uint16
			ComputedClaimHash                 string
			Resp                              struct{ Amount, Total, SwapFee, NetworkFee, TotalFee string }
			Data                              json.RawMessage
		}
		c.Input(t, &in)
		var want struct {
			verdict
			SwapFeeBtc, NetworkFeeBtc string
		}
		c.Expected(t, &want)
		var data standData
		trial.Do(t, json.Unmarshal(in.Data, &data))
		q := &toBTC{
			ToBTCExpected: ToBTCExpected{
				Agreed: Agreed{LP: in.LpAddress, User: in.Signer, Token: coinAt(in.Token), Amount: flowtest.Number(t, in.RequestedAmount), ExactIn: in.ExactIn,
					Contract: standIn{claimHash: fromHex(t, in.ComputedClaimHash)}, Now: unix(in.Now)},
				Confirmations: in.Confirmations, ConfirmationTarget: in.ConfirmationTarget,
			},
			got: lp.ToBTCQuote{Amount: flowtest.Number(t, in.Resp.Amount), Total: flowtest.Number(t, in.Resp.Total), SwapFee: flowtest.Number(t, in.Resp.SwapFee),
				NetworkFee: flowtest.Number(t, in.Resp.NetworkFee), TotalFee: flowtest.Number(t, in.Resp.TotalFee), Escrow: in.Data},
		}
		err := q.data()
		switch {
		case !want.Error && data.Expiry <= in.Now:
			c.Differ(t, "lp-ended-escrow")
			want.verdict = liesAbout
		case !want.Error && data.PayOut:
			c.Differ(t, "lp-escrow-flags")
			want.verdict = liesAbout
		case !want.Error && q.got.Amount.Sign() == 0:
			c.Differ(t, "price-negative")
			want.verdict = liesAbout
		case want.Error && err == nil && sameBytes(data.ClaimHash, in.ComputedClaimHash):
			c.Differ(t, "lp-claim-hash-bytes")
			return
		}
		if want.compare(t, c, err) {
			return
		}
		if q.fee.String() != want.SwapFeeBtc || q.network.String() != want.NetworkFeeBtc {
			t.Errorf("fees %s and %s sats, want %s and %s", q.fee, q.network, want.SwapFeeBtc, want.NetworkFeeBtc)
		}
	})
}

func TestVectorsVerifyToBTCLN(t *testing.T) {
	vectors.Each(t, "lp-protocol", "verify-tobtcln", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Now                            int64
			Signer, LpAddress, Token       string
			PaymentHash, ComputedClaimHash string
			MaxFee, ExpiryTimestamp        string
			RequiredTotal                  *string
			Resp                           struct{ Total, SwapFee, MaxFee, RoutingFeeSats string }
			Data                           json.RawMessage
		}
		c.Input(t, &in)
		var want verdict
		c.Expected(t, &want)
		q := &toBTCLN{
			ToBTCLNExpected: ToBTCLNExpected{
				Agreed: Agreed{LP: in.LpAddress, User: in.Signer, Token: coinAt(in.Token), Amount: orNone(t, in.RequiredTotal), ExactIn: in.RequiredTotal != nil,
					Contract: standIn{claimHash: fromHex(t, in.ComputedClaimHash)}, Now: unix(in.Now)},
				Invoice: &lightning.Invoice{PaymentHash: hash32(t, &in.PaymentHash)}, Expiry: flowtest.Number(t, in.ExpiryTimestamp).Int64(), MaxRoutingSats: flowtest.Number(t, in.MaxFee),
			},
			got: lp.ToBTCLNQuote{Total: flowtest.Number(t, in.Resp.Total), SwapFee: flowtest.Number(t, in.Resp.SwapFee), MaxFee: flowtest.Number(t, in.Resp.MaxFee),
				RoutingFeeSats: flowtest.Number(t, in.Resp.RoutingFeeSats), Escrow: in.Data},
		}
		var data standData
		trial.Do(t, json.Unmarshal(in.Data, &data))
		if !want.Error && data.PayOut {
			c.Differ(t, "lp-escrow-flags")
			want = liesAbout
		}
		want.compare(t, c, q.data())
	})
}

func TestVectorsVerifyFromBTC(t *testing.T) {
	vectors.Each(t, "lp-protocol", "verify-frombtc", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Now                                          int64
			Recipient, LpAddress, RequestedAmount, Token string
			ExactIn                                      bool
			DepositToken, Sequence                       string
			ClaimerBountyParams                          struct{ FeePerBlock, SafetyFactor, StartTimestamp, AddBlock, AddFee string }
			ComputedClaimHash, ComputedExtraData         string
			Resp                                         struct {
				Amount, Total, BtcAddress string
				Confirmations             int64
			}
			Data json.RawMessage
		}
		c.Input(t, &in)
		var want verdict
		c.Expected(t, &want)
		b := in.ClaimerBountyParams
		q := &fromBTC{
			FromBTCExpected: FromBTCExpected{
				Agreed: Agreed{LP: in.LpAddress, User: in.Recipient, Token: coinAt(in.Token), Native: coinAt(in.DepositToken), Amount: flowtest.Number(t, in.RequestedAmount),
					ExactIn: in.ExactIn, Contract: standIn{claimHash: fromHex(t, in.ComputedClaimHash), extraData: in.ComputedExtraData}, Now: unix(in.Now)},
				Network: bitcoin.Regtest, Sequence: flowtest.Number(t, in.Sequence).Uint64(),
				Bounty: lp.Bounty{FeePerBlock: flowtest.Number(t, b.FeePerBlock), SafetyFactor: flowtest.Number(t, b.SafetyFactor), StartTimestamp: flowtest.Number(t, b.StartTimestamp).Int64(),
					AddBlock: flowtest.Number(t, b.AddBlock), AddFee: flowtest.Number(t, b.AddFee)},
			},
			got: lp.FromBTCQuote{Amount: flowtest.Number(t, in.Resp.Amount), Total: flowtest.Number(t, in.Resp.Total), SwapFee: new(big.Int), BTCAddress: in.Resp.BtcAddress,
				Confirmations: in.Resp.Confirmations, Escrow: in.Data},
		}
		var data standData
		trial.Do(t, json.Unmarshal(in.Data, &data))
		if !want.Error && !data.PayOut {
			c.Differ(t, "lp-escrow-flags")
			want = liesAbout
		}
		want.compare(t, c, q.data())
	})
}

// standInvoice is an invoice by its decoded members.
type standInvoice struct {
	Msat, PaymentHash, Description, DescriptionHash *string
}

func (s standInvoice) invoice(t *testing.T) *lightning.Invoice {
	inv := &lightning.Invoice{PaymentHash: hash32(t, s.PaymentHash), Description: s.Description, HasExpiry: true}
	if s.Msat != nil {
		v := flowtest.Number(t, *s.Msat).Int64()
		inv.AmountMsat = &v
	}
	if s.DescriptionHash != nil {
		h := hash32(t, s.DescriptionHash)
		inv.DescriptionHash = &h
	}
	return inv
}

type invoiceCase struct {
	Now                          int64
	LpAddress, RequestedAmount   string
	ExactIn                      bool
	PaymentHash                  string
	Description, DescriptionHash string
	Invoice                      standInvoice
}

func (in invoiceCase) expected(t *testing.T) (Agreed, InvoiceExpected) {
	return Agreed{LP: in.LpAddress, Amount: flowtest.Number(t, in.RequestedAmount), ExactIn: in.ExactIn, Now: unix(in.Now)},
		InvoiceExpected{Network: bitcoin.Regtest, PaymentHash: hash32(t, &in.PaymentHash), Description: in.Description, DescriptionHash: in.DescriptionHash}
}

// spoken returns the verdict on a Lightning quote: an LP's address is its bytes,
// and a quote of nothing is refused.
func (in invoiceCase) spoken(t *testing.T, c *vectors.Case, w verdict, key, total string, err error) verdict {
	t.Helper()
	switch hash := in.Invoice.DescriptionHash; {
	case w.Error && err == nil && sameBytes(key, in.LpAddress):
		c.Differ(t, "evm-address-bytes")
		return verdict{}
	case w.Error && err == nil && hash != nil && sameBytes(*hash, in.DescriptionHash):
		c.Differ(t, "lp-claim-hash-bytes")
		return verdict{}
	case !w.Error && err != nil && (flowtest.Number(t, total).Sign() == 0 || flowtest.Number(t, *in.Invoice.Msat).Sign() == 0):
		c.Differ(t, "price-negative")
		return liesAbout
	}
	return w
}

func TestVectorsVerifyFromBTCLN(t *testing.T) {
	vectors.Each(t, "lp-protocol", "verify-frombtcln", func(t *testing.T, c *vectors.Case) {
		var in struct {
			invoiceCase
			Resp struct{ IntermediaryKey, Total, SwapFee string }
		}
		c.Input(t, &in)
		var want struct {
			verdict
			AmountInSats, SwapFeeBtc string
		}
		c.Expected(t, &want)
		a, i := in.expected(t)
		q := &fromBTCLN{FromBTCLNExpected: FromBTCLNExpected{a, i},
			got:     lp.FromBTCLNQuote{Address: in.Resp.IntermediaryKey, Total: flowtest.Number(t, in.Resp.Total), SwapFee: flowtest.Number(t, in.Resp.SwapFee), SecurityDeposit: new(big.Int)},
			invoice: in.Invoice.invoice(t)}
		err := q.data()
		verdict := in.spoken(t, c, want.verdict, in.Resp.IntermediaryKey, in.Resp.Total, err)
		if verdict.compare(t, c, err) || want.Error {
			return
		}
		if q.sats.String() != want.AmountInSats || q.fee.String() != want.SwapFeeBtc {
			t.Errorf("%s sats, fee %s; want %s, %s", q.sats, q.fee, want.AmountInSats, want.SwapFeeBtc)
		}
	})
}

func TestVectorsVerifyFromBTCLNAuto(t *testing.T) {
	vectors.Each(t, "lp-protocol", "verify-frombtcln-auto", func(t *testing.T, c *vectors.Case) {
		var in struct {
			invoiceCase
			Resp struct {
				IntermediaryKey, Total, TotalGas, BtcAmountSwap, BtcAmountGas, TotalFeeBtc string
				SwapFeeBtc, GasSwapFeeBtc, SwapFee, GasSwapFee, ClaimerBounty              string
			}
			GasAmount, ClaimerBounty string
		}
		c.Input(t, &in)
		var want verdict
		c.Expected(t, &want)
		a, i := in.expected(t)
		r := in.Resp
		q := &fromBTCLNAuto{
			FromBTCLNAutoExpected: FromBTCLNAutoExpected{Agreed: a, InvoiceExpected: i, GasAmount: flowtest.Number(t, in.GasAmount), Bounty: flowtest.Number(t, in.ClaimerBounty)},
			got: lp.FromBTCLNAutoQuote{Address: r.IntermediaryKey, Total: flowtest.Number(t, r.Total), TotalGas: flowtest.Number(t, r.TotalGas), BTCAmountSwap: flowtest.Number(t, r.BtcAmountSwap),
				BTCAmountGas: flowtest.Number(t, r.BtcAmountGas), TotalFeeBTC: flowtest.Number(t, r.TotalFeeBtc), SwapFeeBTC: flowtest.Number(t, r.SwapFeeBtc), SwapFee: flowtest.Number(t, r.SwapFee),
				GasSwapFeeBTC: flowtest.Number(t, r.GasSwapFeeBtc), GasSwapFee: flowtest.Number(t, r.GasSwapFee), ClaimerBounty: flowtest.Number(t, r.ClaimerBounty)},
			invoice: in.Invoice.invoice(t),
		}
		err := q.data()
		in.spoken(t, c, want, r.IntermediaryKey, r.Total, err).compare(t, c, err)
	})
}

func TestVectorsVerifyLNCapacity(t *testing.T) {
	vectors.Each(t, "lp-protocol", "verify-ln-capacity", func(t *testing.T, c *vectors.Case) {
		type node struct{ PublicKey, Capacity string }
		var in struct {
			Payee, Msat        string
			Prefetched, Lookup *node
		}
		c.Input(t, &in)
		var want verdict
		c.Expected(t, &want)
		inv := standInvoice{Msat: &in.Msat}.invoice(t)
		copy(inv.Payee[:], fromHex(t, in.Payee))
		n := in.Prefetched
		if n == nil {
			n = in.Lookup
		}
		var f NodeFact
		if n != nil {
			f.Node = &bitcoin.NodeLiquidity{PublicKey: n.PublicKey, Capacity: flowtest.Number(t, n.Capacity).Int64()}
		}
		err := Node(inv, f, Policy{})
		if want.Class == "Error" && err != nil && !lp.Punishable(err) {
			want.Class = "" // refused, and nobody is blamed
		}
		if want.Error && err == nil && sameBytes(n.PublicKey, in.Payee) {
			c.Differ(t, "lp-claim-hash-bytes")
			want = verdict{}
		}
		want.compare(t, c, err)
		if err := Node(inv, f, Policy{AnyNode: true}); err != nil {
			t.Errorf("switched off, yet %v", err)
		}
	})
}

func TestVectorsVerifyDelivered(t *testing.T) {
	vectors.Each(t, "lp-protocol", "verify-delivered", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Now                int64
			Kind               string
			Expected, Received json.RawMessage
			SignatureValid     bool
			CommitStatus       int
			ExpiredOnChain     bool
		}
		c.Input(t, &in)
		var want verdict
		c.Expected(t, &want)
		var expected, received standData
		trial.Do(t, errors.Join(json.Unmarshal(in.Expected, &expected), json.Unmarshal(in.Received, &received)))
		agreed := trial.Must(standIn{}.Decode(in.Expected))(t)
		legacy, todo := in.Kind == "FROM_BTCLN", lp.DutyOpen
		if legacy {
			todo = lp.DutySign
		}
		e, err := Delivered(standIn{}, agreed, in.Received, legacy)
		if err == nil {
			f := chains.EscrowFact{Head: chains.Block{Time: in.Now}}
			switch {
			case legacy && in.CommitStatus == 0, in.ExpiredOnChain: // expired, by the chain's clock
				f.Head.Time = e.Expiry
			case legacy && in.CommitStatus == 3:
				f.State = chains.EscrowClaimed
			case legacy && in.CommitStatus != 1: // open, or open and refundable
				f.State = chains.EscrowOpen
			}
			if legacy {
				var auth error
				if !in.SignatureValid {
					auth = &chains.AuthError{Reason: "bad signature"}
				}
				err = lp.Openable(e, f, auth, unix(in.Now))
			} else if lp.NextDuty(f).TooLate(e.Expiry, f.Head, unix(in.Now)) { // as the table of the flow asks
				err = lp.Lie(lp.CheckTooLate, "the escrow ends at %d", e.Expiry)
			}
		}
		switch {
		case legacy && !want.Error && !strings.EqualFold(received.Claimer, expected.Claimer):
			c.Differ(t, "lp-own-side")
			want = liesAbout
		case !want.Error && (received.PayIn || !received.PayOut):
			c.Differ(t, "lp-escrow-flags")
			want = liesAbout
		case !want.Error && todo.TooLate(received.Expiry, chains.Block{}, unix(in.Now)):
			c.Differ(t, "lp-delivered-expiry")
			want = liesAbout
		case want.Error && err == nil && sameBytes(received.ClaimHash, expected.ClaimHash):
			c.Differ(t, "lp-claim-hash-bytes")
			want = verdict{}
		}
		want.compare(t, c, err)
	})
}
