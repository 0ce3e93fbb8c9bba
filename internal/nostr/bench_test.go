package nostr_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/nostr"
	"github.com/swapper-go/swapper/internal/trial"
)

// BenchmarkPublish is one publication to six relays on loopback, connections
// included. 7 ms, of which the relays, in the same process, take a part.
func BenchmarkPublish(b *testing.B) {
	var urls []string
	for range 6 {
		urls = append(urls, relay(b, watchtower.RelayFault{}).URL())
	}
	m := messenger(b, nostr.Options{Relays: urls})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		msg := message()
		msg.SwapData = fmt.Appendf(nil, `{"type":"evm","amount":"%d"}`, i)
		trial.Do(b, m.Publish(b.Context(), msg))
	}
}

// BenchmarkTake is what a watchtower spends on a good event that it has not seen:
// 0.17 ms, nearly all for the signature.
func BenchmarkTake(b *testing.B) {
	r := relay(b, watchtower.RelayFault{})
	m := messenger(b, nostr.Options{Relays: []string{r.URL()}})
	trial.Do(b, m.Publish(b.Context(), message()))
	text := trial.Must(json.Marshal(r.Events()[0]))(b)
	b.ReportAllocs()
	for b.Loop() {
		receiver := trial.Must(nostr.NewReceiver(nostr.ReceiverOptions{
			Network: bitcoin.Regtest, Relays: []string{r.URL()}, Types: map[string]func(json.RawMessage) error{"evm": anything},
		}))(b)
		if _, err := receiver.Take(text); err != nil {
			b.Fatal(err)
		}
	}
}
