package mempoolspace_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/internal/btc/single"
)

// Ask the public servers of testnet4 about a transaction.
func Example() {
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Testnet4})
	if err != nil {
		log.Fatal(err)
	}
	defer backend.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	id, err := bitcoin.ParseHash("7b5cf3a0dd2c8f3cbbf6a4a3ee3c8cb9a1e1cbd3a4b55e0e3e5ee4b6b8a5f001")
	if err != nil {
		log.Fatal(err)
	}
	switch tx, err := single.Tx(ctx, backend, id); {
	case errors.Is(err, bitcoin.ErrNotFound):
		fmt.Println("never seen, or replaced")
	case err != nil:
		log.Fatal(err) // says what each server did
	default:
		fmt.Println(tx.Confirmations, "confirmations")
	}
}
