package lp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
)

// Fault is how an LP misbehaves. The zero value is an honest LP; several faults
// may be combined. What concerns one answer is looked at when the answer is made,
// what concerns a swap whenever the LP would do the deed.
type Fault struct {
	// On limits the faults of transport to calls whose path contains it, as in
	// /tobtc/payInvoice; "" is all calls.
	On          string
	Down        bool          // connections are cut without an answer
	Status      int           // calls are answered with this HTTP status and a text
	Stall       time.Duration // before anything is answered; longer than a call lasts: it hangs
	StallWithin time.Duration // after the first byte of the answer
	CutWithin   bool          // the connection is cut within the answer
	Garbage     bool          // answers are no JSON
	Endless     bool          // answers go on for ever

	// Answer changes answers of any call just before they leave: what a lie in a
	// field is made of. answer is the decoded JSON, numbers as json.Number. See [Lie].
	Answer func(path string, answer map[string]any)
	// Escrow changes escrows before they are signed or opened.
	Escrow EscrowLie
	// Auth changes authorisations after they are signed.
	Auth func(a *chains.Auth)
	// Invoice changes invoices before they are made.
	Invoice func(o *lightning.InvoiceOptions)

	StrangeInfo bool // /info is signed with the key of somebody else
	StrangeAuth bool // the same for authorisations

	UnsureVault  bool // vaults are offered whatever is in them
	ForeignVault bool // vaults with another token are offered
	SpentVault   bool // vaults whose Bitcoin output is spent are offered

	NotPayable   bool      // refuses to pay what was opened, and gives refunds
	NeverPay     bool      // what was opened is never paid for, nor refunded
	NoRefund     bool      // early refunds are refused with code 20008
	NeverOpen    bool      // the escrow of a held payment is never opened, nor is the user let open it
	NeverRefund  bool      // what the user should have claimed stays open after its time
	FalseEscrow  EscrowLie // getInvoiceStatus delivers another escrow than the one that was opened
	NeverClaim   bool      // what the LP has paid for is never claimed
	NeverSettle  bool      // held payments are not taken
	FalsePayment bool      // getRefundAuthorization names a payment that was not made

	Withhold    bool // posted PSBTs are not broadcast, though the answer says so
	LosePost    bool // posted PSBTs are broadcast, and the connection is cut
	DenyPost    int  // posted PSBTs are refused with this code, and not looked at
	RefusePost  bool // posted PSBTs are broadcast, and the answer is a refusal
	UnknownPost bool // posted PSBTs are broadcast once the fault has ended; until then the answer is that they are unknown
	BusyPost    bool // posted PSBTs are not looked at, since another call is said to be at it
	DoubleSpend bool // the vault's output is spent otherwise instead, and the answer says that the PSBT was broadcast
}

// Lie returns a value for [Fault.Answer] that sets one field of the answers of
// calls whose path contains on. The field is a path as in data.total; a value of
// nil leaves the field out.
func Lie(on, field string, value any) func(path string, answer map[string]any) {
	return Change(on, field, func(any) any { return value })
}

// Change is [Lie] with a value that depends on the true one.
func Change(on, field string, change func(true any) any) func(path string, answer map[string]any) {
	return func(path string, answer map[string]any) {
		if !strings.Contains(path, on) {
			return
		}
		at := answer
		names := strings.Split(field, ".")
		for _, name := range names[:len(names)-1] {
			next, ok := at[name].(map[string]any)
			if !ok {
				return // another kind of answer
			}
			at = next
		}
		last := names[len(names)-1]
		if v := change(at[last]); v != nil {
			at[last] = v
		} else {
			delete(at, last)
		}
	}
}

// Plus returns a change for [Change] that adds to a decimal string or number.
func Plus(n int64) func(any) any {
	return func(v any) any {
		old, ok := parseBig(json.RawMessage(fmt.Sprint(v)))
		if !ok {
			return v
		}
		old.Add(old, bigInt(n))
		if _, isText := v.(string); isText {
			return old.String()
		}
		return json.Number(old.String())
	}
}

// Misbehave changes what is wrong with the LP from now on.
func (l *LP) Misbehave(f Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = f
}

func (l *LP) faults() Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// mutate applies [Fault.Answer].
func (l *LP) mutate(req *http.Request, o object) (any, error) {
	f := l.faults()
	if f.Answer == nil {
		return o, nil
	}
	raw, err := text(o)
	if err != nil {
		return nil, err
	}
	var answer map[string]any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(&answer); err != nil {
		return nil, err
	}
	f.Answer(req.URL.Path, answer)
	return answer, nil
}

// sabotage is what goes wrong between the LP and its clients.
func (l *LP) sabotage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		f := l.faults()
		if !strings.Contains(req.URL.Path, f.On) {
			next.ServeHTTP(w, req)
			return
		}
		if f.Stall > 0 && !l.sleep(req, f.Stall) || f.Down {
			panic(http.ErrAbortHandler)
		}
		switch {
		case f.Status != 0:
			http.Error(w, "the LP is unwell", f.Status)
		case f.Garbage:
			_, _ = w.Write([]byte("<html>\xff\x00 no JSON"))
		case f.Endless:
			l.endless(w, req)
		case f.StallWithin > 0 || f.CutWithin:
			next.ServeHTTP(&troubled{ResponseWriter: w, l: l, req: req, f: f}, req)
		default:
			next.ServeHTTP(w, req)
		}
	})
}

// sleep reports whether the time passed before the client left or the LP closed.
func (l *LP) sleep(req *http.Request, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-req.Context().Done():
	case <-l.closed:
	}
	return false
}

func (l *LP) endless(w http.ResponseWriter, req *http.Request) {
	w.Header()["Content-Type"] = []string{streamType}
	chunk := []byte("\x14\x00\x00\x00{\"x\":\"aaaaaaaaaaaa\"}")
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
		select {
		case <-req.Context().Done():
			return
		case <-l.closed:
			return
		default:
		}
	}
}

// troubled breaks off or stalls within an answer.
type troubled struct {
	http.ResponseWriter
	l   *LP
	req *http.Request
	f   Fault
}

// Unwrap is for http.ResponseController.
func (t *troubled) Unwrap() http.ResponseWriter { return t.ResponseWriter }

func (t *troubled) Write(b []byte) (int, error) {
	if len(b) < 2 {
		return t.ResponseWriter.Write(b)
	}
	half := len(b) / 2
	if n, err := t.ResponseWriter.Write(b[:half]); err != nil {
		return n, err
	}
	if err := http.NewResponseController(t.ResponseWriter).Flush(); err != nil {
		return half, err
	}
	if t.f.StallWithin > 0 && !t.l.sleep(t.req, t.f.StallWithin) || t.f.CutWithin {
		panic(http.ErrAbortHandler)
	}
	n, err := t.ResponseWriter.Write(b[half:])
	return half + n, err
}
