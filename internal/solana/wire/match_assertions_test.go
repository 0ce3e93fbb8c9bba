package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// Wallets guard what they sign with assertions at its end. Nothing else may be added,
// not by that program either, and no assertion may come with a right.
func TestAssertionsOfWallets(t *testing.T) {
	key, user := wallet(1)
	_, lp := wallet(200)
	p, secret := firstV1, [32]byte{7}
	d := swapFor(t, p, false, firstToken, user)
	want := trial.Must(p.wantClaim(d, user, secret, bound))(t)
	claim := trial.Must(p.ClaimTx(d, user, secret, FeeRate{Price: 1}, ToATA{}))(t)
	assertion := func(kind byte, of ...Account) Instruction {
		return Instruction{assertionProgram, of, []byte{kind, 0, 5}}
	}
	balance := assertion(5, Account{PublicKey: user}) // the payer: its rights are the message's
	for name, c := range map[string]struct {
		add   []Instruction
		front bool
		why   string
	}{
		"one":                      {[]Instruction{balance}, false, ""},
		"three, of other accounts": {[]Instruction{balance, assertion(8, Account{PublicKey: ATA(user, firstToken)}), assertion(2, Account{PublicKey: lp})}, false, ""},
		"four":                     {slices.Repeat([]Instruction{balance}, 4), false, "was added"},
		"at the front":             {[]Instruction{balance}, true, "calls the program"},
		"a note":                   {[]Instruction{assertion(0, Account{PublicKey: user})}, false, "was added"},
		"a note that is taken":     {[]Instruction{assertion(1, Account{PublicKey: user})}, false, "was added"},
		"what is not known yet":    {[]Instruction{assertion(17, Account{PublicKey: user})}, false, "was added"},
		"without data":             {[]Instruction{{Program: assertionProgram}}, false, "was added"},
		"of another program":       {[]Instruction{{Program: Key{9}, Data: []byte{5}}}, false, "was added"},
		"that can write":           {[]Instruction{assertion(5, Account{PublicKey: lp, IsWritable: true})}, false, "is written to"},
	} {
		tx := *claim
		tx.Instructions = append(slices.Clone(claim.Instructions), c.add...)
		if c.front {
			tx.Instructions = append(slices.Clone(c.add), claim.Instructions...)
		}
		tx.Payer = user
		err := want.Match(signedBy(t, tx, key))
		if c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}

	// What an LP has signed stays as it is.
	lpKey, _ := wallet(200)
	in := swapFor(t, p, true, firstToken, user)
	auth := trial.Must(signInit(p, in, lpKey, user, 2_000_000_000, FeeRate{Price: 1}, 5, Hash{3}))(t)
	wants := trial.Must(p.wantOpen(in, user, auth, FeeRate{Price: 1}, bound))(t)
	open := trial.Must(p.InitTx(in, user, auth.Timeout, FeeRate{Price: 1}))(t)
	open.Instructions = append(open.Instructions, balance)
	if err := wants[0].Match(signedBy(t, *open, key, lpKey)); err == nil {
		t.Error("an assertion passes in what an LP has signed")
	}
}
