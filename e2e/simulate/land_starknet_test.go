package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/chains"
	chainstarknet "github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	devstarknet "github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
)

type starknetLand struct {
	net     *devnet.Net
	nodes   []*devstarknet.NodeServer
	tellers []*devstarknet.NodeServer
}

const starknetBlockTime = 6 * time.Second

func (g starknetLand) chain() string           { return "STARKNET" }
func (g starknetLand) drop() (*big.Int, int64) { return devstarknet.STRK(100), 13_000 }
func (g starknetLand) address(of *control.Wallet) string {
	return starkwire.Hex64(of.Starknet.Address())
}
func (g starknetLand) token() string      { return starkwire.Hex64(devstarknet.WBTC) }
func (g starknetLand) lp(l *lp.LP) string { return starkwire.Hex64(l.Starknet().Address()) }

func (g starknetLand) native(of string) (*big.Int, error) {
	at, err := starkwire.ParseAddress(of)
	if err != nil {
		return nil, err
	}
	return g.net.Starknet.Balance(starkwire.STRK, at)
}

// equip leaves the account to be deployed with the user's first transaction.
func (g starknetLand) equip(ctx context.Context, of *control.Wallet) error {
	n := g.net.Starknet
	a := n.NewAccount()
	of.Starknet = &a.Key
	if err := n.Fund(ctx, a.Address, devstarknet.STRK(10)); err != nil {
		return err
	}
	return n.Mint(ctx, devstarknet.WBTC, a.Address, big.NewInt(startTokens))
}

func (g starknetLand) balance(of string) (*big.Int, error) {
	at, err := starkwire.ParseAddress(of)
	if err != nil {
		return nil, err
	}
	return g.net.Starknet.Balance(devstarknet.WBTC, at)
}

func (g starknetLand) holdings() (contracts, supply *big.Int, others []string, err error) {
	n := g.net.Starknet
	d := n.Deployment()
	contracts = new(big.Int)
	for _, at := range []starkwire.Felt{d.EscrowManager.Address, d.VaultManager.Address} {
		has, err := n.Balance(devstarknet.WBTC, at)
		if err != nil {
			return nil, nil, nil, err
		}
		contracts.Add(contracts, has)
	}
	answer, err := n.Call(devstarknet.WBTC, "total_supply")
	if err != nil {
		return nil, nil, nil, err
	}
	supply, err = starkwire.ReadU256(answer)
	others = []string{starkwire.Hex64(n.Watchtower.Address), starkwire.Hex64(n.User.Address)}
	for _, l := range g.net.LPs {
		others = append(others, starkwire.Hex64(l.Starknet().Address()))
	}
	return contracts, supply, others, err
}

func (g starknetLand) escrow(e chains.Escrow) (chains.EscrowState, time.Duration, error) {
	s, err := starkwire.SwapDataOf(e)
	if err != nil {
		return chains.EscrowNone, 0, err
	}
	hash, err := s.EscrowHash()
	if err != nil {
		return chains.EscrowNone, 0, err
	}
	facts, err := g.anybody().Facts(hash)
	if err != nil {
		return chains.EscrowNone, 0, err
	}
	return facts[0].State, time.Unix(s.Expiry(), 0).Sub(g.net.Starknet.Time()), facts[0].Err
}

// tells adds preimages, which are eight words in a row, as digits in a row.
func (g starknetLand) tells(body []byte) []byte {
	var words bytes.Buffer
	for _, text := range bytes.Split(body, []byte{'"'}) {
		digits, ok := bytes.CutPrefix(text, []byte("0x"))
		if !ok {
			continue
		}
		if len(digits) <= 8 {
			words.Write(bytes.Repeat([]byte{'0'}, 8-len(digits)))
			words.Write(digits)
		} else {
			words.WriteByte(' ')
		}
	}
	return append(append(body[:len(body):len(body)], ' '), words.Bytes()...)
}

// anybody reads what everybody may.
func (g starknetLand) anybody() *contracts.Party {
	return g.net.Starknet.Party(g.net.Starknet.Watchtower)
}

func (g starknetLand) vault(id chains.VaultID) (v chains.Vault, err error) {
	ref, err := starkwire.VaultRefOf(id)
	if err != nil {
		return v, err
	}
	now, err := g.anybody().Vault(ref)
	v.Open, v.Raw, v.UTXO = now.Open(), now.Raw, now.UTXO
	return v, err
}

func (g starknetLand) hosts() []string { return hosts(urls(g.nodes)) }

func (g starknetLand) part(node int) (*story, error) {
	p, err := g.net.Starknet.Split(g.nodes[node])
	if err != nil {
		return nil, err
	}
	n := p.Net()
	told := g.net.Told(nil, nil, n)
	return &story{land: starknetLand{told, nil, nil}, net: told, of: func(l *lp.LP) lp.Story { return lp.Story{Starknet: n.Party(n.AccountOf(l.Starknet().Key))} },
		end: p.Rejoin, loses: func(node int, on bool) { g.nodes[node].Misbehave(devstarknet.NodeFault{LoseTransaction: on}) }}, nil
}

func (g starknetLand) factory() chains.Factory {
	network := g.net.StarknetConfig()
	return chainstarknet.Custom(chainstarknet.Options{RPC: urls(g.nodes), WebSocket: sockets(g.tellers), Network: &network, Tokens: g.net.StarknetTokens()})
}

func (g starknetLand) hints(n int) {
	all := []devstarknet.NodeFault{{}, {Down: true}, {NoSockets: true}, {Silent: true}, {Delay: 3 * time.Second}, {Behind: 40}}
	for _, s := range g.tellers {
		s.Misbehave(all[n%len(all)])
	}
}

func (g starknetLand) heal() {
	for _, s := range g.nodes {
		s.Misbehave(devstarknet.NodeFault{})
	}
}

func (g starknetLand) pace() (stop func()) { return g.net.Starknet.Pace(starknetBlockTime) }

func (g starknetLand) quiet() (stop func()) {
	return every(10*time.Minute, func() { g.net.Starknet.Mine(1) })
}

// undo takes away what was seen before it was in a block: blocks of Starknet are final.
func (g starknetLand) undo(int) error {
	g.net.Starknet.DropPreConfirmed()
	return nil
}

func (g starknetLand) unsettle(blocks int, lost bool) error {
	if lost {
		return g.net.Starknet.Forget(blocks)
	}
	return g.net.Starknet.Reorg(blocks)
}

func (g starknetLand) dropWaiting() { g.net.Starknet.DropPending() }

func (g starknetLand) fault(n int) {
	all := []devstarknet.NodeFault{{Down: true}, {Status: http.StatusBadGateway}, {Status: http.StatusTooManyRequests, RetryAfter: "7"}, {Delay: 3 * time.Second}, {Delay: 40 * time.Second}, {Garbage: true}, {LoseAnswer: true}, {LoseTransaction: true},
		{Behind: 1}, {Behind: 5}, {Behind: 100}, {NoOpenBlock: true}, {NoEvents: true}, {MaxBatch: 1}, {PageBlocks: 10}, {PerSecond: 2}, {Fail: []string{"starknet_getEvents"}}, {Fail: []string{"starknet_call"}}, {NoTraces: true}}
	if len(g.nodes) > 1 {
		lie := devstarknet.NodeFault{NoEvents: true, Rewrite: func(method string, _ map[string]json.RawMessage, result json.RawMessage) json.RawMessage {
			if method == "starknet_call" {
				return nothing(bytes.Clone(result))
			}
			return result
		}}
		all = append(all, lie, lie, lie, lie)
	}
	node(g.nodes, n).Misbehave(all[n%len(all)])
}
