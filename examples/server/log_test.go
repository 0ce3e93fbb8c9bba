package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A duration in a log is one for people, in either form, wherever it stands.
func TestDurationsInLogs(t *testing.T) {
	for _, format := range []string{"json", "text"} {
		var out bytes.Buffer
		(&config{LogFormat: format}).logger(&out).With("since", 90*time.Second).Info("x", "rest", 1500*time.Millisecond, slog.Group("g", "wait", time.Hour))
		text := out.String()
		for _, want := range []string{"1m30s", "1.5s", "1h0m0s"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s lacks %s", format, text, want)
			}
		}
		if strings.Contains(text, "00000000") {
			t.Errorf("%s: nanoseconds in %s", format, text)
		}
	}
}
