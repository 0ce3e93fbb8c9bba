package httpapi

import (
	"math/big"
	"time"

	"github.com/swapper-go/swapper"
)

// The inputs of the operations, field by field (docs/api.md; protocol: utilities.md
// §1). The handler reads by these tables and the client writes by them. What a
// value must be beyond its type is the business of the structure's Validate.

var createSwapFields = []field[swapper.CreateSwapInput]{
	textField("srcToken", func(in *swapper.CreateSwapInput) *string { return &in.SrcToken }).must(),
	textField("dstToken", func(in *swapper.CreateSwapInput) *string { return &in.DstToken }).must(),
	bigIntField("amount", func(in *swapper.CreateSwapInput) **big.Int { return &in.Amount }).must(),
	textField("amountType", func(in *swapper.CreateSwapInput) *swapper.AmountType { return &in.AmountType }).must(),
	textField("srcAddress", func(in *swapper.CreateSwapInput) *string { return &in.SrcAddress }),
	textField("dstAddress", func(in *swapper.CreateSwapInput) *string { return &in.DstAddress }).must(),
	bigIntField("gasAmount", func(in *swapper.CreateSwapInput) **big.Int { return &in.GasAmount }),
	textField("paymentHash", func(in *swapper.CreateSwapInput) *string { return &in.PaymentHash }),
	textField("lightningInvoiceDescription", func(in *swapper.CreateSwapInput) *string { return &in.LightningInvoiceDescription }),
	textField("lightningInvoiceDescriptionHash", func(in *swapper.CreateSwapInput) *string { return &in.LightningInvoiceDescriptionHash }),
	secondsField("lightningPaymentHTLCTimeout", func(in *swapper.CreateSwapInput) **time.Duration { return &in.LightningPaymentHTLCTimeout }),
	secondsField("lightningPaymentMaxHTLCTimeout", func(in *swapper.CreateSwapInput) **time.Duration { return &in.LightningPaymentMaxHTLCTimeout }),
	textField("idempotencyKey", func(in *swapper.CreateSwapInput) *string { return &in.IdempotencyKey }),
}

var createGasSwapFields = []field[swapper.CreateGasSwapInput]{
	textField("srcToken", func(in *swapper.CreateGasSwapInput) *string { return &in.SrcToken }).must(),
	textField("chainId", func(in *swapper.CreateGasSwapInput) *string { return &in.ChainID }).must(),
	bigIntField("amount", func(in *swapper.CreateGasSwapInput) **big.Int { return &in.Amount }).must(),
	textField("dstAddress", func(in *swapper.CreateGasSwapInput) *string { return &in.DstAddress }).must(),
	textField("refundAddress", func(in *swapper.CreateGasSwapInput) *string { return &in.RefundAddress }),
	textField("lp", func(in *swapper.CreateGasSwapInput) *string { return &in.LP }),
	textField("idempotencyKey", func(in *swapper.CreateGasSwapInput) *string { return &in.IdempotencyKey }),
}

var getSwapStatusFields = []field[swapper.GetSwapStatusInput]{
	textField("swapId", func(in *swapper.GetSwapStatusInput) *string { return &in.SwapID }).must(),
	textField("secret", func(in *swapper.GetSwapStatusInput) *swapper.Secret { return &in.Secret }),
	textField("bitcoinAddress", func(in *swapper.GetSwapStatusInput) *string { return &in.BitcoinAddress }),
	textField("bitcoinPublicKey", func(in *swapper.GetSwapStatusInput) *string { return &in.BitcoinPublicKey }),
	numberField("bitcoinFeeRate", func(in *swapper.GetSwapStatusInput) **float64 { return &in.BitcoinFeeRate }),
	textField("signer", func(in *swapper.GetSwapStatusInput) *string { return &in.Signer }),
	textField("swapKey", func(in *swapper.GetSwapStatusInput) *swapper.Secret { return &in.SwapKey }),
}

var submitTransactionFields = []field[swapper.SubmitTransactionInput]{
	textField("swapId", func(in *swapper.SubmitTransactionInput) *string { return &in.SwapID }).must(),
	textsField("signedTxs", func(in *swapper.SubmitTransactionInput) *[]string { return &in.SignedTxs }).must(),
	textField("swapKey", func(in *swapper.SubmitTransactionInput) *swapper.Secret { return &in.SwapKey }),
}

var settleWithLnurlFields = []field[swapper.SettleWithLnurlInput]{
	textField("swapId", func(in *swapper.SettleWithLnurlInput) *string { return &in.SwapID }).must(),
	textField("lnurlWithdraw", func(in *swapper.SettleWithLnurlInput) *string { return &in.LnurlWithdraw }),
	textField("swapKey", func(in *swapper.SettleWithLnurlInput) *swapper.Secret { return &in.SwapKey }),
}

var listSwapsFields = []field[swapper.ListSwapsInput]{
	textField("signer", func(in *swapper.ListSwapsInput) *string { return &in.Signer }).must(),
	textField("chainId", func(in *swapper.ListSwapsInput) *string { return &in.ChainID }),
	countField("limit", func(in *swapper.ListSwapsInput) *int { return &in.Limit }),
	textField("after", func(in *swapper.ListSwapsInput) *string { return &in.After }),
}

var getSupportedTokensFields = []field[swapper.GetSupportedTokensInput]{
	textField("side", func(in *swapper.GetSupportedTokensInput) *swapper.Side { return &in.Side }).must(),
}

var getSwapCounterTokensFields = []field[swapper.GetSwapCounterTokensInput]{
	textField("token", func(in *swapper.GetSwapCounterTokensInput) *string { return &in.Token }).must(),
	textField("side", func(in *swapper.GetSwapCounterTokensInput) *swapper.Side { return &in.Side }).must(),
}

var getSwapLimitsFields = []field[swapper.GetSwapLimitsInput]{
	textField("srcToken", func(in *swapper.GetSwapLimitsInput) *string { return &in.SrcToken }).must(),
	textField("dstToken", func(in *swapper.GetSwapLimitsInput) *string { return &in.DstToken }).must(),
}

var parseAddressFields = []field[swapper.ParseAddressInput]{
	textField("address", func(in *swapper.ParseAddressInput) *string { return &in.Address }).must(),
}

var getSpendableBalanceFields = []field[swapper.GetSpendableBalanceInput]{
	textField("wallet", func(in *swapper.GetSpendableBalanceInput) *string { return &in.Wallet }).must(),
	textField("token", func(in *swapper.GetSpendableBalanceInput) *string { return &in.Token }).must(),
	textField("targetChain", func(in *swapper.GetSpendableBalanceInput) *string { return &in.TargetChain }),
	boolField("gasDrop", func(in *swapper.GetSpendableBalanceInput) *bool { return &in.GasDrop }),
	feeRateField("feeRate", func(in *swapper.GetSpendableBalanceInput) *string { return &in.FeeRate }),
	numberField("minBitcoinFeeRate", func(in *swapper.GetSpendableBalanceInput) **float64 { return &in.MinBitcoinFeeRate }),
	numberField("feeMultiplier", func(in *swapper.GetSpendableBalanceInput) **float64 { return &in.FeeMultiplier }),
}
