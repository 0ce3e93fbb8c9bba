package contracts

import (
	"math/big"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Felt is an element of Starknet's field.
type Felt = wire.Felt

// call is an entry point under execution. A contract of Cairo fails by panicking, and
// nothing that it did remains: so do the functions here, with a *[Panic] that
// entry makes an error of.
type call struct {
	*Frame
	in     reader
	params int // that were read
	out    felts
}

// entry makes an entry point of a function that reads arguments with arg, ends them
// with done, and appends to out.
func entry(body func(x *call)) Function {
	return func(f *Frame, calldata []Felt) (result []Felt, err error) {
		defer func() {
			switch p := recover().(type) {
			case nil:
			case *Panic:
				result, err = nil, p
			default:
				panic(p)
			}
		}()
		x := &call{Frame: f, in: reader{rest: calldata}}
		body(x)
		return x.out, nil
	}
}

// entries makes entry points of functions by name.
func entries(bodies map[string]func(*call)) map[string]Function {
	charged := make(map[string]func(*call), len(bodies))
	for name, body := range bodies {
		charged[name] = func(x *call) {
			x.Charge(entryGas)
			body(x)
		}
	}
	return accountEntries(charged)
}

// accountEntries makes those of an account: what they take is part of what a
// transaction takes.
func accountEntries(bodies map[string]func(*call)) map[string]Function {
	all := make(map[string]Function, len(bodies))
	for name, body := range bodies {
		all[name] = entry(body)
	}
	return all
}

func abort(reason string) { panic(Fail("%s", reason)) }

// assert ends the contract with a reason unless a condition holds.
func assert(holds bool, reason string) {
	if !holds {
		abort(reason)
	}
}

// arg reads the next argument.
func arg[T any](x *call, read func(*reader) T) T {
	x.params++
	v := read(&x.in)
	if x.in.failed {
		panic(Fail("Failed to deserialize param #%d", x.params))
	}
	return v
}

// done demands that all arguments were read.
func (x *call) done() { assert(len(x.in.rest) == 0, "Input too long for arguments") }

// ask calls another contract; that it fails ends this one too.
func (x *call) ask(to Felt, entry string, calldata ...Felt) *reader {
	result, err := x.Call(to, entry, calldata...)
	if err != nil {
		panic(err)
	}
	return &reader{rest: result}
}

// answer reads what a contract answered.
func answer[T any](from *reader, read func(*reader) T) T {
	v := read(from)
	assert(!from.failed, "Returned data too short")
	return v
}

// event emits an event: its name and keys, and data.
func (x *call) event(name string, keys, data felts) {
	x.Emit(append(felts{wire.Selector(name)}, keys...), data)
}

// getUint reads a number of at most 64 bits from storage.
func (x *call) getUint(key Felt) uint64 {
	v := x.Get(key)
	return v.Uint64()
}

func (x *call) setUint(key Felt, n uint64) { x.Set(key, wire.FeltOf(n)) }

var maxU256 = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))

// plus adds numbers of 256 bits.
func plus(a, b *big.Int) *big.Int {
	sum := new(big.Int).Add(a, b)
	assert(sum.BitLen() <= 256, "u256_add Overflow")
	return sum
}

// minus subtracts numbers of 256 bits.
func minus(a, b *big.Int) *big.Int {
	assert(a.Cmp(b) >= 0, "u256_sub Overflow")
	return new(big.Int).Sub(a, b)
}

// beyond is by how much a exceeds b, 0 if it does not.
func beyond(a, b *big.Int) *big.Int {
	d := new(big.Int).Sub(a, b)
	if d.Sign() < 0 {
		return d.SetInt64(0)
	}
	return d
}

func larger(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}
