package main

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/swappertest"
)

// user is the local network's user, whose keys and wallets the page may use.
type user struct {
	network *swappertest.Network
	swaps   swapper.Service
}

func (u *user) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /user", u.who)
	mux.HandleFunc("GET /balance", u.balance)
	mux.HandleFunc("POST /invoice", u.invoice)
	mux.HandleFunc("POST /pay", u.pay)
	mux.HandleFunc("POST /sign", u.sign)
	mux.HandleFunc("POST /mine", u.mine)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Another page that the browser shows must not move this user's money.
		if origin := r.Header.Get("Sec-Fetch-Site"); origin != "" && origin != "same-origin" && origin != "none" {
			http.Error(w, "only the wallet's own page may ask this", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
		mux.ServeHTTP(w, r)
	})
}

// who answers with the user's addresses, by chain, the key that Bitcoin transactions are funded for, and
// the Lightning address of a shop that can be paid.
func (u *user) who(w http.ResponseWriter, r *http.Request) {
	me := u.network.User
	addresses := make(map[string]string)
	for _, chain := range []string{"BITCOIN", "CITREA", "SOLANA", "STARKNET"} {
		addresses[chain] = me.Address(chain)
	}
	answer(w, map[string]any{"addresses": addresses, "bitcoinPublicKey": me.BitcoinPublicKey(), "shop": u.network.LightningAddress()})
}

// balance answers with the user's balance of a token in base units. getSpendableBalance knows
// what can be swapped of it, but no balance on Lightning.
func (u *user) balance(w http.ResponseWriter, r *http.Request) {
	raw, err := u.network.User.Balance(r.Context(), r.URL.Query().Get("token"))
	if err != nil {
		httpapi.WriteError(w, r, nil, fault.Invalid("token", "%w", err))
		return
	}
	answer(w, map[string]string{"rawAmount": raw.String()})
}

// invoice makes an invoice of somebody else, to be paid by a swap.
func (u *user) invoice(w http.ResponseWriter, r *http.Request) {
	var in struct{ Sats int64 }
	if err := read(r, &in); err != nil || in.Sats <= 0 || in.Sats > 1_000_000_000 {
		httpapi.WriteError(w, r, nil, fault.Invalid("sats", "must be a number of sats above 0"))
		return
	}
	answer(w, map[string]string{"invoice": u.network.Invoice(in.Sats)})
}

// pay pays an invoice from the user's Lightning wallet.
func (u *user) pay(w http.ResponseWriter, r *http.Request) {
	var in struct{ Invoice string }
	err := read(r, &in)
	if err == nil {
		err = u.network.Pay(in.Invoice)
	}
	if err != nil {
		httpapi.WriteError(w, r, nil, fault.New(fault.InvalidInput, "%w", err))
		return
	}
	answer(w, struct{}{})
}

// sign signs an action that the page has verified, or what a swap asks for now, and returns
// it for submitTransaction.
func (u *user) sign(w http.ResponseWriter, r *http.Request) {
	var in struct {
		SwapID string
		Action json.RawMessage
	}
	var action swapper.Action
	var signed []string
	err := read(r, &in)
	if err == nil {
		action, err = u.action(r.Context(), in.SwapID, in.Action)
	}
	if err == nil {
		signed, err = u.network.User.Sign(action)
	}
	if err != nil {
		httpapi.WriteError(w, r, nil, err)
		return
	}
	answer(w, map[string][]string{"signedTxs": signed})
}

// action is the given one, or what the swap asks for now if none is given.
func (u *user) action(ctx context.Context, id string, given json.RawMessage) (swapper.Action, error) {
	if given != nil {
		a, err := swapper.UnmarshalAction(given)
		if err != nil {
			return nil, fault.Invalid("action", "%w", err)
		}
		return a, nil
	}
	me := u.network.User
	s, err := u.swaps.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: id, BitcoinAddress: me.Address("BITCOIN"), BitcoinPublicKey: me.BitcoinPublicKey()})
	if err != nil {
		return nil, err
	}
	return s.CurrentAction, nil
}

// mine finds a Bitcoin block.
func (u *user) mine(w http.ResponseWriter, r *http.Request) {
	if err := u.network.Mine(1); err != nil {
		httpapi.WriteError(w, r, nil, err)
		return
	}
	answer(w, struct{}{})
}

func read(r *http.Request, in any) error {
	if err := json.NewDecoder(r.Body).Decode(in); err != nil {
		return fault.New(fault.InvalidInput, "the body must be JSON: %w", err)
	}
	return nil
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // or the reader is gone
}
