package lp

// Check names one check of an LP's answer. The words are stable: tests and logs
// name lies by them.
type Check string

// The checks (protocol: lp-protocol.md §6, §9; swap-flows-spv-and-core.md A4).
const (
	CheckNumbers    Check = "numbers"     // an amount, fee or share is missing, negative, or more than there can be
	CheckTotalFee   Check = "total-fee"   // the fees do not add up to their total
	CheckBTCSum     Check = "btc-sum"     // the parts of the bitcoin amount do not add up to it
	CheckRequested  Check = "requested"   // the fixed amount is not the one that was asked for
	CheckPrice      Check = "price"       // worse than the market by more than the tolerance
	CheckGasPrice   Check = "gas-price"   // the same for gas drop and watchtower bounty
	CheckFee        Check = "fee"         // the swap fee exceeds the announced one
	CheckGasFee     Check = "gas-fee"     // the same for the gas part
	CheckFeeLimit   Check = "fee-limit"   // the fee, announced or not, exceeds what the policy accepts
	CheckNetworkFee Check = "network-fee" // the Bitcoin fee exceeds what a payout can cost
	CheckRoutingFee Check = "routing-fee" // the Lightning fee exceeds the cap, or its price in tokens its value
	CheckConfidence Check = "confidence"  // not a probability
	CheckEscrow     Check = "escrow"      // the escrow is not the one that was agreed on; the cause is a *chains.DiffError
	CheckExpiry     Check = "expiry"      // the escrow ends too late for a user whose money it holds, or has ended
	CheckSendWindow Check = "send-window" // too little time is left to pay
	CheckAuth       Check = "auth"        // the authorisation does not open the escrow
	CheckWatchtower Check = "watchtower"  // too little is left after the watchtower's share
	CheckDeposit    Check = "deposit"     // the security deposit is out of proportion
	CheckBounty     Check = "bounty"      // not the watchtower bounty that was sent, or out of proportion
	CheckGas        Check = "gas"         // not the gas drop that was asked for
	CheckFunds      Check = "funds"       // the LP cannot pay out so much

	CheckAddress       Check = "address"       // a Bitcoin address that cannot be paid
	CheckConfirmations Check = "confirmations" // wants too many confirmations

	CheckLPKey       Check = "lp-key"      // names another address on the smart chain than it has proven
	CheckInvoice     Check = "invoice"     // not an invoice of this network with amount and expiry
	CheckPaymentHash Check = "hash"        // the invoice is for another payment hash
	CheckDescription Check = "description" // the invoice says something else than it was asked to
	CheckPrepared    Check = "prepared"    // the prepared amount makes no sense, or the invoice is for another one
	CheckNode        Check = "node"        // the Lightning node is not the LP's, unknown, or too small

	CheckFeeRate         Check = "fee-rate"         // demands a Bitcoin fee rate beyond the limit, or one that cannot be
	CheckShares          Check = "shares"           // fee shares that were not agreed on
	CheckQuoteID         Check = "quote-id"         // not 64 hexadecimal digits
	CheckQuoteExpiry     Check = "quote-expiry"     // has expired already
	CheckInputs          Check = "inputs"           // computed from inputs that were never sent
	CheckVaultOwner      Check = "vault-owner"      // another party's vault
	CheckVaultOpen       Check = "vault-open"       // there is none, it is closed, or bound to another relay
	CheckVaultTokens     Check = "vault-tokens"     // holds other tokens
	CheckMultiplier      Check = "multiplier"       // the amounts cannot be expressed in vault units closely enough
	CheckUTXO            Check = "utxo"             // the output does not exist, is unconfirmed, or is not the vault's
	CheckUTXOSpent       Check = "utxo-spent"       // the output is spent
	CheckVaultPending    Check = "vault-pending"    // the output does not follow from the vault's state in a few withdrawals
	CheckVaultBalance    Check = "vault-balance"    // the vault cannot cover payout and fees
	CheckVaultWithdrawal Check = "vault-withdrawal" // the contract cannot read a pending withdrawal

	CheckCommitted Check = "committed" // the delivered escrow is not in the state in which it can be used
	CheckTooLate   Check = "too-late"  // the delivered escrow ends too soon to claim it safely
	CheckSecret    Check = "secret"    // not the preimage
	CheckPayout    Check = "payout"    // the transaction does not pay what was agreed on
)

// Late returns the error of a check that failed by the local clock, which may be the one
// that is wrong.
func Late(c Check, format string, args ...any) error {
	e := Lie(c, format, args...)
	e.Clock = true
	return e
}
