package watchtower

import (
	"context"
	"encoding/json"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/claimhash"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/watchtower"
)

// payment is an output of a Bitcoin transaction.
type payment struct {
	id     bitcoin.Hash
	vout   uint32
	sats   int64
	script []byte
}

// searched is how many Bitcoin blocks are searched for a payment. Escrows live for
// hours, but a test mines days of blocks in no time.
const searched = 500

// findPayments hands over the escrows on Solana that wait for a Bitcoin payment and have one.
func (t *Tower) findPayments(ctx context.Context) {
	tick := time.NewTicker(t.options.Every)
	defer tick.Stop()
	var seen [2]string // heads of both chains
	blocks := map[bitcoin.Hash]map[[32]byte]payment{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		_, tip := t.options.Bitcoin.Tip()
		heads := [2]string{t.options.Solana.Head().Hash.String(), tip.String()}
		if heads == seen {
			continue
		}
		seen = heads
		for _, d := range t.waiting() {
			p, ok := t.payment(blocks, *d.TxoHash)
			if !ok {
				continue
			}
			escrow, err := json.Marshal(d)
			if err == nil {
				err = t.tower.Prove(ctx, watchtower.Payment{Chain: "SOLANA", Escrow: escrow, TxID: p.id, Vout: p.vout,
					Condition: chains.Condition{Kind: d.Kind, Script: p.script, Sats: uint64(p.sats), Nonce: d.Nonce, Confirmations: d.Confirmations}})
			}
			if err != nil {
				t.options.Log.Warn("an escrow that waits for a payment is left", "err", err)
			}
		}
	}
}

// waiting reads the program's history for escrows that wait for a Bitcoin payment and
// offer something to whoever proves it.
func (t *Tower) waiting() (all []*wire.SwapData) {
	t.options.Solana.Bank().Read(bank.Confirmed, 0, func(v *bank.View) {
		known := map[[32]byte]bool{} // or over
		for tx := range v.History(t.options.Programs.Swap) {
			if tx.Err != nil {
				continue
			}
			events, _ := t.options.Programs.Events(tx.Logs)
			for i := len(events) - 1; i >= 0; i-- {
				hash := events[i].EscrowHash()
				if d, ok := t.opened(tx, events[i]); ok && !known[hash] {
					all = append(all, d)
				}
				known[hash] = true
			}
		}
	})
	return all
}

// opened returns the escrow that an event tells of, if it is worth watching.
func (t *Tower) opened(tx *bank.Executed, e wire.Event) (*wire.SwapData, bool) {
	if e.Kind != wire.Initialized || e.Escrow != chains.Onchain || e.TxoHash == [32]byte{} {
		return nil, false
	}
	_, instructions, err := wire.Decompile(&tx.Message)
	if err != nil {
		return nil, false
	}
	for _, ix := range instructions {
		d, ok, err := t.options.Programs.OpenedData(ix, &e)
		if err == nil && ok && d.EscrowHash() == e.EscrowHash() {
			return d, d.ClaimerBounty > 0 && d.TxoHash != nil
		}
	}
	return nil, false
}

// payment finds an output in the newest Bitcoin blocks. What each block pays is kept.
func (t *Tower) payment(blocks map[bitcoin.Hash]map[[32]byte]payment, output [32]byte) (payment, bool) {
	tip, _ := t.options.Bitcoin.Tip()
	for height := tip; height > 0 && height+searched > tip; height-- {
		header, err := t.options.Bitcoin.Header(height)
		if err != nil {
			return payment{}, false
		}
		hash := header.Hash()
		pays, known := blocks[hash]
		if block, _, ok := t.options.Bitcoin.Block(hash); ok && !known {
			pays = map[[32]byte]payment{}
			for _, tx := range block.Transactions {
				for vout, out := range tx.TxOut {
					pays[claimhash.TxoHash(out.Value, out.PkScript)] = payment{tx.TxHash(), uint32(vout), out.Value, out.PkScript}
				}
			}
			blocks[hash] = pays
		}
		if p, ok := pays[output]; ok {
			return p, true
		}
	}
	return payment{}, false
}
