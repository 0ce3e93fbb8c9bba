package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/watchtower"
)

// config is the configuration file. Every key is described in config.example.yaml.
type config struct {
	Listen         string // address to listen on
	BasePath       string // of the operations
	UnknownMembers bool   // of requests are passed over, as the reference does, instead of refused
	Store          string // file of the swaps, or the URL of a PostgreSQL database
	Database       *databaseConfig
	LogLevel       slog.Level
	LogFormat      string   // json or text
	StopGrace      duration // for requests in progress when the server ends
	Backup         *backupConfig
	Admin          *adminConfig // metrics and backups, for the operator alone
	Tracing        *tracingConfig
	Limits         limitsConfig
	Subscribe      bool // streams of changes
	Webhooks       *webhooksConfig
	Watchtower     *watchtowerConfig
	Auth           []entryConfig
	RateLimit      rateConfig
	CORS           *corsConfig
	HTTPS          *struct{ CertPath, KeyPath string }
	TrustedProxies []netip.Prefix

	network
	Local string // what examples/devnet printed, in place of the network's keys

	file    string   // of the configuration
	folder  string   // where it lies
	notes   []string // that the log has at the start
	checked bool     // and completed
}

// limitsConfig bounds what clients take of the process. 0 is the usual bound.
type limitsConfig struct {
	Connections int // open at once
	PerAddress  int // of one address
	Requests    int // answered at once, of each entry of auth
	PerSender   int // of one sender, answered at once
}

// network is the part of the configuration that says where swaps are made and by
// which rules. Keys that are absent are the preset of the Bitcoin network.
type network struct {
	BitcoinNetwork string         // MAINNET, TESTNET3, TESTNET4, SIGNET or REGTEST
	Bitcoin        *bitcoinConfig // the backend
	Chains         chainsConfig   // by id; at least one
	AllNodes       bool           // all nodes of a chain have to agree, instead of half of them
	LPs            lpsConfig
	Prices         *pricesConfig
	LNURL          lnurlConfig
	Relays         *[]string      // Nostr relays of the watchtowers; [] publishes nothing
	Policy         swapper.Policy // how strict quotes are checked
	KeepExpired    duration       // how long unused quotes stay readable after their expiry
	Clock          string         // URL of a clock to go by, for test networks whose clock is moved
}

// duration is a text such as "36h" or "90s".
type duration time.Duration

// UnmarshalText reads a duration.
func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return errors.New("must be a duration such as 36h or 90s")
	}
	*d = duration(v)
	return nil
}

// load reads the file and finds what is wrong with it, all of it at once and before anything is
// started: errors are [findings].
func load(path string, environ []string) (*config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	root, err := tree(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return read(root, path, environ, nil)
}

// read reads the tree of a file's keys; form is what was wrong with it before.
func read(root *yaml.Node, path string, environ []string, form error) (*config, error) {
	c := &config{Listen: "127.0.0.1:3000", BasePath: "/api", LogFormat: "json", StopGrace: duration(30 * time.Second), Subscribe: true, file: path, folder: filepath.Dir(path)}
	form = errors.Join(form, into(root, environ, c))
	p, err := c.build(context.Background(), slog.New(slog.DiscardHandler))
	if err == nil {
		err = p.Close()
	}
	if all := found(path, root, form, err); len(all) > 0 {
		return nil, all
	}
	return c, nil
}

// check looks at what the values say by themselves, and completes them.
func (c *config) check() error {
	if c.checked {
		return nil
	}
	c.checked = true
	var all []error
	if len(c.Auth) == 0 {
		all = append(all, errors.New(`auth: is required; [{type: none, name: public}] admits everybody`))
	}
	if c.LogFormat != "json" && c.LogFormat != "text" {
		all = append(all, fmt.Errorf("logFormat: must be json or text, not %q", c.LogFormat))
	}
	all = append(all, c.checkForms(), c.checkListen(), c.Policy.Validate(), c.checkStore())
	switch {
	case c.Local != "" && (c.BitcoinNetwork != "" || len(c.Chains) > 0 || !c.LPs.empty()):
		all = append(all, errors.New("local: cannot be combined with bitcoinNetwork, chains or lps"))
	case c.Local != "":
		if err := c.local(); err != nil {
			all = append(all, fmt.Errorf("local: %w", err))
		}
	case len(c.Chains) == 0:
		all = append(all, errors.New("chains: at least one is required, such as {CITREA: [https://rpc.testnet.citrea.xyz]}; in a file of the reference service citreaRpc"))
	}
	return errors.Join(all...)
}

// path is where a file of the configuration lies.
func (c *config) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.folder, name)
}

// settings are the client's configuration but for the store, with what it needs
// of its own.
type settings struct {
	swapper.Config
	clock   *clock // nil: the system's
	closers []io.Closer
}

// Close ends what was opened for the client; call it after the client's.
func (s *settings) Close() (err error) {
	for _, c := range s.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// swaps reads the network's part. It sends no requests.
func (c *config) swaps(nodes nodes, log *slog.Logger) (*settings, error) {
	s := &settings{Config: swapper.Config{Logger: log, Policy: c.Policy, AllNodes: c.AllNodes, KeepExpired: time.Duration(c.KeepExpired)}}
	s.HTTP = nodes.transport("chains")
	if err := c.fill(s, nodes, log); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// fill finds all that is wrong, so that it goes on after an error.
func (c *config) fill(s *settings, nodes nodes, log *slog.Logger) error {
	var all []error
	failed := func(err error, key string) bool {
		switch {
		case err != nil && key == "":
			all = append(all, err)
		case err != nil:
			all = append(all, fmt.Errorf("%s%w", key, err))
		}
		return err != nil
	}
	var err error
	s.LPs, err = c.LPs.read()
	failed(err, "lps.")
	if c.Clock != "" {
		if s.clock, err = newClock(c.Clock, log); !failed(err, "clock: ") {
			s.Now = s.clock.Now
		}
	}
	if c.Prices == nil {
		s.Prices = price.Market(price.Options{Client: &http.Client{Transport: nodes.transport("prices")}, Now: s.Now})
	}
	if c.Prices != nil {
		s.Prices, err = c.Prices.source()
		failed(err, "prices.")
	}
	s.LNURL, err = c.LNURL.read(c.path)
	failed(err, "lnurl.")
	if s.Network, err = c.bitcoinNetwork(); failed(err, "") {
		return errors.Join(all...) // the rest depends on it
	}
	s.Chains, err = c.Chains.factories(s.Network)
	failed(err, "")
	if c.Bitcoin != nil {
		if backend, err := c.Bitcoin.backend(s.Network, c.path, nodes.transport("bitcoin"), log); !failed(err, "bitcoin.") {
			s.Bitcoin, s.closers = backend, append(s.closers, backend)
		}
		if len(c.Bitcoin.Graph) > 0 {
			if graph, err := c.Bitcoin.graph(s.Network, nodes.transport("graph"), log); !failed(err, "bitcoin.") {
				s.Graph, s.closers = graph, append(s.closers, graph)
			}
		}
	}
	if c.Bitcoin == nil { // the public servers, where the network has them
		if backend, err := mempoolspace.New(mempoolspace.Options{Network: s.Network, HTTP: &http.Client{Transport: nodes.transport("bitcoin")}, Logger: log}); err == nil {
			s.Bitcoin, s.closers = backend, append(s.closers, backend)
		}
	}
	switch {
	case c.Relays == nil:
	case len(*c.Relays) == 0:
		s.Messenger = nothing{}
	default:
		m, err := watchtower.NewNostr(watchtower.NostrOptions{Network: s.Network, Relays: *c.Relays, Now: s.Now, Log: log})
		if !failed(err, "") { // it names the relay
			s.Messenger, s.closers = m, append(s.closers, m)
		}
	}
	return errors.Join(all...)
}

// nothing is a messenger that publishes nothing: users claim for themselves.
type nothing struct{}

func (nothing) Publish(context.Context, watchtower.Message) error { return nil }

func (c *config) bitcoinNetwork() (bitcoin.Network, error) {
	if c.BitcoinNetwork == "" {
		return 0, errors.New("bitcoinNetwork: is required: MAINNET, TESTNET3, TESTNET4, SIGNET or REGTEST")
	}
	n, err := bitcoin.ParseNetwork(strings.ToLower(c.BitcoinNetwork))
	if err != nil || c.BitcoinNetwork != strings.ToUpper(c.BitcoinNetwork) {
		return 0, fmt.Errorf("bitcoinNetwork: must be MAINNET, TESTNET3, TESTNET4, SIGNET or REGTEST, not %q", c.BitcoinNetwork)
	}
	return n, nil
}
