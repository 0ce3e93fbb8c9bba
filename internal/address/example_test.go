package address_test

import (
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/address"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
)

// citrea is a smart chain as far as its addresses go.
type citrea struct{}

func (citrea) ID() string                       { return "CITREA" }
func (citrea) Address(s string) (string, error) { return evmwire.Address(s) }

func ExampleParser_Recognise() {
	p, err := address.New(address.Config{Network: bitcoin.Mainnet, Chains: []address.Chain{citrea{}}})
	if err != nil {
		panic(err)
	}
	for _, text := range []string{
		"BITCOIN:BC1QY3XDU0RUK97TK9WMPY5KJLRDZANSQCUWS052J4?amount=0.01",
		"satoshi@pay.example",
		"0x0C531866071aA5955Cd0fd45bA0f8c3b7181dF94",
		"0x0C531866071aA5955Cd0fd45bA0f8c3b7181dF95",
	} {
		r, err := p.Recognise(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(r.Type, r.Address, r.Amount)
	}
	// Output:
	// BITCOIN BC1QY3XDU0RUK97TK9WMPY5KJLRDZANSQCUWS052J4 0.01000000 BTC
	// LNURL satoshi@pay.example <nil>
	// CITREA 0x0C531866071aA5955Cd0fd45bA0f8c3b7181dF94 <nil>
	// "0x0C531866071aA5955Cd0fd45bA0f8c3b7181dF..." is not a valid Bitcoin address, Lightning invoice, LNURL or address on a supported chain
}
