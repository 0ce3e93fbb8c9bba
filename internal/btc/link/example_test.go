package link_test

import (
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/link"
)

func ExampleBitcoin() {
	a, err := bitcoin.ParseAddress("bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0", bitcoin.Mainnet)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(link.Bitcoin(a, 99))
	// Output: bitcoin:bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0?amount=0.00000099 <nil>
}
