package solana_test

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	client "github.com/gagliardetto/solana-go/rpc"

	"github.com/gagliardetto/solana-go/programs/system"
	sendandconfirmtransaction "github.com/gagliardetto/solana-go/rpc/sendAndConfirmTransaction"
	"github.com/gagliardetto/solana-go/rpc/ws"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/trial"
)

// TestForeignClient sends SOL with solana-go's own transactions, clients and
// websocket.
func TestForeignClient(t *testing.T) {
	k := newKit(t, bank.Options{})
	socket := trial.Must(ws.Connect(k.ctx, k.server.SocketURL()))(t)
	defer socket.Close()
	latest := trial.Must(k.client.GetLatestBlockhash(k.ctx, client.CommitmentFinalized))(t)
	alice, carol := key("alice"), key("carol").PublicKey()
	tx := trial.Must(solana.NewTransaction([]solana.Instruction{system.NewTransferInstruction(3*sol, alice.PublicKey(), carol).Build()},
		latest.Value.Blockhash, solana.TransactionPayer(alice.PublicKey())))(t)
	if _, err := tx.Sign(func(solana.PublicKey) *solana.PrivateKey { return &alice }); err != nil {
		t.Fatal(err)
	}
	id := trial.Must(sendandconfirmtransaction.SendAndConfirmTransaction(k.ctx, k.client, socket, tx))(t)
	balance, err := k.client.GetBalance(k.ctx, carol, client.CommitmentConfirmed)
	if err != nil || balance.Value != 3*sol {
		t.Fatalf("carol has %v: %v", balance, err)
	}
	got := trial.Must(k.client.GetTransaction(k.ctx, id, &client.GetTransactionOpts{Encoding: solana.EncodingBase64}))(t)
	again, err := got.Transaction.GetTransaction()
	if err != nil || again.Signatures[0] != id || got.Meta.Fee != 5000 {
		t.Fatalf("%+v: %v", got, err)
	}
	history, err := k.client.GetSignaturesForAddress(k.ctx, carol)
	if err != nil || len(history) != 1 || history[0].Signature != id || history[0].ConfirmationStatus != client.ConfirmationStatusFinalized {
		t.Fatalf("%+v: %v", history, err)
	}
	parsed := trial.Must(k.client.GetParsedTransaction(k.ctx, id, nil))(t)
	if ix := parsed.Transaction.Message.Instructions[0]; ix.Program != "system" || ix.Parsed == nil {
		t.Errorf("%+v", ix)
	}
}
