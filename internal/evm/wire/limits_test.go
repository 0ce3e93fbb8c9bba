package wire

import (
	"encoding/binary"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

// The tests of this file trip one guard at a time, at its limit and one beyond.

func TestCheckSignedFeeLimits(t *testing.T) {
	n, d := presetOf(t, "CITREA/MAINNET"), deploymentOf(t, "CITREA/MAINNET")
	user := addressOf(t, userKey)
	call := Call{To: d.EscrowManager.Address, Data: []byte{1, 2, 3, 4}}
	const gas = 1 << 20
	bits := func(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }
	below := func(n uint) *big.Int { return new(big.Int).Sub(bits(n), big.NewInt(1)) }
	for name, c := range map[string]struct {
		feeCap, tip *big.Int
		ok          bool
	}{
		"the most that may be offered": {below(maxTotalFeeBits - 20), big.NewInt(1), true},
		"a wei per gas more":           {bits(maxTotalFeeBits - 20), big.NewInt(1), false},
		"the highest tip":              {below(maxTotalFeeBits - 20), below(maxTotalTipBits - 20), true},
		"a tip of a wei per gas more":  {below(maxTotalFeeBits - 20), bits(maxTotalTipBits - 20), false},
	} {
		signed := signTx(t, userKey, &types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(n.ChainID), GasTipCap: c.tip, GasFeeCap: c.feeCap, Gas: gas, To: &call.To, Data: call.Data})
		if _, err := d.CheckSigned(n, user, []Call{call}, []string{signed}); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := intrinsicGas([]byte{0, 1, 0}); got != 21_000+4+16+4 {
		t.Errorf("intrinsic gas %d", got)
	}
}

// What is required may not be left out, whatever its role and wherever it stands;
// what may be repeated may be.
func TestCheckSignedRequired(t *testing.T) {
	n, d := presetOf(t, "CITREA/MAINNET"), deploymentOf(t, "CITREA/MAINNET")
	user := addressOf(t, userKey)
	call := func(role Role, first byte) Call {
		return Call{Role: role, To: d.EscrowManager.Address, Data: []byte{first, 2, 3, 4}}
	}
	action, other := call(RoleAction, 1), call(RoleAction, 5)
	proof, proofs := call(RoleProof, 6), call(RoleProofs, 7)
	approval := Call{Role: RoleApproval, To: common.Address{9}, Allowance: &Allowance{common.Address{9}, d.EscrowManager.Address, big.NewInt(5)}}
	approval.Data, _ = ERC20ABI().Pack("approve", d.EscrowManager.Address, big.NewInt(5))
	nameless := approval
	nameless.Allowance = nil
	altered := action
	altered.Data = []byte{1, 2, 3, 5}
	many := func(c Call, n int) (list []Call) {
		for range n {
			list = append(list, c)
		}
		return list
	}
	for name, c := range map[string]struct {
		asked, signed []Call
		because       string // empty: accepted
	}{
		"both actions":                           {[]Call{action, other}, []Call{action, other}, ""},
		"the second alone":                       {[]Call{action, other}, []Call{other}, "differently"},
		"the first alone":                        {[]Call{action, other}, []Call{action}, "is missing"},
		"an approval behind the action left out": {[]Call{action, approval}, []Call{action}, ""},
		"an action without the proof before":     {[]Call{proof, action}, []Call{action}, "differently"},
		"an action without the proofs before":    {[]Call{proofs, action}, []Call{action}, "differently"},
		"a proof left out behind":                {[]Call{action, proof}, []Call{action}, "is missing"},
		"proofs left out behind":                 {[]Call{action, proofs}, []Call{action}, "is missing"},
		"proofs once":                            {[]Call{proofs}, []Call{proofs}, ""},
		"proofs twice":                           {[]Call{proofs}, []Call{proofs, proofs}, ""},
		"a proof twice":                          {[]Call{proof}, []Call{proof, proof}, "not part of the action"},
		"as many as may come":                    {[]Call{proofs}, many(proofs, maxSigned), ""},
		"one more":                               {[]Call{proofs}, many(proofs, maxSigned+1), "transactions"},
		"nothing where nothing is required":      {[]Call{approval}, nil, "transactions"},
		"an approval of nothing that was named":  {[]Call{nameless, action}, []Call{nameless, action}, "goes to"},
		"the same alone":                         {[]Call{nameless}, []Call{nameless}, "not part of the action"},
		"an action that was altered":             {[]Call{approval, action}, []Call{altered}, "differently"}, // of the action, not of the approval that it is neither
	} {
		var signed []string
		for i, call := range c.signed {
			signed = append(signed, signTx(t, userKey, &types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(n.ChainID), Nonce: uint64(i), GasTipCap: big.NewInt(1), GasFeeCap: big.NewInt(1e9),
				Gas: 100_000, To: &call.To, Data: call.Data}))
		}
		_, err := d.CheckSigned(n, user, c.asked, signed)
		if (err == nil) != (c.because == "") || err != nil && (fault.CodeOf(err) != fault.InvalidInput || !strings.Contains(err.Error(), c.because)) {
			t.Errorf("%s: %v, want %q", name, err, c.because)
		}
	}
}

// An authorisation for something that has no hash authorises nothing, whatever it signs.
func TestVerifyRefusesWhatCannotBeHashed(t *testing.T) {
	n, d := presetOf(t, "CITREA/MAINNET"), deploymentOf(t, "CITREA/MAINNET")
	now := time.Unix(1_760_000_000, 0)
	s := payInSwap(t, d, common.HexToAddress("0x1000000000000000000000000000000000000001"))
	s.Claimer = addressOf(t, userKey)
	s.Amount = new(big.Int).Lsh(big.NewInt(1), 256)
	timeout := now.Unix() + 600
	digest, err := n.InitDigest(d, s, timeout)
	if err == nil {
		t.Fatal("2^256 has a hash")
	}
	init := chains.Auth{Prefix: prefixInitPayIn, Timeout: timeout, Signature: sign(t, userKey, digest)}
	if err := n.VerifyInit(d, s, init, s.Offerer, now, now.Unix()); err == nil || !strings.Contains(err.Error(), "the signature could not be checked") {
		t.Errorf("opening: %v", err)
	}
	if digest, err = n.RefundDigest(d, s, timeout); err == nil {
		t.Fatal("2^256 has a hash")
	}
	refund := chains.Auth{Prefix: prefixRefund, Timeout: timeout, Signature: sign(t, userKey, digest)}
	if err := n.VerifyRefund(d, s, refund, now); err == nil || !strings.Contains(err.Error(), "the signature could not be checked") {
		t.Errorf("refund: %v", err)
	}
	good := payInSwap(t, d, s.Offerer)
	for name, change := range map[string]func(*SwapData){
		"no amount":          func(s *SwapData) { s.Amount = nil },
		"no deposit":         func(s *SwapData) { s.SecurityDeposit = nil },
		"no bounty":          func(s *SwapData) { s.ClaimerBounty = nil },
		"no sequence":        func(s *SwapData) { s.Sequence = nil },
		"amount above 2^256": func(s *SwapData) { s.Amount = new(big.Int).Lsh(big.NewInt(1), 256) },
	} {
		bad := good
		change(&bad)
		if Diff(good, bad, chains.Tolerance{AtLeastAmount: true}) == nil || Diff(bad, good, chains.Tolerance{AtLeastAmount: true}) == nil || Diff(bad, bad, chains.Tolerance{}) == nil {
			t.Errorf("%s is like any other", name)
		}
	}
}

// loneProof is a proof of the only transaction of a block, which has no siblings.
func loneProof(t *testing.T, tx *wire.MsgTx) BitcoinProof {
	t.Helper()
	raw := trial.Must(rawtx.Strip(tx))(t)
	full := bitcoin.Header{Height: 5, MerkleRoot: tx.TxHash(), Bits: 0x1d00ffff}.Bytes()
	p := BitcoinProof{Tx: raw, Confirmations: 1, Merkle: bitcoin.MerkleProof{TxID: tx.TxHash(), Height: 5}}
	copy(p.Header[:], full[:])
	binary.BigEndian.PutUint32(p.Header[112:], 5)
	return p
}

// Where nothing is to be hashed, only the lengths tell an odd proof.
func TestReturnedProofsOfALoneTransaction(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: bitcoin.Hash{4}}})
	tx.AddTxOut(wire.NewTxOut(2000, []byte{0x00, 0x14, 21: 7}))
	tx.AddTxOut(wire.NewTxOut(0, []byte{0x6a, 1, 1}))
	for _, c := range []chains.Condition{
		{Kind: chains.Onchain, Script: tx.TxOut[0].PkScript, Sats: 2000, Confirmations: 1},
		{Kind: chains.OnchainTxID, TxID: tx.TxHash(), Confirmations: 1},
	} {
		s := trial.Must(d.Expect(chains.Spec{Kind: c.Kind, Offerer: common.Address{1}.Hex(), Claimer: common.Address{2}.Hex(), Token: Native.Hex(),
			Amount: big.NewInt(5), Condition: c, Expiry: 2_000_000_000, PayOut: true}))(t)
		e := trial.Must(d.Escrow(s))(t)
		call := trial.Must(d.ClaimByBitcoin(s, loneProof(t, tx)))(t)
		values := trial.Must(EscrowABI().Methods["claim"].Inputs.Unpack(call.Data[4:]))(t)
		for name, c := range map[string]struct {
			change func([]byte) []byte
			ok     bool
		}{
			"as it is":                        {func(w []byte) []byte { return w }, true},
			"a byte behind it":                {func(w []byte) []byte { return append(w, 0) }, false},
			"a sibling that is not counted":   {func(w []byte) []byte { return append(w, make([]byte, 32)...) }, false},
			"siblings that are not there":     {func(w []byte) []byte { w[len(w)-1] = 1; return w }, false},
			"2^59 siblings, whose bytes wrap": {func(w []byte) []byte { w[len(w)-8] = 8; return w }, false},
			"2^64 siblings":                   {func(w []byte) []byte { w[len(w)-9] = 1; return w }, false},
			"a transaction that is none":      {func(w []byte) []byte { w[min(252+4, len(w)-5)] ^= 1; return w }, false},
		} {
			witness := append([]byte{}, values[1].([]byte)...)
			data := trial.Must(EscrowABI().Pack("claim", s.tuple(), c.change(witness)))(t)
			if err := d.checkBitcoinClaim(e, data); (err == nil) != c.ok {
				t.Errorf("%s: %s: %v", s.Kind, name, err)
			}
		}
	}
}

// A position is 256 bits wide on chain and 32 in a block: one that is right but for
// what is cut off is another one.
func TestReturnedVaultClaimLimits(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	v := Vault{VaultRef: VaultRef{common.Address{1}, big.NewInt(3)}, Params: VaultParams{d.BtcRelay.Address, Native, Native, big.NewInt(1), big.NewInt(1), big.NewInt(1)}, Opened: true}
	payload := trial.Must(WithdrawalData(common.Address{40}.Hex(), [2]uint64{5, 0}, nil))(t)
	script := trial.Must(rawtx.OpReturn(payload))(t)
	tx := wire.NewMsgTx(2)
	for i := range 2 {
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: bitcoin.Hash{byte(9 + i)}}, Sequence: 1 << 31})
	}
	tx.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
	tx.AddTxOut(wire.NewTxOut(0, script))
	p := proofOf(t, tx, 1)
	pos := big.NewInt(int64(p.Merkle.Pos))
	siblings := [][32]byte{p.Merkle.Hashes[0], p.Merkle.Hashes[1]}
	for name, c := range map[string]struct {
		raw     []byte
		pos     *big.Int
		because string
	}{
		"as it is":           {p.Tx, pos, ""},
		"2^32 on top":        {p.Tx, new(big.Int).Add(pos, new(big.Int).Lsh(big.NewInt(1), 32)), "position"},
		"2^64 on top":        {p.Tx, new(big.Int).Add(pos, new(big.Int).Lsh(big.NewInt(1), 64)), "position"},
		"a cut transaction":  {p.Tx[:len(p.Tx)-1], pos, "transaction"},
		"a byte too many":    {append(append([]byte{}, p.Tx...), 0), pos, "transaction"},
		"nothing at all":     {nil, pos, "transaction"},
		"as high as can be":  {p.Tx, new(big.Int).SetUint64(1<<32 - 1), "merkle"},
		"of a deeper block":  {p.Tx, new(big.Int).Add(pos, big.NewInt(4)), "merkle"},
		"of somebody else's": {p.Tx, big.NewInt(0), "merkle"},
	} {
		data := trial.Must(VaultABI().Pack("claim", v.Owner, v.ID, v.Params, c.raw, struct{ Data [5][32]byte }{p.Header.words()}, siblings, c.pos))(t)
		_, err := d.checkVaultClaim(data)
		if (err == nil) != (c.because == "") || err != nil && !strings.Contains(err.Error(), c.because) {
			t.Errorf("%s: %v, want %q", name, err, c.because)
		}
	}
}
