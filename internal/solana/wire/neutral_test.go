package wire

import (
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func hexOf(t *testing.T, tx *Parsed) string {
	t.Helper()
	return hex.EncodeToString(tx.Raw)
}

// The legacy claim of a Lightning swap goes out as two transactions. What comes back
// says which of them shows the preimage, so that it can be held back until the escrow
// is open (row 12 of the defects).
func TestOpenAndClaimTogether(t *testing.T) {
	for _, p := range []Programs{firstV1, firstV2} {
		t.Run(p.Version, func(t *testing.T) {
			userKey, user := wallet(1)
			lpKey, lp := wallet(200)
			otherKey, other := wallet(7)
			preimage := chains.Preimage{9}
			d := swapFor(t, p, false, firstToken, user)
			f := FeeRate{Price: 8000}
			auth := trial.Must(signInit(p, d, lpKey, user, 1_999_999_000, f, 5, Hash{8}))(t)
			escrow := trial.Must(d.Escrow())(t)
			plan := chains.Plan{Signer: user.String(), FeeRate: "8000", Steps: []chains.Step{
				{Kind: chains.StepInit, Escrow: escrow, Auth: auth.Auth()}, {Kind: chains.StepClaimSecret, Escrow: escrow, Preimage: preimage},
			}}
			open := trial.Must(p.OpenTxs(d, user, auth, f, SignedBlock{Hash: Hash{8}, Height: 4}, nil))(t)
			claim := trial.Must(p.ClaimTx(d, user, preimage, f, ToATA{Missing: true, Create: true}))(t)
			signed := []string{hexOf(t, signedBy(t, *open[0], userKey)), hexOf(t, signedBy(t, *claim, userKey))}
			got := trial.Must(p.CheckSigned(plan, signed))(t)
			for i, s := range got {
				if s.Step != i || s.Reveals != (i == 1) || s.From != user.String() || hex.EncodeToString(s.Raw) != signed[i] {
					t.Errorf("%d: %+v", i, s)
				}
			}
			ids, err := IDs(signed)
			if err != nil || ids[0] != got[0].ID || ids[1] != got[1].ID {
				t.Errorf("ids %v, %v", ids, err)
			}
			anyone := plan
			anyone.Signer = ""
			if _, err := p.CheckSigned(anyone, signed); err != nil {
				t.Error(err)
			}

			replace := func(i int, with string) []string { s := append([]string(nil), signed...); s[i] = with; return s }
			unsigned := signedBy(t, *claim)
			strangersClaim := trial.Must(p.ClaimTx(d, other, preimage, f, ToATA{}))(t)
			another := *d
			another.Sequence++
			for _, c := range []struct {
				name, field, err string
				plan             chains.Plan
				signed           []string
			}{
				{"nothing", "signedTxs", "must be 1 to", plan, nil},
				{"too many", "signedTxs", "must be 1 to", plan, make([]string, maxSigned+1)},
				{"no hex", "signedTxs[1]", "hexadecimal", plan, replace(1, "zz")},
				{"the text that was handed out", "signedTxs[1]", "hexadecimal", plan, replace(1, `{"tx":"00"}`)},
				{"one twice", "signedTxs[1]", "is the same transaction as an earlier one", plan, []string{signed[0], signed[0]}},
				{"not signed", "signedTxs[1]", "is missing", plan, replace(1, hexOf(t, unsigned))},
				{"the claim first", "signedTxs[0]", "the opening of the escrow", plan, []string{signed[1], signed[0]}},
				{"the claim alone", "signedTxs[0]", "the opening of the escrow", plan, signed[1:]},
				{"no claim", "signedTxs", "the claim is missing", plan, signed[:1]},
				{"signed by another", "signedTxs[1]", "paid by", plan, replace(1, hexOf(t, signedBy(t, *strangersClaim, otherKey)))},
				{"the claim of another secret", "signedTxs[1]", "data differs", plan, replace(1, hexOf(t, signedBy(t, *trial.Must(p.ClaimTx(d, user, [32]byte{1}, f, ToATA{}))(t), userKey)))},
			} {
				t.Run(c.name, func(t *testing.T) {
					_, err := p.CheckSigned(c.plan, c.signed)
					if fault.CodeOf(err) != fault.InvalidInput || fieldOf(err) != c.field || !strings.Contains(err.Error(), c.err) {
						t.Errorf("%v, about %q; want %q about %q", err, fieldOf(err), c.err, c.field)
					}
				})
			}
			// A plan for another escrow, or by the LP of another program, is not this one.
			for name, change := range map[string]func(s *chains.Step){
				"another escrow":  func(s *chains.Step) { s.Escrow = trial.Must(another.Escrow())(t) },
				"another timeout": func(s *chains.Step) { s.Auth.Timeout++ },
				"another program": func(s *chains.Step) {
					s.Escrow.Data = []byte(strings.Replace(string(s.Escrow.Data), p.Swap.String(), lp.String(), 1))
				},
				"no step of Solana": func(s *chains.Step) { s.Kind = chains.StepVaultClaim },
			} {
				changed := plan
				changed.Steps = append([]chains.Step(nil), plan.Steps...)
				change(&changed.Steps[0])
				if _, err := p.CheckSigned(changed, signed); err == nil {
					t.Errorf("%s: no error", name)
				}
			}
		})
	}
}

// firstToken is a token that is not SOL.
var firstToken = Tokens()[1].Mint

func TestPlansOfRefunds(t *testing.T) {
	p := firstV1
	userKey, user := wallet(1)
	lpKey, _ := wallet(200)
	d := swapFor(t, p, true, firstToken, user)
	escrow := trial.Must(d.Escrow())(t)
	auth := trial.Must(signRefund(d, lpKey, 1_999_999_000))(t)
	plan := chains.Plan{Seed: chains.Seed{5}, Signer: user.String(), Steps: []chains.Step{{Kind: chains.StepRefundAuth, Escrow: escrow, Auth: auth.Auth()}}}
	guard := GuardKey(plan.Seed, auth)
	tx := trial.Must(p.RefundTx(d, user, &auth, guard, FeeRate{Price: 1}, ToATA{}))(t)
	early := hexOf(t, signedBy(t, *tx, userKey, guard))
	if _, err := p.CheckSigned(plan, []string{early}); err != nil {
		t.Error(err)
	}
	late := plan
	late.Steps = []chains.Step{{Kind: chains.StepRefund, Escrow: escrow}}
	if _, err := p.CheckSigned(late, []string{early}); err == nil {
		t.Error("a refund with authorisation was taken for one by time")
	}
	tx = trial.Must(p.RefundTx(d, user, nil, nil, FeeRate{Price: 1}, ToATA{}))(t)
	if _, err := p.CheckSigned(late, []string{hexOf(t, signedBy(t, *tx, userKey))}); err != nil {
		t.Error(err)
	}
}

func TestPlanOfABitcoinClaim(t *testing.T) {
	raw := vectors.Unhex(t, "0100000001"+strings.Repeat("00", 36)+"00ffffffff"+"01"+"1027000000000000"+"160014"+strings.Repeat("00", 20)+"00000000")
	tx := trial.Must(rawtx.Decode(raw))(t)
	var in StoredHeader
	in.Work, in.Header.Bits = new(big.Int), 0x1d00ffff
	pay := chains.Payment{Raw: raw, TxID: tx.TxHash(), Block: in.Header.Hash(), Confirmations: 2}
	userKey, user := wallet(1)
	sign := func(txs []*Tx) (signed []string) {
		t.Helper()
		trial.Do(t, Prepare(txs, Hash{4}, 9))
		for _, tx := range txs {
			signed = append(signed, hexOf(t, signedBy(t, *tx, userKey)))
		}
		return signed
	}
	for _, p := range []Programs{firstV1, firstV2} {
		d := swapFor(t, p, false, firstToken, user)
		d.Kind, d.Confirmations = chains.Onchain, 2
		payment := pay
		plan := chains.Plan{Seed: chains.Seed{5}, Signer: user.String(), Steps: []chains.Step{{Kind: chains.StepClaimBitcoin, Escrow: trial.Must(d.Escrow())(t), Payment: &payment}}}
		claim := BitcoinClaim{Data: d, Signer: user, Stripped: raw, Proof: Proof{TxID: pay.TxID}, Confirmations: 2, Header: in,
			DataKey: ClaimDataKey(plan.Seed, pay.TxID, user, 0), To: ToATA{Missing: true, Create: true}, FeeRate: FeeRate{Price: 1}}
		var signed []string
		// Either layout will do for v2, of which only the chain knows the right one.
		for _, claim.Layout = range []DataLayout{DataPlain, DataTagged, 4} {
			built := trial.Must(p.BitcoinClaimTxs(claim))(t)
			txs := sign(built)
			got, err := p.CheckSigned(plan, txs)
			if known := slices.Contains(p.DataLayouts(), claim.Layout); known != (err == nil) {
				t.Fatalf("%s, layout %d: %v", p.Version, claim.Layout, err)
			} else if known {
				signed = txs
			}
			if err == nil && (len(got) != len(built) || got[len(got)-1].Reveals) {
				t.Fatal(got)
			}
		}
		other := plan
		other.Seed = chains.Seed{6}
		if _, err := p.CheckSigned(other, signed); err == nil {
			t.Error("a data account of somebody else's key was taken")
		}

		// A small payment may be in the claim itself, but not in v1's.
		if txs := trial.Must(p.InlineClaimTxs(claim))(t); txs != nil {
			t.Error("the token account is missing, which takes a transaction before")
		}
		claim.To = ToATA{}
		inline := trial.Must(p.InlineClaimTxs(claim))(t)
		if len(inline) != 1 {
			t.Fatalf("%d transactions", len(inline))
		}
		if _, err := p.CheckSigned(plan, sign(inline)); (err == nil) != (p.Version == V2) {
			t.Errorf("%s, without a data account: %v", p.Version, err)
		}
		for at := range raw {
			changed := *inline[0]
			changed.Instructions = slices.Clone(inline[0].Instructions)
			last := &changed.Instructions[len(changed.Instructions)-1]
			last.Data = slices.Clone(last.Data)
			last.Data[len(last.Data)-1-at] ^= 1
			if _, err := p.CheckSigned(plan, sign([]*Tx{&changed})); err == nil {
				t.Fatalf("%s: another payment was taken, at %d bytes from the end", p.Version, at)
			}
		}
		claim.Stripped = make([]byte, 600)
		if txs := trial.Must(p.InlineClaimTxs(claim))(t); txs != nil {
			t.Error("a payment of 600 bytes does not fit")
		}
		claim.Stripped, claim.Before = raw, inline
		if txs := trial.Must(p.InlineClaimTxs(claim))(t); txs != nil {
			t.Error("the relay must be brought up to date before")
		}
		plan.Steps[0].Payment = nil
		if _, err := p.CheckSigned(plan, signed); err == nil {
			t.Error("a claim without its payment was taken")
		}
	}
}

func TestExpect(t *testing.T) {
	_, user := wallet(1)
	_, lp := wallet(2)
	spec := func() chains.Spec {
		return chains.Spec{Kind: chains.Onchain, Offerer: lp.String(), Claimer: user.String(), Token: WSOL.String(), Amount: big.NewInt(7), PayOut: true, Sequence: big.NewInt(3), Expiry: 2_000_000_000,
			Condition: chains.Condition{Kind: chains.Onchain, Script: []byte{1}, Sats: 5, Confirmations: 3}, Hints: true}
	}
	d := trial.Must(firstV1.Expect(spec()))(t)
	hint := rawtx.TxoHash(5, []byte{1})
	if d.PaymentHash != rawtx.NoncedTxoHash(0, 5, []byte{1}) || *d.TxoHint() != hint || !d.IsClaimer(user) || d.IsClaimer(lp) || *d.OffererATA != (Key{}) || d.Confirmations != 3 {
		t.Errorf("%+v", d)
	}
	e := trial.Must(d.Escrow())(t)
	again, err := firstV1.SwapDataOf(e)
	if err != nil || cmp.Diff(d, again) != "" {
		t.Errorf("read back: %v, %s", err, cmp.Diff(d, again))
	}
	if _, err := firstV2.SwapDataOf(e); err == nil {
		t.Error("an escrow of another program was taken")
	}
	huge := new(big.Int).Lsh(big.NewInt(1), 64)
	for name, c := range map[string]struct {
		change func(s *chains.Spec)
		field  string
	}{
		"amount of 2^64":    {func(s *chains.Spec) { s.Amount = huge }, "amount"},
		"negative amount":   {func(s *chains.Spec) { s.Amount = big.NewInt(-1) }, "amount"},
		"sequence of 2^64":  {func(s *chains.Spec) { s.Sequence = huge }, "sequence"},
		"deposit of 2^64":   {func(s *chains.Spec) { s.SecurityDeposit = huge }, "securityDeposit"},
		"bounty of 2^64":    {func(s *chains.Spec) { s.ClaimerBounty = huge }, "claimerBounty"},
		"no address":        {func(s *chains.Spec) { s.Claimer = "0x00" }, "claimer"},
		"no token":          {func(s *chains.Spec) { s.Token = "" }, "token"},
		"another deposit":   {func(s *chains.Spec) { s.DepositToken = firstToken.String() }, "depositToken"},
		"negative expiry":   {func(s *chains.Spec) { s.Expiry = -1 }, "expiry"},
		"another condition": {func(s *chains.Spec) { s.Kind = chains.HTLC }, "condition"},
		"too many sats":     {func(s *chains.Spec) { s.Condition.Sats = 1 << 60 }, "condition"},
	} {
		s := spec()
		c.change(&s)
		if _, err := firstV1.Expect(s); fault.CodeOf(err) != fault.InvalidInput || fieldOf(err) != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	d.Expiry = 5
	if _, err := d.Escrow(); err == nil {
		t.Error("an expiry that is a Bitcoin height was taken for a time")
	}
}

// Who has to claim what it opens must have ten minutes left for it; who pays in need
// not: whoever claims is somebody else.
func TestOpeningThatIsTooLateToClaim(t *testing.T) {
	_, user := wallet(1)
	expiry := int64(2_000_000_000)
	for _, c := range []struct {
		payIn bool
		now   int64
		late  bool
	}{{false, expiry - 600, false}, {false, expiry - 599, true}, {true, expiry - 599, false}, {true, expiry, false}} {
		d := swapFor(t, firstV1, c.payIn, firstToken, user)
		_, err := firstV1.CheckInit(d, user, d.InitPrefix(), c.now+100, time.Unix(c.now, 0))
		var refusal *chains.AuthError
		if (err != nil) != c.late || err != nil && (!errors.As(err, &refusal) || !refusal.Late) {
			t.Errorf("pays in %v, %d s left: %v", c.payIn, expiry-c.now, err)
		}
	}
}

// The edges of an authorisation, and what an LP can write into one.
func TestInitAuthAttacks(t *testing.T) {
	p := firstV1
	lpKey, _ := wallet(200)
	_, user := wallet(1)
	_, stranger := wallet(3)
	d := swapFor(t, p, true, WSOL, user)
	now := time.Unix(1_999_998_000, 0)
	f := FeeRate{Price: 8000, Wrap: &Wrap{Create: true}}
	good := trial.Must(signInit(p, d, lpKey, user, 1_999_999_000, f, 1000, Hash{8}))(t)
	trial.Do(t, p.VerifyInit(d, user, good, f, Hash{8}))
	refused := func(what string, err error) {
		t.Helper()
		var refusal *chains.AuthError
		if !errors.As(err, &refusal) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// Another fee-rate text is another message: the one that was sent must be kept (row 28).
	for name, other := range map[string]FeeRate{
		"price": {Price: 8001, Wrap: f.Wrap}, "static": {Price: 8000, Static: 100, Wrap: f.Wrap}, "no wrapping": {Price: 8000},
		"other balance": {Price: 8000, Wrap: &Wrap{Create: true, Balance: 1}}, "account exists": {Price: 8000, Wrap: &Wrap{}}, "bribe": {Price: 8000, Bribe: Key{3}, Wrap: f.Wrap},
	} {
		refused("fee rate: "+name, p.VerifyInit(d, user, good, other, Hash{8}))
	}
	refused("another block", p.VerifyInit(d, user, good, f, Hash{9}))
	refused("a stranger's", p.VerifyInit(d, stranger, good, f, Hash{8}))
	bare := *d
	bare.ClaimerBounty = 1
	refused("terms that v1 does not take", p.VerifyInit(&bare, user, good, f, Hash{8}))
	for _, text := range []string{"", ";", "5", "5;", "x;" + strings.Repeat("00", 64), "-1;" + strings.Repeat("00", 64), "5;" + strings.Repeat("00", 63), "5;" + strings.Repeat("zz", 64),
		"18446744073709551615;" + strings.Repeat("00", 64), strings.Repeat("9", 100) + ";" + strings.Repeat("00", 64)} {
		_, err := ParseInitAuth(chains.Auth{Prefix: PrefixPayIn, Timeout: 5, Signature: text})
		refused("signature "+text, err)
	}
	for _, timeout := range []int64{-1, maxTimeout + 1, 1<<63 - 1} {
		a := good.Auth()
		a.Timeout = timeout
		_, err := ParseInitAuth(a)
		refused("timeout", err)
		r := trial.Must(signRefund(d, lpKey, 5))(t).Auth()
		r.Timeout = timeout
		_, err = d.VerifyRefund(r, now)
		refused("timeout of a refund", err)
	}
	// Slots: the last at which it can be used, and far ones, which must not overflow.
	for latest, want := range map[uint64]bool{0: true, 1131: true, 1132: false, 1 << 62: false, 1<<64 - 1: false, 1<<64 - 10: false} {
		if err := good.CheckSlot(latest); (err == nil) != want {
			t.Errorf("slot %d: %v", latest, err)
		}
		if until := UsableUntil(&good, good.Timeout, latest, now); until.IsZero() == want {
			t.Errorf("slot %d: usable until %v", latest, until)
		}
	}
	far := good
	far.Slot = 1 << 62
	if until := UsableUntil(&far, far.Timeout, 5, now); until != time.Unix(int64(good.Timeout)-30, 0) {
		t.Errorf("a slot of the far future: usable until %v", until)
	}
	for finalized, want := range map[uint64]bool{0: false, 1171: false, 1172: true, 1<<64 - 1: true} {
		if got := Over(&good, good.Timeout, finalized, now); got != want {
			t.Errorf("finalized %d: over %v", finalized, got)
		}
	}
	if !Over(nil, 5, 0, now) || Over(nil, 1<<63, 0, now) {
		t.Error("without a slot the timeout decides")
	}
}

// In v2 who pays in may open an escrow that pays out without anybody's signature: then
// the offer for compute units is the wallet's own affair, and nothing else is.
func TestOpeningWithoutAuthorisation(t *testing.T) {
	p := firstV2
	userKey, user := wallet(1)
	d := swapFor(t, p, true, firstToken, user)
	ata := ATA(d.Claimer, d.Token)
	d.PayOut, d.ClaimerATA = true, &ata
	plan := chains.Plan{Signer: user.String(), FeeRate: "8000", Steps: []chains.Step{{Kind: chains.StepInit, Escrow: trial.Must(d.Escrow())(t), Auth: chains.Auth{Timeout: 1_999_999_000}}}}
	build := func(timeout uint64) *Tx {
		return trial.Must(p.OpenTxs(d, user, InitAuth{Timeout: timeout}, FeeRate{Price: 9000}, SignedBlock{}, nil))(t)[0]
	}
	if tx := build(1_999_999_000); !tx.Blockhash.IsZero() || len(tx.Signatures) != 0 {
		t.Error("it waits for the block and the signature of somebody")
	}
	if _, err := p.CheckSigned(plan, []string{hexOf(t, signedBy(t, *build(1_999_999_000), userKey))}); err != nil {
		t.Error(err)
	}
	if _, err := p.CheckSigned(plan, []string{hexOf(t, signedBy(t, *build(1_999_999_001), userKey))}); err == nil {
		t.Error("another timeout was taken")
	}
	plan.Steps[0].Auth.Timeout = -1
	if _, err := p.CheckSigned(plan, []string{hexOf(t, signedBy(t, *build(1), userKey))}); err == nil {
		t.Error("a negative timeout was taken")
	}
}

func TestCheckPayment(t *testing.T) {
	d := swapFor(t, firstV1, false, firstToken, Key{1})
	d.Kind, d.Confirmations = chains.Onchain, 2
	script := vectors.Unhex(t, "0014"+strings.Repeat("00", 20))
	d.PaymentHash = trial.Must(ClaimHashOf(chains.Condition{Kind: chains.Onchain, Script: script, Sats: 10_000}))(t).PaymentHash
	raw := vectors.Unhex(t, "0100000001"+strings.Repeat("00", 36)+"00ffffffff"+"01"+"1027000000000000"+"160014"+strings.Repeat("00", 20)+"00000000")
	id := trial.Must(rawtx.Decode(raw))(t).TxHash()
	good := chains.Payment{Raw: raw, TxID: id}
	if stripped, err := d.CheckPayment(good); err != nil || string(stripped) != string(raw) {
		t.Errorf("%x, %v", stripped, err)
	}
	other := good
	other.Raw = append(append([]byte(nil), raw[:len(raw)-1]...), 1)
	lies, far := good, good
	lies.TxID[0]++
	far.Vout = 1
	wrong, nonced, byID := *d, *d, *d
	wrong.PaymentHash[0]++
	nonced.Kind, nonced.Nonce = chains.OnchainNonced, 7
	byID.Kind = chains.OnchainTxID
	for name, check := range map[string]func() ([]byte, error){
		"another transaction": func() ([]byte, error) { return d.CheckPayment(other) },
		"another id":          func() ([]byte, error) { return d.CheckPayment(lies) },
		"no such output":      func() ([]byte, error) { return d.CheckPayment(far) },
		"another output":      func() ([]byte, error) { return wrong.CheckPayment(good) },
		"no nonce":            func() ([]byte, error) { return nonced.CheckPayment(good) },
		"another payment":     func() ([]byte, error) { return byID.CheckPayment(good) },
	} {
		if _, err := check(); err == nil {
			t.Errorf("%s passes", name)
		}
	}
	byID.PaymentHash = id
	if _, err := byID.CheckPayment(good); err != nil {
		t.Error(err)
	}
}

func TestLimitIsRaisedOnly(t *testing.T) {
	tx := Tx{Payer: Key{1}, Instructions: []Instruction{SetPrice(5), SetLimit(100), Unwrap(Key{1})}}
	for _, units := range []uint32{50, 100, 200} {
		tx.RaiseLimit(units)
	}
	if got, _ := limitOf(tx.Instructions[1]); got != 200 {
		t.Errorf("a limit of %d", got)
	}
	if got, _ := limitOf(tx.Unlimited().Instructions[1]); got != MaxUnits {
		t.Errorf("a limit of %d", got)
	}
	if got, _ := limitOf(tx.Instructions[1]); got != 200 {
		t.Errorf("the original has a limit of %d", got)
	}
}

func TestTransferred(t *testing.T) {
	if to, lamports, ok := Transferred(Transfer(Key{1}, Key{2}, 7)); !ok || to != (Key{2}) || lamports != 7 {
		t.Errorf("%s, %d, %v", to, lamports, ok)
	}
	cut := Transfer(Key{1}, Key{2}, 7)
	cut.Data = cut.Data[:11]
	for name, ix := range map[string]Instruction{"token": TransferToken(Key{1}, Key{2}, Key{3}, 7), "cut": cut, "creation": CreateAccount(Key{1}, Key{2}, Key{3}, 4, 5)} {
		if _, _, ok := Transferred(ix); ok {
			t.Errorf("%s is a transfer", name)
		}
	}
}

// A data account that somebody has spoilt is passed over, and the claim with the next
// is as good.
func TestEveryDataAccountOfASignerIsAccepted(t *testing.T) {
	seed, txid := chains.Seed{1}, bitcoin.Hash{2}
	seen := map[Key]bool{}
	for _, signer := range []Key{{1}, {2}} {
		for n := range DataKeys {
			seen[ClaimDataKey(seed, txid, signer, n).PublicKey()] = true
		}
	}
	if len(seen) != 2*DataKeys {
		t.Errorf("%d keys, want %d", len(seen), 2*DataKeys)
	}
}
