package verify

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// caught demands that an error is a failed check.
func caught(t *testing.T, name string, want lp.Check, err error) {
	t.Helper()
	bad, ok := errors.AsType[*lp.LPError](err)
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: got %v, want it accepted", name, err)
	case want != "" && (!ok || bad.Check != want || fault.CodeOf(err) != fault.Upstream):
		t.Errorf("%s: got %v, want the check %q to fail", name, err, want)
	}
}

// The whole escrow that an opening makes is compared, member by member.
func TestToldEscrow(t *testing.T) {
	condition := chains.Condition{Kind: chains.HTLC, PaymentHash: payHash}
	for name, c := range map[string]struct {
		check  lp.Check
		change func(*standData)
	}{
		"honest":                 {"", func(*standData) {}},
		"any provider":           {"", func(d *standData) { d.Claimer = "somebody" }},
		"any sequence":           {"", func(d *standData) { d.Sequence = "9" }},
		"an end at the limit":    {"", func(d *standData) { d.Expiry = noon.Unix() + 500 }},
		"another payer":          {lp.CheckEscrow, func(d *standData) { d.Offerer = "somebody" }},
		"another token":          {lp.CheckEscrow, func(d *standData) { d.Token = "gold" }},
		"more":                   {lp.CheckEscrow, func(d *standData) { d.Amount = "50261" }},
		"less":                   {lp.CheckEscrow, func(d *standData) { d.Amount = "50259" }},
		"another condition":      {lp.CheckEscrow, func(d *standData) { d.ClaimHash = "00" }},
		"another kind":           {lp.CheckEscrow, func(d *standData) { d.Type = chains.Onchain }},
		"a deposit":              {lp.CheckEscrow, func(d *standData) { d.SecurityDeposit = "1" }},
		"a bounty":               {lp.CheckEscrow, func(d *standData) { d.ClaimerBounty = "1" }},
		"from a balance":         {lp.CheckEscrow, func(d *standData) { d.PayIn = false }},
		"paid out to the wallet": {lp.CheckEscrow, func(d *standData) { d.PayOut = true }},
		"extra data":             {lp.CheckEscrow, func(d *standData) { d.ExtraData = "x" }},
		"a contract call":        {lp.CheckEscrow, func(d *standData) { d.HasSuccessAction = true }},
		"a second late":          {lp.CheckExpiry, func(d *standData) { d.Expiry = noon.Unix() + 501 }},
		"already over":           {lp.CheckExpiry, func(d *standData) { d.Expiry = noon.Unix() }},
		"after the year 9999":    {lp.CheckExpiry, func(d *standData) { d.Expiry = 1 << 60 }},
	} {
		d := standData{Type: chains.HTLC, Amount: "50260", Expiry: noon.Unix() + 400, PayIn: true, Token: coin.Address, Claimer: lpKey, Offerer: userKey,
			SecurityDeposit: "0", ClaimerBounty: "0", Sequence: "7", ClaimHash: hexed(standIn{}.hash(condition))}
		c.change(&d)
		e := trial.Must(d.escrow())(t)
		caught(t, name, c.check, ToldEscrow(ToldOpening{Agreed: agreed(n(50_000), false), Pays: n(50_260), Condition: condition, Latest: noon.Unix() + 500}, e))
	}
	// An escrow between somebody and himself is no swap.
	own := standData{Type: chains.HTLC, Amount: "50260", Expiry: noon.Unix() + 400, PayIn: true, Token: coin.Address, Claimer: userKey, Offerer: userKey,
		SecurityDeposit: "0", ClaimerBounty: "0", ClaimHash: hexed(standIn{}.hash(condition))}
	e := trial.Must(own.escrow())(t)
	if err := ToldEscrow(ToldOpening{Agreed: agreed(n(50_000), false), Pays: n(50_260), Condition: condition, Latest: noon.Unix() + 500}, e); err == nil {
		t.Error("an escrow with oneself is accepted")
	}
}

// The figures of a swap from Lightning, by the policy alone.
func TestReceiveTold(t *testing.T) {
	for name, c := range map[string]struct {
		check lp.Check
		want  Agreed
		got   ToldReceive
	}{
		"honest":                    {"", agreed(n(100_000), true), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(99_690)}},
		"a watchtower's pay":        {"", agreed(n(100_000), true), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(95_000)}},
		"nothing besides":           {lp.CheckPrice, agreed(n(100_000), true), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(95_000), Besides: true}},
		"all besides":               {"", agreed(n(100_000), true), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(99_690), Besides: true}},
		"cut to a vault's units":    {"", agreed(n(99_699), false), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(99_690), Vault: true}},
		"cut by too much":           {lp.CheckRequested, agreed(n(99_701), false), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(99_690), Vault: true}},
		"more than asked for":       {lp.CheckRequested, agreed(n(99_689), false), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(99_690), Vault: true}},
		"another input of a vault":  {lp.CheckRequested, agreed(n(100_001), true), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(99_690), Vault: true}},
		"an exact output":           {"", agreed(n(99_690), false), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(99_690)}},
		"another input":             {lp.CheckRequested, agreed(n(100_000), true), ToldReceive{Sats: n(100_001), SwapFee: n(310), Output: n(99_690)}},
		"another output":            {lp.CheckRequested, agreed(n(99_691), false), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(99_690)}},
		"a fee above the policy":    {lp.CheckFeeLimit, agreed(n(100_000), true), ToldReceive{Sats: n(100_000), SwapFee: n(5001), Output: n(94_999)}},
		"too little":                {lp.CheckWatchtower, agreed(n(100_000), true), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(91_000)}},
		"nothing":                   {lp.CheckNumbers, agreed(n(100_000), true), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(0)}},
		"a negative fee":            {lp.CheckNumbers, agreed(n(100_000), true), ToldReceive{Sats: n(100_000), SwapFee: n(-1), Output: n(99_690)}},
		"no output":                 {lp.CheckNumbers, agreed(n(100_000), true), ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: nil}},
		"more than all the bitcoin": {lp.CheckNumbers, agreed(n(1<<60), true), ToldReceive{Sats: n(1 << 60), SwapFee: n(310), Output: n(99_690)}},
	} {
		caught(t, name, c.check, ReceiveTold(c.want, c.got))
	}
	unknown := agreed(n(100_000), true)
	unknown.Price = nil
	if err := ReceiveTold(unknown, ToldReceive{Sats: n(100_000), SwapFee: n(310), Output: n(99_690)}); err == nil {
		t.Error("figures are accepted without a price")
	}
}

func TestInvoiceTold(t *testing.T) {
	is := InvoiceExpected{Network: bitcoin.Regtest, PaymentHash: payHash}
	regtest := &chaincfg.RegressionNetParams
	described := is
	described.Description = "another"
	for name, c := range map[string]struct {
		check lp.Check
		is    InvoiceExpected
		text  string
	}{
		"honest":              {"", is, invoice(t, regtest, payHash, 50_000_000)},
		"another amount":      {lp.CheckRequested, is, invoice(t, regtest, payHash, 50_001_000)},
		"another hash":        {lp.CheckPaymentHash, is, invoice(t, regtest, [32]byte{1}, 50_000_000)},
		"another network":     {lp.CheckInvoice, is, invoice(t, &chaincfg.MainNetParams, payHash, 50_000_000)},
		"another description": {lp.CheckDescription, described, invoice(t, regtest, payHash, 50_000_000)},
		"any amount":          {lp.CheckInvoice, is, invoice(t, regtest, payHash, 0)},
		"garbage":             {lp.CheckInvoice, is, "lnbcrt1"},
	} {
		_, err := InvoiceTold(agreed(n(50_000), true), c.is, c.text, n(50_000))
		caught(t, name, c.check, err)
	}
	late := agreed(n(50_000), true)
	late.Now = noon.AddDate(0, 0, 1)
	_, err := InvoiceTold(late, is, invoice(t, regtest, payHash, 50_000_000), n(50_000))
	caught(t, "expired", lp.CheckQuoteExpiry, err)
}

// The escrow for which a secret is revealed.
func TestDeliveredTold(t *testing.T) {
	for name, c := range map[string]struct {
		check  lp.Check
		change func(*standData)
	}{
		"honest":              {"", func(*standData) {}},
		"more":                {"", func(d *standData) { d.Amount = "50001" }},
		"any provider":        {"", func(d *standData) { d.Offerer = "somebody" }},
		"less":                {lp.CheckEscrow, func(d *standData) { d.Amount = "49999" }},
		"another recipient":   {lp.CheckEscrow, func(d *standData) { d.Claimer = "somebody" }},
		"another token":       {lp.CheckEscrow, func(d *standData) { d.Token = "gold" }},
		"another hash":        {lp.CheckEscrow, func(d *standData) { d.ClaimHash = "00" }},
		"into a balance":      {lp.CheckEscrow, func(d *standData) { d.PayOut = false }},
		"a contract call":     {lp.CheckEscrow, func(d *standData) { d.HasSuccessAction = true }},
		"after the year 9999": {lp.CheckExpiry, func(d *standData) { d.Expiry = 1 << 60 }},
	} {
		d := standData{Type: chains.HTLC, Amount: "50000", Expiry: noon.Unix() + 4000, PayOut: true, Token: coin.Address, Claimer: userKey, Offerer: lpKey,
			SecurityDeposit: "6", ClaimerBounty: "2", Sequence: "7", DepositToken: gasCoin.Address, ClaimHash: hexed(standIn{}.hash(chains.Condition{Kind: chains.HTLC, PaymentHash: payHash}))}
		c.change(&d)
		e := trial.Must(d.escrow())(t)
		caught(t, name, c.check, DeliveredTold(agreed(n(50_000), true), payHash, n(50_000), e))
	}
}
