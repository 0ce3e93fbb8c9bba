package httpapi_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
)

// The operator reads what requests count as.
func TestCosts(t *testing.T) {
	text := trial.Must(os.ReadFile("../docs/operate.md"))(t)
	for _, base := range []string{"/api", "", "/a/b/"} {
		cost, prefix := httpapi.Cost(base), strings.TrimRight(base, "/")
		for path, want := range map[string]int64{
			"createSwap": 10, "createGasSwap": 10, "listSwaps": 5, "listPendingSwaps": 5, "getSpendableBalance": 5, "settleWithLnurl": 5, "subscribe": 5, "submitTransaction": 2, "parseAddress": 1,
			"getSwapStatus": 1, "getSwapLimits": 1, "getSupportedTokens": 1, "getSwapCounterTokens": 1, "openapi.json": 1,
		} {
			if got := cost(httptest.NewRequest("GET", prefix+"/"+path, nil)); got != want {
				t.Errorf("%s/%s costs %d, want %d", prefix, path, got, want)
			}
			if row := fmt.Sprintf("| `%s` | %d |", path, want); want > 1 && !strings.Contains(string(text), row) {
				t.Errorf("docs/operate.md lacks %s", row)
			}
		}
	}
	if got := httpapi.Cost("/api")(httptest.NewRequest("GET", "/elsewhere", nil)); got != 1 {
		t.Errorf("a path of nothing costs %d", got)
	}
}
