package solana

import (
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
)

// Split is a network whose nodes tell two stories, see [Net.Split].
type Split struct {
	net    *Net
	server *NodeServer
	split  *bank.Split
}

// Split leaves a server alone with the chain as it is now. What comes into the network
// from then on is not in the server's chain, and what is sent to the server is in that
// alone. Both chains get blocks of the same slots, heights and times, so that by what either
// side says of itself neither is wrong. Until it ends, blocks are not replaced.
func (n *Net) Split(s *NodeServer) (*Split, error) {
	split, err := n.bank.Split()
	if err != nil {
		return nil, err
	}
	s.tell(split.Bank)
	return &Split{n, s, split}, nil
}

// Net is the server's chain as a network of its own: what its accounts do is in that chain
// alone. It makes no blocks; they come with those of the network that was split. It is not
// to be used once the split has ended.
func (p *Split) Net() *Net {
	n := p.net
	second := &Net{options: n.options, bank: p.split.Bank, headers: n.headers}
	second.faucet, second.LP, second.User, second.Watchtower = second.AccountOf(n.faucet.Key), second.AccountOf(n.LP.Key), second.AccountOf(n.User.Key), second.AccountOf(n.Watchtower.Key)
	return second
}

// Rejoin lets the server have the network's chain again: its own is lost.
func (p *Split) Rejoin() error { return p.end(false) }

// Prevail makes the server's chain the network's: what is in the network's chain alone is
// undone and lost.
func (p *Split) Prevail() error { return p.end(true) }

func (p *Split) end(prevails bool) error {
	p.server.tell(p.net.bank)
	return p.split.End(prevails)
}
