package chainio

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// Transactions are built for the swap's own signer, or for whoever calls where
// anybody may sign, and not again for one whose own are under way.
func TestWhoSigns(t *testing.T) {
	for name, c := range map[string]struct {
		caller, waiting string
		any             bool
		signer          string // for whom it is built; "" for nobody
	}{
		"owner":                      {"owner", "", false, "owner"},
		"nobody in particular":       {"", "", false, "owner"},
		"somebody else":              {"other", "", false, "owner"},
		"somebody else, anybody may": {"other", "", true, "other"},
		"nobody, anybody may":        {"", "", true, "owner"},
		"somebody else, under way":   {"other", "other", true, ""},
		"somebody else, another's":   {"other", "third", true, "other"},
		"owner, somebody else's":     {"owner", "other", true, "owner"},
		"owner, his own under way":   {"owner", "owner", true, "owner"},
		"nobody, somebody else's":    {"", "other", true, "owner"},
	} {
		s := newScene(t)
		a := &swap.Sign{Name: "Claim", Plan: chains.Plan{Signer: "owner"}, AnySigner: c.any, Waiting: c.waiting}
		todo := trial.Must(s.BuildAction(t.Context(), s.record, a, swap.Caller{Signer: c.caller}))(t)
		if c.signer == "" {
			if !reflect.DeepEqual(todo, swap.BuiltAction{}) {
				t.Errorf("%s: %+v", name, todo)
			}
			continue
		}
		sign := todo.Action.(*swap.Sign)
		if todo.Signer != c.signer || s.vaults.asked.Signer != c.signer || !slices.Equal(todo.Txs, []string{"unsigned"}) ||
			sign.Name != "Claim" || sign.Chain != "BOOK" || a.Chain != "" {
			t.Errorf("%s: %+v", name, todo)
		}
	}
}

func TestNothingIsBuiltOnWhatIsNotKnown(t *testing.T) {
	for name, change := range map[string]func(s *scene, p *chains.Plan){
		"no chain":             func(s *scene, _ *chains.Plan) { s.record.Chain = "NOWHERE" },
		"no contract":          func(s *scene, _ *chains.Plan) { s.record.Contract = "v9" },
		"no answer":            func(s *scene, _ *chains.Plan) { s.vaults.buildErr = errSilent },
		"payment not in block": func(_ *scene, p *chains.Plan) { p.Steps = []chains.Step{{Payment: &chains.Payment{}}} },
	} {
		s := newScene(t)
		a := &swap.Sign{Plan: chains.Plan{Signer: "owner"}}
		change(s, &a.Plan)
		if todo, err := s.BuildAction(t.Context(), s.record, a, swap.Caller{}); err == nil {
			t.Errorf("%s: %+v", name, todo)
		}
	}
}

// What is handed in is compared with the plan, and the chain is asked whether it can
// be executed. That it cannot be asked hinders nobody.
func TestHandedInIsComparedWithThePlan(t *testing.T) {
	for name, c := range map[string]struct {
		any          bool
		check, admit error
		signer       string
		refused      fault.Code
	}{
		"owner's":                {false, nil, nil, "owner", ""},
		"anybody's":              {true, nil, nil, "", ""},
		"not what was asked for": {false, fault.Invalid("signedTxs[0]", "is something else"), nil, "owner", fault.InvalidInput},
		"cannot be executed":     {false, nil, fault.Invalid("signedTxs[0]", "pays too little"), "owner", fault.InvalidInput},
		"contract would refuse":  {false, nil, fault.New(fault.InvalidState, "is closed"), "owner", fault.InvalidState},
		"chain is silent":        {false, nil, errSilent, "owner", ""},
		"chain is away":          {false, nil, fault.New(fault.Upstream, "away"), "owner", ""},
	} {
		s := newScene(t)
		s.vaults.checkErr, s.vaults.admitErr = c.check, c.admit
		a := &swap.Sign{For: swap.ActionRefund, Plan: chains.Plan{Signer: "owner"}, AnySigner: c.any}
		in, err := s.Check(t.Context(), s.record, a, []string{"a", "b"})
		if fault.CodeOf(err) != c.refused && err != nil || (err == nil) != (c.refused == "") {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.vaults.asked.Signer != c.signer || a.Plan.Signer != "owner" {
			t.Errorf("%s: compared with a plan of %q", name, s.vaults.asked.Signer)
		}
		if err == nil && (in.Action != swap.ActionRefund || len(in.Txs) != 2 || in.Txs[1].Signed.ID != "id of b" || in.PSBT != nil) {
			t.Errorf("%s: %+v", name, in)
		}
	}
	s := newScene(t)
	if _, err := s.Check(t.Context(), s.record, &swap.Sign{Plan: chains.Plan{Steps: []chains.Step{{Payment: &chains.Payment{}}}}}, []string{"a"}); err == nil {
		t.Error("accepted beside a payment that is in no block")
	}
	s.record.Chain = "NOWHERE"
	if _, err := s.Check(t.Context(), s.record, &swap.Sign{}, []string{"a"}); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("no chain: %v", err)
	}
}

// Swaps from bitcoin and gas take PSBTs beside the chain's transactions; others do not.
func TestIDsOfWhatIsHandedIn(t *testing.T) {
	s := newScene(t)
	p := trial.Must(s.fund(t, &swap.Fund{}))(t)
	signed := s.sign(t, p)
	in := trial.Must(s.Check(t.Context(), s.record, &swap.Fund{}, []string{signed}))(t)
	id := in.PSBT.TxID.String()
	vault := s.record.Vault
	for name, c := range map[string]struct {
		typ   swap.Type
		vault *swap.VaultPart
		gas   *swap.GasPart
		given []string
		want  []string
		field string
	}{
		"vault, both":              {swap.SPVFromBTC, vault, nil, []string{signed, "a"}, []string{id, "id of a"}, ""},
		"vault, rubbish":           {swap.SPVFromBTC, vault, nil, []string{"a", "rubbish"}, nil, "signedTxs[1]"},
		"gas":                      {swap.TrustedFromBTC, nil, &swap.GasPart{}, []string{signed}, []string{id}, ""},
		"escrow for bitcoin":       {swap.FromBTC, nil, nil, []string{"a", "b"}, []string{"id of a", "id of b"}, ""},
		"escrow for bitcoin, PSBT": {swap.FromBTC, nil, nil, []string{signed}, []string{id}, ""},
		"escrow":                   {swap.ToBTC, nil, nil, []string{"a", "b"}, []string{"id of a", "id of b"}, ""},
		"escrow, PSBT":             {swap.ToBTC, nil, nil, []string{signed}, []string{"id of " + signed}, ""},
	} {
		s.record.Type, s.record.Vault, s.record.Gas = c.typ, c.vault, c.gas
		got, err := s.IDs(s.record, c.given)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		e, _ := errors.AsType[*fault.Error](err)
		if (c.field != "") != (err != nil) || e != nil && e.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Callers share an action only if it is the same for them.
func TestActionsAreSharedByWhatShapesThem(t *testing.T) {
	s, legacy := newScene(t), newScene(t)
	legacy.legacy(t)
	step := func(k chains.StepKind) []chains.Step { return []chains.Step{{Kind: k}} }
	keys := map[string]string{}
	add := func(name string, r swap.Record, a swap.Action, c swap.Caller) {
		key := todoKey(&r, a, c)
		if key != todoKey(&r, a, c) {
			t.Errorf("%s has two keys", name)
		}
		if other, taken := keys[key]; taken {
			t.Errorf("%s shares the action of %s", name, other)
		}
		keys[key] = name
	}
	var r, newer, another swap.Record
	r.ID, newer.ID, another.ID = "a", "a", "b"
	newer.Version = 1
	add("a swap's", r, &swap.Sign{}, swap.Caller{})
	add("another swap's", another, &swap.Sign{}, swap.Caller{})
	add("a newer record's", newer, &swap.Sign{}, swap.Caller{})
	add("another signer's", r, &swap.Sign{}, swap.Caller{Signer: "x"})
	add("of steps", r, &swap.Sign{Plan: chains.Plan{Steps: step(chains.StepClaimSecret)}}, swap.Caller{})
	add("in the place of another", r, &swap.Sign{Plan: chains.Plan{Replaces: []chains.Signed{{ID: "x"}}}}, swap.Caller{})
	add("while somebody waits", r, &swap.Sign{Waiting: "x"}, swap.Caller{})
	add("a PSBT", r, &swap.Fund{}, swap.Caller{})
	add("a wallet's", r, &swap.Fund{}, s.caller)
	add("another wallet's", r, &swap.Fund{}, legacy.caller)
	dear := s.caller
	dear.FeeRate = 7
	add("another rate's", r, &swap.Fund{}, dear)
}

// Every question about a chain, contract or vault that is not there is an error, and
// so is an answer that is not one.
func TestQuestionsWithoutAnAnswer(t *testing.T) {
	s := newScene(t)
	for name, err := range map[string]error{
		"escrow":     second(s.Escrow(t.Context(), "NOWHERE", "", chains.EscrowQuery{})),
		"vault":      second(s.Vault(t.Context(), "NOWHERE", "", chains.VaultID{})),
		"withdrawal": second(s.Withdrawal(t.Context(), "NOWHERE", "", chains.WithdrawalQuery{})),
		"version":    second(s.Escrow(t.Context(), "BOOK", "v9", chains.EscrowQuery{})),
		"refund":     s.VerifyRefund(t.Context(), "NOWHERE", "", swap.RefundAsk{}),
		"status":     second(s.Txs(t.Context(), "NOWHERE", nil)),
		"payout":     second(s.Payout(t.Context(), "NOWHERE", "", swap.PayoutAsk{})),
		"delivered":  second(s.Delivered(t.Context(), "NOWHERE", "", swap.DeliveredAsk{})),
		"gas":        second(s.GasPayout(t.Context(), "NOWHERE", swap.GasAsk{})),
	} {
		if fault.CodeOf(err) != fault.Unsupported {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := s.Info("NOWHERE"); ok {
		t.Error("a chain that is not there has constants")
	}
	for name, err := range map[string]error{
		"escrow":     second(s.Escrow(t.Context(), "BOOK", "", chains.EscrowQuery{})),
		"withdrawal": second(s.Withdrawal(t.Context(), "BOOK", "", chains.WithdrawalQuery{})),
	} {
		if !errors.Is(err, errSilent) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.vaults.vaultErr = errSilent
	if f, err := s.Vault(t.Context(), "BOOK", "", chains.VaultID{}); !errors.Is(err, errSilent) {
		t.Errorf("%+v, %v", f, err)
	}
	s.vaults.vaultErr = nil
	if f, err := s.Vault(t.Context(), "BOOK", "v1", chains.VaultID{}); err != nil || !f.Vault.Open {
		t.Errorf("%+v, %v", f, err)
	}
	s.ledger.silent["spends"] = true
	if spends, err := s.Spends(t.Context(), make([]bitcoin.OutPoint, 2)); !errors.Is(err, errSilent) {
		t.Errorf("%+v, %v", spends, err)
	}
	if tx, err := s.BitcoinTx(t.Context(), bitcoin.Hash{9}); tx != nil || err != nil {
		t.Errorf("of a transaction that nobody knows: %+v, %v", tx, err)
	}
	s.ledger.silent["txs"] = true
	if tx, err := s.BitcoinTx(t.Context(), bitcoin.Hash{9}); tx != nil || !errors.Is(err, errSilent) {
		t.Errorf("of a silent backend: %+v, %v", tx, err)
	}
	plainOnly := New(map[string]chains.Chain{"BOOK": &book{contract: &plain{}}}, s.ledger, nil)
	defer plainOnly.Close()
	for name, err := range map[string]error{
		"vault":      second(plainOnly.Vault(t.Context(), "BOOK", "", chains.VaultID{})),
		"withdrawal": second(plainOnly.Withdrawal(t.Context(), "BOOK", "", chains.WithdrawalQuery{})),
	} {
		if fault.CodeOf(err) != fault.Unsupported {
			t.Errorf("%s of a chain without vaults: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// What went to the refund address, or anywhere where none is known.
func TestRefundedSats(t *testing.T) {
	s := newScene(t)
	a := trial.Must(bitcoin.NewAddress(bitcoin.P2WPKH, make([]byte, 20), bitcoin.Mainnet))(t)
	tx := s.ledger.pay(&wire.TxOut{Value: 5, PkScript: a.Script()}, &wire.TxOut{Value: 7, PkScript: s.script}, &wire.TxOut{Value: 11, PkScript: a.Script()})
	for name, c := range map[string]struct {
		q    swap.RefundedAsk
		sats int64
		ok   bool
	}{
		"to an address": {swap.RefundedAsk{TxID: tx.ID, To: a.String()}, 16, true},
		"to anybody":    {swap.RefundedAsk{TxID: tx.ID}, 23, true},
		"to nobody":     {swap.RefundedAsk{TxID: tx.ID, To: "x"}, 0, false},
		"unknown":       {swap.RefundedAsk{TxID: bitcoin.Hash{9}, To: a.String()}, 0, true},
	} {
		f, err := s.Refunded(t.Context(), c.q)
		if (err == nil) != c.ok || f.Sats != c.sats || c.sats > 0 && f.Confirmations != 6 {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	s.ledger.silent["txs"] = true
	if f, err := s.Refunded(t.Context(), swap.RefundedAsk{TxID: tx.ID}); err == nil {
		t.Errorf("of a silent backend: %+v", f)
	}
}
