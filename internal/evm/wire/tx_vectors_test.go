package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strconv"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

type txFields struct {
	From, To, Data       string
	Value                *string
	GasLimit             string
	MaxFeePerGas         string
	MaxPriorityFeePerGas string
	Nonce                uint64
	ChainID              uint64
	Type                 *uint8 // null where the reference leaves it to its library
}

type txAnswer struct {
	Tx          txFields
	Unsigned    string
	SigningHash string
	Signed      string
	TxID        string
	Signer      string
}

// signText signs an unsigned transaction as a wallet does.
func signText(t testing.TB, privateKey, unsigned string) string {
	t.Helper()
	key := trial.Must(crypto.ToECDSA(unhex(t, privateKey)))(t)
	full, _ := trial.Must2(withSignature(unhex(t, unsigned)))(t)
	var tx types.Transaction
	trial.Do(t, tx.UnmarshalBinary(full))
	signed := trial.Must(types.SignTx(&tx, types.LatestSignerForChainID(tx.ChainId()), key))(t)
	raw := trial.Must(signed.MarshalBinary())(t)
	return hexutil.Encode(raw)
}

// checkCalls compares built calls with the transactions that the reference
// serves, signs them with the vector's key, and lets the checker of returned
// transactions have the last word.
func checkCalls(t *testing.T, n Network, d Deployment, calls []Call, want []txAnswer, sender, privateKey, feeRate string, nonce uint64) {
	t.Helper()
	rate := trial.Must(ParseFeeRate(feeRate))(t)
	texts := trial.Must(n.Serialize(calls, nonce, rate))(t)
	var got []txAnswer
	var signed []string
	for i, c := range calls {
		tx := trial.Must(ParseTransaction(texts[i]))(t)
		if tx.String() != texts[i] || tx.Signed || !bytes.Equal(tx.Data, c.Data) {
			t.Errorf("transaction %d does not survive its text", i)
		}
		a := txAnswer{
			Tx: txFields{From: sender, To: tx.To.Hex(), Data: hexutil.Encode(tx.Data), GasLimit: strconv.FormatUint(tx.Gas, 10),
				MaxFeePerGas: tx.FeeCap.String(), MaxPriorityFeePerGas: tx.TipCap.String(), Nonce: tx.Nonce, ChainID: tx.ChainID.Uint64()},
			Unsigned: texts[i], SigningHash: tx.signingHash.Hex(),
		}
		value := tx.Value.String()
		if i < len(want) {
			// The text of an address is not part of a transaction.
			if kind := want[i].Tx.Type; kind != nil && *kind != tx.Type {
				t.Errorf("transaction %d is of type %d, want %d", i, tx.Type, *kind)
			}
			want[i].Tx.Type = nil
			want[i].Tx.To = common.HexToAddress(want[i].Tx.To).Hex()
			if w := want[i].Tx; w.Value != nil || value != "0" {
				a.Tx.Value = &value
			}
			if want[i].Tx.Data == "" && a.Tx.Data == "0x" {
				a.Tx.Data = ""
			}
		}
		if privateKey != "" {
			a.Signed = signText(t, privateKey, texts[i])
			signed = append(signed, a.Signed)
			back := trial.Must(ParseTransaction(a.Signed))(t)
			a.TxID, a.Signer = back.ID.Hex(), back.From.Hex()
		}
		got = append(got, a)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("transactions differ (-want +got):\n%s", diff)
	}
	if privateKey == "" {
		return
	}
	checked, err := d.CheckSigned(n, common.HexToAddress(sender), calls, signed)
	if rate.MaxFeePerGas().Sign() == 0 { // nobody would mine it
		if err == nil {
			t.Error("a transaction that offers no fee is accepted back")
		}
		return
	}
	if err != nil || len(checked) != len(calls) {
		t.Fatalf("what was asked for is not accepted back: %v", err)
	}
	for i, c := range checked {
		if c.Call != i || c.ID.Hex() != want[i].TxID {
			t.Errorf("transaction %d read as call %d with id %s", i, c.Call, c.ID)
		}
	}
}

type btcProofInput struct {
	BtcTx struct {
		TxID, Hex, Blockhash string
		Height               uint32
	}
	Vout, RequiredConfirmations uint32
	Merkle                      struct {
		Pos    uint32
		Merkle []string
	}
	StoredHeader string
}

func (in btcProofInput) proof(t *testing.T) BitcoinProof {
	t.Helper()
	return BitcoinProof{Tx: unhex(t, in.BtcTx.Hex), Vout: in.Vout, Confirmations: in.RequiredConfirmations, Header: StoredHeader(unhex(t, in.StoredHeader)),
		Merkle: in.merkle(t)}
}

func (in btcProofInput) merkle(t *testing.T) bitcoin.MerkleProof {
	t.Helper()
	m := bitcoin.MerkleProof{Pos: in.Merkle.Pos}
	for _, s := range in.Merkle.Merkle {
		h := trial.Must(chainhash.NewHash(unhex(t, s)))(t)
		m.Hashes = append(m.Hashes, *h)
	}
	return m
}

// oddOutput reports that a transaction has an output that the reference's
// Bitcoin library refuses to read.
func oddOutput(t *testing.T, raw []byte) bool {
	t.Helper()
	tx := trial.Must(rawtx.Decode(raw))(t)
	for _, out := range tx.TxOut {
		switch txscript.GetScriptClass(out.PkScript) {
		case txscript.NonStandardTy, txscript.NullDataTy, txscript.WitnessUnknownTy:
			return true
		case txscript.WitnessV1TaprootTy:
			if _, err := schnorr.ParsePubKey(out.PkScript[2:]); err != nil {
				return true
			}
		}
	}
	return false
}

// fulfils reports that a Bitcoin transaction does what an escrow asks for.
func fulfils(t *testing.T, d Deployment, s SwapData, p BitcoinProof) bool {
	t.Helper()
	tx, err := rawtx.Decode(p.Tx)
	if err != nil {
		t.Fatal(err)
	}
	relay := d.BtcRelay.Address
	if s.ClaimHandler == d.ClaimHandlers[chains.OnchainTxID] {
		return s.ClaimData == ClaimDataTxID(bitcoin.Hash(tx.TxHash()), p.Confirmations, relay)
	}
	if int(p.Vout) >= len(tx.TxOut) {
		return false
	}
	out, nonce := tx.TxOut[p.Vout], uint64(0)
	switch s.ClaimHandler {
	case d.ClaimHandlers[chains.Onchain]:
	case d.ClaimHandlers[chains.OnchainNonced]:
		if nonce, err = rawtx.TxNonce(tx, false); err != nil {
			return false
		}
	default:
		return false
	}
	return s.ClaimData == ClaimDataOutput(out.PkScript, uint64(out.Value), nonce, p.Confirmations, relay)
}

func TestVectorsTxs(t *testing.T) {
	vectors.Each(t, "chain-evm", "txs", func(t *testing.T, c *vectors.Case) {
		var in struct {
			btcProofInput
			Chain, Fn, FeeRate, Sender, PrivateKey string
			Nonce                                  uint64
			Swap                                   json.RawMessage
			Signature                              chains.Auth
			Allowance                              string
			SkipChecks, Check, CheckExpiry         bool
			EscrowState                            chains.EscrowState
			Now                                    int64
			Secret, Token, Amount, Recipient       string
		}
		c.Input(t, &in)
		var want struct {
			Error bool
			Txs   []txAnswer
		}
		c.Expected(t, &want)
		n, d := presetOf(t, in.Chain), deploymentOf(t, in.Chain)
		sender, now := common.HexToAddress(in.Sender), time.Unix(in.Now, 0)
		var s SwapData
		if in.Swap != nil {
			s = swapOf(t, in.Swap)
		}
		var calls []Call
		one := func(call Call, err error) error {
			calls = []Call{call}
			return err
		}
		var err error
		switch in.Fn {
		case "init":
			if !in.SkipChecks {
				if err = settle.CanInit(in.EscrowState); err == nil && s.needsInitAuthorization(sender) {
					err = n.VerifyInit(d, s, in.Signature, sender, now, in.Now)
				}
				if err == nil && s.IsExpired(sender, now) {
					err = fault.New(fault.InvalidState, "expired")
				}
			}
			if err == nil {
				calls, err = d.Init(s, sender, in.Signature)
			}
			if in.EscrowState == chains.EscrowRefunded && !in.SkipChecks && !want.Error {
				c.Differ(t, "evm-refunded-escrow")
				if err == nil {
					t.Errorf("built %d calls to open an escrow again", len(calls))
				}
				calls, err = d.Init(s, sender, in.Signature) // the call itself is the reference's
			}
		case "claimWithSecret":
			var secret []byte
			if secret, err = hexBytes("0x"+in.Secret, 32); err != nil {
				break
			}
			if in.CheckExpiry && !s.ClaimInTime(now, 0) {
				err = fault.New(fault.InvalidState, "too late")
				break
			}
			err = one(d.ClaimBySecret(s, [32]byte(secret)))
		case "claimWithTxData":
			p := in.proof(t)
			err = one(d.ClaimByBitcoin(s, p))
			if want.Error && oddOutput(t, p.Tx) && fulfils(t, d, s, p) {
				c.Differ(t, "evm-odd-outputs")
				if err != nil {
					t.Fatal(err)
				}
				checkWitness(t, s, p, calls[0].Data)
				return
			}
		case "refund":
			err = one(d.Refund(s, now))
			if in.Check && want.Error && err == nil {
				c.NotOurs(t, "refund-check")
			}
		case "refundWithAuthorization":
			if in.Check && in.EscrowState != chains.EscrowOpen {
				err = fault.New(fault.InvalidState, "not open")
				break
			}
			if err = n.VerifyRefund(d, s, in.Signature, now); err == nil {
				err = one(d.RefundAuthorized(s, in.Signature))
			}
		case "deposit", "withdraw", "transfer":
			c.NotOurs(t, "provider-calls")
		default:
			t.Fatalf("unknown function %s", in.Fn)
		}
		if want.Error {
			if err == nil {
				t.Errorf("built %d calls", len(calls))
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if in.Allowance != "" {
			calls = WithoutApproved(calls, func(Allowance) *big.Int { return bigOf(t, in.Allowance) })
		}
		checkCalls(t, n, d, calls, want.Txs, in.Sender, in.PrivateKey, in.FeeRate, in.Nonce)
	})
}

// checkWitness checks that a claim proves what the escrow asks for.
func checkWitness(t *testing.T, s SwapData, p BitcoinProof, data []byte) {
	t.Helper()
	of := EscrowABI()
	m := of.Methods["claim"]
	values, err := m.Inputs.Unpack(data[4:])
	if err != nil || !bytes.Equal(data[:4], m.ID) {
		t.Fatalf("no claim: %v", err)
	}
	witness := values[1].([]byte)
	if crypto.Keccak256Hash(witness[:56]) != s.ClaimData {
		t.Error("the witness does not begin with the commitment of the escrow")
	}
	tx, _ := rawtx.Decode(p.Tx)
	stripped, _ := rawtx.Strip(tx)
	if !bytes.Contains(witness, stripped) || !bytes.Contains(witness, p.Header[:]) {
		t.Errorf("the witness %s lacks the transaction or the header", hex.EncodeToString(witness))
	}
}
