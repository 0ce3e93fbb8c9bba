package metrics

import (
	"context"
	"math/big"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/swapper-go/swapper"
)

// Bounds of a snapshot.
const (
	fresh    = 5 * time.Second // how long one serves
	patience = 4 * time.Second // for the parts that are asked
)

// snapshot collects what [swapper.Client.Stats] says.
type snapshot struct {
	client teller
	store  string

	mu   sync.Mutex
	at   time.Time
	last *swapper.Stats
}

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

var (
	partUp      = gauge("swapper_part_up", "1 if a part responds: a chain, bitcoin, or liquidity providers.", "part")
	partSeconds = gauge("swapper_part_seconds", "Time that a part took to respond.", "part")
	partHeight  = gauge("swapper_part_height", "Latest block of a chain.", "part")
	partRelay   = gauge("swapper_part_relay_height", "Latest Bitcoin block that a smart chain's relay knows.", "part")
	partTime    = gauge("swapper_part_block_time_seconds", "Unix time of the latest block of a smart chain.", "part")

	contradictions = gauge("swapper_node_contradictions_total", "Settled questions in which other nodes of a chain contradicted one; nodes are numbered from 1 in the order of their URLs.", "part", "node")

	subscribed    = gauge("swapper_subscription_up", "1 while the connection to a node's WebSocket is subscribed and new blocks come; one process of those on a store listens.", "part", "node")
	subscriptions = gauge("swapper_subscription_lost_total", "Connections to a node's WebSocket that ended, or could not be opened.", "part", "node")
	messages      = gauge("swapper_subscription_messages_total", "Messages that came over a node's WebSocket.", "part", "node")

	swaps    = gauge("swapper_swaps", "Swaps that are followed, by type, chain and state.", "type", "chain", "state")
	underWay = gauge("swapper_money_under_way", "What went into the swaps that are neither over nor unused quotes, in whole tokens.", "token")
	effects  = gauge("swapper_effects", "What swaps need done in the outside world: running, or waiting to be tried again.", "kind", "phase")

	instances = gauge("swapper_instances", "Processes that share the work on the store, this one included.")
	shards    = gauge("swapper_shards", "Parts of the swaps that this process follows; 64 over all processes.")

	calls    = gauge("swapper_provider_calls_total", "Calls to a liquidity provider, by outcome: answered, refused or failed.", "provider", "outcome")
	took     = gauge("swapper_provider_call_seconds_total", "Time that the answered and refused calls took together.", "provider")
	strikes  = gauge("swapper_provider_strikes_total", "False answers that a liquidity provider was excluded for.", "provider")
	excluded = gauge("swapper_provider_excluded", "1 while a liquidity provider is not asked for some pair, or for any.", "provider")
	loaded   = gauge("swapper_provider_up", "1 if a liquidity provider answered when they were last loaded.", "provider")
	heard    = gauge("swapper_provider_last_answer_time_seconds", "Unix time of the last answer.", "provider")

	storeBytes = gauge("swapper_store_bytes", "Size of the store's file.")
)

// Describe implements [prometheus.Collector].
func (s *snapshot) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{partUp, partSeconds, partHeight, partRelay, partTime, contradictions, subscribed, subscriptions, messages, swaps, underWay, effects, instances, shards, calls, took, strikes, excluded, loaded, heard, storeBytes} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (s *snapshot) Collect(to chan<- prometheus.Metric) {
	set := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	count := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, labels...)
	}
	if s.store != "" {
		if info, err := os.Stat(s.store); err == nil {
			set(storeBytes, float64(info.Size()))
		}
	}
	stats := s.get()
	if stats == nil { // the client is closed
		return
	}
	for name, p := range stats.Parts {
		set(partUp, yes(p.Err == nil), name)
		set(partSeconds, p.Took.Seconds(), name)
		if p.Height > 0 {
			set(partHeight, float64(p.Height), name)
		}
		if p.Relay > 0 {
			set(partRelay, float64(p.Relay), name)
		}
		if !p.Time.IsZero() {
			set(partTime, float64(p.Time.Unix()), name)
		}
		for i, n := range p.Contradictions {
			count(contradictions, float64(n), name, strconv.Itoa(i+1))
		}
		for i, s := range p.Subscriptions {
			node := strconv.Itoa(i + 1)
			set(subscribed, yes(s.Alive), name, node)
			count(subscriptions, float64(s.Lost), name, node)
			count(messages, float64(s.Messages), name, node)
		}
	}
	set(instances, float64(stats.Instances))
	set(shards, float64(stats.Shards))
	type state struct {
		kind        swapper.SwapType
		chain, name string
	}
	counts := map[state]int{} // two states of one type may have one name
	for _, n := range stats.Swaps {
		counts[state{n.Type, n.Chain, n.Name}] += n.Count
	}
	for of, n := range counts {
		set(swaps, float64(n), string(of.kind), of.chain, of.name)
	}
	for _, sum := range stats.UnderWay {
		set(underWay, whole(sum.Amount, sum.Decimals), sum.Token)
	}
	for _, e := range stats.Effects {
		set(effects, float64(e.Running), e.Kind, "running")
		set(effects, float64(e.Waiting), e.Kind, "waiting")
	}
	byHost := map[string]bool{}
	for _, p := range stats.Providers {
		name := host(p.URL)
		if byHost[name] {
			continue // the same host by two addresses: one stands for both
		}
		byHost[name] = true
		count(calls, float64(p.Answered), name, "answered")
		count(calls, float64(p.Refused), name, "refused")
		count(calls, float64(p.Failed), name, "failed")
		count(took, p.Took.Seconds(), name)
		count(strikes, float64(p.Strikes), name)
		set(excluded, yes(!p.Excluded.IsZero()), name)
		set(loaded, yes(p.Loaded), name)
		if !p.LastAnswer.IsZero() {
			set(heard, float64(p.LastAnswer.Unix()), name)
		}
	}
}

// get returns the last snapshot, or a new one if that is too old. Scrapes that come
// together share one.
func (s *snapshot) get() *swapper.Stats {
	if s.client == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil && time.Since(s.at) < fresh {
		return s.last
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stats, err := s.client.Stats(ctx)
	if err != nil {
		stats = nil
	}
	s.last, s.at = stats, time.Now()
	return stats
}

// whole is an amount in whole tokens, for people and graphs; nothing is calculated
// with it.
func whole(raw *big.Int, decimals int) float64 {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	f, _ := new(big.Rat).SetFrac(raw, unit).Float64()
	return f
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func host(base string) string {
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		return u.Host
	}
	return other
}
