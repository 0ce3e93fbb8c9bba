package httpapi_test

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"strings"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// fake is a Service with fixed answers that together contain every member of
// every union. Its behaviour is chosen by the main text of the input: `error-<code>`
// fails with that code, and the other words are the keys of the maps below.
type fake struct {
	got func(in any) // told every input, if not nil
}

var (
	btc   = tokens.Token{Chain: tokens.Bitcoin, Ticker: "BTC", Name: "Bitcoin (on-chain L1)", Decimals: 8, DisplayDecimals: 8}
	btcln = tokens.Token{Chain: tokens.Lightning, Ticker: "BTC", Name: "Bitcoin (lightning L2)", Decimals: 8, DisplayDecimals: 8}
	cbtc  = tokens.Token{Chain: "CITREA", Ticker: "CBTC", Name: "Citrea BTC", Decimals: 18, DisplayDecimals: 8, Address: "0x0000000000000000000000000000000000000000"}
)

func amount(raw int64, t tokens.Token) swapper.Amount {
	return swapper.AmountOf(tokens.NewAmount(big.NewInt(raw), t))
}

func (f *fake) told(in any, key string) error {
	if f.got != nil {
		f.got(in)
	}
	code, failing := strings.CutPrefix(key, "error-")
	switch {
	case !failing:
		return nil
	case code == "plain":
		return context.DeadlineExceeded
	case code == "panic":
		panic("secret detail")
	case code == string(fault.AmountOutOfBounds):
		huge, _ := new(big.Int).SetString("340282366920938463463374607431768211456", 10)
		return fault.OutOfBounds("amount", nil, big.NewInt(1000), huge)
	case code == string(fault.InvalidInput):
		return fault.Invalid("signedTxs[1]", "not a transaction of %s & <co>", "CITREA")
	}
	return fault.New(fault.Code(code), "secret detail of %s", code)
}

func steps() []swapper.Step {
	return []swapper.Step{
		{Type: "Setup", Side: "destination", Chain: "SOLANA", Title: "t", Description: "d", Status: "completed", SetupTxID: "s"},
		{Type: "Payment", Side: "source", Chain: "BITCOIN", Title: "t", Description: "d", Status: "received",
			InitTxID: "i", SettleTxID: "s", Confirmations: &swapper.Confirmations{Current: 1, Target: 3, ETA: -time.Second}},
		{Type: "Settlement", Side: "destination", Chain: "CITREA", Title: "t", Description: "d", Status: "awaiting_automatic", InitTxID: "i"},
		{Type: "Refund", Side: "source", Chain: "CITREA", Title: "t", Description: "d", Status: "refunded", RefundTxID: "r"},
	}
}

func base(id string) swapper.SwapOutputBase {
	network := amount(250000000000, cbtc)
	return swapper.SwapOutputBase{
		SwapID:   id,
		SwapType: swapper.SwapToBTCLN,
		State:    swapper.SwapState{Number: -2, Name: "QUOTE_SOFT_EXPIRED", Description: "<&> \u2028"},
		Quote: swapper.SwapQuote{
			InputAmount:   amount(200950000000000, cbtc),
			OutputAmount:  amount(20000, btcln),
			Fees:          swapper.SwapQuoteFees{Swap: amount(700000000000, cbtc), NetworkOutput: &network},
			Expiry:        swapper.Timestamp{Time: time.UnixMilli(1795215095000)},
			OutputAddress: "lnbc1",
		},
		CreatedAt: swapper.Timestamp{Time: time.UnixMilli(1795214525447)},
		Steps:     steps(),
		LNURL: &swapper.SwapOutputLNURL{Withdraw: "w", Pay: "p",
			SuccessAction: &swapper.SuccessAction{Description: "d", Text: "t", URL: "https://s.example/?a=1&b=2"}},
		Flags: &swapper.SwapOutputFlags{LightningPaymentWillLikelyFail: true},
	}
}

func bare(id string) swapper.SwapOutputBase {
	return swapper.SwapOutputBase{SwapID: id, SwapType: swapper.SwapSPVVaultFromBTC,
		Quote: swapper.SwapQuote{InputAmount: amount(0, btc), OutputAmount: amount(1, cbtc), Fees: swapper.SwapQuoteFees{Swap: amount(0, btc)}}}
}

// statuses are the answers of getSwapStatus, by swap.
func statuses() map[string]swapper.GetSwapStatusOutput {
	listed := func(id string) swapper.ListSwapOutput { return swapper.ListSwapOutput{SwapOutputBase: base(id)} }
	return map[string]swapper.GetSwapStatusOutput{
		"send": {ListSwapOutput: listed("send"), RequiresSecretReveal: new(false), CurrentAction: &swapper.SendToAddress{
			Name: "Deposit on Lightning", Description: "d", Chain: tokens.Lightning,
			Txs: []swapper.SendToAddressTx{
				{Type: "BOLT11_PAYMENT_REQUEST", Address: "lnbc1", Hyperlink: "lightning:lnbc1?a&b", Amount: amount(5, btcln)},
				{Type: "BITCOIN_ADDRESS", Address: "bc1", Hyperlink: "bitcoin:bc1?amount=1", Amount: amount(100000000, btc)},
			}}},
		"funded": {ListSwapOutput: listed("funded"), CurrentAction: &swapper.SignPSBT{
			Name: "Deposit on Bitcoin", Description: "d", Chain: tokens.Bitcoin,
			Funded: []swapper.FundedPSBT{{PSBTHex: "70", PSBTBase64: "cA==", SignInputs: []int{1, 2}, FeeRate: 1.5}, {PSBTHex: "70", PSBTBase64: "cA=="}}}},
		"raw": {ListSwapOutput: listed("raw"), CurrentAction: &swapper.SignPSBT{
			Name: "Deposit on Bitcoin", Description: "d", Chain: tokens.Bitcoin,
			Raw: []swapper.RawPSBT{{PSBTHex: "70", PSBTBase64: "cA==", In1Sequence: 0xfffffffd, FeeRate: 2}, {}}},
			Vault: &swapper.VaultInfo{Owner: "0x1", VaultID: "7"}},
		"sign": {ListSwapOutput: listed("sign"), CurrentAction: &swapper.SignSmartChainTransaction{
			Name: "Refund", Description: "d", Chain: "CITREA", Txs: []string{"0x02", `{"a":1}`}, RequiredSigner: "0x1"},
			Escrow: &swapper.EscrowInfo{Data: json.RawMessage(`{"offerer":"0x1","amount":{"low":"1","high":"0"}}`), InitTxID: "0x2"}},
		"unsigned": {ListSwapOutput: listed("unsigned"), CurrentAction: &swapper.SignSmartChainTransaction{
			Name: "Initiate swap", Chain: "CITREA"}, Escrow: &swapper.EscrowInfo{Data: json.RawMessage(`{}`)}},
		"wait": {ListSwapOutput: listed("wait"), CurrentAction: &swapper.Wait{
			Name: "Bitcoin confirmations", Description: "d", ExpectedTime: -time.Second, PollTime: 10 * time.Second},
			AsOf: map[string]uint64{"CITREA": 7, "BITCOIN": 0, "SOLANA": math.MaxInt64}},
		"done": {ListSwapOutput: swapper.ListSwapOutput{SwapOutputBase: bare("done"), IsFinished: true, IsSuccess: true}},
		"stuck": {ListSwapOutput: swapper.ListSwapOutput{SwapOutputBase: bare("stuck"), IsFailed: true, IsExpired: true},
			RequiresSecretReveal: new(true), ActionError: &swapper.ActionError{Code: fault.Upstream, Error: "backend down"}},
	}
}

// addresses are the answers of parseAddress.
func addresses() map[string]swapper.ParseAddressOutput {
	fixed, low, high := amount(123, btcln), amount(1, btcln), amount(100000, btcln)
	return map[string]swapper.ParseAddressOutput{
		"bc1": {Address: "bc1", Type: "BITCOIN"},
		"ln":  {Address: "ln", Type: "LIGHTNING", Amount: &fixed},
		"pay": {Address: "pay", Type: "LNURL", Min: &low, Max: &high, LNURL: &swapper.LNURLPay{
			Min: low, Max: high, CommentMaxLength: 32, ShortDescription: "s", LongDescription: "l", Icon: "data:image/png;base64,AA==",
			Params: swapper.LNURLPayParams{Tag: "payRequest", Callback: "https://s.example/?a=1&b=2", Domain: "s.example", MinSendable: 1000, MaxSendable: 1<<63 - 1,
				Metadata: `[["text/plain","s"]]`, DecodedMetadata: []swapper.List[string]{{"text/plain", "s"}}, CommentAllowed: 32, URL: "pay"}}},
		"pay without": {Address: "pay without", Type: "LNURL", Amount: &fixed, LNURL: &swapper.LNURLPay{
			Min: fixed, Max: fixed, Params: swapper.LNURLPayParams{Tag: "payRequest"}}},
		"withdraw": {Address: "withdraw", Type: "LNURL", Min: &low, Max: &high, LNURL: &swapper.LNURLWithdraw{
			Min: low, Max: high, Params: swapper.LNURLWithdrawParams{Tag: "withdrawRequest", K1: "k", Callback: "https://s.example", Domain: "s.example",
				MinWithdrawable: 1, MaxWithdrawable: 2, DefaultDescription: "d", BalanceCheck: "b", PayLink: "p", URL: "withdraw"}}},
	}
}

var evmAddress = regexp.MustCompile(`^0x[0-9a-f]{40}$`)

func lookup[T any](m map[string]T, key string) (*T, error) {
	if v, ok := m[key]; ok {
		return &v, nil
	}
	return nil, fault.New(fault.NotFound, "swap not found")
}

func answer[T any](err error, v T) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return v, nil
}

func (f *fake) CreateSwap(_ context.Context, in swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	out := swapper.CreateSwapOutput{SwapOutputBase: base("new"), SwapKey: "0f1e2d3c4b5a69788796a5b4c3d2e1f0"}
	return answer(f.told(in, in.SrcToken), &out)
}

func (f *fake) CreateGasSwap(_ context.Context, in swapper.CreateGasSwapInput) (*swapper.CreateSwapOutput, error) {
	out := swapper.CreateSwapOutput{SwapOutputBase: base("gas"), SwapKey: "0f1e2d3c4b5a69788796a5b4c3d2e1f1"}
	return answer(f.told(in, in.SrcToken), &out)
}

func (f *fake) GetSwapStatus(_ context.Context, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	if err := f.told(in, in.SwapID); err != nil {
		return nil, err
	}
	return lookup(statuses(), in.SwapID)
}

func (f *fake) SubmitTransaction(_ context.Context, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	return answer(f.told(in, in.SwapID), &swapper.SubmitTransactionOutput{TxHashes: []string{"a", "b"}})
}

func (f *fake) SettleWithLnurl(_ context.Context, in swapper.SettleWithLnurlInput) (*swapper.SettleWithLnurlOutput, error) {
	return answer(f.told(in, in.SwapID), &swapper.SettleWithLnurlOutput{PaymentHash: "00"})
}

func (f *fake) ListSwaps(_ context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	return answer(f.told(in, in.Signer), []swapper.ListSwapOutput{
		{SwapOutputBase: base("a"), IsFinished: true, IsFailed: true}, {SwapOutputBase: bare("b"), IsExpired: true}})
}

func (f *fake) ListPendingSwaps(_ context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	return nil, f.told(in, in.Signer)
}

func (f *fake) GetSupportedTokens(_ context.Context, in swapper.GetSupportedTokensInput) ([]swapper.Token, error) {
	return answer(f.told(in, string(in.Side)), []swapper.Token{swapper.TokenOf(btc), swapper.TokenOf(cbtc)})
}

func (f *fake) GetSwapCounterTokens(_ context.Context, in swapper.GetSwapCounterTokensInput) ([]swapper.Token, error) {
	return answer(f.told(in, in.Token), []swapper.Token{swapper.TokenOf(btcln)})
}

func (f *fake) GetSwapLimits(_ context.Context, in swapper.GetSwapLimitsInput) (*swapper.GetSwapLimitsOutput, error) {
	most := amount(100000000, btc)
	return answer(f.told(in, in.SrcToken), &swapper.GetSwapLimitsOutput{
		Input: swapper.GetSwapLimitsSide{Min: amount(1000, btc), Max: &most}, Output: swapper.GetSwapLimitsSide{Min: amount(1, cbtc)}})
}

func (f *fake) ParseAddress(_ context.Context, in swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	if err := f.told(in, in.Address); err != nil {
		return nil, err
	}
	if out, ok := addresses()[in.Address]; ok {
		return &out, nil
	}
	if evmAddress.MatchString(in.Address) {
		return &swapper.ParseAddressOutput{Address: in.Address, Type: "CITREA"}, nil
	}
	return nil, fault.Invalid("address", "not an address of any kind")
}

func (f *fake) GetSpendableBalance(_ context.Context, in swapper.GetSpendableBalanceInput) (*swapper.GetSpendableBalanceOutput, error) {
	out := &swapper.GetSpendableBalanceOutput{Balance: amount(380194, btc)}
	if in.Token == btc.ID() {
		out.FeeRate = new(11.5)
	}
	return answer(f.told(in, in.Wallet), out)
}
