package nostr

import (
	"fmt"
	"net/url"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// Kind returns the event kind of a network's messages, or 0 if it has none
// (signet). (protocol: utilities.md §14)
func Kind(n bitcoin.Network) int {
	switch n {
	case bitcoin.Mainnet:
		return 28643
	case bitcoin.Testnet3:
		return 28644
	case bitcoin.Testnet4:
		return 28645
	case bitcoin.Regtest:
		return 28646
	}
	return 0
}

// DefaultRelays returns the relays that watchtowers of a network listen to; none
// on regtest, which is private, and on signet.
func DefaultRelays(n bitcoin.Network) []string {
	if Kind(n) == 0 || n == bitcoin.Regtest {
		return nil
	}
	return []string{
		"wss://relay.damus.io", "wss://nostr.einundzwanzig.space", "wss://relay01.lnfi.network/",
		"wss://relay.puresignal.news/", "wss://relay.fountain.fm/", "wss://sendit.nosflare.com/",
	}
}

// relay is one relay's address.
type relay struct {
	url  string
	host string // for errors and logs: paths and queries can carry access tokens
}

// maxRelays bounds how many sockets one publication opens.
const maxRelays = 32

// relaysOf checks a list of relays; an empty one is the network's.
func relaysOf(n bitcoin.Network, list []string) ([]relay, error) {
	if Kind(n) == 0 {
		return nil, fault.Invalid("network", "%s has no watchtower network", n)
	}
	if len(list) == 0 {
		list = DefaultRelays(n)
	}
	switch {
	case len(list) == 0:
		return nil, fault.Invalid("relays", "are required on %s, which has no public relays", n)
	case len(list) > maxRelays:
		return nil, fault.Invalid("relays", "must be at most %d", maxRelays)
	}
	var relays []relay
	seen := map[string]bool{}
	for i, text := range list {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "wss" && u.Scheme != "ws" {
			return nil, fault.Invalid(fmt.Sprintf("relays[%d]", i), "must be a wss:// or ws:// URL")
		}
		if key := u.String(); !seen[key] {
			seen[key] = true
			relays = append(relays, relay{key, u.Host})
		}
	}
	return relays, nil
}
