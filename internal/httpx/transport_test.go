package httpx

import (
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/trial"
)

// Connections that were used at once are used again.
func TestTransportKeepsItsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a connection whose request is not noted as written within 50 ms is not kept
		const atOnce = 8
		var opened atomic.Int32
		var together sync.WaitGroup
		var memory loopback.Network
		l := trial.Must(memory.Listen(""))(t)
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			together.Done()
			together.Wait() // so that none is answered before all have a connection
			_, _ = io.WriteString(w, "ok")
		}), ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}}
		go func() { _ = s.Serve(l) }()
		defer s.Close()
		rt := Transport(atOnce)
		rt.(*http.Transport).DialContext = memory.DialContext
		defer rt.(*http.Transport).CloseIdleConnections()
		client := &http.Client{Transport: rt}
		for range 3 {
			together.Add(atOnce)
			var all sync.WaitGroup
			for range atOnce {
				all.Go(func() {
					resp, err := client.Get("http://" + l.Addr().String())
					if err != nil {
						t.Error(err)
						together.Done()
						return
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				})
			}
			all.Wait()
		}
		if n := opened.Load(); n != atOnce {
			t.Errorf("%d connections for 3 times %d requests", n, atOnce)
		}
		if rt == http.DefaultTransport || http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost != 0 {
			t.Error("the default is not the program's own any more")
		}
	})
}

type other struct{ http.RoundTripper }

func TestTransportOfAProgramIsKept(t *testing.T) {
	before := http.DefaultTransport
	defer func() { http.DefaultTransport = before }()
	own := &other{before}
	http.DefaultTransport = own
	if Transport(8) != own {
		t.Error("another transport")
	}
}
