package chainio

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// What is built for a wallet passes the check when it comes back signed, as a plain
// payment and as a vault's.
func TestFundedAndSignedIsAccepted(t *testing.T) {
	for _, vault := range []bool{false, true} {
		s := newScene(t)
		a := &swap.Fund{Vault: vault}
		p := trial.Must(s.fund(t, a))(t)
		if p.FeeRate != 5 { // a quarter above the fastest
			t.Errorf("vault %v: built at %v sat/vB", vault, p.FeeRate)
		}
		in := trial.Must(s.Check(t.Context(), s.record, a, []string{s.sign(t, p)}))(t)
		tx := trial.Must(rawtx.Decode(in.PSBT.Tx))(t)
		if in.Action != swap.ActionFund || len(in.Txs) != 0 || in.PSBT.TxID != tx.TxHash() || (len(in.PSBT.Posted) > 0) != vault {
			t.Errorf("vault %v: %+v", vault, in)
		}
		if want := map[bool]int{true: 1}[vault]; s.vaults.dry != want {
			t.Errorf("vault %v: the contract was asked to read %d transactions, want %d", vault, s.vaults.dry, want)
		}
	}
}

// A caller without a wallet gets the template alone, with the fee rate that it must
// pay at least: the quote's, or what the payee of a gas swap recommends.
func TestRawTemplateNamesTheLeastRate(t *testing.T) {
	s := newScene(t)
	s.caller.Wallet = nil
	for name, c := range map[string]struct {
		vault bool
		gas   *swap.GasPart
		least float64
	}{
		"vault":            {true, nil, 2},
		"vault beside gas": {true, &swap.GasPart{FeeRate: 9}, 2},
		"gas":              {false, &swap.GasPart{FeeRate: 9}, 9},
		"payment":          {false, nil, 0},
	} {
		s.record.Gas = c.gas
		a := &swap.Fund{Vault: c.vault}
		todo := trial.Must(s.BuildAction(t.Context(), s.record, a, s.caller))(t)
		if todo.Action != a || todo.Funded != nil || todo.Raw == nil || todo.Raw.FeeRate != c.least || len(todo.Raw.PSBT) == 0 {
			t.Errorf("%s: %+v", name, todo)
		}
		if template, err := s.Template(s.record, a); err != nil || todo.Raw.Sequence != template.Sequence {
			t.Errorf("%s: sequence %d, %v", name, todo.Raw.Sequence, err)
		}
	}
	s.record.Gas = nil
	s.record.Vault.UTXOSats = 1 // dust: no template
	if _, err := s.BuildAction(t.Context(), s.record, &swap.Fund{Vault: true}, s.caller); err == nil {
		t.Error("a template without a template")
	}
}

// A payment is shown as such, and funded where it can be and the caller has a wallet.
func TestPaymentIsFundedForAWallet(t *testing.T) {
	s := newScene(t)
	fund := &swap.Fund{}
	for name, c := range map[string]struct {
		a      swap.Action
		wallet bool
		funded bool
	}{
		"payment, wallet":                  {&swap.Pay{Fund: fund}, true, true},
		"payment, no wallet":               {&swap.Pay{Fund: fund}, false, false},
		"payment that has no PSBT, wallet": {&swap.Pay{}, true, false},
		"nothing to pay, but to wait for":  {&swap.Wait{}, true, false},
		"nothing at all":                   {nil, true, false},
	} {
		caller := s.caller
		if !c.wallet {
			caller.Wallet = nil
		}
		todo := trial.Must(s.BuildAction(t.Context(), s.record, c.a, caller))(t)
		if (todo.Funded != nil) != c.funded {
			t.Errorf("%s: %+v", name, todo)
		}
		switch a := c.a.(type) {
		case *swap.Pay:
			if (todo.Action == a) == c.funded {
				t.Errorf("%s: %+v", name, todo)
			}
		case *swap.Wait:
			if todo.Action != a {
				t.Errorf("%s: %+v", name, todo)
			}
		}
	}
}

// Nothing is built on what is not known, nor what could not come back.
func TestNothingIsFundedOnWhatIsNotKnown(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *scene)
		vault  bool
		code   fault.Code
	}{
		"coins unknown":        {change: func(s *scene) { s.ledger.silent["utxos"] = true }},
		"fee rates unknown":    {change: func(s *scene) { s.ledger.silent["rates"] = true }},
		"fee rates absurd":     {change: func(s *scene) { s.ledger.rates.Fastest = -1 }, code: fault.Upstream},
		"fee rate too high":    {change: func(s *scene) { s.caller.FeeRate = 17 }, code: fault.InvalidInput},
		"fee rate too low":     {change: func(s *scene) { s.caller.FeeRate = 0.5 }, code: fault.InvalidInput},
		"no coins":             {change: func(s *scene) { s.ledger.utxos = nil }, code: fault.InvalidInput},
		"address of nobody":    {change: func(s *scene) { s.record.Bitcoin.Address = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx" }},
		"legacy wallet":        {change: func(s *scene) { s.legacy(t) }, vault: true, code: fault.InvalidInput},
		"parents unknown":      {change: func(s *scene) { s.legacy(t); s.ledger.silent["txs"] = true }},
		"no such chain":        {change: func(s *scene) { s.record.Chain = "NOWHERE" }, vault: true, code: fault.Unsupported},
		"no such contract":     {change: func(s *scene) { s.record.Contract = "v9" }, vault: true, code: fault.Unsupported},
		"chain has no vaults":  {change: func(s *scene) { s.Chains["BOOK"] = &book{contract: &plain{}} }, vault: true, code: fault.Unsupported},
		"recipient no good":    {change: func(s *scene) { s.vaults.dataErr = errSilent }, vault: true},
		"vault output no good": {change: func(s *scene) { s.record.Vault.UTXO = "x:0" }, vault: true},
	} {
		s := newScene(t)
		c.change(s)
		p, err := s.fund(t, &swap.Fund{Vault: c.vault})
		if err == nil || c.code != "" && fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

// legacy gives the user a wallet whose inputs need the transactions that they spend.
func (s *scene) legacy(t *testing.T) {
	t.Helper()
	a := trial.Must(bitcoin.ParseAddress("1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", bitcoin.Mainnet))(t)
	w := trial.Must(psbt.NewWallet(a, ""))(t)
	s.caller.Wallet = &w
	tx := s.ledger.pay(&wire.TxOut{Value: 90_000, PkScript: a.Script()})
	s.ledger.utxos = []bitcoin.UTXO{{OutPoint: bitcoin.OutPoint{Hash: tx.ID}, Value: 90_000, Height: 100}}
}

func TestLegacyWalletIsFundedWithItsParents(t *testing.T) {
	s := newScene(t)
	s.legacy(t)
	if p, err := s.fund(t, &swap.Fund{}); err != nil || len(p.SignInputs) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// A wallet that a transaction cannot be built for is refused by the field that says
// which it is.
func TestFundNamesTheField(t *testing.T) {
	wallet := func(t *testing.T, address string) *psbt.Wallet {
		a := trial.Must(bitcoin.ParseAddress(address, bitcoin.Mainnet))(t)
		w := trial.Must(psbt.NewWallet(a, ""))(t)
		return &w
	}
	for name, c := range map[string]struct {
		change func(*testing.T, *scene)
		vault  bool
		field  string
	}{
		"legacy address for a vault": {func(t *testing.T, s *scene) { s.legacy(t) }, true, "bitcoinAddress"},
		"script of unknown content": {func(t *testing.T, s *scene) {
			s.caller.Wallet = wallet(t, "bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3")
		}, false, "bitcoinAddress"},
		"no key": {func(t *testing.T, s *scene) {
			s.caller.Wallet = wallet(t, "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr")
		}, false, "bitcoinPublicKey"},
		"no coins":     {func(_ *testing.T, s *scene) { s.ledger.utxos = nil }, false, "bitcoinAddress"},
		"rate too low": {func(_ *testing.T, s *scene) { s.caller.FeeRate = 0.5 }, true, "bitcoinFeeRate"},
	} {
		s := newScene(t)
		c.change(t, s)
		_, err := s.fund(t, &swap.Fund{Vault: c.vault})
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.InvalidInput || e.Field != c.field {
			t.Errorf("%s: %v, want a word about %s", name, err, c.field)
		}
	}
}

// After the check a transaction is out of our hands, so it does not pass while
// anything of it is unknown, or the vault cannot pay.
func TestNothingIsAcceptedOnWhatIsNotKnown(t *testing.T) {
	for name, c := range map[string]struct {
		vault, payment bool // of which it is true
		change         func(s *scene)
		code           fault.Code
	}{
		"fee rates unknown":           {true, true, func(s *scene) { s.ledger.silent["rates"] = true }, ""},
		"fee rates absurd":            {true, true, func(s *scene) { s.ledger.rates = bitcoin.FeeRates{Fastest: -4} }, fault.Upstream},
		"parents unknown":             {true, true, func(s *scene) { s.ledger.silent["txs"] = true }, ""},
		"parent gone":                 {true, true, func(s *scene) { delete(s.ledger.txs, s.ledger.utxos[0].Hash) }, fault.Upstream},
		"parent without that output":  {true, true, func(s *scene) { s.ledger.txs[s.ledger.utxos[0].Hash].Msg.TxOut = nil }, fault.InvalidInput},
		"parent's output pays less":   {true, true, func(s *scene) { s.ledger.txs[s.ledger.utxos[0].Hash].Msg.TxOut[0].Value-- }, ""},
		"parent's standing unknown":   {true, true, func(s *scene) { s.ledger.txs[s.ledger.utxos[0].Hash].Confirmations = 0; s.ledger.silent["cpfp"] = true }, ""},
		"not the template of a quote": {true, false, func(s *scene) { s.record.Vault.Raw[0]++; s.record.Vault.LPScript = s.script }, fault.InvalidInput},
		"no template":                 {true, true, func(s *scene) { s.record.Vault.UTXO = ""; s.record.Bitcoin.Address = "" }, ""},
		"quote wants a higher rate":   {true, false, func(s *scene) { s.record.Vault.MinFeeRate = 14 }, fault.InvalidInput},
		"withdrawal unreadable":       {true, false, func(s *scene) { s.vaults.parseErr = errSilent }, fault.InvalidInput},
		"vault unknown":               {true, false, func(s *scene) { s.vaults.vaultErr = errSilent }, ""},
		"vault closed":                {true, false, func(s *scene) { s.vaults.vault.Open = false }, fault.InvalidState},
		"vault of another relay":      {true, false, func(s *scene) { s.vaults.vault.OurRelay = false }, fault.InvalidState},
		"vault's output spent":        {true, false, func(s *scene) { s.ledger.spent, s.ledger.only = bitcoin.SpentInMempool, s.vaults.vault.UTXO.Hash }, fault.InvalidState},
		"vault's output unknown":      {true, false, func(s *scene) { s.ledger.spent, s.ledger.only = bitcoin.SpendUnknown, s.vaults.vault.UTXO.Hash }, fault.Upstream},
		"vault's spends unknown":      {true, false, func(s *scene) { s.ledger.silent["spends"] = true }, ""},
		"vault holds less":            {true, false, func(s *scene) { s.vaults.vault.Raw[0] = 4 }, fault.InvalidState},
		"vault is elsewhere":          {true, false, func(s *scene) { s.vaults.vault.UTXO.Index++ }, fault.Upstream},
		"contract cannot read it":     {true, false, func(s *scene) { s.vaults.dryErr = errSilent }, fault.Upstream},
	} {
		for _, vault := range []bool{true, false} {
			if vault && !c.vault || !vault && !c.payment {
				continue
			}
			s := newScene(t)
			a := &swap.Fund{Vault: vault}
			p := trial.Must(s.fund(t, a))(t)
			signed := s.sign(t, p)
			c.change(s)
			in, err := s.Check(t.Context(), s.record, a, []string{signed})
			if err == nil || c.code != "" && fault.CodeOf(err) != c.code {
				t.Errorf("%s, vault %v: %+v, %v", name, vault, in, err)
			}
		}
	}
}

// A parent in the mempool counts with what it weighs and pays: beside one that pays
// next to nothing a transaction does not reach the rate of the quote.
func TestUnconfirmedParentsCount(t *testing.T) {
	s := newScene(t)
	a := &swap.Fund{Vault: true}
	p := trial.Must(s.fund(t, a))(t)
	signed := s.sign(t, p)
	parent := s.ledger.utxos[0].Hash
	for name, c := range map[string]struct {
		confirmations uint32
		standing      *bitcoin.CPFP
		ok            bool
	}{
		"confirmed":                 {1, &bitcoin.CPFP{EffectiveFeeRate: 0.1, AdjustedVSize: 5000}, true},
		"waits, pays well":          {0, &bitcoin.CPFP{EffectiveFeeRate: 5, AdjustedVSize: 5000}, true},
		"waits, pays nothing":       {0, &bitcoin.CPFP{EffectiveFeeRate: 0.1, AdjustedVSize: 5000}, false},
		"waits, its standing is no": {0, nil, true},
	} {
		s.ledger.txs[parent].Confirmations, s.ledger.cpfp[parent] = c.confirmations, c.standing
		if _, err := s.Check(t.Context(), s.record, a, []string{signed}); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One PSBT is handed in, and nothing else where no transactions are expected.
func TestWhatIsHandedInMustBeExpected(t *testing.T) {
	s := newScene(t)
	a := &swap.Fund{}
	p := trial.Must(s.fund(t, a))(t)
	signed := s.sign(t, p)
	for name, c := range map[string]struct {
		a      swap.Action
		signed []string
		code   fault.Code
		field  string
	}{
		"nothing":           {a, nil, fault.InvalidInput, "signedTxs"},
		"two":               {a, []string{signed, signed}, fault.InvalidInput, "signedTxs"},
		"no PSBT":           {a, []string{"00"}, fault.InvalidInput, "signedTxs[0]"},
		"not signed":        {a, []string{p.PSBT.Base64()}, fault.InvalidInput, "signedTxs"},
		"none expected":     {&swap.Wait{}, []string{signed}, fault.InvalidState, ""},
		"a payment by link": {&swap.Pay{}, []string{signed}, fault.InvalidState, ""},
	} {
		_, err := s.Check(t.Context(), s.record, c.a, c.signed)
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != c.code || e.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}
