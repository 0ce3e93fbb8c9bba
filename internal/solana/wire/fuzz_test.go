package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func FuzzParseKey(f *testing.F) {
	f.Add("Hs3ePxtgaGEteZn7bwKfz4QopR7YLAbRwXTsoUygS4BH")
	f.Add("So11111111111111111111111111111111111111112")
	f.Add(strings.Repeat("1", 32))
	f.Fuzz(func(t *testing.T, s string) {
		k, err := ParseKey(s)
		if err != nil {
			return
		}
		if k.String() != s {
			t.Fatalf("%q is read as %s", s, k)
		}
	})
}

// Accounts are read whole or not at all, and written as they were read.
func FuzzAccounts(f *testing.F) {
	for _, c := range vectors.Load(f, "chain-solana", "accounts").Cases {
		var in struct{ Data *string }
		c.Input(f, &in)
		if in.Data != nil {
			f.Add(vectors.Unhex(f, *in.Data), false)
			f.Add(vectors.Unhex(f, *in.Data), true)
		}
	}
	f.Add((&RelayState{Work: big.NewInt(1), Height: 3}).Bytes(), true)
	f.Add((&RelayFork{Length: 1}).Bytes(), false)
	f.Add(TokenAccount{Amount: 1}.Bytes(), false)
	f.Fuzz(func(t *testing.T, data []byte, v2 bool) {
		p := firstV1
		if v2 {
			p = firstV2
		}
		sameStart := func(what string, raw []byte) {
			n := min(len(raw), len(data))
			if what == "escrow" {
				n = min(n, len(raw)-1) // the spare byte
			}
			if !bytes.Equal(raw[:n], data[:n]) {
				t.Fatalf("%s: read %x, written %x", what, data, raw)
			}
		}
		if s, err := p.DecodeEscrow(data); err == nil {
			sameStart("escrow", p.EncodeEscrow(s))
			d := p.SwapData(s)
			if err := p.Match(s, d); err != nil {
				t.Fatalf("it does not match its own description: %v", err)
			}
			text := trial.Must(json.Marshal(d))(t)
			if _, err := ParseSwapData(text); err != nil {
				t.Fatalf("its own description is not read: %v", err)
			}
		}
		if v, err := DecodeUserVault(data); err == nil {
			sameStart("vault", v.Bytes())
		}
		if s, err := DecodeRelayState(data); err == nil {
			raw := s.Bytes()
			if !bytes.Equal(raw[:128+32*RelayRing], data[:128+32*RelayRing]) {
				t.Fatal("a relay's state is written otherwise than it was read")
			}
		}
		if a, err := DecodeRelayFork(data); err == nil {
			sameStart("fork", a.Bytes())
		}
		for _, program := range []Key{TokenProgram, SystemProgram, {}} {
			if a, err := DecodeTokenAccount(program, data); err == nil && !bytes.Equal(a.Bytes()[:72], data[:72]) {
				t.Fatal("a token account is written otherwise than it was read")
			}
		}
		for _, l := range p.DataLayouts() {
			a, err := l.Decode(data)
			if err == nil && l.Space(len(a.Payload)) != len(data) {
				t.Fatal("a data account of another size")
			}
			if got, ok := p.DataLayoutOf(data, a.Owner); err == nil && (!ok || got > l) {
				t.Fatalf("a data account of layout %d is one of %d, %v", l, got, ok)
			}
		}
	})
}

// A transaction that is read encodes to the same bytes, and its instructions compile
// to a message of the same accounts.
func FuzzParseTx(f *testing.F) {
	for _, c := range vectors.Load(f, "chain-solana", "tx-serialization").Cases {
		var in struct{ SignedTx, UnsignedTx string }
		c.Input(f, &in)
		for _, s := range []string{in.SignedTx, in.UnsignedTx} {
			if s != "" {
				f.Add(vectors.Unhex(f, s))
			}
		}
	}
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := ParseTx(raw)
		if err != nil {
			return
		}
		_ = tx.Verify()
		_, _ = tx.ID()
		m := trial.Must(Compile(tx.Payer, tx.Blockhash, tx.Instructions))(t)
		if len(m.AccountKeys) > len(tx.Message.AccountKeys) {
			t.Fatalf("%d accounts compile to %d", len(tx.Message.AccountKeys), len(m.AccountKeys))
		}
		for _, p := range []Programs{firstV1, firstV2} {
			for _, ix := range tx.Instructions {
				_ = p.Name(ix)
				_, _, _ = p.OpenedData(ix, nil)
				_, _ = p.submits(ix, tx.Payer)
				_, _ = p.verifies(ix, tx.Payer, wantedPayment{})
			}
			d := SwapData{Offerer: tx.Payer, OffererATA: &Key{}, ClaimerATA: &Key{1}, PayOut: true}
			if w, err := p.wantClaim(&d, tx.Payer, [32]byte{}, 1); err == nil {
				_ = w.Match(tx)
			}
		}
		if _, err := ParseText(`{"tx":"` + hex.EncodeToString(raw) + `","signers":[],"lastValidBlockheight":1}`); err != nil {
			t.Fatalf("its text is not read: %v", err)
		}
	})
}

func FuzzParseText(f *testing.F) {
	f.Add(`{"tx":"00","signers":["00"],"lastValidBlockheight":1}`)
	f.Add(`{}`)
	f.Fuzz(func(t *testing.T, s string) {
		if tx, err := ParseText(s); err == nil && tx.Blockhash.IsZero() && len(tx.Raw) == 0 {
			t.Fatal("nothing was read")
		}
	})
}

// Events are what they are written as; nothing that a program may log makes one of
// another program ours.
func FuzzEvents(f *testing.F) {
	f.Add(Event{Kind: Initialized, Sequence: 1}.Bytes())
	f.Add(Event{Kind: Claimed, Sequence: 1}.Bytes())
	f.Add(Event{Kind: Refunded, Sequence: 1}.Bytes())
	f.Add(RelayEvent{Start: 1}.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		if e, ok := decodeEvent(data); ok && !bytes.HasPrefix(data, e.Bytes()) {
			t.Fatalf("%x is read as %+v", data, e)
		}
		if e, ok := decodeRelayEvent(data); ok && e.Stored == nil && !bytes.HasPrefix(data, e.Bytes()) {
			t.Fatalf("%x is read as %+v", data, e)
		}
	})
}

func FuzzLogs(f *testing.F) {
	us := firstV1.Swap.String()
	event := "Program data: " + base64Text(Event{Kind: Claimed}.Bytes())
	f.Add("Program " + us + " invoke [1]\n" + event + "\nProgram " + us + " success")
	f.Add("Program X invoke [1]\nProgram log: Program " + us + " invoke [2]\n" + event)
	f.Add("Log truncated")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		events, _ := firstV1.Events(lines)
		if len(events) > len(lines) {
			t.Fatal("more events than lines")
		}
		// Whatever the lines are, inside another program none of its texts is ours.
		inside := []string{"Program " + SystemProgram.String() + " invoke [1]"}
		for _, l := range lines {
			inside = append(inside, "Program log: "+l, "Program data: "+l)
		}
		if events, _ := firstV1.Events(inside); len(events) != 0 {
			t.Fatalf("another program's text is ours: %v", events)
		}
	})
}

func FuzzSwapData(f *testing.F) {
	f.Add(goodSwapData)
	f.Add(`{"type":"sol","kind":3.0,"confirmations":1e2}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseSwapData([]byte(text))
		if err != nil {
			return
		}
		raw := trial.Must(json.Marshal(d))(t)
		again, err := ParseSwapData(raw)
		if err != nil || Diff(d, again, chains.Tolerance{}) != nil {
			t.Fatalf("%s reads back as %v, %v", raw, again, err)
		}
		_ = firstV1.Check(d)
		_, _ = d.ExpiryTime()
	})
}

func FuzzFeeRate(f *testing.F) {
	f.Add("7000;250;BqEwqyHN1XEUVqGu5mAi8da1bVVLTgRTSn24ZtHxAMiF#1;5")
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseFeeRate(s)
		if err != nil {
			return
		}
		if again, err := ParseFeeRate(r.String()); err != nil || again.String() != r.String() {
			t.Fatalf("%q reads back as %q, %v", r, again, err)
		}
		_, _ = r.Head(50_000, 1)
		_, _ = r.tail(Key{1}, 50_000, 1)
	})
}

func FuzzTxError(f *testing.F) {
	f.Add(`{"InstructionError":[2,{"Custom":6001}]}`)
	f.Add(`"BlockhashNotFound"`)
	f.Add(`{"InstructionError":[-1,"x"]}`)
	f.Fuzz(func(t *testing.T, s string) {
		e := ParseTxError(json.RawMessage(s))
		if e.IsCustom && e.Instruction < 0 {
			t.Fatal("an error of a program that no instruction calls")
		}
		if len(e.Reason) > 1000 {
			t.Fatal("a reason without bound")
		}
		_ = firstV1.Explain(e, []Instruction{{Program: firstV1.Swap}, {}, {Program: firstV1.Relay}})
	})
}
