package bank

import (
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// shares are who gets how much of the lamports of an escrow's account at its end.
type shares struct{ signer, offerer, claimer, initializer uint64 }

// initializerOf is who opened an escrow and gets its rent back: v1 does not remember
// it, there it follows from who paid in.
func initializerOf(version string, e wire.EscrowState) wire.Key {
	if version == wire.V1 && e.Data.PayIn || version == wire.V2 && e.OffererInitializer {
		return e.Offerer
	}
	return e.Claimer
}

// claimShares are the shares when an escrow is claimed: the bounty is the sender's. In
// v2 the deposit goes back to the claimer, whoever put it in, as far as the bounty has
// not used it up (§8).
func claimShares(version string, e wire.EscrowState, held uint64) (shares, error) {
	s := shares{signer: e.ClaimerBounty}
	if version == wire.V2 && e.SecurityDeposit > e.ClaimerBounty {
		s.claimer = e.SecurityDeposit - e.ClaimerBounty
	}
	return s.rest(held)
}

// refundShares are the shares when an escrow is refunded: after its expiry the deposit
// is the offerer's, for the time that its tokens were locked; with the claimer's
// consent it is not. In v2 what the bounty exceeds it by goes back to the claimer.
func refundShares(version string, e wire.EscrowState, held uint64, agreed bool) (s shares, err error) {
	switch {
	case agreed && version == wire.V2:
		s.claimer = max(e.SecurityDeposit, e.ClaimerBounty)
	case agreed:
	default:
		s.offerer = e.SecurityDeposit
		if version == wire.V2 && e.ClaimerBounty > e.SecurityDeposit {
			s.claimer = e.ClaimerBounty - e.SecurityDeposit
		}
	}
	return s.rest(held)
}

// rest gives what remains to the initializer.
func (s shares) rest(held uint64) (shares, error) {
	for _, part := range []uint64{s.signer, s.offerer, s.claimer} {
		if part > held {
			return shares{}, ProgramFailedToComplete
		}
		held -= part
	}
	s.initializer = held
	return s, nil
}

// pay pays the shares and ends the escrow's account. Parties without a share may be nil.
func (s shares) pay(escrow, signer, offerer, claimer, initializer *Info) {
	escrow.Lamports, escrow.Data, escrow.Owner = 0, nil, wire.SystemProgram
	for _, part := range []struct {
		to       *Info
		lamports uint64
	}{{signer, s.signer}, {offerer, s.offerer}, {claimer, s.claimer}, {initializer, s.initializer}} {
		if part.lamports > 0 {
			part.to.Lamports += part.lamports
		}
	}
}
