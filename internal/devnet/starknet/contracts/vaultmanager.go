package contracts

import (
	"math"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// vaultManager is the contract of the vaults (§15). Its constructor takes the address of
// the execution contract.
func vaultManager() Class {
	return Class{
		Name: "vault manager", Hash: ClassHash("SpvVaultManager"), ABI: vaultManagerABI,
		Constructor: entry(func(x *call) {
			execution := arg(x, readAddress)
			x.done()
			x.Set(executionContract, execution)
		}),
		Entries: entries(map[string]func(*call){
			"open":                      openVault,
			"deposit":                   depositVault,
			"front":                     front,
			"claim":                     claimVault,
			"get_vault":                 getVault,
			"get_fronter_address":       getFronter,
			"get_fronter_address_by_id": getFronterByID,
			"parse_bitcoin_tx":          parseBitcoinTx,
		}),
	}
}

func vaultArg(x *call) wire.VaultRef {
	return wire.VaultRef{Owner: arg(x, readAddress), ID: arg(x, readFelt)}
}

// openVault opens a vault of the caller's on an output of Bitcoin.
func openVault(x *call) {
	id := arg(x, readFelt)
	v := vault{wire.Vault{VaultRef: wire.VaultRef{Owner: x.Caller(), ID: id}, Relay: arg(x, readAddress)}}
	v.UTXO = arg(x, func(r *reader) bitcoin.OutPoint { return bitcoin.OutPoint{Hash: readTxID(r), Index: readU32(r)} })
	v.Confirmations = arg(x, readU8)
	v.Tokens = [2]Felt{arg(x, readAddress), arg(x, readAddress)}
	v.Multipliers = [2]*big.Int{wire.Number(arg(x, readFelt)), wire.Number(arg(x, readFelt))}
	x.done()
	assert(v.open(), "utxo is zero")
	assert(!x.vault(v.VaultRef).open(), "open: already opened")
	x.setVault(v)
	x.event("Opened", felts(nil).txid(v.UTXO.Hash).add(v.Owner, v.ID).uint(uint64(v.UTXO.Index)), nil)
}

// depositVault adds to a vault what the caller brings.
func depositVault(x *call) {
	ref, raw := vaultArg(x), [2]uint64{arg(x, readU64), arg(x, readU64)}
	x.done()
	v := x.vault(ref)
	assert(v.open(), "deposit: vault closed")
	amounts := v.mustReal(raw)
	v.Raw = both(v.Raw, raw)
	assert(v.Deposits < math.MaxUint32, "u32_add Overflow")
	v.Deposits++
	x.setVault(v)
	x.bring(v, amounts)
	x.event("Deposited", felts{ref.Owner, ref.ID}, felts(nil).pair(raw).uint(uint64(v.Deposits)))
}

func frontKey(ref wire.VaultRef, frontingID Felt) Felt {
	return StorageKey("liquidity_fronts", ref.Owner, ref.ID, frontingID)
}

// front pays a withdrawal before Bitcoin has confirmed it; the vault will pay it back.
func front(x *call) {
	ref, sequence, id, w := vaultArg(x), arg(x, readU32), arg(x, readTxID), arg(x, readWithdrawal)
	x.done()
	v := x.vault(ref)
	assert(v.open(), "front: vault closed")
	assert(v.Withdrawals <= sequence, "front: already processed")
	at := frontKey(ref, w.frontingID(id))
	by := x.Get(at)
	assert(by.IsZero(), "front: already fronted")
	x.Set(at, x.Caller())
	raw := w.advance()
	x.bring(v, v.mustReal(raw))
	x.settle(v, w, id)
	x.event("Fronted", x.withdrawalKeys(ref, w, id), felts(nil).pair(raw))
}

// settle gives a recipient what a withdrawal is for: tokens, or calls that are made with
// the first of them.
func (x *call) settle(v vault, w withdrawal, id bitcoin.Hash) {
	if w.execution.IsZero() {
		x.pay(v, w.recipient, w.advance())
		return
	}
	if w.amounts[1] != 0 {
		x.payOut(v.Tokens[1], w.recipient, v.mustReal([2]uint64{0, w.amounts[1]})[1])
	}
	amount, fee := v.mustReal([2]uint64{w.amounts[0]})[0], v.mustReal([2]uint64{w.executionFee})[0]
	execution := x.Get(executionContract)
	x.allow(v.Tokens[0], execution, plus(amount, fee))
	x.create(execution, w.recipient, felts(nil).txid(id).poseidon(), v.Tokens[0], amount, fee, w.execution, uint64(w.executionUntil))
}

func (x *call) withdrawalKeys(ref wire.VaultRef, w withdrawal, id bitcoin.Hash) felts {
	return felts(nil).txid(id).add(ref.Owner, ref.ID, w.recipient, w.execution, x.Caller())
}

// claimVault pays a withdrawal that Bitcoin has confirmed. One that spends the vault's
// output and that it cannot pay closes it: there will never be another.
func claimVault(x *call) {
	ref, raw, header, path, position := vaultArg(x), arg(x, readBytes), arg(x, readStored), arg(x, readPath), arg(x, readU32)
	x.done()
	v := x.vault(ref)
	assert(v.open(), "claim: vault closed")
	tx := x.readTx(raw)
	assert(len(tx.ins) > 0, "claim: empty inputs")
	assert(tx.ins[0].utxo == v.UTXO, "claim: incorrect in_0 utxo")
	x.buried(v.Relay, header, uint32(v.Confirmations), "claim: confirmations")
	x.inBlock(header.merkleRoot, tx.id, path, position)
	w, all, no := v.withdraw(tx)
	if no != "" {
		x.closeVault(v, tx.id, no)
		return
	}
	x.setVault(v)
	fronter := x.Get(frontKey(ref, w.frontingID(tx.id)))
	if fronter.IsZero() {
		// The fee for advancing goes to whoever claims: he could do both at once.
		x.pay(v, x.Caller(), both(w.caller, w.fronting))
		x.settle(v, w, tx.id)
	} else {
		x.pay(v, x.Caller(), w.caller)
		x.pay(v, fronter, both(w.advance(), w.fronting))
	}
	x.event("Claimed", x.withdrawalKeys(ref, w, tx.id), felts(nil).pair(all).uint(uint64(v.Withdrawals)).add(fronter))
}

// closeVault gives all that is in a vault to its owner.
func (x *call) closeVault(v vault, id bitcoin.Hash, why refusal) {
	rest := v.Raw
	v.UTXO, v.Raw = bitcoin.OutPoint{}, [2]uint64{}
	amounts := v.mustReal(rest)
	x.setVault(v)
	for i, n := range amounts {
		if n.Sign() != 0 {
			x.payOut(v.Tokens[i], v.Owner, n)
		}
	}
	x.event("Closed", felts(nil).txid(id).add(v.Owner, v.ID), felts{wire.ShortString(string(why))})
}

func getVault(x *call) {
	ref := vaultArg(x)
	x.done()
	x.out = x.vault(ref).felts()
}

func getFronter(x *call) {
	ref, id, w := vaultArg(x), arg(x, readTxID), arg(x, readWithdrawal)
	x.done()
	x.out = x.out.add(x.Get(frontKey(ref, w.frontingID(id))))
}

func getFronterByID(x *call) {
	ref, id := vaultArg(x), arg(x, readFelt)
	x.done()
	x.out = x.out.add(x.Get(frontKey(ref, id)))
}

// parseBitcoinTx tells how the contract will read a withdrawal.
func parseBitcoinTx(x *call) {
	raw := arg(x, readBytes)
	x.done()
	w, no := parseWithdrawal(x.readTx(raw))
	if no != "" {
		x.out = x.out.uint(1)
		return
	}
	x.out = x.out.uint(0).add(w.felts()...)
}
