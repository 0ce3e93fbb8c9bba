package flowtest

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// File is what the cases of a vector file about escrow swaps share.
type File struct {
	Now       int64
	Records   map[string]map[string]json.RawMessage
	Contracts map[string]Contracts
}

// Read reads the shared members of a file; those that it lacks stay empty.
func Read(t *testing.T, f *vectors.File) *File {
	t.Helper()
	s := &File{}
	if _, ok := f.Head["now"]; ok {
		f.Member(t, "now", &s.Now)
	}
	if _, ok := f.Head["records"]; ok {
		f.Member(t, "records", &s.Records)
	}
	if c, ok := f.Head["contracts"]; ok {
		var each map[string]json.RawMessage
		if err := json.Unmarshal(c, &each); err != nil {
			t.Fatal(err)
		}
		s.Contracts = map[string]Contracts{}
		for id, text := range each {
			var k Contracts
			if err := json.Unmarshal(text, &k); err != nil {
				t.Fatal(err)
			}
			s.Contracts[id] = k
		}
	}
	return s
}

// Native are the native tokens of the chains that records are of.
var Native = map[string]tokens.Token{
	"CITREA":   {Chain: "CITREA", Ticker: "CBTC", Name: "CBTC", Decimals: 18, DisplayDecimals: 8, Address: "0x0000000000000000000000000000000000000000"},
	"STARKNET": {Chain: "STARKNET", Ticker: "STRK", Name: "STRK", Decimals: 18, DisplayDecimals: 18, Address: "0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d"},
	"SOLANA":   {Chain: "SOLANA", Ticker: "SOL", Name: "SOL", Decimals: 9, DisplayDecimals: 9, Address: "So11111111111111111111111111111111111111112"},
}

// Input is the input of a case: a stored record, what is changed in it, and the
// outside world.
type Input struct {
	Record json.RawMessage            `json:"record"` // a name in the file's records, or a record
	Set    map[string]json.RawMessage `json:"set"`
	Env    Env                        `json:"env"`
}

// Env is the outside world of a case.
type Env struct {
	Now                        *int64          `json:"now"`
	InitAuthorizationValid     *bool           `json:"initAuthorizationValid"`
	InitAuthorizationExpired   bool            `json:"initAuthorizationExpired"`
	InitAuthorizationExpiry    *int64          `json:"initAuthorizationExpiry"`
	BitcoinPayment             *BitcoinPayment `json:"bitcoinPayment"`
	ConfirmationDelayMS        *int64          `json:"confirmationDelayMs"`
	RefundAuthorizationValid   *bool           `json:"refundAuthorizationValid"`
	CommitStatus               *Status         `json:"commitStatus"`
	LPResponse                 json.RawMessage `json:"lpResponse"`
	BitcoinTx                  *BitcoinTx      `json:"bitcoinTx"`
	TxsInitThrowSignatureError bool            `json:"txsInitThrowsSignatureError"`
}

// Status is the chain's word in the reference's five values.
type Status struct {
	Type                            string
	InitTxID, ClaimTxID, RefundTxID string
	ClaimResult                     string
}

// BitcoinPayment is what the reference's backend finds when it looks for a payment.
type BitcoinPayment struct{ Tx BitcoinTx }

// BitcoinTx is a transaction as the reference's backend shows it. Its id is
// taken as it is: the cases leave out what would hash to it.
type BitcoinTx struct {
	TxID          string
	Confirmations uint32
	Locktime      uint32
	Ins           []struct{ Sequence uint32 }
	Outs          []struct {
		Value        int64
		ScriptPubKey struct{ Hex string }
	}
}

// Setup is a case, ready to be run.
type Setup struct {
	World  *World
	Chain  *Chain
	Record map[string]json.RawMessage
	Env    Env
}

// Setup makes the world of a case. A chain that says nothing else confirms what
// the record says.
func (f *File) Setup(t *testing.T, in Input) *Setup {
	t.Helper()
	base := map[string]json.RawMessage{}
	var name string
	if json.Unmarshal(in.Record, &name) == nil {
		base = f.Records[name]
	} else if err := json.Unmarshal(in.Record, &base); err != nil {
		t.Fatal(err)
	}
	s := &Setup{Env: in.Env, Record: map[string]json.RawMessage{}}
	for k, v := range base {
		s.Record[k] = v
	}
	for k, v := range in.Set {
		if s.Record[k] = v; string(v) == "null" {
			delete(s.Record, k)
		}
	}
	now := f.Now
	if in.Env.Now != nil {
		now = *in.Env.Now
	}
	s.World = &World{Time: time.UnixMilli(now), LP: in.Env.LPResponse, Txs: map[bitcoin.Hash]*bitcoin.Tx{}, Rates: bitcoin.FeeRates{Fastest: 10, Minimum: 1}}
	if string(s.World.LP) == "null" {
		s.World.LP = nil
	}
	id := chainOf(base)
	native, ok := Native[id]
	if !ok {
		t.Fatalf("record of an unknown chain %q", id)
	}
	s.Chain = NewChain(s.World, id, []tokens.Token{native}, f.Contracts[id])
	s.know(t, base)
	s.World.LP = goodFor(t, s.World.LP, now/1000+3600)
	if v := in.Env.RefundAuthorizationValid; v != nil && !*v {
		s.World.RefundErr = &chains.AuthError{Reason: "signature of another key"}
	}
	if in.Env.TxsInitThrowSignatureError {
		s.World.BuildErr = &chains.AuthError{Reason: "signature of another key"}
	}
	if tx := in.Env.BitcoinTx; tx != nil {
		s.World.Txs[hash(t, tx.TxID)] = tx.read(t)
	}
	if paid := in.Env.BitcoinPayment; paid != nil {
		s.World.Txs[hash(t, paid.Tx.TxID)] = paid.Tx.read(t)
	}
	s.World.InitUntil = now + 600_000
	if until := in.Env.InitAuthorizationExpiry; until != nil {
		s.World.InitUntil = *until
	}
	if v := in.Env.InitAuthorizationValid; v != nil && !*v {
		s.World.InitErr = &chains.AuthError{Reason: "signature of another key"}
	}
	s.World.Escrow = s.consistent(t)
	return s
}

// Agreed is the escrow that the LP opens for the record: the data that were agreed
// on, which end a day from now. It is nil where a record agrees on none.
func (s *Setup) Agreed(t *testing.T) json.RawMessage {
	t.Helper()
	var data map[string]any
	if text := s.Record["initialSwapData"]; len(text) == 0 || json.Unmarshal(text, &data) != nil || data == nil {
		return nil
	}
	if ends := s.World.Time.Unix() + 86400; s.Chain.isSolana() {
		data["expiry"] = fmt.Sprint(ends)
	} else {
		data["refundData"] = fmt.Sprintf("0x%064x", ends)
	}
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// chainOf tells the chain of a record by its escrow data.
func chainOf(record map[string]json.RawMessage) string {
	for _, member := range []string{"data", "initialSwapData"} {
		var d struct{ Type string }
		if json.Unmarshal(record[member], &d) == nil && d.Type != "" {
			return map[string]string{"evm": "CITREA", "strk": "STARKNET", "sol": "SOLANA"}[d.Type]
		}
	}
	return "CITREA"
}

// know tells the chain which claim hash stands for the record's payment hash.
func (s *Setup) know(t *testing.T, record map[string]json.RawMessage) {
	var invoice string
	_ = json.Unmarshal(record["pr"], &invoice)
	inv, err := lightning.Decode(invoice)
	if err != nil {
		return
	}
	k, _ := s.Chain.Contract("v1")
	for _, member := range []string{"data", "initialSwapData"} {
		if d := record[member]; len(d) > 0 && string(d) != "null" {
			e, err := k.Decode(d)
			if err != nil {
				t.Fatal(err)
			}
			s.Chain.know(hexOf(inv.PaymentHash[:]), e.ClaimHash)
		}
	}
}

// goodFor gives the stub of a refund authorisation the future in which a real
// one that verifies would end.
func goodFor(t *testing.T, lp json.RawMessage, until int64) json.RawMessage {
	var answer struct {
		Code int            `json:"code"`
		Msg  string         `json:"msg"`
		Data map[string]any `json:"data,omitempty"`
	}
	if lp == nil || json.Unmarshal(lp, &answer) != nil || answer.Data["prefix"] != "refund" {
		return lp
	}
	answer.Data["timeout"] = big.NewInt(until).String()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// auth is how the authorisation to open stands.
func (s *Setup) auth() chains.AuthState {
	switch v := s.Env.InitAuthorizationValid; {
	case s.Env.InitAuthorizationExpired:
		return chains.AuthOver
	case v != nil && !*v:
		return chains.AuthLate
	}
	return chains.AuthGood
}

// consistent is a chain on which the escrow stands as the record says, finally.
func (s *Setup) consistent(t *testing.T) func(chains.EscrowQuery) (chains.EscrowFact, error) {
	var r struct {
		Type, State                       int
		CommitTxID, ClaimTxID, RefundTxID string
		Secret                            string
	}
	text, err := json.Marshal(s.Record)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	var states map[int]chains.EscrowState
	if r.Type == 0 {
		states = map[int]chains.EscrowState{1: chains.EscrowOpen, 2: chains.EscrowOpen, -3: chains.EscrowOpen, 3: chains.EscrowClaimed, -4: chains.EscrowRefunded}
	} else if r.Type == 2 || r.Type == 3 {
		states = map[int]chains.EscrowState{1: chains.EscrowOpen, 2: chains.EscrowOpen, 4: chains.EscrowOpen, 3: chains.EscrowClaimed, -3: chains.EscrowRefunded}
	} else {
		states = map[int]chains.EscrowState{2: chains.EscrowOpen, -1: chains.EscrowOpen, 3: chains.EscrowClaimed, -4: chains.EscrowRefunded}
	}
	return func(q chains.EscrowQuery) (chains.EscrowFact, error) {
		f := chains.EscrowFact{State: states[r.State], Final: true, InitTx: r.CommitTxID, ClaimTx: r.ClaimTxID, RefundTx: r.RefundTxID}
		if q.Auth != nil {
			f.Auth = s.auth()
		}
		return f, nil
	}
}

// Says makes the chain answer with one of the reference's five values. Those that
// say that an escrow has expired are given the clock by which it has: offerer
// says whether the user is.
func (s *Setup) Says(t *testing.T, status *Status, offerer bool) {
	t.Helper()
	if status == nil {
		s.World.Escrow = nil
		return
	}
	f := chains.EscrowFact{InitTx: status.InitTxID, ClaimTx: status.ClaimTxID, RefundTx: status.RefundTxID, Final: true}
	f.Result = unhex(t, status.ClaimResult)
	k, _ := s.Chain.Contract("v1")
	expire := func() {
		data := s.Record["data"]
		if len(data) == 0 || string(data) == "null" {
			data = s.Record["initialSwapData"]
		}
		e, err := k.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(e.Expiry, 0).Add(-chains.ClaimGrace + time.Second)
		if offerer {
			at = time.Unix(e.Expiry, 0).Add(chains.RefundGrace + time.Second)
		}
		if at.After(s.World.Time) {
			s.World.Time = at
		}
	}
	switch status.Type {
	case "PAID":
		f.State = chains.EscrowClaimed
	case "COMMITED":
		f.State = chains.EscrowOpen
	case "REFUNDABLE":
		f.State = chains.EscrowOpen
		if offerer {
			expire()
		}
	case "NOT_COMMITED", "EXPIRED":
		if status.RefundTxID != "" {
			f.State = chains.EscrowRefunded
		} else if status.Type == "EXPIRED" {
			expire()
		}
	default:
		t.Fatalf("unknown status %q", status.Type)
	}
	s.World.Escrow = func(q chains.EscrowQuery) (chains.EscrowFact, error) {
		f := f
		if q.Auth != nil {
			f.Auth = s.auth()
		}
		return f, nil
	}
}

func (tx *BitcoinTx) read(t *testing.T) *bitcoin.Tx {
	t.Helper()
	m := wire.NewMsgTx(2)
	m.LockTime = tx.Locktime
	for _, in := range tx.Ins {
		m.AddTxIn(&wire.TxIn{Sequence: in.Sequence})
	}
	for _, out := range tx.Outs {
		m.AddTxOut(&wire.TxOut{Value: out.Value, PkScript: unhex(t, out.ScriptPubKey.Hex)})
	}
	return &bitcoin.Tx{ID: hash(t, tx.TxID), Msg: m, Confirmations: tx.Confirmations}
}
