package swap

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// TestContractNamesThePayment lets the contract's word on the payment win over
// another payment that the LP proves in the same pass.
func TestContractNamesThePayment(t *testing.T) {
	claimed, shown := bitcoin.Hash{1}, bitcoin.Hash{2}
	obs := &Observation{
		Escrow: Fact[chains.EscrowFact]{Asked: true, Value: chains.EscrowFact{State: chains.EscrowClaimed, Final: true, Result: claimed[:]}},
		Payout: Fact[PayoutFact]{Asked: true, Value: PayoutFact{Proven: true, TxID: shown, Vout: 3, Address: "bc1q", Sats: 5}},
	}
	r := &Record{Escrow: &EscrowPart{Real: &chains.Escrow{}}}
	r.Type, r.State = ToBTC, OutCommitted
	next := &Record{Escrow: &EscrowPart{Real: &chains.Escrow{}}}
	now := time.UnixMilli(1_700_000_000_000)
	next.Type, next.State, next.Ended = ToBTC, OutClaimed, At(now.Add(-settleAfter))
	newToBTC().Fill(Decision{R: r, Obs: obs, Now: now}, next)
	if b := next.Bitcoin; b == nil || b.TxID != claimed || b.Vout != 0 || b.Address != "bc1q" || b.Sats != 5 || !next.Settled {
		t.Errorf("settled %v with %+v, want the payment %v", next.Settled, b, claimed)
	}
}
