package link_test

import (
	"fmt"

	"github.com/swapper-go/swapper/internal/btc/link"
)

func ExampleBitcoin() {
	fmt.Println(link.Bitcoin("bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0", 99))
	// Output: bitcoin:bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0?amount=0.00000099
}
