package chaintest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/trial"
)

// trips counts the requests of a call. What is asked side by side may meet on its way to a
// node and go out as one, so that there may be fewer, but not none.
func (k *kit) trips(name string, want int, call func() error) {
	k.Helper()
	k.net.Requests()
	err := call()
	if got := k.net.Requests(); err != nil || got > want || got < min(want, 1) {
		k.Errorf("%s: %d requests, want %d: %v", name, got, want, err)
	}
}

func testTrips(k *kit) {
	c, f, ctx := k.chain, k.facts.Trips, k.Context()
	k.trips("Heads", f.Heads, func() error { _, err := c.Heads(ctx); return err })
	k.trips("Balance", f.Balance, func() error { _, err := c.Balance(ctx, k.user.Address(), k.facts.Token); return err })
	k.trips("FeeRate", f.FeeRate, func() error { _, err := c.FeeRate(ctx); return err })
	k.trips("Liquidity", f.Liquidity, func() error { _, err := k.k.Liquidity(ctx, k.lp.Address(), k.facts.Token); return err })
	cost := chains.Cost{Kind: chains.StepInit, Token: k.facts.Token}
	k.trips("Estimate", f.Estimate, func() error { _, err := k.k.Estimate(ctx, cost, ""); return err })
	rate := trial.Must(c.FeeRate(ctx))(k)
	k.trips("Estimate at a rate", f.EstimateAtRate, func() error { _, err := k.k.Estimate(ctx, cost, rate); return err })
	k.escrowTrips(f)
	k.proofTrips(f)
	stranger := k.net.Account(k.T)
	k.trips("History", f.History, func() error {
		for _, err := range c.History(ctx, stranger.Address(), 0) {
			return err
		}
		return nil
	})
	k.vaultTrips(f)
	k.trips("Hints", f.Hints, func() error {
		seen := errors.New("seen")
		if err := c.Hints(ctx, nil, func([]chains.Hint, chains.Cursor) error { return seen }); !errors.Is(err, seen) {
			return err
		}
		return nil
	})
}

// escrowTrips follows an escrow from its authorisation until nothing can change it.
func (k *kit) escrowTrips(f Trips) {
	c, ctx := k.chain, k.Context()
	s := secret(150)
	e := k.expect(k.payOut(lock(s), k.facts.Token))
	auth, rate := k.authorize(e)
	k.trips("VerifyInit", f.VerifyInit, func() error { _, err := k.k.VerifyInit(ctx, e, auth, rate, k.user.Address()); return err })
	in := k.expect(k.payIn(lock(s), k.facts.Token))
	refund := k.lp.AuthorizeRefund(k.T, in, k.net.Time().Add(10*time.Minute))
	k.trips("VerifyRefund", f.VerifyRefund, func() error { return k.k.VerifyRefund(ctx, in, refund) })
	signature := k.lp.SignData(k.T, []byte("x"))
	k.trips("VerifyData", f.VerifyData, func() error { return c.VerifyData(ctx, k.lp.Address(), []byte("x"), signature) })

	escrows := func(n int) func() error {
		return func() error {
			queries := make([]chains.EscrowQuery, n)
			for i := range queries {
				other := e
				if i > 0 {
					other.Hash = append([]byte{byte(i), byte(i >> 8)}, e.Hash[2:]...)
				}
				queries[i] = chains.EscrowQuery{Escrow: &other}
			}
			facts, err := k.k.Escrows(ctx, queries)
			for _, f := range facts {
				if err == nil {
					err = f.Err
				}
			}
			return err
		}
	}
	search := chains.EscrowQuery{ClaimHash: e.ClaimHash, Offerer: e.Offerer, Claimer: e.Claimer}
	bySearch := func() error { _, err := k.k.Escrows(ctx, []chains.EscrowQuery{search}); return err }
	k.trips("Escrows, never opened", f.Escrows, escrows(1))
	k.trips("600 Escrows, never opened", f.EscrowsManyNone, escrows(600))
	k.trips("Escrows, searched in vain", f.Search, bySearch)
	plan := chains.Plan{SwapID: "trips", Signer: k.user.Address(), FeeRate: rate, Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: auth}}}
	var built chains.Unsigned
	k.trips("Build", f.Build, func() (err error) { built, err = k.k.Build(ctx, plan); return err })
	signed := k.user.Sign(k.T, built)
	var txs []chains.Signed
	k.trips("Check", f.Check, func() (err error) { txs, err = k.k.Check(plan, signed); return err })
	k.trips("Admit", f.Admit, func() error { return k.k.Admit(ctx, plan, txs) })
	for _, tx := range txs {
		k.trips("Send", f.Send, func() error { return c.Send(ctx, tx) })
		k.settle(tx, chains.TxConfirmed)
	}
	k.trips("Status", f.Status, func() error { _, err := c.Status(ctx, txs); return err })
	k.trips("Escrows, opened", f.EscrowsOpened, escrows(1))
	k.trips("Escrows, opened, again", f.EscrowsAgain, escrows(1))
	k.net.Mine(k.T, 80) // deep enough that nothing can change it
	k.trips("Escrows, deep, again", f.EscrowsAgain, escrows(1))
	k.trips("Escrows, searched and found", f.SearchFound, bySearch)
	if r, ok := k.k.(chains.PublicReader); ok {
		k.shown(r)
	}
}

func (k *kit) proofTrips(f Trips) {
	c := chains.Condition{Kind: chains.Onchain, Script: script(90), Sats: sats, Confirmations: 1}
	op := k.net.PayBitcoin(k.T, c.Script, sats, 0)
	k.net.SyncRelay(k.T)
	e := k.expect(k.payOut(c, k.facts.Token))
	k.open(e)
	plan := chains.Plan{SwapID: "proof", Signer: k.user.Address(), Steps: []chains.Step{{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: k.payment(op, c)}}}
	build := func() error { _, err := k.k.Build(k.Context(), plan); return err }
	k.trips("Build with a proof", f.BuildProof, build)
	k.trips("Build with a proof again", f.BuildProofAgain, build)
	op = k.net.PayBitcoin(k.T, c.Script, sats, 0)
	plan.Steps[0].Payment = k.payment(op, c)
	k.trips("Build with a proof, relay behind", f.BuildProofBehind, build)
}

// vaultProofTrips counts what it takes to claim two withdrawals from a vault with
// parameters that were seen before.
func (k *kit) vaultProofTrips(net VaultNet, v chains.VaultContract, id chains.VaultID, f Trips) {
	var last bitcoin.Hash
	for range 2 {
		data := trial.Must(v.WithdrawalData(k.user.Address(), [2]uint64{1000, 0}))(k)
		last = net.Withdraw(k.T, id, data, bitcoin.FeeShares{})
		k.net.MineBitcoin(k.T, 1)
	}
	k.net.SyncRelay(k.T)
	plan := chains.Plan{SwapID: "vault", Signer: k.user.Address(), Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: id.Owner, ID: id.ID, TxID: last}}}}
	build := func() error { _, err := k.k.Build(k.Context(), plan); return err }
	k.trips("Build vault claims", f.BuildVault, build)
	k.trips("Build vault claims again", f.BuildVaultAgain, build)
}

func (k *kit) vaultTrips(f Trips) {
	net, ok := k.net.(VaultNet)
	if !ok {
		return
	}
	_, v := k.vaultKit()
	id := net.OpenVault(k.T, [2]uint64{1_000_000, 0}, 1)
	read := func() error { _, err := v.Vaults(k.Context(), []chains.VaultID{id}); return err }
	k.trips("Vaults", f.Vaults, read)
	k.trips("Vaults again", f.VaultsAgain, read)
	q := chains.WithdrawalQuery{Vault: id, Recipient: k.user.Address(), TxID: bitcoin.Hash{1}}
	k.trips("Withdrawals", f.Withdrawals, func() error { _, err := v.Withdrawals(k.Context(), []chains.WithdrawalQuery{q}); return err })
	data := trial.Must(v.WithdrawalData(k.user.Address(), [2]uint64{1000, 0}))(k)
	tx := trial.Must(single.Tx(k.Context(), k.net.Backend(), net.Withdraw(k.T, id, data, bitcoin.FeeShares{})))(k)
	stripped := trial.Must(rawtx.Strip(tx.Msg))(k)
	k.trips("DryRun", f.DryRun, func() error { return v.DryRun(k.Context(), [][]byte{stripped}) })
	k.trips("RelayTip", f.RelayTip, func() error { _, err := v.RelayTip(k.Context()); return err })
	k.vaultProofTrips(net, v, net.OpenVault(k.T, [2]uint64{1_000_000, 0}, 1), f)
}

// exercise calls everything that asks a node.
func (k *kit) exercise(n int64) {
	k.Helper()
	heads := trial.Must(k.chain.Heads(k.Context()))(k)
	if heads.Latest.Height == 0 || heads.Final.Height > heads.Latest.Height {
		k.Errorf("heads %+v", heads)
	}
	user, e, plan := k.opening(n)
	tx := k.prepare(user, plan)[0]
	k.must(k.chain.Send(k.Context(), tx))
	k.settle(tx, chains.TxConfirmed)
	k.eventually("the escrow to be seen", func() bool { return k.fact(chains.EscrowQuery{Escrow: &e}).State == chains.EscrowOpen })
	q := chains.EscrowQuery{ClaimHash: e.ClaimHash, Offerer: e.Offerer, Claimer: e.Claimer, From: heads.Latest.Height}
	if f := k.fact(q); f.Escrow == nil {
		k.Error("the escrow is not found by its claim hash")
	}
	if k.balance(user.Address(), k.facts.Token).Sign() <= 0 || k.liquidity(k.facts.Token).Sign() <= 0 {
		k.Error("no balance")
	}
}

func testOneBadNode(k *kit) {
	for i, trouble := range []Trouble{{Down: true}, {Slow: true}, {Garbage: true}, {WrongNetwork: true}, {Limited: true}, {Failing: true}, {Behind: true}, {Unbatched: true}} {
		k.net.Advance(k.T, 3*time.Minute) // what was wrong before is forgotten
		k.net.Misbehave(k.T, 0, trouble)
		began := time.Now()
		k.exercise(int64(200 + i))
		if took := time.Since(began); took > 40*time.Second {
			k.Errorf("%s: took %v", trouble, took)
		}
		k.net.Misbehave(k.T, 0, Trouble{})
		k.exercise(int64(300 + i))
	}
	// The node that was good goes bad while the other has recovered.
	k.net.Misbehave(k.T, 0, Trouble{Down: true})
	k.exercise(400)
	k.net.Misbehave(k.T, 0, Trouble{})
	k.net.Misbehave(k.T, 1, Trouble{Down: true})
	k.exercise(401)
}

// headsWithin asks for the heads, which must not take much longer than its patience.
func (k *kit) headsWithin(patience time.Duration) error {
	ctx, cancel := context.WithTimeout(k.Context(), patience)
	defer cancel()
	began := time.Now()
	_, err := k.chain.Heads(ctx)
	if took := time.Since(began); took > patience+17*time.Second {
		k.Fatalf("heads without a node after %v: %v", took, err)
	}
	return err
}

func testNoGoodNode(k *kit) {
	k.net.Misbehave(k.T, 0, Trouble{Garbage: true})
	k.net.Misbehave(k.T, 1, Trouble{WrongNetwork: true})
	for patience := 500 * time.Millisecond; ; patience *= 2 { // on a busy machine a node may not have answered yet
		err := k.headsWithin(patience)
		if err == nil {
			k.Fatal("heads without a node")
		}
		silent := slices.DeleteFunc([]int{0, 1}, func(node int) bool { return strings.Contains(err.Error(), k.net.NodeName(node)) })
		if len(silent) == 0 {
			break
		}
		if patience > 20*time.Second {
			k.Fatalf("the error says nothing of nodes %v: %v", silent, err)
		}
	}
	gone, stop := context.WithCancel(k.Context())
	stop()
	if _, err := k.chain.Heads(gone); err == nil {
		k.Error("an answer after the end of the context")
	}
}

// testConcurrency uses one chain from many goroutines.
func testConcurrency(k *kit) {
	e := k.expect(k.payOut(lock(secret(160)), k.facts.Token))
	auth, rate := k.authorize(e)
	plan := chains.Plan{SwapID: "many", Signer: k.user.Address(), FeeRate: rate, Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: auth}}}
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if _, err := k.k.Build(k.Context(), plan); err != nil {
				k.Error(err)
			}
			if _, err := k.k.Escrows(k.Context(), []chains.EscrowQuery{{Escrow: &e}, {ClaimHash: e.ClaimHash, Offerer: e.Offerer, Claimer: e.Claimer}}); err != nil {
				k.Error(err)
			}
			if _, err := k.chain.FeeRate(k.Context()); err != nil {
				k.Error(err)
			}
			if _, err := k.k.VerifyInit(k.Context(), e, auth, rate, k.user.Address()); err != nil {
				k.Error(err)
			}
		})
	}
	wait.Wait()
}

// shown reads an open escrow back from what a service shows of it, and asks about it in one
// round trip, since it was opened lately.
func (k *kit) shown(r chains.PublicReader) {
	k.Helper()
	heads := trial.Must(k.chain.Heads(k.Context()))(k)
	e := k.expect(k.payOut(lock(secret(151)), k.facts.Token))
	opening := k.open(e)
	text := trial.Must(k.k.Public(e))(k)
	got := trial.Must(r.ReadPublic(text))(k)
	if string(got.Hash) != string(e.Hash) || string(got.ClaimHash) != string(e.ClaimHash) || got.Version != e.Version || got.Kind != e.Kind || got.Claimer != e.Claimer {
		k.Errorf("%s is read back as %+v, want %+v", text, got, e)
	}
	var f chains.EscrowFact
	k.trips("Escrows, opened lately", 1, func() error {
		facts, err := k.k.Escrows(k.Context(), []chains.EscrowQuery{{Escrow: &got, From: heads.Latest.Height}})
		if err == nil {
			f = facts[0]
		}
		return err
	})
	if f.Err != nil || f.State != chains.EscrowOpen || f.InitTx != opening[len(opening)-1].ID || f.Opened.Height <= heads.Latest.Height || f.Opened.Hash == "" {
		k.Errorf("opened lately: %+v", f)
	}
	for _, bad := range []string{``, `{}`, `[]`, strings.Replace(string(text), `"0x`, `"1x`, 1)} {
		if e, err := r.ReadPublic(json.RawMessage(bad)); fault.CodeOf(err) != fault.InvalidInput {
			k.Errorf("%s is read as %+v, %v", bad, e, err)
		}
	}
}
