package swapper

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/bitcoin/noderpc"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
)

// Where invoices are checked by the graph, a backend that knows none is refused,
// with what to do about it, and not every quote.
func TestGraphIsGivenOrRefused(t *testing.T) {
	store := trial.Must(bolt.Open(t.Context(), t.TempDir()+"/swaps.db", bolt.Options{}))(t)
	defer store.Close()
	for _, n := range []bitcoin.Network{bitcoin.Mainnet, bitcoin.Testnet3, bitcoin.Testnet4, bitcoin.Regtest, bitcoin.Signet} {
		node := trial.Must(noderpc.New(noderpc.Options{Network: n, URL: "http://127.0.0.1:1"}))(t)
		defer node.Close()
		esplora := trial.Must(mempoolspace.New(mempoolspace.Options{Network: n, URLs: []string{"http://127.0.0.1:1"}}))(t)
		defer esplora.Close()
		needed := n == bitcoin.Mainnet || n == bitcoin.Testnet3
		own := Config{Network: n, Store: store, Bitcoin: node, LPs: LPs{URLs: []string{"http://127.0.0.1:1"}}}
		if _, err := Open(t.Context(), own); needed && (err == nil || !strings.Contains(err.Error(), "graph: is required")) {
			t.Errorf("%s: %v; want the graph asked for", n, err)
		} else if !needed && err != nil {
			t.Errorf("%s: %v", n, err)
		}
		for name, config := range map[string]Config{
			"a graph beside it":  {Graph: esplora},
			"any node":           {Policy: Policy{AnyNode: true}},
			"a backend with one": {Bitcoin: esplora},
		} {
			c := own
			c.Graph, c.Policy.AnyNode = config.Graph, config.Policy.AnyNode
			if config.Bitcoin != nil {
				c.Bitcoin = config.Bitcoin
			}
			filled, err := c.fill()
			if err != nil || needed && name != "any node" && filled.Graph != bitcoin.LightningGraph(esplora) {
				t.Errorf("%s, %s: %v, graph %v", n, name, err, filled.Graph)
			}
		}
	}
}

// Values below zero are refused by name, instead of meaning the usual ones.
func TestNegativeSettingsAreRefused(t *testing.T) {
	for field, c := range map[string]Config{
		"policy.tolerancePPM":     {Policy: Policy{TolerancePPM: -1}},
		"policy.maxFeePPM":        {Policy: Policy{MaxFeePPM: -5}},
		"policy.maxWatchtowerPPM": {Policy: Policy{MaxWatchtowerPPM: -1}},
		"policy.maxDepositPPM":    {Policy: Policy{MaxDepositPPM: -1}},
		"policy.maxMinerFeePPM":   {Policy: Policy{MaxMinerFeePPM: -1}},
		"policy.payoutVSize":      {Policy: Policy{PayoutVSize: -1}},
		"keepExpired":             {KeepExpired: -time.Second},
	} {
		c.Network, c.Store, c.LPs = bitcoin.Testnet4, new(storage.Memory), LPs{URLs: []string{"http://127.0.0.1:1"}}
		_, err := Open(t.Context(), c)
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.InvalidInput || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Preimages go nowhere on networks without public relays unless the caller says
// where; elsewhere the relays are the network's. Prices are there everywhere.
func TestPresetsOfPricesAndMessenger(t *testing.T) {
	store := trial.Must(bolt.Open(t.Context(), t.TempDir()+"/swaps.db", bolt.Options{}))(t)
	defer store.Close()
	for _, n := range []bitcoin.Network{bitcoin.Mainnet, bitcoin.Testnet3, bitcoin.Testnet4, bitcoin.Regtest, bitcoin.Signet} {
		backend := trial.Must(mempoolspace.New(mempoolspace.Options{Network: n, URLs: []string{"http://127.0.0.1:1"}}))(t)
		defer backend.Close()
		c := trial.Must(Config{Network: n, Store: store, Bitcoin: backend, LPs: LPs{URLs: []string{"http://127.0.0.1:1"}}}.fill())(t)
		if public := n != bitcoin.Regtest && n != bitcoin.Signet; c.Prices == nil || (c.Messenger != nil) != public {
			t.Errorf("%s: prices %v, messenger %v", n, c.Prices, c.Messenger)
		}
		if closer, ok := c.Messenger.(io.Closer); ok != (c.Messenger != nil) || ok && closer.Close() != nil {
			t.Errorf("%s: the messenger cannot be closed", n)
		}
	}
}
