package main

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/starknet"
)

// What examples/devnet prints of Starknet is taken over with its contracts, tokens and
// prices.
func TestLocalNetworkWithStarknet(t *testing.T) {
	v := &town{T: t, dir: t.TempDir()}
	network, err := starknet.Preset(bitcoin.Testnet4)
	if err != nil {
		t.Fatal(err)
	}
	network.Bitcoin, network.ChainID = bitcoin.Regtest, "SN_LOCAL"
	contracts := map[string]common.Address{}
	for i, name := range []string{"escrowManager", "btcRelay", "vaultManager", "execution", "timelockRefundHandler", "hashlockClaimHandler", "outputClaimHandler", "noncedOutputClaimHandler", "txIdClaimHandler", "wrappedNative"} {
		contracts[name] = common.Address{byte(i + 1)}
	}
	v.write("local.json", map[string]any{
		"bitcoin": map[string]string{"rest": "http://127.0.0.1:1/api/"}, "lps": []string{"http://127.0.0.1:2"},
		"evm": map[string]any{"chain": "CITREA", "rpc": "http://127.0.0.1:3", "chainId": 7, "contracts": contracts},
		"starknet": map[string]any{"chain": "STARKNET", "rpc": "http://127.0.0.1:4", "chainId": "SN_LOCAL", "network": network,
			"listed": []any{map[string]any{"Ticker": "STRK", "Name": "Starknet", "Decimals": 18, "DisplayDecimals": 18, "Address": "0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"}}},
	})
	c, err := load(v.write("config.yaml", map[string]any{"local": "local.json", "auth": []any{map[string]string{"type": "none", "name": "public"}}, "rateLimit": map[string]int{"windowMs": 1, "maxRequests": 1}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	own, ok := c.Chains["STARKNET"].(*starknetConfig)
	if !ok || own.network.ChainID != "SN_LOCAL" || own.network.Deployments[0] != network.Deployments[0] || own.Tokens[0].Ticker != "STRK" || c.Prices.Fixed["STARKNET-STRK"] != "130" {
		t.Errorf("%+v", c.Chains["STARKNET"])
	}
	if f, err := own.factory("STARKNET", bitcoin.Regtest); err != nil || f.ID() != "STARKNET" {
		t.Errorf("%v", err)
	}
}
