package lphttp

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
)

// Only what says that the LP does not have the PSBT is a refusal; after anything
// else it may be broadcast.
func TestUnknownOutcomeOfAPostIsNoRefusal(t *testing.T) {
	for name, at := range map[string]struct {
		status  int
		answer  string
		refused bool
		again   bool // the quote can still be used
	}{
		"may have been sent":     {200, `{"code":20001,"msg":"Transaction status unknown","data":{"txId":"ab"}}`, false, false},
		"is being sent":          {200, `{"code":20517,"msg":"already in progress, please retry later"}`, false, false},
		"could not be sent":      {200, `{"code":20512,"msg":"Error broadcasting bitcoin transaction"}`, false, false},
		"unforeseen error":       {200, `{"code":0,"msg":"Internal server error"}`, false, false},
		"unforeseen error, 500":  {500, `{"code":0,"msg":"Internal server error"}`, false, false},
		"unheard of code":        {200, `{"code":20999,"msg":""}`, false, false},
		"done without id":        {200, `{"code":20000,"msg":"","data":{}}`, false, false},
		"too many open requests": {503, "Too many open requests", false, false},
		"gateway":                {502, "<html>", false, false},
		"quote is over":          {200, `{"code":20505,"msg":"Invalid quote ID, not found or expired!"}`, true, false},
		"fee too low":            {200, `{"code":20511,"msg":"Bitcoin transaction fee too low"}`, true, true},
		"too large":              {200, `{"code":20516,"msg":"too large"}`, true, true},
		"refused by a plugin":    {200, `{"code":29999,"msg":"no"}`, true, false},
		"bad body":               {400, `{"code":20100,"msg":"Invalid request body"}`, true, false},
		"an input is spent":      {200, `{"code":20514,"msg":"spent"}`, true, true},
		"the vault has moved":    {200, `{"code":20510,"msg":"vault UTXO spent"}`, true, false},
		"no room":                {200, `{"code":20013,"msg":"too many swaps"}`, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				flowtest.ReadAll(r)
				w.WriteHeader(at.status)
				_, _ = fmt.Fprint(w, at.answer)
			})
			_, err := client(t, Options{}).PostSPV(t.Context(), base, "CITREA", "ab", []byte{1})
			if refused := lp.PostRefused(err); err == nil || refused != at.refused {
				t.Errorf("%v: a refusal %v, want %v", err, refused, at.refused)
			}
			if again := lp.PostAgain(err); again != at.again {
				t.Errorf("%v: takes another %v, want %v", err, again, at.again)
			}
		})
	}
}
