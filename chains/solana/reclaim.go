package solana

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Data accounts hold rent of who created them. The claim that they were made for gives
// it back; where somebody else claimed, or the payment was mined again in another
// transaction, they stay. So each is noted when it is handed out, and closed with a later
// claim by Bitcoin proof of the same signer (protocol: chain-solana.md §21.5).

// dataAccount is a data account that was handed out for creation.
type dataAccount struct {
	Account string `json:"account"`
	Signer  string `json:"signer"`
	Version string `json:"version"`
	Since   int64  `json:"since"` // Unix seconds
}

const (
	dataAccountsNote = "data accounts"
	maxDataAccounts  = 4096           // noted; the oldest are forgotten first
	leftAtOnce       = 16             // looked at
	closedAtOnce     = 3              // more are left for the claim after
	leftoverAge      = time.Hour      // a younger one may be of another claim that is under way
	dataAccountAge   = 48 * time.Hour // one that was not created by then never was
)

// leftover is a data account that was handed out for another claim.
type leftover struct {
	wire.Key
	age time.Duration
}

func (c *chain) dataAccounts(ctx context.Context) (all []dataAccount, version uint64, err error) {
	text, version, err := c.env.Notes.Note(ctx, dataAccountsNote)
	if err != nil || len(text) == 0 {
		return nil, version, err
	}
	return all, version, json.Unmarshal(text, &all)
}

// changeDataAccounts changes the note, and tries again where another process was
// faster. That rent is given back later is not worth failing a claim: what goes wrong
// is logged.
func (c *chain) changeDataAccounts(ctx context.Context, change func([]dataAccount) []dataAccount) {
	var err error
	for range 3 {
		var all []dataAccount
		var version uint64
		if all, version, err = c.dataAccounts(ctx); err != nil {
			break
		}
		all = change(all)
		var text []byte
		if text, err = json.Marshal(all[max(0, len(all)-maxDataAccounts):]); err != nil {
			break
		}
		if err = c.env.Notes.SetNote(ctx, dataAccountsNote, text, version); err == nil {
			return
		}
	}
	c.env.Log.Info("data accounts are not noted", "err", err)
}

// addLeftovers asks for the data accounts that the signer has from before.
func (b *building) addLeftovers(ctx context.Context, pr *proof) {
	all, _, err := b.k.chain.dataAccounts(ctx)
	if err != nil {
		b.k.chain.env.Log.Info("data accounts are not looked at", "err", err)
		return
	}
	for _, a := range all {
		key, err := wire.ParseKey(a.Account)
		if err == nil && pr.has(key) {
			pr.noted = append(pr.noted, key)
		}
		if err != nil || a.Signer != b.signer.String() || a.Version != b.k.Version() || len(pr.leftovers) == leftAtOnce || pr.has(key) {
			continue
		}
		b.want(key)
		pr.leftovers = append(pr.leftovers, leftover{key, b.k.chain.env.Now().Sub(time.Unix(a.Since, 0))})
	}
}

// has reports whether a data account is one that the claim itself may use.
func (pr *proof) has(key wire.Key) bool {
	return slices.ContainsFunc(pr.keys, func(k wire.SecretKey) bool { return k.PublicKey() == key })
}

// own are the accounts that the claim itself may use.
func (pr *proof) own() []wire.Key {
	all := make([]wire.Key, len(pr.keys))
	for i, k := range pr.keys {
		all[i] = k.PublicKey()
	}
	return all
}

// owns reports whether a data account is the signer's, and one that the program closes.
func (b *building) owns(key wire.Key) bool {
	_, ok := b.layoutOf(key)
	return ok
}

// closing makes the transactions that give the rent of leftovers back, and of those of
// the claim's own accounts that it does not use. What it uses is noted if it is new. An
// account stays noted until it is seen to be gone: what is handed out may not be signed.
func (b *building) closing(ctx context.Context, pr *proof, used wire.SecretKey, created bool) (txs []*wire.Tx, err error) {
	var keep wire.Key
	if used != nil {
		keep = used.PublicKey()
	}
	var unused, gone []wire.Key
	for _, l := range pr.leftovers {
		switch owns := b.owns(l.Key); {
		case owns && l.age > leftoverAge:
			unused = append(unused, l.Key)
		case !owns && l.age > dataAccountAge:
			gone = append(gone, l.Key)
		}
	}
	for _, key := range append(unused, pr.own()...) {
		if key == keep || len(txs) == closedAtOnce || !b.owns(key) {
			continue
		}
		tx, err := b.k.CloseDataTx(b.signer, key, b.rate)
		if err != nil {
			return nil, err
		}
		txs = append(txs, tx)
	}
	if created = created && !slices.Contains(pr.noted, keep); created || len(gone) > 0 {
		b.k.chain.changeDataAccounts(ctx, func(all []dataAccount) []dataAccount {
			all = slices.DeleteFunc(all, func(a dataAccount) bool {
				return slices.ContainsFunc(gone, func(k wire.Key) bool { return k.String() == a.Account })
			})
			if created {
				all = append(all, dataAccount{keep.String(), b.signer.String(), b.k.Version(), b.k.chain.env.Now().Unix()})
			}
			return all
		})
	}
	return txs, nil
}
