package swap

import (
	"fmt"
	"time"
)

// Claimed makes the flows those of a service that claims for its users: what anybody can
// claim is handed to its watchtower, as often as it is safe to repeat. A preimage goes there
// with [Publish]. The step that waits for a claim says who claims, and by when.
func Claimed(flows []*Flow) {
	due := map[Type]func(Decision) bool{
		FromBTC: func(in Decision) bool { return in.R.State == InConfirmed && deposited(in) },
		SPVFromBTC: func(in Decision) bool {
			return in.R.State == SPVConfirmed && in.Obs.Payment.Known() && !spvUnproven(in)
		},
	}
	for _, f := range flows {
		if due, ok := due[f.Type]; ok {
			effects := f.Effects
			f.Effects = func(in Decision) []Effect {
				all := effects(in)
				if due(in) {
					all = append(all, Effect{Kind: HandOver})
				}
				return all
			}
		}
		if view := f.View; f.Type == FromBTC || f.Type == FromBTCLNAuto || f.Type == SPVFromBTC {
			f.View = func(in Decision) View {
				v := view(in)
				if in.R.Tried[string(HandOver)].Outcome == Refused || in.R.Tried[string(Publish)].Outcome == Refused {
					return v // the service's watchtower cannot claim it
				}
				for i := range v.Steps {
					if s := &v.Steps[i]; s.Type == stepSettlement && (s.Status == shownAwaitingAutomatic || s.Status == shownAwaitingManual) {
						s.Description = claimedBy(in.R)
					}
				}
				return v
			}
		}
	}
}

// claimedBy says who claims a swap, and by when.
func claimedBy(r *Record) string {
	if r.Vault != nil {
		return "The service makes the vault pay out the tokens; this has no deadline."
	}
	return fmt.Sprintf("The service claims the tokens, before the escrow ends at %s.", time.Unix(r.Escrow.Real.Expiry, 0).UTC().Format(time.RFC3339))
}
