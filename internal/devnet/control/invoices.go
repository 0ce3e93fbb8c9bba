package control

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
)

// preimages are those of held invoices that were made here, by hash.
type preimages struct {
	mu  sync.Mutex
	all map[[32]byte][32]byte
}

// msatOf reads an amount in sats, "" for none.
func msatOf(sats string) (int64, error) {
	if sats == "" {
		return 0, nil
	}
	v, err := number(sats, 1, 10_000_000)
	if err != nil {
		return 0, fmt.Errorf("sats: %w", err)
	}
	return v * 1000, nil
}

// onPayments adds the calls about the user's Lightning wallet.
func onPayments(n *devnet.Net, on handle) {
	on("POST /pay", func(_ context.Context, q func(string) string) (any, error) {
		msat, err := msatOf(q("sats"))
		if err != nil {
			return nil, err
		}
		return map[string]any{"state": "sent"}, n.Payer.Start(q("invoice"), lightning.Limits{AmountMsat: msat})
	})
}

// onRecipient adds the calls about the invoices of the Lightning recipient.
func onRecipient(n *devnet.Net, on handle) {
	held := &preimages{all: map[[32]byte][32]byte{}}
	on("POST /invoice", func(_ context.Context, q func(string) string) (any, error) {
		msat, err := msatOf(q("sats"))
		if err != nil {
			return nil, err
		}
		o := lightning.InvoiceOptions{AmountMsat: msat, Description: "local network"}
		var preimage [32]byte
		if _, err := rand.Read(preimage[:]); err != nil {
			return nil, err
		}
		hash := sha256.Sum256(preimage[:])
		switch {
		case q("hash") != "":
			if hash, err = bytes32(q("hash")); err != nil {
				return nil, fmt.Errorf("hash: %w", err)
			}
			o.Hash = hash
		case q("hold") != "" && q("hold") != "0" && q("hold") != "false":
			o.Hash = hash
			held.mu.Lock()
			held.all[hash] = preimage
			held.mu.Unlock()
		default:
			o.Preimage = preimage
		}
		text, err := n.Recipient.NewInvoice(o)
		return map[string]any{"invoice": text, "paymentHash": hex.EncodeToString(hash[:])}, err
	})
	on("GET /invoice", func(_ context.Context, q func(string) string) (any, error) {
		hash, err := bytes32(q("hash"))
		if err != nil {
			return nil, fmt.Errorf("hash: %w", err)
		}
		state, ok := n.Recipient.Invoice(hash)
		if !ok {
			return nil, errors.New("hash: the recipient has no such invoice")
		}
		return map[string]any{"state": state.String(), "expired": n.Recipient.Expired(hash)}, nil
	})
	on("POST /settle", func(_ context.Context, q func(string) string) (any, error) {
		if q("preimage") != "" {
			preimage, err := bytes32(q("preimage"))
			if err != nil {
				return nil, fmt.Errorf("preimage: %w", err)
			}
			return map[string]any{"state": "settled"}, n.Recipient.Settle(preimage)
		}
		hash, err := bytes32(q("hash"))
		if err != nil {
			return nil, fmt.Errorf("hash: %w", err)
		}
		held.mu.Lock()
		preimage, ok := held.all[hash]
		held.mu.Unlock()
		if !ok {
			return nil, errors.New("hash: no held invoice was made with a preimage of the network's")
		}
		return map[string]any{"state": "settled"}, n.Recipient.Settle(preimage)
	})
	on("POST /cancel", func(_ context.Context, q func(string) string) (any, error) {
		hash, err := bytes32(q("hash"))
		if err != nil {
			return nil, fmt.Errorf("hash: %w", err)
		}
		return map[string]any{"state": "canceled"}, n.Recipient.Cancel(hash)
	})
}

func bytes32(text string) (out [32]byte, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(out) {
		return out, errors.New("must have 64 hexadecimal digits")
	}
	return [32]byte(b), nil
}
