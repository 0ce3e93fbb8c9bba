package lp

import (
	"context"
	"encoding/binary"
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
)

// serveH2C answers with HTTP/2 without TLS, as the network's LP program does.
func serveH2C(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	return start(t, s)
}

// transports are the two ways of talking to an LP without TLS.
func transports(t *testing.T, check func(t *testing.T, serve func(http.HandlerFunc) string, o Options)) {
	t.Run("HTTP/1.1", func(t *testing.T) {
		check(t, func(h http.HandlerFunc) string { return serve(t, h) }, Options{})
	})
	t.Run("h2c", func(t *testing.T) {
		transport := NewTransport(TransportOptions{H2C: true, AllowLocal: true})
		t.Cleanup(transport.CloseIdleConnections)
		check(t, func(h http.HandlerFunc) string { return serveH2C(t, h) }, Options{Transport: transport})
	})
}

// readFrame reads one frame of a request.
func readFrame(r io.Reader) (string, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", err
	}
	text := make([]byte, binary.LittleEndian.Uint32(head[:]))
	_, err := io.ReadFull(r, text)
	return string(text), err
}

// send writes frames and flushes each.
func send(w http.ResponseWriter, objects ...string) {
	w.Header().Set("Content-Type", streamType)
	for _, o := range objects {
		frame, err := appendFrame(nil, []byte(o))
		if err != nil {
			panic(err)
		}
		_, _ = w.Write(frame)
		w.(http.Flusher).Flush()
	}
}

const toBTCData = `{"amount":"66","address":"0xA","satsPervByte":"8","networkFee":"1","swapFee":"2","totalFee":"3","total":"100","minRequiredExpiry":"1700000000",` +
	`"data":{"t":1},"prefix":"initialize","timeout":"1700000000","signature":"0x00"}`

const toBTCAnswer = `{"code":20000,"msg":"Success","data":` + toBTCData + `}`

// A late parameter that depends on what the LP says early: request and answer
// must flow at the same time.
func TestQuoteIsFullDuplex(t *testing.T) {
	transports(t, func(t *testing.T, serve func(http.HandlerFunc) string, o Options) {
		frames := make(chan string, 10)
		base := serve(func(w http.ResponseWriter, r *http.Request) {
			first, err := readFrame(r.Body)
			if err != nil {
				return
			}
			frames <- first
			send(w, `{"signDataPrefetch":{"block":7}}`)
			second, err := readFrame(r.Body)
			if err != nil {
				return
			}
			frames <- second
			_, err = readFrame(r.Body)
			frames <- errText(err)
			send(w, toBTCAnswer)
		})
		rate := async.NewFuture[string]()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		q, err := client(t, o).ToBTC(ctx, base, ToBTCRequest{Chain: "CITREA", Address: "bc1", Amount: big.NewInt(66), FeeRate: rate},
			Early{SignData: func(v json.RawMessage) { rate.Set("rate for "+string(v), nil) }})
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
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		bodies <- string(readAll(r))
		_, _ = io.WriteString(w, toBTCAnswer)
	})
	if _, err := client(t, Options{}).ToBTC(t.Context(), base, ToBTCRequest{FeeRate: async.Known("")}, Early{}); err != nil {
		t.Fatal(err)
	}
	if b := <-bodies; !strings.HasSuffix(b, "\x02\x00\x00\x00{}") {
		t.Errorf("body %q", b)
	}
}

func TestLateParameterThatFails(t *testing.T) {
	transports(t, func(t *testing.T, serve func(http.HandlerFunc) string, o Options) {
		attempts := make(chan string, 10)
		base := serve(func(w http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			attempts <- errText(err)
			send(w, toBTCAnswer)
		})
		rate := async.NewFuture[string]()
		broken := errors.New("no fee rate")
		time.AfterFunc(20*time.Millisecond, func() { rate.Set("", broken) })
		_, err := client(t, o).ToBTC(t.Context(), base, ToBTCRequest{FeeRate: rate}, Early{})
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
			_, _ = readFrame(r.Body)
			send(w, `{"code":20003,"msg":"low","data":{"min":"10","max":"20"}}`)
			<-r.Context().Done()
		})
		start := time.Now()
		_, err := client(t, o).ToBTC(t.Context(), base, ToBTCRequest{FeeRate: async.NewFuture[string]()}, Early{})
		b, ok := errors.AsType[*OutOfBoundsError](err)
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
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		types <- r.Header.Get("Content-Type") + " " + string(readAll(r))
		if len(types) < 3 {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, toBTCAnswer)
	})
	rate := async.NewFuture[string]()
	time.AfterFunc(20*time.Millisecond, func() { rate.Set("7", nil) })
	if _, err := client(t, Options{}).ToBTC(t.Context(), base, ToBTCRequest{FeeRate: rate}, Early{}); err != nil {
		t.Fatal(err)
	}
	if first := <-types; !strings.HasPrefix(first, streamType+" ") {
		t.Errorf("first %s", first)
	}
	for range 2 {
		if next := <-types; !strings.HasPrefix(next, "application/json {") || !strings.HasSuffix(next, `,"feeRate":"7"}`) {
			t.Errorf("repetition %s", next)
		}
	}
}

// What must not be sent before something else waits for it, whatever is known first.
func TestLateParametersKeepTheirOrder(t *testing.T) {
	for name, known := range map[string][]string{"amount first": {"amount", "amountFeeRate", "amountUtxos"}, "amount last": {"amountUtxos", "amountFeeRate", "amount"}, "all at once": nil} {
		t.Run(name, func(t *testing.T) {
			var b body
			futures := map[string]*async.Future[string]{}
			for _, p := range []struct {
				name  string
				after []string
			}{{"amountUtxos", nil}, {"amountFeeRate", nil}, {"amount", []string{"amountUtxos", "amountFeeRate"}}, {"callerFeeRate", nil}} {
				futures[p.name] = async.NewFuture[string]()
				addLate(&b, p.name, futures[p.name], unlessEmpty, p.after...)
			}
			futures["callerFeeRate"].Set("", nil)
			if known == nil {
				for _, f := range futures {
					f.Set("x", nil)
				}
			}
			go func() {
				for _, n := range known {
					time.Sleep(5 * time.Millisecond)
					futures[n].Set("x", nil)
				}
			}()
			var sent []string
			err := b.each(t.Context(), func(name string, _ json.RawMessage) error {
				sent = append(sent, name)
				return nil
			})
			place := map[string]int{}
			for i, n := range sent {
				place[n] = i
			}
			if err != nil || len(sent) != 4 || place["amount"] < place["amountUtxos"] || place["amount"] < place["amountFeeRate"] {
				t.Errorf("sent %v, %v", sent, err)
			}
		})
	}
}

func TestHostParametersDoNotOverride(t *testing.T) {
	bodies := make(chan string, 10)
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		bodies <- string(readAll(r))
		_, _ = io.WriteString(w, `{"code":20002,"msg":""}`)
	})
	evil := []Param{{"exactIn", text(true)}, {"exactOut", text(true)}, {"pr", text("lnbc-mine")}, {"offerer", text("me")}, {"address", text("me")},
		{"amount", text("1")}, {"feeRate", text("1")}, {"callerFeeRate", text("9")}, {"tag", text("<&>")}}
	c := client(t, Options{Extra: evil, NoStreams: true})
	calls := map[string]func() error{
		`{"exactIn":false,"exactOut":true,"pr":"lnbc","offerer":"user","address":"me","amount":null,"callerFeeRate":"9","tag":"<&>","maxFee":"5","expiryTimestamp":"9","token":"T","feeRate":"7"}`: func() error {
			_, err := c.ToBTCLN(t.Context(), base, ToBTCLNRequest{Invoice: "lnbc", MaxFee: big.NewInt(5), Expiry: 9, Token: "T", Offerer: "user", FeeRate: async.Known("7")}, Early{})
			return err
		},
		`{"exactOut":false,"exactIn":true,"pr":"lnbc-mine","offerer":"me","address":"user","feeRate":"1","tag":"<&>","token":"T","gasAmount":"0","gasToken":"G","frontingFeeRate":"0","amount":"50","callerFeeRate":"3"}`: func() error {
			_, err := c.SPV(t.Context(), base, SPVRequest{Address: "user", Amount: async.Known(big.NewInt(50)), Token: "T", GasToken: "G", CallerFeeRate: async.Known(big.NewInt(3))})
			return err
		},
	}
	for want, call := range calls {
		if err := call(); class(err) != "RequestError" {
			t.Fatal(err)
		}
		if got := <-bodies; got != want {
			t.Errorf("body %s\nwant %s", got, want)
		}
	}
}
