package chainio

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"math/big"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	btcpsbt "github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

var errSilent = errors.New("no answer")

// ledger is a Bitcoin backend with some transactions. What it is told not to answer
// is an error.
type ledger struct {
	bitcoin.Backend
	txs    map[bitcoin.Hash]*bitcoin.Tx
	utxos  []bitcoin.UTXO
	rates  bitcoin.FeeRates
	cpfp   map[bitcoin.Hash]*bitcoin.CPFP
	blocks []bitcoin.ProjectedBlock
	spent  bitcoin.SpendState // of all outputs, or of those of one transaction
	only   bitcoin.Hash       // that transaction; zero: all
	silent map[string]bool
}

func (l *ledger) Network() bitcoin.Network { return bitcoin.Mainnet }

func (l *ledger) err(question string) error {
	if l.silent[question] {
		return errSilent
	}
	return nil
}

func (l *ledger) Txs(_ context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.Tx] {
	out := make([]bitcoin.Result[*bitcoin.Tx], len(ids))
	for i, id := range ids {
		out[i].Value, out[i].Err = l.txs[id], l.err("txs")
		if out[i].Value == nil && out[i].Err == nil {
			out[i].Err = bitcoin.ErrNotFound
		}
		if out[i].Err != nil {
			out[i].Value = nil
		}
	}
	return out
}

func (l *ledger) AddressUTXOs(context.Context, bitcoin.Address) ([]bitcoin.UTXO, error) {
	return l.utxos, l.err("utxos")
}

func (l *ledger) FeeRates(context.Context) (bitcoin.FeeRates, error) {
	return l.rates, l.err("rates")
}

func (l *ledger) CPFPs(_ context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.CPFP] {
	out := make([]bitcoin.Result[*bitcoin.CPFP], len(ids))
	for i, id := range ids {
		out[i].Value, out[i].Err = l.cpfp[id], l.err("cpfp")
	}
	return out
}

func (l *ledger) ProjectedBlocks(context.Context) ([]bitcoin.ProjectedBlock, error) {
	return l.blocks, l.err("blocks")
}

func (l *ledger) Outspends(_ context.Context, ops []bitcoin.OutPoint) []bitcoin.Result[bitcoin.Spend] {
	out := make([]bitcoin.Result[bitcoin.Spend], len(ops))
	for i := range ops {
		out[i].Value, out[i].Err = bitcoin.Spend{State: l.spent}, l.err("spends")
		if l.only != (bitcoin.Hash{}) && ops[i].Hash != l.only {
			out[i].Value.State = bitcoin.Unspent
		}
	}
	return out
}

// pay puts a confirmed transaction with these outputs into the ledger.
func (l *ledger) pay(outs ...*wire.TxOut) *bitcoin.Tx {
	msg := wire.NewMsgTx(2)
	msg.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: uint32(len(l.txs))}, Witness: wire.TxWitness{{1}}})
	msg.TxOut = outs
	tx := &bitcoin.Tx{ID: msg.TxHash(), Msg: msg, Confirmations: 6, Height: 100, BlockHash: bitcoin.Hash{1}}
	l.txs[tx.ID] = tx
	return tx
}

// book is a chain with one contract set; with vaults, if vaults is set.
type book struct {
	chains.Chain
	contract chains.Contract
}

func (b *book) Contract(version string) (chains.Contract, bool) {
	return b.contract, version == "" || version == "v1"
}

// plain is a contract set without vaults, which remembers what it was asked to
// build and check.
type plain struct {
	chains.Contract
	asked                        chains.Plan
	buildErr, checkErr, admitErr error
}

func (*plain) Version() string { return "v1" }

func (k *plain) Build(_ context.Context, p chains.Plan) (chains.Unsigned, error) {
	k.asked = p
	return chains.Unsigned{Txs: []string{"unsigned"}, Signer: p.Signer}, k.buildErr
}

func (k *plain) Check(p chains.Plan, signed []string) ([]chains.Signed, error) {
	k.asked = p
	var out []chains.Signed
	for _, s := range signed {
		out = append(out, chains.Signed{ID: "id of " + s})
	}
	return out, k.checkErr
}

func (k *plain) Admit(context.Context, chains.Plan, []chains.Signed) error { return k.admitErr }

func (k *plain) IDs(signed []string) ([]string, error) {
	var ids []string
	for _, s := range signed {
		if s == "rubbish" {
			return nil, errors.New("not a transaction")
		}
		ids = append(ids, "id of "+s)
	}
	return ids, nil
}

// vaults is a contract set with one vault.
type vaults struct {
	plain
	chains.VaultContract
	vault             chains.Vault
	dataErr, parseErr error
	vaultErr, dryErr  error
	total             uint64 // of token 0 that a withdrawal takes
	dry               int    // transactions that were parsed on trial
}

func (*vaults) Version() string { return "v1" }

func (k *vaults) Build(ctx context.Context, p chains.Plan) (chains.Unsigned, error) {
	return k.plain.Build(ctx, p)
}
func (k *vaults) IDs(signed []string) ([]string, error) { return k.plain.IDs(signed) }
func (k *vaults) Check(p chains.Plan, s []string) ([]chains.Signed, error) {
	return k.plain.Check(p, s)
}
func (k *vaults) Admit(context.Context, chains.Plan, []chains.Signed) error { return k.admitErr }
func (k *vaults) Escrows(context.Context, []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	return nil, errSilent
}
func (k *vaults) Withdrawals(context.Context, []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error) {
	return nil, errSilent
}

func (k *vaults) WithdrawalData(string, [2]uint64) ([]byte, error) {
	return make([]byte, 28), k.dataErr
}

func (k *vaults) ParseWithdrawal(tx *wire.MsgTx) (chains.Withdrawal, error) {
	w := chains.Withdrawal{Withdrawal: bitcoin.Withdrawal{TxID: tx.TxHash(), Vault: tx.TxIn[0].PreviousOutPoint}}
	w.Amounts.Total[0] = k.total
	return w, k.parseErr
}

func (k *vaults) Vaults(_ context.Context, ids []chains.VaultID) ([]chains.VaultFact, error) {
	out := make([]chains.VaultFact, len(ids))
	for i := range out {
		out[i] = chains.VaultFact{Vault: k.vault, Err: k.vaultErr}
	}
	return out, nil
}

func (k *vaults) DryRun(_ context.Context, txs [][]byte) error {
	k.dry += len(txs)
	return k.dryErr
}

// scene is a reader with a user whose wallet holds coins, and a swap to be paid.
type scene struct {
	*Reader
	ledger *ledger
	vaults *vaults
	record *swap.Record
	key    *btcec.PrivateKey
	script []byte // of the wallet
	caller swap.Caller
}

func newScene(t *testing.T) *scene {
	t.Helper()
	var secret [32]byte
	secret[31] = 7
	key, pub := btcec.PrivKeyFromBytes(secret[:])
	address := trial.Must(bitcoin.NewAddress(bitcoin.P2WPKH, btcutil.Hash160(pub.SerializeCompressed()), bitcoin.Mainnet))(t)
	wallet := trial.Must(btcpsbt.NewWallet(address, ""))(t)
	to := trial.Must(bitcoin.NewAddress(bitcoin.P2WPKH, make([]byte, 20), bitcoin.Mainnet))(t)
	l := &ledger{txs: map[bitcoin.Hash]*bitcoin.Tx{}, cpfp: map[bitcoin.Hash]*bitcoin.CPFP{}, rates: bitcoin.FeeRates{Fastest: 4, Minimum: 1},
		silent: map[string]bool{}, spent: bitcoin.Unspent}
	coins := l.pay(&wire.TxOut{Value: 100_000, PkScript: address.Script()})
	l.utxos = []bitcoin.UTXO{{OutPoint: bitcoin.OutPoint{Hash: coins.ID}, Value: 100_000, Height: 100}}

	vaultAddress := trial.Must(bitcoin.NewAddress(bitcoin.P2TR, schnorr.SerializePubKey(pub), bitcoin.Mainnet))(t)
	made := l.pay(&wire.TxOut{Value: 600, PkScript: vaultAddress.Script()})
	k := &vaults{total: 5}
	k.vault = chains.Vault{Open: true, OurRelay: true}
	k.vault.UTXO, k.vault.Raw = bitcoin.OutPoint{Hash: made.ID}, [2]uint64{5, 0}
	r := &swap.Record{
		Bitcoin: &swap.BitcoinPart{Address: to.String(), Sats: 20_000},
		Vault: &swap.VaultPart{VaultID: big.NewInt(1), UTXO: bitcoin.OutPoint{Hash: made.ID}.String(), UTXOSats: 600,
			Script: vaultAddress.Script(), LPScript: to.Script(), MinFeeRate: 2},
	}
	r.Chain = "BOOK"
	w := New(map[string]chains.Chain{"BOOK": &book{contract: k}}, l, lphttp.NewClient(lphttp.Options{}))
	t.Cleanup(w.Close)
	return &scene{Reader: w, ledger: l, vaults: k, record: r, key: key, script: address.Script(), caller: swap.Caller{Wallet: &wallet}}
}

// sign adds the user's signatures to a PSBT.
func (s *scene) sign(t *testing.T, p *btcpsbt.Funded) string {
	t.Helper()
	packet := trial.Must(psbt.NewFromRawBytes(bytes.NewReader(p.PSBT), false))(t)
	fetcher := txscript.NewMultiPrevOutFetcher(nil)
	for i, in := range packet.UnsignedTx.TxIn {
		fetcher.AddPrevOut(in.PreviousOutPoint, packet.Inputs[i].WitnessUtxo)
	}
	hashes := txscript.NewTxSigHashes(packet.UnsignedTx, fetcher)
	for _, i := range p.SignInputs {
		spent := packet.Inputs[i].WitnessUtxo
		sig := trial.Must(txscript.RawTxInWitnessSignature(packet.UnsignedTx, hashes, i, spent.Value, spent.PkScript, txscript.SigHashAll, s.key))(t)
		packet.Inputs[i].PartialSigs = []*psbt.PartialSig{{PubKey: s.key.PubKey().SerializeCompressed(), Signature: sig}}
	}
	var out bytes.Buffer
	trial.Do(t, packet.Serialize(&out))
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// fund asks for the funded PSBT of an action.
func (s *scene) fund(t *testing.T, a *swap.Fund) (*btcpsbt.Funded, error) {
	t.Helper()
	todo, err := s.BuildAction(t.Context(), s.record, a, s.caller)
	if err != nil {
		return nil, err
	}
	if todo.Action != a || todo.Funded == nil || todo.Raw != nil {
		t.Fatalf("%+v", todo)
	}
	return todo.Funded, nil
}
