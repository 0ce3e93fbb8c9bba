package serve

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// minSecret is the length below which a text is not looked for: it would be found in
// words.
const minSecret = 8

// Redact returns a handler that writes *** in the place of secrets, wherever in a
// message or an attribute they are: for what a configuration holds, should an error of
// some library tell it. Secrets of fewer than 8 bytes are not looked for. Nothing
// that swapper logs itself has secrets; this is a second line.
func Redact(next slog.Handler, secrets ...string) slog.Handler {
	secrets = slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return len(s) < minSecret })
	if len(secrets) == 0 {
		return next
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, "***")
	}
	return &redacting{next, strings.NewReplacer(pairs...)}
}

type redacting struct {
	next    slog.Handler
	secrets *strings.Replacer
}

// Enabled implements [slog.Handler].
func (h *redacting) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h *redacting) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.secrets.Replace(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

// WithAttrs implements [slog.Handler].
func (h *redacting) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return &redacting{h.next.WithAttrs(clean), h.secrets}
}

// WithGroup implements [slog.Handler].
func (h *redacting) WithGroup(name string) slog.Handler {
	return &redacting{h.next.WithGroup(name), h.secrets}
}

func (h *redacting) attr(a slog.Attr) slog.Attr {
	return slog.Attr{Key: h.secrets.Replace(a.Key), Value: h.value(a.Value.Resolve())}
}

func (h *redacting) value(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(h.secrets.Replace(v.String()))
	case slog.KindGroup:
		group := make([]slog.Attr, len(v.Group()))
		for i, a := range v.Group() {
			group[i] = h.attr(a)
		}
		return slog.GroupValue(group...)
	case slog.KindAny:
		switch x := v.Any().(type) {
		case error:
			return slog.StringValue(h.secrets.Replace(x.Error()))
		case fmt.Stringer:
			return slog.StringValue(h.secrets.Replace(x.String()))
		}
		// Of anything else the text decides whether it can be logged as it is.
		if text := fmt.Sprintf("%+v", v.Any()); h.secrets.Replace(text) != text {
			return slog.StringValue(h.secrets.Replace(text))
		}
	}
	return v
}
