package swap

import (
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// While a service with a claimer is to claim, the step says so, with the time until which that is
// possible; without one, and in every other state, a step says what it said.
func TestStepsSayWhoClaims(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	escrow := &EscrowPart{Real: &chains.Escrow{Expiry: now.Unix() + 3600}, OpenedAt: At(now)}
	const by = "The service claims the tokens, before the escrow ends at 2027-01-15T09:00:00Z."
	for name, c := range map[string]struct {
		record  *Record
		claimed string
		without string
	}{
		"Lightning": {&Record{Head: Head{Type: FromBTCLNAuto, State: LnCommitted}, Escrow: escrow, Lightning: &LightningPart{Preimage: chains.Preimage{1}}}, by, "The tokens are paid out."},
		"Bitcoin":   {&Record{Head: Head{Type: FromBTC, State: InConfirmed}, Escrow: escrow, Bitcoin: &BitcoinPart{ConfirmedAt: At(now)}}, by, "The tokens are paid out."},
		"vault": {&Record{Head: Head{Type: SPVFromBTC, State: SPVConfirmed}, Vault: &VaultPart{VaultID: new(big.Int)}, Bitcoin: &BitcoinPart{Posted: true, ConfirmedAt: At(now)}},
			"The service makes the vault pay out the tokens; this has no deadline.", "The vault pays out the tokens."},
		"on a chain that its watchtower does not serve": {&Record{Head: Head{Type: SPVFromBTC, State: SPVConfirmed}, Vault: &VaultPart{VaultID: new(big.Int)}, Bitcoin: &BitcoinPart{Posted: true, ConfirmedAt: At(now)},
			Tried: map[string]Try{string(HandOver): {Outcome: Refused}}}, "The vault pays out the tokens.", "The vault pays out the tokens."},
		"over": {&Record{Head: Head{Type: FromBTCLNAuto, State: LnClaimed}, Escrow: escrow, Lightning: &LightningPart{}}, "The tokens are paid out.", "The tokens are paid out."},
	} {
		t.Run(name, func(t *testing.T) {
			claimed := Flows()
			Claimed(claimed)
			for _, by := range []struct {
				want  string
				flows []*Flow
			}{{c.claimed, claimed}, {c.without, Flows()}} {
				for _, f := range by.flows {
					if f.Type != c.record.Type {
						continue
					}
					v := f.View(Decision{R: c.record, Obs: &Observation{}, Now: now})
					if got := v.Steps[len(v.Steps)-1].Description; got != by.want {
						t.Errorf("the step says %q, want %q", got, by.want)
					}
				}
			}
		})
	}
}
