package contracts_test

import (
	"errors"
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

var (
	counterClass = contracts.ClassHash("counter")
	counterKey   = contracts.StorageKey("count")
)

// counter counts, and fails after it has counted if it is asked to.
func counter() contracts.Class {
	return contracts.Class{Name: "counter", Hash: counterClass, Entries: map[string]contracts.Function{
		"count": func(f *contracts.Frame, calldata []contracts.Felt) ([]contracts.Felt, error) {
			sum := f.GetU256(counterKey)
			f.SetU256(counterKey, sum.Add(sum, wire.Number(calldata[0])))
			f.Emit([]contracts.Felt{wire.Selector("Counted"), f.Caller()}, calldata)
			return []contracts.Felt{f.Get(counterKey)}, nil
		},
		"countAndFail": func(f *contracts.Frame, calldata []contracts.Felt) ([]contracts.Felt, error) {
			f.Set(counterKey, calldata[0])
			return nil, contracts.Fail("Not enough")
		},
		// both counts here and fails at another contract; with a second argument it goes on after that.
		"both": func(f *contracts.Frame, calldata []contracts.Felt) ([]contracts.Felt, error) {
			f.Set(counterKey, wire.FeltOf(7))
			f.Emit([]contracts.Felt{wire.FeltOf(1)}, nil)
			_, err := f.Call(calldata[0], "countAndFail", wire.FeltOf(9))
			if len(calldata) > 1 {
				return []contracts.Felt{wire.FeltOf(1)}, nil
			}
			return nil, err
		},
		"burn": func(f *contracts.Frame, calldata []contracts.Felt) ([]contracts.Felt, error) {
			f.Set(counterKey, wire.FeltOf(1))
			f.Charge(calldata[0].Uint64())
			return nil, nil
		},
		"fill": func(f *contracts.Frame, calldata []contracts.Felt) ([]contracts.Felt, error) {
			for i := range calldata[0].Uint64() {
				f.Set(contracts.At(counterKey, int(i)), wire.FeltOf(1))
			}
			return nil, nil
		},
		"bug": func(*contracts.Frame, []contracts.Felt) ([]contracts.Felt, error) { panic("a bug") },
		"self": func(f *contracts.Frame, _ []contracts.Felt) ([]contracts.Felt, error) {
			return f.Call(f.Address(), "self")
		},
	}}
}

func newCounters(t *testing.T, count int) (*contracts.Chain, []contracts.Felt) {
	t.Helper()
	c := trial.Must(contracts.New(contracts.Options{Classes: []contracts.Class{counter()}}))(t)
	var all []contracts.Felt
	for i := range count {
		at := contracts.Address(contracts.Felt{}, counterClass, wire.FeltOf(uint64(i)), nil)
		trial.Do(t, c.Place(at, counterClass))
		all = append(all, at)
	}
	return c, all
}

func TestCall(t *testing.T) {
	c, at := newCounters(t, 1)
	big2 := new(big.Int).Lsh(big.NewInt(1), 127)
	n, _ := wire.FeltOfBig(big2)
	for range 2 {
		if _, err := c.Impersonate(wire.FeltOf(5), at[0], wire.Selector("count"), n); err != nil {
			t.Fatal(err)
		}
	}
	i, err := c.Impersonate(wire.FeltOf(5), at[0], wire.Selector("count"), wire.FeltOf(3))
	if err != nil || len(i.Result) != 1 || i.Result[0] != wire.FeltOf(3) {
		t.Fatalf("the low half of 2^128+3 is %v, %v", i.Result, err)
	}
	events := i.AllEvents()
	if len(events) != 1 || events[0].From != at[0] || events[0].Keys[1] != wire.FeltOf(5) {
		t.Fatalf("events %v", events)
	}
}

func TestRevert(t *testing.T) {
	c, at := newCounters(t, 2)
	_, err := c.Impersonate(contracts.Felt{}, at[0], wire.Selector("both"), at[1])
	p := (*contracts.Panic)(nil)
	if !errors.As(err, &p) || p.Error() != "(0x4e6f7420656e6f756768 ('Not enough'), 0x454e545259504f494e545f4641494c4544 ('ENTRYPOINT_FAILED'))" {
		t.Fatalf("error %v", err)
	}
	for i, want := range []uint64{0, 0} {
		got, err := c.Impersonate(contracts.Felt{}, at[i], wire.Selector("count"), contracts.Felt{})
		if err != nil || got.Result[0] != wire.FeltOf(want) {
			t.Fatalf("contract %d has %v, %v", i, got.Result, err)
		}
	}
	// A contract that goes on keeps what it did itself.
	i, err := c.Impersonate(contracts.Felt{}, at[0], wire.Selector("both"), at[1], wire.FeltOf(1))
	if err != nil || len(i.AllEvents()) != 1 {
		t.Fatalf("%v %v", i.AllEvents(), err)
	}
	for i, want := range []uint64{7, 0} {
		got, _ := c.Impersonate(contracts.Felt{}, at[i], wire.Selector("count"), contracts.Felt{})
		if got.Result[0] != wire.FeltOf(want) {
			t.Fatalf("contract %d has %v", i, got.Result)
		}
	}
}

func TestFailures(t *testing.T) {
	c, at := newCounters(t, 1)
	for entry, want := range map[string]string{
		"nothing": "0x454e545259504f494e545f4e4f545f464f554e44 ('ENTRYPOINT_NOT_FOUND')",
		"bug":     "0x636f756e7465722070616e69636b65643a206120627567 ('counter panicked: a bug')",
	} {
		if _, err := c.Impersonate(contracts.Felt{}, at[0], wire.Selector(entry)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", entry, err)
		}
	}
	if _, err := c.Impersonate(contracts.Felt{}, wire.FeltOf(99), wire.Selector("count")); err == nil {
		t.Error("a contract that is not there was called")
	}
	if _, err := c.Impersonate(contracts.Felt{}, at[0], wire.Selector("self")); err == nil {
		t.Error("a contract called itself without end")
	}
	if err := c.Place(at[0], counterClass); err == nil {
		t.Error("two contracts at one address")
	}
}

func TestFail(t *testing.T) {
	long := "a text which does not fit into one felt of storage, and so is an array of bytes"
	for text, want := range map[string]string{
		"short": "0x73686f7274 ('short')",
		long:    `"` + long + `"`,
		"":      "0x0 ('')",
	} {
		if got := contracts.Fail("%s", text).Error(); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}
