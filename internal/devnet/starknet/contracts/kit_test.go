package contracts

import (
	"crypto/sha256"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// keys are those of the parties, by their accounts.
var keys = map[Felt]Key{}

func keyOf(name string) Felt {
	k := KeyOf(name)
	keys[k.Address()] = k
	return k.Address()
}

// sign signs a hash with the key of an account.
func (k *kit) sign(account, hash Felt) []Felt {
	k.Helper()
	return trial.Must(keys[account].Sign(hash))(k)
}

// Parties of the tests.
var user, lp, tower, minter = keyOf("user"), keyOf("lp"), keyOf("tower"), wire.ShortString("minter")

var everybody = []Felt{user, lp, tower}

// Tokens: one that is swapped, one for fees, one for gas of vaults.
var coin, gas = wire.MustFelt("0xc01"), wire.MustFelt("0x6a5")

const wealth = 1_000_000_000_000 // base units of each token that user, lp and tower have

// kit is a chain with all contracts and parties with funds. Its clock stands still.
type kit struct {
	testing.TB
	*Chain
	d   wire.Deployment
	n   wire.Network
	now time.Time
}

var theFuture = int64(1 << 40) // Unix seconds

// genesis is a header that the tests' relays begin with; its target is regtest's.
func genesis() wire.StoredHeader {
	h := wire.StoredHeader{Header: bitcoin.Header{Height: 100, Version: 1, Time: 1_759_999_000, Bits: 0x207fffff}, Work: big.NewInt(1000), LastAdjustment: 1_759_000_000}
	for i := range h.PreviousTimes {
		h.PreviousTimes[i] = 1_759_990_000 + uint32(i)*600
	}
	return h
}

func newKit(t testing.TB) *kit { return newKitAt(t, genesis(), Rules{}) }

func newKitAt(t testing.TB, first wire.StoredHeader, rules Rules) *kit {
	t.Helper()
	k := &kit{TB: t, now: time.Unix(1_760_000_000, 0)}
	k.n, _ = wire.NetworkFor(bitcoin.Testnet4)
	k.d = k.n.Deployments[0]
	k.Chain = trial.Must(New(Options{Now: func() time.Time { return k.now }, ChainID: k.n.ChainIDFelt(), Classes: Classes(rules), Manual: true}))(t)
	t.Cleanup(func() { _ = k.Close() })
	trial.Do(t, Install(k.Chain, k.d, first))
	for _, token := range []Felt{coin, gas} {
		k.must(k.Place(token, Token().Hash, TokenArgs("Coin", "COIN", 8, minter)...))
	}
	for _, at := range everybody {
		k.must(k.Place(at, wire.ClassOpenZeppelin, keys[at].Public()))
		for _, token := range []Felt{coin, gas} {
			k.do(minter, token, "permissioned_mint", felts{at}.u256(big.NewInt(wealth))...)
		}
	}
	return k
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// try calls a contract as somebody.
func (k *kit) try(as, to Felt, entry string, calldata ...Felt) (*Invocation, error) {
	return k.Impersonate(as, to, wire.Selector(entry), calldata...)
}

// do is try of what must succeed.
func (k *kit) do(as, to Felt, entry string, calldata ...Felt) *Invocation {
	k.Helper()
	i, err := k.try(as, to, entry, calldata...)
	if err != nil {
		k.Fatalf("%s: %v", entry, err)
	}
	return i
}

// ask reads what a contract answers.
func (k *kit) ask(to Felt, entry string, calldata ...Felt) []Felt {
	k.Helper()
	return k.do(Felt{}, to, entry, calldata...).Result
}

// send makes calls as somebody, one after the other, as an account does.
func (k *kit) send(as Felt, calls ...wire.Call) (*Invocation, error) {
	var last *Invocation
	for _, c := range calls {
		var err error
		if last, err = k.try(as, c.To, c.Entry, c.Calldata...); err != nil {
			return last, err
		}
	}
	return last, nil
}

func (k *kit) sent(as Felt, calls ...wire.Call) *Invocation {
	k.Helper()
	return trial.Must(k.send(as, calls...))(k)
}

// reverts demands the reason of the innermost contract.
func reverts(t testing.TB, err error, reason string) {
	t.Helper()
	var p *Panic
	if !errors.As(err, &p) {
		t.Errorf("%v, want a revert with %q", err, reason)
		return
	}
	if want := Fail("%s", reason).Data; len(p.Data) < len(want) || !slices.Equal(p.Data[:len(want)], want) {
		t.Errorf("reverts with %v, want %q", p, reason)
	}
}

// told are the decoded events of the swap contracts.
func (k *kit) told(i *Invocation) (all []wire.Event) {
	k.Helper()
	for _, e := range i.AllEvents() {
		decoded := trial.Must(k.d.DecodeLog(wire.Log{From: e.From, Keys: e.Keys, Data: e.Data}))(k)
		if decoded != nil {
			all = append(all, decoded)
		}
	}
	return all
}

// has is a balance of a token.
func (k *kit) has(token, owner Felt) int64 {
	k.Helper()
	return k.u256(k.ask(token, "balance_of", owner))
}

func (k *kit) u256(answer []Felt) int64 {
	k.Helper()
	r := &reader{rest: answer}
	n := readU256(r)
	if r.failed || len(r.rest) != 0 || !n.IsInt64() {
		k.Fatalf("%v is no small number", answer)
	}
	return n.Int64()
}

// balance is a balance in the escrow manager.
func (k *kit) balance(owner Felt) int64 {
	k.Helper()
	answer := k.ask(k.d.EscrowManager.Address, "get_balance", felts(nil).uint(1).add(owner, coin)...)
	if len(answer) != 3 {
		k.Fatalf("%v is not one balance", answer)
	}
	return k.u256(answer[1:])
}

// later lets time pass.
func (k *kit) later(d time.Duration) {
	k.now = k.now.Add(d)
	k.Produce(1)
}

// clock is the network's in Unix seconds.
func (k *kit) clock() uint64 { return uint64(k.now.Unix()) }

var secret = [32]byte{1, 2, 3}

// deal is an escrow for the hash of the secret, from a wallet to a wallet.
func (k *kit) deal(offerer, claimer Felt) wire.SwapData {
	return wire.SwapData{
		Offerer: offerer, Claimer: claimer, Token: coin, RefundHandler: k.d.RefundHandler, ClaimHandler: k.d.ClaimHandlers[chains.HTLC],
		PayIn: true, PayOut: true, Sequence: 7, ClaimData: wire.ClaimDataHTLC(sha256.Sum256(secret[:])), RefundData: wire.FeltOf(k.clock() + 1000),
		Amount: big.NewInt(50_000), FeeToken: gas, SecurityDeposit: big.NewInt(300), ClaimerBounty: big.NewInt(200),
	}
}

// auth is the authorisation that somebody signs for an escrow.
func (k *kit) auth(s wire.SwapData, signer Felt, timeout int64) chains.Auth {
	k.Helper()
	m := trial.Must(k.n.InitMessage(s, timeout))(k)
	h := trial.Must(m.Hash(signer))(k)
	return chains.Auth{Timeout: timeout, Signature: wire.FormatSignature(k.sign(signer, h))}
}

// initBy is what somebody sends to open an escrow, signed by the other.
func (k *kit) initBy(s wire.SwapData, by Felt) []wire.Call {
	k.Helper()
	signer := s.Offerer
	if by == s.Offerer {
		signer = s.Claimer
	}
	return trial.Must(k.d.Init(s, by, k.auth(s, signer, theFuture)))(k)
}

// state reads the record of an escrow.
func (k *kit) state(s wire.SwapData) wire.EscrowRecord {
	k.Helper()
	hash := trial.Must(s.EscrowHash())(k)
	r := trial.Must(wire.ReadEscrowStates(append([]Felt{wire.FeltOf(1)}, k.ask(k.d.EscrowManager.Address, wire.EntryHashState, hash)...), 1))(k)
	return r[0]
}
