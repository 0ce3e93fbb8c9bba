package mempoolspace_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	btcpsbt "github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	devnet "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// user is a wallet and what it sees of the network.
type user struct {
	*testing.T
	net     *devnet.Net
	keys    *devnet.Wallet
	wallet  btcpsbt.Wallet
	backend *mempoolspace.Client
}

// coins asks the backend for the wallet's coins, with the fee standing of those
// that are not confirmed.
func (u user) coins() []btcpsbt.Coin {
	u.Helper()
	utxos := trial.Must(u.backend.AddressUTXOs(u.Context(), u.wallet.Address()))(u)
	var waiting []bitcoin.Hash
	for _, c := range utxos {
		if c.Height == 0 {
			waiting = append(waiting, c.Hash)
		}
	}
	standing := make(map[bitcoin.Hash]*bitcoin.CPFP)
	for i, r := range u.backend.CPFPs(u.Context(), waiting) {
		if r.Err != nil || r.Value == nil {
			u.Fatalf("%+v", r)
		}
		standing[waiting[i]] = r.Value
	}
	var coins []btcpsbt.Coin
	for _, c := range utxos {
		coins = append(coins, btcpsbt.Coin{OutPoint: c.OutPoint, Value: c.Value, Type: u.wallet.Address().Type(), CPFP: standing[c.Hash]})
	}
	return coins
}

// pay builds a transaction, has it signed, checks it, and sends it.
func (u user) pay(t btcpsbt.Template, coins []btcpsbt.Coin, rate float64) *btcpsbt.SignedTx {
	u.Helper()
	funding := trial.Must(btcpsbt.Fund(t, u.wallet, coins, rate, btcpsbt.Cheapest))(u)
	parents := make(map[bitcoin.Hash]*wire.MsgTx)
	for _, r := range u.backend.Txs(u.Context(), funding.ParentIDs()) {
		if r.Err != nil {
			u.Fatal(r.Err)
		}
		parents[r.Value.ID] = r.Value.Msg
	}
	funded := trial.Must(funding.PSBT(parents))(u)
	packet := trial.Must(psbt.NewFromRawBytes(bytes.NewReader(funded.PSBT), false))(u)
	trial.Do(u, u.keys.SignPSBT(packet, funded.SignInputs...))
	text := trial.Must(packet.B64Encode())(u)
	returned := trial.Must(btcpsbt.Parse(text))(u)
	prevouts := make(map[bitcoin.OutPoint]*wire.TxOut)
	for _, c := range coins {
		prevouts[c.OutPoint] = wire.NewTxOut(c.Value, u.wallet.Address().Script())
	}
	signed := trial.Must(returned.Check(btcpsbt.Agreement{Template: t, Prevouts: prevouts, MaxFeeRate: btcpsbt.QuoteFeeRateCap(rate)}))(u)
	raw := trial.Must(rawtx.Encode(signed.Tx))(u)
	if id, err := u.backend.Broadcast(u.Context(), raw); err != nil || id != signed.ID {
		u.Fatalf("%s, %v", id, err)
	}
	return signed
}

func (u user) mine(count int) {
	u.Helper()
	if _, err := u.net.Mine(count); err != nil {
		u.Fatal(err)
	}
}

func (u user) tx(id bitcoin.Hash) *bitcoin.Tx {
	u.Helper()
	return trial.Must(single.Tx(u.Context(), u.backend, id))(u)
}

// TestEveryWalletPays: from the coins of each address type to a confirmed payment,
// through a reorganisation and a replacement.
func TestEveryWalletPays(t *testing.T) {
	t.Parallel()
	n := start(t, devnet.Options{})
	backend := client(t, mempoolspace.Options{URLs: []string{n.URL()}})
	shop := trial.Must(n.NewWallet(bitcoin.P2TR))(t)
	for _, kind := range []bitcoin.AddressType{bitcoin.P2PKH, bitcoin.P2SH, bitcoin.P2WPKH, bitcoin.P2TR} {
		t.Run(kind.String(), func(t *testing.T) {
			keys := trial.Must(n.NewWallet(kind))(t)
			wallet := trial.Must(btcpsbt.NewWallet(keys.Address, keys.PublicKey()))(t)
			u := user{t, n, keys, wallet, backend}
			if _, err := n.Fund(keys.Address, 60_000); err != nil {
				t.Fatal(err)
			}
			if _, err := n.Faucet(keys.Address, 50_000); err != nil { // stays unconfirmed
				t.Fatal(err)
			}
			u.confirms(shop.Address)
			u.replaces(shop.Address)
		})
	}
}

// confirms pays with a confirmed and an unconfirmed coin and follows the payment.
func (u user) confirms(to bitcoin.Address) {
	u.Helper()
	signed := u.pay(btcpsbt.PaymentTemplate(to.Script(), 100_000), u.coins(), 5)
	if len(signed.Tx.TxIn) != 2 {
		u.Fatalf("%d inputs", len(signed.Tx.TxIn))
	}
	if tx := u.tx(signed.ID); tx.Confirmed() {
		u.Errorf("%+v", tx)
	} else if fee, ok := tx.Fee(); !ok || fee != signed.Fee {
		u.Errorf("pays %d, %v; want %d", fee, ok, signed.Fee)
	}
	standing := trial.Must(single.CPFP(u.Context(), u.backend, signed.ID))(u)
	blocks := trial.Must(u.backend.ProjectedBlocks(u.Context()))(u)
	if eta := swap.ConfirmationDelay(0, 2, standing, blocks).Seconds(); eta != 1200 {
		u.Errorf("two confirmations in %d s", eta)
	}
	u.mine(1)
	tx := u.tx(signed.ID)
	if tx.Confirmations != 1 {
		u.Fatalf("%+v", tx)
	}
	if _, err := u.backend.MerkleProof(u.Context(), signed.ID, tx.BlockHash); err != nil {
		u.Error(err)
	}
	trial.Do(u, u.net.Reorg(1))
	if tx := u.tx(signed.ID); tx.Confirmed() {
		u.Errorf("its block is gone: %+v", tx)
	}
	u.mine(3)
	if again := u.tx(signed.ID); again.Confirmations != 3 || again.BlockHash == tx.BlockHash {
		u.Errorf("%+v", again)
	}
}

// replaces pays, replaces the payment, and sees what becomes of the first one.
func (u user) replaces(to bitcoin.Address) {
	u.Helper()
	if _, err := u.net.Fund(u.keys.Address, 80_000); err != nil {
		u.Fatal(err)
	}
	coins := u.coins()
	template := btcpsbt.PaymentTemplate(to.Script(), 50_000)
	template.Sequence = wire.MaxTxInSequenceNum - 2
	first := u.pay(template, coins, 3)
	second := u.pay(template, coins, 30)
	if _, err := single.Tx(u.Context(), u.backend, first.ID); !errors.Is(err, bitcoin.ErrNotFound) {
		u.Errorf("replaced payment: %v", err)
	}
	prospect := func() swap.Prospect {
		u.Helper()
		var ops []bitcoin.OutPoint
		for _, in := range first.Tx.TxIn {
			ops = append(ops, in.PreviousOutPoint)
		}
		var spends []bitcoin.Spend
		for _, r := range u.backend.Outspends(u.Context(), ops) {
			if r.Err != nil {
				u.Fatal(r.Err)
			}
			spends = append(spends, r.Value)
		}
		return swap.Conflict(first.ID, spends)
	}
	if p := prospect(); p != swap.ProspectContested {
		u.Errorf("prospect of the replaced payment: %s", p)
	}
	u.mine(1)
	if p := prospect(); p != swap.ProspectDead {
		u.Errorf("prospect when the other one is confirmed: %s", p)
	}
	if tx := u.tx(second.ID); tx.Confirmations != 1 {
		u.Errorf("%+v", tx)
	}
}
