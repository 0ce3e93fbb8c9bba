package verify

import (
	"math/big"
	"strconv"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lp"
)

// ToBTCExpected is what a TO_BTC answer is compared with.
type ToBTCExpected struct {
	Agreed
	Script             []byte // of the address that is paid
	Nonce              uint64
	Confirmations      uint16
	ConfirmationTarget uint16
	FeeRate            float64 // own estimate, sats/vB
}

// payoutSafety is how many times the usual an escrow may last (protocol: lp-protocol.md
// §6.2).
const payoutSafety = 4

// PayoutTarget is within how many blocks a payout to Bitcoin is asked to confirm (protocol:
// swap-flows-escrow.md §5.1).
const PayoutTarget = 3

// MaxPayoutConfirmations is the most that a payout may have to wait for, which with
// [PayoutTarget] bounds how long the payer's tokens are locked.
const MaxPayoutConfirmations = 6

// ToBTCMaxExpiry returns the latest end of a TO_BTC escrow that is accepted, in
// Unix seconds: until then the tokens of a user are locked whose LP does not pay.
func ToBTCMaxExpiry(now time.Time, confirmations, target uint16) int64 {
	return now.Unix() + (int64(confirmations)+int64(target)+lp.SendGraceBlocks)*payoutSafety*lp.BlockSeconds
}

type toBTC struct {
	ToBTCExpected
	got  lp.ToBTCQuote
	auth Authorized

	escrow            chains.Escrow
	fee, network, net *big.Int // sats, sats, and units without both
	price             PriceResult
}

// ToBTC checks the answer for a swap to Bitcoin: the whole escrow, the
// price, every fee, and the authorisation (protocol: lp-protocol.md §6.2, §9).
// Pure.
func ToBTC(want ToBTCExpected, got lp.ToBTCQuote, auth Authorized) (Accepted, error) {
	q := &toBTC{ToBTCExpected: want, got: got, auth: auth}
	if err := first(q.data, q.market, func() error { return q.authorized(q.auth) }); err != nil {
		return Accepted{}, err
	}
	a := got.Auth
	return Accepted{
		Input: got.Total, Output: got.Amount, SwapFee: got.SwapFee, SwapFeeSats: q.fee, NetworkFee: got.NetworkFee, NetworkSats: q.network,
		Price: q.price, Expires: auth.Until, Escrow: &q.escrow, Auth: &a,
	}, nil
}

// data checks what does not depend on the market.
func (q *toBTC) data() error {
	return first(q.numbers, q.totalFee, q.asked, q.agreedEscrow, q.expiry)
}

func (q *toBTC) market() error {
	return first(q.networkFee, q.announced, q.fair)
}

func (q *toBTC) numbers() error {
	g := q.got
	if err := sane(figure{"amount", g.Amount}, figure{"networkFee", g.NetworkFee}, figure{"swapFee", g.SwapFee},
		figure{"totalFee", g.TotalFee}, figure{"total", g.Total}); err != nil {
		return err
	}
	if g.Amount.Sign() == 0 || !g.Amount.IsInt64() || g.Amount.Int64() > rawtx.MaxMoney {
		return lp.Lie(lp.CheckNumbers, "the amount of %s sats is out of range", g.Amount)
	}
	q.net = bigs.Sub(bigs.Sub(g.Total, g.SwapFee), g.NetworkFee)
	if q.net.Sign() <= 0 {
		return lp.Lie(lp.CheckNumbers, "the fees are at least as large as the total")
	}
	q.fee, q.network = bigs.MulDiv(g.SwapFee, g.Amount, q.net), bigs.MulDiv(g.NetworkFee, g.Amount, q.net)
	return nil
}

func (q *toBTC) totalFee() error {
	if !same(q.got.TotalFee, bigs.Add(q.got.SwapFee, q.got.NetworkFee)) {
		return lp.Lie(lp.CheckTotalFee, "totalFee is %s, which is not the sum of swapFee %s and networkFee %s", q.got.TotalFee, q.got.SwapFee, q.got.NetworkFee)
	}
	return nil
}

func (q *toBTC) asked() error { return q.requested(q.got.Total, q.got.Amount) }

func (q *toBTC) agreedEscrow() (err error) {
	q.escrow, err = q.sameEscrow(q.got.Escrow, func(got chains.Escrow) chains.Spec {
		return chains.Spec{
			Kind: chains.OnchainNonced, Offerer: q.User, Claimer: q.LP, Token: q.Token.Address, Amount: q.got.Total,
			Condition: chains.Condition{Kind: chains.OnchainNonced, Script: q.Script, Sats: q.got.Amount.Uint64(), Nonce: q.Nonce, Confirmations: q.Confirmations},
			Sequence:  got.Sequence, Expiry: got.Expiry, PayIn: true,
		}
	}, chains.Tolerance{})
	return err
}

func (q *toBTC) expiry() error {
	if limit := ToBTCMaxExpiry(q.Now, q.Confirmations, q.ConfirmationTarget); q.escrow.Expiry > limit {
		return lp.Late(lp.CheckExpiry, "the escrow expires at %d, later than the accepted %d", q.escrow.Expiry, limit)
	}
	if q.escrow.Expiry <= q.Now.Unix() {
		return lp.Late(lp.CheckExpiry, "the escrow has already expired at %d", q.escrow.Expiry)
	}
	return nil
}

// networkFee bounds what the payout transaction may cost, by the rate that the
// LP names and that rate by our own (protocol: lp-protocol.md §9 no. 4).
func (q *toBTC) networkFee() error {
	if !(q.FeeRate > 0) {
		return errUnknown("the Bitcoin fee rate is")
	}
	rate, err := q.rate()
	if err != nil {
		return err
	}
	if f, _ := rate.Float64(); f > MaxFeeRate(q.FeeRate) {
		return doubt(lp.CheckNetworkFee, "the payout's fee rate of %s sat/vB is above the accepted maximum of %g", rateText(rate), MaxFeeRate(q.FeeRate))
	}
	if q.Price == nil && q.Token.Decimals >= 0 {
		return errUnknown("the market price is")
	}
	sats := q.network
	if q.Token.Decimals >= 0 {
		if sats, err = ToBitcoin(q.got.NetworkFee, q.Price, q.Token.Decimals); err != nil {
			return err
		}
	}
	vsize := q.Policy.PayoutVSize
	if vsize <= 0 {
		vsize = 400
	}
	if most := q.Policy.minerFee(q.got.Amount); sats.Cmp(most) > 0 {
		return doubt(lp.CheckNetworkFee, "the network fee is worth %s sats, above the accepted maximum of %s for %s sats", sats, most, q.got.Amount)
	}
	limit := ceil(new(big.Rat).Mul(rate, new(big.Rat).SetInt64(vsize)))
	limit.Add(limit, bigs.MulDiv(limit, big.NewInt(q.Policy.tolerance()), million))
	if sats.Cmp(limit) > 0 {
		return doubt(lp.CheckNetworkFee, "the network fee is worth %s sats, but a payout at %s sat/vB costs at most %s", sats, rateText(rate), limit)
	}
	return nil
}

// rate is the fee rate of the payout, in sats/vB: what the LP calls the exact one,
// if it does, which must agree with the other (protocol: lp-next.md).
func (q *toBTC) rate() (*big.Rat, error) {
	if err := sane(figure{"satsPervByte", q.got.SatsPerVB}); err != nil {
		return nil, err
	}
	whole := new(big.Rat).SetInt(q.got.SatsPerVB)
	if q.got.ExactSatsPerVB == nil {
		return whole, nil
	}
	exact := new(big.Rat).SetFloat64(*q.got.ExactSatsPerVB)
	if exact == nil || exact.Sign() < 0 || new(big.Int).Quo(exact.Num(), exact.Denom()).Cmp(q.got.SatsPerVB) != 0 {
		return nil, lp.Lie(lp.CheckNetworkFee, "the payout's fee rate is %v sat/vB, but %s when rounded down", *q.got.ExactSatsPerVB, q.got.SatsPerVB)
	}
	return exact, nil
}

func rateText(rate *big.Rat) string {
	f, _ := rate.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// ceil returns the smallest whole number that is not below r.
func ceil(r *big.Rat) *big.Int {
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func (q *toBTC) announced() error {
	return q.acceptedFee(lp.CheckFee, q.fee, q.got.Amount, q.BaseFee, q.Token, q.Price)
}

func (q *toBTC) fair() (err error) {
	q.price, err = q.fairSend(q.got.Amount, bigs.Sub(q.got.Total, q.got.NetworkFee), q.fee)
	return err
}
