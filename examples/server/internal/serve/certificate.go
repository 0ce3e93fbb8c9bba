package serve

import (
	"crypto/tls"
	"log/slog"
)

// Certificate is a certificate and its key in two PEM files that may be replaced while
// the server runs, as by certbot or a secret of Kubernetes. It is safe for concurrent
// use; make it with [NewCertificate].
type Certificate struct {
	pair *Value[*tls.Certificate]
}

// NewCertificate reads the files, so that wrong ones are found at the start. Files that
// do not belong together, as between the writing of the two, leave the pair before
// in force, and log, which may be nil, says so.
func NewCertificate(certFile, keyFile string, log *slog.Logger) (*Certificate, error) {
	pair, err := Watch(log, func() (*tls.Certificate, error) {
		c, err := tls.LoadX509KeyPair(certFile, keyFile)
		return &c, err
	}, certFile, keyFile)
	if err != nil {
		return nil, err
	}
	return &Certificate{pair}, nil
}

// Get is for [tls.Config].GetCertificate.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Get(), nil }

// Config returns the configuration of a server: TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{GetCertificate: c.Get, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
}
