package contracts

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// What the protocol allows for a call is enough for it: an account that sends what it was
// handed out does not run out of gas here.
func TestCallsStayWithinTheProtocolsGas(t *testing.T) {
	k := newKit(t)
	spend := func(name string, as Felt, calls ...wire.Call) {
		t.Helper()
		for _, c := range calls {
			i := trial.Must(k.send(as, c))(k)
			if i.Gas > c.Gas.L2 {
				t.Errorf("%s: %s takes %d of %d l2 gas", name, c.Entry, i.Gas, c.Gas.L2)
			}
		}
	}
	s := k.deal(user, lp)
	spend("open by the offerer", user, k.initBy(s, user)...)
	spend("claim by secret", tower, k.claimCall(s))
	k.sent(user, fillBalance(k.d, coin, s.Amount)...)
	s.PayIn, s.Sequence = false, 8
	spend("open by the claimer", lp, k.initBy(s, lp)...)
	spend("agree on a refund", tower, k.agreedCall(s, theFuture))
	s.Sequence = 9
	spend("open again", lp, k.initBy(s, lp)...)
	k.later(1001 * time.Second)
	spend("refund", tower, k.refundCall(s))

	tx := payment(script, sats, nonced)
	escrow := k.waiting(chains.Condition{Kind: chains.OnchainNonced, Script: script, Sats: sats, Nonce: nonce, Confirmations: 3})
	proof, tip := k.confirm(genesis(), tx, 3)
	claim := trial.Must(k.d.ClaimByBitcoin(escrow, proof))(k)
	spend("claim by a payment", tower, claim)
	submit, _, err := k.d.SubmitHeaders(wire.Branch{}, tip, blocks(tip.Header, 20, 0))
	k.must(err)
	spend("synchronise the relay", tower, submit)

	k = newKit(t)
	v := k.newVault()
	withdrawal := k.spend(v.UTXO, [2]uint64{100, 10}, nil, nil)
	proof, _ = k.confirm(genesis(), withdrawal, 2)
	claim = trial.Must(k.d.VaultClaim(v, proof))(k)
	spend("claim from a vault", tower, claim)
}
