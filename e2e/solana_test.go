package e2e

import (
	"testing"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// The flows of the EVM chain on Solana, by the same code, with both versions of the
// program. Which version the LPs have follows from the test's name.
func onSolana(t *testing.T, run func(t *testing.T, o options)) {
	onVersions(t, run, wire.V2, wire.V1)
}

// onVersions is onSolana with versions in the order in which they are tried: the first one at
// the default depth.
func onVersions(t *testing.T, run func(t *testing.T, o options), versions ...string) {
	t.Parallel()
	for _, version := range trial.Of(1, versions) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			run(t, options{on: version})
		})
	}
}

// onLayouts is onSolana for claims by Bitcoin proof, with each way in which v2 may keep
// their data.
func onLayouts(t *testing.T, run func(t *testing.T, o options)) {
	onSolana(t, run)
	if !trial.Full() {
		return
	}
	t.Run("v2, tagged", func(t *testing.T) {
		t.Parallel()
		run(t, options{on: wire.V2, net: devnet.Options{OnSolana: func(s *solana.Options) { s.DataV2 = wire.DataTagged }}})
	})
}

func TestSolanaToBitcoin(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, chainToBitcoin)
}
func TestSolanaToLightning(t *testing.T) { onSolana(t, chainToLightning) }
func TestLightningToSolana(t *testing.T) { onVersions(t, lightningToChain, wire.V1, wire.V2) } // v1 has a type of its own
func TestBitcoinToSolana(t *testing.T)   { onLayouts(t, bitcoinToChain) }
func TestSettledManuallyOnSolana(t *testing.T) {
	trial.OnlyFull(t)
	onLayouts(t, settledManually)
}
func TestRefundsOnSolana(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, refunds)
}
func TestUnpaidQuotesExpireOnSolana(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, unpaidQuotesExpire)
}
func TestQuoteOfAnLPThatIsGoneOnSolana(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, quoteOfAnLPThatIsGone)
}
func TestLPsThatLieAboutThePaymentOnSolana(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, liesAboutThePayment)
}
func TestLPsThatPayAndDoNotClaimOnSolana(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, paidAndNotClaimed)
}
func TestClaimedWhileRefundingOnSolana(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, claimedWhileRefunding)
}
func TestSolanaReorganisations(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, func(t *testing.T, o options) { unsettled(t, o).payoutsUndone(t) })
}
