package solana_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"time"

	sol "github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/solana"
)

// A chain is usually handed to swapper.Config, which opens it. On its own it is opened
// with what it needs of its surroundings.
func ExampleMainnet() {
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { // in place of https://api.mainnet-beta.solana.com
		http.Error(w, "busy", http.StatusServiceUnavailable)
	}))
	defer node.Close()
	factory := solana.Mainnet(solana.Options{RPC: []string{node.URL}})
	chain, err := factory.Open(context.Background(), chains.Env{Network: bitcoin.Mainnet,
		HTTP: http.DefaultTransport, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	info := chain.Info()
	fmt.Println(info.ID, info.Default, info.Native.Ticker) // although its node is busy
	// Output: SOLANA v1 SOL
}

// Programs that are not published are described by a Network, with the genesis hash of
// the cluster that they stand on.
func ExampleCustom() {
	network, err := solana.Preset(bitcoin.Testnet4)
	if err != nil {
		fmt.Println(err)
		return
	}
	network.Deployments = network.Deployments[1:] // v2 alone
	fmt.Println(network.Deployments[0].Version, network.Validate())
	// then solana.Custom(solana.Options{RPC: ..., Network: &network})

	// Output: v2 <nil>
}

// A wallet adds its signature to what an action of type SignSmartChainTransaction asks
// for, and submits the hex of the whole.
func ExampleUnsignedTransaction() {
	key, _ := sol.NewRandomPrivateKey() // the wallet's
	text := actionFor(key.PublicKey())  // one of currentAction.txs
	tx, err := solana.UnsignedTransaction(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = tx.PartialSign(func(signer sol.PublicKey) *sol.PrivateKey {
		if signer == key.PublicKey() {
			return &key
		}
		return nil // who signs beside the wallet has signed already
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	raw, err := tx.MarshalBinary()
	fmt.Println(len(hex.EncodeToString(raw)) > 0, err, tx.VerifySignatures())
	// Output: true <nil> <nil>
}

// actionFor is a transaction for a wallet to sign, as an action has it.
func actionFor(payer sol.PublicKey) string {
	transfer := sol.NewInstruction(sol.SystemProgramID, sol.AccountMetaSlice{sol.Meta(payer).WRITE().SIGNER()}, []byte{2, 0, 0, 0})
	tx, err := sol.NewTransaction([]sol.Instruction{transfer}, sol.Hash{1}, sol.TransactionPayer(payer))
	if err != nil {
		return err.Error()
	}
	tx.Signatures = make([]sol.Signature, 1)
	raw, err := tx.MarshalBinary()
	if err != nil {
		return err.Error()
	}
	text, _ := json.Marshal(map[string]any{"tx": hex.EncodeToString(raw), "signers": []string{}, "lastValidBlockheight": 100})
	return string(text)
}
