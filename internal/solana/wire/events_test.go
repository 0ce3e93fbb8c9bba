package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func base64Text(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func TestVectorsEvents(t *testing.T) {
	vectors.Load(t, "chain-solana", "events").But(t, "poll").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Version, Program, Data, TxoHash string
			Logs                                []string
			Instructions                        []ixJSON
			PageLimit                           int
			Signatures                          map[string][]signatureJSON
			Transactions                        map[string]seenJSON
		}
		c.Input(t, &in)
		var want json.RawMessage
		c.Expected(t, &want)
		p := firstV1
		if in.Program == firstV2.Swap.String() {
			p = firstV2
		}
		switch in.Fn {
		case "parseLogs":
			events, _ := p.Events(in.Logs)
			if vectors.Refused(want) {
				c.Differ(t, "sol-short-event")
				if len(events) != 0 {
					t.Errorf("%v", events)
				}
				return
			}
			got := []any{}
			for _, e := range events {
				if again, ok := decodeEvent(e.Bytes()); !ok || again != e {
					t.Errorf("%v reads back as %v", e, again)
				}
				data := map[string]any{"hash": hex.EncodeToString(e.Hash[:]), "sequence": strconv.FormatUint(e.Sequence, 10)}
				switch e.Kind {
				case Initialized:
					data["txoHash"], data["nonce"], data["kind"] = hex.EncodeToString(e.TxoHash[:]), strconv.FormatUint(e.Nonce, 10), kindName(e.Escrow)
				case Claimed:
					data["secret"] = hex.EncodeToString(e.Result[:])
				}
				got = append(got, map[string]any{"name": e.Kind.String(), "data": data})
			}
			vectors.SameJSON(t, want, map[string]any{"events": got})
		case "fromInstruction":
			var names []any
			var d *SwapData
			event := Event{Kind: Initialized, TxoHash: hash32(t, in.TxoHash)}
			for _, ix := range instructionsOf(t, in.Instructions) {
				call, err := p.DecodeCall(ix)
				if errors.Is(err, ErrUnknownCall) && ix.Program != p.Swap {
					names = append(names, nil)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, camel(call.Name))
				if opened, ok, err := p.OpenedData(ix, &event); err != nil {
					t.Fatal(err)
				} else if ok {
					d = opened
				}
			}
			// What was agreed on does not say who opened it; v2's instruction does.
			vectors.SameJSON(t, want, map[string]any{"decodedNames": names, "swapData": d, "equalsOriginal": d.OffererInitializer == nil})
		case "decodeInstructions":
			_, err := p.DecodeCall(Instruction{Program: p.Swap, Data: vectors.Unhex(t, in.Data)})
			c.Refuses(t, err)
			if !errors.Is(err, ErrUnknownCall) {
				t.Error(err)
			}
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

// What another program logs is not ours, however it is dressed.
func TestEventsOfOthers(t *testing.T) {
	p := firstV1
	us, other := p.Swap.String(), firstV2.Swap.String()
	event := Event{Kind: Claimed, Hash: [32]byte{1}, Sequence: 5}
	data := "Program data: " + base64Text(event.Bytes())
	for name, c := range map[string]struct {
		lines []string
		count int
	}{
		"ours":                              {[]string{"Program " + us + " invoke [1]", data, "Program " + us + " success"}, 1},
		"before anything runs":              {[]string{data, "Program " + us + " invoke [1]"}, 0},
		"after it has ended":                {[]string{"Program " + us + " invoke [1]", "Program " + us + " success", data}, 0},
		"of another":                        {[]string{"Program " + other + " invoke [1]", data}, 0},
		"text that looks like our start":    {[]string{"Program " + other + " invoke [1]", "Program log: Program " + us + " invoke [2]", data}, 0},
		"data that looks like our start":    {[]string{"Program " + other + " invoke [1]", "Program data: Program " + us + " invoke [2]", data}, 0},
		"a return that looks like an end":   {[]string{"Program " + us + " invoke [1]", "Program " + other + " invoke [2]", "Program return: " + other + " success", data}, 0},
		"text that looks like an end":       {[]string{"Program " + us + " invoke [1]", "Program " + other + " invoke [2]", "Program log: Program " + other + " success", data}, 0},
		"ours after a call of another":      {[]string{"Program " + us + " invoke [1]", "Program " + other + " invoke [2]", "Program " + other + " success", data}, 1},
		"ours after a failed call":          {[]string{"Program " + us + " invoke [1]", "Program " + other + " invoke [2]", "Program " + other + " failed: custom program error: 0x1", data}, 1},
		"ends without beginnings":           {[]string{"Program " + other + " success", "Program " + other + " success", "Program " + us + " invoke [1]", data}, 1},
		"two, one unknown between them":     {[]string{"Program " + us + " invoke [1]", data, "Program data: " + base64Text(make([]byte, 100)), data}, 2},
		"text that begins like our program": {[]string{"Program " + us + "1 invoke [1]", data}, 0},
		"too long for any event":            {[]string{"Program " + us + " invoke [1]", "Program data: " + base64Text(append(event.Bytes(), make([]byte, 2000)...))}, 0},
		"with a line break":                 {[]string{"Program " + other + " invoke [1]", "Program log: x\nProgram " + us + " invoke [1]", data}, 0},
	} {
		events, truncated := p.Events(c.lines)
		if len(events) != c.count || truncated || c.count > 0 && events[0] != event {
			t.Errorf("%s: %v", name, events)
		}
	}
	if _, truncated := p.Events([]string{"Program " + us + " invoke [1]", "Log truncated"}); !truncated {
		t.Error("lines that a node left out went unnoticed")
	}
}

func TestVectorsBTCRelay(t *testing.T) {
	vectors.Each(t, "chain-solana", "btcrelay", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Signer, NextHeaderRaw, HeaderRaw, ReversedTxID, ChainWork, Blockhash, FeeRate string
			Stored                                                                            storedJSON
			HeadersRaw, Merkle                                                                []string
			ForkID                                                                            *uint64
			ForkCounter                                                                       uint64
			TipWork                                                                           string
			Confirmations, Position, Height, EpochStart                                       uint32
			PrevTimestamps                                                                    [10]uint32
			TipHeight, RequiredBlockheight                                                    uint32
			MainStateHead                                                                     string
			MainStateCommitments                                                              map[string]string
			Topic                                                                             string
			Transaction                                                                       struct{ Logs []string }
		}
		c.Input(t, &in)
		var want json.RawMessage
		c.Expected(t, &want)
		p := firstV1
		header := func(s string) bitcoin.Header {
			return trial.Must(bitcoin.ParseHeader(vectors.Unhex(t, s), 0))(t)
		}
		hexOf := func(h [32]byte) string { return hex.EncodeToString(h[:]) }
		switch in.Fn {
		case "computeNext":
			stored := in.Stored.stored(t)
			again := trial.Must(decodeStoredHeader(stored.Bytes()))(t)
			same(t, "read back", in.Stored, jsonOfStored(again))
			next := stored.Next(header(in.NextHeaderRaw))
			work := rawtx.Difficulty(next.Header.Bits)
			vectors.SameJSON(t, want, map[string]any{
				"encoded": hex.EncodeToString(stored.Bytes()), "commitHash": hexOf(stored.Commitment()), "next": jsonOfStored(next),
				"nextEncoded": hex.EncodeToString(next.Bytes()), "nextCommitHash": hexOf(next.Commitment()), "difficulty": hexOf([32]byte(work.FillBytes(make([]byte, 32))))})
		case "saveMainHeaders", "saveNewForkHeaders", "saveForkHeaders", "saveShortForkHeaders":
			on := in.Stored.stored(t)
			heights := []uint32{on.Header.Height}
			last := on
			var headers []bitcoin.Header
			for _, raw := range in.HeadersRaw {
				last = last.Next(header(raw))
				headers, heights = append(headers, last.Header), append(heights, last.Header.Height)
			}
			op := map[string]relay.Op{"saveMainHeaders": relay.SaveMain, "saveNewForkHeaders": relay.SaveNewFork, "saveForkHeaders": relay.SaveFork, "saveShortForkHeaders": relay.SaveShortFork}[in.Fn]
			fork := int64(in.ForkCounter)
			if in.ForkID != nil {
				fork = int64(*in.ForkID)
			}
			ix := trial.Must(p.SubmitInstruction(op, key(t, in.Signer), headers, on, uint64(fork)))(t)
			tx := trial.Must(RelayTx(key(t, in.Signer), ix, feeRate(t, in.FeeRate)))(t)
			switch {
			case op == relay.SaveMain || last.Work.Cmp(bigHex(t, in.TipWork)) > 0:
				fork = 0 // it is the main chain then
			case op == relay.SaveShortFork:
				fork = -1 // it has no id
			}
			latest := Hash(key(t, in.Blockhash))
			j := jsonOfTx(t, tx, latest)
			var wantTx struct{ Tx txJSON }
			c.Expected(t, &wantTx)
			same(t, "transaction", wantTx.Tx, j)
			vectors.SameJSON(t, want, map[string]any{"forkId": fork, "lastStoredHeader": jsonOfStored(last), "computedHeights": heights, "tx": j})
			if _, err := p.submits(ix, key(t, in.Signer)); err != nil {
				t.Errorf("what was built is not wanted back: %v", err)
			}
		case "verify":
			proof := Proof{TxID: hash32(t, in.ReversedTxID), Index: in.Position}
			for _, h := range in.Merkle {
				proof.Path = append(proof.Path, hash32(t, h))
			}
			vectors.SameJSON(t, want, map[string]any{"instruction": jsonOf(p.VerifyInstruction(key(t, in.Signer), proof, in.Confirmations, in.Stored.stored(t)))})
		case "initialize":
			h := header(in.HeaderRaw)
			h.Height = in.Height
			vectors.SameJSON(t, want, map[string]any{"instruction": jsonOf(p.RelayInitInstruction(key(t, in.Signer),
				StoredHeader{Work: bigHex(t, in.ChainWork), Header: h, LastDiffAdjustment: in.EpochStart, PrevTimes: in.PrevTimestamps}))})
		case "closeFork":
			c.NotOurs(t, "relay-fork-end")
		case "estimateSynchronizeFee":
			c.NotOurs(t, "relay-cost")
		case "tip":
			if _, err := DecodeRelayState(nil); !errors.Is(err, ErrAbsent) {
				t.Error(err)
			}
			vectors.SameJSON(t, want, map[string]any{"tip": nil})
		case "retrieveLog":
			account := make([]byte, RelayStateSpace)
			copy(account, vectors.Unhex(t, in.MainStateHead))
			for at, h := range in.MainStateCommitments {
				i := trial.Must(strconv.Atoi(at))(t)
				copy(account[128+32*i:], vectors.Unhex(t, h))
			}
			state := trial.Must(DecodeRelayState(account))(t)
			if !slices.Equal(account, state.Bytes()) {
				t.Error("the account is written otherwise than it was read")
			}
			block := trial.Must(bitcoin.ParseHash(in.Blockhash))(t)
			same(t, "topic", in.Topic, p.RelayHeader(block).String())
			got := map[string]any{"result": nil, "byCommitHash": nil, "tip": map[string]any{
				"blockheight": state.Height, "commitHash": hexOf(state.TipCommitment), "blockhash": bitcoin.Hash(state.TipHash).String(), "chainWork": hexOf([32]byte(state.Work.FillBytes(make([]byte, 32))))}}
			if h, ok := p.FindStored(state, in.Transaction.Logs, func(h StoredHeader) bool { return h.Header.Hash() == block }); ok {
				if state.Height >= in.RequiredBlockheight { // whoever needs confirmations looks at the height too
					got["result"] = map[string]any{"height": state.Height, "header": jsonOfStored(h)}
				}
			}
			for events, _ := p.RelayEvents(in.Transaction.Logs); len(events) > 0; events = events[1:] {
				got["byCommitHash"] = jsonOfStored(*events[0].Stored) // of the only one that there is
			}
			var all map[string]json.RawMessage
			trial.Do(t, json.Unmarshal(want, &all))
			delete(all, "calls")
			vectors.SameJSON(t, vectors.JSON(t, all), got)
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

// A header that a log tells of counts only if it is the one that the relay remembers
// at its height; one of the same height, or forgotten, does not (§21.6).
func TestFindStored(t *testing.T) {
	p := firstV1
	var h StoredHeader
	h.Work, h.Header.Height = rawtx.Difficulty(0x1d00ffff), 1000
	h.Header.Bits = 0x1d00ffff
	event := RelayEvent{Block: h.Header.Hash(), Commitment: h.Commitment(), Stored: &h}
	logs := logOf(p.Relay, event.Bytes())
	is := func(s StoredHeader) bool { return s.Header == h.Header }
	state := &RelayState{StartHeight: 900, Height: 1010, Work: h.Work}
	state.SetCommitment(1000, h.Commitment())
	if got, ok := p.FindStored(state, logs, is); !ok || got.Commitment() != h.Commitment() {
		t.Error("a stored header was not found")
	}
	old := *state
	old.Height = 1000 + RelayRing
	if _, ok := p.FindStored(&old, logs, is); ok {
		t.Error("a header that the relay has forgotten was found")
	}
	low := *state
	low.Height = 999
	if _, ok := p.FindStored(&low, logs, is); ok {
		t.Error("a header above the relay's tip was found")
	}
	if _, ok := p.FindStored(&RelayState{StartHeight: 900, Height: 1010, Work: h.Work}, logs, is); ok {
		t.Error("a header of a fork was found")
	}
	lies := event
	lies.Commitment[0] ^= 1
	if _, ok := decodeRelayEvent(lies.Bytes()); ok {
		t.Error("an event whose commitment is not its header's was read")
	}
	for _, e := range []RelayEvent{event, {OnFork: true, Block: event.Block, Commitment: event.Commitment, Stored: &h}, {OnFork: true, Fork: 7, Block: event.Block, Commitment: event.Commitment, Stored: &h}, {Fork: 7, Start: 3, Block: event.Block, Commitment: event.Commitment}} {
		got, ok := decodeRelayEvent(e.Bytes())
		if !ok || got.OnFork != e.OnFork || got.Fork != e.Fork || got.Start != e.Start || got.Block != e.Block || (got.Stored == nil) != (e.Stored == nil) {
			t.Errorf("%+v reads back as %+v", e, got)
		}
	}
}

func TestRelayFork(t *testing.T) {
	f := &RelayFork{Initialized: 1, StartHeight: 2, Length: 3, TipCommitment: [32]byte{4}, TipHash: [32]byte{5}}
	f.SetCommitment(2, [32]byte{6})
	raw := f.Bytes()
	if len(raw) != RelayForkSpace {
		t.Fatalf("%d bytes", len(raw))
	}
	got, err := DecodeRelayFork(raw)
	if err != nil || *got != *f || got.Commitment(2) != [32]byte{6} {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := DecodeRelayFork(raw[:len(raw)-1]); err == nil {
		t.Error("a fork without its end was read")
	}
}

// The ring holds the newest 250 commitments however long the chain becomes: where it
// is written over, its start moves with it.
func TestRelayRing(t *testing.T) {
	of := func(height uint32) [32]byte { return sha256.Sum256(binary.LittleEndian.AppendUint32(nil, height)) }
	const first = 850_007
	s := &RelayState{StartHeight: first, Height: first, Work: new(big.Int)}
	s.SetCommitment(first, of(first))
	for height := uint32(first + 1); height < first+2*RelayRing+100; height++ {
		s.SetCommitment(height, of(height))
		s.Height = height
		oldest := max(first, height-RelayRing+1)
		for _, known := range []uint32{oldest, (oldest + height) / 2, height} {
			if c, ok := s.Commitment(known); !ok || c != of(known) {
				t.Fatalf("at %d the commitment of %d is %x, %v", height, known, c[:4], ok)
			}
		}
		for _, unknown := range []uint32{oldest - 1, height + 1, 0} {
			if _, ok := s.Commitment(unknown); ok {
				t.Fatalf("at %d there is a commitment of %d", height, unknown)
			}
		}
	}
	if want := uint32(first + 2*RelayRing); s.StartHeight != want {
		t.Errorf("the ring starts at %d, not %d", s.StartHeight, want)
	}
	// A fork that begins below the ring's start writes over both ends.
	for height := s.StartHeight - 3; height < s.StartHeight+4; height++ {
		if !s.SetCommitment(height, of(^height)) {
			t.Fatalf("%d was not stored", height)
		}
	}
	for height := s.StartHeight - 3; height < s.StartHeight+4; height++ {
		if c, ok := s.Commitment(height); !ok || c != of(^height) {
			t.Errorf("%d is not the fork's", height)
		}
	}
	if s.SetCommitment(s.StartHeight-RelayRing, [32]byte{1}) {
		t.Error("a height below the ring was stored")
	}
}
