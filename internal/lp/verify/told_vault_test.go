package verify

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/lp"
)

// standInVaults is a contract whose vaults are told recipient and amounts as text.
type standInVaults struct{ chains.VaultContract }

func (standInVaults) WithdrawalData(recipient string, raw [2]uint64) ([]byte, error) {
	return fmt.Appendf(nil, "%s %d", recipient, raw), nil
}

// The transaction of a vault swap and its vault, each in every part.
func TestVaultTold(t *testing.T) {
	type told struct {
		want  SPVExpected
		got   ToldVault
		facts VaultFacts
	}
	spend := func(v *told, at bitcoin.OutPoint) { v.got.Vault, v.facts.Vault.UTXO = at, at }
	for name, c := range map[string]struct {
		check  lp.Check
		change func(*told)
	}{
		"honest":                    {"", func(*told) {}},
		"any share of watchtowers":  {"", func(v *told) { v.got.Shares.Caller = 0 }},
		"any address of a provider": {"", func(v *told) { v.got.PayScript = append([]byte{0, 20}, make([]byte, 20)...) }},
		"units of ten": {"", func(v *told) {
			v.facts.Vault.Multipliers[0], v.got.Output, v.got.Data = n(10), n(946_100), fmt.Appendf(nil, "%s %d", userKey, [2]uint64{94_610, 0})
		}},
		"somebody else is paid":        {lp.CheckVaultWithdrawal, func(v *told) { v.got.Data = fmt.Appendf(nil, "%s %d", lpKey, [2]uint64{94_610, 0}) }},
		"less is paid out":             {lp.CheckVaultWithdrawal, func(v *told) { v.got.Data = fmt.Appendf(nil, "%s %d", userKey, [2]uint64{94_609, 0}) }},
		"gas is paid out":              {lp.CheckVaultWithdrawal, func(v *told) { v.got.Data = fmt.Appendf(nil, "%s %d", userKey, [2]uint64{94_610, 1}) }},
		"a call after the payout":      {lp.CheckVaultWithdrawal, func(v *told) { v.got.Data = append(v.got.Data, make([]byte, 32)...) }},
		"more is paid":                 {lp.CheckRequested, func(v *told) { v.got.PaySats++ }},
		"less is paid":                 {lp.CheckRequested, func(v *told) { v.got.PaySats-- }},
		"nothing is paid":              {lp.CheckNumbers, func(v *told) { v.got.PaySats = 0 }},
		"a share of fronters":          {lp.CheckShares, func(v *told) { v.got.Shares.Fronting = 1 }},
		"a share of a call":            {lp.CheckShares, func(v *told) { v.got.Shares.Execution = 1 }},
		"no script":                    {lp.CheckAddress, func(v *told) { v.got.PayScript = nil }},
		"a legacy payment":             {lp.CheckAddress, func(v *told) { v.got.PayScript = v.got.VaultScript }},
		"a vault of another kind":      {lp.CheckAddress, func(v *told) { v.got.VaultScript = v.got.PayScript }},
		"another output's script":      {lp.CheckUTXO, func(v *told) { v.facts.Output.Msg.TxOut[0].PkScript[9] ^= 1 }},
		"another output's value":       {lp.CheckUTXO, func(v *told) { v.got.VaultValue++ }},
		"an output that is not there":  {lp.CheckUTXO, func(v *told) { spend(v, bitcoin.OutPoint{Hash: v.got.Vault.Hash, Index: 1}) }},
		"an unknown output":            {lp.CheckUTXO, func(v *told) { v.facts.Output = nil }},
		"an unconfirmed output":        {lp.CheckUTXO, func(v *told) { v.facts.Output.Confirmations = 0 }},
		"a spent output":               {lp.CheckUTXOSpent, func(v *told) { v.facts.Spend = bitcoin.SpentInMempool }},
		"an output of another vault":   {lp.CheckVaultBalance, func(v *told) { v.facts.Vault.UTXO = bitcoin.OutPoint{Hash: bitcoin.Hash{9}} }},
		"no vault":                     {lp.CheckVaultOpen, func(v *told) { v.facts.Vault = nil }},
		"a closed vault":               {lp.CheckVaultOpen, func(v *told) { v.facts.Vault.Open = false }},
		"a relay of somebody else":     {lp.CheckVaultOpen, func(v *told) { v.facts.Vault.OurRelay = false }},
		"another token":                {lp.CheckVaultTokens, func(v *told) { v.facts.Vault.Tokens[0] = "0xcc" }},
		"another native token":         {lp.CheckVaultTokens, func(v *told) { v.facts.Vault.Tokens[1] = "0xcc" }},
		"too little in the vault":      {lp.CheckVaultBalance, func(v *told) { v.facts.Vault.Raw[0]-- }},
		"many confirmations":           {lp.CheckConfirmations, func(v *told) { v.facts.Vault.Confirmations = 7 }},
		"an amount that cannot be":     {lp.CheckMultiplier, func(v *told) { v.facts.Vault.Multipliers[0] = n(7) }},
		"a negative vault":             {lp.CheckNumbers, func(v *told) { v.got.ID.ID = n(-1) }},
		"withdrawals that do not lead": {lp.CheckVaultPending, func(v *told) { v.facts.Trace = errUnknown("") }},
		"withdrawals that are odd":     {lp.CheckVaultWithdrawal, func(v *told) { v.facts.Parse = errUnknown("") }},
		"a dear rate":                  {lp.CheckFeeRate, func(v *told) { v.got.FeeRate = 20.1 }},
		"no rate":                      {lp.CheckFeeRate, func(v *told) { v.got.FeeRate = 0 }},
	} {
		s := honestSPV(t)
		v := told{want: SPVExpected{Agreed: agreed(n(100_000), true), Network: bitcoin.Regtest, MaxFeeRate: 20}, facts: s.facts}
		v.want.Contract, v.want.LP = standInVaults{}, ""
		v.facts.Output.Msg = s.facts.Output.Msg.Copy()
		v.facts.Vault.Multipliers = [2]*big.Int{n(1), n(1e10)}
		v.got = ToldVault{ID: chains.VaultID{Owner: lpKey, ID: n(3)}, Output: n(94_610), FeeRate: 2, VaultTerms: psbt.VaultTerms{
			Vault: v.facts.Vault.UTXO, VaultValue: 600, VaultScript: append([]byte(nil), v.facts.Output.Msg.TxOut[0].PkScript...), PayScript: regtestAddress(t, bitcoin.P2WPKH, 20).Script(), PaySats: 100_000,
			Data: fmt.Appendf(nil, "%s %d", userKey, [2]uint64{94_610, 0}), Shares: bitcoin.FeeShares{Caller: 100}, LockTime: wire.MaxTxInSequenceNum >> 3}}
		c.change(&v)
		accepted, err := VaultTold(v.want, v.got, v.facts)
		caught(t, name, c.check, err)
		if err == nil && (accepted.Raw != [2]uint64{94_610, 0} || accepted.UTXO != v.got.Vault || accepted.UTXOSats != 600 || accepted.ID.Owner != lpKey || accepted.Confirmations != 2) {
			t.Errorf("%s: got %+v", name, accepted)
		}
	}
	want := SPVExpected{Agreed: agreed(n(100_000), true), Network: bitcoin.Regtest, MaxFeeRate: 20}
	if _, err := VaultTold(want, ToldVault{}, VaultFacts{}); err == nil {
		t.Error("a contract without vaults is accepted")
	}
}
