package wire

import (
	"fmt"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Log is an event as a node returns it. Data that is not in a block yet must not be
// read as one: it can vanish (§13.1).
type Log struct {
	From Felt
	Keys []Felt
	Data []Felt
}

// Event is a decoded log of the contracts: one of the *Event types below. It is only as
// trustworthy as the node that returned it.
type Event interface{ event() }

// Selectors of events: the first key of a log. The others are what a scan filters by.
var (
	SelectorInitialize = Selector("Initialize")
	SelectorClaim      = Selector("Claim")
	SelectorRefund     = Selector("Refund")
	SelectorOpened     = Selector("Opened")
	SelectorDeposited  = Selector("Deposited")
	SelectorFronted    = Selector("Fronted")
	SelectorClaimed    = Selector("Claimed")
	SelectorClosed     = Selector("Closed")
	SelectorStored     = Selector("StoreHeader")
	SelectorStoredFork = Selector("StoreForkHeader")
	selectorChainReorg = Selector("ChainReorg")
)

// EscrowEvent identifies the escrow that an event is about.
type EscrowEvent struct {
	Offerer, Claimer Felt
	ClaimData        Felt
	EscrowHash       Felt
}

// InitializeEvent says that an escrow was opened. What it is of else only the
// transaction says ([Deployment.FindSwapData]).
type InitializeEvent struct {
	EscrowEvent
	Kind          chains.Kind
	RefundHandler Felt
}

// ClaimEvent says that an escrow was claimed. Result is what the claim handler
// returned: the secret, or the id of the Bitcoin transaction in internal order.
type ClaimEvent struct {
	EscrowEvent
	Kind   chains.Kind
	Result [32]byte
}

// RefundEvent says that an escrow was refunded; a cooperative refund has no handler.
type RefundEvent struct {
	EscrowEvent
	RefundHandler Felt
}

// VaultOpenEvent says that a vault was opened on a Bitcoin output.
type VaultOpenEvent struct {
	VaultRef
	UTXO bitcoin.OutPoint
}

// VaultDepositEvent says that an owner added to a vault, in raw units.
type VaultDepositEvent struct {
	VaultRef
	Amounts  [2]uint64
	Deposits uint32 // how many there have been, this one included
}

// VaultFrontEvent says that somebody advanced a withdrawal. Amounts are what the
// recipient got, in raw units.
type VaultFrontEvent struct {
	VaultRef
	BitcoinTx     bitcoin.Hash
	Recipient     Felt
	ExecutionHash Felt
	Fronter       Felt
	Amounts       [2]uint64
}

// VaultClaimEvent says that a vault paid a withdrawal. Amounts are all that was taken
// from the vault, fees included, in raw units.
type VaultClaimEvent struct {
	VaultRef
	BitcoinTx     bitcoin.Hash
	Recipient     Felt
	ExecutionHash Felt
	Caller        Felt
	Fronter       Felt   // zero if the payout was not advanced
	Withdrawals   uint32 // how many there have been, this one included
	Amounts       [2]uint64
}

// VaultCloseEvent says that a vault closed over a withdrawal and paid everything to its
// owner. Reason is text.
type VaultCloseEvent struct {
	VaultRef
	BitcoinTx bitcoin.Hash
	Reason    string
}

// StoredHeaderEvent says that the relay stored a header: on its main chain, or on a
// fork. The header is what the relay committed to: a log whose header hashes to
// something else is refused (§20.15).
type StoredHeaderEvent struct {
	CommitHash Felt
	Fork       Felt // 0: the main chain
	Header     StoredHeader
}

// ChainReorgEvent says that a fork became the main chain, from a height on.
type ChainReorgEvent struct {
	Submitter         Felt
	Fork              Felt
	TipHashPoseidon   Felt // see [BlockHashPoseidon]
	TipCommitHash     Felt
	FirstChangedBlock uint32
}

func (InitializeEvent) event()   {}
func (ClaimEvent) event()        {}
func (RefundEvent) event()       {}
func (VaultOpenEvent) event()    {}
func (VaultDepositEvent) event() {}
func (VaultFrontEvent) event()   {}
func (VaultClaimEvent) event()   {}
func (VaultCloseEvent) event()   {}
func (StoredHeaderEvent) event() {}
func (ChainReorgEvent) event()   {}

// DecodeLog reads a log. It returns nil without an error for what concerns no swap of
// this deployment: logs of other contracts and of other events, and escrows with a
// claim handler that is not configured (§13.2). It does not change the log (§20.16).
func (d Deployment) DecodeLog(l Log) (Event, error) {
	if len(l.Keys) == 0 {
		return nil, nil
	}
	r := &logReader{keys: reader{rest: l.Keys[1:]}, data: reader{rest: l.Data}}
	var e Event
	switch l.From {
	case d.EscrowManager.Address:
		e = d.escrowEvent(l.Keys[0], r)
	case d.VaultManager.Address:
		e = vaultEvent(l.Keys[0], r)
	case d.BtcRelay.Address:
		e = relayEvent(l.Keys[0], r)
	}
	if e == nil {
		return nil, nil
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("log of %T: %w", e, err)
	}
	if r.unknown {
		return nil, nil
	}
	return e, nil
}

// logReader reads the two lists of a log.
type logReader struct {
	keys, data reader
	unknown    bool // the escrow has a claim handler that is not configured
}

func (r *logReader) end() error {
	if err := r.keys.end(); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	if err := r.data.end(); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	return nil
}

func (d Deployment) escrowEvent(selector Felt, r *logReader) Event {
	escrow := func() EscrowEvent {
		return EscrowEvent{r.keys.address(), r.keys.address(), r.keys.felt(), r.keys.felt()}
	}
	kind := func(handler Felt) chains.Kind {
		k, ok := d.KindOf(handler)
		r.unknown = !ok
		return k
	}
	switch selector {
	case SelectorInitialize:
		return InitializeEvent{escrow(), kind(r.data.address()), r.data.address()}
	case SelectorClaim:
		e, result := ClaimEvent{EscrowEvent: escrow()}, r.data.span()
		if e.Kind = kind(r.data.address()); r.unknown {
			return e
		}
		b, ok := bytesOfWords(result)
		if !ok || len(b) != 32 {
			r.data.fail("the result has %d felts, must be 8 words", len(result))
			return e
		}
		e.Result = [32]byte(b)
		return e
	case SelectorRefund:
		e := RefundEvent{EscrowEvent: escrow()}
		r.data.span() // the refund data once more, or nothing
		e.RefundHandler = r.data.address()
		return e
	}
	return nil
}

func vaultEvent(selector Felt, r *logReader) Event {
	vault := func() VaultRef { return VaultRef{r.keys.address(), r.keys.felt()} }
	amounts := func() [2]uint64 { return [2]uint64{r.data.uint(64), r.data.uint(64)} }
	switch selector {
	case SelectorOpened:
		id := r.keys.txid()
		return VaultOpenEvent{vault(), bitcoin.OutPoint{Hash: id, Index: r.keys.u32()}}
	case SelectorDeposited:
		return VaultDepositEvent{vault(), amounts(), r.data.u32()}
	case SelectorFronted:
		e := VaultFrontEvent{BitcoinTx: r.keys.txid(), VaultRef: vault()}
		e.Recipient, e.ExecutionHash, e.Fronter, e.Amounts = r.keys.address(), r.keys.felt(), r.keys.address(), amounts()
		return e
	case SelectorClaimed:
		e := VaultClaimEvent{BitcoinTx: r.keys.txid(), VaultRef: vault()}
		e.Recipient, e.ExecutionHash, e.Caller, e.Amounts = r.keys.address(), r.keys.felt(), r.keys.address(), amounts()
		e.Withdrawals, e.Fronter = r.data.u32(), r.data.address()
		return e
	case SelectorClosed:
		e := VaultCloseEvent{BitcoinTx: r.keys.txid(), VaultRef: vault()}
		e.Reason = feltText(r.data.felt())
		return e
	}
	return nil
}

func relayEvent(selector Felt, r *logReader) Event {
	switch selector {
	case SelectorStored, SelectorStoredFork:
		e, block := StoredHeaderEvent{CommitHash: r.keys.felt()}, r.keys.felt()
		if selector == SelectorStoredFork {
			e.Fork = r.keys.felt()
		}
		e.Header = r.data.storedHeader()
		if r.data.err == nil && (e.Header.CommitHash() != e.CommitHash || BlockHashPoseidon(e.Header.Header.Hash()) != block) {
			r.data.fail("the header is not the one that was stored")
		}
		return e
	case selectorChainReorg:
		return ChainReorgEvent{r.keys.address(), r.keys.felt(), r.keys.felt(), r.keys.felt(), r.data.u32()}
	}
	return nil
}

// TxIDKeys are the keys by which a scan of the vault manager's events finds a Bitcoin
// transaction: the two halves of its id.
func TxIDKeys(id bitcoin.Hash) (low, high Felt) {
	both := felts(nil).txid(id)
	return both[0], both[1]
}

// WithdrawalLookup names a withdrawal to look for.
type WithdrawalLookup struct {
	Vault     VaultRef
	Recipient Felt
	TxID      bitcoin.Hash
}

// VaultLog is a log with its position.
type VaultLog struct {
	Log
	TxID   string // of the Starknet transaction
	Height uint64
}

// Outcome reads what became of a withdrawal from logs in ascending order (§15.4). That
// it was advanced is overridden by its claim or by the closing of the vault. Logs name a
// Bitcoin transaction that anybody can choose, so those of another vault or recipient
// do not count.
func (d Deployment) Outcome(l WithdrawalLookup, logs []VaultLog) (f chains.WithdrawalFact) {
	for _, log := range logs {
		e, err := d.DecodeLog(log.Log)
		if err != nil {
			continue
		}
		switch e := e.(type) {
		case VaultFrontEvent:
			if e.VaultRef == l.Vault && e.Recipient == l.Recipient && e.BitcoinTx == l.TxID {
				f.FrontTx = log.TxID
				if f.State == chains.WithdrawalNone {
					f.State, f.Height = chains.WithdrawalFronted, log.Height
				}
			}
		case VaultClaimEvent:
			if e.VaultRef == l.Vault && e.Recipient == l.Recipient && e.BitcoinTx == l.TxID {
				f.State, f.ClaimTx, f.Height = chains.WithdrawalClaimed, log.TxID, log.Height
			}
		case VaultCloseEvent:
			if e.VaultRef == l.Vault && e.BitcoinTx == l.TxID {
				f.State, f.Close, f.Height = chains.WithdrawalClosed, log.TxID, log.Height
			}
		}
	}
	return f
}

// feltText reads a felt that contracts use as text. What is not printable ASCII comes
// out as a question mark.
func feltText(f Felt) string {
	n := Number(f).Bytes()
	for i, c := range n {
		if c < 0x20 || c > 0x7e {
			n[i] = '?'
		}
	}
	return string(n)
}
