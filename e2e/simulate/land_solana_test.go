package simulate

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	chainsolana "github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
)

type solanaLand struct {
	net     *devnet.Net
	nodes   []*solana.NodeServer
	tellers []*solana.NodeServer
	version string // of the program
}

func (g solanaLand) chain() string                     { return "SOLANA" }
func (g solanaLand) drop() (*big.Int, int64)           { return big.NewInt(62_500_000), 10_000 }
func (g solanaLand) address(of *control.Wallet) string { return of.Solana.Address.String() }
func (g solanaLand) token() string                     { return solana.WBTC.String() }
func (g solanaLand) lp(l *lp.LP) string                { return l.Solana().Address().String() }

func (g solanaLand) native(of string) (*big.Int, error) {
	owner, err := solwire.ParseKey(of)
	return new(big.Int).SetUint64(g.net.Solana.Lamports(owner)), err
}

func (g solanaLand) equip(ctx context.Context, of *control.Wallet) error {
	n := g.net.Solana
	of.Solana = n.NewAccount()
	if err := n.Fund(ctx, of.Solana.Address, solana.SOL(10)); err != nil {
		return err
	}
	return n.Mint(ctx, solana.WBTC, of.Solana.Address, uint64(startTokens))
}

func (g solanaLand) balance(of string) (*big.Int, error) {
	owner, err := solwire.ParseKey(of)
	return new(big.Int).SetUint64(g.net.Solana.Tokens(solana.WBTC, owner)), err
}

func (g solanaLand) holdings() (contracts, supply *big.Int, others []string, err error) {
	contracts = new(big.Int)
	g.net.Solana.Bank().Read(bank.Processed, 0, func(v *bank.View) {
		for _, p := range g.net.Solana.Programs() {
			t, _ := v.Token(p.Vault(solana.WBTC))
			contracts.Add(contracts, new(big.Int).SetUint64(t.Amount))
		}
		m, _ := v.Mint(solana.WBTC)
		supply = new(big.Int).SetUint64(m.Supply)
	})
	others = []string{g.net.Solana.Watchtower.Address.String(), g.net.Solana.User.Address.String()}
	for _, l := range g.net.LPs {
		others = append(others, l.Solana().Address().String())
	}
	return contracts, supply, others, nil
}

func (g solanaLand) escrow(e chains.Escrow) (chains.EscrowState, time.Duration, error) {
	d, err := solwire.ParseSwapData(e.Data)
	if err != nil {
		return chains.EscrowNone, 0, err
	}
	expiry, err := d.ExpiryTime()
	if err != nil {
		return chains.EscrowNone, 0, err
	}
	f := solana.Facts(g.net.Solana.Bank(), g.net.LPs[0].Solana().Programs, []*solwire.SwapData{d})[0]
	return f.State, time.Unix(expiry, 0).Sub(g.net.Solana.Time()), f.Err
}

// tells adds the transactions, which are base64.
func (g solanaLand) tells(body []byte) []byte {
	var calls []struct{ Params []json.RawMessage }
	if json.Unmarshal(body, &calls) != nil {
		calls = slices.Grow(calls[:0], 1)[:1]
		if json.Unmarshal(body, &calls[0]) != nil {
			return body
		}
	}
	for _, q := range calls {
		var text string
		if len(q.Params) == 0 || json.Unmarshal(q.Params[0], &text) != nil {
			continue
		}
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			body = hex.AppendEncode(append(slices.Clip(body), ' '), raw)
		}
	}
	return body
}

func (g solanaLand) vault(chains.VaultID) (chains.Vault, error) {
	return chains.Vault{}, errors.New("there are no vaults on Solana")
}

func (g solanaLand) hosts() []string { return hosts(urls(g.nodes)) }

func (g solanaLand) part(node int) (*story, error) {
	p, err := g.net.Solana.Split(g.nodes[node])
	if err != nil {
		return nil, err
	}
	n := p.Net()
	programs := g.net.LPs[0].Solana().Programs
	as := func(a *solana.Account) *solana.Party { return &solana.Party{Net: n, Account: a, Programs: programs} }
	told := g.net.Told(nil, n, nil)
	return &story{land: solanaLand{told, nil, nil, g.version}, net: told, of: func(l *lp.LP) lp.Story { return lp.Story{Solana: as(n.AccountOf(l.Solana().Account.Key))} },
		end: p.Rejoin, loses: func(node int, on bool) { g.nodes[node].Misbehave(solana.NodeFault{LoseTransaction: on}) }}, nil
}

func (g solanaLand) factory() chains.Factory {
	network := g.net.SolanaConfig()
	return chainsolana.Custom(chainsolana.Options{RPC: urls(g.nodes), WebSocket: sockets(g.tellers), Version: g.version, Network: &network, Tokens: g.net.SolanaTokens()})
}

func (g solanaLand) hints(n int) {
	all := []solana.NodeFault{{}, {Down: true}, {NoSockets: true}, {Silent: true}, {Delay: 3 * time.Second}, {Behind: 40}}
	for _, s := range g.tellers {
		s.Misbehave(all[n%len(all)])
	}
}

func (g solanaLand) heal() {
	for _, s := range g.nodes {
		s.Misbehave(solana.NodeFault{})
	}
}

func (g solanaLand) pace() (stop func()) { return g.net.Solana.Pace(solwire.SlotTime) }

// quiet lets the slots go by that nobody looks at.
func (g solanaLand) quiet() (stop func()) {
	return every(time.Hour, func() { g.net.Solana.Elapse(time.Hour) })
}

func (g solanaLand) undo(blocks int) error { return g.net.Solana.Reorg(blocks * 8) }

func (g solanaLand) unsettle(blocks int, lost bool) error {
	if lost {
		return g.net.Solana.Forget(31 + 20*blocks)
	}
	return g.net.Solana.Reorg(31 + 20*blocks)
}

func (g solanaLand) dropWaiting() { g.net.Solana.DropPending() }

func (g solanaLand) fault(n int) {
	all := []solana.NodeFault{{Down: true}, {Status: http.StatusBadGateway}, {Status: http.StatusTooManyRequests, RetryAfter: "7"}, {Delay: 3 * time.Second}, {Delay: 40 * time.Second}, {Garbage: true}, {LoseAnswer: true}, {LoseTransaction: true},
		{Behind: 5}, {Behind: 60}, {Behind: 1500}, {Unhealthy: true, Behind: 200}, {MaxBatch: 1}, {Fail: []string{"getMultipleAccounts"}}, {Fail: []string{"getSignaturesForAddress"}}, {Refuse: []string{"simulateTransaction"}}, {Stall: true}}
	if len(g.nodes) > 1 {
		lie := solana.NodeFault{Rewrite: func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
			switch method {
			case "getSignatureStatuses":
				return json.RawMessage(`{"context":{"slot":1},"value":[null]}`)
			case "getSignaturesForAddress":
				return json.RawMessage("[]")
			case "getTransaction":
				return json.RawMessage("null")
			}
			return result
		}}
		all = append(all, lie, lie, lie, lie)
	}
	node(g.nodes, n).Misbehave(all[n%len(all)])
}
