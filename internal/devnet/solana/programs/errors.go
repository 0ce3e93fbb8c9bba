package programs

import "github.com/swapper-go/swapper/internal/devnet/solana/bank"

// What the framework of the programs refuses before their own code runs, and after it
// for accounts that are closed.
const (
	noInstruction         bank.Custom = 100
	unknownInstruction    bank.Custom = 101
	argumentsNotReadable  bank.Custom = 102
	constraintMut         bank.Custom = 2000
	constraintRaw         bank.Custom = 2003
	constraintSeeds       bank.Custom = 2006
	constraintAddress     bank.Custom = 2012
	constraintTokenMint   bank.Custom = 2014
	constraintTokenOwner  bank.Custom = 2015
	discriminatorSet      bank.Custom = 3000
	discriminatorNotFound bank.Custom = 3001
	discriminatorMismatch bank.Custom = 3002
	accountNotReadable    bank.Custom = 3003
	notEnoughKeys         bank.Custom = 3005
	ownedByWrongProgram   bank.Custom = 3007
	invalidProgramID      bank.Custom = 3008
	accountNotSigner      bank.Custom = 3010
	accountNotInitialized bank.Custom = 3012
)

// What the swap program refuses (§8). AlreadyExpired, InsufficientFunds, KindUnknown,
// InvalidAccountWritability and InvalidDataAccount are in its list and come from nowhere:
// the framework refuses such things before.
const (
	authExpired bank.Custom = 6000 + iota
	notExpiredYet
	_
	invalidSecret
	_
	_
	tooManyConfirmations
	verifyProgram
	verifyInstruction
	verifyTxID
	verifyConfirmations
	invalidTx
	invalidNonce
	invalidVout
	_
	_
	invalidUserData
	heightProgram
	heightInstruction
	heightValue
	heightOperation
	signatureProgram
	signatureAccounts
	signatureLength
	signatureHeader
	signatureData
	wrongPayIn
	wrongNonce
)

// What the relay refuses (§19).
const (
	prevBlockCommitment bank.Custom = 6000 + iota
	prevBlock
	wrongTarget
	tooLittleWork
	timeTooLow
	timeTooHigh
	invalidTopic
	noHeaders
	forkTooShort
	wrongInit
	tooFewConfirmations
	wrongMerkleRoot
	wrongHeight
	wrongForkID
	wrongRemainingAccounts
	forkRootGone // v2 only
)
