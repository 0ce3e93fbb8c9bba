package lphttp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// serveH2C answers with HTTP/2 without TLS, as the network's LP program does.
func serveH2C(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	return flowtest.Start(t, s)
}

// transports are the two ways of talking to an LP without TLS.
func transports(t *testing.T, check func(t *testing.T, serve func(http.HandlerFunc) string, o Options)) {
	t.Run("HTTP/1.1", func(t *testing.T) {
		check(t, func(h http.HandlerFunc) string { return flowtest.Serve(t, h) }, Options{})
	})
	t.Run("h2c", func(t *testing.T) {
		transport := NewTransport(TransportOptions{H2C: true, AllowLocal: true})
		t.Cleanup(transport.CloseIdleConnections)
		check(t, func(h http.HandlerFunc) string { return serveH2C(t, h) }, Options{Transport: transport})
	})
}

// A late parameter that depends on what the LP says early: request and answer
// must flow at the same time.
func TestQuoteIsFullDuplex(t *testing.T) {
	transports(t, func(t *testing.T, serve func(http.HandlerFunc) string, o Options) {
		frames := make(chan string, 10)
		base := serve(func(w http.ResponseWriter, r *http.Request) {
			first, err := flowtest.ReadFrame(r.Body)
			if err != nil {
				return
			}
			frames <- first
			flowtest.Send(w, `{"signDataPrefetch":{"block":7}}`)
			second, err := flowtest.ReadFrame(r.Body)
			if err != nil {
				return
			}
			frames <- second
			_, err = flowtest.ReadFrame(r.Body)
			frames <- errText(err)
			flowtest.Send(w, flowtest.ToBTCAnswer)
		})
		rate := async.NewFuture[string]()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		q, err := client(t, o).ToBTC(ctx, base, lp.ToBTCRequest{Chain: "CITREA", Address: "bc1", Amount: big.NewInt(66), FeeRate: rate},
			lp.Early{SignData: func(v json.RawMessage) { rate.Set("rate for "+string(v), nil) }})
		if err != nil || q.Total.Int64() != 100 {
			t.Fatalf("quote %+v, %v", q, err)
		}
		if f := <-frames; !strings.Contains(f, `"amount":"66"`) || strings.Contains(f, "feeRate") {
			t.Errorf("first frame %s", f)
		}
		if f := <-frames; f != `{"feeRate":"rate for {\"block\":7}"}` {
			t.Errorf("second frame %s", f)
		}
		if f := <-frames; f != "EOF" {
			t.Errorf("the request ends with %s", f)
		}
	})
}

func errText(err error) string {
	if err == nil {
		return "nothing"
	}
	return err.Error()
}

func TestLateParameterWithoutValue(t *testing.T) {
	bodies := make(chan string, 1)
	base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		bodies <- string(flowtest.ReadAll(r))
		_, _ = io.WriteString(w, flowtest.ToBTCAnswer)
	})
	trial.Must(client(t, Options{}).ToBTC(t.Context(), base, lp.ToBTCRequest{FeeRate: async.Known("")}, lp.Early{}))(t)
	if b := <-bodies; !strings.HasSuffix(b, "\x02\x00\x00\x00{}") {
		t.Errorf("body %q", b)
	}
}

func TestLateParameterThatFails(t *testing.T) {
	t.Parallel()
	transports(t, func(t *testing.T, serve func(http.HandlerFunc) string, o Options) {
		attempts := make(chan string, 10)
		rate := async.NewFuture[string]()
		broken := errors.New("no fee rate")
		base := serve(func(w http.ResponseWriter, r *http.Request) {
			_, err := flowtest.ReadFrame(r.Body)
			if rate.Set("", broken); err == nil {
				_, err = io.ReadAll(r.Body)
			}
			attempts <- errText(err)
			flowtest.Send(w, flowtest.ToBTCAnswer)
		})
		_, err := client(t, o).ToBTC(t.Context(), base, lp.ToBTCRequest{FeeRate: rate}, lp.Early{})
		if !errors.Is(err, broken) || err.Error() != broken.Error() {
			t.Errorf("error %v, want %v", err, broken)
		}
		if got := <-attempts; got == "nothing" {
			t.Error("the request was completed")
		}
		if len(attempts) != 0 {
			t.Error("the call was repeated")
		}
	})
}

func TestRefusalDoesNotWaitForLateParameters(t *testing.T) {
	transports(t, func(t *testing.T, serve func(http.HandlerFunc) string, o Options) {
		base := serve(func(w http.ResponseWriter, r *http.Request) {
			_, _ = flowtest.ReadFrame(r.Body)
			flowtest.Send(w, `{"code":20003,"msg":"low","data":{"min":"10","max":"20"}}`)
			<-r.Context().Done()
		})
		start := time.Now()
		_, err := client(t, o).ToBTC(t.Context(), base, lp.ToBTCRequest{FeeRate: async.NewFuture[string]()}, lp.Early{})
		b, ok := errors.AsType[*lp.OutOfBoundsError](err)
		if !ok || b.Min.Int64() != 10 || b.LP != base || fault.CodeOf(err) != fault.AmountOutOfBounds {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestRepetitionsDoNotStream(t *testing.T) {
	types := make(chan string, 10)
	base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		types <- r.Header.Get("Content-Type") + " " + string(flowtest.ReadAll(r))
		if len(types) < 3 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, flowtest.ToBTCAnswer)
	})
	rate := async.NewFuture[string]()
	time.AfterFunc(20*time.Millisecond, func() { rate.Set("7", nil) })
	trial.Must(client(t, Options{}).ToBTC(t.Context(), base, lp.ToBTCRequest{FeeRate: rate}, lp.Early{}))(t)
	if first := <-types; !strings.HasPrefix(first, lp.StreamType+" ") {
		t.Errorf("first %s", first)
	}
	for range 2 {
		if next := <-types; !strings.HasPrefix(next, "application/json {") || !strings.HasSuffix(next, `,"feeRate":"7"}`) {
			t.Errorf("repetition %s", next)
		}
	}
}

func TestHostParametersDoNotOverride(t *testing.T) {
	bodies := make(chan string, 10)
	base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		bodies <- string(flowtest.ReadAll(r))
		_, _ = io.WriteString(w, `{"code":20002,"msg":""}`)
	})
	evil := []lp.Param{{Name: "exactIn", Value: json.RawMessage(`true`)}, {Name: "exactOut", Value: json.RawMessage(`true`)}, {Name: "pr", Value: json.RawMessage(`"lnbc-mine"`)}, {Name: "offerer", Value: json.RawMessage(`"me"`)}, {Name: "address", Value: json.RawMessage(`"me"`)},
		{Name: "amount", Value: json.RawMessage(`"1"`)}, {Name: "feeRate", Value: json.RawMessage(`"1"`)}, {Name: "callerFeeRate", Value: json.RawMessage(`"9"`)}, {Name: "tag", Value: json.RawMessage(`"<&>"`)}}
	c := client(t, Options{Extra: evil, NoStreams: true})
	calls := map[string]func() error{
		`{"exactIn":false,"exactOut":true,"pr":"lnbc","offerer":"user","address":"me","amount":null,"callerFeeRate":"9","tag":"<&>","maxFee":"5","expiryTimestamp":"9","token":"T","feeRate":"7"}`: func() error {
			_, err := c.ToBTCLN(t.Context(), base, lp.ToBTCLNRequest{Invoice: "lnbc", MaxFee: big.NewInt(5), Expiry: 9, Token: "T", Offerer: "user", FeeRate: async.Known("7")}, lp.Early{})
			return err
		},
		`{"exactOut":false,"exactIn":true,"pr":"lnbc-mine","offerer":"me","address":"user","feeRate":"1","tag":"<&>","token":"T","gasAmount":"0","gasToken":"G","frontingFeeRate":"0","amount":"50","callerFeeRate":"3"}`: func() error {
			_, err := c.SPV(t.Context(), base, lp.SPVRequest{Address: "user", Amount: async.Known(big.NewInt(50)), Token: "T", GasToken: "G", CallerFeeRate: async.Known(big.NewInt(3))})
			return err
		},
	}
	for want, call := range calls {
		if err := call(); flowtest.Class(err) != "RequestError" {
			t.Fatal(err)
		}
		if got := <-bodies; got != want {
			t.Errorf("body %s\nwant %s", got, want)
		}
	}
}

func BenchmarkDecodeQuote(b *testing.B) {
	data, call := []byte(flowtest.ToBTCData), lp.ToBTCRequest{}.Call(nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := call.Read("lp", data); err != nil {
			b.Fatal(err)
		}
	}
}
