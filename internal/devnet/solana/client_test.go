package solana_test

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	client "github.com/gagliardetto/solana-go/rpc"

	"github.com/gagliardetto/solana-go/programs/system"
	sendandconfirmtransaction "github.com/gagliardetto/solana-go/rpc/sendAndConfirmTransaction"
	"github.com/gagliardetto/solana-go/rpc/ws"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
)

// TestForeignClient sends SOL with solana-go's own transactions, clients and
// websocket.
func TestForeignClient(t *testing.T) {
	k := newKit(t, bank.Options{})
	socket, err := ws.Connect(k.ctx, k.server.SocketURL())
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	latest, err := k.client.GetLatestBlockhash(k.ctx, client.CommitmentFinalized)
	if err != nil {
		t.Fatal(err)
	}
	alice, carol := key("alice"), key("carol").PublicKey()
	tx, err := solana.NewTransaction([]solana.Instruction{system.NewTransferInstruction(3*sol, alice.PublicKey(), carol).Build()},
		latest.Value.Blockhash, solana.TransactionPayer(alice.PublicKey()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Sign(func(solana.PublicKey) *solana.PrivateKey { return &alice }); err != nil {
		t.Fatal(err)
	}
	id, err := sendandconfirmtransaction.SendAndConfirmTransaction(k.ctx, k.client, socket, tx)
	if err != nil {
		t.Fatal(err)
	}
	balance, err := k.client.GetBalance(k.ctx, carol, client.CommitmentConfirmed)
	if err != nil || balance.Value != 3*sol {
		t.Fatalf("carol has %v: %v", balance, err)
	}
	got, err := k.client.GetTransaction(k.ctx, id, &client.GetTransactionOpts{Encoding: solana.EncodingBase64})
	if err != nil {
		t.Fatal(err)
	}
	again, err := got.Transaction.GetTransaction()
	if err != nil || again.Signatures[0] != id || got.Meta.Fee != 5000 {
		t.Fatalf("%+v: %v", got, err)
	}
	history, err := k.client.GetSignaturesForAddress(k.ctx, carol)
	if err != nil || len(history) != 1 || history[0].Signature != id || history[0].ConfirmationStatus != client.ConfirmationStatusFinalized {
		t.Fatalf("%+v: %v", history, err)
	}
	parsed, err := k.client.GetParsedTransaction(k.ctx, id, nil)
	if err != nil {
		t.Fatal(err)
	}
	if ix := parsed.Transaction.Message.Instructions[0]; ix.Program != "system" || ix.Parsed == nil {
		t.Errorf("%+v", ix)
	}
}
