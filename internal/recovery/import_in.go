package recovery

import (
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/quote"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// fromLightning reads both types that are paid over Lightning: the one whose escrow the
// LP opens, and the one whose escrow the user opens.
func (i *importer) fromLightning() error {
	o, r := i.o, i.r
	real, err := i.escrow("data", o.Data)
	if err != nil {
		return err
	}
	expected, err := i.escrow("initialSwapData", o.InitialSwapData)
	if err != nil {
		return err
	}
	if expected == nil {
		expected = real
	}
	if expected == nil {
		return fault.Invalid("initialSwapData", "is required")
	}
	if o.Type == swap.FromBTCLN && r.State == swap.LnCreated { // old records keep what was agreed on as data (§2.4)
		real = nil
	}
	t, err := i.token("initialSwapData", expected.Token)
	if err != nil {
		return err
	}
	r.LP.Address = expected.Offerer
	r.Escrow = &swap.EscrowPart{Expected: expected, Real: real, InitTx: o.CommitTxID, ClaimTx: o.ClaimTxID, RefundTx: o.RefundTxID, OpenedAt: swap.Millis(o.CommitedAt)}
	if o.Type == swap.FromBTCLN {
		r.Escrow.Init, r.Escrow.FeeRate = i.auth(), o.FeeRate
	}
	if err := i.lightning(); err != nil {
		return err
	}
	r.Lightning.OwnHash = o.Secret == ""
	i.withdrawal()
	shown := expected
	if real != nil {
		shown = real
	}
	r.Terms.Input = i.invoiceAmount()
	r.Terms.Output = tokens.NewAmount(shown.Amount, t)
	r.Terms.Recipient = shown.Claimer
	if o.Type == swap.FromBTCLN {
		i.feeOfInput(shown.Amount, tokens.LightningBTC())
		return nil
	}
	i.autoFees(shown)
	return nil
}

// autoFees are what the swap, the gas drop and the watchtower cost.
func (i *importer) autoFees(e *chains.Escrow) {
	o, r := i.o, i.r
	if drop := new(big.Int).Sub(bigs.OrZero(e.SecurityDeposit), bigs.OrZero(e.ClaimerBounty)); drop.Sign() > 0 {
		gas := tokens.NewAmount(drop, i.chain.Info().Native)
		r.Terms.GasDrop = &gas
	}
	fee := new(big.Int).Add(o.SwapFeeBtc.orZero(), o.GasSwapFeeBtc.orZero())
	r.Terms.SwapFee = tokens.NewAmount(fee, tokens.LightningBTC())
	network := tokens.NewAmount(quote.WatchtowerSats(new(big.Int).Sub(o.BtcAmountGas.orZero(), o.GasSwapFeeBtc.orZero()), e), tokens.LightningBTC())
	r.Terms.NetworkFee = &network
}

// feeOfInput is what a swap from bitcoin costs in sats, which old records do not say
// (§2.4).
func (i *importer) feeOfInput(output *big.Int, of tokens.Token) {
	o, t := i.o, &i.r.Terms
	t.FeeSats = o.SwapFeeBtc.orNil()
	if whole := new(big.Int).Add(bigs.OrZero(output), o.SwapFee.orZero()); t.FeeSats == nil && t.Input.Known() && whole.Sign() > 0 {
		t.FeeSats = bigs.MulDiv(o.SwapFee.orZero(), t.Input.Raw, whole)
	}
	t.SwapFee = tokens.NewAmount(bigs.OrZero(t.FeeSats), of)
}

// fromBitcoin reads the type whose escrow the user opens before paying bitcoin.
func (i *importer) fromBitcoin() error {
	o, r := i.o, i.r
	e, err := i.escrow("data", o.Data)
	if err != nil {
		return err
	}
	if e == nil {
		return fault.Invalid("data", "is required")
	}
	t, err := i.token("data", e.Token)
	if err != nil {
		return err
	}
	sats, err := o.Amount.sats("amount")
	if err != nil {
		return err
	}
	r.LP.Address = e.Offerer
	r.Escrow = &swap.EscrowPart{Expected: e, Real: e, Init: i.auth(), FeeRate: o.FeeRate, InitTx: o.CommitTxID, ClaimTx: o.ClaimTxID, RefundTx: o.RefundTxID}
	r.Bitcoin = &swap.BitcoinPart{Address: o.Address, Sats: sats, Confirmations: o.RequiredConfirmations, Vout: o.Vout, ConfirmedAt: swap.Millis(o.BtcTxConfirmedAt)}
	if o.Address != "" {
		if r.Bitcoin.Script, err = scriptOf(o.Address); err != nil {
			return of("address", err)
		}
	}
	if o.TxID != "" {
		if r.Bitcoin.TxID, err = bitcoin.ParseHash(o.TxID); err != nil {
			return of("txId", err)
		}
	}
	r.Terms.Confirmations = o.RequiredConfirmations
	r.Terms.Input = tokens.NewAmount(o.Amount.orNil(), tokens.BTC())
	r.Terms.Output = tokens.NewAmount(e.Amount, t)
	r.Terms.Recipient = e.Claimer
	i.feeOfInput(e.Amount, tokens.BTC())
	return nil
}
