package lphttp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// accepts is what an LP does with the header of a request: it returns the key
// whose limits apply.
func accepts(header string, now time.Time) (authority []byte, err error) {
	h, err := hex.DecodeString(header)
	if err != nil || len(h) != 228 {
		return nil, fmt.Errorf("not 228 bytes: %v", err)
	}
	at := time.Unix(int64(binary.BigEndian.Uint32(h)), 0)
	switch {
	case now.Sub(at).Abs() > time.Minute:
		return nil, fmt.Errorf("signed at %v", at)
	case !verifySchnorr(h[36:68], h[132:164], h[68:132]):
		return nil, fmt.Errorf("bad certificate")
	case !verifySchnorr(h[132:164], h[:36], h[164:]):
		return nil, fmt.Errorf("bad signature")
	}
	return h[36:68], nil
}

// authOf is the authorisation of a case; nil if it is to be refused.
func authOf(t *testing.T, certificate, key string, refused bool) *Auth {
	t.Helper()
	auth, err := NewAuth(certificate, key)
	switch {
	case refused && fault.CodeOf(err) != fault.InvalidInput:
		t.Errorf("error %v, want invalid input", err)
	case !refused && err != nil:
		t.Fatal(err)
	}
	return auth
}

func TestVectorsAuthHeader(t *testing.T) {
	vectors.Each(t, "lp-protocol", "auth-header", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Certificate, PrivateKey string
			Now                     int64
		}
		var want struct {
			Error                        bool
			Header, Random, AuthorityKey string
			Timestamp                    uint32
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		auth := authOf(t, in.Certificate, in.PrivateKey, want.Error)
		if auth == nil {
			return
		}
		now := time.Unix(in.Now, 0)
		own := trial.Must(auth.header(now, zeros{}))(t)
		for name, header := range map[string]string{"theirs": want.Header, "ours": own} {
			if key, err := accepts(header, now); err != nil || hex.EncodeToString(key) != want.AuthorityKey {
				t.Errorf("%s: key %x, %v", name, key, err)
			}
			if got := header[:8]; got != fmt.Sprintf("%08x", want.Timestamp) {
				t.Errorf("%s: time %s", name, got)
			}
			broken := []byte(header)
			broken[len(broken)-1] ^= 1
			if _, err := accepts(string(broken), now); err == nil {
				t.Errorf("%s: a changed signature is accepted", name)
			}
		}
		if !strings.Contains(want.Header, want.Random) {
			t.Error("the header does not hold its random bytes")
		}
	})
}

func TestVectorsLPAuth(t *testing.T) {
	vectors.Each(t, "utilities", "lp_auth", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Certificate, PrivateKey, Random string
			NowMs                           int64
		}
		var want struct {
			Error  bool
			Header string
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		auth := authOf(t, in.Certificate, in.PrivateKey, want.Error)
		if auth == nil {
			return
		}
		random := trial.Must(hex.DecodeString(in.Random))(t)
		got, err := auth.sign(time.UnixMilli(in.NowMs), [32]byte(random), [32]byte{})
		if err != nil || got != want.Header {
			t.Errorf("header %s, %v\nwant   %s", got, err, want.Header)
		}
		if text := fmt.Sprintf("%v %+v %#v", auth, auth, auth); strings.Contains(text, in.PrivateKey) || bytes.Contains([]byte(text), []byte("Key:")) {
			t.Errorf("prints %s", text)
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
