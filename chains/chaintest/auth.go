package chaintest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains"
)

func testAuthorizations(k *kit) {
	for name, spec := range map[string]chains.Spec{
		"pay-in":  k.payIn(lock(secret(1)), k.facts.Token),
		"pay-out": k.payOut(lock(secret(2)), k.facts.Token),
	} {
		k.initAuth(name, spec)
	}
	k.refundAuth()
	k.dataSignature()
}

func (k *kit) initAuth(name string, spec chains.Spec) {
	e := k.expect(spec)
	auth, rate := k.authorize(e)
	verify := func(e chains.Escrow, a chains.Auth, sender string) error {
		_, err := k.k.VerifyInit(k.Context(), e, a, rate, sender)
		return err
	}
	until, err := k.k.VerifyInit(k.Context(), e, auth, rate, k.user.Address())
	if now := k.net.Time(); err != nil || !until.After(now) || until.After(now.Add(11*time.Minute)) {
		k.Errorf("%s: usable until %s, now %s: %v", name, until, now, err)
	}
	stranger := k.net.Account(k.T)
	later := k.net.Time().Add(10 * time.Minute)
	changed := func(change func(*chains.Auth)) chains.Auth {
		a := auth
		change(&a)
		return a
	}
	for what, bad := range map[string]chains.Auth{
		"by a stranger":         stranger.AuthorizeInit(k.T, e, rate, k.user.Address(), later),
		"by the user":           k.user.AuthorizeInit(k.T, e, rate, k.user.Address(), later),
		"expired":               k.lp.AuthorizeInit(k.T, e, rate, k.user.Address(), k.net.Time().Add(-time.Minute)),
		"expiring at once":      k.lp.AuthorizeInit(k.T, e, rate, k.user.Address(), k.net.Time().Add(chains.AuthGrace-5*time.Second)),
		"of another timeout":    changed(func(a *chains.Auth) { a.Timeout++ }),
		"of another prefix":     changed(func(a *chains.Auth) { a.Prefix = "refund" }),
		"without prefix":        changed(func(a *chains.Auth) { a.Prefix = "" }),
		"without signature":     changed(func(a *chains.Auth) { a.Signature = "" }),
		"with a cut signature":  changed(func(a *chains.Auth) { a.Signature = a.Signature[:len(a.Signature)/2] }),
		"with a long signature": changed(func(a *chains.Auth) { a.Signature = strings.Repeat(a.Signature, 1000) }),
		"with garbage":          changed(func(a *chains.Auth) { a.Signature = "please" }),
		"zero":                  {},
		"of a refund":           k.lp.AuthorizeRefund(k.T, e, later),
	} {
		k.refusedAuth(name+", "+what, verify(e, bad, k.user.Address()))
	}
	other := spec
	other.Sequence = units(3)
	k.refusedAuth(name+", of another escrow", verify(k.expect(other), auth, k.user.Address()))
	k.refusedAuth(name+", for a stranger", verify(e, auth, stranger.Address()))
	if spec.PayOut {
		soon := spec
		soon.Expiry = k.net.Time().Add(chains.ClaimGrace - time.Minute).Unix()
		late := k.expect(soon)
		a, _ := k.authorize(late)
		k.refusedAuth(name+", of an escrow that expires too soon", verify(late, a, k.user.Address()))
	}

	ask := func() chains.AuthState {
		return k.fact(chains.EscrowQuery{Escrow: &e, Auth: &auth, FeeRate: rate}).Auth
	}
	if got := ask(); got != chains.AuthGood {
		k.Errorf("%s: a good authorisation is in state %d", name, got)
	}
	wait := time.Unix(auth.Timeout, 0).Sub(k.net.Time()) - chains.AuthGrace/2
	if k.facts.AuthLate != 0 {
		wait = k.facts.AuthLate
	}
	k.net.Advance(k.T, wait)
	if got := ask(); got != chains.AuthLate {
		k.Errorf("%s: shortly before the timeout it is in state %d", name, got)
	}
	k.refusedAuth(name+", shortly before the timeout", verify(e, auth, k.user.Address()))
	k.net.Advance(k.T, time.Hour)
	k.net.Mine(k.T, 3)
	if got := ask(); got != chains.AuthOver {
		k.Errorf("%s: after the timeout it is in state %d", name, got)
	}
}

func (k *kit) refundAuth() {
	e := k.expect(k.payIn(lock(secret(3)), k.facts.Token))
	later := k.net.Time().Add(10 * time.Minute)
	good := k.lp.AuthorizeRefund(k.T, e, later)
	k.must(k.k.VerifyRefund(k.Context(), e, good))
	cut := good
	cut.Signature = cut.Signature[:len(cut.Signature)-2]
	longer := good
	longer.Timeout += 1000
	init, _ := k.authorize(e)
	k.net.Misbehave(k.T, 1, Trouble{Down: true}) // two nodes together may prove more
	for what, bad := range map[string]chains.Auth{
		"by a stranger": k.net.Account(k.T).AuthorizeRefund(k.T, e, later),
		"by the user":   k.user.AuthorizeRefund(k.T, e, later),
		"expired":       k.lp.AuthorizeRefund(k.T, e, k.net.Time().Add(-time.Second)),
		"cut":           cut,
		"prolonged":     longer,
		"zero":          {},
		"for opening":   init,
	} {
		err := k.k.VerifyRefund(k.Context(), e, bad)
		k.refusedAuth("refund, "+what, err)
		k.provenAlone("refund, "+what, err, k.k.VerifyRefund(k.offline(), e, bad))
	}
	k.net.Misbehave(k.T, 1, Trouble{})
	k.net.Advance(k.T, 3*time.Minute) // and it is asked again
	other := k.payIn(lock(secret(4)), k.facts.Token)
	k.refusedAuth("refund, of another escrow", k.k.VerifyRefund(k.Context(), k.expect(other), good))
}

// provenAlone demands that a verdict of one node says so if it needs none, and only then: it
// is what the other party is blamed for.
func (k *kit) provenAlone(name string, online, offline error) {
	k.Helper()
	e, _ := errors.AsType[*chains.AuthError](online)
	_, alone := errors.AsType[*chains.AuthError](offline)
	if e != nil && e.Proven != (alone && !e.Late) {
		k.Errorf("%s: proven %v, although without a node the answer is %v", name, e.Proven, offline)
	}
}

// offline is a context in which no node answers.
func (k *kit) offline() context.Context {
	ctx, cancel := context.WithCancel(k.Context())
	cancel()
	return ctx
}

func (k *kit) dataSignature() {
	data := []byte(`{"nonce":"17"}`)
	signature := k.lp.SignData(k.T, data)
	k.must(k.chain.VerifyData(k.Context(), k.lp.Address(), data, signature))
	for name, err := range map[string]error{
		"other data":    k.chain.VerifyData(k.Context(), k.lp.Address(), []byte("{}"), signature),
		"other signer":  k.chain.VerifyData(k.Context(), k.user.Address(), data, signature),
		"no signature":  k.chain.VerifyData(k.Context(), k.lp.Address(), data, ""),
		"cut signature": k.chain.VerifyData(k.Context(), k.lp.Address(), data, signature[:len(signature)-2]),
		"no address":    k.chain.VerifyData(k.Context(), "me", data, signature),
	} {
		k.refusedAuth("data with "+name, err)
	}
	for _, by := range []Account{k.user, k.lp} {
		if _, ok := errors.AsType[*chains.AuthError](k.chain.VerifyData(k.Context(), by.Address(), data, by.SignData(k.T, data))); ok {
			k.Error("a good data signature is refused")
		}
	}
}
