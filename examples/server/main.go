// Command server runs the swap service as a process: it serves the operations
// over HTTP, behind keys, limits and cross-origin rules, with metrics, traces and
// backups.
//
//	go run ./examples/server -config config.yaml
//	go run ./examples/server -from reference.yaml
//
// The second command takes a configuration of the reference service. config.example.yaml
// has every key; see also README.md and docs/operate.md. SIGINT and SIGTERM end it in
// order: it reports that it is not ready, accepts no new connections, and lets requests in
// progress finish. The swaps rest until the next start.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/server/internal/accesslog"
	"github.com/swapper-go/swapper/examples/server/internal/auth"
	"github.com/swapper-go/swapper/examples/server/internal/serve"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/watchtower"
)

func main() {
	var f from
	flag.StringVar(&f.file, "config", os.Getenv("SWAPPER_CONFIG"), "configuration file; $SWAPPER_CONFIG, or config.yaml, if not given")
	flag.StringVar(&f.reference, "from", "", "configuration file of the reference service, in place of -config; its swaps.db is in $STORAGE_DIR")
	listen := flag.String("listen", os.Getenv("SWAPPER_LISTEN"), "address to listen on, in place of the file's; $SWAPPER_LISTEN if not given")
	check := flag.Bool("check", false, "read the configuration and the files that it names, try what the start would do, and end")
	newKey := flag.Bool("new-key", false, "print a new API key and its hash, and end")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "%q is not a flag; see -help\n", flag.Arg(0))
		os.Exit(2)
	}
	if *newKey {
		key := auth.NewKey()
		fmt.Printf("key:    %s\nsha256: %x\n", key, sha256.Sum256([]byte(key)))
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := start(ctx, f, *listen, *check, os.Environ(), os.Stderr); err != nil {
		os.Exit(1)
	}
}

// from is where the configuration is.
type from struct {
	file      string // "": config.yaml
	reference string // of the reference service, in place of file
}

// load reads the configuration, with the overrides of the environment over it.
func (f from) load(environ []string) (*config, error) {
	if f.reference != "" {
		return loadReference(f.reference, environ)
	}
	c, err := load(cmp.Or(f.file, "config.yaml"), environ)
	if f.file == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: name the configuration with -config or $SWAPPER_CONFIG, or with -from one of the reference service; examples/server/config.example.yaml has every key", err)
	}
	return c, err
}

// start reads the configuration, serves by it, and says on output what went wrong. What
// it says holds no secret of the configuration.
func start(ctx context.Context, f from, listen string, check bool, environ []string, output io.Writer) error {
	if listen != "" {
		const key = prefix + "LISTEN="
		environ = append(slices.DeleteFunc(slices.Clone(environ), func(pair string) bool { return strings.HasPrefix(pair, key) }), key+listen)
	}
	c, err := f.load(environ)
	if err != nil {
		fmt.Fprintln(output, err)
		return err
	}
	log := c.logger(output)
	for _, note := range c.notes {
		log.Warn(note)
	}
	if err := run(ctx, c, check, log); err != nil {
		log.Error("ended", "err", err)
		return err
	}
	if check {
		log.Info("the configuration is good", "file", c.file)
		return nil
	}
	log.Info("ended")
	return nil
}

// logger writes lines without the configuration's secrets, and durations as 1.5s: in JSON they
// would be bare numbers of nanoseconds.
func (c *config) logger(output io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.LogLevel, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Value.Kind() == slog.KindDuration {
			a.Value = slog.StringValue(a.Value.Duration().String())
		}
		return a
	}}
	var handler slog.Handler = slog.NewJSONHandler(output, o)
	if c.LogFormat == "text" {
		handler = slog.NewTextHandler(output, o)
	}
	return slog.New(accesslog.Redact(handler, secrets(c)...))
}

// run serves until ctx ends. With check it ends once it is known what the start would find.
func run(ctx context.Context, c *config, check bool, log *slog.Logger) (err error) {
	var closers []func() error // in the order in which they are called
	defer func() {
		for _, end := range closers {
			err = errors.Join(err, end())
		}
	}()
	last := func(end func() error) { closers = append([]func() error{end}, closers...) }
	p, err := c.build(ctx, log)
	if err != nil {
		return err
	}
	last(p.Close)
	s, swaps := p.service, p.swaps
	if check {
		return c.rehearse(ctx, swaps, log)
	}
	if err := c.tryPlaces(ctx, nil); err != nil {
		return err
	}
	log.Info("starting", "config", c.file, "bitcoinNetwork", swaps.Network.String(), "chains", slices.Sorted(maps.Keys(c.Chains)), "store", c.where())
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

	store, file, err := c.openStore(ctx)
	if err != nil {
		return err
	}
	last(store.Close)
	swaps.Store = store
	copies, err := c.backups(file, log)
	if err != nil {
		return err
	}
	if swaps.clock != nil {
		stop, err := swaps.clock.start(ctx)
		if err != nil {
			return fmt.Errorf("clock: %w", err)
		}
		last(func() error { stop(); return nil })
	}
	var tower *watchtower.Tower
	if p.tower != nil {
		var end func() error
		if tower, end, err = c.openTower(ctx, p.tower); err != nil {
			return err
		}
		last(end)
		swaps.Claimer = tower
	}
	client, err := swapper.Open(ctx, swaps.Config)
	if err != nil {
		return err
	}
	last(client.Close)
	p.source.Client = client
	s.admission.instances = client.Instances
	s.health = &health{ready: client.Ready, log: log}
	for _, f := range swaps.Chains {
		s.health.chains = append(s.health.chains, f.ID())
	}

	// The background work goes on while requests finish.
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	last(func() error { stopWork(); working.Wait(); return nil })
	background := func(what string, f func(context.Context) error) {
		working.Go(func() {
			if err := f(work); err != nil && work.Err() == nil {
				log.Error("the background work ended", "what", what, "err", err)
			}
		})
	}
	background("swaps", client.Run)
	if tower != nil {
		background("watchtower", tower.Run)
		if s.metrics != nil {
			s.metrics.Watchtower(tower)
		}
	}
	var told endpoints
	if c.Webhooks != nil {
		p.hooks.Store, p.hooks.Now = store, swaps.Now
		sender, err := webhook.New(client, p.hooks)
		if err != nil {
			return fmt.Errorf("webhooks: %w", err)
		}
		if told = sender; s.metrics != nil {
			s.metrics.Webhooks(sender)
		}
		background("webhooks", sender.Run)
	}
	background("backups", func(ctx context.Context) error { copies.run(ctx); return nil })
	if c.Admin != nil {
		background("metrics", s.metrics.Follow)
		listener, err := net.Listen("tcp", c.Admin.Listen)
		if err != nil {
			return fmt.Errorf("admin.listen: %w", err)
		}
		log.Info("listening for the operator", "address", listener.Addr().String())
		if at, err := netip.ParseAddrPort(listener.Addr().String()); err == nil && !at.Addr().IsLoopback() {
			log.Warn("admin.listen can be reached from other hosts, and its metrics and backups need no key: let only the operator reach it", "address", listener.Addr().String())
		}
		background("admin", func(ctx context.Context) error {
			return serve.Run(ctx, listener, serve.Options{Handler: s.admin(c.Admin, copies, told), Grace: time.Second, Logger: log})
		})
	}
	var more []httpapi.Operation
	endStreams := func() {}
	if c.Subscribe {
		streams := events.New(client, events.Options{Logger: log, Now: swaps.Now, Sender: s.admission.sender})
		last(func() error { streams.Close(); return nil })
		more, endStreams = append(more, streams.Operation()), streams.Close
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	log.Info("listening", "address", listener.Addr().String(), "tls", p.certificate != nil)
	return serve.Run(ctx, listener, serve.Options{
		Handler: s.handler(client, more...), Certificate: p.certificate, Connections: c.Limits.Connections, PerAddress: c.Limits.PerAddress, Trusted: c.TrustedProxies, Grace: time.Duration(c.StopGrace), Logger: log,
		Ending: func() { s.health.closing.Store(true); endStreams() },
	})
}

// later is a client that is opened after what measures it was made.
type later struct{ *swapper.Client }

// Stats implements package metrics.
func (l *later) Stats(ctx context.Context) (*swapper.Stats, error) {
	if l.Client == nil {
		return nil, swapper.ErrClosed
	}
	return l.Client.Stats(ctx)
}

func or(n, usual int) int {
	if n == 0 {
		return usual
	}
	return n
}
