package solana_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// line is a websocket to a node.
type line struct {
	*kit
	conn  *websocket.Conn
	early []any // what came before it was waited for
}

func (k *kit) dial() *line {
	k.t.Helper()
	conn, _, err := websocket.Dial(k.ctx, k.server.SocketURL(), nil)
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = conn.CloseNow() })
	return &line{kit: k, conn: conn}
}

// next is the next message, nil if none comes soon.
func (l *line) next() any {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.ctx, 2*time.Second)
	defer cancel()
	_, text, err := l.conn.Read(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if err != nil {
		l.t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		l.t.Fatal(err)
	}
	return v
}

func (l *line) write(v any) {
	l.t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = l.conn.Write(l.ctx, websocket.MessageText, text)
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// call makes a call, and returns its answer.
func (l *line) call(method string, p ...any) any {
	l.t.Helper()
	l.write(object{"jsonrpc": "2.0", "id": 3, "method": method, "params": p})
	v := l.wait(func(v any) bool { return at(v, "id") == 3.0 })
	if v == nil {
		l.t.Fatalf("%s: no answer", method)
	}
	if e := at(v, "error", "message"); e != nil {
		return e
	}
	return at(v, "result")
}

// hears waits for the next notification of a subscription, and returns its result.
// Those of different subscriptions come in any order.
func (l *line) hears(method string, id any) any {
	l.t.Helper()
	v := l.wait(func(v any) bool { return at(v, "params", "subscription") == id })
	if at(v, "method") != method {
		l.t.Fatalf("%v, want %s of %v; before it: %v", v, method, id, l.early)
	}
	return at(v, "params", "result")
}

// wait returns the first message that is wanted, nil if none comes soon, and keeps the
// others.
func (l *line) wait(wanted func(any) bool) any {
	l.t.Helper()
	for i, v := range l.early {
		if wanted(v) {
			l.early = slices.Delete(l.early, i, i+1)
			return v
		}
	}
	for {
		v := l.next()
		if v == nil || wanted(v) {
			return v
		}
		l.early = append(l.early, v)
	}
}

// TestSubscriptions hears of a transaction at every commitment, of its logs, accounts
// and blocks, in their order.
func TestSubscriptions(t *testing.T) {
	k := newManual(t, bank.Options{ConfirmedLag: 1, FinalizedLag: 2})
	k.bank.Produce(3)
	alice, bob := key("alice").PublicKey(), key("bob").PublicKey()
	raw := k.sign("alice", wire.Transfer(alice, bob, sol))
	tx := trial.Must(bank.Parse(raw))(t)
	l := k.dial()
	l.write(object{"jsonrpc": "2.0", "method": "ping"}) // has no answer
	if got := l.call("getSlot", object{"commitment": "processed"}); got != 3.0 {
		t.Errorf("the slot is %v", got)
	}
	confirmed := object{"commitment": "confirmed", "encoding": "base64"}
	sig := l.call("signatureSubscribe", tx.ID.String(), confirmed)
	received := l.call("signatureSubscribe", tx.ID.String(), object{"commitment": "processed", "enableReceivedNotification": true})
	account := l.call("accountSubscribe", bob.String(), confirmed)
	logs := l.call("logsSubscribe", object{"mentions": []string{bob.String()}}, object{"commitment": "finalized"})
	other := l.call("logsSubscribe", object{"mentions": []string{mint.String()}}, object{"commitment": "processed"})
	all := l.call("logsSubscribe", "all", object{"commitment": "processed"})
	slots := l.call("slotSubscribe")
	roots := l.call("rootSubscribe")
	if got := l.call("logsUnsubscribe", other); got != true {
		t.Errorf("unsubscribed: %v", got)
	}
	if _, err := k.bank.Send(raw); err != nil {
		t.Fatal(err)
	}

	k.bank.Produce(1)
	if got := l.hears("signatureNotification", received); at(got, "value") != "receivedSignature" {
		t.Errorf("%v", got)
	}
	if got := l.hears("signatureNotification", received); at(got, "value", "err") != nil || at(got, "context", "slot") != 4.0 {
		t.Errorf("%v", got)
	}
	if got := l.hears("logsNotification", all); at(got, "value", "signature") != tx.ID.String() || len(at(got, "value", "logs").([]any)) != 2 {
		t.Errorf("%v", got)
	}
	if d := cmp.Diff(object{"parent": 3.0, "root": 2.0, "slot": 4.0}, l.hears("slotNotification", slots)); d != "" {
		t.Error(d)
	}
	if got := l.hears("rootNotification", roots); got != 2.0 {
		t.Errorf("%v", got)
	}

	k.bank.Produce(1)
	if got := l.hears("signatureNotification", sig); at(got, "context", "slot") != 4.0 {
		t.Errorf("%v", got)
	}
	if got := l.hears("accountNotification", account); at(got, "value", "lamports") != float64(11*sol) {
		t.Errorf("%v", got)
	}
	l.hears("slotNotification", slots)
	l.hears("rootNotification", roots)

	k.bank.Produce(1)
	if got := l.hears("logsNotification", logs); at(got, "value", "signature") != tx.ID.String() || at(got, "context", "slot") != 4.0 {
		t.Errorf("%v", got)
	}
	l.hears("slotNotification", slots)
	l.hears("rootNotification", roots)

	// What is over already is said at once.
	again := l.call("signatureSubscribe", tx.ID.String(), confirmed)
	l.hears("signatureNotification", again)
	if got := l.call("signatureUnsubscribe", again); got != "Invalid subscription id." {
		t.Errorf("a subscription that has ended: %v", got)
	}
	for method, p := range map[string][]any{
		"logsSubscribe": {"some"}, "accountSubscribe": {"x"}, "signatureSubscribe": {}, "programSubscribe": {5},
	} {
		if text, ok := l.call(method, p...).(string); !ok || !strings.HasPrefix(text, "Invalid param") {
			t.Errorf("%s: %q", method, text)
		}
	}
	if got := l.call("blockSubscribe", "all"); got != "Method not found" {
		t.Errorf("%v", got)
	}
}

// TestForkIsHeard subscribes to what a fork takes out and a later block has again.
func TestForkIsHeard(t *testing.T) {
	k := newManual(t, bank.Options{})
	k.bank.Produce(2)
	alice, bob := key("alice").PublicKey(), key("bob").PublicKey()
	l := k.dial()
	logs := l.call("logsSubscribe", "all", object{"commitment": "processed"})
	account := l.call("accountSubscribe", bob.String(), object{"commitment": "processed", "encoding": "base64"})
	program := l.call("programSubscribe", wire.TokenProgram.String(), object{"commitment": "processed", "encoding": "base64", "filters": []any{object{"dataSize": 165}}})
	k.send("alice", wire.Transfer(alice, bob, sol), wire.EnsureATA(alice, bob, mint))
	k.bank.Produce(1)
	l.hears("logsNotification", logs)
	l.hears("accountNotification", account)
	if got := l.hears("programNotification", program); at(got, "value", "pubkey") != wire.ATA(bob, mint).String() {
		t.Errorf("%v", got)
	}
	trial.Do(t, k.bank.Fork(1, false))
	if got := l.hears("accountNotification", account); at(got, "value", "lamports") != float64(10*sol) {
		t.Errorf("%v", got)
	}
	k.bank.Produce(1)
	l.hears("logsNotification", logs)
	if got := l.hears("accountNotification", account); at(got, "value", "lamports") != float64(11*sol) {
		t.Errorf("%v", got)
	}
}

// TestSocketFaults lets websockets misbehave.
func TestSocketFaults(t *testing.T) {
	k := newManual(t, bank.Options{})
	l := k.dial()
	l.call("slotSubscribe")
	k.server.Misbehave(solana.NodeFault{Silent: true})
	k.bank.Produce(1)
	if got := l.call("getSlot"); got != 1.0 {
		t.Errorf("%v", got)
	}
	k.server.Misbehave(solana.NodeFault{NoSockets: true})
	if _, _, err := websocket.Dial(k.ctx, k.server.SocketURL(), nil); err == nil {
		t.Error("a websocket was opened")
	}
	k.server.Misbehave(solana.NodeFault{Down: true})
	l.write(object{"jsonrpc": "2.0", "id": 1, "method": "getSlot"})
	for { // a notice may have been under way
		_, frame, err := l.conn.Read(k.ctx)
		if err != nil {
			break
		}
		if !strings.Contains(string(frame), "slotNotification") {
			t.Fatalf("there was an answer: %s", frame)
		}
	}
	k.server.Misbehave(solana.NodeFault{})
	l = k.dial()
	trial.Do(t, k.server.Close())
	if _, _, err := l.conn.Read(k.ctx); err == nil {
		t.Error("a closed server goes on")
	}
}
