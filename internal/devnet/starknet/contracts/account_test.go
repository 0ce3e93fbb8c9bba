package contracts

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

var yes, no = []Felt{valid}, []Felt{{}}

func TestOpenZeppelinAccountSignature(t *testing.T) {
	k := newKit(t)
	hash := wire.FeltOf(12345)
	good := k.sign(user, hash)
	for _, c := range []struct {
		name      string
		hash      Felt
		signature []Felt
		want      []Felt
	}{
		{"own", hash, good, yes},
		{"another hash", wire.FeltOf(12346), good, no},
		{"another's", hash, k.sign(lp, hash), no},
		{"swapped", hash, []Felt{good[1], good[0]}, no},
		{"one felt", hash, good[:1], no},
		{"three felts", hash, append(slices.Clone(good), Felt{}), no},
		{"none", hash, nil, no},
		{"zeros", hash, []Felt{{}, {}}, no},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, entry := range []string{"is_valid_signature", "isValidSignature"} {
				if got := k.ask(user, entry, felts{c.hash}.span(c.signature...)...); !slices.Equal(got, c.want) {
					t.Errorf("%s answers %v, want %v", entry, got, c.want)
				}
			}
		})
	}
}

func TestOpenZeppelinAccountChangesKey(t *testing.T) {
	k := newKit(t)
	next := KeyOf("next")
	accept := wire.Poseidon(wire.ShortString("StarkNet Message"), wire.ShortString("accept_ownership"), user, keys[user].Public())
	signature, err := next.Sign(accept)
	k.must(err)
	change := felts{next.Public()}.span(signature...)
	_, err = k.try(lp, user, "set_public_key", change...)
	reverts(t, err, "Account: unauthorized")
	_, err = k.try(user, user, "set_public_key", felts{next.Public()}.span(k.sign(user, accept)...)...)
	reverts(t, err, "Account: invalid signature")
	k.do(user, user, "setPublicKey", change...)
	if got := k.ask(user, "get_public_key"); got[0] != next.Public() {
		t.Errorf("the key is %v, want %v", got, next.Public())
	}
}

func TestOpenZeppelinAccountInterfaces(t *testing.T) {
	k := newKit(t)
	for id, want := range map[Felt]uint64{interfaceSRC5: 1, interfaceSRC6: 1, wire.FeltOf(1): 0} {
		if got := k.ask(user, "supports_interface", id); got[0] != wire.FeltOf(want) {
			t.Errorf("of %v it says %v", id, got)
		}
	}
}

func TestAccountExecutesOnlyForTheNetwork(t *testing.T) {
	k := newKit(t)
	calls := wire.ExecuteCalldata([]wire.Call{{To: coin, Entry: "transfer", Calldata: felts{lp}.add(amount(1)...)}})
	_, err := k.try(lp, user, "__execute__", calls...)
	reverts(t, err, "Account: invalid caller")
	proxy := Address(Felt{}, classExecutionProxy, Felt{}, nil)
	k.must(k.Place(proxy, classExecutionProxy))
	_, err = k.try(lp, proxy, "execute", callsArg([]contractCall{{user, wire.Selector("__execute__"), calls}})...)
	reverts(t, err, "Invalid argument") // the network does not let a contract call it
	argent := k.argent(KeyOf("user"), nil)
	_, err = k.try(lp, argent, "__execute__", calls...)
	reverts(t, err, "argent/non-null-caller")
}

// argent deploys an account of Argent's class.
func (k *kit) argent(owner Key, guardian *Key) Felt {
	k.Helper()
	args := felts(nil).uint(0).add(owner.Public())
	if guardian == nil {
		args = args.uint(1)
	} else {
		args = args.uint(0).uint(0).add(guardian.Public())
	}
	at := Address(Felt{}, ClassArgent, owner.Public(), args)
	k.must(k.Place(at, ClassArgent, args...))
	return at
}

func TestArgentAccountSignature(t *testing.T) {
	k := newKit(t)
	owner, guardian, other := KeyOf("owner"), KeyOf("guardian"), KeyOf("other")
	hash := wire.FeltOf(12345)
	by := func(who Key) []Felt {
		return trial.Must(who.Sign(hash))(k)
	}
	listed := func(all ...Key) []Felt {
		w := felts(nil).uint(uint64(len(all)))
		for _, who := range all {
			w = w.uint(0).add(who.Public()).add(by(who)...)
		}
		return w
	}
	alone, guarded := k.argent(owner, nil), k.argent(owner, &guardian)
	for _, c := range []struct {
		name      string
		account   Felt
		signature []Felt
		want      []Felt
		reason    string
	}{
		{"owner", alone, by(owner), yes, ""},
		{"owner, listed", alone, listed(owner), yes, ""},
		{"another", alone, by(other), no, ""},
		{"another, listed", alone, listed(other), no, ""},
		{"no guardian", alone, append(by(owner), by(guardian)...), nil, "argent/zero-pubkey"},
		{"two, listed", alone, listed(owner, other), nil, "argent/invalid-signature-length"},
		{"not a list", alone, []Felt{{}, {}, {}}, nil, "argent/invalid-signature-length"},
		{"list cut", alone, listed(owner)[:3], nil, "argent/invalid-signature-format"},
		{"nothing", alone, nil, nil, "argent/invalid-signature-format"},
		{"both", guarded, append(by(owner), by(guardian)...), yes, ""},
		{"both, listed", guarded, listed(owner, guardian), yes, ""},
		{"owner alone", guarded, by(owner), nil, "argent/invalid-signature-length"},
		{"the wrong way round", guarded, append(by(guardian), by(owner)...), no, ""},
		{"wrong guardian", guarded, append(by(owner), by(other)...), no, ""},
		{"wrong guardian, listed", guarded, listed(owner, other), no, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			i, err := k.try(Felt{}, c.account, "is_valid_signature", felts{hash}.span(c.signature...)...)
			if c.reason != "" {
				reverts(t, err, c.reason)
				return
			}
			k.must(err)
			if !slices.Equal(i.Result, c.want) {
				t.Errorf("answers %v, want %v", i.Result, c.want)
			}
			i, err = k.try(Felt{}, c.account, "isValidSignature", felts{hash}.span(c.signature...)...)
			if c.want[0].IsZero() {
				reverts(t, err, "argent/invalid-signature")
			} else if err != nil || i.Result[0] != wire.FeltOf(1) {
				t.Errorf("the old entry point answers %v, %v, want 1", i.Result, err)
			}
		})
	}
}

func TestArgentConstructor(t *testing.T) {
	k := newKit(t)
	for name, args := range map[string][]Felt{
		"a key of another curve": felts(nil).uint(1).uint(5).uint(1),
		"no key":                 felts(nil).uint(0).uint(0).uint(1),
		"no guardian's tag":      felts(nil).uint(0).uint(5),
	} {
		t.Run(name, func(t *testing.T) {
			param := "Failed to deserialize param #1"
			if name == "no guardian's tag" {
				param = "Failed to deserialize param #2"
			}
			reverts(t, k.Place(wire.FeltOf(99), ClassArgent, args...), param)
		})
	}
}

func TestUniversalDeployer(t *testing.T) {
	k := newKit(t)
	args := TokenArgs("New", "NEW", 6, user)
	for _, own := range []bool{false, true} {
		i := k.do(user, DeployerAddress, "deploy_contract", felts{Token().Hash}.uint(5).bool(own).span(args...)...)
		if len(i.Result) != 1 {
			t.Fatalf("answers %v, want an address", i.Result)
		}
		at := i.Result[0]
		if !own && at != Address(Felt{}, Token().Hash, wire.FeltOf(5), args) {
			t.Errorf("deploys at %v", at)
		}
		if got := k.ask(at, "decimals"); got[0] != wire.FeltOf(6) {
			t.Errorf("decimals %v, want 6", got)
		}
		e := i.AllEvents()
		if len(e) != 1 || len(e[0].Keys) != 1 || e[0].Data[0] != at || e[0].Data[1] != user {
			t.Errorf("tells %v", e)
		}
	}
	_, err := k.try(lp, DeployerAddress, "deployContract", felts{Token().Hash}.uint(5).bool(false).span(args...)...)
	reverts(t, err, "CONTRACT_ALREADY_DEPLOYED")
	k.do(lp, DeployerAddress, "deployContract", felts{Token().Hash}.uint(5).bool(true).span(args...)...) // its own address
}

// signedBy is a transaction with the signatures of several keys, one after the other.
func (k *kit) signedBy(t *wire.Transaction, query bool, who ...Key) *Tx {
	k.Helper()
	t.Signed = true
	if t.Type != wire.DeployAccount {
		t.Calldata = wire.ExecuteCalldata(t.Calls)
	}
	tx := trial.Must(NewTx(t, query))(k)
	for _, w := range who {
		s := trial.Must(w.Sign(tx.Hash))(k)
		t.Signature = append(t.Signature, s...)
	}
	return tx
}

// An account with a guardian deploys itself and sends transactions that both sign.
func TestArgentAccountTransactions(t *testing.T) {
	k := newKit(t)
	k.must(k.Place(wire.STRK, Token().Hash, TokenArgs("Starknet Token", "STRK", 18, minter)...))
	owner, guardian := KeyOf("owner"), KeyOf("guardian")
	deploy := wire.Deploy{ClassHash: ClassArgent, Salt: owner.Public(), ConstructorCalldata: felts(nil).uint(0).add(owner.Public()).uint(0).uint(0).add(guardian.Public())}
	at := deploy.Address()
	k.do(minter, wire.STRK, "permissioned_mint", felts{at}.u256(new(big.Int).Mul(big.NewInt(1000), big.NewInt(1e18)))...)
	rate := DefaultPrices().Fri
	invoke := func(calls ...wire.Call) *wire.Transaction {
		for i := range calls {
			calls[i].Gas = wire.Gas{L2: 50_000_000, L1Data: 10_000}
		}
		var nonce uint64
		k.Read(0, func(v *View) { nonce = v.Nonce(at, v.Open()) })
		return k.n.NewInvoke(at, nonce, rate, calls)
	}
	refused := func(tx *Tx, reason string) {
		t.Helper()
		var r *Refusal
		if err := k.Send(tx); !errors.As(err, &r) || r.Kind != ValidationFailed || !strings.Contains(r.Text, reason) {
			t.Errorf("%v, want a refusal for %s", r, reason)
		}
	}
	deployment := func() *wire.Transaction {
		made := invoke(wire.Call{})
		made.Type, made.Calls, made.Deploy = wire.DeployAccount, nil, deploy
		return made
	}
	refused(k.signedBy(deployment(), false, owner), "argent/invalid-signature-length")
	refused(k.signedBy(deployment(), false, guardian, owner), "argent/invalid-owner-sig")
	k.must(k.Send(k.signedBy(deployment(), false, owner, guardian)))

	transfer := wire.Call{To: wire.STRK, Entry: "transfer", Calldata: felts{lp}.add(amount(7)...)}
	refused(k.signedBy(invoke(transfer), false, owner, owner), "argent/invalid-guardian-sig")
	refused(k.signedBy(invoke(wire.Call{To: at, Entry: "get_owner"}), false, owner, guardian), "argent/no-multicall-to-self")
	k.must(k.Send(k.signedBy(invoke(transfer, transfer), false, owner, guardian)))
	if got := k.has(wire.STRK, lp); got != 14 {
		t.Errorf("the recipient has %d, want 14", got)
	}
	far := wire.Call{To: wire.STRK, Entry: "transfer", Calldata: felts{lp}.u256(maxU256)}
	failing := k.signedBy(invoke(transfer, far), false, owner, guardian)
	k.must(k.Send(failing))
	estimate := k.signedBy(invoke(transfer), true, owner, owner)
	k.Read(0, func(v *View) {
		done := v.Tx(failing.Hash)
		want := felts{wire.ShortString("argent/multicall-failed")}.uint(1).add(wire.ShortString("ERC20: insufficient balance"))
		if done == nil || done.Result.Execute.Failed == nil || !slices.Equal(done.Result.Execute.Failed.Data[:3], want) {
			t.Errorf("it ends as %+v, want %v", done, want)
		}
		// Whoever asks what a transaction will cost need not have both signatures.
		if results, err := v.Simulate([]*Tx{estimate}, Flags{}, v.Open()); err != nil || results[0].Execute.Failed != nil {
			t.Errorf("the estimate ends with %v", err)
		}
	})
	if got := k.has(wire.STRK, lp); got != 14 {
		t.Errorf("a transaction that failed leaves the recipient with %d", got)
	}
	for entry, want := range map[string]Felt{"get_owner": owner.Public(), "get_guardian": guardian.Public(), "getName": wire.ShortString("ArgentAccount"), "get_version": {}} {
		if got := k.ask(at, entry); got[0] != want {
			t.Errorf("%s answers %v", entry, got)
		}
	}
}
