package swapper_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// What the swaps of the walk would tell: a link that pays out, what a shop says to its payer,
// and a claim, as the local chain builds it.
const (
	ownLink   = "lnurlw://faucet.example/w"
	ownWords  = "voucher 88-17"
	claimText = "tx:claimWithSecret"
	openText  = "tx:init"
	ownersKey = "0123456789abcdef0123456789abcdef"
	atHome    = "203.0.113.9:1000"
)

// person is a caller of the walk.
type person struct {
	account, key, remote string
	secret               bool // sends the preimage
	owner, proved        bool
}

// people call each swap: alice's, or for swaps of nobody with a name, whoever is at home.
var people = map[string]person{
	"the owner":                       {account: "alice", remote: "198.51.100.1:1", owner: true},
	"the owner, by key":               {key: ownersKey, remote: "198.51.100.1:1", owner: true},
	"the owner, by key in capitals":   {key: strings.ToUpper(ownersKey), remote: "198.51.100.1:1", owner: true},
	"a holder of the preimage":        {remote: "198.51.100.1:1", secret: true, proved: true},
	"another key":                     {key: strings.Repeat("0", 32), remote: "198.51.100.1:1"},
	"a stranger":                      {remote: "198.51.100.1:1"},
	"another caller":                  {account: "bob", remote: atHome},
	"the provider, which is a caller": {account: "lp", remote: "192.0.2.1:1"},
}

// atAddress are the callers of a swap that somebody without a name has created at home.
var atAddress = map[string]person{
	"the address":                  {remote: "203.0.113.9:2000", owner: true},
	"the key, from elsewhere":      {remote: "198.51.100.1:1", key: ownersKey, owner: true},
	"another address":              {remote: "203.0.113.10:1000"},
	"the address, with a name":     {remote: atHome, account: "bob"},
	"the address, behind a proxy":  {remote: "@"},
	"another address with its key": {remote: "203.0.113.10:1000", key: strings.Repeat("f", 32)},
}

// preimage of the swaps from Lightning.
var preimage = chains.Preimage{7, 7, 7}

// richest are stored swaps of each type, with everything that a swap of the type can have.
func richest(t *testing.T) map[swap.Type]*swap.Record {
	t.Helper()
	file := trial.Must(os.Open("internal/engine/testdata/kept/v0.1/entries.jsonl.gz"))(t)
	defer file.Close()
	text := trial.Must(gzip.NewReader(file))(t)
	all := map[swap.Type]*swap.Record{}
	for d := json.NewDecoder(text); ; {
		var e struct {
			ID   string
			Body json.RawMessage
		}
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		r := trial.Must(swap.Decode(e.ID, 0, e.Body))(t)
		if r.Chain == "STARKNET" || r.Contract != "v1" || r.Chain == "SOLANA" && r.Type != swap.FromBTC && r.Type != swap.FromBTCLN {
			continue
		}
		all[r.Type] = r
	}
	for _, f := range swap.Flows() {
		if all[f.Type] == nil {
			t.Fatalf("no swap of type %s is kept", f.Type)
		}
	}
	return all
}

// inState is a swap of its own in a state, with all that is worth something. A name or an
// address owns it, and the key.
func inState(t *testing.T, from *swap.Record, state int, id, owner string, now time.Time) *swap.Record {
	t.Helper()
	r := from.Clone()
	r.Schema, r.ID, r.State, r.Version = 0, id, state, 0
	sum := sha256.Sum256([]byte(id)) // lists are short then
	r.Request, r.RequestHash, r.Problem, r.Submission, r.Tried, r.Seen, r.Settled, r.Ended, r.Due = "", "", "", nil, nil, swap.Seen{}, false, 0, 0
	if r.Signer = base58.Encode(sum[:]); r.Chain == "CITREA" {
		r.Signer = common.BytesToAddress(sum[:20]).Hex()
	}
	r.CreatedAt, r.Changed, r.Expiry = swap.At(now.Add(-time.Minute)), swap.At(now.Add(-time.Second)), swap.At(now.Add(10*time.Minute))
	if e := r.Escrow; e != nil {
		for _, one := range []**chains.Escrow{&e.Expected, &e.Real} {
			if *one != nil {
				changed := **one
				changed.Expiry = now.Add(24 * time.Hour).Unix()
				*one = &changed
			}
		}
		if e.Real == nil && state > 0 {
			e.Real = e.Expected
		}
		if e.Init == nil {
			e.Init = &chains.Auth{}
		}
		e.InitTx, e.ClaimTx, e.RefundTx, e.OpenedAt = "", "", "", 0
	}
	if l := r.Lightning; l != nil {
		sum := sha256.Sum256(preimage[:])
		l.Hash, l.Preimage, l.Revealed, l.EndsAt, l.Link = hex.EncodeToString(sum[:]), preimage, 0, swap.At(now.Add(time.Hour)), ownLink
		if r.Type == swap.ToBTCLN {
			l.Link = "shop@example.com"
			l.SuccessAction = json.RawMessage(`{"tag":"message","message":"` + ownWords + `"}`)
		} else {
			l.Withdraw = &swap.Withdraw{Params: swap.WithdrawParams{URL: ownLink, K1: "k1 of the link"}}
		}
	}
	if b := r.Bitcoin; b != nil {
		b.TxID, b.Tx, b.PSBT, b.Posted, b.Void, b.ConfirmedAt = bitcoin.Hash{}, nil, nil, false, nil, 0
	}
	// Payment hashes are unique: these swaps share theirs.
	r.Shared = []string{swap.ByHash, swap.ByPaying, swap.ByEvent}
	r.Own(owner, ownersKey)
	return r
}

func (s *stage) keep(t *testing.T, f *swap.Flow, r *swap.Record) {
	t.Helper()
	row, ok := f.State(r.State)
	if !ok {
		t.Fatalf("%s has no state %d", f.Type, r.State)
	}
	body := trial.Must(r.Encode())(t)
	e := storage.Entry{ID: r.ID, Body: body}
	for _, k := range r.Keys(row) {
		e.Keys = append(e.Keys, storage.Key(k))
	}
	trial.Do(t, s.store.Create(t.Context(), e))
}

// walk is one swap that everybody asks for.
type walk struct {
	*stage
	t      *testing.T
	what   string
	r      *swap.Record
	people map[string]person
	shown  map[string]int // what owners were shown, so that the walk shows something
	heard  bool
}

// worth says what of a text is worth money.
func worth(text string) []string {
	var all []string
	for what, word := range map[string]string{"the withdrawal link": ownLink, "its secret": "k1 of the link", "the success action": ownWords,
		"the preimage": hex.EncodeToString(preimage[:]), "the key": ownersKey, "the seed": "seed"} {
		if strings.Contains(text, word) {
			all = append(all, what)
		}
	}
	return all
}

// discreet checks what somebody is shown who does not own the swap: nothing that is worth
// money, and a claim only once its escrow is open and final, alone.
func (w *walk) discreet(who, text string, told bool) {
	w.t.Helper()
	if got := worth(text); len(got) > 0 {
		w.t.Errorf("%s: %s is told %v: %s", w.what, who, got, text)
	}
	safe := !told && strings.Contains(w.what, "open and final") && !strings.Contains(text, openText)
	if strings.Contains(text, claimText) && !safe {
		w.t.Errorf("%s: %s is handed a claim: %s", w.what, who, text)
	}
}

// everything checks what the owner is shown, in short what the others are not.
func (w *walk) everything(who, text string) {
	w.t.Helper()
	hasLink := w.r.Lightning != nil && w.r.Type != swap.ToBTCLN && w.r.Lightning.Link != ""
	if hasLink && !strings.Contains(text, ownLink) || w.r.Type == swap.ToBTCLN && !strings.Contains(text, ownWords) {
		w.t.Errorf("%s: %s is not shown everything: %s", w.what, who, text)
	}
	for _, what := range worth(text) {
		if what == "the key" || what == "the seed" || what == "the preimage" {
			w.t.Errorf("%s: %s is told %s", w.what, who, what)
		}
		w.shown[what]++
	}
	if strings.Contains(text, openText) && strings.Contains(text, claimText) {
		w.shown["the opening and the claim"]++
	}
}

// status walks the row of getSwapStatus, and withSecret the one of those who send the preimage.
func (w *walk) status(who string, p person) {
	w.t.Helper()
	if !p.secret {
		w.asks(who, p)
	}
}

func (w *walk) withSecret(who string, p person) {
	w.t.Helper()
	if p.secret {
		w.asks(who, p)
	}
}

func (w *walk) asks(who string, p person) {
	w.t.Helper()
	body := `{"swapId":"` + w.r.ID + `"}`
	if p.secret && w.r.Lightning != nil && w.r.Type != swap.TrustedFromBTCLN {
		body = `{"swapId":"` + w.r.ID + `","secret":"` + hex.EncodeToString(preimage[:]) + `"}`
	}
	code, text := w.ask(p, "POST", "/getSwapStatus", body)
	if code != http.StatusOK {
		w.t.Errorf("%s: %s: %d %s", w.what, who, code, text)
		return
	}
	var got struct{ State struct{ Name string } }
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		w.t.Fatal(err)
	}
	// The preimage proves who gets the money as long as the escrow was never open.
	unopened := !strings.Contains(w.what, "the escrow is open") && slices.Contains([]string{"PR_CREATED", "PR_PAID", "QUOTE_SOFT_EXPIRED"}, got.State.Name)
	proved := p.proved && unopened && (w.r.Type == swap.FromBTCLN || w.r.Type == swap.FromBTCLNAuto)
	if p.owner || proved {
		w.everything(who, text)
	} else {
		w.discreet(who, text, false)
	}
	if code, again := w.ask(p, "GET", "/getSwapStatus?swapId="+w.r.ID, ""); code != http.StatusOK || !proved && again != text {
		w.t.Errorf("%s: %s by GET: %d %s\nby POST %s", w.what, who, code, again, text)
	}
}

// lists walks the row of the lists.
func (w *walk) lists(who string, p person) {
	w.t.Helper()
	for _, operation := range []string{"listSwaps", "listPendingSwaps"} {
		code, text := w.ask(p, "GET", "/"+operation+"?signer="+w.r.Signer, "")
		if code != http.StatusOK {
			w.t.Errorf("%s: %s: %s: %d %s", w.what, who, operation, code, text)
		}
		var all []json.RawMessage
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			w.t.Fatal(err)
		}
		for _, one := range all {
			switch mine := bytes.Contains(one, []byte(w.r.ID)); {
			case !mine:
			case p.owner && p.key == "":
				w.everything(who, string(one))
			default:
				w.discreet(who, string(one), true)
			}
		}
	}
}

// told walks the row of streams and webhooks, which carry the same.
func (w *walk) told(who string, p person) {
	w.t.Helper()
	if w.heard {
		return // the same for all
	}
	w.heard = true
	told, err := w.Progress(w.t.Context(), w.r.ID)
	if err != nil {
		w.t.Errorf("%s: %v", w.what, err)
		return
	}
	text, err := json.Marshal(told.Status)
	if err != nil {
		w.t.Fatal(err)
	}
	w.discreet(who, string(text), true)
}

// settle walks the row of settleWithLnurl: only of what could be paid now is the link used.
func (w *walk) settle(who string, p person) {
	w.t.Helper()
	if p.owner && w.r.State == 0 {
		return // it pays, which would move the swap; see e2e.TestLinksAreForTheirOwner
	}
	code, text := w.ask(p, "POST", "/settleWithLnurl", `{"swapId":"`+w.r.ID+`"}`)
	if code == http.StatusOK && w.r.State <= 0 {
		w.t.Errorf("%s: %s has the owner's link pay: %s", w.what, who, text)
	}
	if w.r.State == 0 && strings.Contains(w.what, "nothing answers") && (w.r.Type == swap.FromBTCLN || w.r.Type == swap.FromBTCLNAuto) && !strings.Contains(text, `"unsupported"`) {
		w.t.Errorf("%s: %s is answered %d %s", w.what, who, code, text)
	}
}

// submit walks the row of submitTransaction: nobody is told more by it.
func (w *walk) submit(who string, p person) {
	w.t.Helper()
	code, text := w.ask(p, "POST", "/submitTransaction", `{"swapId":"`+w.r.ID+`","signedTxs":["signed:foreign"]}`)
	if code == http.StatusOK || len(worth(text)) > 0 {
		w.t.Errorf("%s: %s: %d %s", w.what, who, code, text)
	}
}

// Where bitcoin goes back to is for the swap's owner to say: it is said once.
func TestRefundAddressIsForTheOwner(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := newStage(t, now, nil)
	for _, f := range swap.Flows() {
		if f.Type == swap.TrustedFromBTC {
			r := inState(t, richest(t)[f.Type], 0, strings.Repeat("a", 96), `name "alice"`, now)
			r.Gas.RefundTo = ""
			s.keep(t, f, r)
		}
	}
	set := func(ctx context.Context, to string) error {
		return s.SetGasRefundAddress(ctx, strings.Repeat("a", 96), to)
	}
	const own, other = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "bc1qdv78f6kmsjywv0033r54seycsapfq8zmhtl9q7"
	for _, name := range []string{"bob", ""} {
		if err := set(swapper.WithCaller(t.Context(), name), other); fault.CodeOf(err) != fault.Unsupported {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := set(swapper.WithCaller(t.Context(), "alice"), own); err != nil {
		t.Error(err)
	}
	if err := set(t.Context(), other); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("the service, another time: %v", err)
	}
}

// The table of docs/api.md on whose swap it is, walked: each of its operations, by the owner
// and by everybody else, for swaps of every type in every state, in worlds in which nothing
// answers, nothing is open, and the escrow is open, not final or final.
func TestWhoseSwapItIs(t *testing.T) {
	t.Parallel()
	checks := map[string]func(*walk, string, person){
		"`createSwap`, `createGasSwap`": nil, // of a new swap, in no state yet: e2e.TestLinksAreForTheirOwner
		"`getSwapStatus`":               (*walk).status, "`getSwapStatus` with the preimage as `secret`": (*walk).withSecret,
		"`listSwaps`, `listPendingSwaps`": (*walk).lists, "`subscribe` and webhooks": (*walk).told, "`submitTransaction`": (*walk).submit,
		"`settleWithLnurl` with the swap's own link": (*walk).settle,
		"`settleWithLnurl` with another link":        nil, // of a swap without one: swap.TestWhatRowsStore
	}
	var rows []string
	text := trial.Must(os.ReadFile("docs/api.md"))(t)
	_, table, _ := strings.Cut(string(text), "<!-- whose: walked by swapper.TestWhoseSwapItIs -->")
	table, _, _ = strings.Cut(table, "\n## ")
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, " | "); len(cells) == 3 && strings.HasPrefix(line, "| `") {
			rows = append(rows, strings.TrimPrefix(cells[0], "| "))
		}
	}
	if want := slices.Sorted(maps.Keys(checks)); !slices.Equal(slices.Sorted(slices.Values(rows)), want) {
		t.Fatalf("the table has the rows\n%q\nthe walk\n%q", rows, want)
	}
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	swaps, shown := richest(t), map[string]int{}
	for world, escrow := range worlds {
		s := newStage(t, now, escrow(now))
		n := 0
		for _, f := range swap.Flows() {
			for _, row := range f.States {
				for _, c := range []struct {
					owner  string
					people map[string]person
				}{{`name "alice"`, people}, {"address 203.0.113.9", atAddress}, {"", map[string]person{
					"somebody, of a swap of before there were owners": {account: "alice", remote: atHome}, "nobody, of such a swap": {remote: atHome}}}} {
					n++
					w := &walk{stage: s, t: t, what: fmt.Sprintf("%s %s where %s, owned by %s", f.Type, row.Name, world, c.owner), people: c.people, shown: shown,
						r: inState(t, swaps[f.Type], row.Number, fmt.Sprintf("%064d%032d", n, f.Type), c.owner, now)}
					if c.owner == "" {
						w.r.Owner = swap.Owner{}
					}
					s.keep(t, f, w.r)
					for _, name := range rows {
						if check := checks[name]; check != nil {
							for _, who := range slices.Sorted(maps.Keys(w.people)) {
								check(w, who, w.people[who])
							}
						}
					}
				}
			}
		}
	}
	for _, what := range []string{"the withdrawal link", "the success action", "the opening and the claim"} {
		if shown[what] == 0 {
			t.Errorf("no owner was ever shown %s, so that the walk shows nothing of it", what)
		}
	}
}
