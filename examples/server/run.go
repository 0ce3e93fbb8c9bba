package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/server/internal/serve"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/watchtower"
)

// server is what runs. Whatever it opens, the parts close.
type server struct {
	*parts
	config *config
	log    *slog.Logger
	store  store
	copies *backups          // nil: none
	watch  *watchtower.Tower // nil: none
	client *swapper.Client
}

// run serves until ctx ends. With check it ends once it is known what the start would find.
func run(ctx context.Context, c *config, check bool, log *slog.Logger) (err error) {
	p, err := c.build(ctx, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if check {
		return c.rehearse(ctx, p.swaps, log)
	}
	if err := c.tryPlaces(ctx, nil); err != nil {
		return err
	}
	log.Info("starting", "config", c.file, "bitcoinNetwork", p.swaps.Network.String(), "chains", slices.Sorted(maps.Keys(c.Chains)), "store", c.where())
	said := make(chan struct{})
	unsaid := context.AfterFunc(ctx, func() {
		defer close(said)
		log.Info("ending: no new connections, and requests in progress may finish", "grace", time.Duration(c.StopGrace))
	})
	defer func() {
		if !unsaid() {
			<-said
		}
	}()
	s := &server{parts: p, config: c, log: log}
	if err := s.open(ctx); err != nil {
		return err
	}
	if err := s.work(ctx); err != nil {
		return err
	}
	return s.serve(ctx)
}

// open opens the stores, and the watchtower and the client on them.
func (s *server) open(ctx context.Context) error {
	var file, claims *bolt.Store
	var err error
	if s.store, file, err = s.config.openStore(ctx); err != nil {
		return err
	}
	s.last(s.store.Close)
	s.swaps.Store = s.store
	if s.tower != nil {
		kept, own, err := s.config.openTowerStore(ctx)
		if err != nil {
			return err
		}
		s.last(kept.Close)
		s.tower.Store, claims = kept, own
	}
	if s.copies, err = s.config.backups(file, claims, s.log); err != nil {
		return err
	}
	if s.swaps.clock != nil {
		stop, err := s.swaps.clock.start(ctx)
		if err != nil {
			return fmt.Errorf("clock: %w", err)
		}
		s.last(func() error { stop(); return nil })
	}
	if s.tower != nil {
		if s.watch, err = s.config.openTower(ctx, s.tower); err != nil {
			return err
		}
		s.last(s.watch.Close)
		s.swaps.Claimer = s.watch
	}
	if s.client, err = swapper.Open(ctx, s.swaps.Config); err != nil {
		return err
	}
	s.last(s.client.Close)
	s.source.Client = s.client
	s.service.admission.instances = s.client.Instances
	s.service.health = &health{ready: s.client.Ready, log: s.log}
	for _, f := range s.swaps.Chains {
		s.service.health.chains = append(s.service.health.chains, f.ID())
	}
	return nil
}

// work begins the background work. It goes on while requests finish.
func (s *server) work(ctx context.Context) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	s.last(func() error { stop(); working.Wait(); return nil })
	background := func(what string, f func(context.Context) error) {
		working.Go(func() {
			if err := f(work); err != nil && work.Err() == nil {
				s.log.Error("the background work ended", "what", what, "err", err)
			}
		})
	}
	background("swaps", s.client.Run)
	if s.watch != nil {
		background("watchtower", s.watch.Run)
		if s.service.metrics != nil {
			s.service.metrics.Watchtower(s.watch)
		}
	}
	var told endpoints
	if s.config.Webhooks != nil {
		s.hooks.Store, s.hooks.Now = s.store, s.swaps.Now
		sender, err := webhook.New(s.client, s.hooks)
		if err != nil {
			return fmt.Errorf("webhooks: %w", err)
		}
		if told = sender; s.service.metrics != nil {
			s.service.metrics.Webhooks(sender)
		}
		background("webhooks", sender.Run)
	}
	background("backups", func(ctx context.Context) error { s.copies.run(ctx); return nil })
	if s.config.Admin == nil {
		return nil
	}
	background("metrics", s.service.metrics.Follow)
	listener, err := s.listenAdmin()
	if err != nil {
		return err
	}
	background("admin", func(ctx context.Context) error {
		return serve.Run(ctx, listener, serve.Options{Handler: s.service.admin(s.config.Admin, s.copies, told), Grace: time.Second, Logger: s.log})
	})
	return nil
}

// listenAdmin listens for the operator.
func (s *server) listenAdmin() (net.Listener, error) {
	listener, err := net.Listen("tcp", s.config.Admin.Listen)
	if err != nil {
		return nil, fmt.Errorf("admin.listen: %w", err)
	}
	s.log.Info("listening for the operator", "address", listener.Addr().String())
	if at, err := netip.ParseAddrPort(listener.Addr().String()); err == nil && !at.Addr().IsLoopback() {
		s.log.Warn("admin.listen can be reached from other hosts, and its metrics and backups need no key: let only the operator reach it", "address", listener.Addr().String())
	}
	return listener, nil
}

// serve answers callers until ctx ends.
func (s *server) serve(ctx context.Context) error {
	c := s.config
	var more []httpapi.Operation
	endStreams := func() {}
	if c.Subscribe {
		streams := events.New(s.client, events.Options{Logger: s.log, Now: s.swaps.Now, Sender: s.service.admission.sender})
		s.last(func() error { streams.Close(); return nil })
		more, endStreams = append(more, streams.Operation()), streams.Close
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.log.Info("listening", "address", listener.Addr().String(), "tls", s.certificate != nil)
	return serve.Run(ctx, listener, serve.Options{
		Handler: s.service.handler(s.client, more...), Certificate: s.certificate, Connections: c.Limits.Connections, PerAddress: c.Limits.PerAddress, Trusted: c.TrustedProxies, Grace: time.Duration(c.StopGrace), Logger: s.log,
		Ending: func() { s.service.health.closing.Store(true); endStreams() },
	})
}
