package lightning_test

import (
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lightning"
)

func ExampleDecode() {
	inv, err := lightning.Decode("lnbc50n1pj48ugqpp56k6d9a2704pzvgwxeltj93dn8ryjfl0azn03zctsvfc5kfevghpqsp5ydv64gczr9gp0vlpzhpan9n8rwucyn45rzlch58d0tq6yl679axs9qypqsqdqsw3jhxapqw9e8gumsrdvs444ar8sdkrrusuqml2z7sln8zgm0n8agtxkftmkjwpjcw26hlqnw6rrv4eajjfu9fz859h8yne8h97k6ccy822qc2nfywrhuj8sqm277ea")
	if err != nil {
		fmt.Println(err)
		return
	}
	sats, ok := inv.AmountSats()
	fmt.Println(sats, ok, inv.HasExpiry, inv.ExpiresAt()-inv.Timestamp)
	fmt.Println(inv.RequireNetwork(bitcoin.Testnet4))
	// Output:
	// 5 true false 3600
	// invoice is for another network: it begins with lnbc, but testnet4 invoices begin with lntb
}

func ExampleHTLCTimeout() {
	// An invoice that wants 432 blocks for its last hop.
	seconds, extended, err := lightning.HTLCTimeout(lightning.DefaultHTLCTimeoutSeconds, lightning.DefaultMaxHTLCTimeoutSeconds, 432)
	fmt.Println(seconds, extended, err)
	// Output: 777600 true <nil>
}
