package verify

import (
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
)

// ToldSend are the figures of a swap from a smart chain as a service tells them,
// which is all that can be checked before its escrow is seen.
type ToldSend struct {
	Input, SwapFee, NetworkFee *big.Int // base units of the token; the fees are within the input
	Sats                       *big.Int // that the recipient gets
	Lightning                  bool     // the recipient is paid over Lightning
}

// Told checks the requested side, the price and the fees of a swap to Bitcoin
// or Lightning (protocol: lp-protocol.md §9). There is no announced fee to compare
// with, so that the policy alone bounds the fee. Of want it uses the amount, the token, the
// price and the policy. Pure.
func Told(want Agreed, got ToldSend) error {
	if err := sane(figure{"inputAmount", got.Input}, figure{"outputAmount", got.Sats}, figure{"fees.swap", got.SwapFee}, figure{"fees.networkOutput", got.NetworkFee}); err != nil {
		return err
	}
	if err := want.requested(got.Input, got.Sats); err != nil {
		return err
	}
	if got.Sats.Sign() == 0 || !got.Sats.IsInt64() || got.Sats.Int64() > rawtx.MaxMoney {
		return lp.Lie(lp.CheckNumbers, "the output of %s sats is out of range", got.Sats)
	}
	net := bigs.Sub(bigs.Sub(got.Input, got.SwapFee), got.NetworkFee)
	if net.Sign() <= 0 {
		return lp.Lie(lp.CheckNumbers, "the fees are at least as large as the input")
	}
	want.Policy.AnyFee = true
	fee := bigs.MulDiv(got.SwapFee, got.Sats, net)
	if err := want.acceptedFee(lp.CheckFee, fee, got.Sats, nil, want.Token, want.Price); err != nil {
		return err
	}
	if err := want.toldNetworkFee(got); err != nil {
		return err
	}
	_, err := want.fairSend(got.Sats, bigs.Sub(got.Input, got.NetworkFee), fee)
	return err
}

// toldNetworkFee bounds what the payout may cost by the usual cap on routing fees, or
// by what the policy leaves to miners.
func (a Agreed) toldNetworkFee(got ToldSend) error {
	if a.Token.Decimals < 0 {
		return nil
	}
	if a.Price == nil {
		return errUnknown("the market price is")
	}
	check, most := lp.CheckNetworkFee, a.Policy.minerFee(got.Sats)
	if got.Lightning {
		check, most = lp.CheckRoutingFee, big.NewInt(lightning.MaxRoutingFee(got.Sats.Int64(), lightning.RoutingFeeBaseSats, lightning.RoutingFeePPM))
	}
	worth, err := FromBitcoinUp(most, a.Price, a.Token.Decimals)
	if err != nil {
		return err
	}
	limit := bigs.Add(bigs.Add(worth, bigs.MulDiv(worth, big.NewInt(a.Policy.tolerance()), million)), big.NewInt(1))
	if got.NetworkFee.Cmp(limit) > 0 {
		return doubt(check, "the network fee is %s base units, at most %s are accepted for %s sats", got.NetworkFee, limit, got.Sats)
	}
	return nil
}

// ToldOpening is what the opening of an escrow is compared with that a service hands out,
// for a swap whose figures passed [Told]. Agreed.LP is whoever the escrow names: whoever
// pays as agreed may have it.
type ToldOpening struct {
	Agreed
	Pays      *big.Int         // base units of the token, with all fees
	Condition chains.Condition // under which the escrow is paid out
	Latest    int64            // Unix seconds by which the user can have it back
}

// ToldEscrow checks the whole escrow: the payer, who gets it back, the token, the amount,
// the claim condition, no deposit, no bounty, nothing published, an end that is to come
// and not later than accepted (protocol: lp-protocol.md §6.2, §6.3). Pure.
func ToldEscrow(want ToldOpening, got chains.Escrow) error {
	want.LP = got.Claimer
	e, err := want.sameEscrow(got.Data, func(got chains.Escrow) chains.Spec {
		return chains.Spec{Kind: want.Condition.Kind, Offerer: want.User, Claimer: got.Claimer, Token: want.Token.Address, Amount: want.Pays,
			Condition: want.Condition, Sequence: got.Sequence, Expiry: got.Expiry, PayIn: true}
	}, chains.Tolerance{})
	if err != nil {
		return err
	}
	if e.Expiry > want.Latest || e.Expiry <= want.Now.Unix() {
		return lp.Late(lp.CheckExpiry, "the escrow ends at %d, must end from %d to %d", e.Expiry, want.Now.Unix()+1, want.Latest)
	}
	return nil
}
