// Package control moves the local network by HTTP calls, for programs that are not
// in its process. calls.txt lists the calls; GET / answers with it.
//
// [Wallet] is a user of the local network: keys on every side, and the
// patience to do what a swap asks for until it has ended. It speaks to the
// operations alone, as any wallet backend's front end would, so it works through
// the library and through HTTP alike. Keys never leave it.
package control

import (
	"context"
	_ "embed" // calls.txt
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
)

// do carries a call out: q returns a parameter of the call by its name, "" if it is not given.
type do = func(ctx context.Context, q func(string) string) (any, error)

// handle adds a call: its method and path, and what carries it out.
type handle func(path string, do do)

// calls says what each call does.
//
//go:embed calls.txt
var calls string

// Handler serves the calls.
func Handler(n *devnet.Net) http.Handler {
	mux := http.NewServeMux()
	serve := func(path string, do func(context.Context, *http.Request) (any, error)) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
			defer cancel()
			answer, err := do(ctx, r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer) // or the caller is gone
		})
	}
	var on handle = func(path string, do do) {
		serve(path, func(ctx context.Context, r *http.Request) (any, error) { return do(ctx, r.URL.Query().Get) })
	}
	user := WalletOf(n)
	serve("POST /sign", func(_ context.Context, r *http.Request) (any, error) { return sign(&user, r.Body) })
	onClock(n, on)
	onBitcoin(n, on)
	onParties(n, on)
	onRecipient(n, on)
	onPayments(n, on)
	onEVM(n, on)
	if n.Solana != nil {
		onSolana(n, on)
	}
	if n.Starknet != nil {
		onStarknet(n, on)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, "%s is not a call of this network, or not by %s.\n\n", r.URL.Path, r.Method)
		}
		fmt.Fprint(w, calls)
	})
	return mux
}

// number reads an integer within bounds.
func number(text string, least, most int64) (int64, error) {
	v, err := strconv.ParseInt(text, 10, 64)
	if err == nil && (v < least || v > most) {
		err = fmt.Errorf("%d is not in %d to %d", v, least, most)
	}
	return v, err
}

// onClock adds the calls about the time.
func onClock(n *devnet.Net, on handle) {
	on("POST /advance", func(_ context.Context, q func(string) string) (any, error) {
		seconds, err := number(q("seconds"), 1, 365*86400)
		if err == nil {
			err = n.Advance(time.Duration(seconds) * time.Second)
		}
		return map[string]any{"time": n.Clock.Now().Unix()}, err
	})
	on("GET /clock", func(ctx context.Context, q func(string) string) (any, error) {
		ahead := n.Clock.Ahead()
		if q("ahead") != "" {
			known, err := number(q("ahead"), 0, 1<<50)
			if err != nil {
				return nil, err
			}
			ctx, cancel := context.WithTimeout(ctx, 25*time.Second)
			defer cancel()
			ahead = n.Clock.Moved(ctx, time.Duration(known)*time.Millisecond)
		}
		return map[string]any{"unixMs": n.Clock.Now().UnixMilli(), "ahead": ahead.Milliseconds()}, nil
	})
}

// onBitcoin adds the calls about Bitcoin and the relays that follow it.
func onBitcoin(n *devnet.Net, on handle) {
	on("POST /mine", func(_ context.Context, q func(string) string) (any, error) {
		blocks, err := number(q("blocks"), 1, 1000)
		if err == nil {
			err = n.Mine(int(blocks))
		}
		height, _ := n.Bitcoin.Tip()
		return map[string]any{"height": height}, err
	})
	on("POST /reorg", func(_ context.Context, q func(string) string) (any, error) {
		blocks, err := number(q("blocks"), 1, 100)
		if err == nil {
			err = n.Bitcoin.Reorg(int(blocks))
		}
		height, _ := n.Bitcoin.Tip()
		return map[string]any{"height": height}, err
	})
	on("POST /relay", func(ctx context.Context, _ func(string) string) (any, error) {
		if err := n.SyncRelays(ctx); err != nil {
			return nil, err
		}
		height, err := n.EVM.RelayHeight(ctx)
		return map[string]any{"height": height}, err
	})
	on("POST /fees", func(_ context.Context, q func(string) string) (any, error) {
		rate, err := number(q("satvb"), 1, 5000)
		if err != nil {
			return nil, fmt.Errorf("satvb: %w", err)
		}
		own := rate
		if q("lps") != "" {
			if own, err = number(q("lps"), 1, 5000); err != nil {
				return nil, fmt.Errorf("lps: %w", err)
			}
		}
		n.Bitcoin.SetFees(bitcoin.Fees{Fastest: float64(rate), HalfHour: float64(rate), Hour: float64(rate), Economy: float64(rate), Minimum: 1})
		for _, l := range n.LPs {
			l.SetFeeRate(float64(own))
		}
		return map[string]any{"satvb": rate, "lps": own}, nil
	})
	on("POST /fund", func(_ context.Context, q func(string) string) (any, error) {
		sats, err := number(q("sats"), 1000, 1_000_000_000)
		if err != nil {
			return nil, err
		}
		to, err := btc.ParseAddress(q("address"), n.Bitcoin.Network())
		if err != nil {
			return nil, err
		}
		out, err := n.Bitcoin.Faucet(to, sats)
		return map[string]any{"output": out.String()}, err
	})
}

// onParties adds the calls about the others: LPs, the watchtower, and the LNURL service.
func onParties(n *devnet.Net, on handle) {
	on("POST /watchtower", func(_ context.Context, q func(string) string) (any, error) {
		claims, err := strconv.ParseBool(q("on"))
		if err != nil {
			return nil, fmt.Errorf("on: must be true or false")
		}
		deaf, _ := strconv.ParseBool(q("deaf"))
		if n.Tower == nil {
			return nil, fmt.Errorf("the network has no watchtower")
		}
		n.Tower.Behave(watchtower.Behaviour{NoEscrows: !claims, NoVaults: !claims, NoProofs: !claims, Deaf: deaf})
		return map[string]any{"on": claims, "deaf": deaf}, nil
	})
	on("POST /voucher", func(context.Context, func(string) string) (any, error) {
		links, err := n.RenewVoucher()
		return map[string]any{"withdraw": links.LNURL}, err
	})
	on("POST /misbehave", func(_ context.Context, q func(string) string) (any, error) {
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
}
