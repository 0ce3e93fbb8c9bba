// Package chaintest is the conformance suite of package chains. It tests what
// [chains.Chain] and [chains.Contract] promise on a live local network of the
// chain, together with a local Bitcoin network. Every chain passes the same suite:
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

// Net is a local network that the suite controls, and the chain opened on it
// through two nodes. The effect of a method is visible when the method returns.
// Implementations end the test with t.Fatal on failure. The chain must be opened
// with the network's clock.
type Net interface {
	// Chain returns the chain, opened on the nodes 0 and 1, in this order.
	Chain() chains.Chain
	// Facts returns what the suite must know about the chain.
	Facts() Facts
	// Backend returns the Bitcoin backend that the chain was opened with.
	Backend() bitcoin.Backend

	// Account returns a new account with ample funds in the native coin and in
	// Facts.Token; where accounts are contracts it is already deployed.
	Account(t *testing.T) Account
	// LP returns an account that also has ample funds of both deposited in the contract.
	LP() Account

	// Time returns the time of the newest block.
	Time() time.Time
	// Advance moves the chain's time and the clock ahead by d.
	Advance(t *testing.T, d time.Duration)
	// Mine mines blocks with the pending transactions.
	Mine(t *testing.T, blocks int)
	// Hold sets whether transactions stay pending instead of being mined at once.
	Hold(t *testing.T, on bool)
	// Reorg replaces the last blocks with a longer, empty branch. The transactions
	// of the replaced blocks become pending again and, unless held, are mined with
	// the next block.
	Reorg(t *testing.T, blocks int)
	// Spoil makes it impossible to mine a transaction that has not been sent yet.
	Spoil(t *testing.T, by Account, tx chains.Signed)

	// PayBitcoin sends sats to a script from a Bitcoin wallet and mines a block. The
	// transaction carries nonce, unless that is 0, and has the further outputs.
	PayBitcoin(t *testing.T, script []byte, sats int64, nonce uint64, further ...*wire.TxOut) bitcoin.OutPoint
	// MineBitcoin mines Bitcoin blocks.
	MineBitcoin(t *testing.T, blocks int)
	// ReorgBitcoin replaces the last Bitcoin blocks by a longer branch.
	ReorgBitcoin(t *testing.T, blocks int)
	// SyncRelay brings the chain's relay to Bitcoin's tip.
	SyncRelay(t *testing.T)

	// Requests returns how many requests the nodes have received since the last call.
	Requests() int
	// Misbehave sets the fault of a node from the next request on.
	Misbehave(t *testing.T, node int, with Trouble)
	// NodeName returns the name of a node as it appears in errors.
	NodeName(node int) string
}

// VaultNet is implemented by networks whose contracts have vaults.
type VaultNet interface {
	Net
	// OpenVault opens a vault of the LP for the token and the native coin on a new
	// Bitcoin output, with the given raw balances.
	OpenVault(t *testing.T, raw [2]uint64, confirmations int) chains.VaultID
	// Withdraw sends a Bitcoin transaction that spends the vault's present output
	// and carries data and the fee shares, and leaves it in the mempool.
	Withdraw(t *testing.T, id chains.VaultID, data []byte, shares bitcoin.FeeShares) bitcoin.Hash
	// Front advances the payout of a withdrawal from the LP's wallet.
	Front(t *testing.T, id chains.VaultID, tx bitcoin.Hash)
}

// Account is a key holder on the chain.
type Account interface {
	Address() string
	// Sign signs transactions as a wallet does and returns the signed
	// transactions, one text for each.
	Sign(t *testing.T, u chains.Unsigned) []string
	// AuthorizeInit signs, as the other party, the permission for sender to open an
	// escrow until the given time.
	AuthorizeInit(t *testing.T, e chains.Escrow, feeRate, sender string, until time.Time) chains.Auth
	// AuthorizeRefund signs the permission to refund an escrow early, valid until the given time.
	AuthorizeRefund(t *testing.T, e chains.Escrow, until time.Time) chains.Auth
	// SignData proves that the account holds its address.
	SignData(t *testing.T, data []byte) string
}

// Facts describes a chain to the suite: what it cannot find out by calling the chain.
type Facts struct {
	Token string // a fungible token that is not the native coin

	// SameAddress holds spellings of one address, NoAddress texts that are not
	// valid addresses, including addresses of other chains.
	SameAddress []string
	NoAddress   []string
	ZeroAddress string

	// EscrowMembers maps members of an escrow's JSON to changed values that Decode
	// must refuse or Diff must report.
	EscrowMembers map[string]any
	// Free lists the members that may change if a tolerance allows it.
	Free []FreeMember

	// Alterations are ways to tamper with an unsigned transaction, each of which
	// Check must refuse: another chain, contract, amount, call or order, an
	// excessive fee.
	Alterations map[string]func(t *testing.T, unsigned string) string

	Trips Trips

	// AuthLate is how long after it was given an authorisation is too late to start with,
	// and not over yet, where that is long before its timeout; else 0.
	AuthLate time.Duration
	// SignedOpenings says that the other party signs the whole transaction that opens an
	// escrow: it cannot be replaced by another one.
	SignedOpenings bool
	// ProofTxs is how many transactions a claim by Bitcoin proof takes where the relay has
	// what it needs; 0 is 1.
	ProofTxs int

	NoReorg   bool // blocks cannot be replaced
	NoRevert  bool // transactions that fail are not mined
	GasPayers bool // a transaction's fee is paid in the native coin by its sender
}

// FreeMember is a member of an escrow that may differ when a tolerance says so.
type FreeMember struct {
	Member string
	Value  any
	May    chains.Tolerance
}

// Trips are the numbers of requests that each method sends, parallel ones included. It may
// be fewer where parallel ones meet, and go to a node together.
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

// Trouble is a fault of a node: the one of these that is set. The zero value is none.
type Trouble struct {
	Down         bool // no answer at all
	Slow         bool // answers take many seconds
	Garbage      bool // answers that mean nothing
	WrongNetwork bool // another network's node
	Limited      bool // too many requests
	Failing      bool // internal errors
	Behind       bool // the newest blocks are not known
	Unbatched    bool // takes one call in a request
	Lying        bool // says that no escrow and no vault was ever opened, as of the newest block
}

func (w Trouble) String() string {
	for name, set := range map[string]bool{
		"down": w.Down, "slow": w.Slow, "garbage": w.Garbage, "wrong network": w.WrongNetwork, "limited": w.Limited,
		"failing": w.Failing, "behind": w.Behind, "unbatched": w.Unbatched, "lying": w.Lying,
	} {
		if set {
			return name
		}
	}
	return "healthy"
}

// coins are whole units of a coin with 18 or 9 decimals; the suite uses amounts
// small enough for either.
func units(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1_000_000)) }
