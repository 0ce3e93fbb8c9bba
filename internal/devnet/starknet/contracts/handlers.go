package contracts

import (
	"crypto/sha256"
)

// Handlers decide whether an escrow may be claimed or refunded (§7). Their constructors
// take nothing.

// handler makes the class of a handler: condition and witness in, the witness's result
// out.
func handler(name, entryName string, judge func(x *call, data Felt, witness *reader) felts) Class {
	return Class{
		Name: name, Hash: ClassHash(name), ABI: abi(name, "view "+entryName+"(data: felt, witness: Array<felt>) -> Span<felt>"),
		Entries: entries(map[string]func(*call){entryName: func(x *call) {
			data, witness := arg(x, readFelt), arg(x, readFelts)
			x.done()
			result := judge(x, data, &reader{rest: witness})
			x.out = x.out.span(result...)
		}}),
	}
}

// timelock is the refund handler: the data is the Unix time in seconds after which it
// agrees.
func timelock() Class {
	return handler("TimelockRefundHandler", "refund", func(x *call, data Felt, witness *reader) felts {
		assert(len(witness.rest) == 0, "timestamp_lock: witness len!=0")
		until, ok := convert(data, readU64)
		assert(ok, "timestamp_lock: u64 parse")
		assert(x.Block().Time > until, "timestamp_lock: Not expired")
		return felts{data}
	})
}

// hashlock is the claim handler of secrets.
func hashlock() Class {
	return handler("HashlockClaimHandler", "claim", func(x *call, data Felt, witness *reader) felts {
		secret := readHash(witness)
		assert(!witness.failed, "hashlock: Deserialize witness")
		assert(len(witness.rest) == 0, "hashlock: Large witness")
		x.hashing(len(secret), 1)
		assert(data == felts(nil).hash(sha256.Sum256(secret[:])).poseidon(), "hashlock: Invalid witness")
		return felts(nil).hash(secret)
	})
}

// commitment is what claim data commits to: something that must be proven, how deep it
// must be buried, and in which relay's chain.
type commitment struct {
	subject       felts
	confirmations uint32
	relay         Felt
}

func (c commitment) data() Felt {
	return append(felts(nil), c.subject...).uint(uint64(c.confirmations)).add(c.relay).poseidon()
}

// transactionID is the claim handler of Bitcoin transactions with a certain id.
func transactionID() Class {
	return handler("BitcoinTxIdClaimHandler", "claim", func(x *call, data Felt, witness *reader) felts {
		id := readHash(witness)
		c := commitment{felts(nil).hash(id), readU32(witness), readAddress(witness)}
		header, path, position := readStored(witness), readPath(witness), readU32(witness)
		assert(!witness.failed, "txidlock: Deserialize witness")
		assert(c.data() == data, "txidlock: Invalid commitment")
		x.buried(c.relay, header, c.confirmations, "txidlock: Confirmations")
		x.inBlock(header.merkleRoot, id, path, position)
		return felts(nil).hash(id)
	})
}

// outputClass is the claim handler of Bitcoin transactions that pay a certain output.
func outputClass() Class {
	return output("BitcoinOutputClaimHandler", "btcoutlock", "witness", false)
}

// noncedOutput is [outputClass] of transactions that carry a certain nonce too.
func noncedOutput() Class {
	return output("BitcoinNoncedOutputClaimHandler", "btcnoutlock", "witnes", true)
}

// output makes the handler; witness is how its reasons, which have 31 characters at
// most, spell the word.
func output(name, prefix, witnessWord string, nonced bool) Class {
	return handler(name, "claim", func(x *call, data Felt, witness *reader) felts {
		c := commitment{felts{readFelt(witness)}, readU32(witness), readAddress(witness)}
		header, path, position := readStored(witness), readPath(witness), readU32(witness)
		raw, vout := readBytes(witness), readU32(witness)
		assert(!witness.failed, prefix+": Deserialize "+witnessWord)
		assert(c.data() == data, prefix+": Invalid commitment")
		tx := x.readTx(raw)
		assert(uint64(vout) < uint64(len(tx.outs)), prefix+": Invalid vout")
		var subject felts
		if nonced {
			subject = subject.uint(tx.nonce(prefix))
		}
		assert(subject.add(tx.outs[vout].felts()...).poseidon() == c.subject[0], prefix+": Invalid output")
		x.buried(c.relay, header, c.confirmations, prefix+": Confirmations")
		x.inBlock(header.merkleRoot, tx.id, path, position)
		return felts(nil).hash(tx.id)
	})
}

// Parts of a nonced transaction.
const (
	lockTimeBase  = 500_000_000 // lock times from here on are times
	sequenceNonce = 0x00ffffff
	sequenceFlags = 0xf0000000 // set so that the sequence means nothing to Bitcoin
)

// nonce reads the nonce that all inputs and the lock time carry.
func (tx bitcoinTx) nonce(prefix string) uint64 {
	assert(tx.lockTime >= lockTimeBase, prefix+": Locktime too low")
	assert(len(tx.ins) > 0, prefix+": Empty ins")
	first := tx.ins[0].sequence & sequenceNonce
	for _, in := range tx.ins {
		assert(in.sequence&sequenceFlags == sequenceFlags, prefix+": nSequence bits")
		assert(in.sequence&sequenceNonce == first, prefix+": nSequence match")
	}
	return uint64(tx.lockTime-lockTimeBase)<<24 | uint64(first)
}
