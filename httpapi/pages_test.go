package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
)

// history is a service with so many swaps of a signer, the newest first.
type history struct {
	swapper.Service
	swaps int
	most  int // that were asked for at once; 0: all
}

func (h *history) ListSwaps(_ context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	if in.Limit == 0 || h.most != 0 && in.Limit > h.most {
		h.most = in.Limit
	}
	from := 0
	if in.After != "" {
		if _, err := fmt.Sscanf(in.After, "swap %d", &from); err != nil {
			return nil, err
		}
		from++
	}
	var out []swapper.ListSwapOutput
	for ; from < h.swaps && (in.Limit == 0 || len(out) < in.Limit); from++ {
		out = append(out, swapper.ListSwapOutput{SwapOutputBase: swapper.SwapOutputBase{SwapID: fmt.Sprint("swap ", from)}})
	}
	return out, nil
}

func (h *history) ListPendingSwaps(ctx context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	return h.ListSwaps(ctx, in)
}

// Whoever asks for a list gets a page of it, and the way to the next, until he has all; the
// client goes that way by itself.
func TestListsHavePages(t *testing.T) {
	const all = 2*1000 + 7
	service := &history{swaps: all, most: 1}
	server := httptest.NewServer(httpapi.New(service, httpapi.Options{BasePath: "/api"}))
	defer server.Close()
	for _, operation := range []string{"listSwaps", "listPendingSwaps"} {
		for query, sizes := range map[string][]int{
			"signer=x%26y": {1000, 1000, 7}, "signer=x%26y&limit=5000": {1000, 1000, 7},
			"signer=x&chainId=CITREA&limit=900": {900, 900, 207}, "signer=x&after=swap+1506": {500},
		} {
			at := trial.Must(url.Parse(server.URL + "/api/" + operation + "?" + query))(t)
			next := 0
			if strings.Contains(query, "after") {
				next = 1507
			}
			for i, want := range sizes {
				answer := trial.Must(http.Get(at.String()))(t)
				text, err := io.ReadAll(answer.Body)
				answer.Body.Close()
				var swaps []swapper.ListSwapOutput
				if err != nil || answer.StatusCode != http.StatusOK || json.Unmarshal(text, &swaps) != nil || len(swaps) != want {
					t.Fatalf("%s, page %d: %s, %d swaps, want %d", at, i, answer.Status, len(swaps), want)
				}
				for _, s := range swaps {
					if s.SwapID != fmt.Sprint("swap ", next) {
						t.Fatalf("%s: %s, want %d", at, s.SwapID, next)
					}
					next++
				}
				link := answer.Header.Get("Link")
				if last := i == len(sizes)-1; last != (link == "") {
					t.Fatalf("%s, page %d of %d: %q", at, i, len(sizes), link)
				} else if last {
					break
				}
				reference, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
				before := at.Query()
				if at, err = at.Parse(reference); err != nil || !ok {
					t.Fatalf("%q: %v", link, err)
				}
				if got := at.Query(); got.Get("signer") != before.Get("signer") || got.Get("chainId") != before.Get("chainId") {
					t.Fatalf("%q goes on with another list", link)
				}
			}
			if next != all {
				t.Errorf("%s: %d swaps, want %d", query, next, all)
			}
		}
	}
	if service.most != 1000+1 {
		t.Errorf("%d swaps were asked for at once", service.most)
	}
	client := dial(t, server.URL+"/api", httpapi.ClientOptions{})
	for limit, want := range map[int]int{0: all, 5: 5, 1000: 1000, 1000 + 5: 1000 + 5, 10 * all: all} {
		swaps, err := client.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: "x", Limit: limit})
		if err != nil || len(swaps) != want || swaps[want-1].SwapID != fmt.Sprint("swap ", want-1) {
			t.Errorf("limit %d: %d swaps, %v, want %d", limit, len(swaps), err, want)
		}
	}
}

// A service whose list never ends ends the client's patience, not its memory.
func TestListWithoutAnEnd(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", `<?after=1>; rel="next"`)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode([]swapper.ListSwapOutput{{SwapOutputBase: swapper.SwapOutputBase{SwapID: "1"}}})
	}))
	defer server.Close()
	if _, err := dial(t, server.URL, httpapi.ClientOptions{}).ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: "x"}); fault.CodeOf(err) != fault.Upstream {
		t.Error(err)
	}
}
