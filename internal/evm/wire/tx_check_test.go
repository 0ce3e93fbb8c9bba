package wire

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

const (
	userKey    = "0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
	strangeKey = "0x8f2a55949038a9610f50fb23b5883af3b4ecb3c3bb792cbcefbd1542c692be63"
)

func addressOf(t testing.TB, key string) common.Address {
	t.Helper()
	k := trial.Must(crypto.ToECDSA(unhex(t, key)))(t)
	return crypto.PubkeyToAddress(k.PublicKey)
}

// signTx signs a transaction of any kind.
func signTx(t testing.TB, key string, inner types.TxData) string {
	t.Helper()
	k := trial.Must(crypto.ToECDSA(unhex(t, key)))(t)
	tx := types.NewTx(inner)
	id := tx.ChainId()
	signed := trial.Must(types.SignTx(tx, types.LatestSignerForChainID(id), k))(t)
	raw := trial.Must(signed.MarshalBinary())(t)
	return hexutil.Encode(raw)
}

// payInSwap is a user's escrow of a token towards an LP.
func payInSwap(t testing.TB, d Deployment, user common.Address) SwapData {
	t.Helper()
	s := trial.Must(d.NewSwapData(Terms{Kind: chains.HTLC, Offerer: user, Claimer: common.HexToAddress("0x00000000000000000000000000000000000000aa"),
		Token: common.HexToAddress("0x00000000000000000000000000000000000000bb"), Amount: big.NewInt(1_000_000), PayIn: true,
		ClaimData: common.HexToHash("0x01"), Sequence: big.NewInt(9), Expiry: 2_000_000_000}))(t)
	return s
}

// anyAuth has the form of an authorisation.
func anyAuth() chains.Auth {
	return chains.Auth{Prefix: prefixInitPayIn, Timeout: 1_900_000_000, Signature: "0x" + strings.Repeat("11", 65)}
}

// What a wallet, a site in between or a caller could return instead of what was asked for.
func TestCheckSignedAttacks(t *testing.T) {
	n, d := presetOf(t, "CITREA/MAINNET"), deploymentOf(t, "CITREA/MAINNET")
	user := addressOf(t, userKey)
	s := payInSwap(t, d, user)
	auth := anyAuth()
	calls := trial.Must(d.Init(s, user, auth))(t)
	if len(calls) != 2 || calls[0].Role != RoleApproval {
		t.Fatalf("calls: %+v", calls)
	}
	approve, open := calls[0], calls[1]
	tx := func(c Call, nonce uint64, change ...func(*types.DynamicFeeTx)) string {
		inner := &types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(n.ChainID), Nonce: nonce, GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e9),
			Gas: c.Gas, To: &c.To, Value: c.value(), Data: c.Data}
		for _, f := range change {
			f(inner)
		}
		return signTx(t, userKey, inner)
	}
	more := approve
	more.Data, _ = ERC20ABI().Pack("approve", d.EscrowManager.Address, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)))
	less, thief, steal := approve, approve, approve
	less.Data, _ = ERC20ABI().Pack("approve", d.EscrowManager.Address, big.NewInt(999_999))
	thief.Data, _ = ERC20ABI().Pack("approve", addressOf(t, strangeKey), s.Amount)
	steal.Data, _ = ERC20ABI().Pack("transfer", addressOf(t, strangeKey), s.Amount)
	send, wide := approve, approve // which pass for the approval, but for its name and its length
	send.Data, _ = ERC20ABI().Pack("transfer", d.EscrowManager.Address, s.Amount)
	wide.Data = append(append([]byte{}, approve.Data...), make([]byte, 32)...)
	otherEscrow, _ := d.Init(s, user, chains.Auth{Prefix: auth.Prefix, Timeout: auth.Timeout + 1, Signature: auth.Signature})
	elsewhere := open
	elsewhere.To = deploymentOf(t, "CITREA/TESTNET4").EscrowManager.Address
	good := tx(open, 6)
	highS := func() string { // the same signature in its other form
		p := trial.Must(ParseTransaction(good))(t)
		var t2 types.Transaction
		trial.Do(t, t2.UnmarshalBinary(p.Raw()))
		v, r, ss := t2.RawSignatureValues()
		order, _ := new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)
		sig := make([]byte, 65)
		r.FillBytes(sig[:32])
		new(big.Int).Sub(order, ss).FillBytes(sig[32:64])
		sig[64] = byte(1 - v.Uint64())
		signed := trial.Must(t2.WithSignature(types.LatestSignerForChainID(t2.ChainId()), sig))(t)
		raw, _ := signed.MarshalBinary()
		return hexutil.Encode(raw)
	}()
	unsigned := trial.Must(n.Serialize(calls, 5, FeeRate{Base: big.NewInt(1), Priority: big.NewInt(1)}))(t)
	for _, c := range []struct {
		name   string
		signed []string
		field  string // empty if it is accepted
		calls  []int
	}{
		{"approval and action", []string{tx(approve, 5), tx(open, 6)}, "", []int{0, 1}},
		{"approved before", []string{tx(open, 6)}, "", []int{1}},
		{"approval raised", []string{tx(more, 5), tx(open, 6)}, "", []int{0, 1}},
		{"other fees and gas", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.Gas, x.GasFeeCap = 90_000, big.NewInt(7) })}, "", []int{1}},
		{"the least gas", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.Gas = intrinsicGas(x.Data) })}, "", []int{1}},
		{"the most gas", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.Gas = MaxGas })}, "", []int{1}},
		{"a tip as high as the cap", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.GasTipCap = x.GasFeeCap })}, "", []int{1}},
		{"too little gas by one", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.Gas = intrinsicGas(x.Data) - 1 })}, "signedTxs[0]", nil},
		{"too much gas by one", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.Gas = MaxGas + 1 })}, "signedTxs[0]", nil},
		{"tokens sent instead of approved", []string{tx(send, 5), tx(open, 6)}, "signedTxs[0]", nil},
		{"an approval with something behind it", []string{tx(wide, 5), tx(open, 6)}, "signedTxs[0]", nil},
		{"nothing", nil, "signedTxs", nil},
		{"far too many", make([]string, 65), "signedTxs", nil},
		{"not hex", []string{"hello"}, "signedTxs[0]", nil},
		{"not signed", []string{unsigned[1]}, "signedTxs[0]", nil},
		{"approval only", []string{tx(approve, 5)}, "signedTxs", nil},
		{"action before its approval", []string{tx(open, 5), tx(approve, 6)}, "signedTxs[1]", nil},
		{"action twice", []string{tx(open, 5), tx(open, 6)}, "signedTxs[1]", nil},
		{"something added", []string{tx(approve, 5), tx(open, 6), tx(steal, 7)}, "signedTxs[2]", nil},
		{"something slipped in", []string{tx(steal, 5), tx(open, 6)}, "signedTxs[0]", nil},
		{"approval to a thief", []string{tx(thief, 5), tx(open, 6)}, "signedTxs[0]", nil},
		{"approval too small", []string{tx(less, 5), tx(open, 6)}, "signedTxs[0]", nil},
		{"a gap between nonces", []string{tx(approve, 5), tx(open, 7)}, "signedTxs[1]", nil},
		{"the same nonce twice", []string{tx(approve, 5), tx(open, 5)}, "signedTxs[1]", nil},
		{"another timeout", []string{tx(otherEscrow[1], 6)}, "signedTxs[0]", nil},
		{"another contract", []string{tx(elsewhere, 6)}, "signedTxs[0]", nil},
		{"more value", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.Value = big.NewInt(1) })}, "signedTxs[0]", nil},
		{"longer data", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.Data = append(append([]byte{}, x.Data...), 0) })}, "signedTxs[0]", nil},
		{"no destination", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.To = nil })}, "signedTxs[0]", nil},
		{"another chain", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.ChainID = big.NewInt(5115) })}, "signedTxs[0]", nil},
		{"no gas", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.Gas = 21_000 })}, "signedTxs[0]", nil},
		{"absurd gas", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.Gas = 1 << 40 })}, "signedTxs[0]", nil},
		{"absurd fee", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.GasFeeCap = new(big.Int).Lsh(big.NewInt(1), 60) })}, "signedTxs[0]", nil},
		{"absurd tip", []string{tx(open, 6, func(x *types.DynamicFeeTx) {
			x.GasTipCap, x.GasFeeCap = new(big.Int).Lsh(big.NewInt(1), 41), new(big.Int).Lsh(big.NewInt(1), 41)
		})}, "signedTxs[0]", nil},
		{"no fee", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.GasFeeCap, x.GasTipCap = new(big.Int), new(big.Int) })}, "signedTxs[0]", nil},
		{"tip above the cap", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.GasTipCap = big.NewInt(2e9) })}, "signedTxs[0]", nil},
		{"access list", []string{tx(open, 6, func(x *types.DynamicFeeTx) { x.AccessList = types.AccessList{{Address: open.To}} })}, "signedTxs[0]", nil},
		{"signed by a stranger", []string{signTx(t, strangeKey, &types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(n.ChainID), GasTipCap: big.NewInt(1),
			GasFeeCap: big.NewInt(2), Gas: open.Gas, To: &open.To, Value: open.value(), Data: open.Data})}, "signedTxs[0]", nil},
		{"old type", []string{signTx(t, userKey, &types.AccessListTx{ChainID: new(big.Int).SetUint64(n.ChainID), GasPrice: big.NewInt(1), Gas: open.Gas,
			To: &open.To, Value: open.value(), Data: open.Data})}, "signedTxs[0]", nil},
		{"signature in its other form", []string{highS}, "signedTxs[0]", nil},
		{"bytes behind the end", []string{good + "00"}, "signedTxs[0]", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := d.CheckSigned(n, user, calls, c.signed)
			var e *fault.Error
			switch {
			case c.field == "" && err != nil:
				t.Fatal(err)
			case c.field == "":
				for i, g := range got {
					if g.Call != c.calls[i] {
						t.Errorf("transaction %d read as call %d, want %d", i, g.Call, c.calls[i])
					}
				}
			case !asFault(err, &e) || e.Code != fault.InvalidInput || e.Field != c.field:
				t.Errorf("got %v (field %q), want a refusal of %s", err, e.Field, c.field)
			}
		})
	}
	if _, err := d.CheckSigned(n, common.Address{}, calls, []string{good}); err == nil {
		t.Error("accepted for the zero address")
	}
}

// A transaction that brings a proof may bring another one, but does what was asked
// for, where and for whom.
func TestCheckSignedProof(t *testing.T) {
	n, d := presetOf(t, "CITREA/MAINNET"), deploymentOf(t, "CITREA/MAINNET")
	user := addressOf(t, userKey)
	to := d.EscrowManager.Address
	calls := []Call{{Role: RoleProof, To: to, Data: []byte{1, 2, 3, 4, 5}}}
	for _, c := range []struct {
		name string
		to   common.Address
		data []byte
		ok   bool
	}{
		{"as asked for", to, []byte{1, 2, 3, 4, 5}, true},
		{"another proof", to, []byte{1, 2, 3, 4, 5, 6}, true},
		{"another escrow", to, []byte{1, 2, 3, 4, 6, 6}, false},
		{"another function", to, []byte{2, 2, 3, 4, 5, 6}, false},
		{"less", to, []byte{1, 2, 3, 4}, false},
		{"another contract", d.BtcRelay.Address, []byte{1, 2, 3, 4, 5}, false},
	} {
		signed := signTx(t, userKey, &types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(n.ChainID), GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e9),
			Gas: 100_000, To: &c.to, Data: c.data})
		if _, err := d.CheckSigned(n, user, calls, []string{signed}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Relay updates may differ from those that were asked for, since the relay's tip
// moves, but they can be nothing else than headers to the relay.
func TestCheckSignedRelay(t *testing.T) {
	n, d := presetOf(t, "CITREA/MAINNET"), deploymentOf(t, "CITREA/MAINNET")
	user := addressOf(t, userKey)
	base := StoredHeader{72: 0xff, 73: 0xff, 74: 0x00, 75: 0x1d}
	header := CompactHeader{40: 0xff, 41: 0xff, 42: 0x00, 43: 0x1d}
	update := func(to Branch, headers ...CompactHeader) Call {
		c, _ := trial.Must2(d.SubmitHeaders(to, base, headers))(t)
		return c
	}
	claim := Call{To: d.VaultManager.Address, Data: []byte{1, 2, 3, 4}, Gas: 100_000}
	calls := []Call{update(Branch{}, header), claim}
	tx := func(c Call, nonce uint64) string {
		return signTx(t, userKey, &types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(n.ChainID), Nonce: nonce, GasTipCap: big.NewInt(1),
			GasFeeCap: big.NewInt(1e9), Gas: c.Gas, To: &c.To, Value: c.value(), Data: c.Data})
	}
	notHeaders, _ := RelayABI().Pack("getCommitHash", big.NewInt(1))
	loose := update(Branch{}, header)
	loose.Data = append(append([]byte{}, loose.Data...), make([]byte, 32)...)
	paid := update(Branch{}, header)
	paid.Value = big.NewInt(5)
	for _, c := range []struct {
		name   string
		signed []string
		ok     bool
	}{
		{"as asked for", []string{tx(calls[0], 1), tx(claim, 2)}, true},
		{"none", []string{tx(claim, 2)}, true},
		{"other headers", []string{tx(update(Branch{}, header, header), 1), tx(claim, 2)}, true},
		{"two of them", []string{tx(update(Branch{}, header), 1), tx(update(Branch{Short: true}, header), 2), tx(claim, 3)}, true},
		{"without the claim", []string{tx(calls[0], 1)}, false},
		{"after the claim", []string{tx(claim, 1), tx(calls[0], 2)}, false},
		{"another method", []string{tx(Call{To: d.BtcRelay.Address, Data: notHeaders, Gas: 100_000}, 1), tx(claim, 2)}, false},
		{"to another contract", []string{tx(Call{To: d.EscrowManager.Address, Data: calls[0].Data, Gas: 100_000}, 1), tx(claim, 2)}, false},
		{"with value", []string{tx(paid, 1), tx(claim, 2)}, false},
		{"in a loose encoding", []string{tx(loose, 1), tx(claim, 2)}, false},
	} {
		if _, err := d.CheckSigned(n, user, calls, c.signed); (err == nil) != c.ok {
			t.Errorf("%s: got %v, want accepted: %v", c.name, err, c.ok)
		}
	}
}

func TestInitAuthorization(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	lp, user := common.HexToAddress("0xaa"), common.HexToAddress("0xbb")
	opened := trial.Must(d.NewSwapData(Terms{Kind: chains.HTLC, Offerer: lp, Claimer: user, Amount: big.NewInt(5), PayOut: true, Expiry: 2_000}))(t)
	late := chains.Auth{Timeout: 1_900_000_000}
	for _, c := range []struct {
		name   string
		s      SwapData
		sender common.Address
		auth   chains.Auth
		ok     bool
	}{
		{"the LP opens alone", opened, lp, late, true},
		{"the LP forgets the timeout", opened, lp, chains.Auth{}, false},
		{"the user opens without the LP's signature", opened, user, late, false},
		{"the user opens", opened, user, anyAuth(), true},
		{"a payer opens without the LP's signature", payInSwap(t, d, user), user, late, false},
		{"a stranger opens", opened, common.HexToAddress("0xcc"), anyAuth(), false},
	} {
		if _, err := d.Init(c.s, c.sender, c.auth); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
