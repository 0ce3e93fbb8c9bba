package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
)

// misuse is an error of the command line.
type misuse struct{ error }

// Unwrap returns what is wrong.
func (m misuse) Unwrap() error { return m.error }

// unsuccessful is the end of a watched swap that did not pay out.
type unsuccessful struct{ error }

// The values of the exit status; 0 is success.
const (
	exitFailed       = 1
	exitMisuse       = 2
	exitUnsuccessful = 3
	exitLater        = 4
)

// status returns the exit status that an error ends the program with.
func status(err error) int {
	if _, ok := errors.AsType[misuse](err); ok {
		return exitMisuse
	}
	if _, ok := errors.AsType[unsuccessful](err); ok {
		return exitUnsuccessful
	}
	if code := fault.CodeOf(err); code == fault.Upstream || code == fault.Timeout {
		return exitLater
	}
	return exitFailed
}

// fail writes an error: with -json as the HTTP interface does, otherwise as a sentence with
// the service's code.
func (c *cli) fail(w io.Writer, err error) {
	e, coded := errors.AsType[*fault.Error](err)
	if c.json {
		answer := struct {
			Error string     `json:"error"`
			Code  fault.Code `json:"code,omitempty"`
			Field string     `json:"field,omitempty"`
			Min   string     `json:"min,omitempty"`
			Max   string     `json:"max,omitempty"`
		}{Error: err.Error()}
		if coded {
			answer.Code, answer.Field = e.Code, e.Field
			if e.Min != nil {
				answer.Min = e.Min.String()
			}
			if e.Max != nil {
				answer.Max = e.Max.String()
			}
		}
		if _, wrong := errors.AsType[misuse](err); wrong && !coded {
			answer.Code = fault.InvalidInput
		}
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		_ = out.Encode(answer)
		return
	}
	if coded {
		err = fmt.Errorf("%s (%s)", inFlags(err.Error()), e.Code)
	}
	fmt.Fprintln(w, err)
}

// away says of a service that nothing listens where it is looked for.
func away(err error, base string) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("no service listens at %s; start one there, or name another with -url or $SWAPPER_URL: %w", base, err)
	}
	return err
}

// inFlags names the flags in place of the interface's field and amount types in an error.
func inFlags(text string) string {
	field, rest, ok := strings.Cut(text, ": ")
	if field == "amountType" {
		rest = strings.NewReplacer(string(swapper.ExactIn), "-in", string(swapper.ExactOut), "-out").Replace(rest)
	}
	flag := map[string]string{"amountType": "amount", "srcToken": "from", "dstToken": "to", "srcAddress": "-payer", "dstAddress": "-recipient", "bitcoinAddress": "-bitcoin", "bitcoinPublicKey": "-public-key", "gasAmount": "-gas"}[field]
	if !ok || flag == "" {
		return text
	}
	return flag + ": " + rest
}
