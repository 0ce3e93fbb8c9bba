package e2e

import (
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// The flows of the EVM chain on Starknet, by the same code. Which version the LPs have
// follows from the test's name.
func onStarknet(t *testing.T, run func(t *testing.T, o options)) {
	t.Parallel()
	run(t, options{on: starknetName})
}

func TestStarknetToBitcoin(t *testing.T) { onStarknet(t, chainToBitcoin) }
func TestStarknetToLightning(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, chainToLightning)
}
func TestLightningToStarknet(t *testing.T) { // at the default depth TestOwnWatchtower goes this way
	trial.OnlyFull(t)
	onStarknet(t, lightningToChain)
}
func TestBitcoinToStarknet(t *testing.T) { onStarknet(t, bitcoinToChain) }

func TestRefundsOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, refunds)
}
func TestUnpaidQuotesExpireOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, unpaidQuotesExpire)
}
func TestQuoteOfAnLPThatIsGoneOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, quoteOfAnLPThatIsGone)
}
func TestLPsThatLieAboutThePaymentOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, liesAboutThePayment)
}
func TestLPsThatPayAndDoNotClaimOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, paidAndNotClaimed)
}
func TestClaimedWhileRefundingOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, claimedWhileRefunding)
}
func TestHeldPaymentsComeBackFromStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, heldPaymentsComeBack)
}
func TestFalseEscrowsOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, falseEscrows)
}
func TestPostedTransactionsGoAstrayForStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, postedTransactionsGoAstray)
}
func TestSettledManuallyOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, settledManually)
}
func TestOwnPaymentHashOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, ownPaymentHash)
}

func TestLightningPaysOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, lightningPays)
}
func TestVaultPaysOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, vaultPays)
}
func TestGasOnStarknetForLightning(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, gasForLightning)
}
func TestGasOnStarknetForBitcoin(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, gasForBitcoin)
}
func TestGasFalsePayoutOnStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, gasFalsePayout)
}
