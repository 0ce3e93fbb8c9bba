package read

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// reader connects to a node that knows the transactions of a vector.
func (s *stub) reader(version string, now time.Time) *Reader {
	s.clock.Unix = now.Unix()
	return New(programs(s.t, version), s.ledger(now))
}

func (s *stub) addAll(txs map[string]txJSON) {
	for id, tx := range txs {
		s.add(id, tx)
	}
}

type statusCase struct {
	Fn, Version, Signer string
	Now                 int64
	Swap                json.RawMessage
	EscrowAccount       *string
	Signatures          []sigJSON
	Transactions        map[string]txJSON
	StartBlockheight    *uint64
}

// What a client makes of a node's accounts and histories: the state of an escrow with
// the transactions that led to it, and that of a payment hash.
func TestVectorsStatus(t *testing.T) {
	vectors.Each(t, "chain-solana", "status", func(t *testing.T, c *vectors.Case) {
		var in statusCase
		c.Input(t, &in)
		s, now := newStub(t), time.UnixMilli(in.Now)
		s.addAll(in.Transactions)
		r := s.reader(in.Version, now)
		if in.Fn == "history" {
			vectorHistory(t, c, s, r, in)
			return
		}
		d := trial.Must(wire.ParseSwapData(in.Swap))(t)
		at := r.Programs.Escrow(d.PaymentHash)
		s.history[at] = in.Signatures
		if in.EscrowAccount != nil {
			s.accounts[at] = wire.AccountReply{Owner: r.Programs.Swap, Lamports: 1, Data: vectors.Unhex(t, *in.EscrowAccount)}
		}
		e := trial.Must(d.Escrow())(t)
		facts := trial.Must(r.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: &e}, {ClaimHash: e.ClaimHash, Offerer: e.Offerer, Claimer: e.Claimer}}))(t)
		if strings.HasPrefix(c.Name, "events with another sequence") {
			// Both are read at one commitment here: what was opened is there, or it ended.
			c.Differ(t, "sol-opened-without-account")
			if !errors.Is(facts[0].Err, errContradiction) || facts[0].State != chains.EscrowNone {
				t.Errorf("%v, %v", facts[0].State, facts[0].Err)
			}
			return
		}
		if facts[0].Err != nil || facts[1].Err != nil {
			t.Fatal(facts[0].Err, facts[1].Err)
		}
		var want struct {
			Status struct {
				TypeName                                                 string
				GetInitTxID, GetClaimTxID, GetRefundTxID, GetClaimResult string
				GetTxBlock                                               struct {
					BlockHeight uint64
					BlockTime   int64
				}
			}
			IsCommited *bool
		}
		c.Expected(t, &want)
		f, who := facts[0], key(t, in.Signer)
		if f.State == chains.EscrowNone {
			f.InitTx = "" // of which the reference says nothing then
		}
		occupied := in.EscrowAccount != nil && f.State != chains.EscrowOpen
		same(t, "state", want.Status.TypeName, stateName(d, who, f, occupied, now))
		same(t, "transactions", [4]string{want.Status.GetInitTxID, want.Status.GetClaimTxID, want.Status.GetRefundTxID, want.Status.GetClaimResult},
			[4]string{f.InitTx, f.ClaimTx, f.RefundTx, hex.EncodeToString(f.Result)})
		if want.Status.GetTxBlock.BlockHeight != 0 {
			same(t, "block", chains.Block{Height: want.Status.GetTxBlock.BlockHeight, Time: want.Status.GetTxBlock.BlockTime}, f.Finished)
		}
		if want.IsCommited != nil {
			same(t, "committed", *want.IsCommited, f.State == chains.EscrowOpen)
		}
		if f.State != chains.EscrowNone && !f.Final {
			t.Error("what the finalized state shows is not final")
		}
		same(t, "head", chains.Block{Height: s.clock.Slot, Hash: wire.Key{7}.String(), Time: now.Unix()}, f.Head)
		// These transactions do not tell their calls: only an escrow that is there is found
		// by its claim hash, be it another one of the same parties.
		found := facts[1]
		if same(t, "found by claim hash", in.EscrowAccount != nil, found.Escrow != nil); found.Escrow != nil {
			same(t, "found", chains.EscrowOpen, found.State)
			same(t, "found the same", !occupied, bytes.Equal(found.Escrow.Hash, e.Hash))
		}
	})
}

// stateName is the reference's status, which follows from the state, the clock and the side.
func stateName(d *wire.SwapData, who wire.Key, f chains.EscrowFact, occupied bool, now time.Time) string {
	expired := d != nil && d.Expired(who, now, false) && (!occupied || d.Offerer == who)
	switch {
	case f.State == chains.EscrowOpen && expired && d.Offerer == who:
		return "REFUNDABLE"
	case f.State == chains.EscrowOpen:
		return "COMMITED"
	case f.State == chains.EscrowClaimed:
		return "PAID"
	case expired:
		return "EXPIRED"
	}
	return "NOT_COMMITED"
}

// vectorHistory reads the escrows of a party back.
func vectorHistory(t *testing.T, c *vectors.Case, s *stub, r *Reader, in statusCase) {
	t.Helper()
	who := key(t, in.Signer)
	s.history[who] = in.Signatures
	from := uint64(0)
	if in.StartBlockheight != nil {
		from = *in.StartBlockheight
	}
	s.historiesOf(t, r, who, from)
	var want struct {
		Swaps map[string]struct {
			Init *struct {
				Data  json.RawMessage
				TxID  string
				Block struct {
					BlockHeight uint64
					BlockTime   int64
				}
			}
			State struct {
				TypeName, GetInitTxID, GetClaimTxID, GetRefundTxID, GetClaimResult string
				GetTxBlock                                                         struct {
					BlockHeight uint64
					BlockTime   int64
				}
			}
		}
	}
	c.Expected(t, &want)
	for p, err := range r.ledger.History(t.Context(), []*Reader{r}, who, from) {
		if err != nil {
			t.Fatal(err)
		}
		hash := hex.EncodeToString(p.Escrow.Hash)
		w := want.Swaps[hash]
		delete(want.Swaps, hash)
		if from == 1045 && p.Fact.Opened.Height == 1050 {
			c.Differ(t, "sol-history-slot") // the reference loses the opening
			continue
		}
		d, err := r.Programs.SwapDataOf(*p.Escrow)
		if err != nil || w.Init == nil {
			t.Errorf("escrow %s, %v: want %+v", hash, err, w)
			continue
		}
		same(t, "state", w.State.TypeName, stateName(d, who, p.Fact, false, time.UnixMilli(in.Now)))
		same(t, "end", [3]string{w.State.GetClaimTxID, w.State.GetRefundTxID, w.State.GetClaimResult}, [3]string{p.Fact.ClaimTx, p.Fact.RefundTx, hex.EncodeToString(p.Fact.Result)})
		if b := w.State.GetTxBlock; b.BlockHeight != 0 {
			last := p.Fact.Opened
			if p.Fact.Finished.Height != 0 {
				last = p.Fact.Finished
			}
			same(t, "last slot", chains.Block{Height: b.BlockHeight, Time: b.BlockTime}, last)
		}
		if id := w.State.GetInitTxID; id != "" {
			same(t, "opening of an open one", id, p.Fact.InitTx)
		}
		vectors.SameJSON(t, w.Init.Data, p.Escrow.Data)
		same(t, "opening", w.Init.TxID, p.Fact.InitTx)
		same(t, "slot", chains.Block{Height: w.Init.Block.BlockHeight, Time: w.Init.Block.BlockTime}, p.Fact.Opened)
	}
	for hash, w := range want.Swaps {
		if w.Init != nil { // one that was opened before is no part of it here
			t.Errorf("escrow %s was not found", hash)
		}
		ended := map[bool]string{true: "PAID", false: "NOT_COMMITED"}[w.State.GetClaimTxID != ""]
		same(t, "state of "+hash, w.State.TypeName, ended)
		if _, known := in.Transactions[cmp.Or(w.State.GetClaimTxID, w.State.GetRefundTxID)]; !known {
			t.Errorf("escrow %s ended by %+v, which is no transaction of the case", hash, w.State)
		}
	}
}

// historiesOf gives the stub what belongs to the history of a party: those of the escrows
// in it, and the accounts of those that are open.
func (s *stub) historiesOf(t *testing.T, r *Reader, who wire.Key, from uint64) {
	t.Helper()
	for txs, err := range r.ledger.oldestFirst(t.Context(), who, from) {
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range txs {
			all, _ := r.Programs.Occurrences(*tx)
			for _, o := range all {
				at := r.Programs.Escrow(o.Hash)
				s.history[at] = s.history[who]
				delete(s.accounts, at)
				if d := o.Opened; d != nil {
					state := wire.EscrowState{Data: d.Terms(), Offerer: d.Offerer, Claimer: d.Claimer, Mint: d.Token, SecurityDeposit: d.SecurityDeposit, ClaimerBounty: d.ClaimerBounty}
					if d.OffererATA != nil {
						state.OffererATA = *d.OffererATA
					}
					if d.ClaimerATA != nil {
						state.ClaimerATA = *d.ClaimerATA
					}
					if d.OffererInitializer != nil {
						state.OffererInitializer = *d.OffererInitializer
					}
					s.accounts[at] = wire.AccountReply{Owner: r.Programs.Swap, Lamports: 1, Data: r.Programs.EncodeEscrow(state)}
				}
			}
		}
	}
}
