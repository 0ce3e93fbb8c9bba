package lp

import (
	"context"
	"errors"
	"math/big"
	"net/http"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rpc"

	"github.com/swapper-go/swapper/chains"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/evm/read"
	evmrpc "github.com/swapper-go/swapper/internal/evm/rpc"
)

// chainReader reads the EVM network over a JSON-RPC server of the LP's own, so that
// the faults of other servers do not concern it.
type chainReader struct {
	net       *devnet.Net
	server    *devnet.Server
	transport *http.Transport
	client    *rpc.Client
}

func newChainReader(n *devnet.Net) (*chainReader, error) {
	server, err := n.Serve("")
	if err != nil {
		return nil, err
	}
	transport := n.Transport()
	client, err := rpc.DialOptions(context.Background(), server.URL(), rpc.WithHTTPClient(&http.Client{Transport: transport}))
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &chainReader{n, server, transport, client}, nil
}

func (c *chainReader) close() error {
	c.client.Close()
	c.transport.CloseIdleConnections()
	return c.server.Close()
}

// Batch implements [evmrpc.Node].
func (c *chainReader) Batch(ctx context.Context, requests []evmrpc.Request) error {
	batch := make([]rpc.BatchElem, len(requests))
	for i, r := range requests {
		batch[i] = rpc.BatchElem{Method: r.Method, Args: r.Params, Result: r.Result}
	}
	if err := c.client.BatchCallContext(ctx, batch); err != nil {
		return err
	}
	for i := range requests {
		requests[i].Err = batch[i].Error
	}
	return nil
}

// head is the newest block.
func (c *chainReader) head() chains.Block {
	h := c.net.Head()
	return chains.Block{Height: h.Number.Uint64(), Hash: h.Hash().Hex(), Time: int64(h.Time)}
}

// escrows returns the facts of escrows by [factKey].
func (c *chainReader) escrows(ctx context.Context, hashes []common.Hash, at chains.Block) (map[string]chains.EscrowFact, error) {
	facts, err := read.Contracts{Deployment: c.net.Deployment()}.ReadEscrows(ctx, c, hashes, chains.Heads{Latest: at, Final: at}, read.Known{})
	if err != nil {
		return nil, err
	}
	all := make(map[string]chains.EscrowFact)
	for i, f := range facts {
		if f.Err == nil {
			all[string(hashes[i][:])] = f
		}
	}
	return all, nil
}

// funds is what an LP has of a token in the escrow contract.
func (c *chainReader) funds(ctx context.Context, lp, token common.Address) (*big.Int, error) {
	f, err := read.Contracts{Deployment: c.net.Deployment()}.ReadFunds(ctx, c, lp, token)
	return f.Balance, err
}
