package verify

import (
	"math"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lp"
)

// FromBTCExpected is what a legacy FROM_BTC answer is compared with.
type FromBTCExpected struct {
	Agreed
	Network  bitcoin.Network
	Sequence uint64    // as sent
	Bounty   lp.Bounty // as sent
}

// maxConfirmations is the most that a legacy swap may wait for.
const maxConfirmations = 6

// How long the escrow of a legacy swap lasts, in seconds: with the settings that LPs
// are shipped with (protocol: lp-protocol.md §8.4), and at most. Until then deposit
// and payment are locked, and a watchtower's pay grows.
const (
	FromBTCLasts    = 21_600
	maxFromBTCLasts = 2 * FromBTCLasts
)

type fromBTC struct {
	FromBTCExpected
	got   lp.FromBTCQuote
	auth  Authorized
	funds *big.Int
	told  bool // by a service: the bounty is bounded by the policy alone

	address bitcoin.Address
	escrow  chains.Escrow
	fee     *big.Int // sats
	reward  *big.Int // the bounty, sats
	price   PriceResult
}

// FromBTC checks the answer for a legacy swap from Bitcoin (protocol:
// lp-protocol.md §6.4, §9). funds is what the LP can pay out of the token. Pure.
func FromBTC(want FromBTCExpected, got lp.FromBTCQuote, auth Authorized, funds *big.Int) (Accepted, error) {
	q := &fromBTC{FromBTCExpected: want, got: got, auth: auth, funds: funds}
	if err := first(q.data, q.market, q.lasts, func() error { return q.authorized(q.auth) }, func() error { return covers(q.funds, q.escrow.Amount) }); err != nil {
		return Accepted{}, err
	}
	a := got.Auth
	return Accepted{
		Input: got.Amount, Output: got.Total, SwapFee: got.SwapFee, SwapFeeSats: q.fee, NetworkSats: q.reward, Price: q.price, Deposit: q.escrow.SecurityDeposit,
		Expires: auth.Until, Escrow: &q.escrow, Auth: &a,
		Payment: &Payment{Address: q.address.String(), Script: q.address.Script(), Sats: got.Amount.Int64(), Confirmations: uint16(got.Confirmations)},
	}, nil
}

func (q *fromBTC) data() error {
	return first(q.numbers, q.asked, q.confirmations, q.payTo, q.agreedEscrow, q.sendWindow)
}

func (q *fromBTC) market() error {
	return first(q.announced, q.bountyLimit, q.fair, func() error { return q.deposit(q.escrow.SecurityDeposit, q.got.Amount) })
}

// bountyLimit bounds the bounty, which grows with the time until the end that
// the LP names. If the bounty of a usual end is too much already, the chain's fees
// are what is dear, and the LP is not blamed.
func (q *fromBTC) bountyLimit() (err error) {
	q.reward = new(big.Int)
	if bounty := q.escrow.ClaimerBounty; bounty != nil && bounty.Sign() > 0 {
		if q.reward, err = q.nativeSats(bounty); err != nil {
			return err
		}
	}
	if err = q.Policy.Watchtower(q.reward, q.got.Amount); err == nil {
		return nil
	}
	if usual := q.proportionate(q.usualBounty(), q.got.Amount); usual != nil {
		return usual
	}
	return lp.Lie(lp.CheckBounty, "%w", err)
}

// usualBounty is the bounty of an escrow that ends when escrows usually do, on a
// clock that may differ by a block's time.
func (q *fromBTC) usualBounty() *big.Int {
	return q.bounty(q.Now.Unix() + FromBTCLasts + lp.BlockSeconds)
}

func (q *fromBTC) numbers() error {
	g := q.got
	if err := sane(figure{"amount", g.Amount}, figure{"swapFee", g.SwapFee}, figure{"total", g.Total}); err != nil {
		return err
	}
	if g.Amount.Sign() == 0 || !g.Amount.IsInt64() || g.Amount.Int64() > rawtx.MaxMoney || g.Total.Sign() == 0 {
		return lp.Lie(lp.CheckNumbers, "amounts must be positive: %s sats for %s base units", g.Amount, g.Total)
	}
	q.fee = bigs.MulDiv(g.SwapFee, g.Amount, bigs.Add(g.Total, g.SwapFee))
	return nil
}

func (q *fromBTC) asked() error { return q.requested(q.got.Amount, q.got.Total) }

func (q *fromBTC) confirmations() error {
	if q.got.Confirmations < 1 || q.got.Confirmations > maxConfirmations {
		return lp.Lie(lp.CheckConfirmations, "requires %d confirmations, accepted are 1 to %d", q.got.Confirmations, maxConfirmations)
	}
	return nil
}

func (q *fromBTC) payTo() (err error) {
	if q.address, err = bitcoin.ParseAddress(q.got.BTCAddress, q.Network); err != nil {
		return lp.Lie(lp.CheckAddress, "%w", err)
	}
	return nil
}

// agreedEscrow compares the whole escrow; the deposit is the LP's choice, which
// is bounded where the market is known.
func (q *fromBTC) agreedEscrow() (err error) {
	q.escrow, err = q.sameEscrow(q.got.Escrow, func(got chains.Escrow) chains.Spec {
		return chains.Spec{
			Kind: chains.Onchain, Offerer: q.LP, Claimer: q.User, Token: q.Token.Address, Amount: q.got.Total,
			Condition: chains.Condition{Kind: chains.Onchain, Script: q.address.Script(), Sats: q.got.Amount.Uint64(), Confirmations: uint16(q.got.Confirmations)},
			Sequence:  new(big.Int).SetUint64(q.Sequence), Expiry: got.Expiry, PayOut: true,
			SecurityDeposit: got.SecurityDeposit, ClaimerBounty: q.agreedBounty(got), DepositToken: q.Native.Address, Hints: true,
		}
	}, chains.Tolerance{})
	return err
}

func (q *fromBTC) agreedBounty(got chains.Escrow) *big.Int {
	if q.told {
		return got.ClaimerBounty
	}
	return q.bounty(got.Expiry)
}

func (q *fromBTC) bounty(expiry int64) *big.Int {
	if q.told || expiry < q.Bounty.StartTimestamp || expiry > math.MaxInt64/2 {
		return new(big.Int) // the window is refused next
	}
	return q.Bounty.At(expiry)
}

func (q *fromBTC) sendWindow() error {
	if end := lp.SendTimeout(q.escrow.Expiry, q.got.Confirmations); lp.DutySignToPay.TooLate(end, chains.Block{}, q.Now) {
		return lp.Lie(lp.CheckSendWindow, "only %d s are left to pay, at least %s are required", end-q.Now.Unix(), lp.DutySignToPay.Margin())
	}
	return nil
}

// lasts bounds the time until the end, which is the LP's choice.
func (q *fromBTC) lasts() error {
	if left := q.escrow.Expiry - q.Now.Unix(); left > maxFromBTCLasts {
		return lp.Late(lp.CheckExpiry, "the escrow ends in %d s, at most %d s are accepted", left, maxFromBTCLasts)
	}
	return nil
}

func (q *fromBTC) announced() error {
	return q.acceptedFee(lp.CheckFee, q.fee, q.got.Amount, q.BaseFee, q.Token, q.Price)
}

// fair counts what the bounty costs more than that of a usual end as paid out less:
// the LP chose the end, and can take the bounty itself.
func (q *fromBTC) fair() error {
	units := q.got.Total
	if dearer := bigs.Sub(bigs.OrZero(q.escrow.ClaimerBounty), q.usualBounty()); dearer.Sign() > 0 && q.Token.Decimals >= 0 {
		sats, err := q.nativeSats(dearer)
		if err != nil {
			return err
		}
		if q.Price == nil {
			return errUnknown("the market price is")
		}
		lost, err := FromBitcoinUp(sats, q.Price, q.Token.Decimals)
		if err != nil {
			return err
		}
		units = bigs.Sub(units, lost)
	}
	var err error
	q.price, err = q.fairReceive(q.got.Amount, units, q.fee, nil)
	return err
}
