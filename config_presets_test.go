package swapper

import (
	"io"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/storage/bolt"
)

// Preimages go nowhere on networks without public relays unless the caller says
// where; elsewhere the relays are the network's. Prices are there everywhere.
func TestPresetsOfPricesAndMessenger(t *testing.T) {
	store, err := bolt.Open(t.Context(), t.TempDir()+"/swaps.db", bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, n := range []bitcoin.Network{bitcoin.Mainnet, bitcoin.Testnet3, bitcoin.Testnet4, bitcoin.Regtest, bitcoin.Signet} {
		backend, err := mempoolspace.New(mempoolspace.Options{Network: n, URLs: []string{"http://127.0.0.1:1"}})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		c, err := Config{Network: n, Store: store, Bitcoin: backend, LPs: LPs{URLs: []string{"http://127.0.0.1:1"}}}.fill()
		if err != nil {
			t.Fatal(err)
		}
		if public := n != bitcoin.Regtest && n != bitcoin.Signet; c.Prices == nil || (c.Messenger != nil) != public {
			t.Errorf("%s: prices %v, messenger %v", n, c.Prices, c.Messenger)
		}
		if closer, ok := c.Messenger.(io.Closer); ok != (c.Messenger != nil) || ok && closer.Close() != nil {
			t.Errorf("%s: the messenger cannot be closed", n)
		}
	}
}
