package control

import (
	"context"
	"fmt"
	"strconv"
)

// smartChain is what the calls about Solana and Starknet do alike.
type smartChain struct {
	path          string // of its calls
	head          func() map[string]any
	mine          func(blocks int)
	reorg, forget func(blocks int) error
	fund          func(ctx context.Context, address, token, amount string) error
	misbehave     func(q func(string) string) error
	url           func() string
}

func (c smartChain) serve(on handle) {
	on("POST "+c.path+"/mine", func(_ context.Context, q func(string) string) (any, error) {
		blocks, err := number(q("blocks"), 1, 1000)
		if err != nil {
			return nil, fmt.Errorf("blocks: %w", err)
		}
		c.mine(int(blocks))
		return c.head(), nil
	})
	on("POST "+c.path+"/reorg", func(_ context.Context, q func(string) string) (any, error) {
		blocks, err := number(q("blocks"), 1, 100)
		if err != nil {
			return nil, fmt.Errorf("blocks: %w", err)
		}
		replace := c.reorg
		if lost, _ := strconv.ParseBool(q("lost")); lost {
			replace = c.forget
		}
		err = replace(int(blocks))
		return c.head(), err
	})
	on("POST "+c.path+"/fund", func(ctx context.Context, q func(string) string) (any, error) {
		err := c.fund(ctx, q("address"), q("token"), q("amount"))
		return c.head(), err
	})
	on("POST "+c.path+"/misbehave", func(_ context.Context, q func(string) string) (any, error) {
		return map[string]any{"rpc": c.url()}, c.misbehave(q)
	})
}

// bounded is where a number of a call goes, and which ones are taken.
type bounded struct {
	to          *int
	least, most int64
}

// readFault reads those members of a fault that a call gives.
func readFault(q func(string) string, flags map[string]*bool, numbers map[string]bounded) error {
	for name, to := range flags {
		if q(name) == "" {
			continue
		}
		var err error
		if *to, err = strconv.ParseBool(q(name)); err != nil {
			return fmt.Errorf("%s: must be true or false", name)
		}
	}
	for name, of := range numbers {
		if q(name) == "" {
			continue
		}
		v, err := number(q(name), of.least, of.most)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*of.to = int(v)
	}
	return nil
}
