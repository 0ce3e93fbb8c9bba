package verify

import (
	"errors"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	btcvault "github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/lp"
)

// What an honest LP may answer is refused where we do not accept it, and costs the
// LP nothing.
func TestHonestDoubtsAreNotPunished(t *testing.T) {
	doubts := func(name string, check lp.Check, err error) {
		t.Helper()
		e, ok := errors.AsType[*lp.LPError](err)
		if !ok || e.Check != check || lp.Punishable(err) {
			t.Errorf("%s: %v, punished %v, want a doubt about %s", name, err, lp.Punishable(err), check)
		}
	}
	toBTC := func(change func(*toBTCTest)) error {
		v := honestToBTC()
		change(&v)
		return v.verify()
	}
	doubts("fees changed since the LP was loaded", lp.CheckFee, toBTC(func(v *toBTCTest) { v.want.BaseFee = n(0) }))
	doubts("fees rise faster than our estimate", lp.CheckNetworkFee, toBTC(func(v *toBTCTest) { v.want.FeeRate, v.got.SatsPerVB = 1, n(40) }))
	doubts("a wallet of many small coins", lp.CheckNetworkFee, toBTC(func(v *toBTCTest) { v.want.Policy.PayoutVSize = 150 }))
	doubts("our clock is late", lp.CheckExpiry, toBTC(func(v *toBTCTest) { v.want.Now = noon.Add(-4 * time.Hour) }))
	doubts("our clock is early", lp.CheckAuth, toBTC(func(v *toBTCTest) { v.auth.Err = &chains.AuthError{Reason: "expired", Late: true} }))
	if err := toBTC(func(v *toBTCTest) { v.auth.Err = &chains.AuthError{Reason: "signed by somebody else"} }); !lp.Punishable(err) {
		t.Errorf("a forged authorisation: %v", err)
	}

	vault := func(change func(*spvTest)) error {
		v := honestSPV(t)
		change(&v)
		return v.verify()
	}
	doubts("our node has not seen the vault open", lp.CheckVaultOpen, vault(func(v *spvTest) { v.facts.Vault.Open = false }))
	doubts("our node has not seen the transaction", lp.CheckUTXO, vault(func(v *spvTest) { v.facts.Output = nil }))
	doubts("our node has not seen the block", lp.CheckUTXO, vault(func(v *spvTest) { v.facts.Output.Confirmations = 0 }))
	doubts("many swaps at once", lp.CheckVaultPending, vault(func(v *spvTest) { v.facts.Pending = make([]chains.Withdrawal, btcvault.MaxPendingQuoted+1) }))
	doubts("somebody else was faster", lp.CheckVaultBalance, vault(func(v *spvTest) { v.facts.Vault.Raw = [2]uint64{1, 1} }))
	doubts("dear blocks", lp.CheckFeeRate, vault(func(v *spvTest) { v.want.MaxFeeRate = 1 }))
	fine := vault(func(v *spvTest) { v.facts.Vault.Multipliers[1] = wei(4979) })
	if e, ok := errors.AsType[*fault.Error](fine); !ok || e.Code != fault.InvalidInput || e.Field != "gasAmount" {
		t.Errorf("gas finer than a unit: %v", fine)
	}

	inv := decoded11(t, invoice(t, &chaincfg.RegressionNetParams, payHash, 50_000_000))
	doubts("a node that our graph does not know yet", lp.CheckNode, Node(inv, NodeFact{}, Policy{}))
	doubts("a small node", lp.CheckNode, Node(inv, NodeFact{Node: &bitcoin.NodeLiquidity{PublicKey: hexed(inv.Payee[:]), Capacity: 40_000}}, Policy{}))
	doubts("funds that another swap has just taken", lp.CheckFunds, covers(n(4), n(5)))
}

// An LP that converts the cap on routing fees at its own price may charge a little
// more than we would.
func TestRoutingCapIsConvertedByTheLP(t *testing.T) {
	// 110 base units of a sat each.
	if sats, err := (Policy{}).RoutingSats(n(110), whole, 8); err != nil || sats.Int64() != 112 {
		t.Errorf("%v, %v, want 112", sats, err)
	}
	if sats, err := (Policy{}).RoutingSats(n(110), n(0), 8); err == nil {
		t.Errorf("%v at a price of nothing", sats)
	}
}
