package watchtower_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/watchtower"
)

// sending tells when claims are sent.
type sending struct {
	slog.Handler
	at chan time.Time
}

func (s sending) WithAttrs([]slog.Attr) slog.Handler { return s }

func (s sending) Enabled(context.Context, slog.Level) bool { return true }

func (s sending) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "a claim was sent" {
		s.at <- time.Now()
	}
	return nil
}

// measured is a tower on the EVM chain whose store is a file, and that looks as often as it does by default.
type measured struct {
	*kit
	config watchtower.Config
	sent   chan time.Time
	opened uint64
}

func newMeasured(b *testing.B) *measured {
	k := newKit(b, families[0])
	store := trial.Must(bolt.Open(b.Context(), filepath.Join(b.TempDir(), "watchtower.db"), bolt.Options{}))(b)
	b.Cleanup(func() { store.Close() })
	m := &measured{kit: k, config: k.config(), sent: make(chan time.Time, 1000)}
	m.config.Store, m.config.Every, m.config.Log = store, 0, slog.New(sending{slog.DiscardHandler, m.sent})
	return m
}

// next opens an escrow, and waits until it is final.
func (m *measured) next(bounty int64) watchtower.Message {
	m.opened++
	var secret chains.Preimage
	binary.BigEndian.PutUint64(secret[:], m.opened)
	data := m.open(m.TB, opening{secret: secret, bounty: bounty})
	for !m.final(data) {
		m.mine(m.TB)
	}
	return m.message(data, secret)
}

func (m *measured) publish(t *watchtower.Tower, all ...watchtower.Message) {
	m.Helper()
	for _, one := range all {
		trial.Do(m, t.Publish(m.Context(), one))
	}
}

// report says how long half of the claims took at most, and 99 of 100.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(took[(len(took)-1)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkOneClaim measures the time from the moment at which an escrow that is open and final is handed to
// a tower to the moment at which its claim is sent. The others that wait beside it do not pay.
func BenchmarkOneClaim(b *testing.B) {
	for _, waiting := range []int{1, 1000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			m := newMeasured(b)
			tower, _ := m.tower(m.config)
			for range waiting - 1 {
				m.publish(tower, m.next(0))
			}
			m.eventually("none of the others pays", func() bool {
				return trial.Must(tower.Reports(b.Context()))(b)[0].Refused == waiting-1
			})
			var took []time.Duration
			for b.Loop() {
				b.StopTimer()
				one := m.next(m.fair)
				b.StartTimer()
				began := time.Now()
				m.publish(tower, one)
				took = append(took, (<-m.sent).Sub(began))
			}
			report(b, took)
		})
	}
}

// BenchmarkManyClaims measures the time from the start of a tower whose 1,000 swaps can all be claimed
// to each claim.
func BenchmarkManyClaims(b *testing.B) {
	const swaps = 1000
	m := newMeasured(b)
	var all []watchtower.Message
	var took []time.Duration
	for b.Loop() {
		b.StopTimer()
		all = all[:0]
		for range swaps {
			all = append(all, m.next(m.fair))
		}
		idle := trial.Must(watchtower.Open(b.Context(), m.config))(b) // it does not run
		m.publish(idle, all...)
		_ = idle.Close()
		b.StartTimer()
		began := time.Now()
		_, stop := m.tower(m.config)
		for range swaps {
			took = append(took, (<-m.sent).Sub(began))
		}
		b.StopTimer()
		stop()
		b.StartTimer()
	}
	report(b, took)
}

// final reports whether an escrow is open, and finally.
func (k *kit) final(data json.RawMessage) bool {
	k.Helper()
	e := trial.Must(k.contract.Decode(data))(k.TB)
	facts := trial.Must(k.contract.Escrows(k.Context(), []chains.EscrowQuery{{Escrow: &e}}))(k.TB)
	return facts[0].Err == nil && facts[0].State == chains.EscrowOpen && facts[0].Final
}

// rounds counts the rounds of a tower, each of which looks into its books.
type rounds struct {
	storage.Store
	n atomic.Int64
}

func (r *rounds) Note(ctx context.Context, name string) ([]byte, uint64, error) {
	if strings.HasSuffix(name, "/book") {
		r.n.Add(1)
	}
	return r.Store.Note(ctx, name)
}

// asked counts requests to nodes.
type asked struct{ n atomic.Int64 }

func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	a.n.Add(1)
	return http.DefaultTransport.RoundTrip(r)
}

// BenchmarkWatching counts the requests to the chain's node in the first hour in which swaps wait whose claims do not
// pay. The tower looks every five seconds of the network's clock.
func BenchmarkWatching(b *testing.B) {
	for _, waiting := range []int{1, 1000} {
		b.Run(fmt.Sprintf("waiting=%d", waiting), func(b *testing.B) {
			m := newMeasured(b)
			made, node := &rounds{Store: m.config.Store}, &asked{}
			m.config.Store, m.config.HTTP, m.config.Every = made, node, 5*time.Millisecond
			tower, stop := m.tower(m.config)
			for range waiting {
				m.publish(tower, m.next(0))
			}
			m.eventually("none pays", func() bool {
				return trial.Must(tower.Reports(b.Context()))(b)[0].Refused == waiting
			})
			for b.Loop() {
				before := node.n.Load()
				for range int(time.Hour / (5 * time.Second)) {
					m.Clock.Add(5 * time.Second)
					for at := made.n.Load(); made.n.Load() < at+2; { // one that began before the clock moved, and one after it
						time.Sleep(time.Millisecond)
					}
				}
				b.ReportMetric(float64(node.n.Load()-before)/float64(waiting), "requests/swap")
			}
			stop()
		})
	}
}
