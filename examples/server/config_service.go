package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rs/cors"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/net/http/httpguts"

	"github.com/swapper-go/swapper/httpapi/webhook"
)

// corsConfig says which web pages may call the service.
type corsConfig struct {
	Origin         texts // one, a list, or "*"
	Methods        texts // GET, POST
	AllowedHeaders texts // Content-Type, Authorization, x-api-key, Last-Event-ID, Swap-Key
	ExposedHeaders texts // that pages may read, beside Retry-After and Link
	Credentials    bool  // pages may send cookies; of named origins only
	MaxAge         *int  // seconds for which a browser keeps the answer of a preflight; 600, 0: none
}

func (c *corsConfig) check() error {
	if c == nil {
		return nil
	}
	var all []error
	if len(c.Origin) == 0 {
		all = append(all, errors.New("cors.origin: is required: an origin such as https://app.example, a list of them, or \"*\""))
	}
	for _, o := range c.Origin {
		switch {
		case o == "*" && c.Credentials:
			all = append(all, errors.New("cors.credentials: cannot be combined with the origin \"*\": browsers refuse it; name the origins"))
		case o != "*" && (!strings.Contains(o, "://") || strings.HasSuffix(o, "/")):
			all = append(all, fmt.Errorf("cors.origin: %q must be a scheme and a host, such as https://app.example", o))
		}
	}
	for key, names := range map[string]texts{"methods": c.Methods, "allowedHeaders": c.AllowedHeaders, "exposedHeaders": c.ExposedHeaders} {
		for i, name := range names {
			if name != "*" && !httpguts.ValidHeaderFieldName(name) { // methods and names of headers have the same form
				all = append(all, fmt.Errorf("cors.%s[%d]: must be one name, such as POST of a method and x-api-key of a header", key, i))
			}
		}
	}
	if c.MaxAge != nil && (*c.MaxAge < 0 || *c.MaxAge > most) {
		all = append(all, fmt.Errorf("cors.maxAge: must be seconds, from 0 to %d", most))
	}
	return errors.Join(all...)
}

// middleware answers preflights, which carry no key, and marks all other answers.
func (c *corsConfig) middleware() func(http.Handler) http.Handler {
	if c == nil {
		return func(next http.Handler) http.Handler { return next }
	}
	o := cors.Options{AllowedOrigins: c.Origin, AllowedMethods: c.Methods, AllowedHeaders: c.AllowedHeaders, AllowCredentials: c.Credentials,
		ExposedHeaders: append([]string{"Retry-After", "Link"}, c.ExposedHeaders...), MaxAge: 600}
	override(&o.MaxAge, c.MaxAge)
	if o.MaxAge == 0 {
		o.MaxAge = -1 // the package's word for 0
	}
	if len(o.AllowedMethods) == 0 {
		o.AllowedMethods = []string{http.MethodGet, http.MethodPost}
	}
	if len(o.AllowedHeaders) == 0 {
		o.AllowedHeaders = []string{"Content-Type", "Authorization", "X-Api-Key", "Last-Event-ID", "Swap-Key"}
	}
	return cors.New(o).Handler
}

// webhooksConfig says who is told of changes by signed requests.
type webhooksConfig struct {
	Endpoints []struct {
		Name, URL string
		Secrets   texts  `secret:"text"` // one, or several while one replaces another
		SecretEnv string // variable with one more
	}
	AllowLocal bool     // http and addresses that are not public
	Keep       duration // of what is done; 0: 30 days
}

// options checks the endpoints.
func (c *webhooksConfig) options(log *slog.Logger) (webhook.Options, error) {
	o := webhook.Options{AllowLocal: c.AllowLocal, Keep: time.Duration(c.Keep), Logger: log}
	for i, e := range c.Endpoints {
		end := webhook.Endpoint{Name: e.Name, URL: e.URL, Secrets: slices.Clone([]string(e.Secrets))}
		if e.SecretEnv != "" {
			text := os.Getenv(e.SecretEnv)
			if text == "" {
				return o, fmt.Errorf("webhooks.endpoints[%d].secretEnv: names %s, which is not set", i, e.SecretEnv)
			}
			end.Secrets = append(end.Secrets, text)
		}
		o.Endpoints = append(o.Endpoints, end)
	}
	if err := o.Check(); err != nil {
		return o, fmt.Errorf("webhooks.%w", err)
	}
	return o, nil
}

// tracingConfig says where spans are sent.
type tracingConfig struct {
	Endpoint    string            `secret:"url"`  // OTLP over HTTP
	Headers     map[string]string `secret:"text"` // that the collector wants
	SampleRatio *float64          // of the requests; 1
	Service     string            // name; "swapper"
}

// provider sends spans in the background. It sends none by itself at first, so that
// a collector that is down stops nothing.
func (c *tracingConfig) provider(ctx context.Context) (*sdk.TracerProvider, error) {
	if !strings.HasPrefix(c.Endpoint, "http://") && !strings.HasPrefix(c.Endpoint, "https://") {
		return nil, errors.New("tracing.endpoint: must be a URL such as http://127.0.0.1:4318")
	}
	if err := c.checkHeaders(); err != nil {
		return nil, err
	}
	ratio, name := 1.0, c.Service
	override(&ratio, c.SampleRatio)
	if ratio < 0 || ratio > 1 {
		return nil, errors.New("tracing.sampleRatio: must be from 0 to 1")
	}
	if name == "" {
		name = "swapper"
	}
	url := c.Endpoint
	if rest := strings.SplitN(url, "/", 4); len(rest) < 4 || rest[3] == "" {
		url = strings.TrimSuffix(url, "/") + "/v1/traces" // as the specification has it
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(url), otlptracehttp.WithHeaders(c.Headers))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(ratio))),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", name)))), nil
}
