package console

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/examples/internal/running"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/watchtower"
)

// elsewhere is a local network that another process runs, so that swaps outlive this one.
type elsewhere struct {
	at     *running.Network
	config swapper.Config
	ahead  atomic.Int64 // of the system's clock, in nanoseconds
}

// Running returns the network that examples/devnet runs, by the file into which it has printed.
func Running(ctx context.Context, path string) (Network, error) {
	at, err := running.Read(path)
	if err != nil {
		return nil, err
	}
	if at.Control == "" {
		return nil, fmt.Errorf("%s: the network serves no control calls, with which this program gets its money", path)
	}
	e := &elsewhere{at: at}
	if err := e.configure(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := e.look(ctx); err != nil {
		return nil, fmt.Errorf("the network of %s does not answer: %w", path, err)
	}
	return e, nil
}

func (e *elsewhere) configure() error {
	at := e.at
	on := []chains.Factory{evm.Custom(evm.Options{RPC: []string{at.EVM.RPC}, Network: &at.EVM.Network, Tokens: at.EVM.Listed})}
	if s := at.Solana; s != nil {
		n := solana.Network{Bitcoin: bitcoin.Regtest, Genesis: s.Genesis}
		for version, p := range s.Programs {
			n.Deployments = append(n.Deployments, solana.Deployment{Version: version, SwapProgram: p.SwapProgram, BtcRelay: p.BtcRelay})
		}
		on = append(on, solana.Custom(solana.Options{RPC: []string{s.RPC}, Network: &n, Version: s.ProgramVersion, Tokens: s.Listed}))
	}
	if s := at.Starknet; s != nil {
		on = append(on, starknet.Custom(starknet.Options{RPC: []string{s.RPC}, Network: &s.Network, Tokens: s.Listed}))
	}
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{at.Bitcoin.REST}})
	if err != nil {
		return err
	}
	messenger, err := watchtower.NewNostr(watchtower.NostrOptions{Network: bitcoin.Regtest, Relays: []string{at.Nostr}})
	if err != nil {
		return err
	}
	prices := price.Fixed{Prices: map[string]*big.Int{}, USD: running.USDPerBitcoin / 1e8}
	for id, sats := range at.Prices() {
		prices.Prices[id] = big.NewInt(sats * 1_000_000)
	}
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM([]byte(at.LNURL.CA))
	shop := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trust}, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(address); err == nil && host == at.LNURL.Domain {
			address = at.LNURL.Host
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	e.config = swapper.Config{
		Network: bitcoin.Regtest, Chains: on, LPs: swapper.LPs{URLs: at.LPs, Trusted: at.LPs[0], AllowHTTP: true, AllowLocal: true},
		Bitcoin: backend, Prices: prices, LNURL: swapper.LNURLOptions{AllowLocal: true, Transport: shop}, Messenger: messenger,
		Now: func() time.Time { return time.Now().Add(time.Duration(e.ahead.Load())) },
	}
	return nil
}

// call makes a control call.
func (e *elsewhere) call(ctx context.Context, method, path string, query url.Values, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, e.at.Control+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(io.LimitReader(got.Body, 1<<16))
	switch {
	case err != nil:
		return err
	case got.StatusCode != http.StatusOK:
		return errors.New(strings.TrimSpace(string(text)))
	case answer == nil:
		return nil
	}
	return json.Unmarshal(text, answer)
}

// look asks for the network's time, which may be moved.
func (e *elsewhere) look(ctx context.Context) error {
	var clock struct{ Ahead int64 }
	err := e.call(ctx, http.MethodGet, "/clock", nil, &clock)
	if err == nil {
		e.ahead.Store(clock.Ahead * int64(time.Millisecond))
	}
	return err
}

func (*elsewhere) Name() string { return "local" }

func (e *elsewhere) Config() swapper.Config { return e.config }

func (e *elsewhere) Fund(ctx context.Context, k *Keys, chain string) (string, error) {
	to := k.Address(chain)
	if chain == "BITCOIN" {
		if err := e.call(ctx, http.MethodPost, "/fund", url.Values{"address": {to}, "sats": {"10000000"}}, nil); err != nil {
			return "", err
		}
		return "0.1 BTC were sent to " + to, e.mine(ctx)
	}
	for _, coin := range play[chain] {
		path := "/" + strings.ToLower(chain) + "/fund"
		if chain == e.at.EVM.Chain {
			path = "/evm/fund"
		}
		_, ticker, _ := strings.Cut(coin[0], "-")
		if err := e.call(ctx, http.MethodPost, path, url.Values{"address": {to}, "token": {ticker}, "amount": {coin[1]}}, nil); err != nil {
			return "", err
		}
	}
	return "tokens were sent to " + to, nil
}

func (e *elsewhere) mine(ctx context.Context) error {
	return e.call(ctx, http.MethodPost, "/mine", url.Values{"blocks": {"1"}}, nil)
}

func (*elsewhere) Explorer(string, string) string { return "" }

func (e *elsewhere) Invoice(sats int64) string {
	var made struct{ Invoice string }
	_ = e.call(context.Background(), http.MethodPost, "/invoice", url.Values{"sats": {strconv.FormatInt(sats, 10)}}, &made) // without one the user is asked for it
	return made.Invoice
}

func (e *elsewhere) Pay(invoice string) (bool, error) {
	err := e.call(context.Background(), http.MethodPost, "/pay", url.Values{"invoice": {invoice}}, nil)
	if err != nil && strings.Contains(err.Error(), "is paid once") { // by an earlier run of the program
		err = nil
	}
	return true, err
}

func (e *elsewhere) Wait(ctx context.Context, expected time.Duration) error {
	if err := e.look(ctx); err != nil {
		return err
	}
	if expected > 0 {
		if err := e.mine(ctx); err != nil {
			return err
		}
	}
	return sleep(ctx, 100*time.Millisecond)
}
