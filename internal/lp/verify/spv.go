package verify

import (
	"encoding/hex"
	"math"
	"math/big"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/lp"
)

// SPVExpected is what a SPV_VAULT_FROM_BTC answer is compared with.
type SPVExpected struct {
	Agreed
	Network     bitcoin.Network
	GasAmount   *big.Int // native base units, as sent; nil is 0
	CallerShare uint32   // as sent, parts per 100,000
	MaxFeeRate  float64  // sats/vB that the LP may demand

	// For swapping a whole wallet: its inputs and the fee rate that were sent, and
	// the length of the withdrawal's data. Inputs nil: none were sent.
	Inputs       []lp.InputCost
	InputFeeRate float64
	DataLen      int
}

// AcceptedVault is the vault's part of an accepted quote: what the Bitcoin
// transaction has to contain.
type AcceptedVault struct {
	QuoteID       string // lower case
	ID            chains.VaultID
	UTXO          bitcoin.OutPoint
	UTXOSats      int64
	Script        []byte // of UTXO, and of the vault's next output
	LPAddress     string
	LPScript      []byte
	Sats          [2]int64 // to the LP: for the token and for the gas
	Multipliers   [2]*big.Int
	Raw           [2]uint64 // payouts in vault units
	Totals        [2]*big.Int
	Shares        bitcoin.FeeShares
	GasFee        *big.Int // base units of the native token
	GasFeeSats    *big.Int
	MinFeeRate    float64 // sats/vB of the transaction
	Confirmations uint32  // that the vault needs
}

type spv struct {
	SPVExpected
	got   lp.SPVQuote
	facts VaultFacts

	lp, vault bitcoin.Address
	utxo      bitcoin.OutPoint
	raw       [2]uint64
	amounts   bitcoin.WithdrawalAmounts
	sats      int64 // in the vault's output
	price     PriceResult
	gas       *PriceResult
}

// SPVLookups returns what the facts about an answer are asked with: the vault
// and the output that the swap would spend.
func SPVLookups(got lp.SPVQuote) (chains.VaultID, bitcoin.OutPoint, error) {
	if err := sane(figure{"vaultId", got.VaultID}); err != nil {
		return chains.VaultID{}, bitcoin.OutPoint{}, err
	}
	utxo, err := bitcoin.ParseOutPoint(strings.ToLower(got.BTCUTXO))
	if err != nil {
		return chains.VaultID{}, bitcoin.OutPoint{}, lp.Lie(lp.CheckUTXO, "%w", err)
	}
	return chains.VaultID{Owner: got.Address, ID: got.VaultID}, utxo, nil
}

// SPV checks the answer for a swap from Bitcoin through a vault (protocol:
// swap-flows-spv-and-core.md A4 checks 1 to 25, lp-protocol.md §6.7, §9). Pure.
func SPV(want SPVExpected, got lp.SPVQuote, facts VaultFacts) (Accepted, error) {
	q := &spv{SPVExpected: want, got: got, facts: facts}
	if err := first(q.data, q.market, q.chain); err != nil {
		return Accepted{}, err
	}
	return Accepted{
		Input: got.BTCAmount, Output: got.Total, SwapFee: got.SwapFee, SwapFeeSats: got.SwapFeeBTC, Price: q.price, GasPrice: q.gas,
		Expires: time.Unix(got.Expiry, 0), Vault: q.vaultPart(),
	}, nil
}

// vaultPart is what was accepted of the vault.
func (q *spv) vaultPart() *AcceptedVault {
	got, v := q.got, q.facts.Vault
	return &AcceptedVault{
		QuoteID: strings.ToLower(got.QuoteID), ID: chains.VaultID{Owner: q.LP, ID: got.VaultID}, UTXO: q.utxo, UTXOSats: q.sats, Script: q.vault.Script(),
		LPAddress: q.lp.String(), LPScript: q.lp.Script(), Sats: [2]int64{got.BTCAmountSwap.Int64(), got.BTCAmountGas.Int64()},
		Multipliers: v.Multipliers, Raw: q.raw, Totals: [2]*big.Int{got.Total, got.TotalGas}, Shares: bitcoin.FeeShares{Caller: q.CallerShare},
		GasFee: got.GasSwapFee, GasFeeSats: got.GasSwapFeeBTC, MinFeeRate: q.minFeeRate(), Confirmations: v.Confirmations,
	}
}

// data checks what the answer alone shows, and that the vault can express what was
// asked for.
func (q *spv) data() error {
	return first(q.numbers, q.feeRate, q.quoteID, q.addresses, q.owner, q.output, q.btcSum, q.feeSum, q.shares, q.ends, q.fine)
}

func (q *spv) market() error {
	return first(q.announced, q.gasAnnounced, q.fairGasDrop, q.fair) // gas first: what it costs decides what is left
}

// chain checks the answer against Bitcoin and the smart chain.
func (q *spv) chain() error {
	return first(
		func() error { return q.facts.open() }, q.confirmations, q.tokens, q.asked, q.gasDrop, q.units, q.confirmed,
		func() error {
			return VaultPays(q.facts, vault.Pending{Withdrawal: bitcoin.Withdrawal{Vault: q.utxo}, Amounts: q.amounts})
		},
	)
}

func (q *spv) numbers() error {
	g := q.got
	if err := sane(figure{"vaultId", g.VaultID}, figure{"btcAmount", g.BTCAmount}, figure{"btcAmountSwap", g.BTCAmountSwap}, figure{"btcAmountGas", g.BTCAmountGas},
		figure{"total", g.Total}, figure{"totalGas", g.TotalGas}, figure{"totalFeeBtc", g.TotalFeeBTC}, figure{"swapFeeBtc", g.SwapFeeBTC},
		figure{"swapFee", g.SwapFee}, figure{"gasSwapFeeBtc", g.GasSwapFeeBTC}, figure{"gasSwapFee", g.GasSwapFee},
		figure{"callerFeeShare", g.CallerFeeShare}, figure{"frontingFeeShare", g.FrontingFeeShare}, figure{"executionFeeShare", g.ExecutionFeeShare}); err != nil {
		return err
	}
	if !g.BTCAmount.IsInt64() || g.BTCAmount.Int64() > rawtx.MaxMoney || g.BTCAmount.Sign() == 0 {
		return lp.Lie(lp.CheckNumbers, "the amount of %s sats is out of range", g.BTCAmount)
	}
	return nil
}

func (q *spv) feeRate() error {
	r := q.got.BTCFeeRate
	switch {
	case !(r > 0 && r <= 10_000):
		return lp.Lie(lp.CheckFeeRate, "the fee rate of %v sat/vB is out of range", r)
	case r < 1: // nodes may relay it one day; ours does not
		return doubt(lp.CheckFeeRate, "requires %v sat/vB, at least 1 is accepted", r)
	}
	if !(q.MaxFeeRate > 0) {
		return errUnknown("the maximum fee rate is")
	}
	if r > q.MaxFeeRate {
		return doubt(lp.CheckFeeRate, "requires %v sat/vB, above the accepted maximum of %v", r, q.MaxFeeRate)
	}
	return nil
}

func (q *spv) quoteID() error {
	if b, err := hex.DecodeString(q.got.QuoteID); err != nil || len(b) != 32 {
		return lp.Lie(lp.CheckQuoteID, "quoteId must be 64 hexadecimal digits")
	}
	return nil
}

// addresses: the LP is paid on p2wpkh, vaults live on p2tr; both are part of the
// fee estimate.
func (q *spv) addresses() (err error) {
	if q.lp, err = bitcoin.ParseAddress(q.got.BTCAddress, q.Network); err != nil {
		return lp.Lie(lp.CheckAddress, "the liquidity provider's address: %w", err)
	}
	if q.vault, err = bitcoin.ParseAddress(q.got.VaultBTCAddress, q.Network); err != nil {
		return lp.Lie(lp.CheckAddress, "the vault's address: %w", err)
	}
	if q.lp.Type() != bitcoin.P2WPKH || q.vault.Type() != bitcoin.P2TR {
		return lp.Lie(lp.CheckAddress, "the addresses are %v and %v, but must be p2wpkh for the liquidity provider and p2tr for the vault", q.lp.Type(), q.vault.Type())
	}
	return nil
}

func (q *spv) owner() error {
	if !sameAddress(q.got.Address, q.LP) {
		return lp.Lie(lp.CheckVaultOwner, "the vault belongs to %.80q instead of %s", q.got.Address, q.LP)
	}
	return nil
}

func (q *spv) output() (err error) {
	_, q.utxo, err = SPVLookups(q.got)
	return err
}

func (q *spv) btcSum() error {
	if !same(bigs.Add(q.got.BTCAmountSwap, q.got.BTCAmountGas), q.got.BTCAmount) {
		return lp.Lie(lp.CheckBTCSum, "swap and gas amounts of %s and %s sats do not add up to %s", q.got.BTCAmountSwap, q.got.BTCAmountGas, q.got.BTCAmount)
	}
	return nil
}

func (q *spv) feeSum() error {
	if !same(bigs.Add(q.got.SwapFeeBTC, q.got.GasSwapFeeBTC), q.got.TotalFeeBTC) {
		return lp.Lie(lp.CheckTotalFee, "fees of %s and %s sats do not add up to the stated total of %s", q.got.SwapFeeBTC, q.got.GasSwapFeeBTC, q.got.TotalFeeBTC)
	}
	return nil
}

func (q *spv) shares() error {
	want := new(big.Int).SetUint64(uint64(q.CallerShare))
	if !same(q.got.CallerFeeShare, want) || q.got.FrontingFeeShare.Sign() != 0 || q.got.ExecutionFeeShare.Sign() != 0 {
		return lp.Lie(lp.CheckShares, "the fee shares are %s, %s and %s instead of the requested %s, 0 and 0", q.got.CallerFeeShare, q.got.FrontingFeeShare, q.got.ExecutionFeeShare, want)
	}
	return nil
}

func (q *spv) ends() error {
	if q.got.Expiry > math.MaxInt64/1000 || q.got.Expiry < q.Now.Unix() {
		return lp.Late(lp.CheckQuoteExpiry, "the quote expired at %d, it is now %d", q.got.Expiry, q.Now.Unix())
	}
	return nil
}

func (q *spv) announced() error {
	return q.acceptedFee(lp.CheckFee, q.got.SwapFeeBTC, q.got.BTCAmountSwap, q.BaseFee, q.Token, q.Price)
}

func (q *spv) gasAnnounced() error {
	return q.acceptedFee(lp.CheckGasFee, q.got.GasSwapFeeBTC, q.got.BTCAmountGas, nil, q.Native, q.NativePrice)
}

// fair counts the watchtower's share as received, since the user has asked for
// it, and then as paid, within the policy's limit.
func (q *spv) fair() (err error) {
	if q.price, err = q.fairReceive(q.got.BTCAmountSwap, withShare(q.got.Total, q.CallerShare), q.got.SwapFeeBTC, q.unit()); err != nil {
		return err
	}
	return q.fairAfterWatchtower(q.got.BTCAmountSwap, q.got.Total, q.got.SwapFeeBTC, q.got.BTCAmount)
}

// unit is what the vault's unit of the token is to the user, with the watchtower's
// share; nil if the vault is not known.
func (q *spv) unit() *big.Int {
	if q.facts.Vault == nil || q.facts.Vault.Multipliers[0] == nil {
		return nil
	}
	return withShare(q.facts.Vault.Multipliers[0], q.CallerShare)
}

// fine refuses amounts that are finer than what the vault counts in. The units are
// the vault's own, so that the request shows nothing wrong, and an honest LP can
// only cut.
func (q *spv) fine() error {
	v := q.facts.Vault
	if v == nil {
		return nil // refused below
	}
	if !q.ExactIn {
		if err := fineEnough("amount", q.Amount, v.Multipliers[0]); err != nil {
			return err
		}
	}
	return fineEnough("gasAmount", bigs.OrZero(q.GasAmount), v.Multipliers[1])
}

// maxLostPPM is how much of an amount may be lost because vault units are
// coarser than base units.
const maxLostPPM = 100

func fineEnough(field string, want, unit *big.Int) error {
	if unit == nil || unit.Sign() <= 0 || want.Sign() <= 0 {
		return nil
	}
	if rest := new(big.Int).Rem(want, unit); bigs.MulDiv(rest, million, want).Cmp(big.NewInt(maxLostPPM)) > 0 {
		return fault.Invalid(field, "is not a multiple of %s, the smallest unit of the liquidity provider's vault", unit)
	}
	return nil
}

func (q *spv) fairGasDrop() (err error) {
	q.gas, err = q.fairGas(q.got.BTCAmountGas, withShare(q.got.TotalGas, q.CallerShare), q.got.GasSwapFeeBTC)
	return err
}

func (q *spv) confirmations() error {
	if n := q.facts.Vault.Confirmations; n < 1 || n > maxVaultConfirmations {
		return doubt(lp.CheckConfirmations, "the vault requires %d confirmations, accepted are 1 to %d", n, maxVaultConfirmations)
	}
	return nil
}

// tokens: without it a vault of a worthless token could be offered (protocol:
// swap-flows-spv-and-core.md D1).
func (q *spv) tokens() error {
	t := q.facts.Vault.Tokens
	if !sameAddress(t[0], q.Token.Address) || !sameAddress(t[1], q.Native.Address) {
		return lp.Lie(lp.CheckVaultTokens, "the vault holds the tokens %s and %s, expected %s and %s", t[0], t[1], q.Token.Address, q.Native.Address)
	}
	return nil
}

// asked checks the fixed amount: sats paid, or tokens paid out, which may be
// less by what vault units cannot express.
func (q *spv) asked() error {
	switch {
	case !q.ExactIn: // whatever the inputs were used for, the payout is fixed
		return inUnits("total", q.Amount, q.got.Total, q.facts.Vault.Multipliers[0], lp.CheckRequested)
	case q.got.UsedInputsOfRequest && q.Inputs == nil:
		return lp.Lie(lp.CheckInputs, "the amount was computed from inputs that were not sent")
	case q.got.UsedInputsOfRequest:
		if left := wholeWallet(q.Inputs, q.DataLen, q.minFeeRate()); !same(left[0], q.got.BTCAmount) && !same(left[1], q.got.BTCAmount) {
			return lp.Lie(lp.CheckRequested, "the amount is %s sats, but the inputs leave %s or %s", q.got.BTCAmount, left[0], left[1])
		}
		return nil
	}
	return q.requested(q.got.BTCAmount, nil)
}

// minFeeRate is the fee rate that the transaction needs.
func (q *spv) minFeeRate() float64 {
	if q.Inputs == nil {
		return q.got.BTCFeeRate
	}
	return max(q.got.BTCFeeRate, q.InputFeeRate)
}

func (q *spv) gasDrop() error {
	want := bigs.OrZero(q.GasAmount)
	if want.Sign() == 0 {
		if q.got.TotalGas.Sign() != 0 {
			return lp.Lie(lp.CheckGas, "the gas amount is %s, but none was requested", q.got.TotalGas)
		}
		return nil
	}
	return inUnits("totalGas", want, q.got.TotalGas, q.facts.Vault.Multipliers[1], lp.CheckGas)
}

// inUnits checks that got is want cut to multiples of a vault's unit.
func inUnits(name string, want, got, unit *big.Int, c lp.Check) error {
	if unit == nil || unit.Sign() <= 0 {
		return lp.Lie(lp.CheckMultiplier, "the vault has no unit multiplier")
	}
	if cut := bigs.Sub(want, new(big.Int).Rem(want, unit)); !same(got, cut) {
		return lp.Lie(c, "%s is %s, requested was %s", name, got, cut)
	}
	return nil
}

// units expresses the payout in vault units, exactly: what is left over could
// not be claimed, and the PSBT could not be built as quoted (protocol:
// lp-protocol.md §9 no. 10).
func (q *spv) units() (err error) {
	for i, total := range []*big.Int{q.got.Total, q.got.TotalGas} {
		unit := q.facts.Vault.Multipliers[i]
		if unit == nil || unit.Sign() <= 0 {
			return lp.Lie(lp.CheckMultiplier, "the vault has no unit multiplier for token %d", i)
		}
		raw, rest := new(big.Int).QuoRem(total, unit, new(big.Int))
		if rest.Sign() != 0 || !raw.IsUint64() {
			return lp.Lie(lp.CheckMultiplier, "%s is not a multiple of the vault's unit of %s", total, unit)
		}
		q.raw[i] = raw.Uint64()
	}
	if q.raw[0] == 0 {
		return fault.Invalid("amount", "is too small: it must be at least %s, the smallest unit of the liquidity provider's vault", q.facts.Vault.Multipliers[0])
	}
	if q.amounts, err = (bitcoin.FeeShares{Caller: q.CallerShare}).Amounts(q.raw); err != nil {
		return doubt(lp.CheckMultiplier, "%w", err)
	}
	return nil
}

// confirmed checks the output that the swap spends.
func (q *spv) confirmed() error {
	tx := q.facts.Output
	if tx == nil {
		return doubt(lp.CheckUTXO, "transaction %s was not found", q.utxo.Hash)
	}
	if !tx.Confirmed() {
		return doubt(lp.CheckUTXO, "output %s is not confirmed", q.utxo)
	}
	out, ok := tx.Output(q.utxo.Index)
	if !ok || tx.ID != q.utxo.Hash {
		return lp.Lie(lp.CheckUTXO, "output %s does not exist", q.utxo)
	}
	if string(out.PkScript) != string(q.vault.Script()) {
		return lp.Lie(lp.CheckUTXO, "output %s does not belong to %s", q.utxo, q.vault)
	}
	q.sats = out.Value
	return nil
}
