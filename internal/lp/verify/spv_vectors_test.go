package verify

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// standVault is a vault and its chain of outputs in neutral form.
type standVault struct {
	Vault *struct {
		Opened                bool
		Confirmations         uint32
		Utxo                  string
		Multipliers, Balances []string
	}
	BtcTxs map[string]struct {
		Confirmations uint32
		Values        []int64
		Spends        *string
	}
	PendingAmounts []string
	Spent          []string
}

// facts answers what is asked about the quoted output. units is false where the
// amounts are vault units already.
func (s standVault) facts(t *testing.T, token, native, vaultAddress, quoted string) VaultFacts {
	var f VaultFacts
	if s.Vault != nil {
		utxo := trial.Must(bitcoin.ParseOutPoint(s.Vault.Utxo))(t)
		v := chains.Vault{Open: s.Vault.Opened, OurRelay: true, Tokens: [2]string{token, native}, Confirmations: s.Vault.Confirmations, VaultState: bitcoin.VaultState{UTXO: utxo}}
		for i := range 2 {
			v.Multipliers[i] = flowtest.Number(t, s.Vault.Multipliers[i])
			v.Raw[i] = new(big.Int).Quo(flowtest.Number(t, s.Vault.Balances[i]), v.Multipliers[i]).Uint64()
		}
		f.Vault = &v
	}
	op, err := bitcoin.ParseOutPoint(strings.ToLower(quoted))
	if err != nil {
		return f
	}
	tx := func(id bitcoin.Hash) *bitcoin.Tx {
		known, ok := s.BtcTxs[id.String()]
		if !ok {
			return nil
		}
		out := &bitcoin.Tx{ID: id, Msg: wire.NewMsgTx(2), Confirmations: known.Confirmations}
		var script []byte
		if a, err := bitcoin.ParseAddress(vaultAddress, bitcoin.Regtest); err == nil {
			script = a.Script()
		}
		for _, v := range known.Values {
			out.Msg.AddTxOut(wire.NewTxOut(v, script))
		}
		return out
	}
	f.Output, f.Spend = tx(op.Hash), bitcoin.Unspent
	for _, spent := range s.Spent {
		if spent == op.String() {
			f.Spend = bitcoin.SpentInMempool
		}
	}
	for at := op; f.Vault != nil && at != f.Vault.UTXO; {
		known, ok := s.BtcTxs[at.Hash.String()]
		if !ok || known.Spends == nil || len(f.Pending) == vault.MaxPendingQuoted {
			f.Trace = fmt.Errorf("%s does not lead to the vault", at)
			break
		}
		spends := trial.Must(bitcoin.ParseOutPoint(*known.Spends))(t)
		w := chains.Withdrawal{Withdrawal: bitcoin.Withdrawal{TxID: at.Hash, Vault: spends}}
		for i, amount := range s.PendingAmounts {
			w.Amounts.Total[i] = flowtest.Number(t, amount).Uint64()
		}
		f.Pending = append([]chains.Withdrawal{w}, f.Pending...)
		at = spends
	}
	return f
}

func TestVectorsVerifySPV(t *testing.T) {
	vectors.Each(t, "lp-protocol", "verify-spv", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Now                                   int64
			LpAddress, RequestedAmount, GasAmount string
			ExactIn                               bool
			CallerFeeShare                        string
			MaxBtcFeeRate                         float64
			Resp                                  spvResponse
			standVault
		}
		c.Input(t, &in)
		var want struct {
			verdict
			VaultUtxoValue int64
		}
		c.Expected(t, &want)
		a := coinAt("0xaa")
		native := coinAt("0xbb")
		got := in.Resp.quote(t)
		if got.QuoteID == "" {
			got.QuoteID = strings.Repeat("00", 32)
		}
		q := &spv{
			SPVExpected: SPVExpected{
				Agreed:  Agreed{LP: in.LpAddress, Token: a, Native: native, Amount: flowtest.Number(t, in.RequestedAmount), ExactIn: in.ExactIn, Now: unix(in.Now)},
				Network: bitcoin.Regtest, GasAmount: flowtest.Number(t, in.GasAmount), CallerShare: uint32(flowtest.Number(t, in.CallerFeeShare).Uint64()), MaxFeeRate: in.MaxBtcFeeRate,
			},
			got: got, facts: in.facts(t, a.Address, native.Address, in.Resp.VaultBtcAddress, in.Resp.BtcUtxo),
		}
		// What the reference wrongly accepts is put right, and the rest judged again.
		err := first(q.data, q.chain)
		for range 3 {
			if want.Error || err == nil || !q.mend(t, c, err) {
				break
			}
			err = first(q.data, q.chain)
		}
		switch e, _ := errors.AsType[*lp.LPError](err); {
		case want.Error && sameBytes(in.Resp.Address, in.LpAddress):
			// An address is its bytes: what is left of the answer decides.
			c.Differ(t, "evm-address-bytes")
			if e != nil && e.Check == lp.CheckVaultOwner {
				t.Error(err)
			}
			return
		case !want.Error && e != nil && q.got.Total.Sign() == 0:
			c.Differ(t, "price-negative")
			return
		}
		if want.compare(t, c, err) {
			return
		}
		if q.sats != want.VaultUtxoValue {
			t.Errorf("%d sats in the vault's output, want %d", q.sats, want.VaultUtxoValue)
		}
	})
}

// mend puts right what err says is wrong with an answer that the reference
// accepts, if it is known that the reference does not look at it.
func (q *spv) mend(t *testing.T, c *vectors.Case, err error) bool {
	t.Helper()
	e, _ := errors.AsType[*lp.LPError](err)
	if e == nil || q.facts.Vault == nil {
		return false
	}
	units := q.facts.Vault.Multipliers
	cut := func(v *big.Int, unit int) *big.Int { return bigs.Sub(v, new(big.Int).Rem(v, units[unit])) }
	switch e.Check {
	case lp.CheckMultiplier, lp.CheckGas:
		total, gas := cut(q.got.Total, 0), cut(q.GasAmount, 1)
		if same(total, q.got.Total) && same(gas, q.got.TotalGas) {
			return false // nothing wrong with it
		}
		if q.got.Total, q.got.TotalGas = total, gas; !q.ExactIn { // the request is in whole units too, now
			q.Amount = cut(q.Amount, 0)
		}
		c.Differ(t, "spv-gas-multiplier")
	case lp.CheckVaultBalance:
		short := false
		for i, left := range q.facts.Vault.Raw {
			for _, w := range q.facts.Pending {
				left -= w.Amounts.Total[i]
			}
			if left < q.amounts.Payout[i] {
				t.Errorf("%v, with %d for %+v", err, left, q.amounts)
			}
			if need := q.amounts.Total[i]; left < need {
				short = true
				q.facts.Vault.Raw[i] += need - left
			}
		}
		if q.CallerShare == 0 || !short {
			return false
		}
		c.Differ(t, "spv-fee-balance")
	default:
		return false
	}
	return true
}

// spvResponse is an answer as vectors write it.
type spvResponse struct {
	QuoteID                                                          string
	Expiry                                                           int64
	Address, VaultID, VaultBtcAddress, BtcAddress, BtcUtxo           string
	BtcFeeRate                                                       float64
	BtcAmount, BtcAmountSwap, BtcAmountGas                           string
	Total, TotalGas, TotalFeeBtc, SwapFeeBtc, SwapFee, GasSwapFeeBtc string
	GasSwapFee, CallerFeeShare, FrontingFeeShare, ExecutionFeeShare  string
	UsedUtxoInputCalculation                                         *bool
}

func (r spvResponse) quote(t *testing.T) lp.SPVQuote {
	n := func(s string) *big.Int {
		if s == "" {
			s = "0"
		}
		return flowtest.Number(t, s)
	}
	return lp.SPVQuote{
		QuoteID: r.QuoteID, Expiry: r.Expiry, Address: r.Address, VaultID: n(r.VaultID), VaultBTCAddress: r.VaultBtcAddress, BTCAddress: r.BtcAddress,
		BTCUTXO: r.BtcUtxo, BTCFeeRate: r.BtcFeeRate, BTCAmount: n(r.BtcAmount), BTCAmountSwap: n(r.BtcAmountSwap), BTCAmountGas: n(r.BtcAmountGas),
		Total: n(r.Total), TotalGas: n(r.TotalGas), TotalFeeBTC: n(r.TotalFeeBtc), SwapFeeBTC: n(r.SwapFeeBtc), SwapFee: n(r.SwapFee),
		GasSwapFeeBTC: n(r.GasSwapFeeBtc), GasSwapFee: n(r.GasSwapFee), CallerFeeShare: n(r.CallerFeeShare), FrontingFeeShare: n(r.FrontingFeeShare),
		ExecutionFeeShare: n(r.ExecutionFeeShare), UsedInputsOfRequest: r.UsedUtxoInputCalculation != nil && *r.UsedUtxoInputCalculation,
	}
}
