package verify_test

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"strings"
	"time"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swappertest"
)

// fromBitcoin asks for a swap from Bitcoin.
func (w *world) fromBitcoin(s swapper.Service) *swapper.CreateSwapOutput {
	w.Helper()
	return w.paying(s, 50_000)
}

func (w *world) paying(s swapper.Service, sats int64) *swapper.CreateSwapOutput {
	w.Helper()
	return trial.Must(s.CreateSwap(w.Context(), swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: w.chain + "-WBTC", Amount: big.NewInt(sats), AmountType: swapper.ExactIn, DstAddress: w.net.User.Address(w.chain)}))(w)
}

// throughVault skips the part unless swaps from Bitcoin go through a vault on the chain.
func (w *world) throughVault() *swapper.CreateSwapOutput {
	w.Helper()
	s := w.fromBitcoin(w.service)
	if s.SwapType != swapper.SwapSPVVaultFromBTC {
		w.Skip("there are no vaults here")
	}
	return s
}

// A wallet pays bitcoin through a service that it does not trust, and is paid by a vault.
func paysVaults(w *world) {
	w.throughVault()
	w.service.status = func(out *swapper.GetSwapStatusOutput) { out.Vault = nil } // as of the reference: own nodes show whose output is spent
	v := w.wallet()
	before := w.balance()
	s := w.fromBitcoin(v)
	end := trial.Must(w.net.User.Finish(w.Context(), v, s.SwapID))(w)
	if !end.IsSuccess || end.IsFailed || end.IsExpired {
		w.Errorf("the swap ends as %+v", end.ListSwapOutput)
	}
	if got := before.Sub(w.balance(), before); got.Cmp(s.Quote.OutputAmount.RawAmount) != 0 {
		w.Errorf("received %s, want the agreed %s", got, s.Quote.OutputAmount.RawAmount)
	}
	if len(w.service.taken) != 1 {
		w.Errorf("the service got %d transactions, want one", len(w.service.taken))
	}
}

// A service that falls silent once it has the payment, and no watchtower: the wallet claims
// what the vault owes, through its own nodes.
func claimsFromVaultAlone(w *world) {
	w.throughVault()
	w.net.Misbehave(swappertest.WatchtowerFault{Off: true})
	v := w.wallet()
	before := w.balance()
	s := w.fromBitcoin(v)
	if _, err := w.net.User.FinishUntil(w.Context(), v, s.SwapID, func(*swapper.GetSwapStatusOutput) bool { return len(w.service.taken) > 0 }); err != nil {
		w.Fatal(err)
	}
	w.service.gone = true
	trial.Do(w, w.net.Mine(6))
	if _, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID}); err != nil {
		w.Fatal(err)
	}
	trial.Do(w, w.net.Advance(3*time.Minute))
	end := trial.Must(w.net.User.Finish(w.Context(), v, s.SwapID))(w)
	if !end.IsSuccess {
		w.Errorf("the swap ends as %+v", end.ListSwapOutput)
	}
	if got := before.Sub(w.balance(), before); got.Cmp(s.Quote.OutputAmount.RawAmount) < 0 {
		w.Errorf("received %s, want the agreed %s, and a watchtower's pay", got, s.Quote.OutputAmount.RawAmount)
	}
	if len(w.service.taken) != 1 {
		w.Errorf("the service got %d transactions, want the payment alone", len(w.service.taken))
	}
}

// psbtOf is what an honest service wants signed for a swap, and the vault.
func (w *world) psbtOf(id string) (swapper.RawPSBT, swapper.VaultInfo) {
	w.Helper()
	out := trial.Must(w.service.Service.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: id}))(w)
	if !funds(out) || out.Vault == nil {
		w.Fatalf("the service says %+v", out)
	}
	return out.CurrentAction.(*swapper.SignPSBT).Raw[0], *out.Vault
}

// Each way of a service to steal bitcoin by a transaction that is to be signed, or by the
// vault that it names, none of which reaches the wallet.
func refusesVaults(w *world) {
	w.throughVault()
	mallory := trial.Must(w.net.NewUser())(w)
	create := func(amount int64, to string) (swapper.RawPSBT, swapper.VaultInfo) {
		s := trial.Must(w.service.Service.CreateSwap(w.Context(), swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: w.chain + "-WBTC", Amount: big.NewInt(amount), AmountType: swapper.ExactIn, DstAddress: to}))(w)
		return w.psbtOf(s.SwapID)
	}
	theirs, _ := create(50_000, mallory.Address(w.chain))
	more, _ := create(60_000, w.net.User.Address(w.chain))
	raw := func(change func(*swapper.RawPSBT)) func(*swapper.GetSwapStatusOutput) {
		return func(out *swapper.GetSwapStatusOutput) { change(&out.CurrentAction.(*swapper.SignPSBT).Raw[0]) }
	}
	tx := func(change func(*wire.MsgTx)) func(*swapper.GetSwapStatusOutput) {
		return raw(func(r *swapper.RawPSBT) {
			p := trial.Must(psbt.NewFromRawBytes(hex.NewDecoder(strings.NewReader(r.PSBTHex)), false))(w)
			change(p.UnsignedTx)
			for len(p.Inputs) < len(p.UnsignedTx.TxIn) {
				p.Inputs = append(p.Inputs, psbt.PInput{})
			}
			for len(p.Outputs) < len(p.UnsignedTx.TxOut) {
				p.Outputs = append(p.Outputs, psbt.POutput{})
			}
			p.Outputs = p.Outputs[:len(p.UnsignedTx.TxOut)]
			var b bytes.Buffer
			trial.Do(w, p.Serialize(&b))
			r.PSBTHex = hex.EncodeToString(b.Bytes())
		})
	}
	vault := func(change func(*swapper.VaultInfo)) func(*swapper.GetSwapStatusOutput) {
		return func(out *swapper.GetSwapStatusOutput) { change(out.Vault) }
	}
	for name, lie := range map[string]func(*swapper.GetSwapStatusOutput){
		"the vault pays somebody else":      raw(func(r *swapper.RawPSBT) { *r = theirs }),
		"more is paid":                      raw(func(r *swapper.RawPSBT) { *r = more }),
		"another sequence":                  raw(func(r *swapper.RawPSBT) { r.In1Sequence ^= 1 << 21 }),
		"a fee rate that no miner asks for": raw(func(r *swapper.RawPSBT) { r.FeeRate = 9000 }),
		"no fee rate":                       raw(func(r *swapper.RawPSBT) { r.FeeRate = 0 }),
		"garbage":                           raw(func(r *swapper.RawPSBT) { r.PSBTHex = "70736274ff" }),
		"the provider gets more":            tx(func(tx *wire.MsgTx) { tx.TxOut[2].Value++ }),
		"the vault gets some of it":         tx(func(tx *wire.MsgTx) { tx.TxOut[0].Value++ }),
		"the vault's output goes elsewhere": tx(func(tx *wire.MsgTx) { tx.TxOut[0].PkScript[5] ^= 1 }),
		"the vault pays a unit less":        tx(func(tx *wire.MsgTx) { s := tx.TxOut[1].PkScript; s[len(s)-1]-- }),
		"the vault hears nothing":           tx(func(tx *wire.MsgTx) { tx.TxOut[1].PkScript = []byte{txscript.OP_RETURN} }),
		"another output is spent":           tx(func(tx *wire.MsgTx) { tx.TxIn[0].PreviousOutPoint.Hash[3] ^= 1 }),
		"an input more":                     tx(func(tx *wire.MsgTx) { tx.AddTxIn(&wire.TxIn{Sequence: 1}) }),
		"an output more":                    tx(func(tx *wire.MsgTx) { tx.AddTxOut(wire.NewTxOut(1000, tx.TxOut[2].PkScript)) }),
		"an output less":                    tx(func(tx *wire.MsgTx) { tx.TxOut = tx.TxOut[:2] }),
		"a lock until later":                tx(func(tx *wire.MsgTx) { tx.LockTime = 1_900_000_000 }),
		"another version":                   tx(func(tx *wire.MsgTx) { tx.Version = 3 }),
		"another vault of the provider":     vault(func(v *swapper.VaultInfo) { v.VaultID += "1" }),
		"a vault of somebody else":          vault(func(v *swapper.VaultInfo) { v.Owner = mallory.Address(w.chain) }),
		"a vault that is no number":         vault(func(v *swapper.VaultInfo) { v.VaultID = strings.Repeat("9", 100) }),
		"a vault whose owner is no address": vault(func(v *swapper.VaultInfo) { v.Owner = "?" }),
		"two transactions": func(out *swapper.GetSwapStatusOutput) {
			s := out.CurrentAction.(*swapper.SignPSBT)
			s.Raw = append(s.Raw, s.Raw[0])
		},
		"a transaction with inputs": func(out *swapper.GetSwapStatusOutput) {
			s := out.CurrentAction.(*swapper.SignPSBT)
			s.Raw, s.Funded = nil, []swapper.FundedPSBT{{PSBTHex: s.Raw[0].PSBTHex}}
		},
		"a transaction on another chain": func(out *swapper.GetSwapStatusOutput) { out.CurrentAction.(*swapper.SignPSBT).Chain = "LIGHTNING" },
		"another output is spent, of a vault without a name": func(out *swapper.GetSwapStatusOutput) {
			tx(func(tx *wire.MsgTx) { tx.TxIn[0].PreviousOutPoint.Hash[3] ^= 1 })(out)
			out.Vault = nil
		},
		"the vault without a name pays somebody else": func(out *swapper.GetSwapStatusOutput) {
			out.CurrentAction.(*swapper.SignPSBT).Raw[0], out.Vault = theirs, nil
		},
		"the provider of a vault without a name gets more": func(out *swapper.GetSwapStatusOutput) {
			tx(func(tx *wire.MsgTx) { tx.TxOut[2].Value++ })(out)
			out.Vault = nil
		},
	} {
		v := w.wallet()
		w.service.status = nil
		s := w.fromBitcoin(v)
		w.service.status = lie
		out, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID})
		if !refuses(err) {
			w.Errorf("%s: got %+v, %v, want a refusal", name, out, err)
		}
		w.service.status = nil
		if out, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID}); err != nil || !funds(out) {
			w.Errorf("%s: after the lie the truth is refused: %+v, %v", name, out, err)
		}
	}
	findsVaults(w, mallory)
}

// A service that does not name the vault: it is the one whose output is spent, by what own
// nodes list, and no other is taken for it.
func findsVaults(w *world, mallory *swappertest.User) {
	store := new(storage.Memory)
	v := w.walletOf(w.service, store)
	for _, note := range []string{"", "{", `{"Next":1000000000000,"All":[{"Owner":"` + mallory.Address(w.chain) + `","ID":7}]}`} { // the last misleads: the search begins anew once it has found nothing
		s := w.fromBitcoin(v)
		_, vault := w.psbtOf(s.SwapID)
		name := "verify/vaults/" + w.chain + "/v1"
		_, version, err := store.Note(w.Context(), name)
		if err == nil {
			err = store.SetNote(w.Context(), name, []byte(note), version)
		}
		if err != nil {
			w.Fatal(err)
		}
		w.service.status = func(out *swapper.GetSwapStatusOutput) { out.Vault = nil }
		out, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID})
		if strings.HasPrefix(note, `{"Next"`) {
			if !refuses(err) {
				w.Errorf("no vault that is known: got %+v, %v, want a refusal", out, err)
			}
			out, err = v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID})
		}
		if err != nil || !funds(out) || !strings.Contains(out.CurrentAction.(*swapper.SignPSBT).Description, "the vault "+vault.VaultID+" of "+vault.Owner) {
			w.Errorf("after the note %q: got %+v, %v, want a payment through the vault %+v", note, out, err, vault)
		}
		w.service.status = nil
	}
}

// What a wallet has signed reaches the service only if it pays as agreed, and then as it was
// read.
func refusesSignedVaults(w *world) {
	w.throughVault()
	v := w.wallet()
	s, other := w.fromBitcoin(v), w.paying(v, 60_000)
	sign := func(id string) string {
		w.Helper()
		out := trial.Must(v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: id, BitcoinAddress: w.net.User.Address("BITCOIN"), BitcoinPublicKey: w.net.User.BitcoinPublicKey()}))(w)
		txs := trial.Must(w.net.User.Sign(out.CurrentAction))(w)
		return txs[0]
	}
	submit := func(id string, txs ...string) error {
		_, err := v.SubmitTransaction(w.Context(), swapper.SubmitTransactionInput{SwapID: id, SignedTxs: txs})
		return err
	}
	theirs := sign(other.SwapID)
	if err := submit(s.SwapID, theirs); fault.CodeOf(err) != fault.InvalidInput {
		w.Errorf("before a transaction was verified: got %v", err)
	}
	ours := sign(s.SwapID)
	unsigned, _ := w.psbtOf(s.SwapID)
	for name, txs := range map[string][]string{"another swap's": {theirs}, "two": {ours, theirs}, "unsigned": {unsigned.PSBTHex}, "garbage": {"0x"}} {
		if err := submit(s.SwapID, txs...); err == nil {
			w.Errorf("%s is taken", name)
		}
	}
	if len(w.service.taken) != 0 {
		w.Fatalf("the service got %+v", w.service.taken)
	}
	w.service.lose = true
	for range 2 {
		if err := submit(s.SwapID, ours); err != nil {
			w.Errorf("what was verified: %v", err)
		}
	}
	out, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID})
	if err != nil || !strings.HasPrefix(out.State.Description, "The wallet's own Bitcoin backend does not show the payment.") {
		w.Errorf("a payment that the service keeps back: got %+v, %v", out, err)
	}
}
