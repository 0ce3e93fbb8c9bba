// Package chaintest is the conformance suite of package chains: what [chains.Chain]
// and [chains.Contract] promise, tried on a live local network of the chain, with
// a local Bitcoin network beside it. Every chain passes the same suite:
//
//	func TestConformance(t *testing.T) {
//		chaintest.Run(t, func(t *testing.T) chaintest.Net { return newNet(t) })
//	}
package chaintest

import (
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Net is a local network that the suite may do what it likes with, and the chain
// opened on it through two nodes. What a method did has happened when it returns.
// Failures end the test. The clock that the chain was opened with is the network's.
type Net interface {
	// Chain returns the chain, opened on the nodes 0 and 1, in this order.
	Chain() chains.Chain
	// Facts returns what the suite must know about the chain.
	Facts() Facts
	// Backend is the Bitcoin backend that the chain was opened with.
	Backend() bitcoin.Backend

	// Account returns a new account with much of the native coin and of the token
	// in Facts; where accounts are contracts it is deployed.
	Account(t *testing.T) Account
	// LP is an account that has much of both in the contract as well.
	LP() Account

	// Time returns the time of the newest block.
	Time() time.Time
	// Advance lets chain time pass by d and the clock with it.
	Advance(t *testing.T, d time.Duration)
	// Mine mines blocks with whatever waits.
	Mine(t *testing.T, blocks int)
	// Hold says whether transactions are kept waiting instead of being mined at once.
	Hold(t *testing.T, on bool)
	// Reorg replaces the last blocks by a longer branch without transactions; those
	// that were in them wait and, unless held, are mined with the next block.
	Reorg(t *testing.T, blocks int)
	// Spoil makes a transaction that was not sent yet impossible to mine.
	Spoil(t *testing.T, by Account, tx chains.Signed)

	// PayBitcoin sends sats to a script from a Bitcoin wallet and mines a block. The
	// transaction carries nonce, unless it is 0, and has further outputs.
	PayBitcoin(t *testing.T, script []byte, sats int64, nonce uint64, further ...*wire.TxOut) bitcoin.OutPoint
	// MineBitcoin mines Bitcoin blocks.
	MineBitcoin(t *testing.T, blocks int)
	// ReorgBitcoin replaces the last Bitcoin blocks by a longer branch.
	ReorgBitcoin(t *testing.T, blocks int)
	// SyncRelay brings the chain's relay to Bitcoin's tip.
	SyncRelay(t *testing.T)

	// Requests returns how many requests the nodes have got since the last call.
	Requests() int
	// Misbehave changes what is wrong with a node from the next request on.
	Misbehave(t *testing.T, node int, with Trouble)
	// NodeName is how errors name a node.
	NodeName(node int) string
}

// VaultNet is the further ability of networks whose contracts have vaults.
type VaultNet interface {
	Net
	// OpenVault opens a vault of the LP for the token and the native coin on a new
	// Bitcoin output, with the given raw balances.
	OpenVault(t *testing.T, raw [2]uint64, confirmations int) chains.VaultID
	// Withdraw sends a Bitcoin transaction that spends the vault's present output
	// and carries data, and leaves it in the mempool. The caller's and the fronting
	// share are given.
	Withdraw(t *testing.T, id chains.VaultID, data []byte, shares bitcoin.FeeShares) bitcoin.Hash
	// Front pays a withdrawal from the LP's wallet in advance.
	Front(t *testing.T, id chains.VaultID, tx bitcoin.Hash)
}

// Account is somebody with a key.
type Account interface {
	Address() string
	// Sign signs transactions as a wallet does, and returns what a wallet hands
	// back, one text for each.
	Sign(t *testing.T, u chains.Unsigned) []string
	// AuthorizeInit signs, as the other party, that sender may open an escrow until
	// a time.
	AuthorizeInit(t *testing.T, e chains.Escrow, feeRate, sender string, until time.Time) chains.Auth
	// AuthorizeRefund signs that an escrow may be refunded early until a time.
	AuthorizeRefund(t *testing.T, e chains.Escrow, until time.Time) chains.Auth
	// SignData proves that the account holds its address.
	SignData(t *testing.T, data []byte) string
}

// Facts are what the suite must know about a chain and cannot ask.
type Facts struct {
	Token string // a fungible token that is not the native coin

	// Addresses in forms that mean the same canonical one, and text that is none,
	// also not for other chains' addresses.
	SameAddress []string
	NoAddress   []string
	ZeroAddress string
	// LooseAddress is accepted, but not in strict mode; "" if there is no such form.
	LooseAddress string

	// EscrowMembers lists, for the JSON of an escrow, changes that must be refused
	// by Decode or named by Diff: the new value by the member's name.
	EscrowMembers map[string]any
	// Free lists the changes that a named field lets pass.
	Free []FreeMember

	// Alterations are ways to tamper with an unsigned transaction, each of which
	// Check must refuse: the chain's own forms of another chain, contract, amount,
	// call, order, fee beyond measure.
	Alterations map[string]func(t *testing.T, unsigned string) string

	Trips Trips

	NoReorg   bool // blocks cannot be replaced
	NoRevert  bool // transactions that fail are not mined
	GasPayers bool // a transaction's fee is paid in the native coin by its sender
}

// FreeMember is a member of an escrow that may differ when a field says so.
type FreeMember struct {
	Member string
	Value  any
	Field  chains.Field
}

// Trips are the requests that a method sends, those that go side by side included.
type Trips struct {
	Heads, Balance, FeeRate, Send, Status, VerifyInit, VerifyRefund, VerifyData int
	Escrows, EscrowsOpened, EscrowsAgain, EscrowsManyNone                       int // never opened; first and second look at an open one, 600 never opened
	Search, SearchFound                                                         int // by claim hash: nothing there, found
	Build, BuildProof, BuildProofAgain                                          int // the relay being there
	BuildProofBehind                                                            int // the relay being one block behind
	BuildVault, BuildVaultAgain                                                 int // two withdrawals in different blocks, the relay being there
	Hints                                                                       int // up to the first cursor
	Check, Admit, Liquidity, Estimate, EstimateAtRate                           int
	Vaults, VaultsAgain, Withdrawals, DryRun, RelayTip                          int
	History                                                                     int // of an account without swaps
}

// Trouble is what is wrong with a node.
type Trouble int

const (
	Healthy      Trouble = iota
	Down                 // no answer at all
	Slow                 // answers take many seconds
	Garbage              // answers that mean nothing
	WrongNetwork         // another network's node
	Limited              // too many requests
	Failing              // internal errors
	Behind               // the newest blocks are not known
	Unbatched            // takes one call in a request
)

func (w Trouble) String() string {
	return [...]string{"healthy", "down", "slow", "garbage", "wrong network", "limited", "failing", "behind", "unbatched", "", "", "", "", "", "", ""}[w&15]
}

// coins are whole units of a coin with 18 or 9 decimals; the suite uses amounts
// small enough for either.
func units(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1_000_000)) }
