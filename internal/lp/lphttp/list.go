package lphttp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/lp"
)

// List reads the list of LPs at the address of a registry. LPs without https
// are left out: the list's author must not be able to make us call addresses in
// our own network.
func (c *Client) List(ctx context.Context, registry string) ([]string, error) {
	text, err := httpx.Retry(ctx, c.infoPolicy(), func(ctx context.Context) ([]byte, error) {
		return httpx.JSON{HTTP: c.http, Timeout: c.o.GetTimeout, Limit: c.o.Limit}.Raw(ctx, http.MethodGet, registry, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("LP registry: %w", err)
	}
	list, err := lp.ReadList(text)
	if err != nil {
		return nil, fmt.Errorf("LP registry: %w", err)
	}
	return slices.DeleteFunc(list, func(base string) bool {
		u, err := url.Parse(base)
		return err != nil || u.Scheme != "https"
	}), nil
}
