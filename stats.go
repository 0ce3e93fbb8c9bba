package swapper

import (
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Stats is what a client has under way, and how what it depends on responds: for
// metrics and status pages. It holds no swap's id, address or secret.
type Stats struct {
	// Instances is how many processes share the work on the store, as [Client.Instances] says.
	Instances int
	// Shards is how many of the 64 parts of the swaps this process follows while Run is
	// active: all, if the store is its own. Over all processes they are 64, but for the
	// moments in which one is taken over.
	Shards int
	// Swaps are the swaps that Run follows, by type, chain and state: all that are not
	// settled, unused quotes and the last checks of ended swaps included. They
	// are loaded while Run starts; without Run there are none.
	Swaps []SwapCount
	// UnderWay is what went into the swaps that are neither over nor unused
	// quotes, by token.
	UnderWay []TokenTotal
	// Effects is what swaps need done in the outside world, by kind: send, post,
	// withdraw, publish, broadcast, refund.
	Effects []EffectCount
	// Providers are the liquidity providers that are loaded or excluded.
	Providers []ProviderStats
	// Parts are "bitcoin", "liquidity providers", "store" and the chains by their ids.
	Parts map[string]PartStats
}

// SwapCount is how many swaps of a type are in a state.
type SwapCount struct {
	Type  SwapType
	Chain string // the smart chain
	State int
	Name  string // of the state
	Count int
}

// TokenTotal is a sum in base units of a token.
type TokenTotal struct {
	Token    string // id
	Amount   *big.Int
	Decimals int
}

// EffectCount is how many effects of a kind are not done.
type EffectCount struct {
	Kind    string
	Running int // in progress, or with their turn to come
	Waiting int // attempted without success so far, and attempted again
}

// ProviderStats is how a liquidity provider behaves. Counts of calls begin with the client;
// Strikes and Excluded are kept in the store, and are those of all processes that share it.
type ProviderStats struct {
	URL      string
	Loaded   bool      // it answered when providers were last loaded
	Excluded time.Time // until when it is not asked for some pair, or for any; zero: it is asked
	Strikes  int       // false answers that it was excluded for

	Answered, Refused, Failed int           // calls: with a result, with an error, without an answer
	Took                      time.Duration // of all that were answered or refused together
	LastAnswer                time.Time     // zero: never
}

// PartStats is how something that swaps depend on responds.
type PartStats struct {
	Err    error         // why it cannot be used now; nil: it responds
	Took   time.Duration // of the question
	Height uint64        // of the latest block; 0 for providers and the store, or if it does not respond
	Time   time.Time     // of the latest block of a smart chain; else zero
	// Relay is the height up to which a smart chain's relay has Bitcoin's headers; 0 if it did not
	// say so. A watchtower is paid for each header that is missing, so that the least amounts of swaps
	// from Bitcoin rise with the distance to the height of part "bitcoin".
	Relay uint64
	// Contradictions are, for each configured node of a smart chain in the order of its
	// URLs, how often another node contradicted it in what must not be decided by one alone,
	// since the client was opened. With one element no node can contradict it.
	Contradictions []uint64
	// Subscriptions are, for each WebSocket URL of a smart chain or of Bitcoin in the order of its
	// configuration, the state of its connection. Of the processes on a store one listens to a
	// smart chain, so that in the others none of its connections is alive; each listens to Bitcoin.
	Subscriptions []bitcoin.Subscription
}
