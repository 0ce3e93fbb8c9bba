package swap

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
)

// A record knows its owner by the caller and by the key, tells neither, and belongs to nobody
// whom it does not know. One of an earlier version has no owner.
func TestOwners(t *testing.T) {
	of := func(id, caller, key string) *Record {
		r := &Record{Head: Head{ID: id, Type: ToBTCLN}}
		r.Own(caller, key)
		return r
	}
	r := of("a", "alice", "k1")
	for _, c := range []struct {
		caller, key string
		owns        bool
	}{{"alice", "", true}, {"", "k1", true}, {"alice", "k1", true}, {"bob", "k1", true}, {"alice", "k2", true},
		{"bob", "", false}, {"", "k2", false}, {"", "", false}, {"k1", "alice", false}, {"", r.Owner.Key, false}, {r.Owner.Caller, "", false}} {
		if got := r.OwnedBy(c.caller, c.key); got != c.owns {
			t.Errorf("%q with %q: %v", c.caller, c.key, got)
		}
	}
	for name, none := range map[string]*Record{"of nobody": of("a", "", ""), "without an owner": {Head: Head{ID: "a"}}} {
		if none.OwnedBy("", "") || none.OwnedBy("alice", "k1") || none.Owner != (Owner{}) {
			t.Errorf("a record %s: %+v", name, none.Owner)
		}
	}
	if other := of("b", "alice", "k1"); other.Owner.Caller == r.Owner.Caller || other.Owner.Key == r.Owner.Key {
		t.Error("two swaps of one caller show that they are")
	}
	body, err := r.Encode()
	if err != nil || bytes.Contains(body, []byte("alice")) || bytes.Contains(body, []byte("k1")) {
		t.Fatalf("%s, %v", body, err)
	}
	back, err := Decode("a", 1, body)
	if err != nil || !back.OwnedBy("alice", "") || !back.Clone().OwnedBy("", "k1") {
		t.Errorf("%+v, %v", back, err)
	}
	old := bytes.Replace(body, []byte(`"schema":2`), []byte(`"schema":1`), 1)
	old = append(old[:bytes.Index(old, []byte(`"owner"`))], old[bytes.Index(old, []byte(`"terms"`)):]...)
	if r, err := Decode("a", 1, old); err != nil || r.Owner != (Owner{}) || strings.Contains(string(old), "owner") {
		t.Errorf("%s of an earlier version: %+v, %v", old, r, err)
	}
}

func hashOf(p chains.Preimage) string {
	sum := sha256.Sum256(p[:])
	return hex.EncodeToString(sum[:])
}

// The preimage proves who gets the money as long as nobody else can know it.
func TestWhatAPreimageProves(t *testing.T) {
	p := chains.Preimage{7}
	with := func(change func(*Record)) *Record {
		r := &Record{Head: Head{Type: FromBTCLN, State: LnPaid}, Escrow: &EscrowPart{}, Lightning: &LightningPart{Hash: hashOf(p)}}
		change(r)
		return r
	}
	for name, c := range map[string]struct {
		change func(*Record)
		proves bool
	}{
		"paid":                        {func(*Record) {}, true},
		"opened by the provider":      {func(r *Record) { r.Type = FromBTCLNAuto }, true},
		"a payout over Lightning":     {func(r *Record) { r.Type = ToBTCLN }, false},
		"gas":                         {func(r *Record) { r.Type = TrustedFromBTCLN }, false},
		"another preimage":            {func(r *Record) { r.Lightning.Hash = hashOf(chains.Preimage{8}) }, false},
		"public":                      {func(r *Record) { r.Lightning.Revealed = 1 }, false},
		"once open":                   {func(r *Record) { r.Escrow.OpenedAt = 1 }, false},
		"opened, as a node said once": {func(r *Record) { r.Escrow.InitTx = "0x1" }, false},
		"open":                        {func(r *Record) { r.State = LnCommitted }, false},
		"claimed":                     {func(r *Record) { r.State = LnClaimed }, false},
	} {
		if got := with(c.change).ProvedBy(p); got != c.proves {
			t.Errorf("%s: %v", name, got)
		}
	}
	if with(func(*Record) {}).ProvedBy(chains.Preimage{}) {
		t.Error("no preimage proves something")
	}
}

// Others than the owner are asked for what comes before the claim; a claim that is asked for
// alone may be anybody's.
func TestDiscreet(t *testing.T) {
	plan := func(kinds ...chains.StepKind) *Sign {
		s := &Sign{Name: "Settle manually", Description: "both", For: ActionInit, Plan: chains.Plan{Signer: "me"}}
		for _, k := range kinds {
			s.Plan.Steps = append(s.Plan.Steps, chains.Step{Kind: k, Preimage: chains.Preimage{7}})
		}
		return s
	}
	both := plan(chains.StepInit, chains.StepClaimSecret)
	v := View{Action: both, Late: both}.Discreet()
	for _, a := range []Action{v.Action, v.Late} {
		if s := a.(*Sign); len(s.Plan.Steps) != 1 || s.Plan.Steps[0].Kind != chains.StepInit || s.For != ActionInit || s.Plan.Signer != "me" || s.Description == "both" {
			t.Errorf("%+v", s)
		}
	}
	if len(both.Plan.Steps) != 2 {
		t.Error("the owner's action was changed")
	}
	for _, same := range []Action{plan(chains.StepClaimSecret), plan(chains.StepInit), plan(chains.StepRefund), &Pay{}, &Fund{}, &Wait{}, nil} {
		if got := Discreet(same); got != same {
			t.Errorf("%+v became %+v", same, got)
		}
	}
	last := plan(chains.StepClaimSecret)
	if last.For = actionLastClaim; Discreet(last) != nil {
		t.Error("others are handed a claim that the refund may win against")
	}
}
