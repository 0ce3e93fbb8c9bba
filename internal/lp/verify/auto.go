package verify

import (
	"math/big"
	"time"

	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
)

// FromBTCLNAutoExpected is what a FROM_BTCLN_AUTO answer is compared with.
type FromBTCLNAutoExpected struct {
	Agreed
	InvoiceExpected
	GasAmount *big.Int // native base units, as sent; nil is 0
	Bounty    *big.Int // the watchtower's, native base units, as sent; nil is 0
}

type fromBTCLNAuto struct {
	FromBTCLNAutoExpected
	got   lp.FromBTCLNAutoQuote
	funds *big.Int
	node  NodeFact

	invoice *lightning.Invoice
	sats    *big.Int
	price   PriceResult
	gas     *PriceResult
	expiry  time.Time
}

// FromBTCLNAuto checks the answer for a swap from Lightning that the LP
// opens (protocol: lp-protocol.md §6.6, §9). funds is what the LP can pay out of
// the token. The escrow in the result is what [Delivered] compares the
// LP's with. Pure.
func FromBTCLNAuto(want FromBTCLNAutoExpected, got lp.FromBTCLNAutoQuote, funds *big.Int, node NodeFact) (Accepted, error) {
	q := &fromBTCLNAuto{FromBTCLNAutoExpected: want, got: got, funds: funds, node: node}
	if err := first(q.data, q.market, q.ends, func() error { return covers(q.funds, q.got.Total) }, func() error { return Node(q.invoice, q.node, q.Policy) }); err != nil {
		return Accepted{}, err
	}
	bounty := bigs.OrZero(q.Bounty)
	escrow, err := q.lightningEscrow(q.PaymentHash, got.Total, bigs.Add(bigs.OrZero(q.GasAmount), bounty), bounty)
	if err != nil {
		return Accepted{}, err
	}
	return Accepted{
		Input: q.sats, Output: got.Total, SwapFee: got.SwapFee, SwapFeeSats: got.SwapFeeBTC, Price: q.price, GasPrice: q.gas,
		Expires: q.expiry, Escrow: &escrow, Invoice: q.invoice,
	}, nil
}

func (q *fromBTCLNAuto) data() error {
	return first(q.numbers, q.key, q.decode, q.pays, q.btcSum, q.feeSum, q.bounty, q.gasDrop, q.asked)
}

func (q *fromBTCLNAuto) market() error {
	return first(q.announced, q.gasAnnounced, q.fairGasAndBounty, q.fair, // gas first: what it costs decides what is left
		func() error { return q.proportionate(q.Bounty, q.sats) })
}

func (q *fromBTCLNAuto) numbers() error {
	g := q.got
	return sane(figure{"btcAmountSwap", g.BTCAmountSwap}, figure{"btcAmountGas", g.BTCAmountGas}, figure{"total", g.Total}, figure{"totalGas", g.TotalGas},
		figure{"totalFeeBtc", g.TotalFeeBTC}, figure{"swapFeeBtc", g.SwapFeeBTC}, figure{"swapFee", g.SwapFee},
		figure{"gasSwapFeeBtc", g.GasSwapFeeBTC}, figure{"gasSwapFee", g.GasSwapFee}, figure{"claimerBounty", g.ClaimerBounty})
}

func (q *fromBTCLNAuto) key() error { return q.ownKey(q.got.Address) }

func (q *fromBTCLNAuto) decode() (err error) {
	if q.invoice == nil {
		q.invoice, err = q.readInvoice(q.got.Invoice)
	}
	return err
}

func (q *fromBTCLNAuto) pays() error {
	if err := q.check(q.invoice); err != nil {
		return err
	}
	q.sats = sats(q.invoice)
	return nil
}

func (q *fromBTCLNAuto) btcSum() error {
	if !same(bigs.Add(q.got.BTCAmountGas, q.got.BTCAmountSwap), q.sats) {
		return lp.Lie(lp.CheckBTCSum, "swap and gas amounts of %s and %s sats do not add up to the invoice's %s sats", q.got.BTCAmountSwap, q.got.BTCAmountGas, q.sats)
	}
	return nil
}

func (q *fromBTCLNAuto) feeSum() error {
	if !same(bigs.Add(q.got.GasSwapFeeBTC, q.got.SwapFeeBTC), q.got.TotalFeeBTC) {
		return lp.Lie(lp.CheckTotalFee, "fees of %s and %s sats do not add up to the stated total of %s", q.got.SwapFeeBTC, q.got.GasSwapFeeBTC, q.got.TotalFeeBTC)
	}
	return nil
}

func (q *fromBTCLNAuto) bounty() error {
	if want := bigs.OrZero(q.Bounty); !same(q.got.ClaimerBounty, want) {
		return lp.Lie(lp.CheckBounty, "the claimer bounty is %s, requested was %s", q.got.ClaimerBounty, want)
	}
	return nil
}

func (q *fromBTCLNAuto) gasDrop() error {
	if want := bigs.OrZero(q.GasAmount); !same(q.got.TotalGas, want) {
		return lp.Lie(lp.CheckGas, "the gas amount is %s, requested was %s", q.got.TotalGas, want)
	}
	return nil
}

func (q *fromBTCLNAuto) asked() error { return q.requested(q.sats, q.got.Total) }

func (q *fromBTCLNAuto) ends() (err error) {
	q.expiry, err = q.expires(q.invoice)
	return err
}

func (q *fromBTCLNAuto) announced() error {
	return q.acceptedFee(lp.CheckFee, q.got.SwapFeeBTC, q.got.BTCAmountSwap, q.BaseFee, q.Token, q.Price)
}

func (q *fromBTCLNAuto) gasAnnounced() error {
	return q.acceptedFee(lp.CheckGasFee, q.got.GasSwapFeeBTC, q.got.BTCAmountGas, nil, q.Native, q.NativePrice)
}

func (q *fromBTCLNAuto) fair() (err error) {
	q.price, err = q.fairReceive(q.got.BTCAmountSwap, q.got.Total, q.got.SwapFeeBTC, nil)
	return err
}

// fairGasAndBounty prices gas drop and bounty, without a gas drop too: else all
// of the payment could be called gas (protocol: lp-protocol.md §9 no. 8).
func (q *fromBTCLNAuto) fairGasAndBounty() (err error) {
	q.gas, err = q.fairGas(q.got.BTCAmountGas, bigs.Add(q.got.TotalGas, q.got.ClaimerBounty), q.got.GasSwapFeeBTC)
	return err
}
