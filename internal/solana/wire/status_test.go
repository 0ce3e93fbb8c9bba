package wire

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mr-tron/base58"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// seenJSON is a transaction of a node's history in the vectors.
type seenJSON struct {
	Slot         uint64
	BlockTime    int64
	Err          json.RawMessage
	Logs         []string
	Instructions []struct {
		ProgramID string
		Accounts  []string
		Data      string // base58
	}
}

type signatureJSON struct {
	Signature string
	Slot      uint64
	Err       json.RawMessage
}

func failed(err json.RawMessage) bool { return len(err) > 0 && string(err) != "null" }

// seen returns a history, newest first.
func seen(t testing.TB, signatures []signatureJSON, txs map[string]seenJSON) (all []SeenTx) {
	t.Helper()
	for _, s := range signatures {
		tx := txs[s.Signature]
		out := SeenTx{ID: s.Signature, Slot: s.Slot, Time: tx.BlockTime, Failed: failed(s.Err) || failed(tx.Err), Logs: tx.Logs}
		for _, i := range tx.Instructions {
			data := trial.Must(base58.Decode(i.Data))(t)
			ix := Instruction{Program: key(t, i.ProgramID), Data: data}
			for _, a := range i.Accounts {
				ix.Accounts = append(ix.Accounts, Account{PublicKey: key(t, a)})
			}
			out.Instructions = append(out.Instructions, ix)
		}
		all = append(all, out)
	}
	return all
}

// newestFirst returns what happened in transactions, newest first.
func newestFirst(p Programs, history []SeenTx) (all []Occurrence) {
	for _, tx := range history {
		some, _ := p.Occurrences(tx)
		slices.Reverse(some)
		all = append(all, some...)
	}
	return all
}

var statusTypes = map[string]int{"EXPIRED": 0, "NOT_COMMITED": 1, "COMMITED": 2, "PAID": 3, "REFUNDABLE": 4}

// statusOf is the reference's status, which follows from the state, the clock and the side.
// An escrow in whose place there is another one is over for its offerer alone.
func statusOf(d *SwapData, who Key, f chains.EscrowFact, occupied bool, now time.Time) string {
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

func statusJSON(d *SwapData, who Key, f chains.EscrowFact, occupied bool, now time.Time) map[string]any {
	name := statusOf(d, who, f, occupied, now)
	out := map[string]any{"type": statusTypes[name], "typeName": name}
	for member, id := range map[string]string{"getInitTxId": f.InitTx, "getClaimTxId": f.ClaimTx, "getRefundTxId": f.RefundTx} {
		if id != "" {
			out[member] = id
		}
	}
	if f.Finished.Height != 0 {
		out["getTxBlock"] = map[string]any{"blockHeight": f.Finished.Height, "blockTime": f.Finished.Time}
	}
	if f.Result != nil {
		out["getClaimResult"] = hex.EncodeToString(f.Result)
	}
	return out
}

func TestVectorsStatus(t *testing.T) {
	vectors.Load(t, "chain-solana", "status").But(t, "history").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Version, Signer, Side string
			Now                       int64
			Swap                      json.RawMessage
			EscrowAccount             *string
			Signatures                []signatureJSON
			Transactions              map[string]seenJSON
		}
		c.Input(t, &in)
		var want json.RawMessage
		c.Expected(t, &want)
		p, now, who := programs(in.Version), time.UnixMilli(in.Now), key(t, in.Signer)
		history := seen(t, in.Signatures, in.Transactions)
		var account []byte
		if in.EscrowAccount != nil {
			account = vectors.Unhex(t, *in.EscrowAccount)
		}
		d := swapOf(t, in.Swap)
		f := trial.Must(p.Fact(d, account, newestFirst(p, history)))(t)
		open := f.State == chains.EscrowOpen
		if f.State == chains.EscrowNone {
			f.InitTx = "" // of which the reference says nothing then
		}
		got := map[string]any{"status": statusJSON(d, who, f, account != nil && !open, now)}
		if in.Side != "" && strings.Contains(string(want), "isExpired") {
			got["isExpired"], got["isExpiredRefundSide"] = d.Expired(who, now, false), d.Expired(who, now, true)
			got["isRequestRefundable"], got["isClaimable"], got["isCommited"] = open && d.Expired(who, now, true) && (p.Version == V2 || d.Offerer == who), open && d.IsClaimer(who) && !d.Expired(who, now, false), open
		}
		vectors.SameJSON(t, vectors.Without(t, want, "claimHashStatus"), got)
	})
}

// An escrow that is opened again after a refund is not refunded, and one whose account
// belongs to another escrow of the same hash is not open.
func TestFact(t *testing.T) {
	p := firstV1
	d := trial.Must(ParseSwapData([]byte(goodSwapData)))(t)
	tx := func(id string, slot uint64, kind EventKind, sequence uint64) SeenTx {
		return SeenTx{ID: id, Slot: slot, Logs: logOf(p.Swap, Event{Kind: kind, Hash: d.PaymentHash, Sequence: sequence}.Bytes())}
	}
	account := EscrowState{Data: d.Terms(), Offerer: d.Offerer, OffererATA: *d.OffererATA, Claimer: d.Claimer, Mint: d.Token}
	other := account
	other.Data.Sequence++
	for name, c := range map[string]struct {
		account []byte
		history []SeenTx
		state   chains.EscrowState
		init    string
	}{
		"never opened":                  {nil, nil, chains.EscrowNone, ""},
		"open":                          {p.EncodeEscrow(account), []SeenTx{tx("a", 1, Initialized, d.Sequence)}, chains.EscrowOpen, "a"},
		"another is open":               {p.EncodeEscrow(other), []SeenTx{tx("a", 1, Initialized, d.Sequence+1)}, chains.EscrowNone, ""},
		"opened, its account not final": {nil, []SeenTx{tx("a", 1, Initialized, d.Sequence)}, chains.EscrowNone, "a"},
		"refunded":                      {nil, []SeenTx{tx("b", 2, Refunded, d.Sequence), tx("a", 1, Initialized, d.Sequence)}, chains.EscrowRefunded, "a"},
		"opened again after a refund":   {p.EncodeEscrow(account), []SeenTx{tx("c", 3, Initialized, d.Sequence), tx("b", 2, Refunded, d.Sequence), tx("a", 1, Initialized, d.Sequence)}, chains.EscrowOpen, "c"},
		"claimed after a refund":        {nil, []SeenTx{tx("d", 4, Claimed, d.Sequence), tx("b", 2, Refunded, d.Sequence)}, chains.EscrowClaimed, ""},
		"refunded after a claim":        {nil, []SeenTx{tx("d", 4, Refunded, d.Sequence), tx("b", 2, Claimed, d.Sequence)}, chains.EscrowRefunded, ""},
		"opened again, not final":       {nil, []SeenTx{tx("c", 3, Initialized, d.Sequence), tx("b", 2, Refunded, d.Sequence)}, chains.EscrowNone, "c"},
		"claimed, the hash used anew":   {p.EncodeEscrow(other), []SeenTx{tx("c", 3, Initialized, d.Sequence+1), tx("b", 2, Claimed, d.Sequence), tx("a", 1, Initialized, d.Sequence)}, chains.EscrowClaimed, "a"},
	} {
		f, err := p.Fact(d, c.account, newestFirst(p, c.history))
		if err != nil || f.State != c.state || f.InitTx != c.init {
			t.Errorf("%s: %v, opened by %q, %v", name, f.State, f.InitTx, err)
		}
	}
	// Anybody can open another escrow with the same hash and sequence: what became of it
	// is no news of ours, before, after and in between.
	theirs := *d
	theirs.Amount++
	happened := func(kind EventKind, opened *SwapData, tx string) Occurrence {
		return Occurrence{Event: Event{Kind: kind, Hash: d.PaymentHash, Sequence: d.Sequence}, Opened: opened, Tx: tx}
	}
	open := p.EncodeEscrow(account)
	foreign := account
	foreign.Data.Amount++
	for name, c := range map[string]struct {
		account     []byte
		newestFirst []Occurrence
		state       chains.EscrowState
		init, end   string
	}{
		"theirs is open":              {p.EncodeEscrow(foreign), []Occurrence{happened(Initialized, &theirs, "b")}, chains.EscrowNone, "", ""},
		"theirs was claimed":          {nil, []Occurrence{happened(Claimed, nil, "c"), happened(Initialized, &theirs, "b")}, chains.EscrowNone, "", ""},
		"theirs before ours":          {nil, []Occurrence{happened(Claimed, nil, "e"), happened(Initialized, d, "d"), happened(Refunded, nil, "c"), happened(Initialized, &theirs, "b")}, chains.EscrowClaimed, "d", "e"},
		"theirs after ours":           {nil, []Occurrence{happened(Claimed, nil, "e"), happened(Initialized, &theirs, "d"), happened(Refunded, nil, "c"), happened(Initialized, d, "b")}, chains.EscrowRefunded, "b", "c"},
		"theirs between, ours open":   {open, []Occurrence{happened(Initialized, d, "d"), happened(Refunded, nil, "c"), happened(Initialized, &theirs, "b")}, chains.EscrowOpen, "d", ""},
		"a call that cannot be read":  {nil, []Occurrence{happened(Claimed, nil, "c"), happened(Initialized, nil, "b")}, chains.EscrowClaimed, "b", "c"},
		"the same, opened by another": {open, []Occurrence{happened(Initialized, d, "b")}, chains.EscrowOpen, "b", ""},
	} {
		f, err := p.Fact(d, c.account, c.newestFirst)
		if err != nil || f.State != c.state || f.InitTx != c.init || f.ClaimTx+f.RefundTx != c.end {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	for member, change := range map[string]func(o *SwapData){
		"amount": func(o *SwapData) { o.Amount++ }, "expiry": func(o *SwapData) { o.Expiry++ }, "offerer": func(o *SwapData) { o.Offerer = Key{9} }, "claimer": func(o *SwapData) { o.Claimer = Key{9} },
		"token": func(o *SwapData) { o.Token = Key{9} }, "deposit": func(o *SwapData) { o.SecurityDeposit++ }, "bounty": func(o *SwapData) { o.ClaimerBounty++ }, "claimerAta": func(o *SwapData) { o.ClaimerATA = &Key{9} },
	} {
		other := *d
		if change(&other); d.sameEscrow(&other) || !d.sameEscrow(d) {
			t.Errorf("an escrow with another %s is the same", member)
		}
	}
	if _, err := p.Fact(d, []byte("an account of something else"), nil); err == nil {
		t.Error("an account that is none of the program's was taken for an absence")
	}
}

// logOf is the log of a transaction in which a program emits something.
func logOf(program Key, events ...[]byte) []string {
	lines := []string{"Program " + program.String() + " invoke [1]"}
	for _, e := range events {
		lines = append(lines, "Program data: "+base64Text(e))
	}
	return append(lines, "Program "+program.String()+" success")
}
