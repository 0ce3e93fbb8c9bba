package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/swapper-go/swapper/examples/server/internal/serve"
	"github.com/swapper-go/swapper/httpapi/limit"
	"github.com/swapper-go/swapper/httpapi/metrics"
	"github.com/swapper-go/swapper/httpapi/tracing"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/watchtower"
)

// parts are what a configuration makes before the store is opened. Making them sends no request.
// They close what is opened later too.
type parts struct {
	service     *service
	swaps       *settings
	source      *later // of the metrics
	certificate *serve.Certificate
	hooks       webhook.Options
	tower       *watchtower.Config // nil: none
	closers     []func() error     // in the order in which they are called
}

// last adds what Close calls before everything that was added earlier.
func (p *parts) last(end func() error) { p.closers = append([]func() error{end}, p.closers...) }

// Close ends what was made.
func (p *parts) Close() (err error) {
	for _, end := range p.closers {
		err = errors.Join(err, end())
	}
	return err
}

// build makes the parts of a configuration, or finds everything that is wrong with it.
func (c *config) build(ctx context.Context, log *slog.Logger) (*parts, error) {
	all := []error{c.check()}
	failed := func(err error, key string) bool {
		switch {
		case err != nil && key == "":
			all = append(all, err)
		case err != nil:
			all = append(all, fmt.Errorf("%s%w", key, err))
		}
		return err != nil
	}
	p := &parts{source: &later{}}
	s := &service{base: c.BasePath, unknown: c.UnknownMembers, places: limit.Places{Total: or(c.Limits.Requests, usualRequests), Each: or(c.Limits.PerSender, usualPerSender)}, log: log}
	p.service, s.cors = s, func(next http.Handler) http.Handler { return next }
	var err error
	s.admission, err = c.admission(log)
	failed(err, "")
	if c.CORS.check() == nil {
		s.cors = c.CORS.middleware()
	}
	if c.HTTPS != nil {
		p.certificate, err = serve.NewCertificate(c.path(c.HTTPS.CertPath), c.path(c.HTTPS.KeyPath), log)
		failed(err, "https: ")
	}
	if c.Tracing != nil {
		if provider, err := c.Tracing.provider(ctx); !failed(err, "") {
			p.last(func() error { return provider.Shutdown(context.WithoutCancel(ctx)) })
			s.tracer = tracing.New(provider, c.BasePath, "subscribe")
		}
	}
	if c.Admin != nil {
		s.metrics = metrics.New(metrics.Options{Client: p.source, BasePath: c.BasePath, Operations: []string{"subscribe"}, Store: c.storePath()})
	}
	if p.swaps, err = c.swaps(nodes{s.metrics, s.tracer}, log); !failed(err, "") {
		p.last(p.swaps.Close)
		p.tower, err = c.watchtower(p.swaps, log)
		failed(err, "")
	}
	if c.Webhooks != nil {
		p.hooks, err = c.Webhooks.options(log)
		failed(err, "")
	}
	if err := errors.Join(all...); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}
