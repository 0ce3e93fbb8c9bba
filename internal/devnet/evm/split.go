package evm

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// Split is a network whose nodes tell two stories, see [Net.Split].
type Split struct {
	net    *Net
	server *Server
	node   *engineNode
	from   uint64 // height of the last block that both have
}

// Split leaves a server alone with the chain as it is now. What comes into the network
// from then on is not in the server's chain, and what is sent to the server is in that
// alone. Both chains get blocks of the same heights and times, so that by what either
// side says of itself neither is wrong. Until it ends, blocks are not replaced.
func (n *Net) Split(s *Server) (*Split, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.split != nil {
		return nil, errors.New("the network is split already")
	}
	node, err := n.newNode()
	if err != nil {
		return nil, fmt.Errorf("start a node: %w", err)
	}
	p := &Split{net: n, server: s, node: node, from: n.node.head().Number.Uint64()}
	if err := n.copyBlocks(n.node, node, 1); err != nil {
		return nil, errors.Join(err, node.close())
	}
	n.split = p
	s.node.Store(node)
	return p, nil
}

// Net is the server's chain as a network of its own: what its accounts do is in that chain
// alone. It makes no blocks; they come with those of the network that was split. It is not
// to be used, and the servers that were started on it are to be closed, before the split ends.
func (p *Split) Net() *Net {
	n := p.net
	second := &Net{options: n.options, node: p.node, contracts: n.contracts, headers: n.headers, returned: make(map[common.Hash]bool)}
	second.faucet, second.LP, second.User, second.Watchtower = second.AccountOf(n.faucet.Key), second.AccountOf(n.LP.Key), second.AccountOf(n.User.Key), second.AccountOf(n.Watchtower.Key)
	return second
}

// Rejoin lets the server have the network's chain again: its own is lost.
func (p *Split) Rejoin() error { return p.end(false) }

// Prevail makes the server's chain the network's: what is in the network's chain alone is
// undone and lost.
func (p *Split) Prevail() error { return p.end(true) }

func (p *Split) end(prevails bool) error {
	n := p.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.split != p {
		return errors.New("the split has ended")
	}
	if prevails {
		n.returns(p.from + 1)
		if err := n.copyBlocks(p.node, n.node, p.from+1); err != nil {
			return err
		}
		n.node.eth.TxPool().Clear()
	}
	n.split = nil
	p.server.node.Store(n.node)
	return p.node.close()
}

// copyBlocks makes one node's blocks from a height on the chain of another one.
func (n *Net) copyBlocks(from, to *engineNode, height uint64) error {
	head := from.head().Number.Uint64()
	if height > head {
		return nil
	}
	for ; height <= head; height++ {
		if _, err := to.eth.BlockChain().InsertBlockWithoutSetHead(context.Background(), from.eth.BlockChain().GetBlockByNumber(height), false); err != nil {
			return fmt.Errorf("copy block %d: %w", height, err)
		}
	}
	return to.adopt(from.eth.BlockChain().GetBlockByNumber(head), n.options.SafeDepth, n.options.FinalDepth)
}

// returns notes the transactions of the blocks from a height on, which are replaced.
func (n *Net) returns(height uint64) {
	chain := n.node.eth.BlockChain()
	for ; height <= n.node.head().Number.Uint64(); height++ {
		for _, tx := range chain.GetBlockByNumber(height).Transactions() {
			n.returned[tx.Hash()] = true
		}
	}
}
