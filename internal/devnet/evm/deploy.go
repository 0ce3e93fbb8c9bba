package evm

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// Contracts are the contracts of a network.
type Contracts struct {
	wire.Deployment
	Wrapped common.Address // the native coin as an ERC-20, for recipients that refuse it
	Token   common.Address // an ERC-20 with 8 decimals that anybody may mint
	Dollar  common.Address // another one, with 6
}

// deploy puts all contracts on chain in one block and gives the accounts tokens
// in the next.
func (n *Net) deploy(ctx context.Context) error {
	if err := n.followBitcoin(); err != nil {
		return err
	}
	first := n.headers.First
	easiest, err := rawtx.Target(first.Header().Bits)
	if err != nil {
		return err
	}
	d := deployer{net: n}
	c := &n.contracts
	c.Wrapped = d.deploy("WrappedNative")
	c.Execution = d.deploy("ExecutionContract", c.Wrapped)
	at := func(a common.Address) wire.Contract { return wire.Contract{Address: a, Height: 1} }
	c.Version = wire.DefaultVersion
	c.EscrowManager = at(d.deploy("EscrowManager", c.Wrapped))
	c.BtcRelay = at(d.deploy("BtcRelay", storedHeader(first).tuple(), easiest))
	c.VaultManager = at(d.deploy("VaultManager", c.Wrapped, c.Execution))
	c.ClaimHandlers[chains.HTLC] = d.deploy("HashlockHandler")
	c.ClaimHandlers[chains.Onchain] = d.deploy("OutputHandler")
	c.ClaimHandlers[chains.OnchainNonced] = d.deploy("NoncedOutputHandler")
	c.ClaimHandlers[chains.OnchainTxID] = d.deploy("TxIdHandler")
	c.RefundHandler = d.deploy("TimelockHandler")
	c.Token, c.Dollar = d.token("WBTC"), d.token("USDC")
	if err := d.finish(ctx); err != nil {
		return err
	}
	rich := new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)
	has := map[*Account][2]*big.Int{n.LP: {rich, rich}, n.User: {big.NewInt(userWBTC), big.NewInt(userUSDC)}, n.Watchtower: {rich, rich}}
	for _, a := range []*Account{n.LP, n.User, n.Watchtower} {
		for i, token := range []common.Address{c.Token, c.Dollar} {
			if err := d.mint(ctx, token, a.Address, has[a][i]); err != nil {
				return err
			}
		}
	}
	return d.finish(ctx)
}

// What the user begins with is as much as a person may have, so that a wallet shows it as it will be:
// coins, and base units of the tokens.
const (
	userCoins = 21
	userWBTC  = 21_00_000_000
	userUSDC  = 2_000_000_000_000
)

// deployer sends from the faucet's account and remembers the first error.
type deployer struct {
	net  *Net
	sent []*types.Transaction
	err  error
}

func (d *deployer) deploy(name string, args ...any) common.Address {
	if d.err != nil {
		return common.Address{}
	}
	a, err := loadArtifact(name)
	if err != nil {
		d.err = err
		return common.Address{}
	}
	code, err := a.initCode(args...)
	if err != nil {
		d.err = fmt.Errorf("%s: %w", name, err)
		return common.Address{}
	}
	return d.create(code)
}

// token returns the address of a token that was placed, and deploys any other.
func (d *deployer) token(ticker string) common.Address {
	if at, ok := d.net.options.Tokens[ticker]; ok {
		return at
	}
	return d.deploy("TestToken", testTokens[ticker]...)
}

func (d *deployer) create(code []byte) common.Address {
	tx, err := d.net.faucet.sign(nil, wire.Call{Data: code, Gas: 5_000_000})
	if err == nil {
		err = d.net.put(tx)
	}
	if err != nil {
		d.err = err
		return common.Address{}
	}
	d.sent = append(d.sent, tx)
	return crypto.CreateAddress(d.net.faucet.Address, tx.Nonce())
}

func (d *deployer) mint(ctx context.Context, token, to common.Address, amount *big.Int) error {
	call, err := d.net.mintCall(token, to, amount)
	if err != nil {
		return err
	}
	tx, err := d.net.faucet.Submit(ctx, call)
	d.sent = append(d.sent, tx)
	return err
}

// finish mines what was sent.
func (d *deployer) finish(ctx context.Context) error {
	if d.err != nil {
		return d.err
	}
	for _, tx := range d.sent {
		if _, err := d.net.Wait(ctx, tx.Hash()); err != nil {
			return err
		}
	}
	d.sent = nil
	return nil
}

// Deploy puts a contract of the network's sources on chain once more, with other
// arguments, and returns its address.
func (n *Net) Deploy(ctx context.Context, name string, args ...any) (common.Address, error) {
	d := deployer{net: n}
	n.faucet.mu.Lock()
	at := d.deploy(name, args...)
	n.faucet.mu.Unlock()
	return at, d.finish(ctx)
}

// Fund gives native coin, in wei, to an address.
func (n *Net) Fund(ctx context.Context, to common.Address, amount *big.Int) error {
	_, err := n.faucet.Send(ctx, wire.Call{To: to, Value: amount, Gas: 100_000})
	return err
}

// Mint gives base units of one of the network's tokens to an address.
func (n *Net) Mint(ctx context.Context, token, to common.Address, amount *big.Int) error {
	call, err := n.mintCall(token, to, amount)
	if err != nil {
		return err
	}
	_, err = n.faucet.Send(ctx, call)
	return err
}

// mintCall is the call that mints a token; anybody may send it.
func (n *Net) mintCall(token, to common.Address, amount *big.Int) (wire.Call, error) {
	return CallOf("TestToken", token, "mint", to, amount)
}

// CallOf builds a call of any method of the network's contracts, for what
// package chains/evm has no builder. Arguments are as accounts/abi wants them.
func CallOf(contract string, at common.Address, method string, args ...any) (wire.Call, error) {
	a, err := loadArtifact(contract)
	if err != nil {
		return wire.Call{}, err
	}
	data, err := a.ABI.Pack(method, args...)
	if err != nil {
		return wire.Call{}, fmt.Errorf("%s.%s: %w", contract, method, err)
	}
	return wire.Call{To: at, Data: data}, nil
}
