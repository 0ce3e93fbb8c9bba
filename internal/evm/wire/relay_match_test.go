package wire

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// easyHeader is a stored header on which headers of any work can follow.
func easyHeader(t *testing.T) StoredHeader {
	t.Helper()
	var s StoredHeader
	full := bitcoin.Header{Bits: 0x207fffff, Time: 1_700_000_000}.Bytes()
	copy(s[:], full[:])
	return s
}

func easyHeaders(n int) []CompactHeader {
	headers := make([]CompactHeader, n)
	for i := range headers {
		headers[i] = Compact(bitcoin.Header{Bits: 0x207fffff, Time: 1_700_000_001 + uint32(i), MerkleRoot: bitcoin.Hash{byte(i)}})
	}
	return headers
}

// One transaction brings at least one header and no more than the relay takes, on
// each kind of branch, and is read back as it was built.
func TestHeadersOfOneTransaction(t *testing.T) {
	d, base := deploymentOf(t, "CITREA/MAINNET"), easyHeader(t)
	for name, c := range map[string]struct {
		to   Branch
		most int
	}{
		"the main chain": {Branch{}, 100},
		"a short fork":   {Branch{Short: true}, 100},
		"a lasting fork": {Branch{Fork: 7}, 50},
	} {
		for n, ok := range map[int]bool{0: false, 1: true, c.most: true, c.most + 1: false} {
			call, stored, err := d.SubmitHeaders(c.to, base, easyHeaders(n))
			if (err == nil) != ok {
				t.Errorf("%s: %d headers: %v", name, n, err)
			}
			if !ok || err != nil {
				continue
			}
			if len(stored) != n || stored[n-1].Height() != uint32(n) || call.Role != RoleRelay || call.To != d.BtcRelay.Address || call.Gas == 0 {
				t.Errorf("%s: %d stored, call %+v", name, len(stored), call)
			}
			from, headers, ok := submittedHeaders(call.Data)
			if !ok || from != base || len(headers) != n || headers[n-1] != easyHeaders(n)[n-1] {
				t.Errorf("%s: read back %v, %d headers", name, ok, len(headers))
			}
		}
	}
}

// What a wallet may return in the place of headers that it was asked to bring: others,
// in the one canonical encoding, to the relay, and nothing else.
func TestReturnedHeaders(t *testing.T) {
	d, base := deploymentOf(t, "CITREA/MAINNET"), easyHeader(t)
	asked, _ := trial.Must2(d.SubmitHeaders(Branch{}, base, easyHeaders(3)))(t)
	submit := func(method string, payload []byte) []byte {
		return trial.Must(RelayABI().Pack(method, payload))(t)
	}
	others, _, _ := d.SubmitHeaders(Branch{Short: true}, base, easyHeaders(2))
	fork, _, _ := d.SubmitHeaders(Branch{Fork: 9}, base, easyHeaders(2))
	approve, _ := ERC20ABI().Pack("approve", common.Address{1}, big.NewInt(5))
	view := RelayABI().Methods["getChainwork"]
	for _, name := range []string{"getChainwork", "getBlockheight", "getTipCommitHash"} {
		if m, ok := RelayABI().Methods[name]; ok {
			view = m
		}
	}
	size := 160 + 48
	payload := append(bytes.Clone(base[:]), make([]byte, 2*48)...)
	for name, c := range map[string]struct {
		to    common.Address
		value int64
		data  []byte
		ok    bool
	}{
		"as asked for":              {asked.To, 0, asked.Data, true},
		"other headers":             {asked.To, 0, others.Data, true},
		"onto a lasting fork":       {asked.To, 0, fork.Data, true},
		"one header":                {asked.To, 0, submit("submitMainBlockheaders", payload[:size]), true},
		"no header":                 {asked.To, 0, submit("submitMainBlockheaders", payload[:size-48]), false},
		"a header less a byte":      {asked.To, 0, submit("submitMainBlockheaders", payload[:size-1]), false},
		"a header and a byte":       {asked.To, 0, submit("submitMainBlockheaders", payload[:size+1]), false},
		"nothing":                   {asked.To, 0, submit("submitMainBlockheaders", nil), false},
		"bytes behind the data":     {asked.To, 0, append(bytes.Clone(asked.Data), make([]byte, 32)...), false},
		"cut data":                  {asked.To, 0, asked.Data[:len(asked.Data)-32], false},
		"a method and no more":      {asked.To, 0, asked.Data[:4], false},
		"less than a method":        {asked.To, 0, asked.Data[:3], false},
		"no data":                   {asked.To, 0, nil, false},
		"a view":                    {asked.To, 0, view.ID, false},
		"an approval":               {asked.To, 0, approve, false},
		"to another contract":       {d.EscrowManager.Address, 0, asked.Data, false},
		"with a native coin beside": {asked.To, 1, asked.Data, false},
	} {
		at, err := d.Match([]Call{asked}, 0, &Transaction{To: &c.to, Value: big.NewInt(c.value), Data: c.data})
		if (err == nil) != c.ok || at != 0 {
			t.Errorf("%s: call %d, %v", name, at, err)
		}
	}
	// Data that is the same bytes in a detour: the offset of the payload points behind a gap.
	odd := bytes.Clone(asked.Data[:4])
	odd = append(odd, common.LeftPadBytes([]byte{64}, 32)...)
	odd = append(odd, make([]byte, 32)...)
	odd = append(odd, asked.Data[4+32:]...)
	if _, _, ok := submittedHeaders(odd); !ok {
		t.Fatal("the detour is not what the relay would read")
	}
	if _, err := d.Match([]Call{asked}, 0, &Transaction{To: &asked.To, Value: new(big.Int), Data: odd}); err == nil {
		t.Error("an unusual encoding is accepted")
	}
}

// Only what is to bring a proof is judged as a proof: approvals, headers and other
// steps of the same action are not.
func TestOnlyProofsAreJudgedAsProofs(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	plan := chains.Plan{Steps: []chains.Step{{Kind: chains.StepClaimBitcoin}, {Kind: chains.StepVaultClaim}}}
	for _, role := range []Role{RoleAction, RoleApproval, RoleRelay, RoleProof, RoleProofs} {
		for step := range plan.Steps {
			err := d.CheckProofs(plan, []Call{{Role: role}}, []int{step}, []CheckedTx{{&Transaction{Data: []byte("no proof")}, 0}})
			if judged := role == RoleProof || role == RoleProofs; (err != nil) != judged {
				t.Errorf("role %d, step %d: %v", role, step, err)
			}
		}
	}
}

// The gas limit of a vault's claim has room for everybody whom the claim pays.
func TestGasOfVaultClaims(t *testing.T) {
	recipient, sender := common.Address{1}, common.Address{2}
	token := common.Address{9}
	p := VaultParams{Token0: token, Token1: Native}
	for name, c := range map[string]struct {
		w    chains.Withdrawal
		from common.Address
		want uint64
	}{
		"a token":             {chains.Withdrawal{Raw: [2]uint64{1, 0}}, sender, gasPayToken},
		"both":                {chains.Withdrawal{Raw: [2]uint64{1, 1}}, sender, gasPayToken + gasPayNative},
		"nothing":             {chains.Withdrawal{}, sender, 0},
		"whoever fronted":     {chains.Withdrawal{Raw: [2]uint64{1, 0}, Withdrawal: bitcoin.Withdrawal{Shares: bitcoin.FeeShares{Fronting: 1}}}, sender, 2 * gasPayToken},
		"whoever claims":      {chains.Withdrawal{Raw: [2]uint64{1, 0}, Withdrawal: bitcoin.Withdrawal{Shares: bitcoin.FeeShares{Caller: 1}}}, sender, 2 * gasPayToken},
		"who claims for self": {chains.Withdrawal{Raw: [2]uint64{1, 0}, Withdrawal: bitcoin.Withdrawal{Shares: bitcoin.FeeShares{Caller: 1}}}, recipient, gasPayToken},
		"all of them, twice":  {chains.Withdrawal{Raw: [2]uint64{1, 1}, Withdrawal: bitcoin.Withdrawal{Shares: bitcoin.FeeShares{Caller: 1, Fronting: 1}}}, sender, 3 * (gasPayToken + gasPayNative)},
	} {
		c.w.Recipient = recipient.Hex()
		if got := vaultClaimGas(p, c.w, c.from) - gasVaultClaim; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// The base fee is offered with headroom up to the network's cap, and the block's own
// where that is above the cap.
func TestBaseFeeAtTheCap(t *testing.T) {
	n := Network{FeePPM: 1_250_000, MaxBaseFee: 1000}
	for block, want := range map[int64]int64{100: 125, 799: 998, 800: 1000, 801: 1000, 1000: 1000, 1001: 1251} {
		r, err := n.FeeRate(big.NewInt(block), nil)
		if err != nil || r.Base.Int64() != want {
			t.Errorf("a block's %d: offered %v, %v; want %d", block, r.Base, err, want)
		}
	}
	n.MaxBaseFee = 0
	if r, err := n.FeeRate(big.NewInt(5000), nil); err != nil || r.Base.Int64() != 6250 {
		t.Errorf("without a cap: %v, %v", r.Base, err)
	}
}
