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
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/server/internal/auth"
	"github.com/swapper-go/swapper/examples/server/internal/serve"
)

func main() {
	var f from
	flag.StringVar(&f.file, "config", os.Getenv("SWAPPER_CONFIG"), "configuration file; $SWAPPER_CONFIG, or config.yaml, if not given")
	flag.StringVar(&f.reference, "from", "", "configuration file of the reference service, in place of -config; its swaps.db is in $STORAGE_DIR")
	listen := flag.String("listen", os.Getenv("SWAPPER_LISTEN"), "address to listen on, in place of the file's; $SWAPPER_LISTEN if not given")
	check := flag.Bool("check", false, "read the configuration and the files that it names, try what the start would do, and end")
	newKey := flag.Bool("new-key", false, "print a new API key and its hash, and end")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: server [flags]: serve swaps over HTTP as a configuration file says; examples/server/README.md has more\n\n"+
			"For example: server -config examples/server/config.example.yaml\n\nFlags:")
		flag.PrintDefaults()
	}
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
	return slog.New(serve.Redact(handler, secrets(c)...))
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
