//go:build js

// Command js is package verify for wallets in JavaScript, in browsers and in node. It is
// compiled with GOOS=js and GOARCH=wasm by verify/js/pack, and used through index.js.
//
// It is in process what a service of package httpapi is over HTTP: the same operations, inputs
// and errors, behind which every answer of the real service is verified. So it reads and
// writes nothing in a form of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"syscall/js"

	"github.com/swapper-go/swapper/httpapi"
)

// main hands the function that opens a verifier to the page, under the global name that is
// the program's argument, and goes on until the page is gone.
func main() {
	js.Global().Get(os.Args[1]).Invoke(js.FuncOf(func(_ js.Value, args []js.Value) any {
		return promise(func() (js.Value, error) { return open(args[0].String(), args[1]) })
	}))
	select {}
}

// open makes a verifier of a configuration in JSON and the page's functions, and returns its
// one function: call(method, path, body, given) promises [status, text]. What is given is the
// service's answer, if the wallet has it already.
func open(text string, page js.Value) (js.Value, error) {
	service, err := wrap(text, page)
	if err != nil {
		return js.Value{}, err
	}
	console := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})) // what answers do not tell
	operations := httpapi.New(service, httpapi.Options{Logger: console})
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		method, path, body, given := args[0].String(), args[1].String(), args[2].String(), args[3]
		return promise(func() (js.Value, error) {
			ctx := context.Background()
			if given.Type() == js.TypeString {
				ctx = context.WithValue(ctx, givenKey{}, given.String())
			}
			r, err := http.NewRequestWithContext(ctx, method, "http://verifier/"+path, strings.NewReader(body))
			if err != nil {
				return js.Value{}, err
			}
			r.Header.Set("Content-Type", "application/json")
			a := answer{header: http.Header{}, status: http.StatusOK}
			operations.ServeHTTP(&a, r)
			return js.ValueOf([]any{a.status, a.text.String()}), nil
		})
	}).Value, nil
}

// answer keeps what the operations answer.
type answer struct {
	header http.Header
	status int
	text   strings.Builder
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.text.Write(b) }

// promise runs f beside the page, which must not wait for it, and promises its result. A
// panic becomes an error.
func promise(f func() (js.Value, error)) js.Value {
	var executor js.Func
	executor = js.FuncOf(func(_ js.Value, settle []js.Value) any {
		go func() {
			defer executor.Release()
			v, err := guarded(f)
			if err != nil {
				settle[1].Invoke(js.Global().Get("Error").New(err.Error()))
				return
			}
			settle[0].Invoke(v)
		}()
		return nil
	})
	return js.Global().Get("Promise").New(executor)
}

func guarded(f func() (js.Value, error)) (v js.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the verifier failed: %v", p)
		}
	}()
	return f()
}

// call calls a function of the page and waits for what it returns or promises. What it throws
// is the error.
func call(ctx context.Context, f js.Value, args ...any) (v js.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return await(ctx, f.Invoke(args...))
}

// await waits for a value or for the promise of one.
func await(ctx context.Context, v js.Value) (js.Value, error) {
	if v.Type() != js.TypeObject || v.Get("then").Type() != js.TypeFunction {
		return v, nil
	}
	type settled struct {
		v   js.Value
		err error
	}
	done := make(chan settled, 2)
	kept := js.FuncOf(func(_ js.Value, args []js.Value) any { done <- settled{v: first(args)}; return nil })
	broken := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- settled{err: errors.New(js.Global().Get("String").Invoke(first(args)).String())}
		return nil
	})
	v.Call("then", kept, broken)
	release := func() { kept.Release(); broken.Release() }
	select {
	case s := <-done:
		release()
		return s.v, s.err
	case <-ctx.Done():
		go func() { <-done; release() }() // it may yet be settled, and calls what was released then
		return js.Value{}, ctx.Err()
	}
}

func first(args []js.Value) js.Value {
	if len(args) == 0 {
		return js.Undefined()
	}
	return args[0]
}
