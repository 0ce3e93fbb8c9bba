package evm

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/internal/trial"
)

// A token that stands where a client expects it is what a deployed one is.
func TestPlacedTokens(t *testing.T) {
	t.Parallel()
	at := map[string]common.Address{"WBTC": common.HexToAddress("0xDF240DC08B0FdaD1d93b74d5048871232f6BEA3d"), "USDC": common.HexToAddress("0xE045e6c36cF77FAA2CfB54466D71A3aEF7bbE839")}
	n := trial.Must(Start(Options{ChainID: 5115, Tokens: at}))(t)
	defer n.Close()
	if c := n.Contracts(); c.Token != at["WBTC"] || c.Dollar != at["USDC"] || n.Network().ChainID != 5115 {
		t.Errorf("%+v", c)
	}
	a := trial.Must(loadArtifact("TestToken"))(t)
	say := func(token common.Address, method string, args ...any) any {
		t.Helper()
		call := trial.Must(CallOf("TestToken", token, method, args...))(t)
		answer := trial.Must(n.Read(t.Context(), n.User.Address, call))(t)
		out, err := a.ABI.Unpack(method, answer)
		if err != nil || len(out) != 1 {
			t.Fatalf("%v, %v", out, err)
		}
		return out[0]
	}
	rich := map[string]*big.Int{"WBTC": big.NewInt(21e8), "USDC": big.NewInt(2e12)}
	for ticker, args := range testTokens {
		token := at[ticker]
		deployed := trial.Must(n.Deploy(t.Context(), "TestToken", args...))(t)
		for _, method := range []string{"name", "symbol", "decimals"} {
			if got, want := say(token, method), say(deployed, method); got != want {
				t.Errorf("%s of %s: %v, want %v", method, ticker, got, want)
			}
		}
		if got := say(token, "balanceOf", n.User.Address).(*big.Int); got.Cmp(rich[ticker]) != 0 {
			t.Errorf("the user has %s %s", got, ticker)
		}
	}
	if _, err := Start(Options{Tokens: map[string]common.Address{"DOGE": at["WBTC"]}}); err == nil {
		t.Error("a token that the network does not have")
	}
}
