package wire

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/NethermindEth/starknet.go/curve"
	btcwire "github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

// account is a plain account of a key.
type account struct {
	key    *big.Int
	deploy Deploy
}

func newAccount(t testing.TB, private int64) account {
	t.Helper()
	key := big.NewInt(private)
	return account{key, OpenZeppelin(publicKeyOf(t, key.String()))}
}

func (a account) address() Felt { return a.deploy.Address() }

// sign does what a wallet does with a transaction that it was handed.
func (a account) sign(t testing.TB, handed *Transaction, change ...func(*Transaction)) string {
	t.Helper()
	tx := *handed
	tx.Signed, tx.Calldata = true, ExecuteCalldata(handed.Calls)
	if tx.Type == DeployAccount {
		tx.Deploy, tx.Calldata = a.deploy, nil
	}
	for _, f := range change {
		f(&tx)
	}
	h := trial.Must(tx.Hash())(t)
	r, s := trial.Must2(curve.Sign(Number(h), a.key))(t)
	tx.Signature = felts(nil).number(r).number(s)
	return tx.String()
}

// payIn is a user's escrow of a token towards an LP, and an authorisation's form.
func payIn(t testing.TB, d Deployment, user Felt) (SwapData, chains.Auth) {
	t.Helper()
	s := trial.Must(d.NewSwapData(Terms{Kind: chains.HTLC, Offerer: user, Claimer: FeltOf(0xaa), Token: FeltOf(0xbb), Amount: big.NewInt(1_000_000), PayIn: true,
		ClaimData: FeltOf(1), Sequence: 9, Expiry: 2_000_000_000}))(t)
	return s, chains.Auth{Prefix: prefixInitPayIn, Timeout: 1_900_000_000, Signature: `["0x1","0x2"]`}
}

// What a wallet, a site in between or a caller could return instead of what was asked for.
func TestCheckSignedAttacks(t *testing.T) {
	n, d := networkOf(t, ""), deploymentOf(t, "")
	user, stranger := newAccount(t, 5), newAccount(t, 6)
	me := user.address()
	s, auth := payIn(t, d, me)
	calls, err := d.Init(s, me, auth)
	if err != nil || len(calls) != 2 {
		t.Fatalf("%+v, %v", calls, err)
	}
	rate := feeRateOf(t, "1,2,3;v3")
	approval, open := calls[0], calls[1]
	with := func(c Call, f func(c *Call)) Call {
		c.Calldata = slices.Clone(c.Calldata)
		f(&c)
		return c
	}
	more := with(approval, func(c *Call) { c.Calldata[2] = FeltOf(7) })
	less := with(approval, func(c *Call) { c.Calldata[1] = FeltOf(999_999) })
	thief := with(approval, func(c *Call) { c.Calldata[0] = stranger.address() })
	send := with(approval, func(c *Call) { c.Entry = entryTransfer })
	wide := with(approval, func(c *Call) { c.Calldata = append(c.Calldata, Felt{}) })
	other := with(open, func(c *Call) { c.Calldata[len(c.Calldata)-2].Add(&c.Calldata[len(c.Calldata)-2], &feltOne) })
	elsewhere := with(open, func(c *Call) { c.To = deploymentOf(t, "TESTNET4").EscrowManager.Address })
	steal := trial.Must(Transfer(FeltOf(0xbb), stranger.address(), big.NewInt(5)))(t)
	tx := func(nonce uint64, calls ...Call) *Transaction { return n.NewInvoke(me, nonce, rate, calls) }
	deploy := n.NewDeploy(me, rate)
	good := user.sign(t, tx(5, calls...))
	replace := func(old, new string) string {
		text := strings.Replace(good, old, new, 1)
		if text == good {
			t.Fatalf("%s is not there", old)
		}
		return text
	}
	for _, c := range []struct {
		name   string
		signed []string
		field  string // empty if it is accepted
		calls  [][]int
	}{
		{"as asked", []string{good}, "", [][]int{{0, 1}}},
		{"approved before", []string{user.sign(t, tx(5, open))}, "", [][]int{{1}}},
		{"approval raised", []string{user.sign(t, tx(5, more, open))}, "", [][]int{{0, 1}}},
		{"approval on its own", []string{user.sign(t, tx(5, approval)), user.sign(t, tx(6, open))}, "", [][]int{{0}, {1}}},
		{"deployed first", []string{user.sign(t, deploy), user.sign(t, tx(1, calls...))}, "", [][]int{nil, {0, 1}}},
		{"other fees", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.Bounds.L2 = Bound{1, big.NewInt(9)}; x.Tip = 3 })}, "", [][]int{{0, 1}}},
		{"nothing", nil, "signedTxs", nil},
		{"far too many", make([]string, maxSigned+1), "signedTxs", nil},
		{"no JSON", []string{"hello"}, "signedTxs[0]", nil},
		{"not signed", []string{tx(5, calls...).String()}, "signedTxs[0]", nil},
		{"approval only", []string{user.sign(t, tx(5, approval))}, "signedTxs", nil},
		{"action before its approval", []string{user.sign(t, tx(5, open, approval))}, "signedTxs[0]", nil},
		{"the action twice", []string{user.sign(t, tx(5, approval, open, open))}, "signedTxs[0]", nil},
		{"the action twice, in two", []string{good, user.sign(t, tx(6, open))}, "signedTxs[1]", nil},
		{"another call behind", []string{user.sign(t, tx(5, approval, open, steal))}, "signedTxs[0]", nil},
		{"another call before", []string{user.sign(t, tx(5, steal, approval, open))}, "signedTxs[0]", nil},
		{"another transaction", []string{good, user.sign(t, tx(6, steal))}, "signedTxs[1]", nil},
		{"no call", []string{user.sign(t, tx(5), func(x *Transaction) { x.Bounds = open.bounds(rate) }), user.sign(t, tx(6, calls...))}, "signedTxs[0]", nil},
		{"approval lowered", []string{user.sign(t, tx(5, less, open))}, "signedTxs[0]", nil},
		{"another spender", []string{user.sign(t, tx(5, thief, open))}, "signedTxs[0]", nil},
		{"tokens sent instead of approved", []string{user.sign(t, tx(5, send, open))}, "signedTxs[0]", nil},
		{"an approval with something behind it", []string{user.sign(t, tx(5, wide, open))}, "signedTxs[0]", nil},
		{"another timeout", []string{user.sign(t, tx(5, approval, other))}, "signedTxs[0]", nil},
		{"another contract", []string{user.sign(t, tx(5, approval, elsewhere))}, "signedTxs[0]", nil},
		{"a gap between nonces", []string{user.sign(t, tx(5, approval)), user.sign(t, tx(7, open))}, "signedTxs[1]", nil},
		{"the same nonce", []string{user.sign(t, tx(5, approval)), user.sign(t, tx(5, open))}, "signedTxs[1]", nil},
		{"another account", []string{stranger.sign(t, n.NewInvoke(stranger.address(), 5, rate, calls))}, "signedTxs[0]", nil},
		{"another chain", []string{user.sign(t, networkOf(t, "TESTNET4").NewInvoke(me, 5, rate, calls))}, "signedTxs[0]", nil},
		{"a paymaster", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.PaymasterData = []Felt{FeltOf(1)} })}, "signedTxs[0]", nil},
		{"deployment data", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.AccountDeploymentData = []Felt{FeltOf(1)} })}, "signedTxs[0]", nil},
		{"the nonce elsewhere", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.NonceMode = DAModeL2 })}, "signedTxs[0]", nil},
		{"the fee elsewhere", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.FeeMode = DAModeL2 })}, "signedTxs[0]", nil},
		{"no gas", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.Bounds.L2.MaxAmount = 0 })}, "signedTxs[0]", nil},
		{"no price", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.Bounds.L2.MaxPrice = new(big.Int) })}, "signedTxs[0]", nil},
		{"an absurd fee", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.Bounds.L1 = Bound{1 << 30, new(big.Int).Lsh(big.NewInt(1), 50)} })}, "signedTxs[0]", nil},
		{"the largest fee", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.Bounds.L1 = Bound{1 << 30, new(big.Int).Lsh(big.NewInt(1), 48)} })}, "", [][]int{{0, 1}}},
		{"an absurd tip", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.Tip = 1 << 40 })}, "signedTxs[0]", nil},
		{"calldata that is no calls", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.Calldata = x.Calldata[:20] })}, "signedTxs[0]", nil},
		{"calldata with something behind", []string{user.sign(t, tx(5, calls...), func(x *Transaction) { x.Calldata = append(slices.Clone(x.Calldata), Felt{}) })}, "signedTxs[0]", nil},
		{"a sender beside the account", []string{replace(`"contractAddress":"`+Hex(me)+`"`, `"contractAddress":"`+Hex(stranger.address())+`"`)}, "signedTxs[0]", nil},
		{"version 1", []string{replace(`"version":"0x3"`, `"version":"0x1"`)}, "signedTxs[0]", nil},
		{"no signature", []string{replace(`"signature":[`, `"signature":[],"x":[`)}, "signedTxs[0]", nil},
		{"a declaration", []string{replace(`"INVOKE"`, `"DECLARE"`)}, "signedTxs[0]", nil},
		{"deployed at the end", []string{good, user.sign(t, deploy, func(x *Transaction) { x.Nonce = 6 })}, "signedTxs[1]", nil},
		{"deployed with a nonce", []string{user.sign(t, deploy, func(x *Transaction) { x.Nonce = 4 }), good}, "signedTxs[0]", nil},
		{"another's deployment", []string{user.sign(t, deploy, func(x *Transaction) { x.Deploy.ClassHash = FeltOf(7) }), user.sign(t, tx(1, calls...))}, "signedTxs[0]", nil},
		{"a deployment of no class", []string{user.sign(t, deploy, func(x *Transaction) { x.Deploy.ClassHash = Felt{} }), user.sign(t, tx(1, calls...))}, "signedTxs[0]", nil},
		{"a deployment alone", []string{user.sign(t, deploy)}, "signedTxs", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			checked, err := d.CheckSigned(n, me, calls, c.signed)
			if c.field != "" {
				if fault.CodeOf(err) != fault.InvalidInput || fieldOf(err) != c.field {
					t.Fatalf("%v, about %q; want %q", err, fieldOf(err), c.field)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, tx := range checked {
				h, err := tx.Hash()
				if err != nil || tx.ID != Hex(h) || !slices.Equal(tx.Calls, c.calls[i]) || !SignedByKey(user.deploy.Salt, h, tx.Signature) {
					t.Errorf("%d: %s makes %v, %v", i, tx.ID, tx.Calls, err)
				}
			}
		})
	}
	if _, err := d.CheckSigned(n, Felt{}, calls, []string{user.sign(t, tx(5, approval)), stranger.sign(t, n.NewInvoke(stranger.address(), 6, rate, []Call{open}))}); fieldOf(err) != "signedTxs[1]" {
		t.Errorf("two accounts, where any is taken: %v", err)
	}
	// A person hears of the action rather than of the approval before it.
	if _, err := d.CheckSigned(n, me, calls, []string{user.sign(t, tx(5, other))}); err == nil || !strings.Contains(err.Error(), "calls the contract differently than the action requires") {
		t.Errorf("another action: %v", err)
	}
	if _, err := d.CheckSigned(n, me, calls[:1], []string{user.sign(t, tx(5, thief))}); err == nil || !strings.Contains(err.Error(), "must approve the spender") {
		t.Errorf("another approval: %v", err)
	}
	if _, err := IDs([]string{good, tx(5, calls...).String()}); fieldOf(err) != "signedTxs[1]" {
		t.Errorf("an id of what is not signed: %v", err)
	}
	if _, err := IDs(make([]string, maxSigned+1)); fieldOf(err) != "signedTxs" {
		t.Errorf("ids without bound: %v", err)
	}
}

func (c Call) bounds(r FeeRate) Bounds { return r.Bounds(c.Gas) }

// A deployment that is handed out names the account alone; one that names its class and
// constructor too is read with them.
func TestUnsignedDeployment(t *testing.T) {
	n := networkOf(t, "")
	tx := n.NewDeploy(FeltOf(5), feeRateOf(t, "1,2,3;v3"))
	tx.Deploy = Deploy{ClassHash: FeltOf(7), ConstructorCalldata: []Felt{FeltOf(8)}}
	again, err := ParseTransaction(tx.String())
	if err != nil || again.Deploy.ClassHash != FeltOf(7) || len(again.Deploy.ConstructorCalldata) != 1 || again.String() != tx.String() {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := ParseTransaction(strings.Replace(tx.String(), `"constructorCalldata":["8"]`, `"constructorCalldata":["x"]`, 1)); fieldOf(err) != "tx.constructorCalldata[0]" {
		t.Errorf("%v", err)
	}
}

// A transaction is read in every notation that wallets write, and in no other.
func TestParseTransactionForms(t *testing.T) {
	n, user := networkOf(t, ""), newAccount(t, 5)
	good := user.sign(t, n.NewInvoke(user.address(), 5, feeRateOf(t, "1,2,3;v3"), []Call{{To: FeltOf(7), Entry: "x", Calldata: []Felt{FeltOf(1)}}}))
	want := trial.Must(ParseTransaction(good))(t)
	id := trial.Must(want.ID())(t)
	five := Hex64(FeltOf(5))
	for _, c := range []struct {
		old, new string
		field    string // empty: read as the same
	}{
		{`"nonce":"` + five + `"`, `"nonce":5`, ""}, {`"nonce":"` + five + `"`, `"nonce":"5"`, ""}, {`"nonce":"` + five + `"`, `"nonce":{"_type":"bigint","_value":"5"}`, ""},
		{`"nonce":"` + five + `"`, `"nonce":null`, "details.nonce"}, {`"nonce":"` + five + `"`, `"nonce":5.5`, "details.nonce"}, {`"nonce":"` + five + `"`, `"nonce":-1`, "details.nonce"},
		{`"nonce":"` + five + `"`, `"nonce":"0x10000000000000000"`, "details.nonce"}, {`"nonce":"` + five + `"`, `"nonce":"0xg"`, "details.nonce"}, {`"nonce":"` + five + `"`, `"nonce":["5"]`, "details.nonce"},
		{`"tip":"` + Hex64(Felt{}) + `"`, `"tip":0`, ""}, {`"tip":"` + Hex64(Felt{}) + `"`, `"tip":null`, ""}, {`"tip":"` + Hex64(Felt{}) + `"`, `"tip":"x"`, "details.tip"},
		{`"paymasterData":[]`, `"paymasterData":null`, ""}, {`"paymasterData":[]`, `"paymasterData":["x"]`, "details.paymasterData[0]"}, {`"paymasterData":[]`, `"paymasterData":5`, "details.paymasterData"},
		{`"paymasterData":[]`, `"paymasterData":["` + prime + `"]`, "details.paymasterData[0]"},
		{`"nonceDataAvailabilityMode":"L1"`, `"nonceDataAvailabilityMode":"L3"`, "details.nonceDataAvailabilityMode"}, {`"chainId":"0x534e5f4d41494e"`, `"chainId":23448594291968334`, "details.chainId"},
		{`"chainId":"0x534e5f4d41494e"`, `"chainId":"23448594291968334"`, ""}, {`"chainId":"0x534e5f4d41494e",`, ``, "details.chainId"}, {`"walletAddress":"0x0`, `"walletAddress":"0x`, ""},
		{`"walletAddress":"0x`, `"walletAddress":"`, "details.walletAddress"}, {`"l1_gas":{`, `"l1":{`, "details.resourceBounds.l1_gas"}, {`"max_amount":"`, `"max":"`, "details.resourceBounds.l2_gas.max_amount"},
		{`"max_price_per_unit":"0x`, `"max_price_per_unit":"0xffffffffffffffffffffffffffffffff1`, "details.resourceBounds.l2_gas.max_price_per_unit"}, {`"resourceBounds":`, `"bounds":`, "details.resourceBounds"},
		{`"details":`, `"detail":`, "details"}, {`"version":"0x3"`, `"version":3`, ""}, {`"version":"0x3",`, ``, ""}, {`"skipValidate":false`, `"skipValidate":null,"more":{"x":1}`, ""},
		{`"type":"INVOKE"`, `"type":5`, "type"}, {`"entrypoint":"x"`, `"entrypoint":5`, "tx[0].entrypoint"}, {`"tx":[{`, `"tx":[5,{`, "tx[0]"}, {`"tx":[{`, `"tx":5,"x":[{`, "tx"},
		{`"signed":{`, `"signed":5,"x":{`, "signed"}, {`,"calldata":["1","7"`, `,"calldata":[],"x":["1","7"`, "signed.calldata"}, {`,"calldata":["1","7"`, `,"calldata":[1,"0x7"`, ""},
		{`,"calldata":["1","7"`, `,"calldata":["-1","7"`, "signed.calldata[0]"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Errorf("%s is not there", c.old)
			continue
		}
		tx, err := ParseTransaction(text)
		if c.field != "" {
			if fieldOf(err) != c.field {
				t.Errorf("%s: %v, about %q; want %q", c.new, err, fieldOf(err), c.field)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.new, err)
			continue
		}
		if got, err := tx.ID(); err != nil || got != id {
			t.Errorf("%s: id %s, %v", c.new, got, err)
		}
	}
	for _, text := range []string{"", "[]", "null", good + "x", strings.Repeat(" ", maxTxText+1), `{"_type":"bigint","_value":"5"}`, strings.Replace(good, `"nonce":"`+five+`"`, `"nonce":{"_type":"bigint","_value":"5"}`, 1) + "{}", `{"_type":` + strings.Repeat(`{"_type":`, 100)} {
		if _, err := ParseTransaction(text); err == nil {
			t.Errorf("%.30q is read", text)
		}
	}
	object := strings.Replace(good, `"signature":["`+Decimal(want.Signature[0])+`","`+Decimal(want.Signature[1])+`"]`, `"signature":{"r":"`+Hex(want.Signature[0])+`","s":"`+Decimal(want.Signature[1])+`","recovery":1}`, 1)
	if tx, err := ParseTransaction(object); object == good || err != nil || !slices.Equal(tx.Signature, want.Signature) {
		t.Errorf("a signature of r and s: %v", err)
	}
	if _, err := ParseTransaction(strings.Replace(object, `"s":`, `"t":`, 1)); fieldOf(err) != "signed.signature.s" {
		t.Errorf("half a signature: %v", err)
	}
}

// feltOne is added where something must change.
var feltOne = FeltOf(1)

// provenTx is a Bitcoin transaction with a nonce that pays, in a block of two, and its proof.
func provenTx(t testing.TB, tx *btcwire.MsgTx) BitcoinProof {
	t.Helper()
	raw := trial.Must(rawtx.Encode(tx))(t)
	ids := []bitcoin.Hash{{1}, tx.TxHash()}
	proof, ok := bitcoin.BuildMerkleProof(ids, tx.TxHash(), 70)
	if !ok {
		t.Fatal("no proof")
	}
	return BitcoinProof{Tx: raw, Confirmations: 2, Merkle: proof, Header: StoredHeader{Header: bitcoin.Header{Height: 70, Bits: 0x207fffff, MerkleRoot: proof.Root()}, Work: big.NewInt(5)}}
}

func paymentTx() *btcwire.MsgTx {
	tx := btcwire.NewMsgTx(2)
	tx.LockTime = 500_000_007
	for i := range 2 {
		tx.AddTxIn(&btcwire.TxIn{PreviousOutPoint: btcwire.OutPoint{Index: uint32(i)}, Sequence: 0xf0000009})
	}
	tx.AddTxOut(btcwire.NewTxOut(5000, []byte{0x51, 0x20, 7}))
	return tx
}

// A claim that comes back may prove the condition by another header, and by nothing else.
func TestReturnedBitcoinClaims(t *testing.T) {
	n, d, user := networkOf(t, ""), deploymentOf(t, ""), newAccount(t, 5)
	tx := paymentTx()
	for _, condition := range []chains.Condition{
		{Kind: chains.Onchain, Script: tx.TxOut[0].PkScript, Sats: 5000, Confirmations: 2},
		{Kind: chains.OnchainNonced, Script: tx.TxOut[0].PkScript, Sats: 5000, Nonce: 7<<24 | 9, Confirmations: 2},
		{Kind: chains.OnchainTxID, TxID: tx.TxHash(), Confirmations: 2},
	} {
		s := trial.Must(d.Expect(chains.Spec{Kind: condition.Kind, Offerer: "0xaa", Claimer: Hex64(user.address()), Token: "0xbb", Amount: big.NewInt(5), Condition: condition, Expiry: 2_000_000_000, PayOut: true}))(t)
		e := trial.Must(d.Escrow(s))(t)
		p := provenTx(t, tx)
		call := trial.Must(d.ClaimByBitcoin(s, p))(t)
		pattern := trial.Must(d.BitcoinClaimPattern(s))(t)
		headers, _ := trial.Must2(d.SubmitHeaders(Branch{}, p.Header, []bitcoin.Header{{PrevBlock: p.Header.Header.Hash(), Bits: 0x207fffff}}))(t)
		plan := chains.Plan{Steps: []chains.Step{{Kind: chains.StepClaimBitcoin, Escrow: e}}}
		check := func(calls ...Call) error {
			text := user.sign(t, n.NewInvoke(user.address(), 3, feeRateOf(t, "1,2,3;v3"), calls))
			checked, err := d.CheckSigned(n, user.address(), pattern, []string{text})
			if err != nil {
				return err
			}
			return d.CheckProofs(plan, pattern, []int{0, 0}, checked)
		}
		with := func(f func(c []Felt) []Felt) Call { c := call; c.Calldata = f(slices.Clone(call.Calldata)); return c }
		otherHeader := p
		otherHeader.Header.Work = big.NewInt(6)
		second := trial.Must(d.ClaimByBitcoin(s, otherHeader))(t)
		wrongProof := p
		wrongProof.Merkle.Hashes = []bitcoin.Hash{{2}}
		unproven := trial.Must(d.ClaimByBitcoin(s, wrongProof))(t)
		elsewhere := headers
		elsewhere.Entry = "upgrade"
		badHeaders := headers
		badHeaders.Calldata = slices.Clone(headers.Calldata[:len(headers.Calldata)-1])
		for name, c := range map[string]struct {
			calls []Call
			ok    bool
		}{
			"as it is":                 {[]Call{call}, true},
			"after headers":            {[]Call{headers, call}, true},
			"after headers twice":      {[]Call{headers, headers, call}, true},
			"by another header":        {[]Call{second}, true},
			"by headers alone":         {[]Call{headers}, false},
			"headers behind":           {[]Call{call, headers}, false},
			"broken headers":           {[]Call{badHeaders, call}, false},
			"the relay otherwise":      {[]Call{elsewhere, call}, false},
			"twice":                    {[]Call{call, call}, false},
			"without a proof":          {[]Call{unproven}, false},
			"a felt behind":            {[]Call{with(func(c []Felt) []Felt { return append(c, Felt{}) })}, false},
			"a felt less":              {[]Call{with(func(c []Felt) []Felt { return c[:len(c)-1] })}, false},
			"the escrow alone":         {[]Call{with(func(c []Felt) []Felt { return c[:16] })}, false},
			"another escrow":           {[]Call{with(func(c []Felt) []Felt { c[1] = FeltOf(9); return c })}, false},
			"another condition":        {[]Call{with(func(c []Felt) []Felt { c[17].Add(&c[17], &feltOne); return c })}, false},
			"a transaction's own felt": {[]Call{with(func(c []Felt) []Felt { c[len(c)-3].Add(&c[len(c)-3], &feltOne); return c })}, false},
		} {
			if err := check(c.calls...); (err == nil) != c.ok {
				t.Errorf("%s: %s: %v", condition.Kind, name, err)
			}
		}
		bad := p
		bad.Confirmations++
		if _, err := d.ClaimByBitcoin(s, bad); fault.CodeOf(err) != fault.InvalidState {
			t.Errorf("%s: other confirmations: %v", condition.Kind, err)
		}
		bad = p
		bad.Vout = 9
		if _, err := d.ClaimByBitcoin(s, bad); (err == nil) != (condition.Kind == chains.OnchainTxID) {
			t.Errorf("%s: no such output: %v", condition.Kind, err)
		}
	}
	// An input that differs in its nonce makes the contract refuse the transaction.
	tx.TxIn[1].Sequence++
	if _, err := subjectOf(chains.OnchainNonced, tx, 0); err == nil {
		t.Error("inputs of two nonces are a payment")
	}
}

// withdrawalTx is a withdrawal that spends an output of a vault.
func withdrawalTx(t testing.TB, spends bitcoin.OutPoint) *btcwire.MsgTx {
	t.Helper()
	data := trial.Must(WithdrawalData(Hex64(FeltOf(0xdd)), [2]uint64{5, 6}, nil))(t)
	script := trial.Must(rawtx.OpReturn(data))(t)
	tx := btcwire.NewMsgTx(2)
	tx.LockTime = 500_000_000
	for _, op := range []bitcoin.OutPoint{spends, {Index: 3}} {
		tx.AddTxIn(&btcwire.TxIn{PreviousOutPoint: op, Sequence: 1 << 31})
	}
	tx.AddTxOut(btcwire.NewTxOut(600, []byte{0x51}))
	tx.AddTxOut(btcwire.NewTxOut(0, script))
	return tx
}

// Claims of a vault come back in the order of its withdrawals, up to the wanted one.
func TestReturnedVaultClaims(t *testing.T) {
	n, d, user := networkOf(t, ""), deploymentOf(t, ""), newAccount(t, 5)
	v := vaultOf(t, json.RawMessage(goodVault))
	first := withdrawalTx(t, v.UTXO)
	second := withdrawalTx(t, bitcoin.OutPoint{Hash: first.TxHash()})
	claim := func(tx *btcwire.MsgTx) Call {
		return trial.Must(d.VaultClaim(v, provenTx(t, tx)))(t)
	}
	one, two := claim(first), claim(second)
	plan := chains.Plan{Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: Hex64(v.Owner), ID: Number(v.ID), TxID: second.TxHash()}}}}
	pattern := d.VaultClaimPattern(v.VaultRef)
	other := one
	other.Calldata = slices.Clone(one.Calldata)
	other.Calldata[1] = FeltOf(77)
	unproven := provenTx(t, first)
	unproven.Merkle.Pos = 0
	wrong := trial.Must(d.VaultClaim(v, unproven))(t)
	long := two
	long.Calldata = append(slices.Clone(two.Calldata), Felt{})
	for name, c := range map[string]struct {
		txs [][]Call
		ok  bool
	}{
		"both":                  {[][]Call{{one, two}}, true},
		"in two transactions":   {[][]Call{{one}, {two}}, true},
		"the last alone":        {[][]Call{{two}}, true}, // the first may have been claimed
		"the first alone":       {[][]Call{{one}}, false},
		"the wrong way round":   {[][]Call{{two, one}}, false},
		"the last twice":        {[][]Call{{two, two}}, false},
		"of another vault":      {[][]Call{{other, two}}, false},
		"without a proof":       {[][]Call{{wrong, two}}, false},
		"with a felt behind it": {[][]Call{{one, long}}, false},
	} {
		var signed []string
		for i, calls := range c.txs {
			signed = append(signed, user.sign(t, n.NewInvoke(user.address(), uint64(3+i), feeRateOf(t, "1,2,3;v3"), calls)))
		}
		checked, err := d.CheckSigned(n, Felt{}, pattern, signed)
		if err == nil {
			err = d.CheckProofs(plan, pattern, []int{0, 0}, checked)
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := Batches(make([]Call, 21)); len(got) != 3 || len(got[0]) != 10 || len(got[2]) != 1 {
		t.Errorf("%d batches", len(got))
	}
}
