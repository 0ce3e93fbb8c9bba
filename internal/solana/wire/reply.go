package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/mr-tron/base58"
)

// What nodes answer, as far as it carries what this package reads. The caller must
// bound the length of an answer when fetching it.

// AccountReply is an account as a node tells it.
type AccountReply struct {
	Owner      Key // the program that it belongs to
	Lamports   uint64
	Executable bool // it is a program
	Data       []byte
}

// ParseAccount reads the value of getAccountInfo, or one of getMultipleAccounts, in
// the encoding base64. No account is [ErrAbsent].
func ParseAccount(value json.RawMessage) (a AccountReply, err error) {
	var reply *struct {
		Owner      string
		Lamports   *uint64
		Executable bool
		Data       []string
	}
	if err := json.Unmarshal(value, &reply); err != nil {
		return a, fmt.Errorf("account of a node: %w", err)
	}
	if reply == nil {
		return a, ErrAbsent
	}
	if len(reply.Data) != 2 || reply.Data[1] != "base64" || reply.Lamports == nil {
		return a, errors.New("account of a node: its data has to be in base64, and its lamports stated")
	}
	if a.Owner, err = ParseKey(reply.Owner); err != nil {
		return AccountReply{}, fmt.Errorf("account of a node: owner: %w", err)
	}
	if a.Data, err = base64.StdEncoding.DecodeString(reply.Data[0]); err != nil {
		return AccountReply{}, fmt.Errorf("account of a node: data: %w", err)
	}
	a.Lamports, a.Executable = *reply.Lamports, reply.Executable
	return a, nil
}

// transactionReply is the result of getTransaction in the encoding base64.
type transactionReply struct {
	Slot        *uint64
	BlockTime   *int64
	Transaction []string
	Meta        *struct {
		Err               json.RawMessage
		LogMessages       []string
		InnerInstructions []struct {
			Index        int
			Instructions []struct {
				ProgramIDIndex int
				Accounts       []int
				Data           string // base58
			}
		}
		LoadedAddresses struct{ Writable, Readonly []string }
	}
}

// Reasons why a transaction that a node tells of cannot be read: it does not say what
// became of it, or when; or its message is of a form that is not known here, which
// anybody can make.
var (
	ErrOutcome = errors.New("transaction of a node: it does not say what became of it, or when")
	ErrTxForm  = errors.New("transaction of a node: it is of a form that is not read here")
)

// ParseSeen reads the result of getTransaction in the encoding base64, of any version
// of message. known is false where the node has no such transaction. One without its
// outcome or its block's time is an error: nothing follows from it (§9, §16).
// The instructions are those of the message, each followed by what programs called in
// its course; what accounts may do is not told.
func ParseSeen(result json.RawMessage) (tx SeenTx, known bool, err error) {
	var reply *transactionReply
	if err := json.Unmarshal(result, &reply); err != nil {
		return tx, false, fmt.Errorf("transaction of a node: %w", err)
	}
	if reply == nil {
		return tx, false, nil
	}
	if reply.Meta == nil || reply.Slot == nil || reply.BlockTime == nil {
		return tx, false, ErrOutcome
	}
	if len(reply.Transaction) != 2 || reply.Transaction[1] != "base64" || len(reply.Transaction[0]) > base64.StdEncoding.EncodedLen(MaxTxSize) {
		return tx, false, errors.New("transaction of a node: it is not there in base64")
	}
	raw, err := base64.StdEncoding.DecodeString(reply.Transaction[0])
	if err != nil {
		return tx, false, fmt.Errorf("transaction of a node: %w", err)
	}
	parsed, err := solana.TransactionFromBytes(raw)
	if err != nil {
		return tx, false, fmt.Errorf("%w: %w", ErrTxForm, err)
	}
	if len(parsed.Signatures) == 0 {
		return tx, false, fmt.Errorf("%w: it has no signature", ErrTxForm)
	}
	keys, err := reply.keys(&parsed.Message)
	if err != nil {
		return tx, false, err
	}
	tx = SeenTx{ID: parsed.Signatures[0].String(), Slot: *reply.Slot, Time: *reply.BlockTime, Logs: reply.Meta.LogMessages,
		Failed: len(reply.Meta.Err) > 0 && string(reply.Meta.Err) != "null"}
	for i, ix := range parsed.Message.Instructions {
		accounts := make([]int, len(ix.Accounts))
		for j, a := range ix.Accounts {
			accounts[j] = int(a)
		}
		if tx.Instructions, err = appendInstruction(tx.Instructions, keys, int(ix.ProgramIDIndex), accounts, ix.Data); err != nil {
			return SeenTx{}, false, err
		}
		for _, inner := range reply.Meta.InnerInstructions {
			if inner.Index != i {
				continue
			}
			for _, called := range inner.Instructions {
				data, err := base58.Decode(called.Data)
				if err != nil && called.Data != "" {
					return SeenTx{}, false, fmt.Errorf("transaction of a node: data of an instruction: %w", err)
				}
				if tx.Instructions, err = appendInstruction(tx.Instructions, keys, called.ProgramIDIndex, called.Accounts, data); err != nil {
					return SeenTx{}, false, err
				}
			}
		}
	}
	return tx, true, nil
}

// keys returns the accounts that a message's indexes count: its own, and those that
// it takes from tables, which the node has looked up.
func (r *transactionReply) keys(m *Message) ([]Key, error) {
	all := append([]Key(nil), m.AccountKeys...)
	loaded := r.Meta.LoadedAddresses
	if len(loaded.Writable)+len(loaded.Readonly) != m.NumLookups() {
		return nil, errors.New("transaction of a node: it does not say which accounts its tables name")
	}
	for _, s := range append(append([]string(nil), loaded.Writable...), loaded.Readonly...) {
		k, err := ParseKey(s)
		if err != nil {
			return nil, fmt.Errorf("transaction of a node: %w", err)
		}
		all = append(all, k)
	}
	return all, nil
}

func appendInstruction(to []Instruction, keys []Key, program int, accounts []int, data []byte) ([]Instruction, error) {
	key := func(i int) (k Key, ok bool) {
		if i < 0 || i >= len(keys) {
			return k, false
		}
		return keys[i], true
	}
	p, ok := key(program)
	ix := Instruction{Program: p, Data: data}
	for _, a := range accounts {
		k, known := key(a)
		ok = ok && known
		ix.Accounts = append(ix.Accounts, Account{PublicKey: k})
	}
	if !ok {
		return nil, errors.New("transaction of a node: an instruction names an account beyond those of the transaction")
	}
	return append(to, ix), nil
}
