package swap

// States of the types in which the user opens an escrow and an LP pays out
// (protocol: swap-flows-escrow.md §4.1).
const (
	OutRefunded    = -3
	OutExpired     = -2
	OutSoftExpired = -1
	OutCreated     = 0
	OutCommitted   = 1
	OutSoftClaimed = 2
	OutClaimed     = 3
	OutRefundable  = 4
)

// States of FROM_BTC (protocol: swap-flows-escrow.md §6.1).
const (
	InFailed      = -4
	InExpired     = -3 // the time to pay, not the quote
	InQuoteOver   = -2
	InSoftExpired = -1
	InCreated     = 0
	InCommitted   = 1
	InConfirmed   = 2
	InClaimed     = 3
)

// States of a Lightning source (protocol: swap-flows-escrow.md §7.1, §8.1).
const (
	LnFailed      = -4
	LnExpired     = -3 // of the quote
	LnSoftExpired = -2
	LnHTLCExpired = -1
	LnCreated     = 0
	LnPaid        = 1
	LnCommitted   = 2
	LnClaimed     = 3
)

// States of SPV_VAULT_FROM_BTC (protocol: swap-flows-spv-and-core.md A2).
const (
	SPVClosed      = -5
	SPVFailed      = -4
	SPVDeclined    = -3
	SPVExpired     = -2
	SPVSoftExpired = -1
	SPVCreated     = 0
	SPVSigned      = 1
	SPVPosted      = 2
	SPVBroadcasted = 3
	SPVFronted     = 4
	SPVConfirmed   = 5
	SPVClaimed     = 6
)

// States of TRUSTED_FROM_BTC (protocol: swap-flows-spv-and-core.md B2).
const (
	TrustedBTCExpired    = -3
	TrustedBTCFailed     = -2
	TrustedBTCRefunded   = -1
	TrustedBTCCreated    = 0
	TrustedBTCFinished   = 1
	TrustedBTCRefundable = 2
)

// States of TRUSTED_FROM_BTCLN (protocol: swap-flows-spv-and-core.md B1).
const (
	TrustedLNExpired  = -2
	TrustedLNFailed   = -1
	TrustedLNCreated  = 0
	TrustedLNPaid     = 1
	TrustedLNFinished = 2
)
