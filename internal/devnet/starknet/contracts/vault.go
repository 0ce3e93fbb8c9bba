package contracts

import (
	"math"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// vault is the state of a vault. It is a [wire.Vault] with which money is counted.
type vault struct{ wire.Vault }

func vaultKey(ref wire.VaultRef) Felt { return StorageKey("vaults", ref.Owner, ref.ID) }

// felts is how get_vault tells of a vault (§15.1).
func (v vault) felts() felts {
	w := felts{v.Relay, v.Tokens[0], v.Tokens[1], v.multiplier(0), v.multiplier(1)}.txid(v.UTXO.Hash)
	return w.uint(uint64(v.UTXO.Index)).uint(uint64(v.Confirmations)).uint(uint64(v.Withdrawals)).uint(uint64(v.Deposits)).pair(v.Raw)
}

func (v vault) multiplier(i int) Felt {
	f, err := wire.FeltOfBig(v.Multipliers[i])
	if err != nil {
		panic(err) // it was one
	}
	return f
}

// txid appends the id of a Bitcoin transaction as a number of 256 bits.
func (w felts) txid(id bitcoin.Hash) felts { return w.u256(new(big.Int).SetBytes(id[:])) }

func readTxID(r *reader) (id bitcoin.Hash) {
	readU256(r).FillBytes(id[:])
	return id
}

// Where a vault's members are in its storage.
const (
	vaultRelay = iota
	vaultToken0
	vaultToken1
	vaultMultiplier0
	vaultMultiplier1
	vaultTxID // its lower bits
	vaultRest
)

func (x *call) vault(ref wire.VaultRef) vault {
	at := vaultKey(ref)
	get := func(i int) Felt { return x.Get(At(at, i)) }
	n := unpack(get(vaultRest), upperBits, 32, 8, 32, 32, 64, 64)
	v := vault{wire.Vault{
		VaultRef: ref, Relay: get(vaultRelay), Tokens: [2]Felt{get(vaultToken0), get(vaultToken1)},
		Multipliers:   [2]*big.Int{wire.Number(get(vaultMultiplier0)), wire.Number(get(vaultMultiplier1))},
		Confirmations: uint8(n[2].Uint64()), Withdrawals: uint32(n[3].Uint64()), Deposits: uint32(n[4].Uint64()), Raw: [2]uint64{n[5].Uint64(), n[6].Uint64()},
	}}
	whole(get(vaultTxID), n[0]).FillBytes(v.UTXO.Hash[:])
	v.UTXO.Index = uint32(n[1].Uint64())
	return v
}

func (x *call) setVault(v vault) {
	id := new(big.Int).SetBytes(v.UTXO.Hash[:])
	rest := pack(upper(id), small(uint64(v.UTXO.Index), 32), small(uint64(v.Confirmations), 8), small(uint64(v.Withdrawals), 32), small(uint64(v.Deposits), 32),
		small(v.Raw[0], 64), small(v.Raw[1], 64))
	for i, f := range []Felt{v.Relay, v.Tokens[0], v.Tokens[1], v.multiplier(0), v.multiplier(1), lower(id), rest} {
		x.Set(At(vaultKey(v.VaultRef), i), f)
	}
}

// open reports whether the vault is open: a vault may stand on any output but the first
// of the zero transaction.
func (v vault) open() bool { return v.UTXO != bitcoin.OutPoint{} }

// real returns what raw units of the tokens are, and false if it has more than 256 bits.
func (v vault) real(raw [2]uint64) (amounts [2]*big.Int, ok bool) {
	for i, n := range raw {
		amounts[i] = new(big.Int).Mul(new(big.Int).SetUint64(n), v.Multipliers[i])
		if amounts[i].BitLen() > 256 {
			return amounts, false
		}
	}
	return amounts, true
}

func (v vault) mustReal(raw [2]uint64) [2]*big.Int {
	amounts, ok := v.real(raw)
	assert(ok, "Option::unwrap failed.")
	return amounts
}

// both adds raw units of both tokens.
func both(a, b [2]uint64) [2]uint64 {
	for i := range a {
		assert(a[i] <= math.MaxUint64-b[i], "u64_add Overflow")
		a[i] += b[i]
	}
	return a
}

// bring takes real amounts of a vault's tokens from the caller.
func (x *call) bring(v vault, amounts [2]*big.Int) {
	for i, n := range amounts {
		if n.Sign() != 0 {
			x.takeIn(v.Tokens[i], x.Caller(), n)
		}
	}
}

// pay pays raw units of a vault's tokens.
func (x *call) pay(v vault, to Felt, raw [2]uint64) {
	for i, n := range v.mustReal(raw) {
		if n.Sign() != 0 {
			x.payOut(v.Tokens[i], to, n)
		}
	}
}
