package verify

import (
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
)

// FromBTCLNExpected is what a legacy FROM_BTCLN answer is compared with.
type FromBTCLNExpected struct {
	Agreed
	InvoiceExpected
}

type fromBTCLN struct {
	FromBTCLNExpected
	got   lp.FromBTCLNQuote
	funds *big.Int
	node  NodeFact

	invoice *lightning.Invoice
	sats    *big.Int
	fee     *big.Int
	price   PriceResult
	expiry  time.Time
}

// FromBTCLN checks the answer for a legacy swap from Lightning (protocol:
// lp-protocol.md §6.5, §9). funds is what the LP can pay out of the token. The
// escrow in the result is what [Delivered] compares the LP's with. Pure.
func FromBTCLN(want FromBTCLNExpected, got lp.FromBTCLNQuote, funds *big.Int, node NodeFact) (Accepted, error) {
	q := &fromBTCLN{FromBTCLNExpected: want, got: got, funds: funds, node: node}
	if err := first(q.data, q.market, q.ends, func() error { return covers(q.funds, q.got.Total) }, func() error { return Node(q.invoice, q.node, q.Policy) }); err != nil {
		return Accepted{}, err
	}
	escrow, err := q.lightningEscrow(q.PaymentHash, got.Total, got.SecurityDeposit, nil)
	if err != nil {
		return Accepted{}, err
	}
	return Accepted{
		Input: q.sats, Output: got.Total, SwapFee: got.SwapFee, SwapFeeSats: q.fee, Price: q.price, Deposit: got.SecurityDeposit,
		Expires: q.expiry, Escrow: &escrow, Invoice: q.invoice,
	}, nil
}

func (q *fromBTCLN) data() error {
	return first(q.numbers, q.key, q.decode, q.pays, q.asked)
}

func (q *fromBTCLN) market() error {
	return first(q.announced, q.fair, func() error { return q.deposit(q.got.SecurityDeposit, q.sats) })
}

func (q *fromBTCLN) numbers() error {
	g := q.got
	if err := sane(figure{"swapFee", g.SwapFee}, figure{"total", g.Total}, figure{"securityDeposit", g.SecurityDeposit}); err != nil {
		return err
	}
	if g.Total.Sign() == 0 {
		return lp.Lie(lp.CheckNumbers, "the payout is zero")
	}
	return nil
}

func (q *fromBTCLN) key() error { return q.ownKey(q.got.Address) }

// ownKey checks that an LP goes by the address that it has proven to hold.
func (a Agreed) ownKey(address string) error {
	if !sameAddress(address, a.LP) {
		return lp.Lie(lp.CheckLPKey, "names the address %.80q, but has proven %s", address, a.LP)
	}
	return nil
}

func (q *fromBTCLN) decode() (err error) {
	if q.invoice == nil {
		q.invoice, err = q.readInvoice(q.got.Invoice)
	}
	return err
}

func (q *fromBTCLN) pays() error {
	if err := q.check(q.invoice); err != nil {
		return err
	}
	q.sats = sats(q.invoice)
	q.fee = bigs.MulDiv(q.got.SwapFee, q.sats, bigs.Add(q.got.Total, q.got.SwapFee))
	return nil
}

func (q *fromBTCLN) asked() error { return q.requested(q.sats, q.got.Total) }

func (q *fromBTCLN) ends() (err error) {
	q.expiry, err = q.expires(q.invoice)
	return err
}

func (q *fromBTCLN) announced() error {
	return q.acceptedFee(lp.CheckFee, q.fee, q.sats, q.BaseFee, q.Token, q.Price)
}

func (q *fromBTCLN) fair() (err error) {
	q.price, err = q.fairReceive(q.sats, q.got.Total, q.fee, nil)
	return err
}

// lightningEscrow builds the escrow that the LP has to open once it holds the
// payment; its expiry is a placeholder (protocol: chain-evm.md §3.5). The deposit and the
// bounty are native base units; nil is 0.
func (a Agreed) lightningEscrow(paymentHash [32]byte, amount, deposit, bounty *big.Int) (chains.Escrow, error) {
	if err := a.twoParties("dstAddress"); err != nil {
		return chains.Escrow{}, err
	}
	return a.Contract.Expect(chains.Spec{
		Kind: chains.HTLC, Offerer: a.LP, Claimer: a.User, Token: a.Token.Address, Amount: amount,
		Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: paymentHash}, PayOut: true, Expiry: a.Now.Unix(),
		SecurityDeposit: deposit, ClaimerBounty: bounty, DepositToken: a.Native.Address,
	})
}
