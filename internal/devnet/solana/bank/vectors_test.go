package bank

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// messageCase is a case of the messages that the reference builds.
type messageCase struct {
	Fn, Version   string
	Now           int64 // Unix milliseconds
	Swap          json.RawMessage
	Secret        string
	Token, Signer string
	Amount        string
	Tx            struct{ Hex string } // without witnesses
	Vout          uint32
}

type messageTxs struct {
	Txs []struct {
		FeePayer string
		Message  string
	}
}

// The transactions that the reference builds are executed, on accounts as they would be
// found, and do what they were built for: escrows are opened, claimed and refunded with
// the limits of compute units that they set.
func TestVectorsMessagesAreExecuted(t *testing.T) {
	f := vectors.Load(t, "chain-solana", "messages")
	f.Cases = slices.DeleteFunc(f.Cases, func(c *vectors.Case) bool {
		var in messageCase
		var want json.RawMessage
		c.Input(t, &in)
		c.Expected(t, &want)
		return vectors.Refused(want) || in.Fn == "txsTransfer" // none of the programs'
	})
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in messageCase
		var want messageTxs
		c.Input(t, &in)
		c.Expected(t, &want)
		if in.Version == "" {
			in.Version = wire.V1
		}
		s := newScene(t, in, want)
		var last *Result
		for i, tx := range s.txs {
			result, after := s.execute(tx)
			last = result
			if in.Fn == "txsClaimWithTxData" && tx.Instructions[0].Program == s.p.Relay {
				// The header and the proof of the vectors are random: so far the relay follows.
				if result.Err == nil || result.Err.Index != 0 || !errors.Is(result.Err, wrongMerkleRoot) {
					t.Errorf("verification: %v\n%s", result.Err, strings.Join(result.Logs, "\n"))
				}
				s.wantPayload()
				return
			}
			if result.Err != nil {
				t.Fatalf("transaction %d: %v\n%s", i, result.Err, strings.Join(result.Logs, "\n"))
			}
			for j, key := range tx.Message.AccountKeys {
				if _, program := s.accounts[key]; program || after[j].Lamports > 0 && !after[j].Executable && key != wire.WSOL {
					s.accounts[key] = after[j]
				}
			}
		}
		s.wantDone(last)
	})
}

// scene is the state in which a case's transactions are executed.
type scene struct {
	*testing.T
	p        wire.Programs
	in       messageCase
	d        *wire.SwapData // nil for deposits and transfers
	txs      []*Tx
	now      time.Time
	accounts map[wire.Key]Account
	data     wire.Key // data account, if one is created
	before   uint64   // tokens of the program's vault
}

const plenty = 1 << 60 // lamports and tokens of everybody who needs them

func newScene(t *testing.T, in messageCase, want messageTxs) *scene {
	s := &scene{T: t, p: programsOf(t, in.Version), in: in, now: time.UnixMilli(in.Now), accounts: map[wire.Key]Account{}}
	if in.Now == 0 {
		s.now = time.Unix(1_756_278_357, 0)
	}
	created := map[wire.Key]bool{}   // token accounts
	wrapped := map[wire.Key]uint64{} // what is sent to addresses
	for _, j := range want.Txs {
		message := trial.Must(hex.DecodeString(j.Message))(t)
		n := int(message[0])
		tx := trial.Must(Parse(append(append([]byte{byte(n)}, make([]byte, 64*n)...), message...)))(t)
		s.txs = append(s.txs, tx)
		for i, key := range tx.Message.AccountKeys[:n] {
			if i == 0 || tx.Writable(i) {
				s.accounts[key] = Account{Lamports: plenty}
			}
		}
		for _, ix := range tx.Instructions {
			switch {
			case ix.Program == wire.ATAProgram:
				created[ix.Accounts[1].PublicKey] = true
			case ix.Program == wire.SystemProgram && ix.Data[0] == 2:
				wrapped[ix.Accounts[1].PublicKey] += binary.LittleEndian.Uint64(ix.Data[4:])
			case ix.Program == wire.SystemProgram && ix.Data[0] == 0:
				s.data = ix.Accounts[1].PublicKey
				delete(s.accounts, s.data)
			}
		}
	}
	mint := wire.Key{}
	token := func(at, owner wire.Key, amount uint64) {
		if !created[at] {
			s.accounts[at] = tokensOf(mint, owner, amount)
		}
	}
	if in.Swap == nil {
		signer := keyText(t, in.Signer)
		mint = keyText(t, in.Token)
		token(wire.ATA(signer, mint), signer, 9000)
		s.mint(mint)
		if strings.HasPrefix(in.Fn, "txsWithdraw") {
			s.vaults(mint, 9000)
			s.user(signer, mint, 9000)
		}
		return s
	}

	d := trial.Must(wire.ParseSwapData(in.Swap))(t)
	s.d, mint = d, d.Token
	s.mint(mint)
	for _, party := range []wire.Key{d.Offerer, d.Claimer} {
		s.accounts[party] = Account{Lamports: plenty}
	}
	if in.Fn == "txsInit" {
		s.user(d.Claimer, mint, 0)
		s.user(d.Offerer, mint, d.Amount)
		s.vaults(mint, d.Amount)
		if d.PayIn {
			token(wire.ATA(d.Offerer, mint), d.Offerer, d.Amount-wrapped[wire.ATA(d.Offerer, mint)])
		}
		if d.PayOut {
			token(wire.ATA(d.Claimer, mint), d.Claimer, 0)
		}
		return s
	}
	s.user(d.Offerer, mint, 0)
	s.user(d.Claimer, mint, 0)
	s.vaults(mint, d.Amount)
	if d.ClaimerATA != nil && d.PayOut {
		token(*d.ClaimerATA, d.Claimer, 0)
	}
	token(wire.ATA(d.Offerer, mint), d.Offerer, 0)
	e := wire.EscrowState{Data: d.Terms(), Offerer: d.Offerer, Claimer: d.Claimer, Mint: mint, SecurityDeposit: d.SecurityDeposit, ClaimerBounty: d.ClaimerBounty}
	if d.PayIn {
		e.OffererATA = wire.ATA(d.Offerer, mint)
	}
	if d.PayOut && d.ClaimerATA != nil {
		e.ClaimerATA = *d.ClaimerATA
	}
	switch in.Fn {
	case "txsClaimWithSecret": // the secrets of the vectors are random, the account's hash is what counts
		raw := trial.Must(hex.DecodeString(in.Secret))(t)
		e.Data.Hash = sha256.Sum256(raw)
	case "txsRefund":
		s.now = time.Unix(int64(d.Expiry)+1, 0)
	case "txsClaimWithTxData":
		s.relay()
	}
	s.accounts[s.p.Escrow(d.PaymentHash)] = Account{Lamports: max(s.p.EscrowRent(), max(d.SecurityDeposit, d.ClaimerBounty)), Owner: s.p.Swap, Data: s.p.EncodeEscrow(e)}
	return s
}

func keyText(t *testing.T, text string) wire.Key {
	t.Helper()
	return trial.Must(wire.ParseKey(text))(t)
}

// tokensOf is a token account; one of WSOL holds its tokens as lamports.
func tokensOf(mint, owner wire.Key, amount uint64) Account {
	a := tokenAccount(mint, owner, amount)
	if mint == wire.WSOL {
		a.Lamports += amount
		a.Data[109] = 1
		binary.LittleEndian.PutUint64(a.Data[113:], wire.TokenAccountRent)
	}
	return a
}

func (s *scene) mint(mint wire.Key) {
	if mint != wire.WSOL {
		s.accounts[mint] = MintAccount(8, 0, nil)
	}
}

// vaults puts tokens into the program.
func (s *scene) vaults(mint wire.Key, amount uint64) {
	owner := s.p.Vault(mint)
	if s.p.Version == wire.V1 {
		owner = s.p.Authority()
	}
	s.accounts[s.p.Vault(mint)] = tokensOf(mint, owner, amount)
	s.before = amount
}

// user gives a user a balance in the program.
func (s *scene) user(of, mint wire.Key, amount uint64) {
	_, bump := Derive(s.p.Swap, []byte("uservault"), of[:], mint[:])
	s.accounts[s.p.UserVault(of, mint)] = Account{Lamports: wire.Rent(wire.UserVaultSpace), Owner: s.p.Swap, Data: wire.UserVault{Amount: amount, Bump: bump}.Bytes()}
}

// relay has the header of the case's claim.
func (s *scene) relay() {
	ix := s.txs[len(s.txs)-1].Instructions[0]
	for _, tx := range s.txs {
		if tx.Instructions[0].Program == s.p.Relay {
			ix = tx.Instructions[0]
		}
	}
	a := trial.Must(wire.DecodeVerifyArgs(ix.Data[8:]))(s)
	height := a.In.Header.Height
	state := &wire.RelayState{StartHeight: height, Height: height + uint32(s.d.Confirmations), Work: new(big.Int)}
	state.SetCommitment(height, a.In.Commitment())
	s.accounts[s.p.RelayState()] = Account{Lamports: wire.Rent(wire.RelayStateSpace), Owner: s.p.Relay, Data: state.Bytes()}
}

// execute executes one transaction on the accounts as they are.
func (s *scene) execute(tx *Tx) (result *Result, after []Account) {
	accounts := map[wire.Key]Account{}
	for key, a := range s.accounts {
		if a.Lamports > 0 {
			accounts[key] = a
		}
	}
	b, err := New(Options{Now: func() time.Time { return s.now }, Manual: true, Accounts: accounts,
		Programs: map[wire.Key]Program{s.p.Swap: Swap(s.p, s.layout()), s.p.Relay: Relay(s.p, Rules{})}})
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	b.Read(Processed, 0, func(v *View) { result, after, err = v.Simulate(tx, true) })
	if err != nil {
		s.Fatal(err)
	}
	return result, after
}

// layout is the one that the reference's sizes fit.
func (s *scene) layout() wire.DataLayout {
	if s.p.Version == wire.V1 {
		return wire.DataPlain
	}
	return wire.DataTagged
}

// wantPayload demands that the transactions so far have written all that the claim needs.
func (s *scene) wantPayload() {
	a := trial.Must(s.layout().Decode(s.accounts[s.data].Data))(s)
	is(s.T, "payload", fmt.Sprintf("%x", a.Payload), fmt.Sprintf("%x", binary.LittleEndian.AppendUint32(nil, s.in.Vout))+s.in.Tx.Hex)
}

// wantDone demands what the case's transactions are for.
func (s *scene) wantDone(last *Result) {
	events, _ := s.p.Events(last.Logs)
	d := s.d
	if d == nil {
		s.wantMoved()
		return
	}
	if len(events) != 1 {
		s.Fatalf("%d events", len(events))
	}
	event := events[0]
	is(s.T, "sequence", event.Sequence, d.Sequence)
	escrow, open := s.accounts[s.p.Escrow(d.PaymentHash)]
	open = open && escrow.Lamports > 0
	vault := trial.Must(wire.DecodeTokenAccount(wire.TokenProgram, s.accounts[s.p.Vault(d.Token)].Data))(s)
	switch s.in.Fn {
	case "txsInit":
		is(s.T, "event", event.Kind, wire.Initialized)
		is(s.T, "hash", event.Hash, d.PaymentHash)
		if !open {
			s.Fatal("no escrow")
		}
		e := trial.Must(s.p.DecodeEscrow(escrow.Data))(s)
		if err := s.p.Match(e, d); err != nil {
			s.Error(err)
		}
		if d.PayIn {
			is(s.T, "vault", vault.Amount, s.before+d.Amount)
		}
	case "txsClaimWithSecret":
		is(s.T, "event", event.Kind, wire.Claimed)
		is(s.T, "secret", fmt.Sprintf("%x", event.Result), s.in.Secret)
		is(s.T, "open", open, false)
		if d.PayOut {
			is(s.T, "vault", vault.Amount, s.before-d.Amount)
		} else {
			is(s.T, "successes", s.balance(d.Claimer).Reputation[chains.HTLC].SuccessVolume, d.Amount)
		}
	default:
		is(s.T, "event", event.Kind, wire.Refunded)
		is(s.T, "open", open, false)
		if d.PayIn {
			is(s.T, "vault", vault.Amount, s.before-d.Amount)
		} else {
			is(s.T, "balance", s.balance(d.Offerer).Amount, d.Amount)
		}
	}
}

func (s *scene) balance(of wire.Key) wire.UserVault {
	s.Helper()
	return trial.Must(wire.DecodeUserVault(s.accounts[s.p.UserVault(of, s.d.Token)].Data))(s)
}

// wantMoved demands that a deposit or a withdrawal has changed the balance.
func (s *scene) wantMoved() {
	amount := new(big.Int)
	amount.SetString(s.in.Amount, 10)
	v := trial.Must(wire.DecodeUserVault(s.accounts[s.p.UserVault(keyText(s.T, s.in.Signer), keyText(s.T, s.in.Token))].Data))(s)
	want := amount.Uint64()
	if s.in.Fn == "txsWithdraw" {
		want = 9000 - want
	}
	is(s.T, "balance", v.Amount, want)
}
