package watchtower

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/storage"
)

// vaults are those of one set of contracts. What finds them again is kept as a note.
type vaults struct {
	Next uint64         `json:"next"` // height up to which openings have been searched
	All  []*othersVault `json:"all"`  // the next one to be looked at first

	version uint64 // of the note
	kept    uint64 // Next in it
}

// othersVault is a vault that somebody has opened.
type othersVault struct {
	Owner string   `json:"owner"`
	ID    *big.Int `json:"id"`
	From  uint64   `json:"from"` // lowest height at which its next withdrawal can have been fronted
}

const (
	maxVaults = 4096   // that are known, of a set of contracts: a vault costs its opening
	keepEvery = 10_000 // blocks that are searched before this is kept
)

// discover looks for withdrawals of others from some of the vaults, and for payments to escrows of others.
func (c *claimer) discover(ctx context.Context) (failed error) {
	if c.pressed() || c.now().Before(c.next) && c.next.Sub(c.now()) <= 12*c.config.Every {
		return nil
	}
	c.next = c.now().Add(12 * c.config.Every)
	clear(c.costs)
	for _, v := range c.info.Versions {
		k, _ := c.chain.Contract(v.Name)
		if list, ok := k.(chains.VaultList); ok && c.config.Vaults {
			failed = errors.Join(failed, c.discoverOf(ctx, list))
		}
	}
	if from, ok := c.config.Bitcoin.(bitcoin.BlockReader); ok && c.config.Payments {
		failed = errors.Join(failed, c.findPayments(ctx, from))
	}
	return failed
}

func (c *claimer) discoverOf(ctx context.Context, k chains.VaultList) error {
	of, err := c.opened(ctx, k)
	if err != nil {
		return fmt.Errorf("vaults that were opened: %w", err)
	}
	n := min(len(of.All), perLook)
	some := of.All[:n]
	if n == 0 {
		return nil
	}
	ids := make([]chains.VaultID, n)
	for i, v := range some {
		ids[i] = chains.VaultID{Owner: v.Owner, ID: v.ID}
	}
	facts, err := k.Vaults(ctx, ids) // all nodes are asked
	if err != nil {
		return err
	}
	var failed error
	left := append([]*othersVault(nil), of.All[n:]...)
	for i, v := range some {
		if at := facts[i].Vault; facts[i].Err == nil && (!at.Open || !at.OurRelay || !c.worthy(at)) {
			continue // an opening is told of again
		}
		left = append(left, v)
		if facts[i].Err == nil {
			failed = errors.Join(failed, c.spent(ctx, k, v, facts[i]))
		}
	}
	of.All = left
	return failed
}

// worthy reports whether shares of a vault can have a known worth.
func (c *claimer) worthy(v chains.Vault) bool {
	_, known := c.token(v.Tokens[0])
	return known
}

// opened returns the vaults of a set of contracts, with those opened meanwhile.
func (c *claimer) opened(ctx context.Context, k chains.VaultList) (*vaults, error) {
	name := index + "/" + c.id + "/vaults/" + k.Version()
	of := c.known[k.Version()]
	if of == nil {
		text, version, err := c.config.Store.Note(ctx, name)
		if err != nil {
			return nil, err
		}
		of = &vaults{version: version}
		if len(text) > 0 {
			if err := json.Unmarshal(text, of); err != nil {
				return nil, err
			}
		}
		of.kept = of.Next
		c.known[k.Version()] = of
	}
	found, next, err := k.OpenedVaults(ctx, of.Next)
	if err != nil {
		return nil, err
	}
	for _, v := range found {
		if len(of.All) >= maxVaults {
			c.log.Warn("a vault is not watched: there are too many", "owner", v.Owner, "id", v.ID)
			continue
		}
		of.All = append(of.All, &othersVault{v.Owner, v.ID, v.Height})
	}
	of.Next = next
	if len(found) == 0 && next-of.kept < keepEvery {
		return of, nil
	}
	text, err := json.Marshal(of)
	if err == nil {
		err = c.config.Store.SetNote(ctx, name, text, of.version)
	}
	if err != nil {
		delete(c.known, k.Version()) // it is read again
		return nil, err
	}
	of.version, of.kept = of.version+1, next
	return of, nil
}

// spent stores the withdrawal that spends a vault's output, once it can be claimed and pays.
func (c *claimer) spent(ctx context.Context, k chains.VaultList, v *othersVault, f chains.VaultFact) error {
	spend := c.config.Bitcoin.Outspends(ctx, []bitcoin.OutPoint{f.Vault.UTXO})[0]
	switch {
	case spend.Err != nil:
		return fmt.Errorf("what spends a vault: %w", spend.Err)
	case spend.Value.State == bitcoin.Unspent:
		v.From = max(v.From, f.Head.Height)
		return nil
	case spend.Value.State != bitcoin.SpentConfirmed || spend.Value.TxID == (bitcoin.Hash{}):
		return nil
	}
	r := record{Version: k.Version(), Since: c.now().UnixMilli(),
		Withdrawal: &Withdrawal{Chain: c.id, Version: k.Version(), Owner: v.Owner, ID: v.ID, TxID: spend.Value.TxID, From: v.From}}
	r.id = c.recordID(&r, r.Withdrawal.hash())
	if _, err := c.config.Store.Get(ctx, r.id); !errors.Is(err, storage.ErrNotFound) {
		return err // it is known
	}
	o, err := c.withdrawal(ctx, k, &r)
	if err != nil || o.state != open {
		return err
	}
	if _, verdict, err := c.estimate(ctx, k, o, false); err != nil || verdict != claim {
		return err
	}
	_, err = c.adoptForeign(ctx, r, r.Withdrawal.hash())
	return err
}
