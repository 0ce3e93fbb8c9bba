package psbt_test

import (
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/psbt"
)

// A wallet pays 30,000 sats; it gets back what is left, and signs both inputs.
func ExampleFund() {
	deposit, err := bitcoin.ParseAddress("bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0", bitcoin.Mainnet)
	if err != nil {
		fmt.Println(err)
		return
	}
	address, err := bitcoin.ParseAddress("bc1qyj32gmrtwy55avmwtwvvhct4murh3cvcrumyuq", bitcoin.Mainnet)
	if err != nil {
		fmt.Println(err)
		return
	}
	wallet, err := psbt.NewWallet(address, "03cbc4e6111a16ace5dd29583e765d70d91f4ef30990b3b8558e11632d25ad0230")
	if err != nil {
		fmt.Println(err)
		return
	}
	coins := []psbt.Coin{
		{OutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{1}}, Value: 20_000},
		{OutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{2}}, Value: 15_000},
	}
	funding, err := psbt.Fund(psbt.PaymentTemplate(deposit.Script(), 30_000), wallet, coins, 4, psbt.Cheapest)
	if err != nil {
		fmt.Println(err)
		return
	}
	funded, err := funding.PSBT(nil) // only legacy wallets need the parents of their coins
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("fee", funded.Fee, "change", funding.Change, "sign", funded.SignInputs)
	fmt.Println(funded.PSBT.Base64()[:12])

	// What comes back is compared with what was asked for.
	returned, err := psbt.Parse(funded.PSBT.Base64())
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = returned.Check(psbt.Agreement{Template: psbt.PaymentTemplate(deposit.Script(), 30_000)})
	fmt.Println(err)
	// Output:
	// fee 836 change 4164 sign [0 1]
	// cHNidP8BAJoC
	// input 0 is not signed, or only its wallet can finalize the signature
}
