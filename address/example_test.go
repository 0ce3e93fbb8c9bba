package address_test

import (
	"fmt"

	"github.com/swapper-go/swapper/address"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

func ExampleRecognise() {
	for _, text := range []string{
		"BITCOIN:BC1QY3XDU0RUK97TK9WMPY5KJLRDZANSQCUWS052J4?amount=0.01",
		"satoshi@pay.example",
		"tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
	} {
		r, err := address.Recognise(text, bitcoin.Mainnet)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(r.Type, r.Address, r.Amount)
	}
	// Output:
	// BITCOIN BC1QY3XDU0RUK97TK9WMPY5KJLRDZANSQCUWS052J4 0.01000000 BTC
	// LNURL satoshi@pay.example <nil>
	// wrong Bitcoin network: the address is for testnet3 or testnet4 or signet, expected one for mainnet
}
