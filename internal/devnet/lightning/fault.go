package lightning

import (
	"encoding/json"
	"net/http"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

// LNURLFault is how the services misbehave. The zero value is good services; faults may
// be combined.
type LNURLFault struct {
	Details  loopback.Fault // of the answers to links
	Callback loopback.Fault // of the answers to callbacks
	Redirect string         // requests of both kinds are sent to this URL
	Refuse   string         // callbacks are refused with this reason

	// Lies of the answers to links.
	Tag         string // instead of the right one
	CallbackURL string // instead of the own one
	NoBounds    bool   // the minimum is above the maximum
	BadMetadata bool   // the metadata is not a list
	NoK1        bool

	// Lies of the invoices that pay services give.
	WrongHash    bool  // the invoice commits to other metadata
	Plain        bool  // it has a description, and no hash of one
	ExtraMsat    int64 // it is for so much more
	NoAmount     bool
	Expired      bool
	OtherNetwork bool // it is one of mainnet
	NoInvoice    bool // "pr" is missing
	Broken       bool // a character of it is another

	// Lies of success actions.
	UnknownAction  bool // an action with an unknown tag
	ForeignAction  bool // a url action leads to another host
	CorruptAction  bool // an aes action cannot be deciphered
	InsecureAction bool // a url action is a script

	// Lies of withdraw services.
	NeverPay   bool // they agree, and do not pay
	LoseAnswer bool // they pay, and cut the connection instead of agreeing
	Unclear    bool // they pay, and answer neither yes nor no
}

func (s *LNURLServer) now() LNURLFault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// answerer gives the JSON of an answer, or the reason of a refusal.
type answerer func(r *http.Request, f LNURLFault) (answer any, refusal string)

func (s *LNURLServer) details(of answerer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f := s.now()
		answer(w, r, f, f.Details, of)
	}
}

func (s *LNURLServer) callback(of answerer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f := s.now()
		answer(w, r, f, f.Callback, func(r *http.Request, f LNURLFault) (any, string) {
			if f.Refuse != "" {
				return nil, f.Refuse
			}
			return of(r, f)
		})
	}
}

func answer(w http.ResponseWriter, r *http.Request, f LNURLFault, own loopback.Fault, of answerer) {
	if f.Redirect != "" {
		http.Redirect(w, r, f.Redirect, http.StatusFound)
		return
	}
	if own.Spoil(w, r) {
		return
	}
	v, refusal := of(r, f)
	if refusal != "" {
		v = map[string]string{"status": "ERROR", "reason": refusal}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// base is the URL under which the client has called.
func base(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
