package swap

import (
	"encoding/json"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
)

// Fact is an answer from the outside world: not asked, not answered (Err), or
// answered. "Not found" is an answer. A fact that is not Known never moves a
// swap.
type Fact[T any] struct {
	Value T
	Asked bool
	Err   error
	At    time.Time
}

// Known reports whether there is an answer.
func (f Fact[T]) Known() bool { return f.Asked && f.Err == nil }

// Observation holds the facts of one pass.
type Observation struct {
	Escrow     Fact[chains.EscrowFact] // by the agreed data
	Found      Fact[chains.EscrowFact] // by claim hash and parties, or by data that the LP delivered
	LP         Fact[lp.Status]
	Delivered  Fact[*chains.Escrow] // escrow data from the LP or the chain, equal to what was agreed; Err is an *lp.LPError if not
	Judged     json.RawMessage      // the data that Delivered is about
	ETA        Fact[int]            // seconds until the user's transaction is confirmed, -1 if unknown
	Refund     Fact[struct{}]       // the LP's refund authorisation verifies; Err is a *chains.AuthError if not
	Payment    Fact[*bitcoin.Tx]    // the user's Bitcoin transaction; nil: not found
	Payout     Fact[PayoutFact]     // what the LP says it paid with
	Spends     Fact[[]bitcoin.Spend]
	Taken      Fact[bitcoin.Spend] // who spends the output that the user is to spend; only shown
	Vault      Fact[chains.VaultFact]
	Withdrawal Fact[chains.WithdrawalFact]
	Txs        Fact[map[string]chains.TxStatus] // of the submission, by id: what is asked changes within a pass
	GasTx      Fact[GasFact]                    // a trusted payout
	Received   Fact[[]*bitcoin.Tx]              // what pays to the address of the swap
	Init       Fact[Millis]                     // until when an authorisation to open can be used; Err is a *chains.AuthError if it is invalid
	Refunded   Fact[RefundedFact]               // what an LP says it paid back
	Rival      Fact[bool]                       // another stored swap pays for the same
}

// Ask lists what a flow needs to know next; nil fields are not needed.
type Ask struct {
	Escrow     *chains.EscrowQuery
	Found      *chains.EscrowQuery
	LP         *lp.StatusQuery
	Delivered  *DeliveredAsk
	ETA        *ETAAsk
	Refund     *RefundAsk
	Payment    *bitcoin.Hash
	Payout     *PayoutAsk
	Spends     []bitcoin.OutPoint
	Taken      *bitcoin.OutPoint
	Vault      *chains.VaultID
	Withdrawal *chains.WithdrawalQuery
	Txs        []chains.Signed
	GasTx      *GasAsk
	Received   *ReceivedAsk
	Init       *InitAsk
	Refunded   *RefundedAsk
	Rival      *RivalAsk
}

// RivalAsk asks the store whether another swap holds one of this swap's keys.
type RivalAsk struct{ Index, Value string }

// GasAsk asks how many native tokens a smart-chain transaction pays to an
// address.
type GasAsk struct{ TxID, To string }

// GasFact is the answer. Paid is nil where the chain cannot tell.
type GasFact struct {
	Status    chains.TxStatus
	Paid      *big.Int
	Witnesses int // as in [chains.Payout]
}

// RefundedAsk asks whether a Bitcoin transaction pays to an address; any address
// will do if there is none.
type RefundedAsk struct {
	TxID bitcoin.Hash
	To   string
}

// RefundedFact is the answer; all zero for a transaction that is not found.
type RefundedFact struct {
	Confirmations uint32
	Sats          int64
}

// ReceivedAsk asks what pays to a Bitcoin address. If an amount is named, what pays
// exactly that is in the answer however much else is paid there.
type ReceivedAsk struct {
	Address string
	Sats    uint64 // 0: any
}

// DeliveredAsk asks whether escrow data is what was agreed. What may differ is
// what an LP is free to choose: a later check bounds the expiry, and more than
// the agreed amount is as good.
type DeliveredAsk struct {
	Want  chains.Escrow
	Data  json.RawMessage
	Opens bool // the user opens it, and pays the security deposit, of which less is as good
}

// InitAsk asks whether an authorisation lets a sender open an escrow.
type InitAsk struct {
	Escrow  chains.Escrow
	Auth    chains.Auth
	FeeRate string // that the LP was told
	Sender  string
}

// ETAAsk asks how long a transaction will take to be confirmed so often.
type ETAAsk struct {
	TxID          bitcoin.Hash
	Confirmations uint32
}

// RefundAsk asks whether an authorisation to refund early is good.
type RefundAsk struct {
	Escrow chains.Escrow
	Auth   chains.Auth
}

// PayoutAsk asks whether what an LP presents fulfils an escrow's condition: a
// preimage, or else a Bitcoin transaction.
type PayoutAsk struct {
	Escrow chains.Escrow
	Secret []byte
	TxID   bitcoin.Hash
	// Nonce and Confirmations are part of the condition of an on-chain payout; 0
	// where a recovered swap does not know them.
	Nonce         uint64
	Confirmations uint32
}

// PayoutFact is the answer. Proven is false as well for a transaction that is
// not to be found: it may yet appear.
type PayoutFact struct {
	Proven        bool
	False         error // an *lp.LPError: what is presented is not a payment, whatever a node says; nil if that is not known
	TxID          bitcoin.Hash
	Vout          uint32
	Address       string // "" if the script has none
	Sats          uint64
	Nonce         uint64
	Confirmations uint32 // that the condition demands
}
