package wire

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Event is a decoded log of the escrow or vault manager: one of the *Event
// types below. It is only as trustworthy as the node that returned it.
type Event interface{ event() }

// EscrowEvent identifies the escrow that an event is about.
type EscrowEvent struct {
	EscrowHash       common.Hash
	Offerer, Claimer common.Address
}

// InitializeEvent says that an escrow was opened.
type InitializeEvent struct {
	EscrowEvent
	Kind          chains.Kind
	RefundHandler common.Address
}

// ClaimEvent says that an escrow was claimed. Result is what the claim handler
// returned: the secret, or the id of the Bitcoin transaction in internal order.
type ClaimEvent struct {
	EscrowEvent
	Kind   chains.Kind
	Result []byte
}

// RefundEvent says that an escrow was refunded; a cooperative refund has no
// handler and no result.
type RefundEvent struct {
	EscrowEvent
	RefundHandler common.Address
	Result        []byte
}

// VaultRef names a vault.
type VaultRef struct {
	Owner common.Address
	ID    *big.Int // below 2^96
}

// VaultOpenEvent says that a vault was opened on a Bitcoin output.
type VaultOpenEvent struct {
	VaultRef
	UTXO   bitcoin.OutPoint
	Params VaultParams
}

// vaultDepositEvent says that an owner added to a vault, in raw units.
type vaultDepositEvent struct {
	VaultRef
	Amounts  [2]uint64
	Deposits uint32 // how many there have been, this one included
}

// VaultFrontEvent says that somebody advanced a withdrawal. Amounts are what the
// recipient got, in raw units.
type VaultFrontEvent struct {
	VaultRef
	BitcoinTx     bitcoin.Hash
	Recipient     common.Address
	Fronter       common.Address
	ExecutionHash common.Hash
	Amounts       [2]uint64
}

// VaultClaimEvent says that a vault paid a withdrawal. Amounts are all that was
// taken from the vault, fees included, in raw units.
type VaultClaimEvent struct {
	VaultRef
	BitcoinTx     bitcoin.Hash
	Recipient     common.Address
	Caller        common.Address
	Fronter       common.Address // zero if the payout was not advanced
	ExecutionHash common.Hash
	Withdrawals   uint32 // how many there have been, this one included
	Amounts       [2]uint64
}

// VaultCloseEvent says that a vault closed over a withdrawal and paid everything
// to its owner. Reason is text.
type VaultCloseEvent struct {
	VaultRef
	BitcoinTx bitcoin.Hash
	Reason    []byte
}

func (InitializeEvent) event()   {}
func (ClaimEvent) event()        {}
func (RefundEvent) event()       {}
func (VaultOpenEvent) event()    {}
func (vaultDepositEvent) event() {}
func (VaultFrontEvent) event()   {}
func (VaultClaimEvent) event()   {}
func (VaultCloseEvent) event()   {}

// DecodeLog reads a log. It returns nil without an error for what concerns no
// swap of this deployment: logs of other contracts and of other events, logs
// that a reorganisation removed, and escrows with a claim handler that is not
// configured (protocol: chain-evm.md §9).
func (d Deployment) DecodeLog(l types.Log) (Event, error) {
	if l.Removed || len(l.Topics) == 0 {
		return nil, nil
	}
	var of abi.ABI
	switch l.Address {
	case d.EscrowManager.Address:
		of = EscrowABI()
	case d.VaultManager.Address:
		of = VaultABI()
	default:
		return nil, nil
	}
	e, err := of.EventByID(l.Topics[0])
	if err != nil {
		return nil, nil
	}
	r, err := newLogReader(e, l)
	if err != nil {
		return nil, err
	}
	event := d.readEvent(e.Name, r)
	if r.err != nil {
		return nil, fmt.Errorf("log of %s: %w", e.Name, r.err)
	}
	return event, nil
}

func (d Deployment) readEvent(name string, r *logReader) Event {
	switch name {
	case "Initialize":
		kind, ok := d.KindOf(r.data.ClaimHandler)
		if !ok {
			return nil
		}
		return InitializeEvent{r.escrow(), kind, r.data.RefundHandler}
	case "Claim":
		kind, ok := d.KindOf(r.data.ClaimHandler)
		if !ok {
			return nil
		}
		return ClaimEvent{r.escrow(), kind, r.data.WitnessResult}
	case "Refund":
		return RefundEvent{r.escrow(), r.data.RefundHandler, r.data.WitnessResult}
	case "Opened":
		return VaultOpenEvent{r.ownerAndID(), bitcoin.OutPoint{Hash: bitcoin.Hash(r.topics[3]), Index: r.data.Vout}, r.data.Params}
	case "Deposited":
		return vaultDepositEvent{r.vault(), r.amounts(), r.data.DepositCount}
	case "Fronted":
		return VaultFrontEvent{r.vault(), bitcoin.Hash(r.topics[3]), r.address(2), r.data.Caller, r.data.ExecutionHash, r.amounts()}
	case "Claimed":
		return VaultClaimEvent{r.vault(), bitcoin.Hash(r.topics[3]), r.address(2), r.data.Caller, r.data.FrontingAddress,
			r.data.ExecutionHash, r.data.WithdrawCount, r.amounts()}
	case "Closed":
		return VaultCloseEvent{r.ownerAndID(), bitcoin.Hash(r.topics[3]), r.data.Error}
	}
	return nil
}

// logReader holds the parts of a log: indexed ones as topics, others decoded
// into the members of data that carry their names.
type logReader struct {
	topics []common.Hash
	data   struct {
		ClaimHandler    common.Address
		RefundHandler   common.Address
		WitnessResult   []byte
		Vout            uint32
		Params          VaultParams
		DepositCount    uint32
		Amount0         uint64
		Amount1         uint64
		Caller          common.Address
		ExecutionHash   common.Hash
		FrontingAddress common.Address
		WithdrawCount   uint32
		Error           []byte
	}
	err error
}

func newLogReader(e *abi.Event, l types.Log) (*logReader, error) {
	indexed := 1
	for _, in := range e.Inputs {
		if in.Indexed {
			indexed++
		}
	}
	if len(l.Topics) != indexed {
		return nil, fmt.Errorf("log of %s has %d topics instead of %d", e.Name, len(l.Topics), indexed)
	}
	r := &logReader{topics: l.Topics}
	plain := e.Inputs.NonIndexed()
	values, err := plain.Unpack(l.Data)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", e.Name, err)
	}
	if err := assign(plain, values, &r.data); err != nil {
		return nil, fmt.Errorf("log of %s: %w", e.Name, err)
	}
	return r, nil
}

// address reads an indexed address.
func (r *logReader) address(topic int) common.Address {
	word := r.topics[topic]
	if !bytes.Equal(word[:12], make([]byte, 12)) && r.err == nil {
		r.err = fmt.Errorf("topic %d is not an address", topic)
	}
	return common.Address(word[12:])
}

func (r *logReader) escrow() EscrowEvent {
	return EscrowEvent{Offerer: r.address(1), Claimer: r.address(2), EscrowHash: r.topics[3]}
}

// ownerAndID reads owner and number of a vault from a topic each.
func (r *logReader) ownerAndID() VaultRef {
	ref := VaultRef{r.address(1), r.topics[2].Big()}
	if !InBits(ref.ID, 96) && r.err == nil {
		r.err = fmt.Errorf("topic 2 is not a vault number")
	}
	return ref
}

// vault reads owner and number packed into one topic.
func (r *logReader) vault() VaultRef { return unpackVaultRef(r.topics[1]) }

func (r *logReader) amounts() [2]uint64 { return [2]uint64{r.data.Amount0, r.data.Amount1} }

// PackVaultRef is how the vault manager names a vault in one word. The number
// must be below 2^96.
func PackVaultRef(v VaultRef) (word common.Hash) {
	copy(word[:20], v.Owner[:])
	v.ID.FillBytes(word[20:])
	return word
}

func unpackVaultRef(word common.Hash) VaultRef {
	return VaultRef{common.Address(word[:20]), new(big.Int).SetBytes(word[20:])}
}
