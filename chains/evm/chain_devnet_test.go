package evm_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"log/slog"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/evm"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/tokens"
)

// open starts a local network and opens it as a chain.
func open(t *testing.T) (*devnet.Net, chains.Chain) {
	t.Helper()
	net, err := devnet.Start(devnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { net.Close() })
	n := net.Network()
	f := evm.Custom(evm.Options{RPC: []string{net.URL()}, Network: &n, Tokens: tokens.Known("CITREA")})
	c, err := f.Open(t.Context(), chains.Env{Network: n.Bitcoin, Now: net.Time, Rand: rand.Reader, HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return net, c
}

// sign signs what a plan asks for, as a wallet does.
func sign(t *testing.T, a *devnet.Account, txs []string) []string {
	t.Helper()
	signed := make([]string, len(txs))
	for i, text := range txs {
		p, err := evm.ParseTransaction(text)
		if err != nil {
			t.Fatal(err)
		}
		tx := types.NewTx(&types.DynamicFeeTx{ChainID: p.ChainID, Nonce: p.Nonce, GasTipCap: p.TipCap, GasFeeCap: p.FeeCap, Gas: p.Gas, To: p.To, Value: p.Value, Data: p.Data})
		tx, err = types.SignTx(tx, types.LatestSignerForChainID(p.ChainID), a.Key)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := tx.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		signed[i] = hexutil.Encode(raw)
	}
	return signed
}

// run builds a plan, signs, checks and sends it, and waits for each transaction.
func run(t *testing.T, c chains.Chain, k chains.Contract, plan chains.Plan, a *devnet.Account) []chains.Signed {
	t.Helper()
	u, err := k.Build(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	txs, err := k.Check(plan, sign(t, a, u.Txs))
	if err != nil {
		t.Fatal(err)
	}
	for _, tx := range txs {
		if err := c.Send(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		for range 200 {
			status, err := c.Status(t.Context(), []chains.Signed{tx})
			if err != nil {
				t.Fatal(err)
			}
			if status[0].State == chains.TxConfirmed {
				break
			}
			if status[0].State == chains.TxReverted {
				t.Fatalf("%s reverted", tx.ID)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return txs
}

func TestHTLCFromOpeningToClaim(t *testing.T) {
	net, c := open(t)
	k, _ := c.Contract("v1")
	secret := [32]byte{1, 2, 3}
	spec := chains.Spec{Kind: chains.HTLC, Offerer: net.User.Address.Hex(), Claimer: net.LP.Address.Hex(), Token: evm.Native.Hex(), Amount: big.NewInt(1e15),
		Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256(secret[:])}, Sequence: big.NewInt(7), Expiry: net.Time().Add(5 * 24 * time.Hour).Unix(), PayIn: true}
	e, err := k.Expect(spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := evm.SwapDataOf(e)
	if err != nil {
		t.Fatal(err)
	}
	auth := chains.Auth{Prefix: "claim_initialize", Timeout: net.Time().Add(10 * time.Minute).Unix()}
	digest, err := net.Network().InitDigest(net.Deployment(), s, auth.Timeout)
	if err != nil {
		t.Fatal(err)
	}
	if auth.Signature, err = net.LP.SignDigest(digest); err != nil {
		t.Fatal(err)
	}
	until, err := k.VerifyInit(t.Context(), e, auth, "", spec.Offerer)
	if err != nil || until <= 0 {
		t.Fatalf("authorization refused: %v (usable until %d)", err, until)
	}
	state := func() chains.EscrowFact {
		facts, err := k.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: &e, Auth: &auth}})
		if err != nil {
			t.Fatal(err)
		}
		if facts[0].Err != nil {
			t.Fatal(facts[0].Err)
		}
		return facts[0]
	}
	if f := state(); f.State != chains.EscrowNone || f.Auth != chains.AuthGood || f.Head.Height == 0 {
		t.Fatalf("before: %+v", f)
	}
	run(t, c, k, chains.Plan{SwapID: "a", Signer: spec.Offerer, Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: auth}}}, net.User)
	if f := state(); f.State != chains.EscrowOpen || f.InitTx == "" {
		t.Fatalf("opened: %+v", f)
	}
	found, err := k.Escrows(t.Context(), []chains.EscrowQuery{{ClaimHash: e.ClaimHash, Offerer: spec.Offerer, Claimer: spec.Claimer}})
	if err != nil || found[0].Err != nil || found[0].Escrow == nil || found[0].State != chains.EscrowOpen {
		t.Fatalf("by claim hash: %+v, %v", found, err)
	}
	run(t, c, k, chains.Plan{SwapID: "a", Signer: spec.Claimer, Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret}}}, net.LP)
	f := state()
	if f.State != chains.EscrowClaimed || f.ClaimTx == "" || [32]byte(f.Result) != secret {
		t.Fatalf("claimed: %+v", f)
	}
	n := 0
	for p, err := range c.History(context.Background(), spec.Offerer, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if p.Escrow == nil || p.Fact.State != chains.EscrowClaimed {
			t.Errorf("history: %+v", p)
		}
		n++
	}
	if n != 1 {
		t.Errorf("history has %d swaps, want 1", n)
	}
}
