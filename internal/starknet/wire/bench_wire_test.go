package wire

import (
	"encoding/json"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// signedText is a signed opening of an escrow from the vectors.
func signedText(b *testing.B) string {
	for _, c := range vectors.Load(b, "chain-starknet", "signed").Cases {
		var in struct{ Signed []string }
		if c.Input(b, &in); len(in.Signed) > 0 {
			return in.Signed[len(in.Signed)-1]
		}
	}
	b.Fatal("nothing is signed")
	return ""
}

func BenchmarkParseTransaction(b *testing.B) {
	text := signedText(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseTransaction(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTransactionID(b *testing.B) {
	tx := trial.Must(ParseTransaction(signedText(b)))(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tx.ID(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeLog(b *testing.B) {
	d := deploymentOf(b, "")
	var logs []Log
	for _, c := range vectors.Load(b, "chain-starknet", "events").Cases {
		var in struct{ Event logJSON }
		if c.Input(b, &in); in.Event.FromAddress != "" {
			logs = append(logs, Log{feltOf(b, in.Event.FromAddress), feltsOf(b, in.Event.Keys), feltsOf(b, in.Event.Data)})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, l := range logs {
			if _, err := d.DecodeLog(l); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(logs)), "logs/op")
}

func BenchmarkFindSwapData(b *testing.B) {
	d := deploymentOf(b, "")
	var trace json.RawMessage
	var hash Felt
	for _, c := range vectors.Load(b, "chain-starknet", "events").Cases {
		var in struct {
			Event logJSON
			Trace json.RawMessage
		}
		if c.Input(b, &in); c.Name == "Initialize plain" {
			trace, hash = in.Trace, feltOf(b, in.Event.Keys[4])
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.FindSwapData(trace, hash); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStoredHeaderNext(b *testing.B) {
	for _, c := range vectors.Load(b, "chain-starknet", "btcrelay").Cases {
		var in struct{ StoredHeaderFelts []string }
		if c.Input(b, &in); in.StoredHeaderFelts != nil {
			base := storedOf(b, in.StoredHeaderFelts)
			h := base.Header
			h.PrevBlock = base.Header.Hash()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := base.Next(h); err != nil {
					b.Fatal(err)
				}
			}
			return
		}
	}
}
