package evm_test

import (
	"encoding/json"
	"testing"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"

	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/trial"
)

// go-ethereum's own client hears of blocks and logs.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	n := trial.Must(evm.Start(evm.Options{}))(t)
	t.Cleanup(func() { n.Close() })
	client := trial.Must(ethclient.DialContext(t.Context(), n.Server().SocketURL()))(t)
	defer client.Close()
	heads, logs := make(chan *types.Header, 100), make(chan types.Log, 100)
	first := trial.Must(client.SubscribeNewHead(t.Context(), heads))(t)
	second := trial.Must(client.SubscribeFilterLogs(t.Context(), ethereum.FilterQuery{Addresses: []common.Address{n.Contracts().Token}}, logs))(t)
	trial.Do(t, n.Mint(t.Context(), n.Contracts().Token, n.User.Address, evm.Coins(1)))
	if head := <-heads; head.Hash() != n.Head().Hash() {
		t.Errorf("heard of %s, the head is %s", head.Hash(), n.Head().Hash())
	}
	if log := <-logs; log.BlockHash != n.Head().Hash() || log.Address != n.Contracts().Token {
		t.Errorf("heard of the log %+v", log)
	}
	// A server that is behind or silent says nothing, and none outlives its server.
	kept := make(chan struct{}, 3)
	n.Server().Misbehave(evm.Fault{Silent: true, Rewrite: func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
		if method == "eth_subscription" {
			kept <- struct{}{}
		}
		return result
	}})
	trial.Do(t, n.Mine(3))
	for range 3 {
		<-kept
	}
	n.Server().Misbehave(evm.Fault{})
	trial.Do(t, n.Mine(1))
	if head := <-heads; head.Number.Uint64() != n.Head().Number.Uint64() {
		t.Errorf("heard of block %d although the server was silent, the head is %d", head.Number, n.Head().Number)
	}
	first.Unsubscribe()
	trial.Do(t, n.Server().Close())
	if err := <-second.Err(); err == nil {
		t.Error("the subscription ended without an error")
	}
}
