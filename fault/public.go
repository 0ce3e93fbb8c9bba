package fault

import (
	"errors"
	"reflect"
	"slices"
	"strings"
)

// Hidden is a part of an error's text that only logs show, such as the host of a node, or
// its words: an argument of [New] and [Invalid].
type Hidden string

// inLog is what callers are shown of a cause that does not say what is public of it.
const inLog = "the service's log has the details"

// What is shown of other errors that do not say it.
const (
	unnamed = "internal error"
	late    = "the operation timed out"
	inTime  = "no response in time"
)

// Public returns what a caller may read of an error: the text of the outermost error in its
// chain that has a method Public, as [*Error] has. Such a text names no URL, host or path of
// the operator's nodes, backends and store, and repeats none of their words. Of all other
// errors it is a sentence that says nothing. Public(nil) is "".
func Public(err error) string {
	if err == nil {
		return ""
	}
	if p, ok := publicIn(err); ok {
		return p.Public()
	}
	if CodeOf(err) == Timeout {
		return late
	}
	return unnamed
}

type public interface {
	error
	Public() string
}

func publicIn(err error) (public, bool) { return errors.AsType[public](err) }

// shown returns the arguments of a format as callers see them.
func shown(code Code, args []any) []any {
	out := slices.Clone(args)
	for i, a := range args {
		switch a := a.(type) {
		case Hidden:
			out[i] = ""
		case error:
			if v := reflect.ValueOf(a); v.Kind() != reflect.Pointer || !v.IsNil() {
				out[i] = errors.New(shownOf(code, a))
			}
		}
	}
	return out
}

// shownOf is what the text of an error has of its cause. Where the error is about what a
// caller sent, the cause is what was found when reading it, and is shown if it is of a kind
// that only reading makes.
func shownOf(code Code, cause error) string {
	switch code {
	case InvalidInput, NotFound, Unsupported, AmountOutOfBounds, InvalidState:
		if ofReading(cause) {
			return cause.Error()
		}
	}
	if p, ok := publicIn(cause); ok {
		return p.Public()
	}
	if CodeOf(cause) == Timeout {
		return inTime
	}
	return inLog
}

// readers are the packages, by the beginning of their paths, that read what callers send and
// send no request.
var readers = []string{
	"errors", "fmt", "strconv", "encoding/",
	"github.com/btcsuite/btcd/", "github.com/lightningnetwork/lnd/zpay32", "github.com/decred/dcrd/",
	"github.com/ethereum/go-ethereum/common", "github.com/ethereum/go-ethereum/core/types", "github.com/ethereum/go-ethereum/crypto", "github.com/ethereum/go-ethereum/rlp",
	"github.com/gagliardetto/binary", "github.com/gagliardetto/solana-go", "github.com/mr-tron/base58", "github.com/NethermindEth/juno/core/",
}

// ofReading reports whether all errors of a tree are public as they are, or of a type that
// only readers have.
func ofReading(err error) bool {
	if p, ok := err.(public); ok {
		return p.Public() == err.Error()
	}
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !slices.ContainsFunc(readers, func(p string) bool { return strings.HasPrefix(t.PkgPath(), p) }) {
		return false
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return e.Unwrap() == nil || ofReading(e.Unwrap())
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !ofReading(err) })
	}
	return true
}
