package psbt

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// fundJSON is what the files about funded PSBTs have in common.
type fundJSON struct {
	Network string
	Wallet  struct{ Address, PublicKey, Type string }
	UTXOs   []fundCoinJSON

	FeeRate, BackendFeeRate float64

	template Template // of the last call of fund
	rate     float64
}

type fundCoinJSON struct {
	coinJSON
	RawTx string
}

// givenRate is the rate that the case asks for, or else the wallet's.
func (in *fundJSON) givenRate(t *testing.T) float64 {
	t.Helper()
	if in.FeeRate != 0 {
		return in.FeeRate
	}
	return trial.Must(WalletFeeRate(in.BackendFeeRate, 0))(t)
}

func (in *fundJSON) address(t *testing.T, text string) bitcoin.Address {
	t.Helper()
	n := bitcoin.Mainnet
	if in.Network != "" {
		n = trial.Must(bitcoin.ParseNetwork(in.Network))(t)
	}
	return trial.Must(bitcoin.ParseAddress(text, n))(t)
}

// fund does what getSwapStatus does with a wallet: from address and key to PSBT.
func (in *fundJSON) fund(t *testing.T, template Template, rate float64) (*Funded, *Funding, error) {
	t.Helper()
	in.template, in.rate = template, rate
	w, err := NewWallet(in.address(t, in.Wallet.Address), in.Wallet.PublicKey)
	if err != nil {
		return nil, nil, err
	}
	return in.fundBy(t, w, Fund)
}

// fundUnchecked funds from a wallet that is refused, as the reference does.
func (in *fundJSON) fundUnchecked(t *testing.T) *Funded {
	t.Helper()
	w := trial.Must(uncheckedWallet(in.address(t, in.Wallet.Address), vectors.Unhex(t, in.Wallet.PublicKey)))(t)
	p, _ := trial.Must2(in.fundBy(t, w, fundFrom))(t)
	return p
}

func (in *fundJSON) fundBy(t *testing.T, w Wallet, fund func(Template, Wallet, []Coin, float64, func(Draft, []Coin) (Selection, error)) (*Funding, error)) (*Funded, *Funding, error) {
	t.Helper()
	var list []Coin
	parents := map[bitcoin.Hash]*wire.MsgTx{}
	for _, u := range in.UTXOs {
		u.Type = w.Address().Type().String()
		c := u.coin(t)
		list = append(list, c)
		if u.RawTx != "" {
			parents[c.OutPoint.Hash] = decodeTx(t, u.RawTx)
		}
	}
	f, err := fund(in.template, w, list, in.rate, selectCoins)
	if err != nil {
		return nil, nil, err
	}
	p, err := f.PSBT(parents)
	return p, f, err
}

func decodeTx(t *testing.T, text string) *wire.MsgTx {
	t.Helper()
	return trial.Must(rawtx.Decode(vectors.Unhex(t, text)))(t)
}

// usableWallet says whether the reference funds a transaction that we refuse
// because key and address do not belong together, or that cannot be submitted.
func (in *fundJSON) usableWallet(t *testing.T, vault bool) (id string, ok bool) {
	a := in.address(t, in.Wallet.Address)
	if _, err := NewWallet(a, in.Wallet.PublicKey); err != nil { // which keys these are, TestVectorsWallets says
		return "bitcoin-wallet-key", false
	}
	if vault && a.Type() == bitcoin.P2PKH {
		return "bitcoin-vault-p2pkh", false
	}
	return "", true
}

// fundedView is a funded PSBT as the vectors show it.
func fundedView(t *testing.T, p *Funded) map[string]any {
	t.Helper()
	packet := openPSBT(t, p.PSBT)
	var inputs, outputs []map[string]any
	for i, in := range packet.UnsignedTx.TxIn {
		var fields []string
		f := packet.Inputs[i]
		for _, have := range []struct {
			name string
			ok   bool
		}{{"nonWitnessUtxo", f.NonWitnessUtxo != nil}, {"redeemScript", f.RedeemScript != nil}, {"sighashType", f.SighashType != 0}, {"tapInternalKey", f.TaprootInternalKey != nil}, {"witnessUtxo", f.WitnessUtxo != nil}} {
			if have.ok {
				fields = append(fields, have.name)
			}
		}
		inputs = append(inputs, map[string]any{"outpoint": in.PreviousOutPoint.String(), "sequence": in.Sequence, "fields": fields})
	}
	for _, out := range packet.UnsignedTx.TxOut {
		outputs = append(outputs, map[string]any{"amount": itoa(out.Value), "script": hex.EncodeToString(out.PkScript)})
	}
	return map[string]any{
		"psbtHex": p.PSBT.Hex(), "psbtBase64": p.PSBT.Base64(), "signInputs": p.SignInputs, "feeRate": p.FeeRate,
		"inputs": inputs, "outputs": outputs, "version": packet.UnsignedTx.Version, "lockTime": packet.UnsignedTx.LockTime, "feeSats": itoa(p.Fee),
	}
}

func TestVectorsFundedPayment(t *testing.T) {
	vectors.Each(t, "bitcoin", "funded_psbt_frombtc", func(t *testing.T, c *vectors.Case) {
		var in struct {
			fundJSON
			Destination string
			AmountSats  int64 `json:",string"`
		}
		c.Input(t, &in)
		rate := in.givenRate(t)
		p, _, err := in.fund(t, PaymentTemplate(in.address(t, in.Destination).Script(), in.AmountSats), rate)
		checkFunded(t, c, &in.fundJSON, false, p, err, func(p *Funded) any { return fundedView(t, p) })
	})
}

// checkFunded compares with the case, or checks that we refuse what the reference accepts.
func checkFunded(t *testing.T, c *vectors.Case, in *fundJSON, vault bool, p *Funded, err error, view func(*Funded) any) {
	t.Helper()
	want := c.Want(t)
	if vectors.Refused(want) {
		if err == nil {
			t.Errorf("funded with a fee of %d sats; the reference refuses", p.Fee)
		}
		return
	}
	if id, ok := in.usableWallet(t, vault); !ok {
		c.Differ(t, id)
		if fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("funded %v, error %v; want a refusal", p, err)
		}
		vectors.SameJSON(t, numbers(t, want), view(in.fundUnchecked(t)))
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	vectors.SameJSON(t, numbers(t, want), view(p))
}

// vaultJSON is a vault swap as the bitcoin vectors write it.
type vaultJSON struct {
	fundJSON
	Vault struct {
		UTXO    string
		Value   int64
		Address string
	}
	LPAddress                                           string
	BTCAmountSats                                       int64 `json:",string"`
	OpReturnData                                        string
	CallerFeeShare, FrontingFeeShare, ExecutionFeeShare uint32
	MinimumBTCFeeRate                                   float64
	LockTime                                            uint32
}

func (in *vaultJSON) terms(t *testing.T) VaultTerms {
	t.Helper()
	op := trial.Must(bitcoin.ParseOutPoint(in.Vault.UTXO))(t)
	return VaultTerms{
		Vault: op, VaultValue: in.Vault.Value, VaultScript: in.address(t, in.Vault.Address).Script(),
		Data:      vectors.Unhex(t, in.OpReturnData),
		PayScript: in.address(t, in.LPAddress).Script(), PaySats: in.BTCAmountSats,
		Shares:   bitcoin.FeeShares{Caller: in.CallerFeeShare, Fronting: in.FrontingFeeShare, Execution: in.ExecutionFeeShare},
		LockTime: in.LockTime,
	}
}

func TestVectorsFundedVault(t *testing.T) {
	vectors.Each(t, "bitcoin", "funded_psbt_vault", func(t *testing.T, c *vectors.Case) {
		var in vaultJSON
		c.Input(t, &in)
		template, p, err := in.run(t)
		checkFunded(t, c, &in.fundJSON, true, p, err, func(p *Funded) any {
			raw := trial.Must(template.Raw())(t)
			return map[string]any{
				"details": map[string]any{
					"in0sequence": template.Inputs[0].Sequence, "in1sequence": template.Sequence,
					"opReturnScript": hex.EncodeToString(template.Outputs[1].PkScript), "locktime": template.LockTime,
				},
				"raw":    map[string]any{"psbtHex": raw.Hex(), "psbtBase64": raw.Base64(), "in1sequence": template.Sequence, "feeRate": in.MinimumBTCFeeRate},
				"funded": fundedView(t, p),
			}
		})
	})
}

// run funds a vault swap. The refusals that have a code are the user's to mend.
func (in *vaultJSON) run(t *testing.T) (Template, *Funded, error) {
	t.Helper()
	template, err := in.terms(t).Template()
	if err != nil {
		return Template{}, nil, err
	}
	wallet := trial.Must(WalletFeeRate(in.BackendFeeRate, 0))(t)
	rate, err := VaultFeeRate(in.FeeRate, in.MinimumBTCFeeRate, wallet)
	if err != nil {
		return Template{}, nil, err
	}
	p, _, err := in.fund(t, template, rate)
	return template, p, err
}

func TestVectorsWalletBalance(t *testing.T) {
	vectors.Each(t, "bitcoin", "spendable_balance", func(t *testing.T, c *vectors.Case) {
		var in struct {
			fundJSON
			Address    string
			Vault      *struct{ OpReturnLength int }
			OutputType string
		}
		c.Input(t, &in)
		rate := in.givenRate(t)
		a := in.address(t, in.Address)
		var list []Coin
		for _, u := range in.UTXOs {
			u.Type = a.Type().String()
			list = append(list, u.coin(t))
		}
		var d Draft
		if in.Vault != nil {
			d = VaultDraft(in.Vault.OpReturnLength)
		}
		d.FeeRate = rate
		got := trial.Must(MaxSpendable(d, addressType(t, in.OutputType), list))(t)
		vectors.SameJSON(t, numbers(t, c.Want(t)), map[string]any{"balance": itoa(got.Balance()), "totalFee": got.Fee, "feeRate": rate})
	})
}

// The sizes of the page's table: recipient and one or two raw amounts.
func TestVaultDraftSizes(t *testing.T) {
	for dataLen, want := range map[int]float64{20 + 8: 150.25, 20 + 16: 158.25, 32 + 8: 162.25, 32 + 16: 170.25} {
		d := VaultDraft(dataLen)
		got := emptyVBytes + segwitVBytes + inputVBytes(d.Required[0].Type)
		for _, o := range d.Outputs {
			got += outputVBytes(len(o.PkScript))
		}
		if got != want {
			t.Errorf("%d bytes of data: %v vB, want %v", dataLen, got, want)
		}
	}
	if n := len(VaultDraft(76).Outputs[1].PkScript); n != 79 {
		t.Errorf("script with 76 bytes of data has %d bytes, want 79", n)
	}
	// protocol: swap-flows-spv-and-core.md §C10, the worked example
	d := VaultDraft(36)
	d.FeeRate = 11
	got, err := MaxSpendable(d, bitcoin.P2WSH, []Coin{{Value: 384_044, Type: bitcoin.P2PKH}})
	if err != nil || got.Balance() != 380_194 || got.Fee != 3850 {
		t.Errorf("%+v, error %v", got, err)
	}
}

// Each of the terms is refused beyond its limit, and taken at it.
func TestVaultTermsAtTheirLimits(t *testing.T) {
	const share = 1<<20 - 1 // the greatest
	good := VaultTerms{
		VaultValue: bitcoin.P2TR.DustLimit(), VaultScript: testAddress(t, bitcoin.P2TR).Script(), Data: make([]byte, 28),
		PayScript: testAddress(t, bitcoin.P2WPKH).Script(), PaySats: bitcoin.P2WPKH.DustLimit(), LockTime: VaultLockTime(1 << 63),
	}
	for name, c := range map[string]struct {
		change func(*VaultTerms)
		ok     bool
	}{
		"the least amounts":       {func(*VaultTerms) {}, true},
		"the greatest shares":     {func(v *VaultTerms) { v.Shares = bitcoin.FeeShares{Caller: share, Fronting: share, Execution: share} }, true},
		"caller share":            {func(v *VaultTerms) { v.Shares.Caller = share + 1 }, false},
		"fronting share":          {func(v *VaultTerms) { v.Shares.Fronting = 1 << 31 }, false},
		"execution share":         {func(v *VaultTerms) { v.Shares.Execution = share + 1 }, false},
		"vault is p2wsh":          {func(v *VaultTerms) { v.VaultScript = testAddress(t, bitcoin.P2WSH).Script() }, false},
		"vault is off the curve":  {func(v *VaultTerms) { v.VaultScript = append([]byte{0x51, 0x20}, make([]byte, 32)...) }, false},
		"payment to p2tr":         {func(v *VaultTerms) { v.PayScript = v.VaultScript }, false},
		"no payment script":       {func(v *VaultTerms) { v.PayScript = nil }, false},
		"no data":                 {func(v *VaultTerms) { v.Data = nil }, false},
		"the longest short push":  {func(v *VaultTerms) { v.Data = make([]byte, 75) }, true},
		"the shortest long push":  {func(v *VaultTerms) { v.Data = make([]byte, 76) }, true},
		"the most data":           {func(v *VaultTerms) { v.Data = make([]byte, 255) }, true},
		"too much data":           {func(v *VaultTerms) { v.Data = make([]byte, 256) }, false},
		"lock time is a height":   {func(v *VaultTerms) { v.LockTime = vaultLockTimeBase - 1 }, false},
		"the first lock time":     {func(v *VaultTerms) { v.LockTime = vaultLockTimeBase }, true},
		"the last lock time":      {func(v *VaultTerms) { v.LockTime = vaultLockTimeBase + vaultLockTimeRange - 1 }, true},
		"lock time in the future": {func(v *VaultTerms) { v.LockTime = 1_500_000_000 }, false},
		"lock time locks a vault": {func(v *VaultTerms) { v.LockTime = 3_400_000_000 }, false},
		"payment is dust":         {func(v *VaultTerms) { v.PaySats-- }, false},
		"negative payment":        {func(v *VaultTerms) { v.PaySats = -1 }, false},
		"all the money":           {func(v *VaultTerms) { v.PaySats = rawtx.MaxMoney - v.VaultValue }, true},
		"more than all the money": {func(v *VaultTerms) { v.PaySats = rawtx.MaxMoney - v.VaultValue + 1 }, false},
		"vault is dust":           {func(v *VaultTerms) { v.VaultValue-- }, false},
	} {
		v := good
		c.change(&v)
		if got, err := v.Template(); (err == nil) != c.ok {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// testAddress is an address of each type, of the key 1 where a key is in it.
func testAddress(t testing.TB, typ bitcoin.AddressType) bitcoin.Address {
	t.Helper()
	k := testKey()
	var program []byte
	switch typ {
	case bitcoin.P2PKH, bitcoin.P2WPKH:
		program = hash160(k.PubKey().SerializeCompressed())
	case bitcoin.P2SH:
		program = hash160(witnessKeyHash(k.PubKey().SerializeCompressed()))
	case bitcoin.P2WSH:
		program = make([]byte, 32)
	case bitcoin.P2TR:
		program = taprootProgram(k)
	}
	return trial.Must(bitcoin.NewAddress(typ, program, bitcoin.Regtest))(t)
}

func testWallet(t testing.TB, typ bitcoin.AddressType) Wallet {
	t.Helper()
	key := hex.EncodeToString(testKey().PubKey().SerializeCompressed())
	if typ == bitcoin.P2WSH {
		key = ""
	}
	return trial.Must(NewWallet(testAddress(t, typ), key))(t)
}

func testTemplate(t testing.TB, a, lp bitcoin.Address) Template {
	t.Helper()
	v := VaultTerms{
		Vault: bitcoin.OutPoint{Hash: bitcoin.Hash{9}}, VaultValue: 600, VaultScript: a.Script(), Data: make([]byte, 28),
		PayScript: lp.Script(), PaySats: 10_000, LockTime: VaultLockTime(0),
	}
	return trial.Must(v.Template())(t)
}

func TestFundRefusals(t *testing.T) {
	vault := testTemplate(t, testAddress(t, bitcoin.P2TR), testAddress(t, bitcoin.P2WPKH))
	payment := PaymentTemplate(testAddress(t, bitcoin.P2WPKH).Script(), 10_000)
	rich := []Coin{{OutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{1}}, Value: 1_000_000}}
	balanceOnly := trial.Must(NewWallet(testAddress(t, bitcoin.P2TR), ""))(t)
	nested := trial.Must(NewWallet(testAddress(t, bitcoin.P2SH), ""))(t)
	for name, c := range map[string]struct {
		template Template
		wallet   Wallet
		coins    []Coin
		code     fault.Code
		because  string
	}{
		"p2wsh":                     {payment, testWallet(t, bitcoin.P2WSH), rich, fault.InvalidInput, "p2wsh wallets are not supported"},
		"p2pkh for a vault":         {vault, testWallet(t, bitcoin.P2PKH), rich, fault.InvalidInput, "must be a segwit address"},
		"p2tr without key":          {payment, balanceOnly, rich, fault.InvalidInput, "is required for a p2"},
		"p2sh-p2wpkh without key":   {payment, nested, rich, fault.InvalidInput, "is required for a p2"},
		"no wallet":                 {payment, Wallet{}, rich, fault.InvalidInput, "the wallet's address is required"},
		"no coins":                  {payment, testWallet(t, bitcoin.P2WPKH), nil, fault.InvalidInput, "insufficient balance"},
		"coin twice":                {payment, testWallet(t, bitcoin.P2WPKH), append(rich, rich...), fault.Internal, "is listed twice"},
		"vault among the coins":     {vault, testWallet(t, bitcoin.P2TR), []Coin{{OutPoint: vault.Inputs[0].OutPoint, Value: 1_000_000}}, fault.Internal, "is listed twice"},
		"impossible amount of sats": {payment, testWallet(t, bitcoin.P2WPKH), []Coin{{Value: -1}}, fault.InvalidInput, "-1 sats is not a valid amount"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Fund(c.template, c.wallet, c.coins, 2, Cheapest)
			if fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.because) {
				t.Errorf("error %v, want code %s because %q", err, c.code, c.because)
			}
		})
	}
	if _, err := Fund(payment, testWallet(t, bitcoin.P2WPKH), nil, 2, Cheapest); !errors.As(err, new(*notEnoughError)) {
		t.Errorf("no coins: %v is no NotEnoughError", err)
	}
}

// A provider that says something else than the parent transaction does, or
// hands out another transaction, does not get a signature over it.
func TestFundedLegacyNeedsTrueParents(t *testing.T) {
	w := testWallet(t, bitcoin.P2PKH)
	parent := wire.NewMsgTx(2)
	parent.AddTxIn(&wire.TxIn{})
	parent.AddTxOut(wire.NewTxOut(100_000, w.Address().Script()))
	op := bitcoin.OutPoint{Hash: parent.TxHash()}
	payment := PaymentTemplate(testAddress(t, bitcoin.P2WPKH).Script(), 10_000)
	other := parent.Copy()
	other.LockTime++
	for name, c := range map[string]struct {
		coin   Coin
		parent *wire.MsgTx
		ok     bool
	}{
		"true":            {Coin{OutPoint: op, Value: 100_000}, parent, true},
		"missing":         {Coin{OutPoint: op, Value: 100_000}, nil, false},
		"other":           {Coin{OutPoint: op, Value: 100_000}, other, false},
		"other amount":    {Coin{OutPoint: op, Value: 200_000}, parent, false},
		"no such output":  {Coin{OutPoint: bitcoin.OutPoint{Hash: op.Hash, Index: 1}, Value: 100_000}, parent, false},
		"index too large": {Coin{OutPoint: bitcoin.OutPoint{Hash: op.Hash, Index: 1<<32 - 1}, Value: 100_000}, parent, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := trial.Must(Fund(payment, w, []Coin{c.coin}, 2, Cheapest))(t)
			if diff := cmp.Diff([]bitcoin.Hash{op.Hash}, f.ParentIDs()); diff != "" {
				t.Errorf("parents: %s", diff)
			}
			if p, err := f.PSBT(map[bitcoin.Hash]*wire.MsgTx{op.Hash: c.parent}); (err == nil) != c.ok {
				t.Errorf("%v, error %v", p, err)
			}
		})
	}
}
