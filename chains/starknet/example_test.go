package starknet_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/NethermindEth/juno/core/felt"
	"github.com/NethermindEth/starknet.go/curve"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/starknet"
)

// A chain is usually handed to swapper.Config, which opens it. On its own it is opened
// with what it needs of its surroundings.
func ExampleMainnet() {
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { // in place of a node of Starknet
		http.Error(w, "busy", http.StatusServiceUnavailable)
	}))
	defer node.Close()
	factory := starknet.Mainnet(starknet.Options{RPC: []string{node.URL}})
	chain, err := factory.Open(context.Background(), chains.Env{Network: bitcoin.Mainnet,
		HTTP: http.DefaultTransport, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	info := chain.Info()
	fmt.Println(info.ID, info.Default, info.Native.Ticker) // although its node is busy
	// Output: STARKNET v1 STRK
}

// Contracts that are not published are described by a Network, with the chain id of the
// network that they stand on.
func ExampleCustom() {
	network, err := starknet.Preset(bitcoin.Testnet4)
	if err != nil {
		fmt.Println(err)
		return
	}
	network.ChainID = "MY_APPCHAIN"
	fmt.Println(network.Deployments[0].Version, network.Validate())
	// then starknet.Custom(starknet.Options{RPC: ..., Network: &network})

	// Output: v1 <nil>
}

// A wallet signs the hash of what an action of type SignSmartChainTransaction asks for,
// and submits the whole. Its account's first transaction comes behind the account's
// deployment, whose class only the wallet knows.
func ExampleUnsignedTransaction() {
	secret := big.NewInt(4711) // the wallet's
	public, _ := curve.PrivateKeyToPoint(secret)
	key := new(felt.Felt).SetBigInt(public)
	tx, err := starknet.UnsignedTransaction(action) // one of currentAction.txs
	if err != nil {
		fmt.Println(err)
		return
	}
	if tx.Deploy != nil {
		tx.Deploy.ClassHash, tx.Deploy.ContractAddressSalt, tx.Deploy.ConstructorCalldata = class, key, []*felt.Felt{key}
	}
	hash, err := tx.Hash()
	if err != nil {
		fmt.Println(err)
		return
	}
	r, s, err := curve.SignFelts(hash, new(felt.Felt).SetBigInt(secret))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := tx.Sign(r, s)
	fmt.Println(len(text) > len(action), err)
	// Output: true <nil>
}

// class is that of the wallet's account, OpenZeppelin's.
var class, _ = new(felt.Felt).SetString("0x00261c293c8084cd79086214176b33e5911677cec55104fddc8d25b0b736dcad")

// action is a transfer of STRK for a wallet to sign, as an action has it.
const action = `{"type":"INVOKE","tx":[{"contractAddress":"0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d","entrypoint":"transfer","calldata":["5","10","0"]}],` +
	`"details":{"version":"0x3","resourceBounds":{"l2_gas":{"max_amount":"0x3d0900","max_price_per_unit":"0x2"},"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x1"},` +
	`"l1_data_gas":{"max_amount":"0x190","max_price_per_unit":"0x3"}},"tip":"0x0","paymasterData":[],"nonceDataAvailabilityMode":"L1","feeDataAvailabilityMode":"L1",` +
	`"walletAddress":"0x05de9d1f9d8ba9b3f1bd6c5e2f4d4f0a6b8c1b3d5e7f9a1c3e5f7092b4d61df4","cairoVersion":"1","chainId":"0x534e5f4d41494e","nonce":"0x5","accountDeploymentData":[],"skipValidate":false}}`
