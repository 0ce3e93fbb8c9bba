package lightning

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// TestSpecificationExamples reads the examples of BOLT11 itself: the valid ones
// are all signed by one node for one payment hash.
func TestSpecificationExamples(t *testing.T) {
	text := trial.Must(os.ReadFile("testdata/bolt11.json"))(t)
	var examples []struct {
		Valid          bool
		Title, Invoice string
	}
	trial.Do(t, json.Unmarshal(text, &examples))
	amounts := map[string]int64{"lnbc2500u": 250_000_000, "lnbc20m": 2_000_000_000, "lntb20m": 2_000_000_000, "lnbc9678785340p": 967_878_534, "lnbc25m": 2_500_000_000, "lnbc10m": 1_000_000_000}
	// What an invoice must say for the payer's node is judged there: the LP's
	// node refuses what it cannot pay.
	judgedByNode := []string{"Feature", "Missing required `s`"}
	for _, e := range examples {
		inv, err := Decode(e.Invoice)
		if !e.Valid {
			byNode := false
			for _, j := range judgedByNode {
				byNode = byNode || strings.Contains(e.Title, j)
			}
			if (err == nil) != byNode {
				t.Errorf("%s: %v", e.Title, err)
			}
			if err != nil && !errors.Is(err, errNotInvoice) {
				t.Errorf("%s: %v does not wrap ErrNotInvoice", e.Title, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", e.Title, err)
			continue
		}
		highS := strings.Contains(e.Title, "high-S") // recovers to another key
		if got := hex.EncodeToString(inv.Payee[:]); !highS && got != "03e7156ae33b0a208d0744199163177e909e80176e55d97a2f221ede0f934dd9ad" {
			t.Errorf("%s: payee %s", e.Title, got)
		}
		hash := hex.EncodeToString(inv.PaymentHash[:])
		if usual := "0001020304050607080900010203040506070809000102030405060708090102"; hash != usual && !strings.HasPrefix(e.Invoice, "lnbc9678785340p") {
			t.Errorf("%s: payment hash %s", e.Title, hash)
		}
		want := int64(-1)
		hrp := strings.ToLower(e.Invoice[:strings.LastIndex(e.Invoice, "1")])
		if msat, ok := amounts[hrp]; ok {
			want = msat
		} else if hrp != "lnbc" {
			t.Errorf("%s: no expected amount for %s", e.Title, hrp)
		}
		if got := inv.AmountMsat; (got != nil) != (want >= 0) || got != nil && *got != want {
			t.Errorf("%s: amount %v, want %d", e.Title, got, want)
		}
		if _, address, ok := strings.Cut(e.Title, "address "); ok {
			if address, _, _ := strings.Cut(address, " "); inv.Fallback != address {
				t.Errorf("%s: fallback %s", e.Title, inv.Fallback)
			}
		}
	}
}
