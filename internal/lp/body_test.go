package lp

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/async"
)

// What must not be sent before something else waits for it, whatever is known first.
func TestLateParametersKeepTheirOrder(t *testing.T) {
	for name, known := range map[string][]string{"amount first": {"amount", "amountFeeRate", "amountUtxos"}, "amount last": {"amountUtxos", "amountFeeRate", "amount"}, "all at once": nil} {
		t.Run(name, func(t *testing.T) {
			var b Body
			futures := map[string]*async.Future[string]{}
			for _, p := range []struct {
				name  string
				after []string
			}{{"amountUtxos", nil}, {"amountFeeRate", nil}, {"amount", []string{"amountUtxos", "amountFeeRate"}}, {"callerFeeRate", nil}} {
				futures[p.name] = async.NewFuture[string]()
				addLate(&b, p.name, futures[p.name], unlessEmpty, p.after...)
			}
			futures["callerFeeRate"].Set("", nil)
			if known == nil {
				for _, f := range futures {
					f.Set("x", nil)
				}
			}
			go func() {
				for _, n := range known {
					time.Sleep(5 * time.Millisecond)
					futures[n].Set("x", nil)
				}
			}()
			var sent []string
			err := b.each(t.Context(), func(name string, _ json.RawMessage) error {
				sent = append(sent, name)
				return nil
			})
			place := map[string]int{}
			for i, n := range sent {
				place[n] = i
			}
			if err != nil || len(sent) != 4 || place["amount"] < place["amountUtxos"] || place["amount"] < place["amountFeeRate"] {
				t.Errorf("sent %v, %v", sent, err)
			}
		})
	}
}
