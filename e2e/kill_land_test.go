//go:build unix

package e2e

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet"
	devevm "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
)

// land is the smart chain that a stage's lives are on.
type land interface {
	chain() string // its identifier
	factory() chains.Factory
	version() string                                         // of the contracts
	tell(m *mortal)                                          // what a process needs to know of it
	equip(ctx context.Context, p *person) error              // gives a user an account with money
	address(p *person) string                                // the account's
	tokens(ctx context.Context, of string) (*big.Int, error) // what an account has of WBTC

	// holdings are those who may have WBTC, but for the users; the LPs have funds in the
	// escrows' contract besides.
	holdings() (owners, lps []string, token string)
	// held is what the escrows' contract holds, with the LPs' funds, and supply what
	// accounts have.
	held(ctx context.Context) (held, supply *big.Int, err error)
}

func landOf(name string, n *devnet.Net) land {
	switch name {
	case "":
		return evmLand{n}
	case starknetName:
		return starknetLand{n}
	}
	return solanaLand{n, name}
}

type evmLand struct{ net *devnet.Net }

func (g evmLand) chain() string            { return g.net.EVM.Network().Chain }
func (g evmLand) factory() chains.Factory  { return g.net.Chain() }
func (g evmLand) version() string          { return "" }
func (g evmLand) address(p *person) string { return p.EVM.Address.Hex() }

func (g evmLand) tell(m *mortal) {
	m.RPC, m.Tokens, m.Network = g.net.EVM.URL(), g.net.Tokens(), g.net.EVM.Config()
}

func (g evmLand) equip(ctx context.Context, p *person) (err error) {
	n := g.net.EVM
	if p.EVM, err = n.NewAccount(); err != nil {
		return err
	}
	if err := n.Fund(ctx, p.EVM.Address, startWei); err != nil {
		return err
	}
	return n.Mint(ctx, n.Contracts().Token, p.EVM.Address, big.NewInt(startTokens))
}

func (g evmLand) tokens(ctx context.Context, of string) (*big.Int, error) {
	return g.net.EVM.Balance(ctx, g.net.EVM.Contracts().Token, common.HexToAddress(of))
}

func (g evmLand) holdings() (owners, lps []string, token string) {
	c := g.net.EVM.Contracts()
	for _, l := range g.net.LPs {
		lps = append(lps, l.Account().Address.Hex())
	}
	return []string{c.EscrowManager.Address.Hex(), c.VaultManager.Address.Hex(), g.net.EVM.Watchtower.Address.Hex(), g.net.EVM.User.Address.Hex()}, lps, c.Token.Hex()
}

func (g evmLand) held(ctx context.Context) (held, supply *big.Int, err error) {
	c := g.net.EVM.Contracts()
	if held, err = g.net.EVM.Balance(ctx, c.Token, c.EscrowManager.Address); err != nil {
		return nil, nil, err
	}
	call, err := devevm.CallOf("TestToken", c.Token, "totalSupply")
	if err != nil {
		return nil, nil, err
	}
	raw, err := g.net.EVM.Read(ctx, c.Token, call)
	return held, new(big.Int).SetBytes(raw), err
}

type solanaLand struct {
	net     *devnet.Net
	program string // its version
}

func (g solanaLand) chain() string            { return "SOLANA" }
func (g solanaLand) factory() chains.Factory  { return g.net.SolanaChain() }
func (g solanaLand) version() string          { return g.program }
func (g solanaLand) address(p *person) string { return p.Solana.Address.String() }

func (g solanaLand) tell(m *mortal) {
	network := g.net.SolanaConfig()
	m.RPC, m.Tokens, m.Solana, m.Version = g.net.Solana.URL(), g.net.SolanaTokens(), &network, g.program
}

func (g solanaLand) equip(ctx context.Context, p *person) error {
	n := g.net.Solana
	p.Solana = n.NewAccount()
	if err := n.Fund(ctx, p.Solana.Address, solana.SOL(10)); err != nil {
		return err
	}
	return n.Mint(ctx, solana.WBTC, p.Solana.Address, uint64(startTokens))
}

func (g solanaLand) tokens(_ context.Context, of string) (*big.Int, error) {
	owner, err := solwire.ParseKey(of)
	return new(big.Int).SetUint64(g.net.Solana.Tokens(solana.WBTC, owner)), err
}

func (g solanaLand) holdings() (owners, lps []string, token string) {
	for _, l := range g.net.LPs {
		lps = append(lps, l.Solana().Address().String())
	}
	return []string{g.net.Solana.Watchtower.Address.String(), g.net.Solana.User.Address.String()}, lps, solana.WBTC.String()
}

func (g solanaLand) held(context.Context) (held, supply *big.Int, err error) {
	g.net.Solana.Bank().Read(bank.Processed, 0, func(v *bank.View) {
		t, _ := v.Token(g.net.LPs[0].Solana().Programs.Vault(solana.WBTC))
		m, _ := v.Mint(solana.WBTC)
		held = new(big.Int).SetUint64(t.Amount)
		supply = new(big.Int).SetUint64(m.Supply - t.Amount) // the vault is nobody's account
	})
	return held, supply, nil
}

type starknetLand struct{ net *devnet.Net }

func (g starknetLand) chain() string            { return "STARKNET" }
func (g starknetLand) factory() chains.Factory  { return g.net.StarknetChain() }
func (g starknetLand) version() string          { return starkwire.DefaultVersion }
func (g starknetLand) address(p *person) string { return starkwire.Hex64(p.Starknet.Address()) }

func (g starknetLand) tell(m *mortal) {
	network := g.net.StarknetConfig()
	m.RPC, m.Tokens, m.Starknet = g.net.Starknet.URL(), g.net.StarknetTokens(), &network
}

// equip leaves the account to be deployed, with the user's first transaction.
func (g starknetLand) equip(ctx context.Context, p *person) error {
	n := g.net.Starknet
	a := n.NewAccount()
	p.Starknet = &a.Key
	if err := n.Fund(ctx, a.Address, starknet.STRK(10)); err != nil {
		return err
	}
	return n.Mint(ctx, starknet.WBTC, a.Address, big.NewInt(startTokens))
}

func (g starknetLand) tokens(_ context.Context, of string) (*big.Int, error) {
	at, err := starkwire.ParseAddress(of)
	if err != nil {
		return nil, err
	}
	return g.net.Starknet.Balance(starknet.WBTC, at)
}

func (g starknetLand) holdings() (owners, lps []string, token string) {
	n := g.net.Starknet
	d := n.Deployment()
	for _, l := range g.net.LPs {
		lps = append(lps, starkwire.Hex64(l.Starknet().Address()))
	}
	for _, at := range []starkwire.Felt{d.EscrowManager.Address, d.VaultManager.Address, n.Watchtower.Address, n.User.Address} {
		owners = append(owners, starkwire.Hex64(at))
	}
	return owners, lps, starkwire.Hex64(starknet.WBTC)
}

func (g starknetLand) held(context.Context) (held, supply *big.Int, err error) {
	n := g.net.Starknet
	if held, err = n.Balance(starknet.WBTC, n.Deployment().EscrowManager.Address); err != nil {
		return nil, nil, err
	}
	answer, err := n.Call(starknet.WBTC, "total_supply")
	if err != nil {
		return nil, nil, err
	}
	supply, err = starkwire.ReadU256(answer)
	return held, supply, err
}
