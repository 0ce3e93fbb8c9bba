// Command devnet runs the whole swap network in one process, without the internet,
// until it is interrupted: Bitcoin, an EVM chain with the swap contracts, Lightning,
// liquidity providers with real funds and a watchtower. It prints as JSON where everything is,
// and the keys of users who have money. On its control address
//
//	POST /mine?blocks=1            mines Bitcoin blocks
//	POST /advance?seconds=3600     moves every clock
//	POST /relay                    brings the chain's Bitcoin relay to the tip
//	POST /pay?invoice=lnbcrt...    pays from the user's Lightning wallet
//	POST /invoice?sats=1000        makes an invoice of the Lightning recipient
//	POST /fund?address=...&sats=   pays bitcoin to an address
//	POST /voucher                  makes the LNURL-withdraw link good for one more payment
//	POST /reorg?blocks=1           replaces Bitcoin blocks by empty ones
//	POST /misbehave?lp=0&faults=   makes an LP misbehave: names like NeverPay,Withhold; none: it is honest again.
//	                               field=data.total&value=1&on=/tobtc/ lies in a field of the answers of some calls
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/evm"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	lps := flag.Int("lps", 1, "how many liquidity providers")
	mine := flag.Duration("mine", 0, "mine a Bitcoin block this often; 0: only when asked to")
	control := flag.String("control", "127.0.0.1:0", "address of the control calls")
	flag.Parse()
	if err := run(ctx, os.Stdout, *lps, *mine, *control); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// l1FeeRate makes blocks look like Citrea's, which clients of that chain rely on.
const l1FeeRate = 1_000_000 // wei per byte of state difference

func run(ctx context.Context, out io.Writer, lps int, mine time.Duration, control string) (err error) {
	n, err := devnet.Start(ctx, devnet.Options{LPs: lps, Watchtower: true, EVM: func(o *evm.Options) { o.L1FeeRate = l1FeeRate }})
	if err != nil {
		return err
	}
	defer n.Close()
	listener, err := net.Listen("tcp", control)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: controls(n), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	if err := e.Encode(struct {
		devnet.Description
		Control string `json:"control"`
	}{n.Describe(), "http://" + listener.Addr().String()}); err != nil {
		return err
	}
	var tick <-chan time.Time
	if mine > 0 {
		ticker := time.NewTicker(mine)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			if err := server.Close(); err != nil {
				return err
			}
			<-served
			return nil
		case err := <-served:
			return err
		case <-tick:
			if err := n.Mine(1); err != nil {
				return err
			}
		}
	}
}
