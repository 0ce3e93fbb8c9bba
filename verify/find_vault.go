package verify

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	btcvault "github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/storage"
)

// How much the search for a vault can make the wallet's own nodes do.
const (
	searches   = 10 * time.Second // in one status, after which it begins no new part; the next status goes on there
	mostVaults = 1024             // open ones of a contract set
)

// openedVaults are the vaults of a contract set that own nodes have shown, and the height up to
// which they were searched: the note of a wallet whose service does not name vaults.
type openedVaults struct {
	Next uint64
	All  []chains.VaultID
}

// vaultOf is the vault that pays: the one that the service names, or that was verified before,
// or whose output is spent. Whether it pays is asked of the chain.
func (v *verifier) vaultOf(ctx context.Context, o *opened, t terms, k chains.VaultContract, told *swapper.VaultInfo, spent bitcoin.OutPoint) (chains.VaultID, error) {
	if told != nil {
		return v.toldVault(o, t, *told)
	}
	if t.Vault != nil {
		return t.vaultID(), nil
	}
	list, ok := k.(chains.VaultList)
	if !ok {
		return chains.VaultID{}, fault.New(fault.Unsupported, "the service does not say which vault pays, and those of %s cannot be listed, so that the payment cannot be verified", t.Dst.Chain)
	}
	return v.findVault(ctx, o, t.Dst.Chain, list, spent)
}

// findVault searches the vault whose output is spent, or leads to what is spent by withdrawals
// that are under way: first among those that are known, and then among those opened since. One
// node says what was opened: after a search in vain the next one begins at the beginning.
func (v *verifier) findVault(ctx context.Context, o *opened, chain string, k chains.VaultList, spent bitcoin.OutPoint) (chains.VaultID, error) {
	name := "verify/vaults/" + chain + "/" + k.Version()
	text, version, err := v.config.Store.Note(ctx, name)
	if err != nil {
		return chains.VaultID{}, err
	}
	var known openedVaults
	if json.Unmarshal(text, &known) != nil {
		known = openedVaults{} // a note that is empty or broken is made again
	}
	line := []bitcoin.OutPoint{spent}
	open, err := openNow(ctx, k, known.All)
	if err == nil && whose(open, line) == nil {
		line, err = lineage(ctx, o, line)
	}
	if err != nil {
		return chains.VaultID{}, err
	}
	if of := whose(open, line); of != nil {
		return of.VaultID, nil
	}
	more, next, ended, err := v.openedSince(ctx, k, known)
	if err != nil {
		return chains.VaultID{}, err
	}
	newly, err := openNow(ctx, k, more)
	if err != nil {
		return chains.VaultID{}, err
	}
	of := whose(newly, line)
	known = openedVaults{Next: next}
	if ended && of == nil {
		known.Next = 0
	}
	for _, one := range append(open, newly...) {
		known.All = append(known.All, one.VaultID)
	}
	if text, err = json.Marshal(known); err == nil {
		err = v.config.Store.SetNote(ctx, name, text, version)
	}
	switch {
	case err != nil && !errors.Is(err, storage.ErrConflict): // another call has searched as well
		return chains.VaultID{}, err
	case of != nil:
		return of.VaultID, nil
	case ended:
		return chains.VaultID{}, &RefusedError{Reason: reasonChain, Field: fieldPSBT, Said: "a transaction that spends " + spent.String(), True: "one that spends the output of a vault that the wallet's own nodes show"}
	case len(known.All) >= mostVaults:
		return chains.VaultID{}, fault.New(fault.Unsupported, "the service does not say which vault pays, and %s has %d vaults or more, so that the payment cannot be verified", chain, mostVaults)
	}
	return chains.VaultID{}, fault.New(fault.Unsupported, "the service does not say which vault pays, and the wallet's own nodes have searched those of %s up to block %d: ask again, and the search goes on", chain, next)
}

// openedSince searches vaults that were opened since the note was made, up to the end of the
// chain or for as long as a status may take.
func (v *verifier) openedSince(ctx context.Context, k chains.VaultList, known openedVaults) (more []chains.VaultID, next uint64, ended bool, err error) {
	next = known.Next
	for began := v.config.Now(); v.config.Now().Sub(began) < searches && len(known.All)+len(more) < mostVaults; {
		opened, to, err := k.OpenedVaults(ctx, next)
		if err != nil {
			return nil, 0, false, err
		}
		for _, one := range opened {
			if same := func(id chains.VaultID) bool { return id.Owner == one.Owner && id.ID.Cmp(one.ID) == 0 }; !slices.ContainsFunc(known.All, same) && !slices.ContainsFunc(more, same) {
				more = append(more, one.VaultID)
			}
		}
		if to == next {
			return more, next, true, nil
		}
		next = to
	}
	return more, next, false, nil
}

// openNow are those of vaults that are open, and have the relay of the network: others pay nothing.
func openNow(ctx context.Context, k chains.VaultContract, ids []chains.VaultID) (open []chains.Vault, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	facts, err := k.Vaults(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, f := range facts {
		switch {
		case f.Err != nil:
			open = append(open, chains.Vault{VaultID: ids[i]}) // not known today
		case f.Vault.Open && f.Vault.OurRelay:
			open = append(open, f.Vault)
		}
	}
	return open, nil
}

// whose is the vault of which one of the outputs is; nil for none of them.
func whose(open []chains.Vault, line []bitcoin.OutPoint) *chains.Vault {
	if i := slices.IndexFunc(open, func(v chains.Vault) bool { return slices.Contains(line, v.UTXO) }); i >= 0 {
		return &open[i]
	}
	return nil
}

// lineage adds to an output those from which withdrawals that are under way can lead to it.
func lineage(ctx context.Context, o *opened, line []bitcoin.OutPoint) ([]bitcoin.OutPoint, error) {
	for range btcvault.MaxPendingQuoted {
		tx, err := o.reader.BitcoinTx(ctx, line[len(line)-1].Hash)
		if err != nil {
			return nil, err
		}
		if tx == nil || len(tx.Msg.TxIn) == 0 {
			break
		}
		line = append(line, tx.Msg.TxIn[0].PreviousOutPoint)
	}
	return line, nil
}
