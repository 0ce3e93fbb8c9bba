package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// accountsPerCall is how many accounts one call asks for.
const accountsPerCall = 100

// Accounts are accounts at one state of the ledger.
type Accounts struct {
	Slot uint64               // of the state; of several, of the oldest
	All  []*wire.AccountReply // in the order of the keys; nil: there is none

	clock *wire.AccountReply // the ledger's, if it is the first
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *Accounts) UnmarshalJSON(data []byte) error {
	var reply inContext[[]json.RawMessage]
	if err := json.Unmarshal(data, &reply); err != nil {
		return err
	}
	if reply.Context.Slot == nil {
		return errNoSlot
	}
	all, err := parseAccounts(reply.Value)
	if err != nil {
		return err
	}
	a.Slot, a.All = *reply.Context.Slot, all
	return nil
}

// parseAccounts reads accounts, of which those that do not exist are nil.
func parseAccounts(values []json.RawMessage) ([]*wire.AccountReply, error) {
	all := make([]*wire.AccountReply, len(values))
	for i, value := range values {
		account, err := wire.ParseAccount(value)
		if errors.Is(err, wire.ErrAbsent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all[i] = &account
	}
	return all, nil
}

// inContext is an answer with the slot of the state that it was read at.
type inContext[T any] struct {
	Context struct{ Slot *uint64 }
	Value   T
}

var errNoSlot = errors.New("the slot of the state is missing")

// AccountsRequest asks for up to [accountsPerCall] accounts.
func AccountsRequest(keys []wire.Key, at At, result *Accounts) Request {
	count := len(keys)
	return Request{Method: "getMultipleAccounts", Params: []any{texts(keys), at.with(options{"encoding": "base64"})}, Result: result,
		Check: func(got any) error {
			a := got.(*Accounts)
			if len(a.All) != count {
				return fmt.Errorf("response has %d accounts, not %d", len(a.All), count)
			}
			if count > 0 && keys[0] == wire.ClockData {
				a.clock = a.All[0]
			}
			return nil
		}}
}

// AccountsRequests asks for any number of accounts. gather puts the answers together,
// once they are there.
func AccountsRequests(keys []wire.Key, at At) (requests []Request, gather func() Accounts) {
	var parts []*Accounts
	for first := 0; first < len(keys); first += accountsPerCall {
		part := new(Accounts)
		parts = append(parts, part)
		requests = append(requests, AccountsRequest(keys[first:min(first+accountsPerCall, len(keys))], at, part))
	}
	return requests, func() Accounts {
		var all Accounts
		for i, part := range parts {
			all.All = append(all.All, part.All...)
			if i == 0 || part.Slot < all.Slot {
				all.Slot = part.Slot
			}
		}
		return all
	}
}

// ReadAccounts reads any number of accounts in one round trip.
func ReadAccounts(ctx context.Context, node Node, keys []wire.Key, at At) (Accounts, error) {
	requests, gather := AccountsRequests(keys, at)
	if err := AskAll(ctx, node, requests); err != nil {
		return Accounts{}, err
	}
	return gather(), nil
}

func texts(keys []wire.Key) []string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = k.String()
	}
	return all
}
