package lightning

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/lnurl"
)

// Domain is the host of the services behind [LNURLServer.Transport].
const Domain = "lnurl.example"

// Options of the services.
type LNURLOptions struct {
	Node    *Node             // makes the invoices and pays the withdrawals
	Now     func() time.Time  // the clock of the network; nil: time.Now
	Address string            // listen address of the http side; "": a free port of 127.0.0.1
	Network *loopback.Network // where the servers listen; nil: loopback sockets
}

// Pay is an LNURL-pay service.
type Pay struct {
	Name             string // lower-case letters, digits, and ._+-
	MinMsat, MaxMsat int64
	Description      string // "": something with the name
	Comment          int    // how long a comment may be; 0: none is taken
	Action           *Action
}

// Action is what payers are shown once they have paid.
type Action struct {
	Tag         string // message, url or aes
	Text        string // message, and the secret of aes
	Description string // url, aes
	Path        string // url: on the service's own host, as in /thanks
}

// Withdraw is an LNURL-withdraw service, which pays once.
type Withdraw struct {
	Name             string
	MinMsat, MaxMsat int64
	Description      string
}

// Links are the forms of one service.
type Links struct {
	URL        string // http on loopback
	LNURL      string // bech32 of URL
	Secure     string // lnurlp:// or lnurlw:// of [Domain]
	Identifier string // Lightning address at [Domain]; pay services only
}

// Issued is an invoice that a pay service has made.
type Issued struct {
	Name, Invoice, Comment string
	AmountMsat             int64 // that was asked for
	Preimage               [32]byte
}

// Paid is an invoice that a withdraw service was given and agreed to pay.
type Paid struct{ Name, Invoice string }

// LNURLServer is the running services. Its methods are safe for concurrent use.
type LNURLServer struct {
	*loopback.Server
	options     LNURLOptions
	secure      *loopback.Server
	trust       *tls.Config     // that clients need
	certificate []byte          // PEM
	others      *http.Transport // behind Transport

	mu        sync.Mutex
	fault     LNURLFault
	pays      map[string]Pay
	withdraws map[string]*withdrawal
	issued    []Issued
	paid      []Paid
}

// withdrawal is a withdraw service with the secret of its link.
type withdrawal struct {
	Withdraw
	k1   string
	used bool
}

// StartLNURL starts the services, of which there are none yet.
func StartLNURL(o LNURLOptions) (*LNURLServer, error) {
	if o.Node == nil {
		return nil, errors.New("the services need a Lightning node")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &LNURLServer{options: o, pays: map[string]Pay{}, withdraws: map[string]*withdrawal{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/lnurlp/{name}", s.details(s.payDetails))
	mux.HandleFunc("GET /pay/{name}", s.details(s.payDetails))
	mux.HandleFunc("GET /pay/{name}/invoice", s.callback(s.invoice))
	mux.HandleFunc("GET /withdraw/{name}", s.details(s.withdrawDetails))
	mux.HandleFunc("GET /withdraw/{name}/pay", s.callback(s.withdraw))
	var err error
	if s.Server, err = o.Network.Serve(o.Address, mux); err != nil {
		return nil, err
	}
	var certificate tls.Certificate
	if certificate, s.trust, err = selfSigned(); err == nil {
		s.certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
		s.secure, err = o.Network.ServeTLS("", mux, certificate)
	}
	if err != nil {
		return nil, errors.Join(err, s.Server.Close())
	}
	s.others = &http.Transport{TLSClientConfig: s.trust, DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(address); err == nil && host == Domain {
			address = s.secure.Host()
		}
		return o.Network.DialContext(ctx, network, address)
	}}
	return s, nil
}

// Transport returns what clients need to reach the services at [Domain], over
// HTTPS: the library's Config.Transport.
func (s *LNURLServer) Transport() http.RoundTripper { return s.others }

// SecureHost returns host:port to dial for [Domain], over HTTPS.
func (s *LNURLServer) SecureHost() string { return s.secure.Host() }

// Certificate returns the certificate to accept there, PEM.
func (s *LNURLServer) Certificate() []byte { return s.certificate }

// Close ends the services. It may be called more than once.
func (s *LNURLServer) Close() error {
	s.others.CloseIdleConnections()
	return errors.Join(s.Server.Close(), s.secure.Close())
}

// AddPay adds a pay service, or replaces the one of that name.
func (s *LNURLServer) AddPay(p Pay) (Links, error) {
	s.mu.Lock()
	s.pays[p.Name] = p
	s.mu.Unlock()
	links, err := s.links("/pay/"+p.Name, "lnurlp")
	links.Identifier = p.Name + "@" + Domain
	return links, err
}

// AddWithdraw adds a withdraw service that pays once, or renews the one of that name.
func (s *LNURLServer) AddWithdraw(w Withdraw) (Links, error) {
	s.mu.Lock()
	s.withdraws[w.Name] = &withdrawal{Withdraw: w, k1: rand.Text()}
	s.mu.Unlock()
	return s.links("/withdraw/"+w.Name, "lnurlw")
}

func (s *LNURLServer) links(path, scheme string) (Links, error) {
	l := Links{URL: s.URL() + path, Secure: scheme + "://" + Domain + path}
	var err error
	if l.LNURL, err = lnurl.Encode(l.URL); err != nil {
		return l, fmt.Errorf("link of %s: %w", path, err)
	}
	return l, nil
}

// Misbehave changes what is wrong with the services from the next request on.
func (s *LNURLServer) Misbehave(f LNURLFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Issued returns the invoices that the pay services have made.
func (s *LNURLServer) Issued() []Issued {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Issued(nil), s.issued...)
}

// Paid returns the invoices that the withdraw services agreed to pay, whether they
// then did or not.
func (s *LNURLServer) Paid() []Paid {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Paid(nil), s.paid...)
}
