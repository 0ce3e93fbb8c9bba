package verify

import (
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
)

// ToldDeposit is what a service says of a swap of type FROM_BTC, whose figures passed
// [ReceiveTold].
type ToldDeposit struct {
	Address       string // that the user pays
	Confirmations int    // that the payment needs
	Sats, Output  *big.Int
}

// FromBTCTold checks the whole escrow that the user opens before he pays bitcoin, as
// [FromBTC] checks an LP's: it is paid out to the user by the payment of the amount to the
// address, deposit and bounty are within the policy, and it lasts long enough to pay and no
// longer than accepted. Whoever offers it is the service's choice. Of want it uses the user,
// the token, the native token and its price, the contract, the time and the policy. Pure.
func FromBTCTold(want Agreed, network bitcoin.Network, got ToldDeposit, e chains.Escrow) error {
	if e.Sequence == nil || !e.Sequence.IsUint64() {
		return lp.Lie(lp.CheckEscrow, "the escrow's sequence is %s, must have 64 bits", e.Sequence)
	}
	want.LP, want.Amount, want.ExactIn = e.Offerer, got.Sats, true
	q := &fromBTC{FromBTCExpected: FromBTCExpected{Agreed: want, Network: network, Sequence: e.Sequence.Uint64()}, told: true,
		got: lp.FromBTCQuote{Amount: got.Sats, BTCAddress: got.Address, SwapFee: new(big.Int), Total: got.Output, Confirmations: int64(got.Confirmations), Escrow: e.Data}}
	return first(q.data, q.bountyLimit, func() error { return q.deposit(q.escrow.SecurityDeposit, got.Sats) }, q.lasts)
}

// FromBTCLNTold checks the whole escrow that the user opens once a payment over Lightning is
// held for him: the payment's hash, the agreed amount, paid out to the user, no bounty, a
// deposit within the policy, and enough time to open and claim it. Whoever offers it is the
// service's choice. Of want it uses what [FromBTCTold] does. Pure.
func FromBTCLNTold(want Agreed, paymentHash [32]byte, sats, output *big.Int, e chains.Escrow) error {
	want.LP = e.Offerer
	got, err := want.sameEscrow(e.Data, func(got chains.Escrow) chains.Spec {
		return chains.Spec{Kind: chains.HTLC, Offerer: got.Offerer, Claimer: want.User, Token: want.Token.Address, Amount: output,
			Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: paymentHash}, PayOut: true, Sequence: got.Sequence, Expiry: got.Expiry,
			SecurityDeposit: got.SecurityDeposit, DepositToken: want.Native.Address}
	}, chains.Tolerance{})
	if err != nil {
		return err
	}
	if lp.DutySign.TooLate(got.Expiry, chains.Block{}, want.Now) {
		return lp.Late(lp.CheckExpiry, "the escrow ends at %d, too soon to open it and to claim it safely", got.Expiry)
	}
	return want.deposit(got.SecurityDeposit, sats)
}
