package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
)

// controls are the calls that move the network.
func controls(n *devnet.Net) http.Handler {
	mux := http.NewServeMux()
	on := func(path string, do func(ctx context.Context, q func(string) string) (any, error)) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
			defer cancel()
			answer, err := do(ctx, r.URL.Query().Get)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer) // or the caller is gone
		})
	}
	number := func(text string, least, most int64) (int64, error) {
		v, err := strconv.ParseInt(text, 10, 64)
		if err == nil && (v < least || v > most) {
			err = fmt.Errorf("%d is not in %d to %d", v, least, most)
		}
		return v, err
	}
	on("/mine", func(_ context.Context, q func(string) string) (any, error) {
		blocks, err := number(q("blocks"), 1, 1000)
		if err == nil {
			err = n.Mine(int(blocks))
		}
		height, _ := n.Bitcoin.Tip()
		return map[string]any{"height": height}, err
	})
	on("/advance", func(_ context.Context, q func(string) string) (any, error) {
		seconds, err := number(q("seconds"), 1, 365*86400)
		if err == nil {
			err = n.Advance(time.Duration(seconds) * time.Second)
		}
		return map[string]any{"time": n.Clock.Now().Unix()}, err
	})
	on("/relay", func(ctx context.Context, _ func(string) string) (any, error) {
		if err := n.EVM.SyncRelay(ctx); err != nil {
			return nil, err
		}
		height, err := n.EVM.RelayHeight(ctx)
		return map[string]any{"height": height}, err
	})
	on("/pay", func(_ context.Context, q func(string) string) (any, error) {
		return map[string]any{"state": "sent"}, n.Payer.Start(q("invoice"), lightning.Limits{})
	})
	on("/invoice", func(_ context.Context, q func(string) string) (any, error) {
		sats, err := number(q("sats"), 1, 10_000_000)
		if err != nil {
			return nil, err
		}
		preimage, hash := lightning.Preimage(n.Clock.Now().String())
		text, err := n.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: sats * 1000, Description: "local network"})
		return map[string]any{"invoice": text, "paymentHash": hex.EncodeToString(hash[:])}, err
	})
	on("/voucher", func(context.Context, func(string) string) (any, error) {
		links, err := n.RenewVoucher()
		return map[string]any{"withdraw": links.LNURL}, err
	})
	on("/reorg", func(_ context.Context, q func(string) string) (any, error) {
		blocks, err := number(q("blocks"), 1, 100)
		if err == nil {
			err = n.Bitcoin.Reorg(int(blocks))
		}
		height, _ := n.Bitcoin.Tip()
		return map[string]any{"height": height}, err
	})
	on("/misbehave", func(_ context.Context, q func(string) string) (any, error) {
		i, err := number(q("lp"), 0, int64(len(n.LPs)-1))
		if err != nil {
			return nil, err
		}
		f, err := lp.ParseFault(q("faults"))
		if err != nil {
			return nil, err
		}
		if field := q("field"); field != "" {
			f.Answer = lp.LieText(q("on"), field, q("value"))
		}
		f.On = q("on")
		n.LPs[i].Misbehave(f)
		return map[string]any{"lp": n.LPs[i].URL()}, nil
	})
	on("/fund", func(_ context.Context, q func(string) string) (any, error) {
		sats, err := number(q("sats"), 1000, 1_000_000_000)
		if err != nil {
			return nil, err
		}
		to, err := bitcoin.ParseAddress(q("address"), n.Bitcoin.Network())
		if err != nil {
			return nil, err
		}
		out, err := n.Bitcoin.Faucet(to, sats)
		return map[string]any{"output": out.String()}, err
	})
	return mux
}
