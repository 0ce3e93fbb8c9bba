package httpapi

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// TestStatusesDocument holds the table of codes in docs/errors.md to the statuses
// that the handler gives them.
func TestStatusesDocument(t *testing.T) {
	text := trial.Must(os.ReadFile(filepath.Join("..", "docs", "errors.md")))(t)
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9]+) \\|").FindAllStringSubmatch(string(text), -1)
	for _, row := range rows {
		if status := strconv.Itoa(statusOf(fault.Code(row[1]))); status != row[2] {
			t.Errorf("%s has the status %s, the document says %s", row[1], status, row[2])
		}
	}
	if len(rows) != 8 {
		t.Errorf("%d codes in the document", len(rows))
	}
}
