// Command server is the swap service as a process of its own: the operations
// over HTTP, behind keys, limits and cross-origin rules.
//
//	go run ./examples/server -config config.json
//
// See config.example.json and README.md. SIGINT and SIGTERM end it in order: no new
// connections, requests in progress finish, then the swaps rest until the next
// start.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/storage/bolt"
)

func main() {
	usual := os.Getenv("SWAPPER_CONFIG")
	if usual == "" {
		usual = "config.json"
	}
	path := flag.String("config", usual, "configuration file; $SWAPPER_CONFIG if not given")
	listen := flag.String("listen", os.Getenv("SWAPPER_LISTEN"), "address to listen on, in place of the file's; $SWAPPER_LISTEN if not given")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *path, *listen); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, path, listen string) (err error) {
	c, err := load(path)
	if err != nil {
		return err
	}
	if listen != "" {
		c.Listen = listen
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: c.LogLevel}))
	gate, err := newGate(c.Auth, c.RateLimit)
	if err != nil {
		return err
	}
	swaps, err := c.swaps(log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, swaps.Close()) }()
	store, err := bolt.Open(ctx, c.path(c.Store), bolt.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	swaps.Store = store
	if swaps.clock != nil {
		stop, err := swaps.clock.start(ctx)
		if err != nil {
			return fmt.Errorf("clock: %w", err)
		}
		defer stop()
	}
	client, err := swapper.Open(ctx, swaps.Config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()

	s := &service{gate: gate, limits: newLimiter(time.Now), global: c.RateLimit, trusted: c.TrustedProxies, log: log, ready: client.Ready}
	for _, f := range swaps.Chains {
		s.chains = append(s.chains, f.ID())
	}
	server := &http.Server{
		Handler: s.handler(client, c.BasePath, c.CORS), ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return err
	}
	if c.HTTPS != nil {
		pair, err := newCertificate(c.path(c.HTTPS.CertPath), c.path(c.HTTPS.KeyPath), log)
		if err != nil {
			return errors.Join(fmt.Errorf("https: %w", err), listener.Close())
		}
		listener = tls.NewListener(listener, &tls.Config{GetCertificate: pair.get, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}})
	}
	return s.serve(ctx, server, listener, client.Run)
}

// serve answers requests, with the background work beside it, until ctx ends or
// the listener fails. Requests in progress then have half a minute to finish.
func (s *service) serve(ctx context.Context, server *http.Server, listener net.Listener, background func(context.Context) error) error {
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		if err := background(work); err != nil && work.Err() == nil {
			s.log.Error("the background work ended", "err", err)
		}
	}()
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	s.log.Info("listening", "address", listener.Addr())

	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		s.closing.Store(true)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if err = server.Shutdown(last); err != nil {
			err = errors.Join(err, server.Close())
		}
	}
	stopWork()
	<-worked
	return err
}
