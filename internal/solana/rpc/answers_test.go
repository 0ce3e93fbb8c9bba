package rpc

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

var (
	someKey = wire.WSOL
	sig     = wire.Signature{1, 2, 3}
	begin   = time.Unix(1_756_278_357, 0)
)

// every is each kind of question, with a good answer.
func every() map[string]struct {
	request Request
	good    string
} {
	type q = struct {
		request Request
		good    string
	}
	account := `{"data":["AQI=","base64"],"lamports":5,"owner":"` + someKey.String() + `"}`
	return map[string]q{
		"accounts":    {AccountsRequest([]wire.Key{someKey, {}}, Confirmed, new(Accounts)), `{"context":{"slot":7},"value":[` + account + `,null]}`},
		"slot":        {SlotRequest(Finalized, new(uint64)), `0`},
		"block":       {BlockRequest(5, Confirmed, new(Block)), `{"blockhash":"` + someKey.String() + `","blockHeight":4,"blockTime":6,"parentSlot":3}`},
		"block fees":  {BlockFeesRequest(5, Confirmed, new(*BlockFees)), `{"signatures":["a"],"rewards":[{"lamports":-5,"rewardType":"Fee"},{"lamports":7,"rewardType":"Fee"}]}`},
		"block hash":  {LatestBlockhashRequest(Confirmed, new(LatestBlockhash)), `{"context":{"slot":7},"value":{"blockhash":"` + someKey.String() + `","lastValidBlockHeight":9}}`},
		"validity":    {BlockhashValidRequest(wire.Hash(someKey), Processed, new(Validity)), `{"context":{"slot":7},"value":true}`},
		"history":     {SignaturesRequest(someKey, Page{Limit: 2}, Confirmed, new([]SignatureInfo)), `[{"signature":"` + sig.String() + `","slot":7,"err":null,"blockTime":null,"confirmationStatus":"finalized"},{"signature":"` + sig.String() + `","slot":7,"err":{},"blockTime":5}]`},
		"statuses":    {StatusesRequest([]wire.Signature{sig, sig}, new(Statuses)), `{"context":{"slot":7},"value":[{"slot":5,"confirmations":null,"err":null},null]}`},
		"transaction": {TransactionRequest(sig, Confirmed, new(Seen)), `null`},
		"simulation":  {SimulateRequest([]byte{1}, false, true, Confirmed, new(Simulation)), `{"context":{"slot":7},"value":{"err":{"InstructionError":[0,"x"]},"logs":["a"],"unitsConsumed":5}}`},
		"trial":       {SimulateRequest([]byte{1}, false, true, Confirmed, new(Simulation), someKey), `{"context":{"slot":7},"value":{"err":null,"logs":[],"accounts":[` + account + `,null],"unitsConsumed":5}}`},
		"recent fees": {RecentFeesRequest([]wire.Key{someKey}, new([]RecentFee)), `[{"slot":5,"prioritizationFee":6}]`},
		"fee levels":  {FeeLevelsRequest([]wire.Key{someKey}, "high", new(FeeEstimate)), `{"priorityFeeLevels":{"high":1.5}}`},
		"sent":        {SendRequest([]byte{1}, new(string)), `"` + sig.String() + `"`},
	}
}

// nodesAt are nodes that answer every question with a text, and know their cluster.
func nodesAt(t testing.TB, now time.Time, answers ...func(rpctest.Call) any) *Nodes {
	t.Helper()
	var urls []string
	for _, answer := range answers {
		urls = append(urls, rpctest.Serve(t, func(calls []rpctest.Call) any {
			var all []any
			for _, c := range calls {
				if c.Method == "getGenesisHash" {
					all = append(all, rpctest.Result(c, "genesis"))
				} else {
					all = append(all, answer(c))
				}
			}
			return all
		}).URL)
	}
	n := trial.Must(Dial(func(hash string) error {
		if hash != "genesis" {
			return errors.New("serves " + hash)
		}
		return nil
	}, urls, http.DefaultTransport, func() time.Time { return now }))(t)
	n.Retry = httpx.RetryPolicy{Calls: 1}
	t.Cleanup(n.Close)
	return n
}

func saying(text string) func(rpctest.Call) any {
	return func(c rpctest.Call) any { return rpctest.Result(c, json.RawMessage(text)) }
}

func refusing(code int, text string) func(rpctest.Call) any {
	return func(c rpctest.Call) any { return rpctest.Refusal(c, code, text) }
}

// Good answers are read; a node that answers with something else is passed over.
func TestAnswers(t *testing.T) {
	for name, q := range every() {
		if err := AskAll(t.Context(), nodesAt(t, begin, saying(q.good)), []Request{q.request}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, bad := range []string{`"text"`, `[5]`, `{"context":{},"value":[]}`, `{"context":{"slot":5},"value":null}`, `{"value":true}`, `-1`, `{"context":{"slot":-1},"value":{}}`} {
			if (name == "block fees" || name == "transaction") && bad[0] == '{' || name == "sent" && bad == `"text"` {
				continue // says nothing of fees or of its outcome; is judged by who sent it
			}
			if err := AskAll(t.Context(), nodesAt(t, begin, saying(bad)), []Request{q.request}); fault.CodeOf(err) != fault.Upstream {
				t.Errorf("%s: %s was read: %v", name, bad, err)
			}
			if err := AskAll(t.Context(), nodesAt(t, begin, saying(bad), saying(q.good)), []Request{q.request}); err != nil {
				t.Errorf("%s: the second node was not asked: %v", name, err)
			}
		}
	}
}

// What an answer must have to be one to the question.
func TestAnswersToOtherQuestions(t *testing.T) {
	all := every()
	for name, bad := range map[string]string{
		"accounts":   `{"context":{"slot":7},"value":[null]}`,
		"block":      `{"blockhash":"` + someKey.String() + `","blockHeight":4,"blockTime":null}`,
		"history":    `[{"signature":"` + sig.String() + `","slot":7},{"signature":"` + sig.String() + `","slot":8}]`,
		"statuses":   `{"context":{"slot":7},"value":[null]}`,
		"fee levels": `{"priorityFeeLevels":{"low":1}}`,
		"block hash": `{"context":{"slot":7},"value":{"blockhash":"1","lastValidBlockHeight":9}}`,
	} {
		if err := AskAll(t.Context(), nodesAt(t, begin, saying(bad)), []Request{all[name].request}); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := `[` + strings.Repeat(`{"signature":"`+sig.String()+`","slot":7},`, 2) + `{"signature":"` + sig.String() + `","slot":7}]`
	if err := AskAll(t.Context(), nodesAt(t, begin, saying(long)), []Request{all["history"].request}); err == nil {
		t.Error("three transactions where two were asked for")
	}
}

func TestWhatIsRead(t *testing.T) {
	all := every()
	for name, q := range all {
		if err := json.Unmarshal([]byte(q.good), q.request.Result); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if a := all["accounts"].request.Result.(*Accounts); a.Slot != 7 || a.All[0].Lamports != 5 || a.All[1] != nil {
		t.Errorf("%+v", a)
	}
	if s := *all["history"].request.Result.(*[]SignatureInfo); !s[0].Final || s[0].Failed || s[0].Time != 0 || s[1].Final || !s[1].Failed || s[1].Time != 5 {
		t.Errorf("%+v", s)
	}
	if s := all["statuses"].request.Result.(*Statuses); !s.All[0].Reached(Finalized) || s.All[0].Err != nil || s.All[1] != nil {
		t.Errorf("%+v", s)
	}
	if reward, ok := (*all["block fees"].request.Result.(**BlockFees)).Reward(); !ok || reward != 7 {
		t.Errorf("%d, %v", reward, ok)
	}
	if _, ok := new(BlockFees).Reward(); ok {
		t.Error("a reward that is not told")
	}
	if s := all["simulation"].request.Result.(*Simulation); s.Err == nil || s.Units != 5 || len(s.Logs) != 1 {
		t.Errorf("%+v", s)
	}
	if s := all["transaction"].request.Result.(*Seen); s.Known || s.Err != nil {
		t.Errorf("%+v", s)
	}
	for commitment, reached := range map[string][3]bool{"processed": {true}, "confirmed": {true, true}, "finalized": {true, true, true}, "": {}} {
		s := Status{Commitment: commitment}
		if got := [3]bool{s.Reached(Processed), s.Reached(Confirmed), s.Reached(Finalized)}; got != reached {
			t.Errorf("%s: %v", commitment, got)
		}
	}
}

// Every question about a state names its commitment; none is left to the node.
func TestCommitmentsAreExplicit(t *testing.T) {
	without := map[string]bool{"statuses": true, "recent fees": true, "fee levels": true, "sent": true} // those have none
	for name, q := range every() {
		text := trial.Must(json.Marshal(q.request.Params))(t)
		if strings.Contains(string(text), `"commitment":"`) == without[name] {
			t.Errorf("%s: %s", name, text)
		}
	}
	if text, _ := json.Marshal(SlotRequest(At{}, new(uint64)).Params); !strings.Contains(string(text), `"commitment":"finalized"`) {
		t.Errorf("the zero state is asked for as %s", text)
	}
}

func TestSince(t *testing.T) {
	r := AccountsRequest([]wire.Key{someKey}, Confirmed.Since(77), new(Accounts))
	if text, _ := json.Marshal(r.Params); !strings.Contains(string(text), `"minContextSlot":77`) || !strings.Contains(string(text), `"commitment":"confirmed"`) {
		t.Errorf("%s", text)
	}
	if text, _ := json.Marshal(AccountsRequest(nil, Confirmed, nil).Params); strings.Contains(string(text), "minContextSlot") {
		t.Errorf("%s: a state is shared", text)
	}
	if Finalized.String() != "finalized" {
		t.Error(Finalized)
	}
}

// A node's own trouble is passed over, its answers are final, and what another node may
// know is asked of it.
func TestWhichErrorsAreAnswers(t *testing.T) {
	for _, c := range []struct {
		code   int
		text   string
		passed bool // over to the next node
		alone  bool // accepted where there is no other node
	}{
		{-32007, "Slot 5 was skipped", false, true}, {-32009, "missing in long-term storage", false, true}, {-32601, "Method not found", false, true},
		{-32602, "Invalid params", false, true}, {-32002, "Transaction simulation failed", false, true}, {-32003, "signature verification failure", false, true}, {-32015, "version", false, true},
		{-32004, "Block not available for slot 5", true, true}, {-32014, "Block status not yet available", true, true}, {-32011, "no history", true, true},
		{-32005, "Node is behind by 42 slots", true, false}, {-32016, "Minimum context slot has not been reached", true, false}, {-32603, "Internal error", true, false},
		{-32429, "slow down", true, false}, {429, "Too many requests", true, false}, {-32600, "Rate limit exceeded", true, false}, {-32000, "boom", false, true},
	} {
		var slot uint64
		r := []Request{SlotRequest(Finalized, &slot)}
		if err := nodesAt(t, begin, refusing(c.code, c.text), saying("5")).Batch(t.Context(), r); err != nil {
			t.Errorf("%d: %v", c.code, err)
		} else if passed := r[0].Err == nil && slot == 5; passed != c.passed {
			t.Errorf("%d: passed over: %v", c.code, passed)
		}
		err := nodesAt(t, begin, refusing(c.code, c.text)).Batch(t.Context(), r)
		if (err == nil) != c.alone || err == nil && jsonrpc.CodeOf(r[0].Err) != c.code {
			t.Errorf("%d, alone: %v, %v", c.code, err, r[0].Err)
		}
	}
	if IsSkipped(nil) || IsUnsupported(nil) || IsUnreadable(nil) || !IsSkipped(&jsonrpc.Error{Code: -32004}) || !IsUnsupported(&jsonrpc.Error{Code: -32601}) || !IsUnreadable(&jsonrpc.Error{Code: -32015}) {
		t.Error("kinds of errors")
	}
}

// A node is behind when another has told of a much newer slot, or when the ledger's
// clock is old; a lie about the future is forgotten.
func TestNodesThatAreBehind(t *testing.T) {
	now := begin
	at := func(slot uint64, age time.Duration) func(rpctest.Call) any {
		clock := trial.Must(json.Marshal(map[string]any{"context": map[string]any{"slot": slot}, "value": []any{map[string]any{"lamports": 1, "owner": wire.SysvarProgram.String(),
			"data": []any{wire.Clock{Slot: slot, Unix: begin.Add(-age).Unix()}.Bytes(), "base64"}}}}))(t)
		return saying(string(clock))
	}
	ask := func(n *Nodes) uint64 {
		t.Helper()
		var a Accounts
		trial.Do(t, AskAll(t.Context(), n, []Request{AccountsRequest([]wire.Key{wire.ClockData}, Confirmed, &a)}))
		return a.Slot
	}
	if got := ask(nodesAt(t, now, at(1000, 3*time.Minute), at(2000, 0))); got != 2000 {
		t.Errorf("an old clock: slot %d", got)
	}
	if got := ask(nodesAt(t, now, at(1000, 3*time.Minute))); got != 1000 {
		t.Errorf("an old clock, no other node: slot %d", got)
	}
	heard := &newest{now: func() time.Time { return now }}
	read := func(slot uint64) (late bool) {
		_, late, ok := heard.read(SlotRequest(Processed, nil), nil, &slot)
		if !ok {
			t.Error("a slot was not read")
		}
		return late
	}
	if read(1000) || read(1200) || !read(1000) || read(1100) {
		t.Error("who is behind 1200")
	}
	if read(1 << 60); !read(1300) {
		t.Error("a lie must be believed for a while")
	}
	now = now.Add(forgetSlot + time.Second)
	if read(1300) || read(1301) {
		t.Error("a lie was believed for ever")
	}
	final := uint64(5)
	if _, _, ok := heard.read(SlotRequest(Finalized, nil), nil, &final); ok {
		t.Error("a finalized slot tells how far a node is")
	}
}

// Foreign clusters are refused by their genesis hash.
func TestForeignCluster(t *testing.T) {
	s := rpctest.Serve(t, func(calls []rpctest.Call) any {
		var all []any
		for _, c := range calls {
			all = append(all, rpctest.Result(c, "another"))
		}
		return all
	})
	n := trial.Must(Dial(func(hash string) error { return errors.New("serves " + hash) }, []string{s.URL}, http.DefaultTransport, time.Now))(t)
	defer n.Close()
	n.Retry = httpx.RetryPolicy{Calls: 1}
	var slot uint64
	if err := n.Batch(t.Context(), []Request{SlotRequest(Finalized, &slot)}); err == nil || n.Foreign() == nil || !strings.Contains(n.Foreign().Error(), "serves another") {
		t.Errorf("%v, %v", err, n.Foreign())
	}
}

// More accounts than one call takes are asked for in several, in one batch; the oldest
// state is what all of them are at.
func TestManyAccounts(t *testing.T) {
	calls := 0
	n := nodesAt(t, begin, func(c rpctest.Call) any {
		calls++
		var params []json.RawMessage
		var keys []string
		_ = json.Unmarshal(c.Params, &params)
		_ = json.Unmarshal(params[0], &keys)
		values := make([]any, len(keys))
		return rpctest.Result(c, map[string]any{"context": map[string]any{"slot": 100 - calls}, "value": values})
	})
	all, err := ReadAccounts(t.Context(), n, make([]wire.Key, 2*accountsPerCall+1), Finalized)
	if err != nil || len(all.All) != 201 || all.Slot != 97 || calls != 3 {
		t.Errorf("%d accounts at %d in %d calls, %v", len(all.All), all.Slot, calls, err)
	}
	if none, err := ReadAccounts(t.Context(), n, nil, Finalized); err != nil || len(none.All) != 0 {
		t.Error(none, err)
	}
}

// FuzzAnswers gives every reader of answers texts of others.
func FuzzAnswers(f *testing.F) {
	for _, q := range every() {
		f.Add(q.good)
	}
	f.Add(`{"slot":1,"blockTime":1,"meta":{"err":null},"transaction":["AQ==","base64"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for name, q := range every() {
			if json.Unmarshal([]byte(text), q.request.Result) != nil || q.request.Check == nil || q.request.Check(q.request.Result) != nil {
				continue
			}
			switch got := q.request.Result.(type) {
			case *Accounts:
				if len(got.All) != 2 {
					t.Fatalf("%s: %d accounts", name, len(got.All))
				}
			case *Block:
				_, _ = *got.Height, *got.Time
			case *[]SignatureInfo:
				if len(*got) > 2 {
					t.Fatalf("%s: %d transactions", name, len(*got))
				}
			case *Seen:
				if got.Known && got.Err == nil && got.Tx.ID != sig.String() {
					t.Fatalf("%s: %s", name, got.Tx.ID)
				}
			}
		}
	})
}
