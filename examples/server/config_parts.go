package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/bitcoin/noderpc"
	"github.com/swapper-go/swapper/fault"
)

// bitcoinConfig is how Bitcoin is read: by mempool.space's API or by a node.
type bitcoinConfig struct {
	URLs []string `secret:"url"` // of mempool.space's REST API, the preferred one first
	Node *struct {
		URL         string `secret:"url"` // JSON-RPC of Bitcoin Core or btcd, as in http://127.0.0.1:8332
		User        string
		Password    string `secret:"text"`
		PasswordEnv string // variable with the password
		CookieFile  string // of Bitcoin Core, in place of user and password
		CertFile    string // PEM, as btcd's rpc.cert
		// AddressIndex says that it is a btcd that runs with --addrindex, which swaps that are paid to an address need.
		AddressIndex bool
		LongPoll     bool   // one request waits at Bitcoin Core all the time for the next block
		WebSocket    string `secret:"url"` // ws or wss URL of btcd, which tells of blocks
	}
	// WebSocket are ws or wss URLs of mempool.space servers that tell of blocks, beside urls.
	WebSocket []string `secret:"url"`
	Graph     []string `secret:"url"` // mempool.space's REST API, for the Lightning graph that a node does not know
}

func (c bitcoinConfig) graph(on bitcoin.Network, transport http.RoundTripper, log *slog.Logger) (*mempoolspace.Client, error) {
	g, err := mempoolspace.New(mempoolspace.Options{Network: on, URLs: c.Graph, HTTP: &http.Client{Transport: transport}, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	return g, nil
}

// ownedBackend is a backend that its creator must close.
type ownedBackend interface {
	bitcoin.Backend
	io.Closer
}

func (c bitcoinConfig) backend(on bitcoin.Network, path func(string) string, transport http.RoundTripper, log *slog.Logger) (ownedBackend, error) {
	switch {
	case (len(c.URLs) > 0) == (c.Node != nil):
		return nil, fault.Invalid("urls", "or node is required, not both")
	case c.Node != nil && len(c.WebSocket) > 0:
		return nil, fault.Invalid("webSocket", "cannot be combined with node: it belongs to urls")
	case c.Node != nil:
		password, err := secret("node.password", c.Node.Password, c.Node.PasswordEnv)
		if err != nil {
			return nil, err
		}
		b, err := noderpc.New(noderpc.Options{Network: on, URL: c.Node.URL, User: c.Node.User, Password: password,
			CookieFile: path(c.Node.CookieFile), CertFile: path(c.Node.CertFile), LongPoll: c.Node.LongPoll, WebSocket: c.Node.WebSocket, Logger: log})
		if err != nil {
			return nil, fmt.Errorf("node: %w", err)
		}
		if c.Node.AddressIndex {
			return b.Indexed(), nil
		}
		return b, nil
	}
	b, err := mempoolspace.New(mempoolspace.Options{Network: on, URLs: c.URLs, WebSocket: c.WebSocket, HTTP: &http.Client{Transport: transport}, Logger: log})
	if err != nil {
		return nil, fmt.Errorf("urls: %w", err)
	}
	return b, nil
}

// secret is a value, or that of an environment variable, which keeps it out of the
// file.
func secret(field, value, variable string) (string, error) {
	if variable == "" {
		return value, nil
	}
	if value != "" {
		return "", fault.Invalid(field, "and %sEnv are given; one is enough", field[strings.LastIndex(field, ".")+1:])
	}
	if value = os.Getenv(variable); value == "" {
		return "", fault.Invalid(field+"Env", "names %s, which is not set", variable)
	}
	return value, nil
}

// lpsConfig is a list of liquidity providers, or an object.
type lpsConfig struct {
	URLs      []string // base URLs; empty: those of the registry
	Registry  string   // address of another list of them
	Trusted   string   // the LP of trusted gas swaps
	AllowHTTP bool     // http is accepted
	// AllowLocal permits addresses that are not public, over http on loopback.
	AllowLocal bool

	// Credentials, for providers that grant known clients more requests.
	Certificate   string
	PrivateKey    string `secret:"text"`
	PrivateKeyEnv string
}

func (lpsConfig) listKey() string { return "urls" }

func (c lpsConfig) empty() bool { return len(c.URLs) == 0 && c.Registry == "" }

func (c lpsConfig) read() (swapper.LPs, error) {
	out := swapper.LPs{URLs: c.URLs, Registry: c.Registry, Trusted: c.Trusted, AllowHTTP: c.AllowHTTP, AllowLocal: c.AllowLocal}
	key, err := secret("privateKey", c.PrivateKey, c.PrivateKeyEnv)
	if err != nil {
		return out, err
	}
	out.Certificate, out.PrivateKey = c.Certificate, swapper.Secret(key)
	return out, out.Validate()
}
