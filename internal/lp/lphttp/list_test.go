package lphttp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestRegistryCannotNameOurOwnHosts(t *testing.T) {
	list := `["http://127.0.0.1:22","https://lp.example:4000","https://lp.example:4000/","http://10.0.0.1","file:///etc/passwd","//x","https://other.example"]`
	base := flowtest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"content": base64.StdEncoding.EncodeToString([]byte(list))})
	})
	got, err := client(t, Options{}).List(t.Context(), base)
	if diff := cmp.Diff([]string{"https://lp.example:4000", "https://other.example"}, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	many := make([]string, 5000)
	for i := range many {
		many[i] = fmt.Sprintf("https://lp%d.example", i)
	}
	text, _ := json.Marshal(many)
	doc, _ := json.Marshal(map[string]string{"content": base64.StdEncoding.EncodeToString(text)})
	if got, err := lp.ReadList(doc); err != nil || len(got) != 256 {
		t.Errorf("%d LPs, %v, want %d", len(got), err, 256)
	}
}

func TestVectorsRegistry(t *testing.T) {
	vectors.Each(t, "lp-protocol", "registry", func(t *testing.T, c *vectors.Case) {
		var in struct{ Document json.RawMessage }
		var want struct{ URLs []string }
		c.Input(t, &in)
		c.Expected(t, &want)
		base := flowtest.Serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(in.Document) })
		got, err := client(t, Options{}).List(t.Context(), base+"/contents")
		if diff := cmp.Diff(want.URLs, got); err != nil || diff != "" {
			t.Errorf("%v, list (-want +got):\n%s", err, diff)
		}
	})
}
