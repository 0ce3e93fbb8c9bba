package starknet_test

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/NethermindEth/juno/core/felt"
	"github.com/NethermindEth/starknet.go/account"
	client "github.com/NethermindEth/starknet.go/rpc"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// sdk is a client of another make, with an account of it.
func sdk(t *testing.T, k *kit, of contracts.Key) (*client.Provider, *account.Account) {
	t.Helper()
	p := trial.Must(client.NewProvider(t.Context(), k.server.URL()))(k)
	secret, ok := new(big.Int).SetString(of.Secret()[2:], 16)
	if !ok {
		t.Fatal("the key is no number")
	}
	public, at := of.Public(), of.Address()
	a := trial.Must(account.NewAccount(p, &at, public.String(), account.SetNewMemKeystore(public.String(), secret), account.CairoV2))(k)
	return p, a
}

var latest = client.BlockID{Tag: client.BlockTagLatest}

// TestAccountOfSDK lets the SDK deploy an account, estimate, sign, send, wait and read.
func TestAccountOfSDK(t *testing.T) {
	k := newKit(t, contracts.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, a := sdk(t, k, bob)
	public, class := bob.Public(), bob.Deploy().ClassHash
	deploy, at, err := a.BuildAndEstimateDeployAccountTxn(ctx, &public, &class, []*felt.Felt{&public}, nil)
	k.must(err)
	if *at != bob.Address() {
		t.Fatalf("the SDK deploys %s", at)
	}
	sent := trial.Must(p.AddDeployAccountTransaction(ctx, deploy))(k)
	receipt := trial.Must(a.WaitForTransactionReceipt(ctx, sent.Hash, 10*time.Millisecond))(k)
	if receipt.ExecutionStatus != client.TxnExecutionStatusSUCCEEDED || *receipt.ContractAddress != *at {
		t.Fatalf("receipt %+v", receipt)
	}
	to := alice.Address()
	invoke := trial.Must(a.BuildAndSendInvokeTxn(ctx, []client.InvokeFunctionCall{{ContractAddress: &wire.STRK, FunctionName: "transfer",
		CallData: []*felt.Felt{&to, new(felt.Felt).SetUint64(9), new(felt.Felt)}}}, nil))(k)
	receipt = trial.Must(a.WaitForTransactionReceipt(ctx, invoke.Hash, 10*time.Millisecond))(k)
	if receipt.ExecutionStatus != client.TxnExecutionStatusSUCCEEDED || len(receipt.Events) != 2 || receipt.ActualFee.Unit != client.UnitFri {
		t.Fatalf("receipt %+v", receipt)
	}
	nonce, err := a.Nonce(ctx)
	if err != nil || *nonce != wire.FeltOf(2) {
		t.Fatalf("nonce %s: %v", nonce, err)
	}
	_, err = a.BuildAndSendInvokeTxn(ctx, []client.InvokeFunctionCall{{ContractAddress: &wire.STRK, FunctionName: "transfer",
		CallData: []*felt.Felt{&to, new(felt.Felt), new(felt.Felt).SetUint64(1)}}}, nil)
	if e := (*client.RPCError)(nil); !errors.As(err, &e) || e.Code != 41 {
		t.Fatalf("the estimate of a transfer that fails: %v", err)
	}
}

// TestReadsOfSDK asks for everything that the SDK has a type for.
func TestReadsOfSDK(t *testing.T) {
	k := newKit(t, contracts.Options{L1Lag: 1, Manual: true})
	ctx := t.Context()
	p, _ := sdk(t, k, alice)
	good := k.send(k.transfer(0, big.NewInt(5)))
	k.chain.Produce(1)
	bad := k.send(k.transfer(1, strk(100_000)))
	open := client.BlockID{Tag: client.BlockTagPreConfirmed}

	id, err := p.ChainID(ctx)
	if err != nil || id != wire.Sepolia {
		t.Errorf("chain id %s: %v", id, err)
	}
	number, err := p.BlockNumber(ctx)
	if err != nil || number != 3 {
		t.Errorf("block number %d: %v", number, err)
	}
	both, err := p.BlockHashAndNumber(ctx)
	if err != nil || both.Number != 3 || *both.Hash != k.chain.Head().Hash {
		t.Errorf("head %+v: %v", both, err)
	}
	if s, err := p.Syncing(ctx); err != nil || s.IsSyncing {
		t.Errorf("syncing %+v: %v", s, err)
	}
	block, err := p.BlockWithTxHashes(ctx, latest)
	if b, ok := block.(*client.BlockTxHashes); err != nil || !ok || *b.Transactions[0] != good || b.Status != client.BlockStatusAcceptedOnL2 {
		t.Errorf("block %+v: %v", block, err)
	}
	block, err = p.BlockWithTxHashes(ctx, open)
	if b, ok := block.(*client.PreConfirmedBlockTxHashes); err != nil || !ok || *b.Transactions[0] != bad || b.Number != 4 {
		t.Errorf("open block %+v: %v", block, err)
	}
	block, err = p.BlockWithTxs(ctx, client.BlockID{Tag: client.BlockTagL1Accepted})
	if b, ok := block.(*client.Block); err != nil || !ok || b.Number != 2 || b.Status != client.BlockStatusAcceptedOnL1 {
		t.Errorf("block on L1 %+v: %v", block, err)
	}
	block, err = p.BlockWithReceipts(ctx, open)
	if b, ok := block.(*client.PreConfirmedBlockWithReceipts); err != nil || !ok || b.Transactions[0].Receipt.RevertReason == "" {
		t.Errorf("open block with receipts %+v: %v", block, err)
	}
	if n, err := p.BlockTransactionCount(ctx, latest); err != nil || n != 1 {
		t.Errorf("%d transactions: %v", n, err)
	}
	update, err := p.StateUpdate(ctx, latest)
	if err != nil || len(update.StateDiff.Nonces) != 1 || len(update.StateDiff.StorageDiffs) != 1 {
		t.Errorf("state update %+v: %v", update, err)
	}
	tx, err := p.TransactionByHash(ctx, &good)
	if err != nil || *tx.Hash != good {
		t.Errorf("transaction %+v: %v", tx, err)
	}
	if tx, err = p.TransactionByBlockIDAndIndex(ctx, open, 0); err != nil || *tx.Hash != bad {
		t.Errorf("transaction %+v: %v", tx, err)
	}
	status, err := p.TransactionStatus(ctx, &bad)
	if err != nil || status.FinalityStatus != client.TxnStatusPreConfirmed || status.ExecutionStatus != client.TxnExecutionStatusREVERTED || status.FailureReason == "" {
		t.Errorf("status %+v: %v", status, err)
	}
	trace, err := p.TraceTransaction(ctx, &good)
	if invoke, ok := trace.(client.InvokeTxnTrace); err != nil || !ok || len(invoke.ExecuteInvocation.NestedCalls) != 1 {
		t.Errorf("trace %+v: %v", trace, err)
	}
	if traces, err := p.TraceBlockTransactions(ctx, latest); err != nil || len(traces) != 1 {
		t.Errorf("traces %+v: %v", traces, err)
	}
	at := alice.Address()
	if class, err := p.ClassAt(ctx, latest, &at); err != nil {
		t.Errorf("class %+v: %v", class, err)
	}
	if hash, err := p.ClassHashAt(ctx, latest, &at); err != nil || *hash != wire.ClassOpenZeppelin {
		t.Errorf("class hash %s: %v", hash, err)
	}
	if v, err := p.StorageAt(ctx, &at, "Account_public_key", latest); err != nil || wire.MustFelt(v) != alice.Public() {
		t.Errorf("storage %s: %v", v, err)
	}
	events, err := p.Events(ctx, client.EventsInput{EventFilter: client.EventFilter{FromBlock: latest, ToBlock: open, Address: &wire.STRK},
		ResultPageRequest: client.ResultPageRequest{ChunkSize: 2}})
	if err != nil || len(events.Events) != 2 || events.ContinuationToken == "" {
		t.Errorf("events %+v: %v", events, err)
	}
	answer, err := p.Call(ctx, client.FunctionCall{ContractAddress: &wire.STRK, EntryPointSelector: selector("balance_of"), Calldata: []*felt.Felt{&at}}, open)
	if err != nil || len(answer) != 2 {
		t.Errorf("call %v: %v", answer, err)
	}
}

func selector(name string) *felt.Felt {
	s := wire.Selector(name)
	return &s
}
