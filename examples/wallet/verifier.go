package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/lnurl"
	"github.com/swapper-go/swapper/swappertest"
)

// verifier is package verify for the page. It is compiled while the page is already served.
type verifier struct {
	files http.Handler
	done  chan struct{} // closed when it is compiled, or cannot be
	fault error         // once done is closed
}

// prepare compiles the verifier into a folder, with the go command.
func prepare(ctx context.Context, folder string) *verifier {
	v := &verifier{files: http.FileServer(http.Dir(folder)), done: make(chan struct{})}
	go func() {
		defer close(v.done)
		pack := exec.CommandContext(ctx, "go", "run", "github.com/swapper-go/swapper/verify/js/pack", "-o", folder)
		pack.WaitDelay = time.Second // what it has started may hold its output open
		if out, err := pack.CombinedOutput(); err != nil {
			v.fault = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
		}
	}()
	return v
}

// state is what the page is told: "preparing", "ready", or why there is none.
func (v *verifier) state() string {
	select {
	case <-v.done:
	default:
		return "preparing"
	}
	if v.fault != nil {
		return v.fault.Error()
	}
	return "ready"
}

func (v *verifier) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if state := v.state(); state != "ready" {
		http.Error(w, state, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	v.files.ServeHTTP(w, r)
}

// ownChains is what the page's wallet knows of the chains without the service: the configuration
// of package verify for JavaScript, with the nodes below /nodes/.
func ownChains(n *swappertest.Network) (map[string]any, error) {
	var text strings.Builder
	if err := n.Describe(&text); err != nil {
		return nil, err
	}
	type described struct {
		Chain   string          `json:"chain"`
		Network json.RawMessage `json:"network"`
		Listed  json.RawMessage `json:"listed"`
	}
	var d struct {
		EVM    described `json:"evm"`
		Solana *struct {
			described
			Genesis  string `json:"genesis"`
			Version  string `json:"programVersion"`
			Programs map[string]struct {
				Swap  string `json:"swapProgram"`
				Relay string `json:"btcRelay"`
			} `json:"programs"`
		} `json:"solana"`
		Starknet *described `json:"starknet"`
	}
	if err := json.Unmarshal([]byte(text.String()), &d); err != nil {
		return nil, err
	}
	chain := func(d described) map[string]any { return map[string]any{"network": d.Network, "tokens": d.Listed} }
	chains := map[string]any{d.EVM.Chain: chain(d.EVM)}
	if d.Starknet != nil {
		chains[d.Starknet.Chain] = chain(*d.Starknet)
	}
	if s := d.Solana; s != nil {
		network := solana.Network{Bitcoin: n.Config().Network, Genesis: s.Genesis}
		for version, p := range s.Programs {
			network.Deployments = append(network.Deployments, solana.Deployment{Version: version, SwapProgram: p.Swap, BtcRelay: p.Relay})
		}
		chains[s.Chain] = map[string]any{"network": network, "tokens": s.Listed, "version": s.Version}
	}
	return map[string]any{"network": n.Config().Network.String(), "chains": chains}, nil
}

// serveNodes passes requests of /nodes/<chain>/ on to the local network's nodes, which other
// origins cannot ask.
func serveNodes(n *swappertest.Network) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chain, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/nodes/"), "/")
		node, err := url.Parse(n.URL(chain))
		if err != nil || node.Host == "" {
			http.NotFound(w, r)
			return
		}
		(&httputil.ReverseProxy{Rewrite: func(q *httputil.ProxyRequest) {
			q.Out.URL.Scheme, q.Out.URL.Host, q.Out.Host = node.Scheme, node.Host, node.Host
			q.Out.URL.Path, q.Out.URL.RawPath = strings.TrimSuffix(node.Path, "/")+"/"+path, ""
			q.Out.Header.Del("Origin")
		}}).ServeHTTP(w, r)
	})
}

// serveLinks passes requests of /links?url= on to the services behind the local network's LNURL
// links and Lightning addresses, which allow no page to ask them, and to no others.
func serveLinks(n *swappertest.Network) http.Handler {
	_, domain, _ := strings.Cut(n.LightningAddress(), "@")
	hosts := []string{domain}
	if link, err := lnurl.URL(n.PayLink()); err == nil {
		if u, err := url.Parse(link); err == nil {
			hosts = append(hosts, u.Host)
		}
	}
	return &httputil.ReverseProxy{Transport: linked{hosts, n.Config().LNURL.Transport}, Rewrite: func(q *httputil.ProxyRequest) {
		to, err := url.Parse(q.In.URL.Query().Get("url"))
		if err != nil {
			to = new(url.URL)
		}
		q.Out.URL, q.Out.Host = to, to.Host
		q.Out.Header.Del("Origin")
	}}
}

// linked sends requests to some hosts alone.
type linked struct {
	hosts []string
	to    http.RoundTripper
}

func (l linked) RoundTrip(r *http.Request) (*http.Response, error) {
	if !slices.Contains(l.hosts, r.URL.Host) {
		return nil, fmt.Errorf("%q has no link of the local network", r.URL.Host)
	}
	return l.to.RoundTrip(r)
}
