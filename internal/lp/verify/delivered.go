package verify

import (
	"encoding/json"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
)

// Delivered compares the escrow that an LP, or a log of the chain,
// presents after a Lightning payment with the one that was agreed on. The expiry
// is the LP's choice and the amount may be more; in the legacy type, where the
// user locks it, the deposit may be less. Whether there is time to use it is judged by
// [lp.NextDuty] and [lp.Openable] (protocol: lp-protocol.md §6.5, §6.6). Pure.
func Delivered(k chains.Contract, want chains.Escrow, data json.RawMessage, legacy bool) (chains.Escrow, error) {
	got, err := ReadEscrow(k, data)
	if err != nil {
		return chains.Escrow{}, err
	}
	may := chains.Tolerance{AnySequence: true, AnyExpiry: true, AtLeastAmount: true, AtMostDeposits: legacy}
	if err := k.Diff(want, got, may); err != nil {
		return chains.Escrow{}, lp.Lie(lp.CheckEscrow, "%w", err)
	}
	return got, nil
}
