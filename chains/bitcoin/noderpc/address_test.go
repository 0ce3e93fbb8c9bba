package noderpc_test

import (
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/noderpc"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

// A history that changes while it is read is read without gaps, or not at all.
func TestAddressHistoryMoves(t *testing.T) {
	t.Parallel()
	const confirmed = 350
	for name, test := range map[string]struct {
		waiting int
		moves   func(asked, waiting int) int // how many wait when it is asked so often
		code    fault.Code
	}{
		"stands still":                {120, func(_, n int) int { return n }, ""},
		"what waits is evicted":       {120, func(asked, n int) int { return max(0, n-20*asked) }, ""},
		"all that waits is gone":      {30, func(asked, n int) int { return n / asked }, ""},
		"more comes":                  {5, func(asked, n int) int { return n + asked }, ""},
		"never stands still":          {80, func(asked, n int) int { return n - asked }, fault.Upstream},
		"more than can be looked at":  {20_001, func(_, n int) int { return n }, fault.Unsupported},
		"as many as fit on one page":  {100, func(_, n int) int { return n }, ""},
		"one more than fit on a page": {101, func(_, n int) int { return n }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, server := newCore(t)
			_, tip := c.net.Tip()
			all := make([]map[string]any, test.waiting+50+confirmed)
			ids := make([]bitcoin.Hash, len(all))
			for i := range all {
				tx := wire.NewMsgTx(2)
				tx.LockTime = uint32(i)
				tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{}, nil, nil))
				tx.AddTxOut(wire.NewTxOut(1000, nil))
				raw := trial.Must(rawtx.Encode(tx))(t)
				all[i], ids[i] = map[string]any{"hex": hex.EncodeToString(raw)}, tx.TxHash()
				if i >= len(all)-confirmed {
					all[i]["blockhash"], all[i]["confirmations"] = tip.String(), 1
				}
			}
			asked := 0
			c.address = func(skip, count int) any {
				asked++
				now := append([]map[string]any{}, all[:test.moves(asked, test.waiting)]...)
				now = append(now, all[len(all)-confirmed:]...)
				return now[min(skip, len(now)):min(skip+count, len(now))]
			}
			b := trial.Must(noderpc.New(noderpc.Options{Network: bitcoin.Regtest, URL: server.URL}))(t)
			defer b.Close()
			a := trial.Must(bitcoin.NewAddress(bitcoin.P2WPKH, make([]byte, 20), bitcoin.Regtest))(t)
			seen := map[bitcoin.Hash]int{}
			for tx, err := range b.Indexed().AddressTxs(t.Context(), a) {
				if err != nil {
					if test.code == "" || fault.CodeOf(err) != test.code {
						t.Fatal(err)
					}
					return
				}
				seen[tx.ID]++
			}
			for _, id := range ids[len(ids)-confirmed:] {
				if seen[id] != 1 {
					t.Fatalf("a confirmed transaction came %d times", seen[id])
				}
			}
			if least := test.moves(asked, test.waiting); test.code != "" || len(seen) < min(least, test.waiting)+confirmed {
				t.Errorf("%d transactions, want %d that waited throughout; %q", len(seen), least, test.code)
			}
		})
	}
}
