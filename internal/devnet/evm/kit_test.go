package evm

import (
	"context"
	"crypto/sha256"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// kit is a network under test. Its helpers fail the test on errors.
type kit struct {
	*testing.T
	*Net
	ctx context.Context
	d   wire.Deployment
}

func newKit(t *testing.T, o Options) kit {
	n := start(t, o)
	return kit{t, n, context.Background(), n.Deployment()}
}

var secret = [32]byte{1, 2, 3} // of all hash locks here

// payIn is what a user opens towards the LP.
func (k kit) payIn(token common.Address, change func(*wire.Terms)) wire.SwapData {
	return k.terms(wire.Terms{
		Kind: chains.HTLC, Offerer: k.User.Address, Claimer: k.LP.Address, Token: token, Amount: big.NewInt(1e9), PayIn: true,
	}, change)
}

// payOut is what an LP offers a user from its balance.
func (k kit) payOut(token common.Address, change func(*wire.Terms)) wire.SwapData {
	return k.terms(wire.Terms{
		Kind: chains.HTLC, Offerer: k.LP.Address, Claimer: k.User.Address, Token: token, Amount: big.NewInt(1e9), PayOut: true,
		SecurityDeposit: big.NewInt(5e6), ClaimerBounty: big.NewInt(2e6),
	}, change)
}

func (k kit) terms(terms wire.Terms, change func(*wire.Terms)) wire.SwapData {
	k.Helper()
	terms.ClaimData = sha256.Sum256(secret[:])
	terms.Sequence = big.NewInt(7)
	terms.Expiry = k.Time().Add(time.Hour).Unix()
	if change != nil {
		change(&terms)
	}
	return trial.Must(k.d.NewSwapData(terms))(k.T)
}

// authorize signs for opening.
func (k kit) authorize(s wire.SwapData, by *Account) chains.Auth {
	k.Helper()
	a := chains.Auth{Prefix: "initialize", Timeout: k.Time().Add(10 * time.Minute).Unix()}
	if s.PayIn {
		a.Prefix = "claim_initialize"
	}
	digest := trial.Must(k.Network().InitDigest(k.d, s, a.Timeout))(k.T)
	a.Signature = trial.Must(by.SignDigest(digest))(k.T)
	return a
}

func (k kit) authorizeRefund(s wire.SwapData, by *Account) chains.Auth {
	k.Helper()
	a := chains.Auth{Prefix: "refund", Timeout: k.Time().Add(10 * time.Minute).Unix()}
	digest := trial.Must(k.Network().RefundDigest(k.d, s, a.Timeout))(k.T)
	a.Signature = trial.Must(by.SignDigest(digest))(k.T)
	return a
}

// open opens an escrow with the other party's authorisation and checks the event.
func (k kit) open(s wire.SwapData, sender *Account) *types.Receipt {
	k.Helper()
	signer := k.LP
	calls := trial.Must(k.d.Init(s, sender.Address, k.authorize(s, signer)))(k.T)
	r := trial.Must(sender.SendAll(k.ctx, calls))(k.T)
	e, isInit := k.events(r)[0].(wire.InitializeEvent)
	if hash := trial.Must(s.EscrowHash())(k.T); !isInit || e.EscrowHash != hash || e.Kind != s.Kind {
		k.Fatalf("event %+v for escrow %s", e, hash)
	}
	k.wantState(s, chains.EscrowOpen)
	return r
}

func (k kit) events(r *types.Receipt) (all []wire.Event) {
	k.Helper()
	for _, l := range r.Logs {
		if e := trial.Must(k.d.DecodeLog(*l))(k.T); e != nil {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		k.Fatal("no event")
	}
	return all
}

func (k kit) state(s wire.SwapData) wire.EscrowRecord {
	k.Helper()
	hash := trial.Must(s.EscrowHash())(k.T)
	data := trial.Must(wire.StateCall([]common.Hash{hash}))(k.T)
	answer := trial.Must(k.Read(k.ctx, k.User.Address, wire.Call{To: k.d.EscrowManager.Address, Data: data}))(k.T)
	return trial.Must(wire.DecodeStates(answer, 1))(k.T)[0]
}

func (k kit) wantState(s wire.SwapData, want chains.EscrowState) {
	k.Helper()
	if got := k.state(s); chains.EscrowState(got.State) != want {
		k.Errorf("escrow state %v, want %v", got.State, want)
	}
}

// balance is what an account has of a token, the native coin included.
func (k kit) balance(of, token common.Address) *big.Int {
	k.Helper()
	if token == Native {
		var wei struct{ *big.Int }
		wei.Int = new(big.Int)
		state, err := k.node.eth.BlockChain().State()
		ok(k.T, err)
		return wei.Set(state.GetBalance(of).ToBig())
	}
	return trial.Must(k.Balance(k.ctx, token, of))(k.T)
}

// inContract is an LP's balance in the contract.
func (k kit) inContract(of, token common.Address) *big.Int {
	k.Helper()
	data := trial.Must(wire.FundsCall(of, token))(k.T)
	answer := trial.Must(k.Read(k.ctx, of, wire.Call{To: k.d.EscrowManager.Address, Data: data}))(k.T)
	return new(big.Int).SetBytes(answer[64:])
}

func (k kit) reputation(token common.Address, kind chains.Kind) chains.Reputation {
	k.Helper()
	data := trial.Must(k.d.ReputationCall(k.LP.Address, token))(k.T)
	answer := trial.Must(k.Read(k.ctx, k.LP.Address, wire.Call{To: k.d.EscrowManager.Address, Data: data}))(k.T)
	return trial.Must(wire.DecodeReputation(answer))(k.T)[kind]
}

// stock puts tokens into the LP's balance.
func (k kit) stock(token common.Address, amount int64) {
	k.Helper()
	ok(k.T, k.Deposit(k.ctx, k.LP, token, big.NewInt(amount)))
}

// gained checks that what changed hands while do ran is as expected; the gas that
// the sender paid must not be among it.
func (k kit) gained(of, token common.Address, want int64, do func()) {
	k.Helper()
	before := k.balance(of, token)
	do()
	if got := new(big.Int).Sub(k.balance(of, token), before); got.Cmp(big.NewInt(want)) != 0 {
		k.Errorf("%s gained %s of %s, want %d", of, got, token, want)
	}
}

// refused checks that a contract refuses calls for a reason, the last of them.
func (k kit) refused(reason string, sender *Account, calls ...wire.Call) {
	k.Helper()
	for i, c := range calls {
		c.Gas = 0 // the reason must not be that the gas ran out
		_, err := sender.Send(k.ctx, c)
		if i < len(calls)-1 {
			ok(k.T, err)
			continue
		}
		if r, isRevert := errors.AsType[*revertError](err); !isRevert || r.Reason != reason {
			k.Errorf("got %v, want %q", err, reason)
		}
	}
}

func (k kit) one(call wire.Call, err error) wire.Call {
	k.Helper()
	ok(k.T, err)
	return call
}
