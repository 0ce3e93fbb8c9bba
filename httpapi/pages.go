package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/swapper-go/swapper"
)

// maxPage is how many swaps an answer of listSwaps and listPendingSwaps has at most: the
// newest, if the request does not say after which. Where there are more, the header Link
// names the request for the next page (RFC 8288, rel="next").
const maxPage = 1000

// page is an answer that others follow.
type page struct {
	swaps swapper.List[swapper.ListSwapOutput]
	next  string // query of the next one; "" for the last
}

// paged bounds a list, whoever asks for how much: a history has no bound of its own.
func paged(list func(swapper.Service, context.Context, swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error)) func(swapper.Service, context.Context, swapper.ListSwapsInput) (any, error) {
	return func(s swapper.Service, ctx context.Context, in swapper.ListSwapsInput) (any, error) {
		most := min(in.Limit, maxPage)
		if in.Limit == 0 {
			most = maxPage
		}
		asked := in
		asked.Limit = most + 1 // whether there are more
		swaps, err := list(s, ctx, asked)
		if err != nil || len(swaps) <= most {
			return page{swaps: swaps}, err
		}
		next := url.Values{"signer": {in.Signer}, "limit": {strconv.Itoa(most)}, "after": {swaps[most-1].SwapID}}
		if in.ChainID != "" {
			next.Set("chainId", in.ChainID)
		}
		return page{swaps[:most], next.Encode()}, nil
	}
}

// link says how a list goes on, if it does.
func (p page) link(h http.Header) {
	if p.next != "" {
		h.Set("Link", `<?`+p.next+`>; rel="next"`)
	}
}

// Bounds of what a client reads of one list, from a service that never ends it.
const (
	maxPages = 1000
	maxList  = 4 * maxAnswer
)

// list reads a list page by page, to its end or to the limit of the input.
func (c *client) list(ctx context.Context, operation string, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	all := []swapper.ListSwapOutput{}
	limit, size := in.Limit, 0
	for range maxPages {
		answer, head, err := ask(ctx, c, get, operation, listSwapsFields, &in)
		swaps, err := array[swapper.ListSwapOutput](answer, err)
		if err != nil {
			return nil, err
		}
		if size += len(answer); size > maxList {
			break
		}
		all = append(all, swaps...)
		if len(swaps) == 0 || limit != 0 && len(all) >= limit || !hasNext(head) {
			return all, nil
		}
		if in.After = swaps[len(swaps)-1].SwapID; limit != 0 {
			in.Limit = limit - len(all)
		}
	}
	return nil, upstream(operation, errors.New("the service's list has too many pages; ask for fewer swaps, by Limit"))
}

// hasNext reports whether an answer names a next page.
func hasNext(h http.Header) bool {
	return slices.ContainsFunc(h.Values("Link"), func(link string) bool { return strings.Contains(link, `rel="next"`) })
}
