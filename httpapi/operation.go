package httpapi

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/swapper-go/swapper"
)

// Bounds of a request body. The larger one is for signed transactions: PSBTs with
// many inputs, batches of Solana transactions (protocol: utilities.md §12).
const (
	maxBody       = 64 << 10
	maxSubmission = 1 << 20
)

// operation is one operation of the interface as the handler sees it.
type operation struct {
	name     string
	get      bool // by GET and HEAD
	post     bool // by POST
	maxBody  int64
	keyed    bool // takes the key of a swap
	waits    bool // for the outside world, longer than a server's WriteTimeout may be
	cost     int64
	deadline func(Deadlines) time.Duration
	// read turns the input into a call of the service. Its error is the caller's fault.
	read func(input value, acceptUnknown bool) (call, error)
}

// call runs an operation whose input has been read; the answer is ready to be encoded.
type call func(ctx context.Context, s swapper.Service) (any, error)

// input is a pointer to the input of an operation.
type input[In any] interface {
	*In
	Validate() error
}

func reader[In any, P input[In]](fields []field[In], run func(swapper.Service, context.Context, In) (any, error)) func(value, bool) (call, error) {
	return func(v value, acceptUnknown bool) (call, error) {
		in, err := decode(fields, "", v, acceptUnknown)
		if err != nil {
			return nil, err
		}
		if err := P(&in).Validate(); err != nil {
			return nil, err
		}
		return func(ctx context.Context, s swapper.Service) (any, error) { return run(s, ctx, in) }, nil
	}
}

// one adapts an operation that answers with an object.
func one[In, Out any](f func(swapper.Service, context.Context, In) (*Out, error)) func(swapper.Service, context.Context, In) (any, error) {
	return func(s swapper.Service, ctx context.Context, in In) (any, error) {
		out, err := f(s, ctx, in)
		if err == nil && out == nil {
			err = errors.New("the service returned neither a result nor an error")
		}
		return out, err
	}
}

// many adapts an operation that answers with an array.
func many[In, Out any](f func(swapper.Service, context.Context, In) ([]Out, error)) func(swapper.Service, context.Context, In) (any, error) {
	return func(s swapper.Service, ctx context.Context, in In) (any, error) {
		out, err := f(s, ctx, in)
		return swapper.List[Out](out), err
	}
}

// operations returns the operations, in the order of the document.
func operations() []operation {
	ops := []operation{{
		name: "createSwap", cost: 10, post: true,
		deadline: func(d Deadlines) time.Duration { return d.CreateSwap },
		read:     reader(createSwapFields, making(swapper.Service.CreateSwap)),
	}, {
		name: "createGasSwap", cost: 10, post: true,
		deadline: func(d Deadlines) time.Duration { return d.CreateSwap },
		read:     reader(createGasSwapFields, making(swapper.Service.CreateGasSwap)),
	}, {
		name: "getSwapStatus", get: true, post: true, keyed: true,
		read: reader(getSwapStatusFields, one(swapper.Service.GetSwapStatus)),
	}, {
		name: "submitTransaction", cost: 2, post: true, keyed: true, maxBody: maxSubmission, waits: true,
		deadline: func(d Deadlines) time.Duration { return d.SubmitTransaction },
		read:     reader(submitTransactionFields, one(swapper.Service.SubmitTransaction)),
	}, {
		name: "settleWithLnurl", cost: 5, post: true, keyed: true, waits: true,
		deadline: func(d Deadlines) time.Duration { return d.SettleWithLnurl },
		read:     reader(settleWithLnurlFields, one(swapper.Service.SettleWithLnurl)),
	}, {
		name: "listSwaps", cost: 5, get: true,
		read: reader(listSwapsFields, paged(swapper.Service.ListSwaps)),
	}, {
		name: "listPendingSwaps", cost: 5, get: true,
		read: reader(listSwapsFields, paged(swapper.Service.ListPendingSwaps)),
	}, {
		name: "getSupportedTokens", get: true,
		read: reader(getSupportedTokensFields, many(swapper.Service.GetSupportedTokens)),
	}, {
		name: "getSwapCounterTokens", get: true,
		read: reader(getSwapCounterTokensFields, many(swapper.Service.GetSwapCounterTokens)),
	}, {
		name: "getSwapLimits", get: true,
		read: reader(getSwapLimitsFields, one(swapper.Service.GetSwapLimits)),
	}, {
		name: "parseAddress", get: true,
		read: reader(parseAddressFields, one(swapper.Service.ParseAddress)),
	}, {
		name: "getSpendableBalance", cost: 5, get: true,
		read: reader(getSpendableBalanceFields, one(swapper.Service.GetSpendableBalance)),
	}}
	for i := range ops {
		if ops[i].deadline == nil {
			ops[i].deadline = usual
		}
		ops[i].maxBody, ops[i].cost = max(ops[i].maxBody, maxBody), max(ops[i].cost, 1)
	}
	return slices.Clip(ops)
}

// allowed returns the methods of the operation, for the Allow header.
func (op *operation) allowed() string {
	switch {
	case op.get && op.post:
		return "GET, HEAD, POST"
	case op.get:
		return "GET, HEAD"
	}
	return "POST"
}
