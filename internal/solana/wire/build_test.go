package wire

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// txJSON is a transaction in the vectors, before it is prepared.
type txJSON struct {
	FeePayer     string      `json:"feePayer"`
	Blockhash    *string     `json:"recentBlockhash"`
	LastValid    *uint64     `json:"lastValidBlockHeight"`
	FromAuth     bool        `json:"blockhashFromAuthorization"`
	Instructions []ixJSON    `json:"instructions"`
	Message      string      `json:"message"`
	Size         int         `json:"size"`
	Signatures   [][]*string `json:"signatures"`
	ExtraSigners []string    `json:"extraSigners"`
}

// jsonOfTx describes a transaction that was built, compiled with a block hash where
// it has none of its own.
func jsonOfTx(t testing.TB, tx *Tx, latest Hash) txJSON {
	t.Helper()
	j := txJSON{FeePayer: tx.Payer.String(), Instructions: allJSON(tx.Instructions), Signatures: [][]*string{}, ExtraSigners: []string{}}
	compiled := *tx
	if tx.Blockhash.IsZero() {
		compiled.Blockhash = latest
	} else {
		last := tx.LastValid
		j.LastValid, j.FromAuth = &last, true
	}
	hash := compiled.Blockhash.String()
	j.Blockhash, j.Message = &hash, messageHex(t, &compiled)
	full := trial.Must(compiled.Transaction())(t)
	raw := trial.Must(full.MarshalBinary())(t)
	j.Size = len(raw)
	if len(tx.Signatures) > 0 {
		for i, sig := range full.Signatures {
			signer := full.Message.AccountKeys[i].String()
			pair := []*string{&signer, nil}
			if !sig.IsZero() {
				text := hex.EncodeToString(sig[:])
				pair[1] = &text
			}
			j.Signatures = append(j.Signatures, pair)
		}
	}
	for _, k := range tx.Signers {
		j.ExtraSigners = append(j.ExtraSigners, k.PublicKey().String())
	}
	return j
}

// idempotent changes what the reference builds into what is built here: token accounts
// are created unless they exist, but in the very message that an LP has signed.
func idempotent(t *testing.T, c *vectors.Case, txs []txJSON) []txJSON {
	t.Helper()
	for i, tx := range txs {
		changed := false
		for j, ix := range tx.Instructions {
			if ix.ProgramID == ATAProgram.String() && ix.Data == "" && !slices.ContainsFunc(tx.Signatures, func(s []*string) bool { return s[1] != nil }) {
				txs[i].Instructions[j].Data, changed = "01", true
			}
		}
		if changed {
			c.Differ(t, "sol-idempotent-ata")
			m := trial.Must(Compile(key(t, tx.FeePayer), Hash(key(t, *tx.Blockhash)), instructionsOf(t, tx.Instructions)))(t)
			raw := trial.Must(m.MarshalBinary())(t)
			txs[i].Message = hex.EncodeToString(raw)
			txs[i].Size++
		}
	}
	return txs
}

// onlyPublic is a key of which the public half is known: enough to build.
func onlyPublic(k Key) SecretKey { return append(make([]byte, 32), k[:]...) }

func TestVectorsMessages(t *testing.T) {
	vectors.Each(t, "chain-solana", "messages", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Version, Sender, Signer, FeeRate, Secret, Token, Recipient string
			Amount                                                         json.Number
			Now                                                            int64
			Swap                                                           json.RawMessage
			Signature                                                      *authJSON
			SkipChecks, CheckExpiry, InitATA, SkipATACheck, Check          bool
			RequiredConfirmations                                          *uint16
			Tx                                                             struct{ TxID, Hex, Blockhash string }
			Vout                                                           uint32
			MerkleProof                                                    struct {
				ReversedTxID string
				Pos          uint32
				Merkle       []string
			}
			CommittedHeader storedJSON
			RPC             rpcJSON
		}
		c.Input(t, &in)
		var want struct{ Txs []txJSON }
		c.Expected(t, &want)
		p, now := programs(in.Version), time.UnixMilli(in.Now)
		var d *SwapData
		if in.Swap != nil {
			d = swapOf(t, in.Swap)
		}
		f := FeeRate{}
		if in.FeeRate != "" {
			f = feeRate(t, in.FeeRate)
		}
		var sender Key
		if in.Signer+in.Sender != "" {
			sender = key(t, in.Signer+in.Sender)
		}
		ata := func(k Key) ToATA { return ToATA{Missing: in.RPC.token(t, k) == nil, Create: in.InitATA} }
		one := func(tx *Tx, err error) ([]*Tx, error) { return []*Tx{tx}, err }
		extra := func() SecretKey { // what the reference drew at random
			for _, tx := range want.Txs {
				for _, k := range tx.ExtraSigners {
					return onlyPublic(key(t, k))
				}
			}
			return onlyPublic(Key{1})
		}
		var txs []*Tx
		var err error
		switch in.Fn {
		case "txsInit":
			auth, e := ParseInitAuth(in.Signature.auth(t))
			if e != nil {
				t.Fatal(e)
			}
			var block SignedBlock
			if p.NeedsAuth(d, sender) {
				block, _ = in.RPC.block(t, auth.Slot)
				if _, err = p.CheckInit(d, sender, auth.Prefix, int64(auth.Timeout), now); err == nil {
					err = p.VerifyInit(d, sender, auth, f, block.Hash)
				}
			}
			if err == nil {
				txs, err = p.OpenTxs(d, sender, auth, f, block, in.RPC.token(t, ATA(d.Offerer, WSOL)))
			}
		case "txsClaimWithSecret":
			if in.CheckExpiry && d.Expired(d.Claimer, now, false) {
				err = errors.New("too late")
				break
			}
			if in.Secret == "" {
				// Lamports were sent to the address of the token account.
				c.Differ(t, "sol-system-owned-ata")
				tx := trial.Must(p.ClaimTx(d, d.Claimer, [32]byte{}, f, ata(*d.ClaimerATA)))(t)
				same(t, "creation", jsonOf(EnsureATA(d.Claimer, d.Claimer, d.Token)), jsonOf(tx.Instructions[2]))
				return
			}
			to := ToATA{}
			if d.PayOut && !in.SkipATACheck {
				to = ata(*d.ClaimerATA)
			}
			txs, err = one(p.ClaimTx(d, sender, hash32(t, in.Secret), f, to))
		case "txsRefund", "txsRefundWithAuthorization":
			var auth *RefundAuth
			var guard SecretKey
			if in.Signature != nil {
				a, e := d.VerifyRefund(in.Signature.auth(t), now)
				if e != nil {
					t.Fatal(e)
				}
				auth, guard = &a, extra()
			}
			if in.Check {
				account := in.RPC.Accounts[p.Escrow(d.PaymentHash).String()]
				s, e := p.DecodeEscrow(vectors.Unhex(t, account.Data))
				if err = e; e == nil {
					err = p.Match(s, d)
				}
				if auth == nil && !d.Expired(sender, now, true) {
					err = errors.New("not refundable yet")
				}
				if err != nil {
					break
				}
			}
			to := ToATA{}
			if d.PayIn {
				to = ata(ATA(d.Offerer, d.Token))
			}
			txs, err = one(p.RefundTx(d, sender, auth, guard, f, to))
		case "txsClaimWithTxData":
			claim := BitcoinClaim{Data: d, Signer: sender, Vout: in.Vout, Stripped: vectors.Unhex(t, in.Tx.Hex), Confirmations: d.Confirmations, DataKey: extra(), Layout: clientsLayout(in.Version), FeeRate: f}
			if in.RequiredConfirmations != nil {
				claim.Confirmations, claim.Stripped = *in.RequiredConfirmations, []byte{1}
			} else {
				claim.Header = in.CommittedHeader.stored(t)
				claim.Proof = Proof{TxID: hash32(t, in.MerkleProof.ReversedTxID), Index: in.MerkleProof.Pos}
				for _, h := range in.MerkleProof.Merkle {
					claim.Proof.Path = append(claim.Proof.Path, hash32(t, h))
				}
			}
			if d.PayOut {
				claim.To = ata(*d.ClaimerATA)
			}
			txs, err = p.BitcoinClaimTxs(claim)
			if err == nil {
				wantBitcoinClaim(t, p, claim, txs)
			}
		case "txsDeposit":
			txs, err = one(p.DepositTx(sender, key(t, in.Token), number(t, in.Amount), f, in.RPC.token(t, ATA(sender, key(t, in.Token)))))
		case "txsWithdraw":
			c.NotOurs(t, "lp-withdrawal")
		case "txsTransfer":
			mint, to := key(t, in.Token), key(t, in.Recipient)
			account := ata(ATA(to, mint))
			account.Create = true
			txs, err = one(SendTx(sender, to, mint, number(t, in.Amount), f, in.RPC.token(t, ATA(sender, WSOL)) != nil, account))
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
		if c.Refuses(t, err) {
			return
		}
		var got []txJSON
		for _, tx := range txs {
			got = append(got, jsonOfTx(t, tx, Hash(key(t, in.RPC.LatestBlockhash.Blockhash))))
		}
		same(t, "transactions", idempotent(t, c, want.Txs), got)
	})
}

// wantBitcoinClaim checks that what was built for a claim is what is wanted back.
func wantBitcoinClaim(t *testing.T, p Programs, c BitcoinClaim, txs []*Tx) {
	t.Helper()
	pay := wantedPayment{TxID: c.Proof.TxID, Block: c.Header.Header.Hash(), Vout: c.Vout, Stripped: c.Stripped, Confirmations: c.Confirmations}
	wants := trial.Must(p.wantBitcoinClaim(c.Data, c.Signer, pay, c.DataKey.PublicKey(), 1<<40))(t)
	if _, at, err := matchAll(wants, parsedAll(t, txs)); err != nil {
		t.Errorf("transaction %d: %v", at, err)
	}
}

func parsedAll(t *testing.T, txs []*Tx) (all []*Parsed) {
	t.Helper()
	for _, tx := range txs {
		tx := *tx
		if tx.Blockhash.IsZero() {
			tx.Blockhash = Hash{7}
		}
		full := trial.Must(tx.Transaction())(t)
		raw := trial.Must(full.MarshalBinary())(t)
		parsed := trial.Must(ParseTx(raw))(t)
		all = append(all, parsed)
	}
	return all
}

func TestVectorsTxSerialization(t *testing.T) {
	vectors.Load(t, "chain-solana", "tx-serialization").But(t, "getTxStatus").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Data, UserSecretKey, SignedTx, UnsignedTx string
			LatestBlockhash                               struct {
				Blockhash            string
				LastValidBlockHeight uint64
			}
			TransactionsBeforePrepare []txJSON
		}
		c.Input(t, &in)
		switch in.Fn {
		case "prepareAndSerialize":
			var want struct{ Txs, SignedTxs, TxIDs []string }
			c.Expected(t, &want)
			var txs []*Tx
			for _, j := range in.TransactionsBeforePrepare {
				tx := &Tx{Payer: key(t, j.FeePayer), Instructions: instructionsOf(t, j.Instructions), Signatures: map[Key]Signature{}}
				if j.Blockhash != nil && j.LastValid != nil {
					tx.Blockhash, tx.LastValid = Hash(key(t, *j.Blockhash)), *j.LastValid
				}
				for _, s := range j.Signatures {
					if s[1] != nil {
						tx.Signatures[key(t, *s[0])] = Signature(vectors.Unhex(t, *s[1]))
					}
				}
				for _, k := range j.ExtraSigners {
					tx.Signers = append(tx.Signers, vectors.Unhex(t, k))
				}
				txs = append(txs, tx)
			}
			trial.Do(t, Prepare(txs, Hash(key(t, in.LatestBlockhash.Blockhash)), in.LatestBlockhash.LastValidBlockHeight))
			var texts, signed, ids []string
			for _, tx := range txs {
				text := trial.Must(tx.Text())(t)
				texts = append(texts, text)
				read := trial.Must(ParseText(text))(t)
				same(t, "signers read back", tx.Signers, read.Signers)
				same(t, "last valid height read back", tx.LastValid, read.LastValid)
				trial.Do(t, tx.Sign(vectors.Unhex(t, in.UserSecretKey)))
				raw := trial.Must(tx.Bytes())(t)
				parsed := trial.Must(readSigned(hex.EncodeToString(raw)))(t)
				id, _ := parsed.ID()
				signed, ids = append(signed, hex.EncodeToString(raw)), append(ids, id.String())
			}
			same(t, "texts", want.Txs, texts)
			same(t, "signed", want.SignedTxs, signed)
			same(t, "ids", want.TxIDs, ids)
		case "serializeStrict":
			var want map[string]map[string]bool
			c.Expected(t, &want)
			is := func(s string) map[string]bool {
				if _, err := readSigned(s); err != nil {
					return map[string]bool{"error": true}
				}
				return map[string]bool{"ok": true}
			}
			same(t, "complete", want, map[string]map[string]bool{"signed": is(in.SignedTx), "unsigned": is(in.UnsignedTx)})
		case "deserializeTx":
			_, err := ParseText(in.Data)
			c.Refuses(t, err)
		case "deserializeSignedTx":
			_, err := readSigned(in.Data)
			c.Refuses(t, err)
			if strings.Contains(c.Name, "v0") != errors.Is(err, errVersioned) {
				t.Error(err)
			}
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

// readSigned reads a transaction as it comes back from a wallet, and checks its
// signatures.
func readSigned(text string) (*Parsed, error) {
	p, err := parseTxHex(text)
	if err != nil {
		return nil, err
	}
	return p, p.Verify()
}

func TestVectorsDataAccount(t *testing.T) {
	vectors.Each(t, "chain-solana", "data-account", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Version string
			Length      int
		}
		c.Input(t, &in)
		if in.Fn != "writePlan" {
			c.NotRun(t, "the list of what is to be given back is kept by the chain, in its own form")
		}
		p := programs(in.Version)
		signer := Key(DataKey([]byte{1}, [32]byte{}).PublicKey())
		txs := trial.Must(p.DataTxs(signer, DataKey([]byte{2}, [32]byte{}), clientsLayout(in.Version), make([]byte, in.Length), nil, FeeRate{Price: 12345}))(t)
		type part struct {
			ProgramID  string `json:"programId"`
			DataLength int    `json:"dataLength"`
			Data8      string `json:"data8"`
		}
		type plan struct {
			Instructions []part `json:"instructions"`
			Size         int    `json:"size"`
		}
		var want struct {
			Transactions []plan
			RentCall     [][2]any
		}
		c.Expected(t, &want)
		var got []plan
		for _, tx := range txs {
			j := jsonOfTx(t, tx, Hash{})
			out := plan{Size: j.Size}
			for _, ix := range tx.Instructions {
				out.Instructions = append(out.Instructions, part{ix.Program.String(), len(ix.Data), hex.EncodeToString(ix.Data[:min(16, len(ix.Data))])})
			}
			got = append(got, out)
		}
		same(t, "transactions", want.Transactions, got)
		same(t, "size of the account", [][2]any{{"getMinimumBalanceForRentExemption", float64(clientsLayout(in.Version).Space(in.Length))}}, normal(t, want.RentCall))
	})
}

func normal(t *testing.T, pairs [][2]any) [][2]any {
	t.Helper()
	for i, pair := range pairs {
		n := trial.Must(pair[1].(json.Number).Float64())(t)
		pairs[i][1] = n
	}
	return pairs
}

// Only what an attempt has not written is written again (§21.5).
func TestDataThatIsThere(t *testing.T) {
	payload := make([]byte, 3000)
	for i := range payload {
		payload[i] = byte(i * 7)
	}
	secret := DataKey([]byte("service secret and swap"), bitcoin.Hash{9})
	for name, c := range map[string]struct {
		spoil func(written []byte)
		want  []int // offsets
	}{
		"all there":     {func([]byte) {}, nil},
		"one is wrong":  {func(w []byte) { w[1000] ^= 1 }, []int{420}},
		"none is there": {func(w []byte) { clear(w) }, []int{0, 420, 1370, 2320}},
		"the end":       {func(w []byte) { w[2999] ^= 1 }, []int{2320}},
	} {
		written := slices.Clone(payload)
		c.spoil(written)
		txs := trial.Must(firstV1.DataTxs(Key{1}, secret, DataPlain, payload, written, FeeRate{Price: 1}))(t)
		var got []int
		for _, tx := range txs {
			if len(tx.Signers) != 0 {
				t.Errorf("%s: the account's key signs, though the account exists", name)
			}
			ix := tx.Instructions[2]
			got = append(got, int(ix.Data[8])|int(ix.Data[9])<<8)
			offset := got[len(got)-1]
			end := min(offset+chunk, len(payload))
			if offset == 0 {
				end = firstChunk
			}
			if !slices.Equal(ix.Data[16:], payload[offset:end]) {
				t.Errorf("%s: other data is written at %d", name, offset)
			}
		}
		same(t, name, c.want, got)
	}
	if _, err := firstV1.DataTxs(Key{1}, secret, DataPlain, payload, payload[1:], FeeRate{}); err == nil {
		t.Error("an account of another size was taken")
	}
	if _, err := Payload(0, make([]byte, maxPayload)); err == nil {
		t.Error("a transaction that no node relays was taken")
	}
	if a, b := DataKey([]byte("s"), bitcoin.Hash{1}), DataKey([]byte("s"), bitcoin.Hash{1}); !slices.Equal(a, b) || slices.Equal(a, DataKey([]byte("s"), bitcoin.Hash{2})) || slices.Equal(a, DataKey([]byte("t"), bitcoin.Hash{1})) {
		t.Error("the key of a data account does not follow from secret and transaction")
	}
}
