// Command testnet4 swaps test money between Bitcoin or Lightning and a token of a smart chain: on
// Bitcoin testnet4 with the public test networks of the smart chains, or on a network of its own.
//
//	go run ./examples/testnet4 tobtc                          # cBTC on Citrea's testnet to this wallet's own address
//	go run ./examples/testnet4 tobtc -chain SOLANA -to tb1q...
//	go run ./examples/testnet4 tobtc -chain STARKNET          # the first swap deploys the wallet's account
//	go run ./examples/testnet4 tolightning -to lntb...        # with cBTC on Citrea's testnet
//	go run ./examples/testnet4 tolightning -to me@wallet.example -sats 5000
//	go run ./examples/testnet4 frombtc                        # to cBTC on Citrea's testnet
//	go run ./examples/testnet4 frombtc -chain SOLANA -sats 50000
//	go run ./examples/testnet4 fromlightning                  # shows an invoice to pay
//	go run ./examples/testnet4 tobtc -network local -yes      # without internet, as all four
package main

import "github.com/swapper-go/swapper/examples/testnet4/console"

func main() {
	console.Main(map[string]console.Program{
		"tobtc": toBTC, "tolightning": toLightning, "frombtc": fromBTC, "fromlightning": fromLightning,
	})
}
