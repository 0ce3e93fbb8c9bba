package swapper_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestSecretIsNeverPrinted(t *testing.T) {
	const preimage = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	in := swapper.GetSwapStatusInput{SwapID: "id", Secret: preimage, SwapKey: swapper.Secret(preimage[:32])}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%5.3v", "%T %v"} {
		args := []any{in}
		if strings.HasPrefix(verb, "%T") {
			args = append(args, &in)
		}
		fmt.Fprintf(&out, verb, args...)
		fmt.Fprintf(&out, strings.ReplaceAll(verb, "%T ", ""), in.Secret)
		fmt.Fprintf(&out, strings.ReplaceAll(verb, "%T ", ""), []swapper.Secret{in.Secret})
	}
	var text, structured bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&text, nil), slog.NewJSONHandler(&structured, nil)} {
		slog.New(handler).Info("status", "secret", in.Secret, "in", in, "pointer", &in)
	}
	marshalled := trial.Must(json.Marshal(in))(t)
	all := out.String() + text.String() + structured.String() + string(marshalled)
	for _, form := range []string{preimage, fmt.Sprintf("%x", preimage), fmt.Sprintf("%X", preimage), preimage[:5]} {
		if strings.Contains(all, form) {
			t.Fatalf("the secret shows in %s", all)
		}
	}
	for name, s := range map[string]string{"fmt": out.String(), "text log": text.String(), "JSON log": structured.String(), "JSON": string(marshalled)} {
		if !strings.Contains(s, "***") {
			t.Errorf("%s: no mark that a secret was given: %s", name, s)
		}
	}
	if in.Secret.Reveal() != preimage {
		t.Error("Reveal changes the secret")
	}
	if s := fmt.Sprintf("%v|%s|%q", swapper.Secret(""), swapper.Secret(""), swapper.Secret("").String()); s != `||""` {
		t.Errorf("an empty secret prints as %s", s)
	}
}
