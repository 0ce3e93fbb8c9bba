package chaintest

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"strings"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

func testInfo(k *kit) {
	info := k.chain.Info()
	if info.ID == "" || len(info.Tokens) == 0 {
		k.Errorf("info: %+v", info)
	}
	for _, token := range info.Tokens {
		if token.Chain != info.ID {
			k.Errorf("token %s on chain %s", token, info.ID)
		}
	}
	named := false
	for _, v := range info.Versions {
		named = named || v.Name == info.Default
		c, ok := k.chain.Contract(v.Name)
		if !ok || c.Version() != v.Name {
			k.Errorf("version %s is named and not there", v.Name)
			continue
		}
		if _, vaults := c.(chains.VaultContract); vaults != v.Vaults {
			k.Errorf("version %s: vaults %v", v.Name, v.Vaults)
		}
	}
	if !named {
		k.Errorf("the default version %q does not exist", info.Default)
	}
	if _, ok := k.chain.Contract("v999"); ok {
		k.Error("contracts of a version that is not there")
	}

	f := k.facts
	canonical := trial.Must(k.chain.Address(f.SameAddress[0]))(k)
	for _, form := range append([]string{canonical}, f.SameAddress...) {
		if got, err := k.chain.Address(form); err != nil || got != canonical {
			k.Errorf("address %s: %s, %v; want %s", form, got, err, canonical)
		}
	}
	for _, bad := range append([]string{f.ZeroAddress, "", " ", canonical + "0", canonical[1:], " " + canonical, strings.Repeat("1", 10_000)}, f.NoAddress...) {
		if got, err := k.chain.Address(bad); err == nil || fault.CodeOf(err) != fault.InvalidInput {
			k.Errorf("address %.80q: %s, %v", bad, got, err)
		}
	}
	if got, err := k.chain.Address(k.user.Address()); err != nil || got != k.user.Address() {
		k.Errorf("the user's address is not canonical: %s, %v", got, err)
	}
}

// specs are all forms of escrows that the swap types use.
func (k *kit) specs() map[string]chains.Spec {
	native := k.chain.Info().Native.Address
	script := []byte{0x00, 0x14, 19: 7, 21: 1}
	onchain := chains.Condition{Kind: chains.Onchain, Script: script, Sats: 100_000, Confirmations: 2}
	nonced := chains.Condition{Kind: chains.OnchainNonced, Script: script, Sats: 100_000, Nonce: 77, Confirmations: 3}
	byTx := chains.Condition{Kind: chains.OnchainTxID, TxID: bitcoin.Hash{1, 2}, Confirmations: 1}
	hinted := k.payOut(onchain, k.facts.Token)
	hinted.Hints = true
	return map[string]chains.Spec{
		"pay-in of the native coin":   k.payIn(lock(secret(1)), native),
		"pay-in of a token":           k.payIn(lock(secret(2)), k.facts.Token),
		"pay-out of the native coin":  k.payOut(lock(secret(3)), native),
		"pay-out of a token":          k.payOut(lock(secret(4)), k.facts.Token),
		"for a Bitcoin output, hints": hinted,
		"for a nonced Bitcoin output": k.payIn(nonced, k.facts.Token),
		"for a Bitcoin transaction":   k.payOut(byTx, native),
	}
}

func testEscrowData(k *kit) {
	hashes := map[string]string{}
	for name, spec := range k.specs() {
		e := k.expect(spec)
		if e.Version != k.k.Version() || e.Kind != spec.Kind || e.Offerer != spec.Offerer || e.Claimer != spec.Claimer || e.Amount.Cmp(spec.Amount) != 0 ||
			e.PayIn != spec.PayIn || e.PayOut != spec.PayOut || e.Expiry != spec.Expiry || e.Sequence.Cmp(spec.Sequence) != 0 || len(e.Hash) == 0 || len(e.ClaimHash) == 0 {
			k.Errorf("%s: %+v", name, e)
		}
		if hash, err := k.k.ClaimHash(spec.Condition); err != nil || !bytes.Equal(hash, e.ClaimHash) {
			k.Errorf("%s: claim hash %x, %v; the escrow has %x", name, hash, err, e.ClaimHash)
		}
		if other, ok := hashes[string(e.Hash)]; ok {
			k.Errorf("%s and %s have the same escrow hash", name, other)
		}
		hashes[string(e.Hash)] = name
		back := trial.Must(k.k.Decode(e.Data))(k)
		k.must(k.k.Diff(e, back, chains.Tolerance{}))
		if !bytes.Equal(back.Hash, e.Hash) || !bytes.Equal(back.Data, e.Data) {
			k.Errorf("%s: read back as %s", name, back.Data)
		}
		public, err := k.k.Public(e)
		if err != nil || !json.Valid(public) || len(public) < 2 || public[0] != '{' {
			k.Errorf("%s: public form %s, %v", name, public, err)
		}
	}
	for name, change := range map[string]func(*chains.Spec){
		"no amount":                 func(s *chains.Spec) { s.Amount = nil },
		"negative amount":           func(s *chains.Spec) { s.Amount = big.NewInt(-1) },
		"amount of 300 bits":        func(s *chains.Spec) { s.Amount = new(big.Int).Lsh(big.NewInt(1), 300) },
		"offerer is not an address": func(s *chains.Spec) { s.Offerer = "invalid" },
		"claimer is not an address": func(s *chains.Spec) { s.Claimer = "" },
		"token is not an address":   func(s *chains.Spec) { s.Token = "money" },
		"both parties the same":     func(s *chains.Spec) { s.Claimer = s.Offerer },
		"condition of another kind": func(s *chains.Spec) {
			s.Condition = chains.Condition{Kind: chains.OnchainTxID}
		},
		"unknown kind": func(s *chains.Spec) { s.Kind, s.Condition.Kind = 9, 9 },
	} {
		spec := k.payIn(lock(secret(1)), k.facts.Token)
		change(&spec)
		if _, err := k.k.Expect(spec); err == nil {
			k.Errorf("%s: an escrow is built", name)
		}
	}
	k.testMembers()
	for _, text := range []string{"", "{}", "[]", "null", `"x"`, `{"type":"nothing"}`, "{", strings.Repeat("[", 100_000)} {
		if _, err := k.k.Decode(json.RawMessage(text)); err == nil {
			k.Errorf("escrow data %.40q is accepted", text)
		}
	}
}

// testMembers changes one member of an escrow's JSON after the other.
func (k *kit) testMembers() {
	e := k.expect(k.payIn(lock(secret(5)), k.facts.Token))
	for member, value := range k.facts.EscrowMembers {
		got, err := k.k.Decode(k.change(e, member, value))
		if err == nil {
			err = k.k.Diff(e, got, chains.Tolerance{})
			if _, ok := errors.AsType[*chains.DiffError](err); err != nil && !ok {
				k.Errorf("%s: %v", member, err)
			}
		}
		if err == nil || !strings.Contains(err.Error(), member) {
			k.Errorf("another %s: %v", member, err)
		}
	}
	for _, free := range k.facts.Free {
		got := trial.Must(k.k.Decode(k.change(e, free.Member, free.Value)))(k)
		if k.k.Diff(e, got, chains.Tolerance{}) == nil {
			k.Errorf("another %s is not found", free.Member)
		}
		if err := k.k.Diff(e, got, free.May); err != nil {
			k.Errorf("another %s, which may differ: %v", free.Member, err)
		}
		for _, other := range []chains.Tolerance{{AnySequence: true}, {AnyExpiry: true}, {AtLeastAmount: true}, {AtMostDeposits: true}, {AnyExtraData: true}} {
			if other != free.May && k.k.Diff(e, got, other) == nil {
				k.Errorf("another %s passes where %+v may differ", free.Member, other)
			}
		}
	}
	less := k.payIn(lock(secret(5)), k.facts.Token)
	less.Sequence, less.Amount = e.Sequence, new(big.Int).Sub(e.Amount, big.NewInt(1))
	if k.k.Diff(e, k.expect(less), chains.Tolerance{AtLeastAmount: true}) == nil {
		k.Error("less than the amount passes")
	}
	out := k.payOut(lock(secret(6)), k.facts.Token)
	more := out
	more.SecurityDeposit = units(7)
	if k.k.Diff(k.expect(out), k.expect(more), chains.Tolerance{AtMostDeposits: true}) == nil {
		k.Error("a higher deposit passes")
	}
	fewer := out
	fewer.SecurityDeposit, fewer.ClaimerBounty = units(1), nil
	if err := k.k.Diff(k.expect(out), k.expect(fewer), chains.Tolerance{AtMostDeposits: true}); err != nil {
		k.Errorf("lower deposits: %v", err)
	}
	token := out
	token.DepositToken = k.facts.Token
	if other, err := k.k.Expect(token); err == nil && k.k.Diff(k.expect(out), other, chains.Tolerance{AtMostDeposits: true}) == nil {
		k.Error("another deposit token passes")
	}
	broken := e
	broken.Data = json.RawMessage(`{}`)
	if k.k.Diff(e, broken, chains.Tolerance{}) == nil {
		k.Error("an escrow without data passes")
	}
}

func testConditions(k *kit) {
	script, other := []byte{0x00, 0x14, 19: 7, 21: 1}, []byte{0x00, 0x14, 19: 7, 21: 2}
	base := chains.Condition{Kind: chains.OnchainNonced, Script: script, Sats: 5000, Nonce: 9, Confirmations: 2}
	texts := map[string]string{}
	note := func(name string, c chains.Condition) {
		hash := trial.Must(k.k.ClaimHash(c))(k)
		text := k.k.ClaimHashText(hash)
		if text == "" || strings.HasPrefix(text, "0x") || strings.ToLower(text) != text {
			k.Errorf("%s: claim hash text %q", name, text)
		}
		if same, ok := texts[text]; ok {
			k.Errorf("%s and %s have the same claim hash", name, same)
		}
		texts[text] = name
		if again, err := k.k.ClaimHash(c); err != nil || !bytes.Equal(hash, again) {
			k.Errorf("%s: another claim hash the second time", name)
		}
	}
	note("nonced", base)
	for name, change := range map[string]func(*chains.Condition){
		"other script":        func(c *chains.Condition) { c.Script = other },
		"other value":         func(c *chains.Condition) { c.Sats++ },
		"other nonce":         func(c *chains.Condition) { c.Nonce++ },
		"other confirmations": func(c *chains.Condition) { c.Confirmations++ },
		"no nonce":            func(c *chains.Condition) { c.Kind = chains.Onchain },
	} {
		c := base
		change(&c)
		note(name, c)
	}
	note("hash lock", lock(secret(1)))
	note("other hash lock", lock(secret(2)))
	note("transaction", chains.Condition{Kind: chains.OnchainTxID, TxID: bitcoin.Hash{1}, Confirmations: 1})
	note("other transaction", chains.Condition{Kind: chains.OnchainTxID, TxID: bitcoin.Hash{2}, Confirmations: 1})
	hash, err := k.k.ClaimHash(lock(secret(1)))
	if want := lock(secret(1)).PaymentHash; err != nil || len(hash) == 0 {
		k.Errorf("hash lock %x: %x, %v", want, hash, err)
	}
	none := base
	none.Nonce = 0
	if _, err := k.k.ClaimHash(none); err == nil {
		k.Error("a nonced condition without nonce")
	}
	if _, err := k.k.ClaimHash(chains.Condition{Kind: 9}); err == nil {
		k.Error("a condition of an unknown kind")
	}
}
