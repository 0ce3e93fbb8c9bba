package evm

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	evmread "github.com/swapper-go/swapper/internal/evm/read"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// What is remembered of an escrow's text is what reading it gives, for that text alone.
func TestEscrowsAreReadOnce(t *testing.T) {
	t.Parallel()
	d := deploymentOf(t, "CITREA/MAINNET")
	k := &contracts{Contracts: evmread.Contracts{Deployment: d}, memory: newMemory()}
	data := payInSwap(t, d, common.HexToAddress("0x1000000000000000000000000000000000000001"))
	for name, extra := range map[string][]byte{"without hints": nil, "with hints": bytes.Repeat([]byte{7}, 42)} {
		s := data
		if s.ExtraData = extra; extra != nil {
			s.Kind = chains.Onchain
			s.ClaimHandler = d.ClaimHandlers[chains.Onchain]
		}
		text := trial.Must(json.Marshal(s))(t)
		first, err := k.Decode(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		parsed := trial.Must(wire.ParseSwapData(text))(t)
		want := trial.Must(d.Escrow(parsed))(t)
		again, err := k.Decode(bytes.Clone(text))
		if err != nil || !reflect.DeepEqual(first, want) || !reflect.DeepEqual(again, want) {
			t.Errorf("%s: read as %+v, then %+v, %v; it is %+v", name, first, again, err, want)
		}
		kept, ok := k.memory.parsed.Get(string(first.Data))
		if read, err := wire.SwapDataOf(first); err != nil || !ok || !reflect.DeepEqual(kept, read) {
			t.Errorf("%s: its text is kept as %+v, and is %+v, %v", name, kept, read, err)
		}
		other := bytes.Replace(text, []byte(`"amount":"1000000"`), []byte(`"amount":"1000001"`), 1)
		if e, err := k.Decode(other); err != nil || e.Amount.Int64() != 1_000_001 {
			t.Errorf("%s: another text: %+v, %v", name, e, err)
		} else if k.Diff(first, e, chains.Tolerance{}) == nil || k.Diff(first, again, chains.Tolerance{}) != nil {
			t.Errorf("%s: compared wrongly", name)
		}
		for range 2 { // a refusal is no escrow the second time either
			if _, err := k.Decode(bytes.Replace(text, []byte(`"amount":"1000000"`), []byte(`"amount":"-1"`), 1)); err == nil {
				t.Errorf("%s: a negative amount", name)
			}
		}
		long := []byte(strings.Repeat(" ", parsedLen) + string(text))
		if e, err := k.Decode(long); err != nil || !reflect.DeepEqual(e, want) {
			t.Errorf("%s: a long text: %+v, %v", name, e, err)
		} else if _, ok := k.memory.decoded.Get(string(long)); ok {
			t.Errorf("%s: a long text is kept", name)
		}
	}
	foreign := &contracts{Contracts: evmread.Contracts{Deployment: deploymentOf(t, "CITREA/TESTNET4")}, memory: newMemory()}
	text, _ := json.Marshal(data)
	if _, err := foreign.Decode(text); err == nil {
		t.Error("the text of another deployment")
	}
}

// What is shown of an escrow, and what opens it, is made once for everything that it
// follows from; what a caller does with it is the caller's own.
func TestShownEscrowsAndTheirOpeningsAreMadeOnce(t *testing.T) {
	t.Parallel()
	d := deploymentOf(t, "CITREA/MAINNET")
	k := &contracts{chain: &chain{}, Contracts: evmread.Contracts{Deployment: d}, memory: newMemory()}
	user := common.HexToAddress("0x1000000000000000000000000000000000000001")
	s := payInSwap(t, d, user)
	text := trial.Must(json.Marshal(s))(t)
	e := trial.Must(k.Decode(text))(t)
	want := trial.Must(s.Public())(t)
	for range 3 {
		got, err := k.Public(e)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("shown as %s, %v", got, err)
		}
		clear(got)
	}
	other := e
	other.Data = bytes.Replace(e.Data, []byte(`"amount":"1000000"`), []byte(`"amount":"1000001"`), 1)
	if got, err := k.Public(other); err != nil || bytes.Equal(got, want) {
		t.Errorf("another escrow is shown as %s, %v", got, err)
	}

	auth := chains.Auth{Timeout: 1_900_000_000, Signature: "0x" + strings.Repeat("11", 65)}
	of := func(e chains.Escrow, sender common.Address, auth chains.Auth) []wire.Call {
		t.Helper()
		calls := trial.Must(k.calls(t.Context(), chains.Step{Kind: chains.StepInit, Escrow: e, Auth: auth}, sender, true))(t)
		s := trial.Must(wire.SwapDataOf(e))(t)
		if plain, err := d.Init(s, sender, auth); err != nil || !reflect.DeepEqual(calls, plain) {
			t.Errorf("opened by %+v, not %+v, %v", calls, plain, err)
		}
		return calls
	}
	of(e, user, auth)[0] = wire.Call{Gas: 1}
	first := of(e, user, auth)
	later := auth
	later.Timeout++
	signed := auth
	signed.Signature = "0x" + strings.Repeat("22", 65)
	for name, calls := range map[string][]wire.Call{
		"another escrow": of(other, user, auth), "a later end": of(e, user, later), "another signature": of(e, user, signed), "another sender": of(e, s.Claimer, auth),
	} {
		if reflect.DeepEqual(calls, first) {
			t.Errorf("%s: the same calls", name)
		}
	}
	for range 2 {
		if _, err := k.calls(t.Context(), chains.Step{Kind: chains.StepInit, Escrow: e, Auth: auth}, common.Address{7}, true); err == nil {
			t.Error("a stranger opens it")
		}
	}
}
