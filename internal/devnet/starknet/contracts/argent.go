package contracts

import (
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// argentAccount is version 0.4.0 of Argent's account: an owner, and a guardian who signs
// too if there is one. Its constructor takes both as signers. Of the kinds of signers it
// knows Stark keys alone; it knows no sessions, no escapes of one party from the other.
func argentAccount() Class {
	return Class{
		Name: "Argent account", Hash: ClassArgent, ABI: argentABI,
		Constructor: entry(func(x *call) {
			owner, guardian := arg(x, readSigner), arg(x, readGuardian)
			x.done()
			var other, otherGUID Felt
			x.Set(StorageKey("_signer"), owner)
			x.link(owner)
			if guardian != nil {
				other, otherGUID = *guardian, signerGUID(*guardian)
				x.Set(StorageKey("_guardian"), other)
				x.link(other)
			}
			x.event("AccountCreated", felts{owner}, felts{other})
			x.event("AccountCreatedGuid", felts{signerGUID(owner)}, felts{otherGUID})
		}),
		Entries: accountEntries(map[string]func(*call){
			"__validate__": func(x *call) {
				calls := arg(x, readCalls)
				x.done()
				x.fromNetwork()
				x.noCallToSelf(calls)
				x.signedByAll(x.Tx().Hash, x.Tx().Signature)
			},
			"__validate_deploy__": func(x *call) {
				arg(x, readFelt) // class hash
				arg(x, readFelt) // salt
				arg(x, readSigner)
				arg(x, readGuardian)
				x.done()
				x.signedByAll(x.Tx().Hash, x.Tx().Signature)
			},
			"__execute__": func(x *call) {
				calls := arg(x, readCalls)
				x.done()
				x.fromNetwork()
				var answers felts
				for i, c := range calls {
					result, err := x.callContract(c.to, c.selector, c.calldata)
					if err != nil {
						panic(&Panic{Data: felts{wire.ShortString("argent/multicall-failed")}.uint(uint64(i)).add(failure(err)...)})
					}
					answers = answers.span(result...)
				}
				answers = append(felts(nil).uint(uint64(len(calls))), answers...)
				x.event("TransactionExecuted", felts{x.Tx().Hash}, answers)
				x.out = answers
			},
			"is_valid_signature": func(x *call) {
				if x.asked() {
					x.out = x.out.add(valid)
				} else {
					x.out = x.out.uint(0)
				}
			},
			"isValidSignature": func(x *call) {
				assert(x.asked(), "argent/invalid-signature")
				x.out = x.out.uint(1)
			},
			"get_owner": func(x *call) {
				x.done()
				x.out = x.out.add(x.Get(StorageKey("_signer")))
			},
			"get_guardian": func(x *call) {
				x.done()
				x.out = x.out.add(x.Get(StorageKey("_guardian")))
			},
			"getName": func(x *call) {
				x.done()
				x.out = x.out.add(wire.ShortString("ArgentAccount"))
			},
			"get_version": func(x *call) {
				x.done()
				x.out = x.out.uint(0).uint(4).uint(0)
			},
		}),
	}
}

// ClassArgent is the class hash of version 0.4.0 of Argent's account.
var ClassArgent = wire.MustFelt("0x036078334509b514626504edc9fb252328d1a240e4e948bef8d0c08dff45927f")

// failure is the panic data of what a contract that was called failed with.
func failure(err error) []Felt {
	if p, ok := err.(*Panic); ok {
		return p.Data
	}
	return nil
}

// starkSigner is the kind of a signer with a Stark key, the first of the kinds.
const starkSigner = 0

// readSigner reads a signer with a Stark key, which is not 0.
func readSigner(r *reader) Felt {
	if readU8(r) != starkSigner {
		r.fail()
	}
	key := readFelt(r)
	if key.IsZero() {
		r.fail()
	}
	return key
}

func readGuardian(r *reader) *Felt { return readOption(r, readSigner) }

// signerGUID names a signer with a Stark key in events.
func signerGUID(key Felt) Felt { return wire.Poseidon(wire.ShortString("Starknet Signer"), key) }

func (x *call) link(key Felt) {
	x.event("SignerLinked", felts{signerGUID(key)}, felts(nil).uint(starkSigner).add(key))
}

func (x *call) fromNetwork() {
	caller := x.Caller()
	assert(caller.IsZero(), "argent/non-null-caller")
	assert(x.Tx().Version == 1 || x.Tx().Version == 3, "argent/invalid-tx-version")
}

// noCallToSelf refuses calls of the account to itself beside others; alone they change
// its owner, which this account does not know.
func (x *call) noCallToSelf(calls []contractCall) {
	for _, c := range calls {
		assert(c.to != x.Address(), "argent/no-multicall-to-self")
	}
}

// signerSignature is the signature of one signer.
type signerSignature struct {
	key       Felt
	signature []Felt // r and s
}

func readSignerSignature(r *reader) signerSignature {
	return signerSignature{readSigner(r), []Felt{readFelt(r), readFelt(r)}}
}

// signatures reads a signature: r and s of the owner and of the guardian, or a list with
// the key of each.
func (x *call) signatures(all []Felt) []signerSignature {
	if len(all) != 2 && len(all) != 4 {
		r := &reader{rest: all}
		list := readList(r, readSignerSignature)
		assert(!r.failed, "argent/invalid-signature-format")
		assert(len(r.rest) == 0, "argent/invalid-signature-length")
		return list
	}
	list := []signerSignature{{x.Get(StorageKey("_signer")), all[:2]}}
	if len(all) == 4 {
		guardian := x.Get(StorageKey("_guardian"))
		assert(!guardian.IsZero(), "argent/zero-pubkey")
		list = append(list, signerSignature{guardian, all[2:]})
	}
	return list
}

// check reports whether owner and guardian, if there is one, signed a hash.
func (x *call) check(hash Felt, all []Felt) (owner, guardian bool) {
	list := x.signatures(all)
	second := x.Get(StorageKey("_guardian"))
	want := 2
	if second.IsZero() {
		want = 1
	}
	assert(len(list) == want, "argent/invalid-signature-length")
	x.Charge(signatureGas * uint64(want))
	caller := x.Caller()
	estimated := caller.IsZero() && x.Tx().Query // then any signature of the right form will do
	by := func(s signerSignature, key Felt) bool {
		return s.key == key && (estimated || wire.SignedByKey(key, hash, s.signature))
	}
	return by(list[0], x.Get(StorageKey("_signer"))), want == 1 || by(list[1], second)
}

func (x *call) signedByAll(hash Felt, all []Felt) {
	owner, guardian := x.check(hash, all)
	assert(owner, "argent/invalid-owner-sig")
	assert(guardian, "argent/invalid-guardian-sig")
	x.out = x.out.add(valid)
}

// asked reads the question of SNIP-6 and answers it.
func (x *call) asked() bool {
	hash, signature := arg(x, readFelt), arg(x, readFelts)
	x.done()
	owner, guardian := x.check(hash, signature)
	return owner && guardian
}
