package evm

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// Escrow hash and EIP-712 digest are the contract's for whatever stands in an
// escrow: it accepts the signature and stores the state under the hash.
func TestHashesAgree(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	k.stock(Native, 1e18)
	tokens := []common.Address{Native, k.Contracts().Token, k.Contracts().Dollar}
	for _, token := range tokens[1:] {
		k.stock(token, 1e18)
		approve := k.one(CallOf("TestToken", token, "approve", k.d.EscrowManager.Address, Coins(1e9)))
		trial.Must(k.User.Send(k.ctx, approve))(t)
	}
	escrows := int64(0)
	rapid.Check(t, func(r *rapid.T) {
		escrows++
		address := func(name string) (a common.Address) {
			copy(a[:], rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(r, name))
			return a
		}
		word := func(name string, size int) (h common.Hash) {
			copy(h[32-size:], rapid.SliceOfN(rapid.Byte(), size, size).Draw(r, name))
			return h
		}
		amount := func(name string) *big.Int { return big.NewInt(rapid.Int64Range(0, 1e6).Draw(r, name)) } // the user has 21e8 of a token
		s := wire.SwapData{
			Offerer: k.LP.Address, Claimer: k.User.Address, Token: rapid.SampledFrom(tokens).Draw(r, "token"), Amount: amount("amount"),
			PayOut: rapid.Bool().Draw(r, "pay out"), Reputation: rapid.Bool().Draw(r, "reputation"), Sequence: new(big.Int).Add(new(big.Int).Lsh(word("sequence", 16).Big(), 64), big.NewInt(escrows)), // each escrow once
			ClaimHandler: address("claim handler"), ClaimData: word("claim data", 32),
			RefundHandler: address("refund handler"), RefundData: word("refund data", 32),
			SecurityDeposit: amount("deposit"), ClaimerBounty: amount("bounty"), DepositToken: rapid.SampledFrom(tokens).Draw(r, "deposit token"),
			SuccessAction: word("action", 32), ExtraData: rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(r, "extra"),
		}
		if rapid.Bool().Draw(r, "pay in") {
			s.Offerer, s.Claimer = s.Claimer, s.Offerer
			s.PayIn = true
		}
		calls := trial.Must(k.d.Init(s, k.User.Address, k.authorize(s, k.LP)))(t)
		init := calls[len(calls)-1]
		init.Gas = 0
		receipt, err := k.User.Send(k.ctx, init)
		if err != nil {
			r.Fatal(err)
		}
		hash := trial.Must(s.EscrowHash())(t)
		if got := receipt.Logs[len(receipt.Logs)-1].Topics[3]; got != hash {
			r.Fatalf("the contract's hash is %s, the client's %s", got, hash)
		}
		answer := trial.Must(k.Read(k.ctx, k.User.Address, k.one(CallOf("EscrowManager", k.d.EscrowManager.Address, "getState", tupleOf(s)))))(t)
		if got := new(big.Int).SetBytes(answer[64:]); got.Int64() != int64(chains.EscrowOpen) {
			r.Fatalf("state %s", got)
		}
		// The claimer's authorisation to refund stands on the same hash.
		if s.PayIn {
			back := k.one(k.d.RefundAuthorized(s, k.authorizeRefund(s, k.LP)))
			back.Gas = 0
			if _, err := k.User.Send(k.ctx, back); err != nil {
				r.Fatal(err)
			}
		}
	})
}
