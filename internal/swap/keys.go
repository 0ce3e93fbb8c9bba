package swap

import (
	"encoding/hex"
	"slices"

	"github.com/swapper-go/swapper/internal/bounds"
)

// Index names, and what their values are.
const (
	BySigner  = "signer"  // chain and canonical signer; by creation
	ByPending = "pending" // the same, while the state is in the list of pending swaps
	ByWatch   = "watch"   // shard of the id, while the engine looks at the swap; by Due. "" in records of before there were shards
	ByEvent   = "event"   // chain and escrow hash, claim hash or Bitcoin transaction id
	ByPaying  = "paying"  // payment hash of a Lightning destination that may have been paid; unique
	ByHash    = "hash"    // payment hash of a Lightning source that is not finished, or settled, or the LP's identifier of a trusted gas swap; unique. That of any other Lightning swap that was quoted here, not unique
	ByRequest = "request" // caller and idempotency key of createSwap, hashed; unique
	ByPurge   = "purge"   // "", while the quote is expired; by Ended
	ByChange  = "change"  // "", and again chain and canonical signer; by Changed
)

// Key is one entry of an index: it is found by Index and Value, sorted by
// Order. If Unique is set, no other swap may hold the same.
type Key struct {
	Index  string
	Value  string
	Order  int64
	Unique bool
}

// SignerValue is the value of the signer index.
func SignerValue(chain, signer string) string { return chain + "\x00" + signer }

// EventValue is the value of the event index.
func EventValue(chain string, hash []byte) string { return chain + "\x00" + hex.EncodeToString(hash) }

// gasValue is the value of the hash index of a trusted gas swap from Bitcoin.
func gasValue(hash string) string { return "gas\x00" + hash }

// idleValue is the value of the hash index of a Lightning swap whose payment hash another
// one may use: its key is not unique.
func idleValue(hash string) string { return "idle\x00" + hash }

// Keys returns the index keys of the record in a state. Those listed in r.Shared
// are not unique, because another swap holds them.
func (r *Record) Keys(row StateRow) []Key {
	created := int64(r.CreatedAt)
	var ks []Key
	if !row.Hidden {
		ks = append(ks, Key{Index: BySigner, Value: SignerValue(r.Chain, r.Signer), Order: created})
	} else {
		ks = append(ks, Key{Index: ByPurge, Order: int64(r.Ended)})
	}
	if row.Pending && !row.Finished {
		ks = append(ks, Key{Index: ByPending, Value: SignerValue(r.Chain, r.Signer), Order: created})
	}
	if row.Watched && !r.Settled {
		ks = append(ks, Key{Index: ByWatch, Value: bounds.ShardText(bounds.Shard(r.ID)), Order: int64(r.Due)})
	}
	if r.Changed != 0 {
		ks = append(ks, Key{Index: ByChange, Order: int64(r.Changed)}, Key{Index: ByChange, Value: SignerValue(r.Chain, r.Signer), Order: int64(r.Changed)})
	}
	if hash, unique := r.EventHash(); hash != nil {
		ks = append(ks, Key{Index: ByEvent, Value: EventValue(r.Chain, hash), Order: created, Unique: unique})
	}
	if r.Lightning != nil && r.Lightning.Hash != "" {
		switch r.Type {
		case ToBTCLN:
			if r.mayHavePaid() {
				ks = append(ks, Key{Index: ByPaying, Value: r.Lightning.Hash, Unique: true})
			} else if r.Quoted {
				ks = append(ks, Key{Index: ByHash, Value: idleValue(r.Lightning.Hash)})
			}
		case FromBTCLN, FromBTCLNAuto, TrustedFromBTCLN:
			if !row.Finished || row.Success { // whose preimage is public cannot be used again
				ks = append(ks, Key{Index: ByHash, Value: r.Lightning.Hash, Unique: true})
			} else if r.Quoted {
				ks = append(ks, Key{Index: ByHash, Value: idleValue(r.Lightning.Hash)})
			}
		}
	}
	if r.Gas != nil && r.Gas.Hash != "" { // an LP that uses one twice may mix up who paid
		ks = append(ks, Key{Index: ByHash, Value: gasValue(r.Gas.Hash), Unique: true})
	}
	if r.Request != "" {
		ks = append(ks, Key{Index: ByRequest, Value: r.Request, Unique: true})
	}
	for i := range ks {
		ks[i].Unique = ks[i].Unique && !slices.Contains(r.Shared, ks[i].Index)
	}
	return ks
}

// EventHash returns the hash by which chain events identify the swap (an escrow
// hash, a claim hash or a Bitcoin transaction id), or nil if there is none yet, and
// whether no other swap can have the same.
func (r *Record) EventHash() (hash []byte, unique bool) {
	switch {
	case r.Vault != nil:
		if r.Bitcoin != nil && !isZero(r.Bitcoin.TxID) {
			return r.Bitcoin.TxID[:], true
		}
	case r.Escrow == nil:
	case r.Escrow.Real != nil:
		return r.Escrow.Real.Hash, true
	case r.Type == FromBTCLNAuto && r.Escrow.Expected != nil:
		return r.Escrow.Expected.ClaimHash, false
	}
	return nil, false
}

// mayHavePaid reports whether the user's money may be on its way through this
// swap: from the submission on, unless it was refunded. A transaction that our nodes
// have forgotten may still be known to others until it is too late to mine it.
func (r *Record) mayHavePaid() bool {
	if r.Escrow == nil || r.Escrow.RefundTx != "" {
		return false
	}
	if r.Escrow.InitTx != "" || r.Submission.Open() {
		return true
	}
	s := r.Submission
	return s != nil && (s.Reason == "" || s.Missing != 0 && r.State != OutExpired)
}

func isZero(h [32]byte) bool { return h == [32]byte{} }
