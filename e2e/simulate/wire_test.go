package simulate

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/swapper-go/swapper/watchtower"
)

// wire is how a process reaches everybody else: messages take time, and while there is
// trouble they are late, lost on the way there or back, cut short, or come twice.
type wire struct {
	p    *process
	next http.RoundTripper
	to   string // what is at the other end, for the promises
}

var errLost = errors.New("lost on the way")

func (x wire) RoundTrip(req *http.Request) (*http.Response, error) {
	what := strings.TrimRight(x.to+" "+req.Method+" "+req.URL.Path, " ")
	x.p.w.promises.called(x.p, x.to, req)
	d := x.p.w.dice("wire", req.URL.Host, req.URL.Path)
	trouble := int(x.p.wireTrouble.Load())
	if x.p.w.spares(req.URL.Host) {
		trouble = 0
	}
	late := time.Duration(1+d.IntN(60)) * time.Millisecond
	if d.IntN(100) < trouble {
		late += time.Duration(d.IntN(20_000)) * time.Millisecond
	}
	x.p.point(what + " before")
	if !x.p.rest(req, late) {
		return nil, fmt.Errorf("%s: %w", what, errLost)
	}
	if d.IntN(100) < trouble {
		return nil, fmt.Errorf("%s: %w", what, errLost)
	}
	if d.IntN(100) < trouble && req.Method == http.MethodGet && req.Header.Get("Upgrade") == "" {
		if resp, err := x.next.RoundTrip(req.Clone(req.Context())); err == nil { // the first copy
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
			resp.Body.Close()
		}
	}
	resp, err := x.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	x.p.point(what + " after")
	lost := !x.p.rest(req, time.Duration(1+d.IntN(60))*time.Millisecond)
	if lost || d.IntN(100) < trouble {
		resp.Body.Close()
		return nil, fmt.Errorf("%s: the answer was %w", what, errLost)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols && d.IntN(100) < trouble {
		resp.Body = cutShort{io.LimitReader(resp.Body, int64(d.IntN(200))), resp.Body}
	}
	return resp, nil
}

// cutShort is a body whose connection is cut within.
type cutShort struct {
	io.Reader
	io.Closer
}

func (c cutShort) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// messenger passes preimages on, under the eyes of the promises.
type messenger struct {
	watchtower.Messenger
	p *process
}

func (m messenger) Publish(ctx context.Context, msg watchtower.Message) error {
	return m.p.publish(ctx, msg, "watchtowers", m.Messenger)
}

// publish passes a preimage on to somebody.
func (p *process) publish(ctx context.Context, msg watchtower.Message, whom string, to watchtower.Messenger) error {
	p.point("publish before")
	if p.dead() {
		return errDead
	}
	p.w.promises.told(whom, []byte(hex.EncodeToString(msg.Preimage[:])))
	err := to.Publish(ctx, msg)
	p.point("publish after")
	return err
}

// once is what must be asked for once: a call that may carry money, by what it is about.
func once(req *http.Request) (string, bool) {
	path := req.URL.Path
	return req.URL.Host + path + "?" + req.URL.Query().Get("k1"), strings.Contains(path, "/withdraw/") && strings.HasSuffix(path, "/pay")
}
