package recovery

import (
	"encoding/hex"
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/quote"
	"github.com/swapper-go/swapper/swap"
	"github.com/swapper-go/swapper/tokens"
)

// gasForLightning reads a gas swap (protocol: swap-flows-spv-and-core.md B1).
func (i *importer) gasForLightning() error {
	if err := i.lightning(); err != nil {
		return err
	}
	i.r.ID = i.r.Lightning.Hash
	return i.gas(i.invoiceAmount())
}

// gasForBitcoin reads a gas swap (protocol: swap-flows-spv-and-core.md B2). The
// reference keeps no amounts but the last ones, so these count as agreed.
func (i *importer) gasForBitcoin() error {
	o, r := i.o, i.r
	if b, err := hex.DecodeString(o.PaymentHash); err != nil || len(b) == 0 {
		return fmt.Errorf("paymentHash: must be hexadecimal")
	}
	sats := o.InputAmount.orZero()
	if o.Address == "" || sats.Sign() < 0 || !sats.IsInt64() || sats.Int64() > bitcoin.MaxMoney {
		return fmt.Errorf("address or inputAmount is missing or wrong")
	}
	r.ID = o.PaymentHash
	r.Bitcoin = &swap.BitcoinPart{Address: o.Address, Sats: sats.Uint64(), Confirmations: quote.TrustedBTCConfirmations}
	r.Gas = &swap.GasPart{Hash: o.PaymentHash, Sequence: o.Sequence.orZero(), Total: o.OutputAmount.orZero(), RefundTo: o.RefundAddress, RefundTx: o.RefundTxID,
		Paid: o.TxID != "" || o.RefundTxID != "" || o.State == swap.TrustedBTCRefundable}
	if o.TxID != "" {
		id, err := bitcoin.ParseHash(o.TxID)
		if err != nil {
			return fmt.Errorf("txId: %w", err)
		}
		r.Bitcoin.TxID = id
	}
	return i.gas(tokens.NewAmount(sats, tokens.BTC()))
}

func (i *importer) gas(input tokens.Amount) error {
	o, r := i.o, i.r
	t, err := i.token(o.Token)
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
