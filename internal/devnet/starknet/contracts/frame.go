package contracts

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// maxDepth is how many calls can be inside each other.
const maxDepth = 50

// TxInfo is what a contract can know of the transaction that it runs in. The zero
// value is that of a call without one.
type TxInfo struct {
	Version   uint64
	Account   Felt // that pays
	Signature []Felt
	Hash      Felt
	ChainID   Felt
	Nonce     uint64
	Bounds    wire.Bounds
	Tip       uint64
	Query     bool // it is simulated and cannot be sent: its version has another bit
}

// BlockInfo is what a contract can know of the block.
type BlockInfo struct {
	Number    uint64
	Time      uint64 // Unix seconds
	Sequencer Felt
}

// Frame is a contract's code under execution.
type Frame struct {
	run    *run
	call   *Invocation
	class  *class
	depth  int
	locked bool // by the validation of an account: no other contract may be called
}

// Address returns the address of the contract whose storage the code works on.
func (f *Frame) Address() Felt { return f.call.Contract }

// Caller returns the address of the contract that called, zero if it is the network.
func (f *Frame) Caller() Felt { return f.call.Caller }

// Tx returns the transaction. It must not be changed.
func (f *Frame) Tx() *TxInfo { return f.run.tx }

// Block returns the block that the code runs in.
func (f *Frame) Block() BlockInfo { return f.run.block }

// Get returns a value of the contract's storage; zero if there is none.
func (f *Frame) Get(key Felt) Felt {
	f.run.charge(gasRead)
	return f.run.get(slot{f.call.Contract, key})
}

// Set changes a value of the contract's storage.
func (f *Frame) Set(key, value Felt) {
	f.run.charge(gasWrite)
	f.run.set(slot{f.call.Contract, key}, value)
}

// GetU256 returns a number that takes two felts of storage from key on, the low half
// first.
func (f *Frame) GetU256(key Felt) *big.Int {
	low, high := f.Get(key), f.Get(At(key, 1))
	n := wire.Number(high)
	return n.Or(n.Lsh(n, 128), wire.Number(low))
}

// SetU256 changes a number of two felts. It panics on one that is not below 2^256:
// contracts check their sums.
func (f *Frame) SetU256(key Felt, n *big.Int) {
	low, high := Split(n)
	f.Set(key, low)
	f.Set(At(key, 1), high)
}

// Split returns a number below 2^256 as its low and its high half.
func Split(n *big.Int) (low, high Felt) {
	var b [32]byte
	n.FillBytes(b[:])
	return feltOfBytes(b[16:]), feltOfBytes(b[:16])
}

// Emit emits an event of the contract.
func (f *Frame) Emit(keys, data []Felt) {
	f.run.charge(gasEvent + gasEventFelt*uint64(len(keys)+len(data)))
	f.call.Events = append(f.call.Events, Event{From: f.call.Contract, Keys: slices.Clone(keys), Data: slices.Clone(data), Order: f.run.events})
	f.run.events++
}

// Charge takes the l2 gas of a computation. A transaction that has not so much left
// ends there.
func (f *Frame) Charge(gas uint64) { f.run.charge(gas) }

// Call calls another contract by an entry point's name. What it did is undone if it
// fails; the error is a *[Panic], which the caller returns as a rule, since only
// newer contracts can go on after one.
func (f *Frame) Call(to Felt, entry string, calldata ...Felt) ([]Felt, error) {
	return f.callContract(to, wire.Selector(entry), calldata)
}

// callContract is [Frame.Call] with a selector.
func (f *Frame) callContract(to, selector Felt, calldata []Felt) ([]Felt, error) {
	if selector == selectorExecute { // which the network alone calls
		return nil, because(invalidArgument)
	}
	if f.locked && to != f.call.Contract {
		return nil, because(unauthorized)
	}
	return f.enter(Invocation{Contract: to, Caller: f.call.Contract, Selector: selector, Calldata: calldata, Entry: external, Kind: plainCall})
}

// Deploy makes a contract, whose address depends on its class, the salt, the
// constructor's arguments and, unless fromZero, on the contract that deploys it.
func (f *Frame) Deploy(class, salt Felt, calldata []Felt, fromZero bool) (Felt, error) {
	if f.locked {
		return Felt{}, because(unauthorized)
	}
	deployer := f.call.Contract
	if fromZero {
		deployer = Felt{}
	}
	at := Address(deployer, class, salt, calldata)
	return at, f.deploy(at, class, calldata, f.call.Contract)
}

// deploy makes a contract at an address.
func (f *Frame) deploy(at, class Felt, calldata []Felt, caller Felt) error {
	r := f.run
	r.charge(gasDeploy)
	k := r.chain.classes[class]
	if k == nil {
		return because(classNotDeclared)
	}
	if r.deployed(at) {
		return because(addressTaken)
	}
	mark := r.mark()
	r.setClass(at, class)
	_, err := f.enter(Invocation{Contract: at, Caller: caller, Class: class, Selector: selectorConstructor, Calldata: calldata, Entry: constructor, Kind: plainCall})
	if err != nil {
		r.undo(mark)
	}
	return err
}

// ClassAt returns the class hash of a contract, zero if there is none at the address.
func (f *Frame) ClassAt(at Felt) Felt {
	f.run.charge(gasRead)
	return f.run.classOf(at)
}

// enter runs an invocation inside of f and keeps it in f's trace.
func (f *Frame) enter(i Invocation) ([]Felt, error) {
	f.run.charge(gasCall)
	i.Calldata = slices.Clone(i.Calldata)
	inner := &i
	f.call.Calls = append(f.call.Calls, inner)
	failed := f.run.invoke(inner, f.depth+1, f.locked)
	if failed != nil && failed.fatal != "" {
		panic(unwinding{failed})
	}
	if failed != nil {
		return nil, &Panic{Data: append(slices.Clone(failed.Data), entryFailed)}
	}
	return slices.Clone(inner.Result), nil
}

// invoke runs an invocation. A failure undoes it, with the events of what it called.
func (r *run) invoke(i *Invocation, depth int, locked bool) *Panic {
	f := &Frame{run: r, call: i, depth: depth, locked: locked}
	if i.Class.IsZero() {
		i.Class = r.classOf(i.Contract)
	}
	mark := r.mark()
	before := r.used
	result, err := r.execute(f)
	i.Gas = r.used - before
	if err != nil {
		r.undo(mark)
		i.Failed = err
		return err
	}
	i.Result = slices.Clone(result)
	return nil
}

func (r *run) execute(f *Frame) (result []Felt, failed *Panic) {
	i := f.call
	switch {
	case f.depth > maxDepth:
		return nil, because(tooDeep)
	case i.Class.IsZero():
		return nil, &Panic{Data: []Felt{notDeployed}, fatal: fmt.Sprintf("Requested contract address %s is not deployed", wire.Hex64(i.Contract))}
	}
	k := r.chain.classes[i.Class]
	if k == nil {
		return nil, because(classNotDeclared)
	}
	f.class = k
	function := k.entries[i.Selector]
	if i.Entry == constructor {
		if function = k.Constructor; function == nil {
			if len(i.Calldata) > 0 {
				return nil, Fail("Input too long for arguments")
			}
			return nil, nil
		}
	}
	if function == nil {
		return nil, because(entryNotFound)
	}
	defer func() {
		switch problem := recover().(type) {
		case nil:
		case unwinding:
			result, failed = nil, problem.Panic
		default:
			if problem == errOutOfGas {
				panic(problem)
			}
			result, failed = nil, Fail("%s panicked: %v", k.Name, problem)
		}
	}()
	result, err := function(f, i.Calldata)
	if err != nil {
		return nil, panicOf(err)
	}
	return result, nil
}
