package bank

// What the framework of the programs refuses before their own code runs, and after it
// for accounts that are closed.
const (
	noInstruction         Custom = 100
	unknownInstruction    Custom = 101
	argumentsNotReadable  Custom = 102
	constraintMut         Custom = 2000
	constraintRaw         Custom = 2003
	constraintSeeds       Custom = 2006
	constraintAddress     Custom = 2012
	constraintTokenMint   Custom = 2014
	constraintTokenOwner  Custom = 2015
	discriminatorSet      Custom = 3000
	discriminatorNotFound Custom = 3001
	discriminatorMismatch Custom = 3002
	accountNotReadable    Custom = 3003
	notEnoughKeys         Custom = 3005
	ownedByWrongProgram   Custom = 3007
	invalidProgramID      Custom = 3008
	accountNotSigner      Custom = 3010
	accountNotInitialized Custom = 3012
)

// What the swap program refuses (§8). AlreadyExpired, InsufficientFunds, KindUnknown,
// InvalidAccountWritability and InvalidDataAccount are in its list and come from nowhere:
// the framework refuses such things before.
const (
	authExpired Custom = 6000 + iota
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
	prevBlockCommitment Custom = 6000 + iota
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
