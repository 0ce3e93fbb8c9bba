package nostr

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// zeros is a source of zero bytes, which the vectors' signatures were made with.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestVectorsEvents(t *testing.T) {
	vectors.Each(t, "utilities", "nostr_events", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Network, SecretKey, Witness, ChainID string
			NowMs                                int64
			SwapData                             json.RawMessage
		}
		c.Input(t, &in)
		var want struct {
			Event                    json.RawMessage
			IDPreimage, PublishFrame string // not in every case
		}
		c.Expected(t, &want)
		n := trial.Must(bitcoin.ParseNetwork(in.Network))(t)
		secret := trial.Must(hex.DecodeString(in.SecretKey))(t)
		private, _ := btcec.PrivKeyFromBytes(secret)
		content := trial.Must(Message{SwapData: in.SwapData, Preimage: in.Witness, ChainID: in.ChainID}.content())(t)
		e := trial.Must((&key{private, zeros{}}).sign(time.UnixMilli(in.NowMs), Kind(n), content))(t)
		vectors.SameJSON(t, want.Event, e)
		if got := string(e.serialized()); want.IDPreimage != "" && got != want.IDPreimage {
			t.Errorf("id of\n%s\nwant\n%s", got, want.IDPreimage)
		}
		text := trial.Must(e.MarshalJSON())(t)
		if got := `["EVENT",` + string(text) + `]`; want.PublishFrame != "" && got != want.PublishFrame {
			t.Errorf("frame\n%s\nwant\n%s", got, want.PublishFrame)
		}
		if err := e.Check(); err != nil {
			t.Error(err)
		}
	})
}

// families are the checks of swap data of the three families. Those of chains
// that the project cannot follow look at numbers and required members only.
func families() map[string]func(json.RawMessage) error {
	return map[string]func(json.RawMessage) error{
		"evm": func(data json.RawMessage) error {
			_, err := wire.ParseSwapData(data)
			return err
		},
		"strk": numbers("sequence", "refundData", "amount", "securityDeposit", "claimerBounty"),
		"sol":  numbers("sequence", "amount", "expiry", "nonce", "securityDeposit", "claimerBounty"),
	}
}

func numbers(names ...string) func(json.RawMessage) error {
	return func(data json.RawMessage) error {
		var in map[string]any
		if err := json.Unmarshal(data, &in); err != nil {
			return err
		}
		for _, name := range names {
			text, ok := in[name].(string)
			if _, isNumber := new(big.Int).SetString(text, 0); !ok || !isNumber {
				return fmt.Errorf("%s is not a number", name)
			}
		}
		return nil
	}
}

func TestVectorsReceive(t *testing.T) {
	r := trial.Must(NewReceiver(ReceiverOptions{Network: bitcoin.Mainnet, Types: families()}))(t)
	file := vectors.Load(t, "utilities", "nostr_receive")
	var filter json.RawMessage
	file.Member(t, "subscription", &filter)
	vectors.SameJSON(t, filter, []any{map[string]any{"kinds": []int{Kind(bitcoin.Mainnet)}}})
	file.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct{ Event json.RawMessage }
		c.Input(t, &in)
		var want struct {
			Verified  bool
			Delivered []struct {
				Type     int
				SwapData json.RawMessage
				Witness  string
				ChainID  string
			}
		}
		c.Expected(t, &want)
		e, err := decodeEvent(in.Event)
		if err == nil {
			err = e.Check()
		}
		if verified := err == nil; verified != want.Verified {
			t.Errorf("verified %v (%v), want %v", verified, err, want.Verified)
		}
		m, err := r.Take(in.Event)
		if e.Kind != Kind(bitcoin.Mainnet) {
			// The case's answer is that of what comes after the subscription's filter.
			if err == nil {
				t.Error("the filter let another kind through")
			}
			m, err = r.read(e)
		}
		if delivered := err == nil; delivered != (len(want.Delivered) == 1) {
			t.Fatalf("delivered %v (%v), want %d", delivered, err, len(want.Delivered))
		}
		if err != nil {
			return
		}
		w := want.Delivered[0]
		vectors.SameJSON(t, w.SwapData, m.SwapData)
		if m.Preimage != w.Witness || m.ChainID != w.ChainID || w.Type != 0 {
			t.Errorf("got preimage %s of %q, want %+v", m.Preimage, m.ChainID, w)
		}
	})
}

func TestVectorsDedupe(t *testing.T) {
	vectors.Each(t, "utilities", "nostr_dedupe", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Size int
			IDs  []string
		}
		c.Input(t, &in)
		r := newRing(in.Size)
		got := []bool{}
		for _, id := range in.IDs {
			known := r.has(id)
			if fresh := r.add(id); fresh == known {
				t.Errorf("%s: known %v, fresh %v", id, known, fresh)
			}
			got = append(got, known)
		}
		var want struct{ Duplicate json.RawMessage }
		c.Expected(t, &want)
		vectors.SameJSON(t, want.Duplicate, got)
	})
}

func TestKeyNeedsRandomBytes(t *testing.T) {
	if _, err := newKey(bytes.NewReader(make([]byte, 33))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("zero is no key, and then the bytes end: %v", err)
	}
	over := bytes.Repeat([]byte{0xff}, 32) // above the group's order
	k, err := newKey(bytes.NewReader(append(over, bytes.Repeat([]byte{7}, 32)...)))
	if err != nil || hex.EncodeToString(k.private.Serialize()) != hex.EncodeToString(bytes.Repeat([]byte{7}, 32)) {
		t.Errorf("%v", err)
	}
}
