package contracts

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// Every call that the reference builds is one that the contracts can read: what they
// then refuse it for is that there is no such escrow, vault or header.
func TestVectorsCalldataIsRead(t *testing.T) {
	n, _ := wire.NetworkFor(bitcoin.Mainnet)
	d := n.Deployments[0]
	chain := trial.Must(New(Options{ChainID: n.ChainIDFelt(), Classes: Classes(Rules{}), Manual: true}))(t)
	t.Cleanup(func() { _ = chain.Close() })
	trial.Do(t, Install(chain, d, genesis()))
	reasons := map[string]bool{}
	vectors.Each(t, "chain-starknet", "txs", func(t *testing.T, c *vectors.Case) {
		var want json.RawMessage
		c.Expected(t, &want)
		var of struct {
			Txs []struct{ ExecuteCalldata []string }
		}
		if json.Unmarshal(want, &of) != nil || len(of.Txs) == 0 {
			if !vectors.Refused(want) {
				t.Fatalf("neither transactions nor a refusal: %.200s", want)
			}
			return // the reference refuses to build it
		}
		for _, tx := range of.Txs {
			if len(tx.ExecuteCalldata) == 0 { // the deployment of an account
				continue
			}
			var all []Felt
			for _, s := range tx.ExecuteCalldata {
				all = append(all, feltOf(t, s))
			}
			calls := trial.Must(wire.ParseExecuteCalldata(all))(t)
			for _, call := range calls {
				if !slices.Contains(n.Contracts(), call.To) { // a token
					continue
				}
				_, err := chain.Impersonate(user, call.To, call.Selector, call.Calldata...)
				if err == nil {
					continue
				}
				for _, misread := range []string{"Failed to deserialize", "Input too long", "ENTRYPOINT_NOT_FOUND", "panicked"} {
					if strings.Contains(err.Error(), misread) {
						t.Errorf("%s at %s: %v", wire.Hex(call.Selector), wire.Hex64(call.To), err)
					}
				}
				reasons[err.Error()] = true
			}
		}
	})
	if len(reasons) < 4 {
		t.Errorf("the calls were refused for %v, which is too little to have been read", reasons)
	}
}
