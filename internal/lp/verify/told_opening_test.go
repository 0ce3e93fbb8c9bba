package verify

import (
	"maps"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// toldOpening changes an escrow that the user opens, and what is said of it.
type toldOpening struct {
	data standData
	told ToldDeposit
	want Agreed
}

// lieOf are changes that concern both kinds of escrows that a user opens.
var lieOf = map[string]struct {
	check  lp.Check
	change func(*toldOpening)
}{
	"honest":                  {"", func(*toldOpening) {}},
	"any provider":            {"", func(o *toldOpening) { o.data.Offerer = "somebody" }},
	"any sequence":            {"", func(o *toldOpening) { o.data.Sequence = "9" }},
	"somebody else is paid":   {lp.CheckEscrow, func(o *toldOpening) { o.data.Claimer = "somebody" }},
	"another token":           {lp.CheckEscrow, func(o *toldOpening) { o.data.Token = "gold" }},
	"less":                    {lp.CheckEscrow, func(o *toldOpening) { o.data.Amount = "49999" }},
	"another condition":       {lp.CheckEscrow, func(o *toldOpening) { o.data.ClaimHash = "00" }},
	"another kind":            {lp.CheckEscrow, func(o *toldOpening) { o.data.Type = chains.OnchainNonced }},
	"out of the user's own":   {lp.CheckEscrow, func(o *toldOpening) { o.data.PayIn = true }},
	"into a balance":          {lp.CheckEscrow, func(o *toldOpening) { o.data.PayOut = false }},
	"a contract call":         {lp.CheckEscrow, func(o *toldOpening) { o.data.HasSuccessAction = true }},
	"a deposit in a token":    {lp.CheckEscrow, func(o *toldOpening) { o.data.DepositToken = "gold" }},
	"a large deposit":         {lp.CheckDeposit, func(o *toldOpening) { o.data.SecurityDeposit = wei(4501).String() }},
	"a deposit at the limit":  {"", func(o *toldOpening) { o.data.SecurityDeposit = wei(4500).String() }},
	"too little time is left": {"", func(*toldOpening) {}}, // of each kind below
}

func (o toldOpening) escrow(t *testing.T) chains.Escrow {
	t.Helper()
	return trial.Must(o.data.escrow())(t)
}

func TestFromBTCTold(t *testing.T) {
	to := regtestAddress(t, bitcoin.P2WPKH, 20)
	condition := chains.Condition{Kind: chains.Onchain, Script: to.Script(), Sats: 50_000, Confirmations: 2}
	all := map[string]struct {
		check  lp.Check
		change func(*toldOpening)
	}{
		"another address":       {lp.CheckEscrow, func(o *toldOpening) { o.told.Address = regtestAddress(t, bitcoin.P2TR, 32).String() }},
		"no address":            {lp.CheckAddress, func(o *toldOpening) { o.told.Address = "?" }},
		"more confirmations":    {lp.CheckEscrow, func(o *toldOpening) { o.told.Confirmations = 3 }},
		"many confirmations":    {lp.CheckConfirmations, func(o *toldOpening) { o.told.Confirmations = 7 }},
		"no confirmation":       {lp.CheckConfirmations, func(o *toldOpening) { o.told.Confirmations = 0 }},
		"a large bounty":        {lp.CheckBounty, func(o *toldOpening) { o.data.ClaimerBounty = wei(2501).String() }},
		"a bounty at the limit": {"", func(o *toldOpening) { o.data.ClaimerBounty = wei(2500).String() }},
		"locked for long":       {lp.CheckExpiry, func(o *toldOpening) { o.data.Expiry = noon.Unix() + maxFromBTCLasts + 1 }},
		"a long sequence":       {lp.CheckEscrow, func(o *toldOpening) { o.data.Sequence = "18446744073709551616" }},
	}
	maps.Copy(all, lieOf)
	all["too little time is left"] = struct {
		check  lp.Check
		change func(*toldOpening)
	}{lp.CheckSendWindow, func(o *toldOpening) { o.data.Expiry = noon.Unix() + 1000 }}
	for name, c := range all {
		o := toldOpening{told: ToldDeposit{Address: to.String(), Confirmations: 2, Sats: n(50_000), Output: n(50_000)}, want: agreed(n(50_000), true),
			data: standData{Type: chains.Onchain, ExtraData: "hints", Amount: "50000", Expiry: noon.Unix() + FromBTCLasts, PayOut: true, Token: coin.Address, Claimer: userKey, Offerer: lpKey,
				SecurityDeposit: wei(10).String(), ClaimerBounty: wei(10).String(), Sequence: "7", DepositToken: gasCoin.Address, ClaimHash: hexed(standIn{}.hash(condition))}}
		c.change(&o)
		caught(t, name, c.check, FromBTCTold(o.want, bitcoin.Regtest, o.told, o.escrow(t)))
	}
}

func TestFromBTCLNTold(t *testing.T) {
	for name, c := range lieOf {
		o := toldOpening{want: agreed(n(50_000), true), data: standData{Type: chains.HTLC, Amount: "50000", Expiry: noon.Unix() + 2400, PayOut: true, Token: coin.Address, Claimer: userKey, Offerer: lpKey,
			SecurityDeposit: wei(10).String(), ClaimerBounty: "0", Sequence: "7", DepositToken: gasCoin.Address, ClaimHash: hexed(standIn{}.hash(chains.Condition{Kind: chains.HTLC, PaymentHash: payHash}))}}
		c.change(&o)
		check := c.check
		if name == "too little time is left" {
			check, o.data.Expiry = lp.CheckExpiry, noon.Unix()+1000
		}
		caught(t, name, check, FromBTCLNTold(o.want, payHash, n(50_000), n(50_000), o.escrow(t)))
	}
	bounty := standData{Type: chains.HTLC, Amount: "50000", Expiry: noon.Unix() + 2400, PayOut: true, Token: coin.Address, Claimer: userKey, Offerer: lpKey, SecurityDeposit: "0", ClaimerBounty: "1",
		DepositToken: gasCoin.Address, ClaimHash: hexed(standIn{}.hash(chains.Condition{Kind: chains.HTLC, PaymentHash: payHash}))}
	caught(t, "a bounty", lp.CheckEscrow, FromBTCLNTold(agreed(n(50_000), true), payHash, n(50_000), n(50_000), toldOpening{data: bounty}.escrow(t)))
	unpriced := agreed(n(50_000), true)
	unpriced.NativePrice = nil
	bounty.ClaimerBounty, bounty.SecurityDeposit = "0", "1"
	if err := FromBTCLNTold(unpriced, payHash, n(50_000), n(50_000), toldOpening{data: bounty}.escrow(t)); err == nil {
		t.Error("a deposit is accepted whose worth is not known")
	}
}
