package contracts

import (
	"math/big"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// escrow is what an escrow manager holds money by (§6.1). Unlike [wire.SwapData] it has
// whatever flags and handlers somebody chose.
type escrow struct {
	offerer, claimer, token     Felt
	refundHandler, claimHandler Felt
	flags                       *big.Int
	claimData, refundData       Felt
	amount                      *big.Int
	feeToken                    Felt
	deposit, bounty             *big.Int
	action                      *action // nil: the claimer gets the amount
}

// action is what the execution contract does with the amount of a claimed escrow.
type action struct {
	hash   Felt
	expiry uint64
	fee    *big.Int
}

func readEscrow(r *reader) escrow {
	return escrow{
		offerer: readAddress(r), claimer: readAddress(r), token: readAddress(r), refundHandler: readAddress(r), claimHandler: readAddress(r),
		flags: readU128(r), claimData: readFelt(r), refundData: readFelt(r), amount: readU256(r), feeToken: readAddress(r),
		deposit: readU256(r), bounty: readU256(r),
		action: readOption(r, func(r *reader) action { return action{readFelt(r), readU64(r), readU256(r)} }),
	}
}

// Flags, by their bits. The other bits say nothing and make an escrow unique.
const (
	flagPayOut = iota
	flagPayIn
	flagReputation
)

func (e escrow) payOut() bool     { return e.flags.Bit(flagPayOut) == 1 }
func (e escrow) payIn() bool      { return e.flags.Bit(flagPayIn) == 1 }
func (e escrow) reputation() bool { return e.flags.Bit(flagReputation) == 1 }

// held is what the opener puts in of the fee token.
func (e escrow) held() *big.Int { return larger(e.deposit, e.bounty) }

// hash is the key of an escrow. The tag of the success action is not in it.
func (e escrow) hash() Felt {
	flags, _ := wire.FeltOfBig(e.flags)
	w := felts{e.offerer, e.claimer, e.token, e.refundHandler, e.claimHandler, flags, e.claimData, e.refundData}.
		u256(e.amount).add(e.feeToken).u256(e.deposit).u256(e.bounty)
	if e.action != nil {
		w = w.add(e.action.felts()...)
	}
	return w.poseidon()
}

func (a action) felts() felts { return felts{a.hash}.uint(a.expiry).u256(a.fee) }

// Type hashes of SNIP-12 (§8).
const (
	u256Type        = `"u256"("low":"u128","high":"u128")`
	tokenAmountType = `"TokenAmount"("token_address":"ContractAddress","amount":"u256")` + u256Type
)

var (
	u256TypeHash        = wire.Selector(u256Type)
	tokenAmountTypeHash = wire.Selector(tokenAmountType)
	refundTypeHash      = wire.Selector(`"Refund"("Swap hash":"felt","Timeout":"timestamp")`)
	initializeTypeHash  = wire.Selector(`"Initialize"("Swap hash":"felt","Offerer":"ContractAddress","Claimer":"ContractAddress","Token amount":"TokenAmount",` +
		`"Pay in":"bool","Pay out":"bool","Tracking reputation":"bool","Claim handler":"ContractAddress","Claim data":"felt",` +
		`"Refund handler":"ContractAddress","Refund data":"felt","Security deposit":"TokenAmount","Claimer bounty":"TokenAmount",` +
		`"Claim action hash":"felt","Deadline":"timestamp")` + tokenAmountType)
	domainTypeHash = wire.Selector(`"StarknetDomain"("name":"shortstring","version":"shortstring","chainId":"shortstring","revision":"shortstring")`)
)

func (w felts) tokenAmount(token Felt, n *big.Int) felts {
	return w.add(felts{tokenAmountTypeHash, token, felts{u256TypeHash}.u256(n).poseidon()}.poseidon())
}

// initMessage hashes what one party signs to let the other open an escrow.
func (e escrow) initMessage(hash Felt, timeout uint64) Felt {
	w := felts{initializeTypeHash, hash, e.offerer, e.claimer}.tokenAmount(e.token, e.amount).bool(e.payIn()).bool(e.payOut()).bool(e.reputation()).
		add(e.claimHandler, e.claimData, e.refundHandler, e.refundData).tokenAmount(e.feeToken, e.deposit).tokenAmount(e.feeToken, e.bounty)
	if e.action != nil {
		w = w.add(e.action.felts().poseidon())
	} else {
		w = w.uint(0)
	}
	return w.uint(timeout).poseidon()
}

// refundMessage hashes what a claimer signs to let the offerer have a refund early.
func refundMessage(hash Felt, timeout uint64) Felt {
	return felts{refundTypeHash, hash}.uint(timeout).poseidon()
}

// messageHash is what an account signs on a network for the hash of a message.
func messageHash(chainID, account, message Felt) Felt {
	domain := felts{domainTypeHash, wire.ShortString("atomiq.exchange")}.uint(1).add(chainID).uint(1).poseidon()
	return wire.Poseidon(wire.ShortString("StarkNet Message"), domain, account, message)
}

// signed demands that an account says that a signature of a message is its own.
func (x *call) signed(account, message Felt, signature []Felt) {
	hash := messageHash(x.Tx().ChainID, account, message)
	result := answer(x.ask(account, "is_valid_signature", felts{hash}.span(signature...)...), readFelt)
	assert(result == valid || result == wire.FeltOf(1), "verify_sig: Invalid response")
}
