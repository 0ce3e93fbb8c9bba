package main

import (
	"crypto/tls"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is a pair of files that may be replaced while the server runs.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	current *tls.Certificate
	stamp   [2]time.Time // when the files were last changed
	looked  time.Time
}

// newCertificate reads the files once, so that wrong ones are found at the start.
func newCertificate(cert, key string, log *slog.Logger) (*certificate, error) {
	c := &certificate{cert: cert, key: key, log: log}
	return c, c.reload()
}

func (c *certificate) reload() error {
	var stamp [2]time.Time
	for i, name := range []string{c.cert, c.key} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		stamp[i] = info.ModTime()
	}
	if c.current != nil && stamp == c.stamp {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return err
	}
	c.current, c.stamp = &pair, stamp
	return nil
}

// get is for tls.Config.GetCertificate. It looks at the files once a second at
// most. A pair that cannot be read, as between the writing of the two files,
// leaves the old one in place.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= time.Second {
		c.looked = now
		if err := c.reload(); err != nil {
			c.log.Warn("the certificate stays as it was", "err", err)
		}
	}
	return c.current, nil
}
