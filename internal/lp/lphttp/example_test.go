package lphttp_test

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"

	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
)

// An LP is asked for a quote. The fee rate becomes known while the LP computes,
// and is sent then.
func ExampleClient_ToBTC() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"code":20003,"msg":"Amount too low!","data":{"min":"10000","max":"5000000"}}`)
	}))
	defer server.Close()
	ctx := context.Background()

	rate := async.Start(ctx, func(context.Context) (string, error) { return "1000000000,1000000", nil })
	client := lphttp.NewClient(lphttp.Options{AllowLocal: true}) // the LP of this example is on this machine
	_, err := client.ToBTC(ctx, server.URL, lp.ToBTCRequest{
		Chain: "CITREA", Address: "tb1q...", Amount: big.NewInt(500), ConfirmationTarget: 3, Confirmations: 2,
		Token: "0x0000000000000000000000000000000000000000", Offerer: "0x...", FeeRate: rate,
	}, lp.Early{})

	if bounds, ok := err.(*lp.OutOfBoundsError); ok {
		fmt.Println(bounds.Message, bounds.Min, bounds.Max)
	}
	// Output: Amount too low! 10000 5000000
}
