package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp/verify"
)

// dearBlocks is a node of the chain that multiplies the base fee of its blocks.
type dearBlocks struct{ factor int64 }

var baseFee = regexp.MustCompile(`"baseFeePerGas":"0x([0-9a-f]+)"`)

func (d dearBlocks) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	text = baseFee.ReplaceAllFunc(text, func(found []byte) []byte {
		v, _ := new(big.Int).SetString(string(baseFee.FindSubmatch(found)[1]), 16)
		return fmt.Appendf(nil, `"baseFeePerGas":"0x%x"`, v.Mul(v, big.NewInt(d.factor)))
	})
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	resp.Header.Del("Content-Length")
	return resp, nil
}

// A node that lies about fees made watchtowers' pay out of nine tenths of a swap,
// and the quote looked fair.
func TestANodeCannotGiveASwapToWatchtowers(t *testing.T) {
	t.Parallel()
	w := start(t, options{config: func(c *swapper.Config) { c.HTTP = dearBlocks{700} }})
	for _, src := range []string{"BITCOIN-BTC", "LIGHTNING-BTC"} {
		for _, in := range []swapper.CreateSwapInput{
			{SrcToken: src, DstToken: "CITREA-CBTC", AmountType: swapper.ExactIn, Amount: big.NewInt(500_000), DstAddress: w.address()},
			{SrcToken: src, DstToken: "CITREA-CBTC", AmountType: swapper.ExactOut, Amount: big.NewInt(1e15), DstAddress: w.address()},
		} {
			s, err := w.client.CreateSwap(w.within(30*time.Second), in)
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Code != fault.InvalidInput || e.Field != "amount" || !strings.Contains(err.Error(), "settling") {
				t.Errorf("%s %s: %v, %+v", src, in.AmountType, err, s)
			}
		}
	}
}

// An exact input that does not even cover a watchtower's cost is refused: with the share of 0 that
// other clients take then, only the user could settle the swap, and is not told so.
func TestAnAmountBelowWatchtowersCostIsRefused(t *testing.T) {
	t.Parallel()
	w := start(t, options{config: func(c *swapper.Config) { c.HTTP = dearBlocks{2000} }})
	s, err := w.client.CreateSwap(w.within(30*time.Second), swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: "CITREA-CBTC", AmountType: swapper.ExactIn, Amount: big.NewInt(500_000), DstAddress: w.address()})
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != fault.InvalidInput || e.Field != "amount" || !errors.Is(err, verify.ErrTooLittle) {
		t.Errorf("%v, %+v, want the amount refused as too low for a watchtower", err, s)
	}
}
