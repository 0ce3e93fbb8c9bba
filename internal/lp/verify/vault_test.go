package verify

import (
	"crypto/sha256"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/lp"
)

func TestEdgesSPV(t *testing.T) {
	honest := func() spvTest { return honestSPV(t) }
	keep := func(*spvTest) {}
	rate := func(r, most float64) func(*spvTest) {
		return func(v *spvTest) { v.got.BTCFeeRate, v.want.MaxFeeRate = r, most }
	}
	ends := func(at int64) func(*spvTest) { return func(v *spvTest) { v.got.Expiry = at } }
	fee := func(swap, gas int64) func(*spvTest) {
		return func(v *spvTest) {
			v.got.SwapFeeBTC, v.got.GasSwapFeeBTC, v.got.TotalFeeBTC = n(swap), n(gas), n(swap+gas)
		}
	}
	edges(t, honest, spvTest.verify, map[string]edge[spvTest]{
		"lowest rate":          {spares(lp.CheckFeeRate), rate(1, 20), rate(math.Nextafter(1, 0), 20)},
		"highest rate":         {lp.CheckFeeRate, rate(10_000, 1e9), rate(math.Nextafter(10_000, 1e9), 1e9)},
		"our limit":            {spares(lp.CheckFeeRate), rate(20, 20), rate(20.001, 20)},
		"end":                  {spares(lp.CheckQuoteExpiry), ends(noon.Unix()), ends(noon.Unix() - 1)},
		"end of time":          {spares(lp.CheckQuoteExpiry), ends(math.MaxInt64 / 1000), ends(math.MaxInt64/1000 + 1)},
		"swap fee":             {spares(lp.CheckFee), fee(300, 15), fee(301, 15)}, // 3, 10, 285, and 2 of a unit
		"gas fee":              {spares(lp.CheckGasFee), fee(295, 18), fee(295, 19)},
		"confirmations":        {spares(lp.CheckConfirmations), func(v *spvTest) { v.facts.Vault.Confirmations = 6 }, func(v *spvTest) { v.facts.Vault.Confirmations = 7 }},
		"fewest confirmations": {spares(lp.CheckConfirmations), func(v *spvTest) { v.facts.Vault.Confirmations = 1 }, func(v *spvTest) { v.facts.Vault.Confirmations = 0 }},
		"short id":             {lp.CheckQuoteID, keep, func(v *spvTest) { v.got.QuoteID = v.got.QuoteID[2:] }},
		"id and a path":        {lp.CheckQuoteID, keep, func(v *spvTest) { v.got.QuoteID += "/x" }},
		"missing vault":        {lp.CheckNumbers, keep, func(v *spvTest) { v.got.VaultID = nil }},
		"missing units":        {lp.CheckMultiplier, keep, func(v *spvTest) { v.facts.Vault.Multipliers[0] = nil }},
		"missing units of gas": {lp.CheckMultiplier, keep, func(v *spvTest) { v.facts.Vault.Multipliers[1] = nil }},
		"other output":         {lp.CheckUTXO, keep, func(v *spvTest) { v.facts.Output.ID = bitcoin.Hash{1} }},
		"no such output": {lp.CheckUTXO, keep, func(v *spvTest) {
			v.got.BTCUTXO = bitcoin.OutPoint{Hash: v.facts.Output.ID, Index: 1}.String()
			v.facts.Vault.UTXO.Index = 1
		}},
		"balance":     {spares(lp.CheckVaultBalance), keep, func(v *spvTest) { v.facts.Vault.Raw[0]-- }},
		"gas balance": {spares(lp.CheckVaultBalance), keep, func(v *spvTest) { v.facts.Vault.Raw[1]-- }},
	})
	exactOut := func() spvTest {
		v := honestSPV(t)
		v.want.ExactIn, v.want.Amount = false, n(94_610)
		return v
	}
	edges(t, exactOut, func(v spvTest) error { _, err := SPV(v.want, v.got, v.facts); return err }, map[string]edge[spvTest]{
		"payout": {lp.CheckRequested, keep, func(v *spvTest) { v.want.Amount = n(94_611) }},
		"payout cut to units of 2": {lp.CheckRequested, func(v *spvTest) { v.facts.Vault.Multipliers[0], v.want.Amount = n(2), n(94_611) },
			func(v *spvTest) { v.facts.Vault.Multipliers[0], v.want.Amount = n(2), n(94_612) }},
		"no units": {lp.CheckMultiplier, keep, func(v *spvTest) { v.facts.Vault.Multipliers[0] = nil }},
	})
	v := exactOut()
	v.facts.Vault.Multipliers[0] = n(94_600) // cuts off 10 of 94 610, 105 ppm
	if err := v.verify(); outcome(err) != tooSmall {
		t.Errorf("finer than the vault's unit: %v", err)
	}
	unjudged(t, honest, spvTest.verify, map[string]func(*spvTest){
		"our rate":      func(v *spvTest) { v.want.MaxFeeRate = 0 },
		"our rate, NaN": func(v *spvTest) { v.want.MaxFeeRate = math.NaN() },
		"price":         func(v *spvTest) { v.want.Price = nil },
		"native price":  func(v *spvTest) { v.want.NativePrice = nil },
	})
	for name, of := range map[string]struct {
		inputs       []lp.InputCost
		theirs, ours float64
		want         float64
	}{
		"without inputs": {nil, 2, 3, 2}, "our rate is higher": {[]lp.InputCost{{}}, 2, 3, 3}, "the LP's is higher": {[]lp.InputCost{{}}, 4, 3, 4},
	} {
		q := &spv{SPVExpected: SPVExpected{Inputs: of.inputs, InputFeeRate: of.ours}, got: lp.SPVQuote{BTCFeeRate: of.theirs}}
		if got := q.minFeeRate(); got != of.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What is asked about a vault is asked about one that can be.
func TestSPVLookups(t *testing.T) {
	v := honestSPV(t).got
	v.BTCUTXO = strings.ToUpper(v.BTCUTXO)
	if id, utxo, err := SPVLookups(v); err != nil || id.Owner != lpKey || id.ID.Int64() != 3 || strings.ToUpper(utxo.String()) != v.BTCUTXO {
		t.Errorf("%v, %v, %v", id, utxo, err)
	}
	v.BTCUTXO = "ab:0"
	_, _, err := SPVLookups(v)
	lied(t, lp.CheckUTXO, err)
	for _, id := range []*big.Int{nil, n(-1), new(big.Int).Lsh(n(1), 256)} {
		v.VaultID = id
		_, _, err := SPVLookups(v)
		lied(t, lp.CheckNumbers, err)
	}
}

// A vault is judged anew before it is paid to, whatever was quoted.
func TestVaultPaysIfOpen(t *testing.T) {
	pays := func(change func(*VaultFacts)) error {
		f := honestSPV(t).facts
		change(&f)
		return VaultPays(f, vault.Pending{Withdrawal: bitcoin.Withdrawal{Vault: f.Vault.UTXO}})
	}
	if err := pays(func(*VaultFacts) {}); err != nil {
		t.Error(err)
	}
	lied(t, spares(lp.CheckVaultOpen), pays(func(f *VaultFacts) { f.Vault.Open = false }))
	lied(t, lp.CheckVaultOpen, pays(func(f *VaultFacts) { f.Vault.OurRelay = false }))
	lied(t, spares(lp.CheckUTXOSpent), pays(func(f *VaultFacts) { f.Spend = bitcoin.SpentInMempool }))
}

// Amounts that a vault's units can express, to the last one.
func TestVaultUnits(t *testing.T) {
	most := new(big.Int).SetUint64(math.MaxUint64)
	units := func(total, gas *big.Int, share uint32) error {
		q := &spv{SPVExpected: SPVExpected{CallerShare: share}, got: lp.SPVQuote{Total: total, TotalGas: gas}, facts: VaultFacts{Vault: &chains.Vault{Multipliers: [2]*big.Int{n(1), n(10)}}}}
		return q.units()
	}
	for name, x := range map[string]struct {
		err  error
		want string
	}{
		"all":            {units(most, n(0), 0), accepted},
		"more than all":  {units(bigs.Add(most, n(1)), n(0), 0), liar},
		"with its share": {units(most, n(0), 1), spared},
		"gas in units":   {units(n(1), n(20), 0), accepted},
		"gas beside":     {units(n(1), n(21), 0), liar},
		"no unit":        {units(n(0), n(20), 0), tooSmall},

		"cut to 9":        {inUnits("x", n(10), n(9), n(3), lp.CheckGas), accepted},
		"not cut":         {inUnits("x", n(10), n(10), n(3), lp.CheckGas), liar},
		"no units":        {inUnits("x", n(10), n(10), nil, lp.CheckGas), liar},
		"units of 0":      {inUnits("x", n(10), n(10), n(0), lp.CheckGas), liar},
		"100 ppm lost":    {fineEnough("x", n(10_000), n(9_999)), accepted},
		"200 ppm lost":    {fineEnough("x", n(10_000), n(9_998)), tooSmall},
		"of nothing":      {fineEnough("x", n(0), n(7)), accepted},
		"unknown units":   {fineEnough("x", n(10), nil), accepted}, // refused later
		"units of zero":   {fineEnough("x", n(10), n(0)), accepted},
		"units below it":  {fineEnough("x", n(10), n(-3)), accepted},
		"half of 2 units": {fineEnough("x", n(3), n(2)), tooSmall},
	} {
		if got := outcome(x.err); got != x.want {
			t.Errorf("%s: %s: %v; want %s", name, got, x.err, x.want)
		}
	}
}

// An escrow that is delivered may be better than agreed, and is used in time.
func TestEdgesDelivered(t *testing.T) {
	d := standData{Type: chains.HTLC, Amount: "100", Expiry: noon.Unix() + 601, PayOut: true, Claimer: userKey, Offerer: lpKey, SecurityDeposit: "10", ClaimerBounty: "0"}
	agreedOn, err := d.escrow()
	if err != nil {
		t.Fatal(err)
	}
	deliver := func(legacy bool, change func(*standData)) error {
		got := d
		change(&got)
		e, _ := got.escrow()
		_, err := Delivered(standIn{}, agreedOn, e.Data, legacy)
		return err
	}
	for name, x := range map[string]struct {
		change       func(*standData)
		legacy, auto string
	}{
		"as agreed":       {func(*standData) {}, accepted, accepted},
		"more":            {func(d *standData) { d.Amount = "101" }, accepted, accepted},
		"less":            {func(d *standData) { d.Amount = "99" }, liar, liar},
		"another end":     {func(d *standData) { d.Expiry++ }, accepted, accepted},
		"another number":  {func(d *standData) { d.Sequence = "8" }, accepted, accepted},
		"smaller deposit": {func(d *standData) { d.SecurityDeposit = "9" }, accepted, liar},
		"greater deposit": {func(d *standData) { d.SecurityDeposit = "11" }, liar, liar},
	} {
		if a, b := outcome(deliver(true, x.change)), outcome(deliver(false, x.change)); a != x.legacy || b != x.auto {
			t.Errorf("%s: %s and %s, want %s and %s", name, a, b, x.legacy, x.auto)
		}
	}
	_, err = Delivered(standIn{}, agreedOn, []byte("{"), true)
	if lied(t, lp.CheckEscrow, err); err == nil || !strings.Contains(err.Error(), "escrow data") {
		t.Errorf("garbage: %v", err)
	}
	for _, x := range []struct {
		state     chains.EscrowState
		final     bool
		end, head int64 // from now
		want      string
	}{
		{chains.EscrowNone, false, 1080, 0, accepted},
		{chains.EscrowNone, false, 1079, 0, liar},
		{chains.EscrowNone, false, 1080, -1000, accepted},
		{chains.EscrowNone, false, 1080, 1, liar},
		{chains.EscrowNone, false, 1081, 1, accepted},
		{chains.EscrowOpen, false, 1080, 0, liar},
		{chains.EscrowOpen, true, 1080, 0, liar},
		{chains.EscrowClaimed, true, 1080, 0, liar},
		{chains.EscrowRefunded, true, 1080, 0, liar},
	} {
		e, f := agreedOn, chains.EscrowFact{State: x.state, Final: x.final, Head: chains.Block{Time: noon.Unix() + x.head}}
		e.Expiry = noon.Unix() + x.end
		if got := outcome(lp.Openable(e, f, goodAuth.Err, noon)); got != x.want {
			t.Errorf("%v %+d %+d: %s, want %s", x.state, x.end, x.head, got, x.want)
		}
	}
}

// mute is a contract that answers nothing.
type mute struct{ standIn }

func (mute) ClaimHash(chains.Condition) ([]byte, error) { return nil, errors.New("cannot") }
func (mute) Expect(chains.Spec) (chains.Escrow, error)  { return chains.Escrow{}, errors.New("cannot") }

// Proofs of payment: whatever is not exactly one is refused.
func TestEdgesPayout(t *testing.T) {
	if err := Secret(mute{}, chains.Escrow{}, preimage[:]); outcome(err) != unknown {
		t.Errorf("without a claim hash: %v", err)
	}
	for _, secret := range [][]byte{preimage[:31], append(preimage[:], 0)} { // whose hash is even right
		e := chains.Escrow{ClaimHash: standIn{}.hash(chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256(secret)})}
		lied(t, lp.CheckSecret, Secret(standIn{}, e, secret))
	}
	v := honestToBTC()
	v.want.Contract = mute{}
	lied(t, lp.CheckEscrow, v.verify())

	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{Sequence: wire.MaxTxInSequenceNum})
	tx.AddTxOut(wire.NewTxOut(1000, []byte{0, 20}))
	paid := func(nonce uint64) chains.Escrow {
		return chains.Escrow{Kind: chains.OnchainNonced, ClaimHash: standIn{}.hash(chains.Condition{Kind: chains.OnchainNonced, Script: []byte{0, 20}, Sats: 1000, Nonce: nonce, Confirmations: 2})}
	}
	_, err := PayoutTx(standIn{}, paid(0), tx, 0, 2)
	lied(t, lp.CheckPayout, err) // it says no nonce at all
	for _, confirmations := range []uint16{0, 2} {
		if p, err := PayoutTx(standIn{}, paid(7), tx, 7, confirmations); err != nil || p.Confirmations != 2 || p.Nonce != 7 {
			t.Errorf("%+v, %v", p, err)
		}
	}
	_, err = PayoutTx(standIn{}, paid(7), tx, 7, 3)
	lied(t, lp.CheckPayout, err)
}

// What an LP announces decides about trusted gas swaps, and our own figures only if it
// announces nothing at all.
func TestTrustedFees(t *testing.T) {
	for name, x := range map[string]struct {
		base, ppm *big.Int
		most      int64 // of 9700 sats, 3 of rounding among them
	}{
		"nothing": {nil, nil, 110}, "a base": {n(20), nil, 23}, "a share": {nil, n(3000), 32}, "both": {n(10), n(3000), 42},
	} {
		quote := func(fee int64) error {
			a := agreed(wei(9700-x.most), false)
			a.Token, a.BaseFee, a.FeePPM = gasCoin, x.base, x.ppm
			_, err := TrustedBTC(a, bitcoin.Regtest, lp.TrustedBTCQuote{BTCAddress: regtestAddress(t, bitcoin.P2WPKH, 20).String(), AmountSats: n(9700), SwapFeeSats: n(fee),
				SwapFee: wei(fee), Total: a.Amount, Sequence: n(0), ExpiresAt: noon.UnixMilli() + 1})
			return err
		}
		if err := quote(x.most); err != nil {
			t.Errorf("%s: a fee of %d sats: %v", name, x.most, err)
		}
		lied(t, spares(lp.CheckFee), quote(x.most+1))
	}
}
