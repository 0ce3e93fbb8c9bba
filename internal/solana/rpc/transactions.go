package rpc

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// SignaturesPerCall is the most transactions that one page of a history lists.
const SignaturesPerCall = 1000

// SignatureInfo is a transaction in the history of an address.
type SignatureInfo struct {
	Signature wire.Signature
	Slot      uint64
	Time      int64 // Unix seconds; 0 if the node does not tell it
	Failed    bool  // it did nothing
	Final     bool  // by the node's word
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *SignatureInfo) UnmarshalJSON(data []byte) error {
	var reply struct {
		Signature          string
		Slot               uint64
		BlockTime          *int64
		Err                json.RawMessage
		ConfirmationStatus string
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return err
	}
	sig, err := wire.ParseSignature(reply.Signature)
	if err != nil {
		return err
	}
	*s = SignatureInfo{Signature: sig, Slot: reply.Slot, Failed: isFailure(reply.Err), Final: reply.ConfirmationStatus == Finalized.String()}
	if reply.BlockTime != nil {
		s.Time = *reply.BlockTime
	}
	return nil
}

func isFailure(err json.RawMessage) bool { return len(err) > 0 && string(err) != "null" }

// Page bounds a part of a history, which is listed newest first.
type Page struct {
	Before *wire.Signature // only what is older
	Until  *wire.Signature // only what is newer
	Limit  int             // at most [SignaturesPerCall], which is what 0 means
}

// SignaturesRequest asks for a part of an address's history, newest first.
func SignaturesRequest(of wire.Key, page Page, at At, result *[]SignatureInfo) Request {
	if page.Limit <= 0 || page.Limit > SignaturesPerCall {
		page.Limit = SignaturesPerCall
	}
	o := options{"limit": page.Limit}
	if page.Before != nil {
		o["before"] = page.Before.String()
	}
	if page.Until != nil {
		o["until"] = page.Until.String()
	}
	return Request{Method: "getSignaturesForAddress", Params: []any{of.String(), at.with(o)}, Result: result, Check: func(got any) error {
		all := *got.(*[]SignatureInfo)
		if all == nil || len(all) > page.Limit {
			return fmt.Errorf("response has to be a list of at most %d transactions", page.Limit)
		}
		for i := 1; i < len(all); i++ {
			if all[i].Slot > all[i-1].Slot {
				return errors.New("the history is not listed newest first")
			}
		}
		return nil
	}}
}

// Seen is a transaction as a node knows it.
type Seen struct {
	Known bool // else the node does not know it
	Tx    wire.SeenTx
	Err   error // it is known and cannot be read: [wire.ErrTxForm] or [wire.ErrOutcome]
}

// UnmarshalJSON implements [json.Unmarshaler]. Anybody can make transactions: one that
// cannot be read does not spoil the answers beside it.
func (s *Seen) UnmarshalJSON(data []byte) error {
	tx, known, err := wire.ParseSeen(data)
	if errors.Is(err, wire.ErrTxForm) || errors.Is(err, wire.ErrOutcome) {
		*s = Seen{Known: true, Err: err}
		return nil
	}
	*s = Seen{Known: known, Tx: tx}
	return err
}

// TransactionRequest asks for a transaction with its log and the calls made in its course.
func TransactionRequest(id wire.Signature, at At, result *Seen) Request {
	return Request{Method: "getTransaction", Params: []any{id.String(), at.with(options{"encoding": "base64", "maxSupportedTransactionVersion": 0})}, Result: result,
		Check: func(got any) error {
			if s := got.(*Seen); s.Known && s.Err == nil && s.Tx.ID != id.String() {
				return fmt.Errorf("response is the transaction %s, not %s", s.Tx.ID, id)
			}
			return nil
		}}
}

// StatusesPerCall is how many transactions one call asks about.
const StatusesPerCall = 256

// Statuses are what became of transactions.
type Statuses struct {
	Slot uint64
	All  []*Status // in the order of the question; nil: the node does not know it
}

// Status is what became of a transaction.
type Status struct {
	Slot       uint64
	Err        json.RawMessage // nil: it was executed
	Commitment string          // "processed", "confirmed" or "finalized"
}

// Reached reports whether a transaction is at least as sure as a commitment.
func (s *Status) Reached(at At) bool {
	for _, reached := range [...]At{Finalized, Confirmed, Processed} {
		if s.Commitment == reached.String() {
			return reached.level <= at.level
		}
	}
	return false // a commitment that does not exist: it proves nothing
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Statuses) UnmarshalJSON(data []byte) error {
	var reply inContext[[]*struct {
		Slot               uint64
		Err                json.RawMessage
		Confirmations      *uint64
		ConfirmationStatus string
	}]
	if err := json.Unmarshal(data, &reply); err != nil {
		return err
	}
	if reply.Context.Slot == nil {
		return errNoSlot
	}
	s.Slot, s.All = *reply.Context.Slot, make([]*Status, len(reply.Value))
	for i, v := range reply.Value {
		if v == nil {
			continue
		}
		s.All[i] = &Status{Slot: v.Slot, Commitment: v.ConfirmationStatus}
		if v.ConfirmationStatus == "" && v.Confirmations == nil { // of old nodes: no count of confirmations means rooted
			s.All[i].Commitment = Finalized.String()
		}
		if isFailure(v.Err) {
			s.All[i].Err = v.Err
		}
	}
	return nil
}

// StatusesRequest asks what became of up to [StatusesPerCall] transactions, also of
// those from before the last few minutes.
func StatusesRequest(ids []wire.Signature, result *Statuses) Request {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = id.String()
	}
	return Request{Method: "getSignatureStatuses", Params: []any{all, options{"searchTransactionHistory": true}}, Result: result, Check: func(got any) error {
		if s := got.(*Statuses); len(s.All) != len(all) {
			return fmt.Errorf("response has %d transactions, not %d", len(s.All), len(all))
		}
		return nil
	}}
}

// SendRequest hands a transaction to a node, without trial (protocol: chain-solana.md
// §3). The node repeats it until its block hash is too old: the network loses many.
func SendRequest(raw []byte, result *string) Request {
	return Request{Method: "sendTransaction", Params: []any{base64.StdEncoding.EncodeToString(raw), options{"encoding": "base64", "skipPreflight": true}}, Result: result}
}

// Simulation is what a transaction would do.
type Simulation struct {
	Slot  uint64
	Err   json.RawMessage // nil: it would succeed
	Logs  []string
	Units uint64               // compute units used
	After []*wire.AccountReply // the accounts that were asked for, as they would be; nil: there would be none
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Simulation) UnmarshalJSON(data []byte) error {
	var reply inContext[*struct {
		Err           json.RawMessage
		Logs          []string
		UnitsConsumed uint64
		Accounts      []json.RawMessage
	}]
	if err := json.Unmarshal(data, &reply); err != nil {
		return err
	}
	if reply.Value == nil || reply.Context.Slot == nil {
		return errors.New("the simulation has no outcome or no slot")
	}
	*s = Simulation{Slot: *reply.Context.Slot, Logs: reply.Value.Logs, Units: reply.Value.UnitsConsumed}
	if isFailure(reply.Value.Err) {
		s.Err = reply.Value.Err
	}
	var err error
	s.After, err = parseAccounts(reply.Value.Accounts)
	return err
}

// SimulateRequest asks what a transaction would do. verify also checks its signatures;
// without it, fresh has the node put a newer block hash in the place of the
// transaction's. Accounts of the transaction can be looked at as they would be after it.
func SimulateRequest(raw []byte, verify, fresh bool, at At, result *Simulation, accounts ...wire.Key) Request {
	o := options{"encoding": "base64", "sigVerify": verify}
	if fresh && !verify {
		o["replaceRecentBlockhash"] = true
	}
	if len(accounts) > 0 {
		o["accounts"] = options{"encoding": "base64", "addresses": texts(accounts)}
	}
	return Request{Method: "simulateTransaction", Params: []any{base64.StdEncoding.EncodeToString(raw), at.with(o)}, Result: result}
}
