package watchtower

import (
	"context"
	"io"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/tokens"
)

// plenty is more than any claim costs.
var plenty = new(big.Int).Lsh(big.NewInt(1), 100)

// lavish opens chains on which any share of a withdrawal is worth its claim, in the native token too.
type lavish struct{ chains.Factory }

func (l lavish) Open(ctx context.Context, env chains.Env) (chains.Chain, error) {
	c, err := l.Factory.Open(ctx, env)
	if err != nil {
		return nil, err
	}
	return priceless{c}, nil
}

// priceless is a chain that has no token in which fees are paid, so that all of them are priced.
type priceless struct{ chains.Chain }

func (p priceless) Info() chains.Info {
	info := p.Chain.Info()
	info.Native.Address = ""
	return info
}

func (p priceless) Close() error {
	if c, ok := p.Chain.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// generous are the prices of tokens, beside which fees are worth nothing.
type generous struct{}

func (generous) Price(_ context.Context, t tokens.Token) (*big.Int, error) {
	if t.Address == "" {
		return big.NewInt(1), nil
	}
	return plenty, nil
}
