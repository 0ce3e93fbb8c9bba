package tokenlist_test

import (
	"fmt"

	"github.com/swapper-go/swapper/fault"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/tokenlist"
	"github.com/swapper-go/swapper/tokens"
)

func ExampleRegistry_Resolve() {
	r, err := tokenlist.New(
		tokenlist.Chain{ID: "SOLANA", Tokens: tokens.Known("SOLANA"), TokenAddress: solwire.TokenAddress},
		tokenlist.Chain{ID: "CITREA", Tokens: tokens.Known("CITREA"), TokenAddress: evmwire.TokenAddress},
	)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"BTC-LN", "SOL", "CITREA-0xdf240dc08b0fdad1d93b74d5048871232f6bea3d", "USDC"} {
		t, err := r.Resolve(name)
		if err != nil {
			fmt.Println(fault.At("srcToken", err))
			continue
		}
		fmt.Println(t.ID(), t.Decimals)
	}
	// Output:
	// LIGHTNING-BTC 8
	// SOLANA-SOL 9
	// CITREA-WBTC 8
	// srcToken: "USDC" is ambiguous: use one of SOLANA-USDC, CITREA-USDC
}

func ExampleParseDecimal() {
	btc := tokens.BTC()
	raw, err := tokens.ParseDecimal("0.0005104", btc.Decimals)
	fmt.Println(raw, tokens.NewAmount(raw, btc).Decimal(), err)
	_, err = tokens.ParseDecimal("0.000000015", btc.Decimals)
	fmt.Println(err)
	// Output:
	// 51040 0.00051040 <nil>
	// "0.000000015" has more than 8 decimal places
}
