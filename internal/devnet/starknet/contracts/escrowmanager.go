package contracts

import (
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// escrowManager is the contract that holds escrows, balances of LPs and reputations
// (§5). Its constructor takes the address of the execution contract.
func escrowManager() Class {
	return Class{
		Name: "escrow manager", Hash: ClassHash("EscrowManager"), ABI: escrowManagerABI,
		Constructor: entry(func(x *call) {
			execution := arg(x, readAddress)
			x.done()
			x.Set(executionContract, execution)
		}),
		Entries: entries(map[string]func(*call){
			"initialize":              initialize,
			"claim":                   claim,
			"refund":                  refund,
			"cooperative_refund":      cooperativeRefund,
			"deposit":                 deposit,
			"withdraw":                withdraw,
			"get_balance":             getBalance,
			"get_reputation":          getReputation,
			"get_state":               getState,
			"get_hash_state":          getHashState,
			"get_hash_state_multiple": getHashStates,
		}),
	}
}

var executionContract = StorageKey("execution_contract")

// initialize opens an escrow, paid by the offerer and, if the claimer sends it, with the
// offerer's signature. The extra data is there to be published alone.
func initialize(x *call) {
	e, signature, timeout := arg(x, readEscrow), arg(x, readFelts), arg(x, readU64)
	arg(x, readFelts) // extra data
	x.done()
	assert(x.Block().Time < timeout, "init: Authorization expired")
	hash := x.commit(e)
	caller := x.Caller()
	switch caller {
	case e.offerer:
		if e.reputation() { // else an escrow does no harm to its claimer
			x.signed(e.claimer, e.initMessage(hash, timeout), signature)
		}
	case e.claimer:
		x.signed(e.offerer, e.initMessage(hash, timeout), signature)
	default:
		abort("init: caller_address")
	}
	if held := e.held(); held.Sign() != 0 {
		x.takeIn(e.feeToken, caller, held)
	}
	if e.payIn() {
		x.takeIn(e.token, e.offerer, e.amount)
	} else {
		x.debit(e.offerer, e.token, e.amount, "_xfer_in: not enough balance")
	}
	x.escrowEvent("Initialize", e, hash, felts{e.claimHandler, e.refundHandler})
}

// claim pays an escrow to its claimer, whoever sends the witness.
func claim(x *call) {
	e, witness := arg(x, readEscrow), arg(x, readFelts)
	x.done()
	hash := x.finalize(e, chains.EscrowClaimed)
	result := answer(x.ask(e.claimHandler, "claim", felts{e.claimData}.span(witness...)...), readFelts)
	x.count(e, reputationSuccess)
	if e.bounty.Sign() != 0 {
		x.payOut(e.feeToken, x.Caller(), e.bounty)
	}
	if rest := beyond(e.deposit, e.bounty); rest.Sign() != 0 {
		x.payOut(e.feeToken, e.claimer, rest)
	}
	if e.action != nil && e.amount.Cmp(e.action.fee) >= 0 { // a fee above the amount is not paid
		a, execution := e.action, x.Get(executionContract)
		x.allow(e.token, execution, e.amount)
		x.create(execution, e.claimer, hash, e.token, minus(e.amount, a.fee), a.fee, a.hash, a.expiry)
	} else {
		x.give(e.claimer, e.token, e.amount, e.payOut())
	}
	x.escrowEvent("Claim", e, hash, felts(nil).span(result...).add(e.claimHandler))
}

// refund pays an escrow back to its offerer, if the refund handler agrees.
func refund(x *call) {
	e, witness := arg(x, readEscrow), arg(x, readFelts)
	x.done()
	hash := x.finalize(e, chains.EscrowRefunded)
	result := answer(x.ask(e.refundHandler, "refund", felts{e.refundData}.span(witness...)...), readFelts)
	x.count(e, reputationFailed)
	if e.deposit.Sign() != 0 {
		x.payOut(e.feeToken, e.offerer, e.deposit)
	}
	if rest := beyond(e.bounty, e.deposit); rest.Sign() != 0 {
		x.payOut(e.feeToken, e.claimer, rest)
	}
	x.give(e.offerer, e.token, e.amount, e.payIn())
	x.escrowEvent("Refund", e, hash, felts(nil).span(result...).add(e.refundHandler))
}

// cooperativeRefund pays an escrow back with the claimer's signature.
func cooperativeRefund(x *call) {
	e, signature, timeout := arg(x, readEscrow), arg(x, readFelts), arg(x, readU64)
	x.done()
	assert(x.Block().Time < timeout, "coop_refund: Auth expired")
	hash := x.finalize(e, chains.EscrowRefunded)
	x.signed(e.claimer, refundMessage(hash, timeout), signature)
	x.count(e, reputationCooperative)
	x.payOut(e.feeToken, e.claimer, e.held()) // also if it is nothing
	x.give(e.offerer, e.token, e.amount, e.payIn())
	x.escrowEvent("Refund", e, hash, felts(nil).span().uint(0))
}

func (x *call) escrowEvent(name string, e escrow, hash Felt, data felts) {
	x.event(name, felts{e.offerer, e.claimer, e.claimData, hash}, data)
}

// give pays tokens to a wallet, or adds them to a balance in the contract.
func (x *call) give(to, token Felt, amount *big.Int, wallet bool) {
	if wallet {
		x.payOut(token, to, amount)
	} else {
		x.credit(to, token, amount)
	}
}

// The record of an escrow: its state, the height at which it was opened, and at which
// it was claimed or refunded.
func record(hash Felt) Felt { return StorageKey("escrow_state", hash) }

func (x *call) recorded(hash Felt) wire.EscrowRecord {
	n := unpack(x.Get(record(hash)), 8, 64, 64)
	return wire.EscrowRecord{State: chains.EscrowState(n[0].Uint64()), InitHeight: n[1].Uint64(), FinishHeight: n[2].Uint64()}
}

func (x *call) setRecord(hash Felt, r wire.EscrowRecord) {
	x.Set(record(hash), pack(small(uint64(r.State), 8), small(r.InitHeight, 64), small(r.FinishHeight, 64)))
}

// commit records that an escrow is open; a hash is used once.
func (x *call) commit(e escrow) Felt {
	hash := e.hash()
	assert(x.recorded(hash).State == chains.EscrowNone, "_commit: Already committed")
	x.setRecord(hash, wire.EscrowRecord{State: chains.EscrowOpen, InitHeight: x.Block().Number})
	return hash
}

// finalize records how an open escrow ends.
func (x *call) finalize(e escrow, how chains.EscrowState) Felt {
	hash := e.hash()
	r := x.recorded(hash)
	assert(r.State == chains.EscrowOpen, "_finalize: Not committed")
	r.State, r.FinishHeight = how, x.Block().Number
	x.setRecord(hash, r)
	return hash
}

func (x *call) tellState(hash Felt) {
	r := x.recorded(hash)
	x.out = x.out.uint(r.InitHeight).uint(r.FinishHeight).uint(uint64(r.State))
}

func getState(x *call) {
	e := arg(x, readEscrow)
	x.done()
	x.tellState(e.hash())
}

func getHashState(x *call) {
	hash := arg(x, readFelt)
	x.done()
	x.tellState(hash)
}

func getHashStates(x *call) {
	hashes := arg(x, readFelts)
	x.done()
	x.out = x.out.uint(uint64(len(hashes)))
	for _, h := range hashes {
		x.tellState(h)
	}
}
