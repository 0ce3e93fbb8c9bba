package recovery

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strings"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/quote"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// foreignVault are the members of the reference's records of vault swaps
// (protocol: swap-flows-spv-and-core.md A3).
type foreignVault struct {
	QuoteID            string      `json:"quoteId"`
	VaultOwner         string      `json:"vaultOwner"`
	VaultID            *decimal    `json:"vaultId"`
	VaultConfirmations uint32      `json:"vaultRequiredConfirmations"`
	VaultMultipliers   [2]*decimal `json:"vaultTokenMultipliers"`
	VaultAddress       string      `json:"vaultBtcAddress"`
	VaultUTXO          string      `json:"vaultUtxo"`
	VaultUTXOValue     *decimal    `json:"vaultUtxoValue"`
	LPAddress          string      `json:"btcDestinationAddress"`
	BtcAmount          *decimal    `json:"btcAmount"`
	MinimumFeeRate     float64     `json:"minimumBtcFeeRate"`
	OutputTotalSwap    *decimal    `json:"outputTotalSwap"`
	OutputTotalGas     *decimal    `json:"outputTotalGas"`
	OutputSwapToken    string      `json:"outputSwapToken"`
	CallerShare        *decimal    `json:"callerFeeShare"`
	FrontingShare      *decimal    `json:"frontingFeeShare"`
	ExecutionShare     *decimal    `json:"executionFeeShare"`
	Genesis            uint64      `json:"genesisSmartChainBlockHeight"`
	VaultPosted        bool        `json:"posted"`
	FrontTxID          string      `json:"frontTxId"`
}

func (i *importer) vault() error {
	o, r := i.o, i.r
	t, err := i.token("outputSwapToken", o.OutputSwapToken)
	if err != nil {
		return err
	}
	owner, err := i.chain.Address(o.VaultOwner)
	if err != nil {
		return of("vaultOwner", err)
	}
	r.LP.Address, r.From = owner, o.Genesis
	var sats [4]uint64
	for n, m := range []struct {
		name string
		d    *decimal
	}{{"btcAmount", o.BtcAmount}, {"btcAmountSwap", o.BtcAmountSwap}, {"btcAmountGas", o.BtcAmountGas}, {"vaultUtxoValue", o.VaultUTXOValue}} {
		if sats[n], err = m.d.sats(m.name); err != nil {
			return err
		}
	}
	v := &swap.VaultPart{QuoteID: o.QuoteID, Owner: owner, VaultID: o.VaultID.orZero(), UTXO: strings.ToLower(o.VaultUTXO), MinFeeRate: o.MinimumFeeRate,
		UTXOSats: int64(sats[3]), Sats: [2]int64{int64(sats[1]), int64(sats[2])},
		Deadline: swap.Millis(o.Expiry), FrontTx: o.FrontTxID, ClaimTx: o.ClaimTxID}
	for n, share := range []*decimal{o.CallerShare, o.FrontingShare, o.ExecutionShare} {
		if v.Shares[n] = uint32(share.orZero().Uint64()); !share.orZero().IsUint64() || share.orZero().BitLen() > 20 {
			return fault.Invalid([]string{"callerFeeShare", "frontingFeeShare", "executionFeeShare"}[n], "%s is out of range", share.orZero())
		}
	}
	for n, total := range []*decimal{o.OutputTotalSwap, o.OutputTotalGas} {
		m := o.VaultMultipliers[n].orZero()
		if m.Sign() <= 0 {
			return fault.Invalid("vaultTokenMultipliers", "must be greater than zero")
		}
		raw := new(big.Int).Quo(total.orZero(), m)
		if !raw.IsUint64() {
			return fault.Invalid([]string{"outputTotalSwap", "outputTotalGas"}[n], "%s is out of range", total.orZero())
		}
		v.Multipliers[n], v.Raw[n] = m, raw.Uint64()
	}
	if v.Script, err = scriptOf(o.VaultAddress); err != nil {
		return of("vaultBtcAddress", err)
	}
	if v.LPScript, err = scriptOf(o.LPAddress); err != nil {
		return of("btcDestinationAddress", err)
	}
	r.Vault = v
	r.Bitcoin = &swap.BitcoinPart{Address: o.LPAddress, Sats: sats[0], Confirmations: o.VaultConfirmations, ConfirmedAt: swap.Millis(o.BtcTxConfirmedAt)}
	if err := i.posted(); err != nil {
		return err
	}
	r.Expiry -= quote.ShownBefore
	i.vaultTerms(t)
	return nil
}

func (i *importer) vaultTerms(t tokens.Token) {
	o, r := i.o, i.r
	btc := tokens.BTC()
	r.Terms.Recipient = r.Signer
	r.Terms.Input = tokens.NewAmount(o.BtcAmount.orZero(), btc)
	r.Terms.Output = tokens.NewAmount(o.OutputTotalSwap.orZero(), t)
	fee := new(big.Int).Add(o.SwapFeeBtc.orZero(), o.GasSwapFeeBtc.orZero())
	r.Terms.SwapFee, r.Terms.FeeSats = tokens.NewAmount(fee, btc), fee
	paid := lp.SPVQuote{BTCAmountSwap: o.BtcAmountSwap.orZero(), SwapFeeBTC: o.SwapFeeBtc.orZero(), BTCAmountGas: o.BtcAmountGas.orZero(), GasSwapFeeBTC: o.GasSwapFeeBtc.orZero()}
	s := r.Vault.Shares
	network := tokens.NewAmount(quote.VaultNetworkFee(paid, bitcoin.FeeShares{Caller: s[0], Fronting: s[1], Execution: s[2]}), btc)
	r.Terms.NetworkFee, r.Terms.NetworkSats = &network, network.Raw
	r.Terms.Confirmations = o.VaultConfirmations
	if o.OutputTotalGas.orZero().Sign() > 0 {
		gas := tokens.NewAmount(o.OutputTotalGas.Int, i.chain.Info().Native)
		r.Terms.GasDrop = &gas
	}
}

// posted reads what was handed to the LP. The PSBT itself is not kept by the
// reference, so it cannot be posted again.
func (i *importer) posted() error {
	var data struct{ Hex, TxID string }
	if d := i.o.Data; len(d) > 0 && string(d) != "null" {
		if err := json.Unmarshal(d, &data); err != nil {
			return of("data", err)
		}
	}
	b := i.r.Bitcoin
	if data.Hex != "" {
		raw, err := hex.DecodeString(data.Hex)
		if err != nil {
			return fault.Invalid("data", "the transaction must be hexadecimal")
		}
		tx, err := rawtx.Decode(raw)
		if err != nil {
			return of("data", err)
		}
		b.Tx, b.TxID = raw, tx.TxHash()
	}
	if b.Tx == nil {
		if i.o.VaultPosted {
			return fault.Invalid("data", "is required: the transaction was sent to the provider")
		}
		return nil
	}
	b.Posted = true
	i.r.Tried = map[string]swap.Try{string(swap.PostPSBT): {Started: i.r.CreatedAt, Attempts: 1, Outcome: swap.Done}}
	return nil
}

// scriptOf reads an address of whichever network: records do not name theirs.
func scriptOf(address string) ([]byte, error) {
	for _, n := range []bitcoin.Network{bitcoin.Mainnet, bitcoin.Testnet3, bitcoin.Testnet4, bitcoin.Signet, bitcoin.Regtest} {
		if a, err := bitcoin.ParseAddress(address, n); err == nil {
			return a.Script(), nil
		}
	}
	return nil, fault.Invalid("address", "is not a Bitcoin address")
}
