package contracts

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// withdrawal is what a Bitcoin transaction takes from a vault (§15.2).
type withdrawal struct {
	recipient      Felt
	amounts        [2]uint64
	caller         [2]uint64 // fees
	fronting       [2]uint64
	executionFee   uint64
	execution      Felt // hash of calls to make; zero: the recipient gets the money
	executionUntil uint32
}

func readWithdrawal(r *reader) withdrawal {
	pair := func() [2]uint64 { return [2]uint64{readU64(r), readU64(r)} }
	return withdrawal{recipient: readAddress(r), amounts: pair(), caller: pair(), fronting: pair(), executionFee: readU64(r), execution: readFelt(r), executionUntil: readU32(r)}
}

func (w withdrawal) felts() felts {
	return felts{w.recipient}.pair(w.amounts).pair(w.caller).pair(w.fronting).uint(w.executionFee).add(w.execution).uint(uint64(w.executionUntil))
}

// frontingID is the key under which it is known who advanced a withdrawal.
func (w withdrawal) frontingID(id bitcoin.Hash) Felt {
	return felts(nil).txid(id).add(w.felts()...).poseidon()
}

// advance is what somebody who advances the withdrawal pays.
func (w withdrawal) advance() [2]uint64 { return both(w.amounts, [2]uint64{w.executionFee, 0}) }

// refusal says why a transaction is not a withdrawal; "" if it is one.
type refusal string

const (
	opReturn     = 0x6a
	expiryOffset = 1_000_000_000 // from the lock time to the expiry of an execution
	feeUnits     = 100_000
	feeBits      = 20
)

// parseWithdrawal reads a transaction as a withdrawal. It looks at the length of the
// output's script, not at how it pushes its data.
func parseWithdrawal(tx bitcoinTx) (w withdrawal, no refusal) {
	if len(tx.outs) < 2 {
		return w, "tx_data: output 1 not found"
	}
	script := tx.outs[1].script
	switch {
	case len(script) == 0:
		return w, "tx_data: output 1 empty script"
	case script[0] != opReturn:
		return w, "tx_data: output 1 not OP_RETURN"
	case len(tx.ins) == 0:
		return w, "tx_data: input 0 not found"
	case len(tx.ins) == 1:
		return w, "tx_data: input 1 not found"
	}
	const mask = 1<<feeBits - 1
	first, second := tx.ins[0].sequence, tx.ins[1].sequence
	callerRate, executionRate := first&mask, second&mask
	frontingRate := first>>10&0xffc00 | second>>feeBits&0x3ff
	assert(tx.lockTime <= math.MaxUint32-expiryOffset, "u32_add Overflow")
	w.executionUntil = tx.lockTime + expiryOffset

	amount := binary.LittleEndian.Uint64
	var recipient []byte
	switch len(script) {
	case 42:
		recipient, w.amounts[0] = script[2:34], amount(script[34:])
	case 50:
		recipient, w.amounts = script[2:34], [2]uint64{amount(script[34:]), amount(script[42:])}
	case 74:
		recipient, w.amounts[0] = script[2:34], amount(script[34:])
		w.execution.SetBytes(script[42:74])
	case 83:
		recipient, w.amounts = script[3:35], [2]uint64{amount(script[35:]), amount(script[43:])}
		w.execution.SetBytes(script[51:83])
	default:
		return w, "tx_data: output 1 invalid len"
	}
	w.recipient.SetBytes(recipient) // modulo the prime, as the contract reckons
	if _, ok := convert(w.recipient, readAddress); !ok {
		return w, "tx_data: invalid recipient"
	}
	for _, fee := range []struct {
		into   *uint64
		of     uint64
		rate   uint32
		reason refusal
	}{
		{&w.caller[0], w.amounts[0], callerRate, "tx_data: caller fee 0"},
		{&w.fronting[0], w.amounts[0], frontingRate, "tx_data: fronting fee 0"},
		{&w.executionFee, w.amounts[0], executionRate, "tx_data: execution fee 0"},
		{&w.caller[1], w.amounts[1], callerRate, "tx_data: caller fee 1"},
		{&w.fronting[1], w.amounts[1], frontingRate, "tx_data: fronting fee 1"},
	} {
		n := new(big.Int).Mul(new(big.Int).SetUint64(fee.of), big.NewInt(int64(fee.rate)))
		if !n.Div(n, big.NewInt(feeUnits)).IsUint64() {
			return w, fee.reason
		}
		*fee.into = n.Uint64()
	}
	return w, ""
}

// total is all that a withdrawal takes from its vault.
func (w withdrawal) total() (all [2]uint64, no refusal) {
	for i, part := range [][]struct {
		n      uint64
		reason refusal
	}{
		{{w.caller[0], "get_full_amts: amt0-0"}, {w.fronting[0], "get_full_amts: amt0-1"}, {w.executionFee, "get_full_amts: amt0-2"}},
		{{w.caller[1], "get_full_amts: amt1-0"}, {w.fronting[1], "get_full_amts: amt1-1"}},
	} {
		all[i] = w.amounts[i]
		for _, p := range part {
			if all[i] > math.MaxUint64-p.n {
				return all, p.reason
			}
			all[i] += p.n
		}
	}
	return all, ""
}

// withdraw takes a withdrawal from a vault, which stands on the transaction's first
// output from then on.
func (v *vault) withdraw(tx bitcoinTx) (w withdrawal, all [2]uint64, no refusal) {
	if w, no = parseWithdrawal(tx); no != "" {
		return w, all, no
	}
	if all, no = w.total(); no != "" {
		return w, all, no
	}
	next := *v
	for i, reason := range []refusal{"withdraw: amount 0", "withdraw: amount 1"} {
		if all[i] > v.Raw[i] {
			return w, all, reason
		}
		next.Raw[i] -= all[i]
	}
	assert(v.Withdrawals < math.MaxUint32, "u32_add Overflow")
	next.UTXO, next.Withdrawals = bitcoin.OutPoint{Hash: tx.id}, v.Withdrawals+1
	if _, ok := v.real(all); !ok {
		// The balances have been taken from before this is noticed.
		*v = next
		return w, all, "parse_and_wthdrw: u256 overflow"
	}
	*v = next
	return w, all, ""
}
