package lp

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
)

// spvQuote is a quote for a withdrawal from a vault, under the LP's mutex.
type spvQuote struct {
	vault     *vault
	utxo      btc.OutPoint
	recipient string
	sats      int64 // to the LP
	raw       [2]uint64
	shares    btc.FeeShares
	rate      float64
	expiry    int64
	used      bool
}

// inputCost is a coin of a user who swaps a whole wallet.
type inputCost struct {
	Value int64   `json:"value"`
	VSize float64 `json:"vSize"`
	CPFP  *struct {
		VSize float64 `json:"effectiveVSize"`
		Rate  float64 `json:"effectiveFeeRate"`
	} `json:"cpfp"`
}

// wholeWallet returns what is left of coins for the LP (protocol: lp-protocol.md
// §8.4, in floating point as there).
func (l *LP) wholeWallet(coins []inputCost, rate float64, dataLen int) int64 {
	push := 2
	if dataLen > 75 {
		push = 3
	}
	size := 10.5 + 41 + 16.75 + 9 + 34 + 9 + float64(push+dataLen) + 9 + 22
	var sum int64
	var fees, inputs, parents float64
	for _, c := range coins {
		var extra float64
		if c.CPFP != nil {
			extra = math.Ceil(c.CPFP.VSize * max(0, rate-c.CPFP.Rate))
		}
		if fee := extra + c.VSize*rate; fee <= float64(c.Value) {
			sum += c.Value
			fees += fee
			inputs += c.VSize
			parents += extra
		}
	}
	if l.o.Next {
		return newerWallet(sum, size, inputs, parents, rate)
	}
	return int64(math.Floor(float64(sum) - math.Ceil(fees+math.Ceil(size)*rate)))
}

// share reads a fee share of at most 20 bits.
func (r *reader) share(name string, code int) uint32 {
	v := r.big(name)
	if r.err == nil && (v.Sign() < 0 || v.BitLen() > 20) {
		r.err = refuse(code, "Invalid request body ("+name+")")
	}
	return uint32(v.Uint64())
}

// sweep is the amount that all coins of a wallet pay.
func (l *LP) sweep(r *reader, coinsText json.RawMessage, rate float64, withdrawal int) (*big.Int, error) {
	var coins []inputCost
	feeRate, _ := r.already("amountFeeRate")
	var theirs float64
	if json.Unmarshal(coinsText, &coins) != nil || len(coins) > 250 || len(feeRate) > 0 && json.Unmarshal(feeRate, &theirs) != nil {
		return nil, badBody("amountUtxos")
	}
	amount := bigInt(max(0, l.wholeWallet(coins, max(rate, theirs), withdrawal)))
	if l.o.Next && amount.Sign() <= 0 {
		return nil, refuse(20194, "Resulting UTXO-adjustment amount too low!")
	}
	return amount, nil
}

func (l *LP) quoteSPV(r *reader, _ func(object) error) (any, error) {
	s, err := l.side(r)
	if err != nil {
		return nil, err
	}
	if !s.hasVaults() {
		return nil, refuse(20301, "No suitable swap vault found!")
	}
	exactOut := r.bool("exactOut")
	recipient, token := r.address(s, "address"), r.token(s, "token")
	gasToken, gas := r.token(s, "gasToken"), r.amount("gasAmount")
	shares := btc.FeeShares{Fronting: r.share("frontingFeeRate", 20192), Caller: r.share("callerFeeRate", 20191)}
	if r.err != nil {
		return nil, r.err
	}
	raw, err := r.wait("amount")
	if err != nil && !errors.Is(err, errMissing) {
		return nil, err
	}
	rate := max(1, l.rate())
	amount, ok := parseBig(raw)
	if !ok {
		amount = new(big.Int)
	}
	all, sweep := r.already("amountUtxos")
	if err := l.admit(r, s, l.withdrawing()); err != nil {
		return nil, err
	}
	price, known := s.price(token)
	native, _ := s.price(s.native())
	switch {
	case gasToken != s.native():
		return nil, refuse(20190, "Invalid request body (gasToken)")
	case !known:
		return nil, badBody("token")
	case strings.Trim(recipient, "0x") == "":
		return nil, badBody("address")
	case sweep && exactOut:
		return nil, refuse(20193, "Invalid request body (amountUtxos)")
	case !sweep && (!ok || amount.Sign() < 0 || l.o.Next && amount.Sign() == 0):
		return nil, badBody("amount")
	}
	if sweep {
		if amount, err = l.sweep(r, all, rate, s.vaults().withdrawalLen(gas.Sign() > 0)); err != nil {
			return nil, err
		}
	}
	both := shares.Caller + shares.Fronting
	asked := amount
	if exactOut {
		amount = withShares(amount, both)
	}
	q, err := l.terms("FROM_BTC_SPV").receipt(price, !exactOut, amount, &gasRequest{native, withShares(gas, both)}, s.gasMax, l.o.Next)
	if err != nil {
		return nil, err
	}
	total, totalGas := withoutShares(q.total, both), gas
	if exactOut {
		total = asked // what rounding would take away was asked for
	}
	rawOf := func(v chains.Vault) [2]uint64 {
		return [2]uint64{new(big.Int).Quo(total, v.Multipliers[0]).Uint64(), new(big.Int).Quo(totalGas, v.Multipliers[1]).Uint64()}
	}
	v, err := l.chooseVault(s, token, func(v chains.Vault) ([2]uint64, error) {
		a, err := shares.Amounts(rawOf(v))
		return a.Total, err
	})
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	d := &spvQuote{vault: v, utxo: v.utxo(), recipient: recipient, sats: add(q.amount, q.gas).Int64(), raw: rawOf(v.onchain), shares: shares, rate: rate,
		expiry: l.o.Now().Unix() + s.authTime()}
	unique := newID(sequence().Bytes(), []byte(recipient), sequence().Bytes())
	id := hex.EncodeToString(unique[:])
	l.quotes[id] = d
	return d.answer(id, l, s, q, total, totalGas, sweep), nil
}

// answer is what the user hears of a quote.
func (d *spvQuote) answer(id string, l *LP, s *side, q receipt, total, totalGas *big.Int, sweep bool) object {
	units := d.vault.onchain.Multipliers
	return object{{"quoteId", id}, {"expiry", d.expiry}, {"address", s.address()}, {"vaultId", d.vault.onchain.ID.String()},
		{"vaultBtcAddress", l.vaultKey.Address.String()}, {"btcAddress", l.hot.Address.String()}, {"btcUtxo", d.utxo.String()}, {"btcFeeRate", d.rate},
		{"btcAmount", bigInt(d.sats).String()}, {"btcAmountSwap", q.amount.String()}, {"btcAmountGas", q.gas.String()},
		{"total", wholeUnits(total, units[0]).String()}, {"totalGas", wholeUnits(totalGas, units[1]).String()},
		{"totalFeeBtc", add(q.swapFee, q.gasFee).String()}, {"swapFeeBtc", q.swapFee.String()}, {"swapFee", q.swapFeeTok.String()},
		{"gasSwapFeeBtc", q.gasFee.String()}, {"gasSwapFee", q.gasTok.String()},
		{"callerFeeShare", bigInt(int64(d.shares.Caller)).String()}, {"frontingFeeShare", bigInt(int64(d.shares.Fronting)).String()}, {"executionFeeShare", "0"},
		{"usedUtxoInputCalculation", sweep}}
}

// rate is what the LP's wallet takes for the right fee rate.
func (l *LP) rate() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.feeRate
}
