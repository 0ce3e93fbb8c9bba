package swap

import "github.com/swapper-go/swapper/internal/swapstate"

// Claimed makes the flows those of a service that claims for its users: what anybody can
// claim is handed to its watchtower, as often as it is safe to repeat. A preimage goes there
// with [Publish].
func Claimed(flows []*Flow) {
	due := map[Type]func(Decision) bool{
		FromBTC: func(in Decision) bool { return in.R.State == swapstate.InConfirmed && deposited(in) },
		SPVFromBTC: func(in Decision) bool {
			return in.R.State == swapstate.SPVConfirmed && in.Obs.Payment.Known() && !spvUnproven(in)
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
	}
}
