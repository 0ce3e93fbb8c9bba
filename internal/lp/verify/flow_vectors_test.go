package verify

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/vault"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// evmContract is a deployment's pure part. The script of a payout is not in the
// cases, so its claim hash, and the hints beside it, are given.
type evmContract struct {
	chains.Contract
	deployment evmwire.Deployment
	claimHash  common.Hash
	extraData  []byte
}

func (k evmContract) Expect(s chains.Spec) (chains.Escrow, error) {
	t := evmwire.Terms{Kind: s.Kind, Offerer: common.HexToAddress(s.Offerer), Claimer: common.HexToAddress(s.Claimer), Token: common.HexToAddress(s.Token),
		Amount: s.Amount, ClaimData: k.claimHash, Sequence: s.Sequence, Expiry: s.Expiry, PayIn: s.PayIn, PayOut: s.PayOut,
		SecurityDeposit: s.SecurityDeposit, ClaimerBounty: s.ClaimerBounty, DepositToken: common.HexToAddress(s.DepositToken)}
	if s.Hints {
		t.ExtraData = k.extraData
	}
	d, err := k.deployment.NewSwapData(t)
	if err != nil {
		return chains.Escrow{}, err
	}
	return k.deployment.Escrow(d)
}

func (k evmContract) Decode(data json.RawMessage) (chains.Escrow, error) {
	d, err := evmwire.ParseSwapData(data)
	if err != nil {
		return chains.Escrow{}, err
	}
	if err := k.deployment.CheckSwapData(d); err != nil {
		return chains.Escrow{}, err
	}
	return k.deployment.Escrow(d)
}

func (k evmContract) Diff(want, got chains.Escrow, may chains.Tolerance) error {
	w, err := evmwire.SwapDataOf(want)
	if err != nil {
		return err
	}
	g, err := evmwire.SwapDataOf(got)
	if err != nil {
		return err
	}
	return evmwire.Diff(w, g, may)
}

func (k evmContract) ClaimHash(chains.Condition) ([]byte, error) { return k.claimHash[:], nil }

type quoteCheck struct {
	SwapType, Chain string
	Now             int64
	Data            json.RawMessage
	Resp            struct {
		Amount, Total, SwapFee, NetworkFee, TotalFee, IntermediaryKey, PR                            *string
		TotalGas, BtcAmountSwap, BtcAmountGas, SwapFeeBtc, GasSwapFeeBtc, TotalFeeBtc, ClaimerBounty *string
	}
	AmountData struct {
		Amount, Token string
		ExactIn       bool
	}
	Signer, LpAddress, ClaimHash      string
	Confirmations, ConfirmationTarget uint16
	Description, DescriptionHash      string
	PaymentHash                       string
	GasAmount, ClaimerBounty          *string
}

func TestVectorsLPQuoteChecks(t *testing.T) {
	file := vectors.Load(t, "swap-flows-escrow", "lp_quote_checks")
	var contracts struct {
		Citrea struct{ Escrow, Relay, Refund, Hash, Chain, ChainNonced string } `json:"CITREA"`
	}
	file.Member(t, "contracts", &contracts)
	k := contracts.Citrea
	deployment := evmwire.Deployment{
		Version: "v1", EscrowManager: evmwire.Contract{Address: common.HexToAddress(k.Escrow)}, BtcRelay: evmwire.Contract{Address: common.HexToAddress(k.Relay)},
		ClaimHandlers: [4]common.Address{common.HexToAddress(k.Hash), common.HexToAddress(k.Chain), common.HexToAddress(k.ChainNonced)},
		RefundHandler: common.HexToAddress(k.Refund),
	}
	file.Each(t, func(t *testing.T, c *vectors.Case) {
		var kind struct{ SwapType, Chain string }
		c.Input(t, &kind)
		var want struct{ OK, Error bool }
		c.Expected(t, &want)
		var err error
		switch kind.SwapType + "/" + kind.Chain {
		default:
			t.Fatalf("%s of %s", kind.SwapType, kind.Chain)
		case "TO_BTCLN/STARKNET":
			err = starknetQuote(t, c, want.OK)
		case "TO_BTC/SOLANA", "FROM_BTC/SOLANA", "TO_BTCLN/SOLANA":
			var in struct {
				Now  int64
				Data solwire.SwapData
			}
			c.Input(t, &in)
			if err = solanaQuote(t, c, kind.SwapType); !want.Error && int64(in.Data.Expiry) <= in.Now/1000 {
				c.Differ(t, "lp-ended-escrow")
				want.Error = true
			}
		case "TO_BTC/CITREA":
			var in quoteCheck
			c.Input(t, &in)
			var data struct{ ExtraData, RefundData string }
			trial.Do(t, json.Unmarshal(in.Data, &data))
			contract := evmContract{deployment: deployment, claimHash: common.HexToHash(in.ClaimHash), extraData: common.FromHex(data.ExtraData)}
			q := &toBTC{
				ToBTCExpected: ToBTCExpected{Agreed: in.agreed(t, contract), Confirmations: in.Confirmations, ConfirmationTarget: in.ConfirmationTarget, Nonce: 1},
				got: lp.ToBTCQuote{Amount: orNone(t, in.Resp.Amount), Total: orNone(t, in.Resp.Total), SwapFee: orNone(t, in.Resp.SwapFee),
					NetworkFee: orNone(t, in.Resp.NetworkFee), TotalFee: orNone(t, in.Resp.TotalFee), Escrow: in.Data},
			}
			var members map[string]any
			trial.Do(t, json.Unmarshal(in.Data, &members))
			if members["reputation"] != members["payIn"] {
				// No contract would take it without the LP's signature being checked: refused as it is,
				// and judged like the reference does once the flag is right.
				if refused := q.data(); refused == nil {
					t.Error("accepted without the reputation flag")
				} else if !want.Error {
					c.Differ(t, "lp-reputation-flag")
				}
				members["reputation"] = members["payIn"]
				q.got.Escrow = trial.Must(json.Marshal(members))(t)
			}
			err = q.data()
			if !want.Error && common.HexToHash(data.RefundData).Big().Int64() <= in.Now/1000 {
				c.Differ(t, "lp-ended-escrow")
				want.Error = true
			}
		case "FROM_BTCLN/" + kind.Chain:
			var in quoteCheck
			c.Input(t, &in)
			q := &fromBTCLN{FromBTCLNExpected: FromBTCLNExpected{in.agreed(t, nil), in.invoice(t)},
				got: lp.FromBTCLNQuote{Address: *in.Resp.IntermediaryKey, Invoice: *in.Resp.PR, Total: orNone(t, in.Resp.Total), SwapFee: new(big.Int), SecurityDeposit: new(big.Int)}}
			err = q.data()
		case "FROM_BTCLN_AUTO/" + kind.Chain:
			var in quoteCheck
			c.Input(t, &in)
			r := in.Resp
			q := &fromBTCLNAuto{
				FromBTCLNAutoExpected: FromBTCLNAutoExpected{Agreed: in.agreed(t, nil), InvoiceExpected: in.invoice(t), GasAmount: orNone(t, in.GasAmount), Bounty: orNone(t, in.ClaimerBounty)},
				got: lp.FromBTCLNAutoQuote{Address: *r.IntermediaryKey, Invoice: *r.PR, Total: orNone(t, r.Total), TotalGas: orNone(t, r.TotalGas),
					BTCAmountSwap: orNone(t, r.BtcAmountSwap), BTCAmountGas: orNone(t, r.BtcAmountGas), TotalFeeBTC: orNone(t, r.TotalFeeBtc), SwapFeeBTC: orNone(t, r.SwapFeeBtc),
					GasSwapFeeBTC: orNone(t, r.GasSwapFeeBtc), SwapFee: new(big.Int), GasSwapFee: new(big.Int), ClaimerBounty: orNone(t, r.ClaimerBounty)},
			}
			err = q.data()
		}
		if (err != nil) != want.Error {
			t.Errorf("error %v, want one: %v", err, want.Error)
		}
		if _, blamed := errors.AsType[*lp.LPError](err); err != nil && !blamed {
			t.Errorf("error %v does not blame the LP", err)
		}
	})
}

func (in quoteCheck) agreed(t *testing.T, k chains.Contract) Agreed {
	return Agreed{LP: in.LpAddress, User: in.Signer, Token: coinAt(in.AmountData.Token), Amount: flowtest.Number(t, in.AmountData.Amount), ExactIn: in.AmountData.ExactIn,
		Contract: k, Now: unix(in.Now / 1000)}
}

func (in quoteCheck) invoice(t *testing.T) InvoiceExpected {
	return InvoiceExpected{Network: bitcoin.Mainnet, PaymentHash: hash32(t, &in.PaymentHash), Description: in.Description, DescriptionHash: in.DescriptionHash}
}

type spvCase struct {
	Chain, Now, Recipient, Token, NativeToken, Amount, GasAmount string
	TokenDecimals, NativeDecimals                                int
	ExactIn, UnsafeZeroWatchtowerFee                             bool
	MaxAllowedBitcoinFeeRate                                     *float64
	FeeSafetyFactor                                              float64
	SweepFeeRate                                                 float64
	PriceUSatPerToken, NativePriceUSatPerToken                   string
	MaxPriceDifferencePPM                                        string
	LP                                                           struct {
		Address                 string
		SwapBaseFee, SwapFeePPM int64
	}
	BackendBitcoinFeeRate float64
	BitcoinTip, RelayTip  uint32
	RelayFeePerBlock      string
	ClaimFee              string
	LpRequest             *struct {
		CallerFeeRate string
		AmountUtxos   []lp.InputCost
	}
	LpResponse          *spvResponse
	VaultOnChain        *spvVault
	PendingRawTxs       []string
	MissingFirstPending bool
	QuotedUtxo          struct {
		Known, Confirmed, Spent bool
		Value                   int64
	}
	ContractRejectsPending bool
}

type spvVault struct {
	Opened                   bool
	Utxo, Token0, Token1     string
	Multiplier0, Multiplier1 string
	RawAmount0, RawAmount1   string
	Confirmations            uint32
}

// share is the watchtower's, as the client computes it before it asks.
func (in spvCase) share(t *testing.T) uint32 {
	if in.UnsafeZeroWatchtowerFee {
		return 0
	}
	fee := CallerFee(in.BitcoinTip, in.RelayTip, flowtest.Number(t, in.RelayFeePerBlock), flowtest.Number(t, in.ClaimFee), int64(in.FeeSafetyFactor*1e6))
	share, err := CallerShare(fee, Payout{Amount: flowtest.Number(t, in.Amount), ExactIn: in.ExactIn, TokenIsNative: in.Token == in.NativeToken,
		Decimals: in.TokenDecimals, Price: flowtest.Number(t, in.PriceUSatPerToken), NativeDecimals: in.NativeDecimals, NativePrice: flowtest.Number(t, in.NativePriceUSatPerToken)})
	if err != nil && !errors.Is(err, ErrTooLittle) {
		t.Fatal(err)
	}
	return share
}

// payout is the form of a withdrawal's data on the case's chain.
func (in spvCase) payout() vault.PayoutFormat {
	if in.Chain == "STARKNET" {
		return vault.PayoutFormat{RecipientLen: 32, LittleEndian: true}
	}
	return evmwire.PayoutFormat()
}

// withdrawal reads a transaction as one of the case's chain.
func (in spvCase) withdrawal(tx *wire.MsgTx) (w chains.Withdrawal, err error) {
	if w.Withdrawal, err = bitcoin.ParseWithdrawal(tx); err != nil {
		return w, err
	}
	p, err := in.payout().Decode(w.Payload)
	if err != nil {
		return w, err
	}
	w.Amounts, err = w.Shares.Amounts(p.Raw)
	return w, err
}

func (in spvCase) facts(t *testing.T, utxo bitcoin.OutPoint) VaultFacts {
	var f VaultFacts
	if v := in.VaultOnChain; v != nil {
		at := trial.Must(bitcoin.ParseOutPoint(v.Utxo))(t)
		f.Vault = &chains.Vault{Open: v.Opened, OurRelay: true, Tokens: [2]string{v.Token0, v.Token1}, Multipliers: [2]*big.Int{flowtest.Number(t, v.Multiplier0), flowtest.Number(t, v.Multiplier1)},
			VaultState: bitcoin.VaultState{UTXO: at, Raw: [2]uint64{flowtest.Number(t, v.RawAmount0).Uint64(), flowtest.Number(t, v.RawAmount1).Uint64()}}, Confirmations: v.Confirmations}
	}
	if in.QuotedUtxo.Known {
		f.Output = &bitcoin.Tx{ID: utxo.Hash, Msg: wire.NewMsgTx(2)}
		if in.QuotedUtxo.Confirmed {
			f.Output.Confirmations = 1
		}
		a, err := bitcoin.ParseAddress(in.LpResponse.VaultBtcAddress, bitcoin.Mainnet)
		if err == nil {
			f.Output.Msg.AddTxOut(wire.NewTxOut(in.QuotedUtxo.Value, a.Script()))
		}
	}
	f.Spend = bitcoin.Unspent
	if in.QuotedUtxo.Spent {
		f.Spend = bitcoin.SpentInMempool
	}
	if f.Vault == nil {
		return f
	}
	known := map[bitcoin.Hash]*bitcoin.Tx{}
	for i, text := range in.PendingRawTxs {
		raw := trial.Must(hex.DecodeString(text))(t)
		tx := trial.Must(rawtx.Decode(raw))(t)
		if !in.MissingFirstPending || i > 0 {
			known[tx.TxHash()] = &bitcoin.Tx{ID: tx.TxHash(), Msg: tx}
		}
	}
	before, err := vault.Trace(t.Context(), func(_ context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
		if tx := known[id]; tx != nil {
			return tx, nil
		}
		return nil, bitcoin.ErrNotFound
	}, f.Vault.UTXO, utxo, vault.MaxPendingQuoted)
	f.Trace = err
	for _, b := range before {
		w := trial.Must(in.withdrawal(b.Tx.Msg))(t)
		f.Pending = append(f.Pending, w)
	}
	if in.ContractRejectsPending {
		f.Parse = errors.New("execution reverted")
	}
	return f
}

func TestVectorsQuoteVerification(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "quote_verification", func(t *testing.T, c *vectors.Case) {
		var in spvCase
		c.Input(t, &in)
		var want struct {
			Error, Accepted, IsValid                     bool
			ErrorType                                    string
			GoMustReject                                 any
			CallerFeeShare                               string
			MinimumBtcFeeRate                            float64
			VaultRequiredConfirmations                   uint32
			VaultUtxoValue                               string
			Expiry                                       int64
			DifferencePPM                                string
			SwapPriceUSatPerToken, RealPriceUSatPerToken string
			GasDifferencePPM                             *string
			BtcAmount, OutputTotalSwap, OutputTotalGas   string
		}
		c.Expected(t, &want)
		classes := map[bool][]string{true: {"IntermediaryError", "UserError", "Error", "RangeError"}, false: {""}}[want.Error]
		if want.Accepted == want.Error || want.IsValid != want.Accepted || !slices.Contains(classes, want.ErrorType) {
			t.Errorf("the reference says %+v", want)
		}
		native := tokens.Token{Chain: in.Chain, Address: in.NativeToken, Decimals: in.NativeDecimals}
		bought := tokens.Token{Chain: in.Chain, Address: in.Token, Decimals: in.TokenDecimals}
		gas := flowtest.Number(t, in.GasAmount)
		if in.LpResponse == nil {
			if err := CheckGasDrop(chains.Info{Native: native}, bought, gas); (err != nil) != want.Error {
				t.Errorf("gas drop: %v", err)
			}
			return
		}
		share := in.share(t)
		if got := strconv.FormatUint(uint64(share), 10); got != in.LpRequest.CallerFeeRate {
			t.Errorf("caller share %s, want %s", got, in.LpRequest.CallerFeeRate)
		}
		limit := MaxFeeRate(in.BackendBitcoinFeeRate)
		if in.MaxAllowedBitcoinFeeRate != nil {
			limit = *in.MaxAllowedBitcoinFeeRate
		}
		expected := SPVExpected{
			Agreed: Agreed{LP: in.LP.Address, BaseFee: big.NewInt(in.LP.SwapBaseFee), FeePPM: big.NewInt(in.LP.SwapFeePPM), User: in.Recipient, Token: bought, Native: native,
				Amount: flowtest.Number(t, in.Amount), ExactIn: in.ExactIn, Price: flowtest.Number(t, in.PriceUSatPerToken), NativePrice: flowtest.Number(t, in.NativePriceUSatPerToken),
				Now: unix(flowtest.Number(t, in.Now).Int64() / 1000), Policy: Policy{TolerancePPM: flowtest.Number(t, in.MaxPriceDifferencePPM).Int64()}},
			Network: bitcoin.Mainnet, GasAmount: gas, CallerShare: share, MaxFeeRate: limit,
			Inputs: in.LpRequest.AmountUtxos, InputFeeRate: in.SweepFeeRate, DataLen: in.payout().Len(in.GasAmount != "0"),
		}
		got := in.LpResponse.quote(t)
		_, utxo, err := SPVLookups(got)
		var a Accepted
		if err == nil {
			a, err = SPV(expected, got, in.facts(t, utxo))
		}
		e, blamed := errors.AsType[*lp.LPError](err)
		v := in.VaultOnChain
		switch {
		case want.GoMustReject != nil && want.GoMustReject != false:
			// It is refused; what the reference makes of it is compared once that
			// which it does not look at is put right.
			facts := in.facts(t, utxo)
			switch {
			case e == nil:
				t.Fatalf("error %v, want a refusal that blames the LP", err)
			case want.Error:
			case e.Check == lp.CheckVaultBalance:
				c.Differ(t, "spv-fee-balance")
				facts.Vault.Raw = [2]uint64{1 << 62, 1 << 62}
			case e.Check == lp.CheckVaultTokens:
				c.Differ(t, "spv-vault-tokens")
				facts.Vault.Tokens = [2]string{bought.Address, native.Address}
			case e.Check == lp.CheckPrice || e.Check == lp.CheckGasPrice:
				c.Differ(t, "price-receive-ppm")
				expected.Policy.TolerancePPM = 1_000_000_000
			}
			if !want.Error {
				a, err = SPV(expected, got, facts)
			}
		case want.Error && err == nil && gas.Sign() > 0 && v.Multiplier0 != v.Multiplier1:
			c.Differ(t, "spv-gas-multiplier") // cut to units of token 1, as it should be
			return
		case !want.Error && e != nil && (e.Check == lp.CheckFee || e.Check == lp.CheckGasFee):
			// More than announced: refused unless the policy allows it.
			c.Differ(t, "lp-fee-announced")
			expected.Policy.AnyFee = true
			a, err = SPV(expected, got, in.facts(t, utxo))
		case !want.Error && e != nil && e.Check == lp.CheckWatchtower:
			c.Differ(t, "watchtower-limit")
			expected.Policy.MaxWatchtowerPPM = 1_000_000
			a, err = SPV(expected, got, in.facts(t, utxo))
		}
		if (err != nil) != want.Error {
			t.Fatalf("error %v, want one: %v", err, want.Error)
		}
		if err != nil {
			switch {
			case tooFine(err) && (!in.ExactIn || gas.Sign() > 0):
				c.Differ(t, "lp-callers-fault")
			case !blamed:
				t.Errorf("error %v does not blame the LP", err)
			}
			if want.ErrorType == "Error" {
				c.Differ(t, "lp-blamed")
			}
			return
		}
		gasPPM := (*string)(nil)
		if a.GasPrice != nil {
			s := new(big.Int).Quo(a.GasPrice.DifferencePPM, big.NewInt(10)).String()
			gasPPM = &s
		}
		if a.Price.DifferencePPM.Sign() != 0 {
			c.Differ(t, "price-receive-ppm")
		}
		type shown struct {
			Share, UTXOSats, PPM, Quoted, Market, BTC, Total, Gas string
			MinFeeRate                                            float64
			Confirmations                                         uint32
			Expiry                                                int64
			GasPPM                                                *string
		}
		diff := cmp.Diff(shown{want.CallerFeeShare, want.VaultUtxoValue, want.DifferencePPM, want.SwapPriceUSatPerToken, want.RealPriceUSatPerToken, want.BtcAmount,
			want.OutputTotalSwap, want.OutputTotalGas, want.MinimumBtcFeeRate, want.VaultRequiredConfirmations, want.Expiry, want.GasDifferencePPM},
			shown{strconv.Itoa(int(a.Vault.Shares.Caller)), strconv.FormatInt(a.Vault.UTXOSats, 10), new(big.Int).Quo(a.Price.DifferencePPM, big.NewInt(10)).String(),
				a.Price.Quoted.String(), a.Price.Market.String(), a.Input.String(), a.Output.String(), a.Vault.Totals[1].String(), a.Vault.MinFeeRate,
				a.Vault.Confirmations, a.Expires.UnixMilli(), gasPPM})
		if diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if a.Vault.UTXO.String() != strings.ToLower(in.LpResponse.BtcUtxo) {
			t.Errorf("output %s, want %s", a.Vault.UTXO, in.LpResponse.BtcUtxo)
		}
	})
}

func TestVectorsClientDerived(t *testing.T) {
	vectors.Each(t, "lp-protocol", "client-derived", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Kind, Amount, PriceUSatPerToken string
			Decimals                        int
			ExactIn, TokenIsNative, ZeroFee bool
			Options                         struct {
				MaxRoutingFeePercentage          *float64
				MaxRoutingBaseFee, MaxRoutingPPM *string
				ExpirySeconds                    *int64
			}
			Now           int64
			Token, Native struct {
				Decimals          int
				PriceUSatPerToken string
			}
			RelayFeePerBlock, ClaimFee  string
			BtcTip, RelayTip            uint32
			FeeSafetyFactor             float64
			EscrowExpiry, Confirmations int64
		}
		c.Input(t, &in)
		switch in.Kind {
		case "maxRoutingFee":
			base, ppm, seconds := int64(lightning.RoutingFeeBaseSats), int64(lightning.RoutingFeePPM), int64(lightning.DefaultHTLCTimeoutSeconds)
			o := in.Options
			if o.MaxRoutingBaseFee != nil {
				base = flowtest.Number(t, *o.MaxRoutingBaseFee).Int64()
			}
			if o.MaxRoutingPPM != nil {
				ppm = flowtest.Number(t, *o.MaxRoutingPPM).Int64()
			}
			if o.MaxRoutingFeePercentage != nil { // an option that requests do not have here
				ppm = int64(*o.MaxRoutingFeePercentage * 10_000)
			}
			if o.ExpirySeconds != nil {
				seconds = *o.ExpirySeconds
			}
			var fee *big.Int
			if in.ExactIn {
				fee = trial.Must(MaxRoutingUnits(flowtest.Number(t, in.Amount), base, ppm, flowtest.Number(t, in.PriceUSatPerToken), in.Decimals))(t)
			} else {
				fee = big.NewInt(lightning.MaxRoutingFee(flowtest.Number(t, in.Amount).Int64(), base, ppm))
			}
			vectors.SameJSON(t, c.Want(t), map[string]string{"maxFee": fee.String(), "expiryTimestamp": strconv.FormatInt(in.Now+seconds, 10)})
		case "callerFeeShare":
			fee, amount := new(big.Int), flowtest.Number(t, in.Amount)
			if !in.ZeroFee && amount.Sign() != 0 {
				fee = CallerFee(in.BtcTip, in.RelayTip, flowtest.Number(t, in.RelayFeePerBlock), flowtest.Number(t, in.ClaimFee), int64(in.FeeSafetyFactor*1e6))
			}
			share, err := CallerShare(fee, Payout{Amount: amount, ExactIn: in.ExactIn, TokenIsNative: in.TokenIsNative, Decimals: in.Token.Decimals,
				Price: flowtest.Number(t, in.Token.PriceUSatPerToken), NativeDecimals: in.Native.Decimals, NativePrice: flowtest.Number(t, in.Native.PriceUSatPerToken)})
			if err != nil && (!errors.Is(err, ErrTooLittle) || share != 0) {
				t.Fatal(share, err)
			}
			vectors.SameJSON(t, c.Want(t), map[string]string{"feeNative": fee.String(), "callerFeeShare": strconv.FormatUint(uint64(share), 10)})
		case "onchainSendTimeout":
			vectors.SameJSON(t, c.Want(t), map[string]string{"timeout": strconv.FormatInt(lp.SendTimeout(in.EscrowExpiry, in.Confirmations), 10)})
		default:
			t.Fatalf("unknown kind %q", in.Kind)
		}
	})
}

// TestVectorsTimeouts covers the cases about bitcoin and about the claim; the others belong
// to package lightning.
func TestVectorsTimeouts(t *testing.T) {
	file := vectors.Load(t, "swap-flows-escrow", "timeouts")
	var now int64
	file.Member(t, "now", &now)
	var own []*vectors.Case
	for _, c := range file.Cases {
		var in struct{ Kind string }
		if c.Input(t, &in); strings.HasPrefix(in.Kind, "fromBtc") || in.Kind == "htlcClaimDeadline" {
			own = append(own, c)
		}
	}
	file.Cases = own
	file.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Kind, EscrowExpiry, FeePerBlock, SafetyFactor, StartTimestamp, AddBlock, AddFee string
			RequiredConfirmations                                                           int64
		}
		c.Input(t, &in)
		expiry := flowtest.Number(t, in.EscrowExpiry).Int64()
		switch in.Kind {
		case "htlcClaimDeadline":
			vectors.SameJSON(t, c.Want(t), map[string]string{"deadline": strconv.FormatInt(lp.DutyClaim.Before(expiry).Unix(), 10)})
			return
		case "fromBtcClaimerBounty":
			b := lp.Bounty{FeePerBlock: flowtest.Number(t, in.FeePerBlock), SafetyFactor: flowtest.Number(t, in.SafetyFactor), StartTimestamp: flowtest.Number(t, in.StartTimestamp).Int64(),
				AddBlock: flowtest.Number(t, in.AddBlock), AddFee: flowtest.Number(t, in.AddFee)}
			vectors.SameJSON(t, c.Want(t), map[string]string{"claimerBounty": b.At(expiry).String()})
			return
		}
		end := lp.SendTimeout(expiry, in.RequiredConfirmations)
		vectors.SameJSON(t, c.Want(t), map[string]any{"sendTimeout": strconv.FormatInt(end, 10), "commitAllowedAtNow": !lp.DutySignToPay.TooLate(end, chains.Block{}, time.UnixMilli(now))})
	})
}
