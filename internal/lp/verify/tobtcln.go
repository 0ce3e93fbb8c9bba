package verify

import (
	"encoding/hex"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
)

// ToBTCLNExpected is what a TO_BTCLN answer is compared with, for an exact
// output and for the second step of an exact input.
type ToBTCLNExpected struct {
	Agreed
	Invoice *lightning.Invoice // the LP is to pay; with an amount
	Expiry  int64              // of the escrow, Unix seconds, as requested

	// MaxRoutingSats is the cap on routing fees. For an exact input the request
	// caps them in token units, MaxRoutingUnits, and MaxRoutingSats is what those
	// are worth, see [Policy.RoutingSats] (protocol: lp-protocol.md §9 no. 5).
	MaxRoutingSats  *big.Int
	MaxRoutingUnits *big.Int // ExactIn only
	PreparedSats    *big.Int // ExactIn only: what the first step said
}

type toBTCLN struct {
	ToBTCLNExpected
	got  lp.ToBTCLNQuote
	auth Authorized

	sats, fee, network *big.Int
	escrow             chains.Escrow
	price              PriceResult
}

// ToBTCLN checks the answer for a swap to Lightning: the whole escrow, the
// price, every fee, and the authorisation (protocol: lp-protocol.md §6.3, §9).
// Pure.
func ToBTCLN(want ToBTCLNExpected, got lp.ToBTCLNQuote, auth Authorized) (Accepted, error) {
	q := &toBTCLN{ToBTCLNExpected: want, got: got, auth: auth}
	if err := first(q.invoice, q.data, q.market, func() error { return q.authorized(q.auth) }); err != nil {
		return Accepted{}, err
	}
	a := got.Auth
	return Accepted{
		Input: got.Total, Output: q.sats, SwapFee: got.SwapFee, SwapFeeSats: q.fee, NetworkFee: got.MaxFee, NetworkSats: q.network,
		Price: q.price, Expires: auth.Until, Escrow: &q.escrow, Auth: &a, Invoice: want.Invoice, Confidence: got.Confidence,
	}, nil
}

// invoice checks our own side: what is to be paid, and that it is what the LP
// prepared (protocol: lp-protocol.md §9 no. 6).
func (q *toBTCLN) invoice() error {
	if q.Invoice == nil {
		return errUnknown("the invoice is")
	}
	sats, ok := q.Invoice.AmountSats()
	if !ok || sats <= 0 {
		return errUnknown("the invoice's amount is")
	}
	q.sats = big.NewInt(sats)
	if !q.ExactIn {
		return nil
	}
	if q.PreparedSats == nil || !q.PreparedSats.IsInt64() || *q.Invoice.AmountMsat%1000 != 0 || sats != q.PreparedSats.Int64() {
		return lp.Lie(lp.CheckPrepared, "%s sats were prepared, but the invoice is for %d msat", q.PreparedSats, *q.Invoice.AmountMsat)
	}
	return nil
}

func (q *toBTCLN) data() error {
	return first(q.numbers, q.routingFee, q.asked, q.agreedEscrow)
}

func (q *toBTCLN) market() error {
	return first(q.routingPrice, q.announced, q.fair)
}

func (q *toBTCLN) numbers() error {
	g := q.got
	if err := sane(figure{"maxFee", g.MaxFee}, figure{"swapFee", g.SwapFee}, figure{"total", g.Total}, figure{"routingFeeSats", g.RoutingFeeSats}); err != nil {
		return err
	}
	if !(g.Confidence >= 0 && g.Confidence <= 1) {
		return lp.Lie(lp.CheckConfidence, "confidence is %v, must be from 0 to 1", g.Confidence)
	}
	return nil
}

func (q *toBTCLN) routingFee() error {
	if q.MaxRoutingSats == nil {
		return errUnknown("the maximum routing fee is")
	}
	if q.got.RoutingFeeSats.Cmp(q.MaxRoutingSats) > 0 {
		return lp.Lie(lp.CheckRoutingFee, "the routing fee of %s sats is above the accepted maximum of %s", q.got.RoutingFeeSats, q.MaxRoutingSats)
	}
	return nil
}

// asked: of an exact output the invoice is the amount.
func (q *toBTCLN) asked() error {
	if !q.ExactIn {
		return nil
	}
	return q.requested(q.got.Total, nil)
}

func (q *toBTCLN) agreedEscrow() (err error) {
	q.escrow, err = q.sameEscrow(q.got.Escrow, func(got chains.Escrow) chains.Spec {
		return chains.Spec{
			Kind: chains.HTLC, Offerer: q.User, Claimer: q.LP, Token: q.Token.Address, Amount: q.got.Total,
			Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: q.Invoice.PaymentHash},
			Sequence:  got.Sequence, Expiry: q.Expiry, PayIn: true,
		}
	}, chains.Tolerance{})
	return err
}

// routingPrice bounds the tokens that are charged for routing by what the sats
// are worth (protocol: lp-protocol.md §9 no. 4, swap-flows-escrow.md §12 no. 23).
func (q *toBTCLN) routingPrice() error {
	if q.ExactIn {
		if q.MaxRoutingUnits == nil {
			return errUnknown("the maximum routing fee is")
		}
		if q.got.MaxFee.Cmp(q.MaxRoutingUnits) > 0 {
			return lp.Lie(lp.CheckRoutingFee, "the routing fee of %s base units is above the accepted maximum of %s", q.got.MaxFee, q.MaxRoutingUnits)
		}
	}
	if q.Token.Decimals >= 0 {
		if q.Price == nil {
			return errUnknown("the market price is")
		}
		worth, err := FromBitcoinUp(q.got.RoutingFeeSats, q.Price, q.Token.Decimals)
		if err != nil {
			return err
		}
		limit := bigs.Add(bigs.Add(worth, bigs.MulDiv(worth, big.NewInt(q.Policy.tolerance()), million)), big.NewInt(1))
		if q.got.MaxFee.Cmp(limit) > 0 {
			return lp.Lie(lp.CheckRoutingFee, "the routing fee is %s base units for %s sats, which are worth only %s", q.got.MaxFee, q.got.RoutingFeeSats, worth)
		}
	}
	net := bigs.Sub(bigs.Sub(q.got.Total, q.got.SwapFee), q.got.MaxFee)
	if net.Sign() <= 0 {
		return lp.Lie(lp.CheckNumbers, "the fees are at least as large as the total")
	}
	q.fee, q.network = bigs.MulDiv(q.got.SwapFee, q.sats, net), bigs.MulDiv(q.got.MaxFee, q.sats, net)
	return nil
}

func (q *toBTCLN) announced() error {
	return q.acceptedFee(lp.CheckFee, q.fee, q.sats, q.BaseFee, q.Token, q.Price)
}

func (q *toBTCLN) fair() (err error) {
	q.price, err = q.fairSend(q.sats, bigs.Sub(q.got.Total, q.got.MaxFee), q.fee)
	return err
}

// PreparedToBTCLN checks the first step of an exact input: how many sats
// the invoice is to be made out for. Whether it is enough is judged with the
// quote. Pure.
func PreparedToBTCLN(got lp.PreparedToBTCLN) error {
	if err := sane(figure{"amount", got.Amount}); err != nil {
		return err
	}
	if got.Amount.Sign() == 0 || !got.Amount.IsInt64() || got.Amount.Int64() > rawtx.MaxMoney {
		return lp.Lie(lp.CheckPrepared, "the prepared amount of %s sats is out of range", got.Amount)
	}
	if b, err := hex.DecodeString(got.ReqID); err != nil || len(b) != 32 {
		return lp.Lie(lp.CheckPrepared, "reqId must be 64 hexadecimal digits")
	}
	return nil
}
