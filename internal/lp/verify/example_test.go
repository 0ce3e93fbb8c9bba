package verify_test

import (
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/internal/lp/verify"
)

// An LP offers 1 USDC for 1600 sats, of which 5 are its fee; the market says 1572.9.
func ExampleReceivePrice() {
	r, err := verify.ReceivePrice(verify.PriceQuote{
		Sats: big.NewInt(1600), FeeSats: big.NewInt(5), Units: big.NewInt(1_000_000), Decimals: 6, Price: big.NewInt(1_572_923_320),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s ppm worse than the market, within 1 %%: %v\n", r.DifferencePPM, r.Within(verify.DefaultTolerancePPM))
	// Output: 13840 ppm worse than the market, within 1 %: false
}
