package watchtower

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

func said(n int, at time.Time) heard {
	return heard{escrow: chains.Escrow{Version: "v1", Hash: binary.BigEndian.AppendUint32(nil, uint32(n))}, at: at}
}

// A flood of messages takes no more than the room for them. What the chain was asked about
// goes first, and what comes again is kept.
func TestAFloodOfMessages(t *testing.T) {
	var h hearing
	at := time.Unix(1_800_000_000, 0)
	for n := range maxHeard + 10 {
		h.add(said(n, at))
	}
	if len(h.all) != maxHeard {
		t.Fatalf("%d are kept", len(h.all))
	}
	if h.add(said(maxHeard+20, at)); len(h.all) != maxHeard || h.all[maxHeard-1].escrow.Hash[2] != byte((maxHeard-1)>>8) {
		t.Error("one that nobody has looked at went for another")
	}
	first := h.take(at, perRound)
	if len(first) != perRound {
		t.Fatalf("%d in a round", len(first))
	}
	h.add(said(maxHeard+30, at.Add(time.Minute)))
	if n := len(h.all); n != maxHeard || string(h.all[n-1].escrow.Hash) != string(said(maxHeard+30, at).escrow.Hash) {
		t.Errorf("%d are kept, the new one is not", n)
	}
	h.add(said(600, at.Add(heardLife))) // again
	h.take(at.Add(heardLife+time.Minute+time.Second), perRound)
	if len(h.all) != 1 || h.all[0].looks != 1 {
		t.Errorf("%d are kept after their time", len(h.all))
	}
	h.drop(h.all[0])
	if len(h.all) != 0 {
		t.Error("not dropped")
	}
}

type answer struct{ err error }

func (a answer) Publish(context.Context, Message) error { return a.err }

func TestMessengers(t *testing.T) {
	no := errors.New("no")
	for name, c := range map[string]struct {
		all  Messengers
		want error
	}{
		"all take it":  {Messengers{answer{}, answer{}}, nil},
		"one takes it": {Messengers{answer{no}, answer{}}, nil},
		"none does":    {Messengers{answer{no}, answer{no}}, no},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.all.Publish(t.Context(), Message{}); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}
