package lp

import (
	"encoding/json"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/vectors"
)

// num reads a decimal string.
type num struct{ *big.Int }

func (n *num) UnmarshalJSON(b []byte) error {
	var s string
	if string(b) == "null" {
		return nil
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	var ok bool
	if n.Int, ok = new(big.Int).SetString(s, 10); !ok {
		return errors.New("not a number: " + s)
	}
	return nil
}

// outcome is a refusal as the vectors write it.
func outcome(err error) any {
	var r *refusal
	if !errors.As(err, &r) {
		return err
	}
	return object{{"error", true}, {"code", r.Code}, {"msg", r.Msg}, {"data", r.Data}}
}

func TestVectorsConvert(t *testing.T) {
	t.Parallel()
	vectors.Each(t, "lp-protocol", "convert-lp", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Sats, Token       num
			Decimals          int
			PriceUSatPerToken num
		}
		c.Input(t, &in)
		p := Price{in.Decimals, in.PriceUSatPerToken.Int}
		vectors.SameJSON(t, c.Want(t), object{
			{"fromBtcDown", p.fromBTC(in.Sats.Int, false).String()}, {"fromBtcUp", p.fromBTC(in.Sats.Int, true).String()},
			{"toBtcDown", p.toBTC(in.Token.Int, false).String()}, {"toBtcUp", p.toBTC(in.Token.Int, true).String()},
		})
	})
}

type quoteInput struct {
	ExactIn                                                      bool
	Amount, PriceUSatPerToken, NetworkFeeSats, Min, Max, BaseFee num
	FeePPM                                                       num
	Decimals                                                     int
	Gas                                                          *struct {
		Amount, PriceUSatPerToken num
		Decimals                  int
	}
	GasTokenMax map[string]num
}

func (in quoteInput) terms() Terms {
	return Terms{in.BaseFee.Int64(), in.FeePPM.Int64(), in.Min.Int64(), in.Max.Int64()}
}

func TestVectorsQuoteToBitcoin(t *testing.T) {
	t.Parallel()
	vectors.Each(t, "lp-protocol", "lp-quote-tobtc", func(t *testing.T, c *vectors.Case) {
		var in quoteInput
		c.Input(t, &in)
		q, err := in.terms().payout(Price{in.Decimals, in.PriceUSatPerToken.Int}, in.ExactIn, in.Amount.Int,
			func(*big.Int) (*big.Int, error) { return in.NetworkFeeSats.Int, nil })
		if err != nil {
			vectors.SameJSON(t, c.Want(t), outcome(err))
			return
		}
		vectors.SameJSON(t, c.Want(t), object{{"amountBD", q.amount.String()}, {"swapFee", q.swapFee.String()}, {"swapFeeInToken", q.swapFeeTok.String()},
			{"networkFee", q.netFee.String()}, {"networkFeeInToken", q.netTok.String()}, {"totalInToken", q.all.String()}})
	})
}

func TestVectorsQuoteFromBitcoin(t *testing.T) {
	t.Parallel()
	vectors.Each(t, "lp-protocol", "lp-quote-frombtc", func(t *testing.T, c *vectors.Case) {
		var in quoteInput
		c.Input(t, &in)
		var gas *gasRequest
		if in.Gas != nil {
			gas = &gasRequest{Price{in.Gas.Decimals, in.Gas.PriceUSatPerToken.Int}, in.Gas.Amount.Int}
		}
		q, err := in.terms().receipt(Price{in.Decimals, in.PriceUSatPerToken.Int}, in.ExactIn, in.Amount.Int, gas, in.GasTokenMax["C"].Int, false)
		if err != nil {
			vectors.SameJSON(t, c.Want(t), outcome(err))
			return
		}
		got := object{{"amountBD", q.amount.String()}, {"swapFee", q.swapFee.String()}, {"swapFeeInToken", q.swapFeeTok.String()}, {"totalInToken", q.total.String()},
			{"amountBDgas", q.gas.String()}, {"gasSwapFee", q.gasFee.String()}, {"gasSwapFeeInToken", q.gasTok.String()}}
		if gas != nil {
			got = append(got, member{"totalInGasToken", q.totalInSmall.String()})
		}
		vectors.SameJSON(t, c.Want(t), got)
	})
}

func TestVectorsDerived(t *testing.T) {
	t.Parallel()
	text := func(n int64) string { return big.NewInt(n).String() }
	vectors.Each(t, "lp-protocol", "lp-derived", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Kind                                                               string
			ConfirmationTarget, Confirmations, Now                             int64
			Nonce, AddFee, FeePerBlock, SafetyFactor, StartTimestamp, AddBlock num
			Expiry, AmountSats, SwapFeeSats, ExpiryTimeout                     num
			BaseSecurityDeposit, BaseMultiplierPPM, PriceUSatPerToken          num
			APY                                                                float64
			Decimals                                                           int
			MaxFeeSats, ProbedFeeMsat                                          num
			SecondsToExpiry, Blockheight, Confidence                           int64
			Timeouts                                                           []uint32
		}
		c.Input(t, &in)
		var got any
		switch in.Kind {
		case "toBtcExpiryDelta":
			required, quoted := toBTCTime(in.ConfirmationTarget, in.Confirmations)
			got = object{{"requiredDelta", text(required)}, {"quoteExpiryDelta", text(quoted)}}
		case "nonce":
			if err := checkNonce(in.Nonce.Int, in.Now); err != nil {
				got = outcome(err)
				break
			}
			lockTime, sequence, err := rawtx.NonceFields(in.Nonce.Uint64(), time.Unix(in.Now, 0))
			got = object{{"ok", true}, {"walletAccepts", err == nil}, {"locktime", lockTime}, {"sequences", []uint32{sequence, sequence}}}
		case "claimerBounty":
			b := Bounty{in.AddFee.Int, in.FeePerBlock.Int, in.SafetyFactor.Int, in.AddBlock.Int, in.StartTimestamp.Int64()}
			got = object{{"claimerBounty", b.Until(in.Expiry.Int64()).String()}}
		case "securityDeposit":
			p := Price{in.Decimals, in.PriceUSatPerToken.Int}
			d := SecurityDeposit(p, in.BaseSecurityDeposit.Int, in.BaseMultiplierPPM.Int, in.AmountSats.Int, in.SwapFeeSats.Int, int64(in.APY*1e6), in.ExpiryTimeout.Int64())
			got = object{{"securityDeposit", d.String()}}
		case "routingFee":
			fee, confidence := routingFee(in.AmountSats.Int64(), in.MaxFeeSats.Int64(), in.ProbedFeeMsat.Int64(), in.Confidence)
			got = object{{"networkFee", text(fee)}, {"confidence", confidence}, {"maxTimeoutHeight", in.Blockheight + usableCLTV(in.SecondsToExpiry)},
				{"maxFeeMsat", text(in.MaxFeeSats.Int64() * 1000)}, {"amountMsat", text(in.AmountSats.Int64() * 1000)}}
		case "htlcExpiry":
			lowest := in.Timeouts[0]
			for _, at := range in.Timeouts {
				lowest = min(lowest, at)
			}
			if err := checkHeld(uint32(in.Blockheight), lowest, minHeldCLTV); err != nil {
				got = outcome(err)
				break
			}
			got = object{{"escrowTimeoutSeconds", text(heldEscrowTime)}}
		default:
			t.Fatalf("unknown kind %s", in.Kind)
		}
		vectors.SameJSON(t, c.Want(t), got)
	})
}
