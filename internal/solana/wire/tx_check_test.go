package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/trial"
)

const bound = 1 << 40 // lamports, of fees in these tests

// signer is a wallet with its key.
func wallet(n byte) (SecretKey, Key) {
	k := DataKey([]byte{n}, [32]byte{})
	return k, k.PublicKey()
}

// swapFor is an escrow in which a wallet is a party.
func swapFor(t *testing.T, p Programs, payIn bool, token Key, user Key) *SwapData {
	t.Helper()
	_, lp := wallet(200)
	s := Spec{Kind: chains.HTLC, Claim: ClaimHash{PaymentHash: [32]byte{1, 2, 3}}, Offerer: user, Claimer: lp, Token: token, Amount: 5000, Sequence: 9, Expiry: 2_000_000_000, PayIn: payIn, PayOut: !payIn, DepositToken: WSOL}
	if !payIn {
		s.Offerer, s.Claimer = lp, user
	}
	return trial.Must(p.NewSwapData(s))(t)
}

// signedBy is a transaction that keys have signed, read again.
func signedBy(t *testing.T, tx Tx, keys ...SecretKey) *Parsed {
	t.Helper()
	if tx.Blockhash.IsZero() {
		tx.Blockhash = Hash{3}
	}
	sigs := map[Key]Signature{}
	for k, s := range tx.Signatures {
		sigs[k] = s
	}
	tx.Signatures = sigs
	for _, k := range keys {
		trial.Do(t, tx.Sign(k))
	}
	full := trial.Must(tx.Transaction())(t)
	raw := trial.Must(full.MarshalBinary())(t)
	return trial.Must(ParseTx(raw))(t)
}

// Whatever a wallet, or somebody between it and us, changes in a claim is noticed and
// named; what may be missing, because it was done before, may be missing.
func TestMatchClaim(t *testing.T) {
	secret := [32]byte{7}
	_, stranger := wallet(50)
	for _, p := range []Programs{firstV1, firstV2} {
		key, user := wallet(1)
		d := swapFor(t, p, false, WSOL, user)
		want := trial.Must(p.wantClaim(d, user, secret, 10_000))(t)
		for _, c := range []struct {
			name   string
			change func(tx *Tx)
			err    string
		}{
			{"as it was built", func(tx *Tx) {}, ""},
			{"the token account exists", func(tx *Tx) { tx.Instructions = slices.Delete(tx.Instructions, 2, 3) }, ""},
			{"no offer for compute units", func(tx *Tx) { tx.Instructions = tx.Instructions[2:] }, ""},
			{"another offer", func(tx *Tx) { tx.Instructions[1] = SetPrice(100_000) }, ""},
			{"the offer at the end", func(tx *Tx) { tx.Instructions = append(tx.Instructions[1:], tx.Instructions[0]) }, ""},
			{"an offer without measure", func(tx *Tx) { tx.Instructions[1] = SetPrice(1 << 40) }, "lamports for compute units"},
			{"the price twice", func(tx *Tx) { tx.Instructions = append(tx.Instructions, SetPrice(1)) }, "set twice"},
			{"a heap frame", func(tx *Tx) { tx.Instructions[0].Data = []byte{1, 0, 0, 1, 0} }, "in another way"},
			{"a malformed offer", func(tx *Tx) { tx.Instructions[0].Data = []byte{2, 0} }, "well-formed"},
			{"another secret", func(tx *Tx) { tx.Instructions[3].Data[20] ^= 1 }, "its data differs from byte 20"},
			{"another escrow", func(tx *Tx) { tx.Instructions[3].Accounts[2].PublicKey = stranger }, "account 2"},
			{"another receiver", func(tx *Tx) {
				i := slices.IndexFunc(tx.Instructions[3].Accounts, func(a Account) bool { return a.PublicKey == *d.ClaimerATA })
				tx.Instructions[3].Accounts[i].PublicKey = stranger
			}, "account"},
			{"unwrapped to another", func(tx *Tx) { tx.Instructions[4].Accounts[1].PublicKey = stranger }, "account 1 is"},
			{"no unwrapping", func(tx *Tx) { tx.Instructions = tx.Instructions[:4] }, "is missing"},
			{"no claim", func(tx *Tx) { tx.Instructions = slices.Delete(tx.Instructions, 3, 4) }, "should be claimer_claim_pay_out"},
			{"a transfer added", func(tx *Tx) { tx.Instructions = append(tx.Instructions, Transfer(user, stranger, 5)) }, "nothing more was to come"},
			{"a transfer before", func(tx *Tx) {
				tx.Instructions = slices.Insert(tx.Instructions, 0, Transfer(user, stranger, 5))
			}, "calls the program"},
			{"another's token account", func(tx *Tx) { tx.Instructions[2] = EnsureATA(user, stranger, WSOL) }, "should be claimer_claim_pay_out"},
			{"the wrong program", func(tx *Tx) { tx.Instructions[3].Program = stranger }, "calls the program"},
			{"an account too many", func(tx *Tx) {
				tx.Instructions[3].Accounts = append(tx.Instructions[3].Accounts, Account{PublicKey: stranger})
			}, "accounts, not"},
			{"an account that may be written to", func(tx *Tx) {
				i := slices.IndexFunc(tx.Instructions[3].Accounts, func(a Account) bool { return a.PublicKey == InstructionsData })
				tx.Instructions[3].Accounts[i].IsWritable = true
			}, "is written to true"},
			{"paid by another", func(tx *Tx) { tx.Payer = stranger }, "it is paid by"},
			{"no block hash", func(tx *Tx) { tx.Blockhash = Hash{} }, "no block hash"},
		} {
			t.Run(p.Version+" "+c.name, func(t *testing.T) {
				built := trial.Must(p.ClaimTx(d, user, secret, FeeRate{Price: 8000}, ToATA{Missing: true, Create: true}))(t)
				built.Blockhash = Hash{3}
				c.change(built)
				full := trial.Must(built.Transaction())(t)
				raw := trial.Must(full.MarshalBinary())(t)
				got := trial.Must(ParseTx(raw))(t)
				err := want.Match(got)
				if (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v; want %q", err, c.err)
				}
			})
		}
		// Accounts in another order than ours are the same transaction, if nobody else signed it.
		tx := signedBy(t, *trial.Must(p.ClaimTx(d, user, secret, FeeRate{Price: 1}, ToATA{}))(t), key)
		m := tx.Message
		last := len(m.AccountKeys) - 1
		m.AccountKeys = slices.Clone(m.AccountKeys)
		m.AccountKeys[last], m.AccountKeys[last-1] = m.AccountKeys[last-1], m.AccountKeys[last]
		for i := range m.Instructions {
			swap := func(at uint16) uint16 {
				switch at {
				case uint16(last):
					return uint16(last - 1)
				case uint16(last - 1):
					return uint16(last)
				}
				return at
			}
			m.Instructions[i].ProgramIDIndex = swap(m.Instructions[i].ProgramIDIndex)
			for j := range m.Instructions[i].Accounts {
				m.Instructions[i].Accounts[j] = swap(m.Instructions[i].Accounts[j])
			}
		}
		payer, ixs := trial.Must2(Decompile(&m))(t)
		if err := want.Match(&Parsed{Tx: Tx{Payer: payer, Instructions: ixs, Blockhash: m.RecentBlockhash}, Message: m}); err != nil {
			t.Errorf("another order of accounts: %v", err)
		}
		// An account that no instruction uses is one that was added.
		more := tx.Message
		more.AccountKeys = append(slices.Clone(more.AccountKeys), stranger)
		more.Header.NumReadonlyUnsignedAccounts++
		if err := want.Match(&Parsed{Tx: tx.Tx, Message: more}); err == nil {
			t.Error("an account that nothing needs was taken")
		}
	}
}

// What an LP has signed must come back to the byte: its signature covers the order of
// accounts, the fee rate's instructions and the block hash (§21.1).
func TestMatchOpening(t *testing.T) {
	for _, p := range []Programs{firstV1, firstV2} {
		userKey, user := wallet(1)
		lpKey, _ := wallet(200)
		_, stranger := wallet(50)
		d := swapFor(t, p, true, WSOL, user)
		f := FeeRate{Price: 9000}
		block := SignedBlock{Hash: Hash{8}, Height: 100}
		auth := trial.Must(signInit(p, d, lpKey, user, 1_999_999_000, f, 500, block.Hash))(t)
		wants := trial.Must(p.wantOpen(d, user, auth, f, bound))(t)
		build := func() []*Tx { return trial.Must(p.OpenTxs(d, user, auth, f, block, nil))(t) }
		for _, c := range []struct {
			name   string
			change func(txs []*Tx) []*Tx
			at     int
			err    string
		}{
			{"as it was built", func(txs []*Tx) []*Tx { return txs }, 0, ""},
			{"the SOL is wrapped already", func(txs []*Tx) []*Tx { return txs[1:] }, 0, ""},
			{"less is wrapped", func(txs []*Tx) []*Tx {
				txs[0].Instructions[3].Data = Transfer(user, ATA(user, WSOL), 1).Data
				return txs
			}, 0, ""},
			{"more is wrapped than the escrow takes", func(txs []*Tx) []*Tx {
				txs[0].Instructions[3].Data = Transfer(user, ATA(user, WSOL), 5001).Data
				return txs
			}, 0, "should be the opening"},
			{"SOL goes elsewhere", func(txs []*Tx) []*Tx { txs[0].Instructions[3].Accounts[1].PublicKey = stranger; return txs }, 0, "should be the opening"},
			{"the wrong order", func(txs []*Tx) []*Tx { return []*Tx{txs[1], txs[0]} }, 1, "not asked for"},
			{"twice", func(txs []*Tx) []*Tx { return append(txs, txs[1]) }, 2, "not asked for"},
			{"no opening", func(txs []*Tx) []*Tx { return txs[:1] }, 1, "the opening of the escrow is missing"},
			{"another price", func(txs []*Tx) []*Tx { txs[1].Instructions[1] = SetPrice(9001); return txs }, 1, "compute unit price: its data differs"},
			{"another block hash", func(txs []*Tx) []*Tx { txs[1].Blockhash = Hash{9}; return txs }, 1, "another block hash"},
			{"without the LP's signature", func(txs []*Tx) []*Tx { txs[1].Signatures = nil; return txs }, 1, "is not the one that it gave"},
			{"another signature of the LP", func(txs []*Tx) []*Tx {
				txs[1].Blockhash = Hash{9}
				trial.Do(t, txs[1].Sign(lpKey))
				return txs
			}, 1, "is not the one that it gave"},
			{"an account that may be written to", func(txs []*Tx) []*Tx {
				ix := &txs[1].Instructions[2]
				ix.Accounts[len(ix.Accounts)-2].IsWritable = true
				return txs
			}, 1, "the order or the rights"},
			{"another amount", func(txs []*Tx) []*Tx { txs[1].Instructions[2].Data[60] ^= 1; return txs }, 1, "offerer_initialize_pay_in: its data differs"},
			{"no limit", func(txs []*Tx) []*Tx { txs[1].Instructions = txs[1].Instructions[1:]; return txs }, 1, "compute unit limit"},
		} {
			t.Run(p.Version+" "+c.name, func(t *testing.T) {
				txs := c.change(build())
				_, at, err := matchAll(wants, parsedAll(t, txs))
				if (c.err == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), c.err) || at != c.at) {
					t.Errorf("transaction %d: %v; want %d, %q", at, err, c.at, c.err)
				}
			})
		}
		// The whole way: prepared, handed out as text, signed, read and verified.
		txs := build()
		trial.Do(t, Prepare(txs, Hash{1}, 7))
		var back []*Parsed
		for _, tx := range txs {
			read := trial.Must(ParseText(trial.Must(tx.Text())(t)))(t)
			if read.LastValid != block.Height+TxSlots {
				t.Errorf("last valid height %d", read.LastValid)
			}
			back = append(back, signedBy(t, read.Tx, userKey))
			if err := back[len(back)-1].Verify(); err != nil {
				t.Error(err)
			}
		}
		if _, _, err := matchAll(wants, back); err != nil {
			t.Error(err)
		}
	}
}

// SOL is wrapped beside the opening only where the escrow takes SOL and the signed
// transaction does not wrap it itself.
func TestWrappingThatNobodyAskedFor(t *testing.T) {
	p := firstV1
	_, user := wallet(1)
	lpKey, _ := wallet(200)
	for name, c := range map[string]struct {
		token Key
		f     FeeRate
		taken bool
	}{
		"SOL, wrapped beside it": {WSOL, FeeRate{Price: 1}, true},
		"SOL, wrapped inside it": {WSOL, FeeRate{Price: 1, Wrap: &Wrap{Create: true}}, false},
		"another token":          {firstToken, FeeRate{Price: 1}, false},
	} {
		d := swapFor(t, p, true, c.token, user)
		auth := trial.Must(signInit(p, d, lpKey, user, 1_999_999_000, c.f, 5, Hash{8}))(t)
		open := trial.Must(p.OpenTxs(d, user, auth, c.f, SignedBlock{Hash: Hash{8}}, nil))(t)
		wrap := &Tx{Payer: user, Instructions: []Instruction{Transfer(user, ATA(user, WSOL), 1), SyncNative(ATA(user, WSOL))}}
		_, _, err := matchAll(trial.Must(p.wantOpen(d, user, auth, c.f, bound))(t), parsedAll(t, []*Tx{wrap, open[len(open)-1]}))
		if (err == nil) != c.taken {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Data that does not say the claimer's token account stands for the derived one.
func TestOpeningWithoutTokenAccount(t *testing.T) {
	p := firstV1
	_, user := wallet(1)
	d := swapFor(t, p, false, firstToken, user)
	want := trial.Must(p.InitTx(d, user, 5, FeeRate{}))(t)
	for _, ata := range []*Key{nil, new(Key)} {
		without := *d
		without.ClaimerATA = ata
		same(t, "instructions", allJSON(want.Instructions), allJSON(trial.Must(p.InitTx(&without, user, 5, FeeRate{}))(t).Instructions))
	}
}

func TestMatchRefund(t *testing.T) {
	p := firstV1
	key, user := wallet(1)
	lpKey, _ := wallet(200)
	guardKey, guard := wallet(3)
	d := swapFor(t, p, true, WSOL, user)
	auth := trial.Must(signRefund(d, lpKey, 1_999_999_000))(t)
	tx := trial.Must(p.RefundTx(d, user, &auth, guardKey, FeeRate{Price: 1}, ToATA{Missing: true, Create: true}))(t)
	got := signedBy(t, *tx, key, guardKey)
	if err := p.wantRefund(d, user, &auth, &guard, bound).Match(got); err != nil {
		t.Error(err)
	}
	if err := p.wantRefund(d, user, nil, nil, bound).Match(got); err == nil {
		t.Error("a refund with authorisation passes for one by time")
	}
	other := auth
	other.Timeout++
	if err := p.wantRefund(d, user, &other, &guard, bound).Match(got); err == nil {
		t.Error("another authorisation was taken")
	}
	// Without a check of the signature the program would refuse; what was signed is not what was asked for.
	tx.Instructions = tx.Instructions[1:]
	if err := p.wantRefund(d, user, &auth, &guard, bound).Match(signedBy(t, *tx, key, guardKey)); err == nil || !strings.Contains(err.Error(), "check of a signature") {
		t.Error(err)
	}
	plain := signedBy(t, *trial.Must(p.RefundTx(d, user, nil, nil, FeeRate{Price: 1}, ToATA{}))(t), key)
	if err := p.wantRefund(d, user, nil, nil, bound).Match(plain); err != nil {
		t.Error(err)
	}
}

func TestMatchBitcoinClaim(t *testing.T) {
	p := firstV1
	key, user := wallet(1)
	_, stranger := wallet(50)
	d := swapFor(t, p, false, WSOL, user)
	d.Kind, d.Confirmations = chains.Onchain, 3
	var in StoredHeader
	in.Work, in.Header.Height, in.Header.Bits = rawtx.Difficulty(0x1d00ffff), 99, 0x1d00ffff
	data := DataKey([]byte{9}, [32]byte{4})
	claim := BitcoinClaim{Data: d, Signer: user, Vout: 1, Stripped: make([]byte, 2500), Proof: Proof{TxID: [32]byte{4}, Index: 2, Path: []bitcoin.Hash{{5}}}, Confirmations: 3, Header: in,
		DataKey: data, To: ToATA{Missing: true, Create: true}, FeeRate: FeeRate{Price: 1}}
	pay := wantedPayment{TxID: claim.Proof.TxID, Block: in.Header.Hash(), Vout: 1, Stripped: claim.Stripped, Confirmations: 3}
	wants := trial.Must(p.wantBitcoinClaim(d, user, pay, data.PublicKey(), bound))(t)
	const claimAt = 7 // after two of headers, four of data, and one for the token account
	build := func() []*Tx {
		claim.Before = []*Tx{
			trial.Must(RelayTx(user, trial.Must(p.SubmitInstruction(relay.SaveMain, user, []bitcoin.Header{{Bits: 1}}, in, 0))(t), claim.FeeRate))(t),
			trial.Must(RelayTx(user, trial.Must(p.SubmitInstruction(relay.SaveNewFork, user, []bitcoin.Header{{Bits: 2}}, in, 6))(t), claim.FeeRate))(t),
		}
		return trial.Must(p.BitcoinClaimTxs(claim))(t)
	}
	if n := len(build()); n != claimAt+2 {
		t.Fatalf("%d transactions", n)
	}
	for _, c := range []struct {
		name   string
		change func(txs []*Tx) []*Tx
		err    string
	}{
		{"as it was built", func(txs []*Tx) []*Tx { return txs }, ""},
		{"the claim and the unwrapping alone", func(txs []*Tx) []*Tx { return txs[claimAt:] }, ""},
		{"without headers", func(txs []*Tx) []*Tx { return txs[2:] }, ""},
		{"one of the data is written", func(txs []*Tx) []*Tx { return slices.Delete(txs, 4, 5) }, ""},
		{"another Bitcoin transaction is written", func(txs []*Tx) []*Tx { txs[3].Instructions[2].Data[100] ^= 1; return txs }, "should be the claim"},
		{"written beyond its end", func(txs []*Tx) []*Tx { txs[3].Instructions[2].Data[10] = 1; return txs }, "should be the claim"},
		{"another data account", func(txs []*Tx) []*Tx { txs[claimAt].Instructions[2].Accounts[8].PublicKey = stranger; return txs }, "account 8"},
		{"a proof of another transaction", func(txs []*Tx) []*Tx { txs[claimAt].Instructions[0].Data[10] ^= 1; return txs }, "it is about the Bitcoin transaction"},
		{"fewer confirmations", func(txs []*Tx) []*Tx { txs[claimAt].Instructions[0].Data[40] = 1; return txs }, "it demands 1 confirmations"},
		{"a proof in another block", func(txs []*Tx) []*Tx {
			d := txs[claimAt].Instructions[0].Data
			d[len(d)-100] ^= 1
			return txs
		}, "it names the block"},
		{"a path without end", func(txs []*Tx) []*Tx { txs[claimAt].Instructions[0].Data[50] = 1; return txs }, "a path of"},
		{"no proof", func(txs []*Tx) []*Tx { txs[claimAt].Instructions = txs[claimAt].Instructions[1:]; return txs }, "not a check by the relay"},
		{"headers after the claim", func(txs []*Tx) []*Tx { return append(txs, txs[0]) }, "not asked for"},
		{"headers of nobody", func(txs []*Tx) []*Tx { txs[0].Instructions[0].Accounts[1].PublicKey = stranger; return txs }, "should be the claim"},
		{"no headers at all", func(txs []*Tx) []*Tx { clear(txs[0].Instructions[0].Data[8:12]); return txs }, "should be the claim"},
		{"no unwrapping", func(txs []*Tx) []*Tx { return txs[:claimAt+1] }, "the unwrapping of SOL is missing"},
		{"no claim", func(txs []*Tx) []*Tx { return slices.Delete(txs, claimAt, claimAt+1) }, "should be the claim"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := matchAll(wants, parsedAll(t, c.change(build())))
			if (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v; want %q", err, c.err)
			}
		})
	}
	signed := build()
	trial.Do(t, Prepare(signed, Hash{1}, 7))
	for i, tx := range signed {
		if err := signedBy(t, *tx, key).Verify(); err != nil {
			t.Errorf("transaction %d: %v", i, err)
		}
	}
}
