package wire

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// presetOf returns the network that a vector names as in CITREA/MAINNET.
func presetOf(t testing.TB, name string) Network {
	t.Helper()
	chain, on, _ := strings.Cut(name, "/")
	return trial.Must(Preset(chain, bitcoinNetwork(t, on)))(t)
}

func bitcoinNetwork(t testing.TB, name string) bitcoin.Network {
	t.Helper()
	return trial.Must(bitcoin.ParseNetwork(strings.ToLower(name)))(t)
}

func deploymentOf(t testing.TB, name string) Deployment {
	t.Helper()
	return presetOf(t, name).Deployments[0]
}

// swapOf reads swap data that a test needs to be good.
func swapOf(t testing.TB, raw json.RawMessage) SwapData {
	t.Helper()
	s, err := ParseSwapData(raw)
	if err != nil {
		t.Fatalf("swap data: %v", err)
	}
	return s
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatalf("hex %.40q: %v", s, err)
	}
	return b
}

func bigOf(t testing.TB, s string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("number %q", s)
	}
	return n
}

// addressMembers are the members of swap data that hold addresses.
var addressMembers = []string{"offerer", "claimer", "token", "refundHandler", "claimHandler", "depositToken"}

// canonical reports whether every address of a swap is written in EIP-55, and
// other hex in lower case.
func canonical(t testing.TB, raw json.RawMessage) bool {
	t.Helper()
	var fields map[string]any
	trial.Do(t, json.Unmarshal(raw, &fields))
	for _, name := range addressMembers {
		if s, _ := fields[name].(string); common.IsHexAddress(s) && common.HexToAddress(s).Hex() != s {
			return false
		}
	}
	for _, name := range []string{"claimData", "refundData", "extraData", "successActionCommitment"} {
		if s, _ := fields[name].(string); s != strings.ToLower(s) {
			return false
		}
	}
	return true
}

// lower lower-cases all of a JSON text, to compare what differs in the case of
// hex digits only.
func lower(raw json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.ToLower(string(raw)))
}
