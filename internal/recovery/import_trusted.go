package recovery

import (
	"encoding/hex"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/quote"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// gasForLightning reads a gas swap (protocol: swap-flows-spv-and-core.md B1).
func (i *importer) gasForLightning() error {
	if err := i.lightning(); err != nil {
		return err
	}
	if i.r.Lightning.Hash == "" {
		return fault.Invalid("pr", "is required")
	}
	i.r.ID = i.r.Lightning.Hash
	return i.gas(i.invoiceAmount())
}

// gasForBitcoin reads a gas swap (protocol: swap-flows-spv-and-core.md B2). The
// reference keeps no amounts but the last ones, so these count as agreed.
func (i *importer) gasForBitcoin() error {
	o, r := i.o, i.r
	if b, err := hex.DecodeString(o.PaymentHash); err != nil || len(b) == 0 {
		return fault.Invalid("paymentHash", "must be hexadecimal")
	}
	if o.Address == "" {
		return fault.Invalid("address", "is required")
	}
	sats, err := o.InputAmount.sats("inputAmount")
	if err != nil {
		return err
	}
	r.ID = o.PaymentHash
	r.Bitcoin = &swap.BitcoinPart{Address: o.Address, Sats: sats, Confirmations: quote.TrustedBTCConfirmations}
	r.Gas = &swap.GasPart{Hash: o.PaymentHash, Sequence: o.Sequence.orZero(), Total: o.OutputAmount.orZero(), RefundTo: o.RefundAddress, RefundTx: o.RefundTxID,
		Paid: o.TxID != "" || o.RefundTxID != "" || o.State == swap.TrustedBTCRefundable}
	if o.TxID != "" {
		id, err := bitcoin.ParseHash(o.TxID)
		if err != nil {
			return of("txId", err)
		}
		r.Bitcoin.TxID = id
	}
	return i.gas(tokens.NewAmount(new(big.Int).SetUint64(sats), tokens.BTC()))
}

func (i *importer) gas(input tokens.Amount) error {
	o, r := i.o, i.r
	t, err := i.token("token", o.Token)
	if err != nil {
		return err
	}
	r.PayoutTx = o.SCTxID
	r.Terms.ExactIn = false
	r.Terms.Input = input
	r.Terms.Output = tokens.NewAmount(o.OutputAmount.orZero(), t)
	r.Terms.SwapFee = tokens.NewAmount(o.SwapFeeBtc.orZero(), input.Token)
	r.Terms.FeeSats = o.SwapFeeBtc.orNil()
	r.Terms.Recipient = o.Recipient
	return nil
}
