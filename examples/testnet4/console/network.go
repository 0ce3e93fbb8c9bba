package console

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/swappertest"
)

// Network is where a program swaps.
type Network interface {
	Name() string
	// Config is everything but the store.
	Config() swapper.Config
	// Fund says how the wallet gets money of a chain, or sends it some.
	Fund(ctx context.Context, k *Keys, chain string) (how string, err error)
	// Explorer returns the address of the page about a transaction; "" if there is none.
	Explorer(chain, txID string) string
	// Invoice returns an invoice to pay for a user who named none; "" if there is none.
	Invoice(sats int64) string
	// Pay pays an invoice in place of the user; false if the user has to do it.
	Pay(invoice string) (bool, error)
	// Wait waits until a swap may have moved: as long as is expected, or, with 0, for the
	// user to pay.
	Wait(ctx context.Context, expected time.Duration) error
}

// testnet is Bitcoin testnet4 with the public test networks of the smart chains.
type testnet struct{}

// Testnet4 returns the public test networks.
func Testnet4() Network { return testnet{} }

// smartChains are those that the wallet has keys for.
var smartChains = []string{"CITREA", "SOLANA", "STARKNET"}

// publicTestnets are the smart chains, by their identifiers. A node that many people share
// is slow and limits requests; name your own in a service.
var publicTestnets = map[string]struct {
	factory  func(rpc ...string) chains.Factory
	rpc      string
	faucet   string
	explorer string // %s is the transaction
}{
	"CITREA": {func(rpc ...string) chains.Factory { return evm.Citrea(evm.Options{RPC: rpc}) },
		"https://rpc.testnet.citrea.xyz", "https://citrea.xyz/faucet", "https://explorer.testnet.citrea.xyz/tx/%s"},
	"SOLANA": {func(rpc ...string) chains.Factory { return solana.Devnet(solana.Options{RPC: rpc}) },
		"https://api.devnet.solana.com", "https://faucet.solana.com", "https://explorer.solana.com/tx/%s?cluster=devnet"},
	// The path says that the node speaks version 0.9 of Starknet's JSON-RPC; it needs no key.
	"STARKNET": {func(rpc ...string) chains.Factory { return starknet.Sepolia(starknet.Options{RPC: rpc}) },
		"https://api.cartridge.gg/x/starknet/sepolia/rpc/v0_9", "https://faucet.starknet.io", "https://sepolia.voyager.online/tx/%s"},
}

func (testnet) Name() string { return "testnet4" }

func (testnet) Config() swapper.Config {
	c := swapper.Config{Network: bitcoin.Testnet4}
	for _, id := range smartChains {
		n := publicTestnets[id]
		c.Chains = append(c.Chains, n.factory(n.rpc))
	}
	return c
}

func (testnet) Fund(_ context.Context, k *Keys, chain string) (string, error) {
	faucet := "https://mempool.space/testnet4/faucet"
	if n, ok := publicTestnets[chain]; ok {
		faucet = n.faucet
	}
	return fmt.Sprintf("test money for %s: %s", k.Address(chain), faucet), nil
}

func (testnet) Explorer(chain, txID string) string {
	if chain == "BITCOIN" {
		return "https://mempool.space/testnet4/tx/" + txID
	}
	if n, ok := publicTestnets[chain]; ok {
		return fmt.Sprintf(n.explorer, txID)
	}
	return ""
}

func (testnet) Invoice(int64) string { return "" }

func (testnet) Pay(string) (bool, error) { return false, nil }

func (testnet) Wait(ctx context.Context, expected time.Duration) error {
	return sleep(ctx, min(max(expected, 2*time.Second), 15*time.Second))
}

// local is a network on this machine.
type local struct {
	network *swappertest.Network
	paid    map[string]bool // invoices
}

// Local returns a network of swappertest, on which money is free and blocks come at once.
func Local(network *swappertest.Network) Network { return local{network, make(map[string]bool)} }

// play are the tokens, with amounts in base units, that a wallet gets on local networks.
var play = map[string][][2]string{
	"CITREA":   {{"CITREA-CBTC", "1000000000000000000"}, {"CITREA-WBTC", "100000000"}, {"CITREA-USDC", "10000000000"}},
	"SOLANA":   {{"SOLANA-SOL", "100000000000"}, {"SOLANA-WBTC", "100000000"}, {"SOLANA-USDC", "10000000000"}},
	"STARKNET": {{"STARKNET-STRK", "10000000000000000000000"}, {"STARKNET-WBTC", "100000000"}, {"STARKNET-USDC", "10000000000"}},
}

func (local) Name() string { return "local" }

func (l local) Config() swapper.Config { return l.network.Config() }

func (l local) Fund(ctx context.Context, k *Keys, chain string) (string, error) {
	if chain == "BITCOIN" {
		if _, err := l.network.SendBitcoin(k.Address(chain), 10_000_000); err != nil {
			return "", err
		}
		return "0.1 BTC were sent to " + k.Address(chain), l.network.Mine(1)
	}
	for _, coin := range play[chain] {
		amount, _ := new(big.Int).SetString(coin[1], 10)
		if err := l.network.SendTokens(ctx, coin[0], k.Address(chain), amount); err != nil {
			return "", err
		}
	}
	return "tokens were sent to " + k.Address(chain), nil
}

func (local) Explorer(string, string) string { return "" }

func (l local) Invoice(sats int64) string { return l.network.Invoice(sats) }

func (l local) Pay(invoice string) (bool, error) {
	if l.paid[invoice] { // before the program was stopped
		return true, nil
	}
	err := l.network.Pay(invoice)
	l.paid[invoice] = err == nil
	return true, err
}

func (l local) Wait(ctx context.Context, expected time.Duration) error {
	if expected > 0 { // blocks at this rate would overtake a Lightning payment that is not held yet
		if err := l.network.Mine(1); err != nil {
			return err
		}
	}
	return sleep(ctx, 100*time.Millisecond)
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
