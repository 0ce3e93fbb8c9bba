package chaintest

import (
	"reflect"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/trial"
)

// script is an output script; each number is another one.
func script(n byte) []byte {
	s := make([]byte, 22)
	s[1], s[21] = 0x14, n
	return s
}

// payment reads a mined Bitcoin transaction as the engine does.
func (k *kit) payment(op bitcoin.OutPoint, c chains.Condition) *chains.Payment {
	k.Helper()
	tx := trial.Must(single.Tx(k.Context(), k.net.Backend(), op.Hash))(k)
	raw := trial.Must(rawtx.Encode(tx.Msg))(k)
	return &chains.Payment{Raw: raw, TxID: tx.ID, Vout: op.Index, Block: tx.BlockHash, Height: tx.Height, Confirmations: c.Confirmations, Condition: c}
}

const (
	sats  = 120_000
	nonce = 1_000_000<<24 | 0xABCDEF
)

func testBitcoinProofs(k *kit) {
	for i, c := range []chains.Condition{
		{Kind: chains.Onchain, Script: script(1), Sats: sats, Confirmations: 1},
		{Kind: chains.OnchainNonced, Script: script(2), Sats: sats, Nonce: nonce, Confirmations: 3},
		{Kind: chains.OnchainTxID, Confirmations: 2},
	} {
		for _, behind := range []bool{true, false} {
			k.claimByProof(c, behind, byte(10+i))
		}
	}
}

// claimByProof pays in Bitcoin, then claims. The relay is brought up to date
// before, or by the plan itself.
func (k *kit) claimByProof(c chains.Condition, behind bool, pay byte) {
	k.Helper()
	to := c.Script
	if to == nil {
		to = script(pay)
	}
	op := k.net.PayBitcoin(k.T, to, sats, c.Nonce)
	if c.Kind == chains.OnchainTxID {
		c.TxID = op.Hash
	}
	spec := k.payOut(c, k.facts.Token)
	spec.Hints = c.Kind == chains.Onchain
	e := k.expect(spec)
	k.open(e)
	step := chains.Step{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: k.payment(op, c)}
	if c.Confirmations > 1 {
		k.buildRefused(k.user, step, "a claim with too few confirmations")
		k.net.MineBitcoin(k.T, int(c.Confirmations)-1)
	}
	if !behind {
		k.net.SyncRelay(k.T)
	}
	wrong := *step.Payment
	wrong.Vout++
	if c.Kind != chains.OnchainTxID {
		k.buildRefused(k.user, chains.Step{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: &wrong}, "a claim by another output")
	}
	lies := *step.Payment
	lies.Block = bitcoin.Hash{9}
	k.buildRefused(k.user, chains.Step{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: &lies}, "a claim by an unknown block")
	plan := chains.Plan{SwapID: "proof", Steps: []chains.Step{step}}
	before := k.balance(k.user.Address(), k.facts.Token)
	plan.Signer = k.user.Address()
	k.altered("claim by proof", k.user, plan)
	k.otherProof(plan, c)
	txs := k.run(k.user, plan)
	if sync := len(txs) > max(1, k.facts.ProofTxs); sync != behind {
		k.Errorf("%s: %d transactions, relay behind: %v", c.Kind, len(txs), behind)
	}
	f := k.state(e, chains.EscrowClaimed)
	if f.ClaimTx != txs[len(txs)-1].ID || string(f.Result) != string(op.Hash[:]) {
		k.Errorf("%s: claimed escrow %+v, paid by %s", c.Kind, f, op.Hash)
	}
	if got := k.balance(k.user.Address(), k.facts.Token); got.Sub(got, before).Cmp(e.Amount) != 0 {
		k.Errorf("the user got %s of %s", got, e.Amount)
	}
	if list, ok := k.k.(chains.PaymentList); ok && spec.Hints {
		k.awaited(list, e, c)
	}
}

// awaited demands that an escrow that was claimed is found by its opening and by its end, each once, and that its
// opening says what it waits for.
func (k *kit) awaited(list chains.PaymentList, e chains.Escrow, c chains.Condition) {
	k.Helper()
	var from chains.Cursor
	opened, ended := 0, 0
	for {
		some, over, next, err := list.AwaitedPayments(k.Context(), from)
		k.must(err)
		for _, p := range some {
			if string(p.Escrow.Hash) != string(e.Hash) {
				continue
			}
			opened++
			want := chains.AwaitedPayment{Escrow: e, Output: rawtx.TxoHash(int64(c.Sats), c.Script), Nonce: c.Nonce, Confirmations: c.Confirmations, Opened: p.Opened}
			want.Escrow.Data, want.Escrow.Version = p.Escrow.Data, p.Escrow.Version
			if !reflect.DeepEqual(p, want) || p.Opened.Height == 0 || p.Opened.Time == 0 {
				k.Errorf("awaited: %+v, want %+v", p, want)
			}
			if d, err := k.k.Decode(p.Escrow.Data); err != nil || k.k.Diff(e, d, chains.Tolerance{}) != nil {
				k.Errorf("its data is that of another escrow: %+v, %v", d, err)
			}
		}
		for _, hash := range over {
			if string(hash) == string(e.Hash) {
				ended++
			}
		}
		if string(next) == string(from) {
			break
		}
		from = next
	}
	if opened != 1 || ended != 1 {
		k.Errorf("an escrow that waited for a payment was opened %d times, and ended %d times", opened, ended)
	}
}

// testLargeProof claims by a transaction with many outputs, some of them odd: the
// contract judges only the one that pays.
func testLargeProof(k *kit) {
	c := chains.Condition{Kind: chains.OnchainNonced, Script: script(40), Sats: sats, Nonce: nonce, Confirmations: 1}
	var many []*wire.TxOut
	for i := range 120 {
		many = append(many, wire.NewTxOut(1000, script(byte(50+i))))
	}
	many = append(many, wire.NewTxOut(0, []byte{0x6a, 4, 1, 2, 3, 4}))
	op := k.net.PayBitcoin(k.T, c.Script, sats, c.Nonce, many...)
	for range 2 { // the second time the relay has the header
		spec := k.payOut(c, k.facts.Token)
		e := k.expect(spec)
		k.open(e)
		k.run(k.user, chains.Plan{SwapID: "large", Steps: []chains.Step{{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: k.payment(op, c)}}})
		k.state(e, chains.EscrowClaimed)
	}
}

// testRelayFork reorganises Bitcoin under the relay.
func testRelayFork(k *kit) {
	k.net.MineBitcoin(k.T, 2)
	k.net.SyncRelay(k.T)
	k.net.ReorgBitcoin(k.T, 2)
	c := chains.Condition{Kind: chains.Onchain, Script: script(60), Sats: sats, Confirmations: 1}
	op := k.net.PayBitcoin(k.T, c.Script, sats, 0)
	e := k.expect(k.payOut(c, k.facts.Token))
	k.open(e)
	txs := k.run(k.user, chains.Plan{SwapID: "fork", Steps: []chains.Step{{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: k.payment(op, c)}}})
	if len(txs) < 2 {
		k.Errorf("%d transactions over a fork of the relay", len(txs))
	}
	k.state(e, chains.EscrowClaimed)
}

// otherProof hands back the claim of an escrow with another condition.
func (k *kit) otherProof(plan chains.Plan, c chains.Condition) {
	k.Helper()
	u := trial.Must(k.k.Build(k.Context(), plan))(k)
	c.Sats++
	c.TxID[0] ^= 1
	other := plan
	other.Steps = []chains.Step{{Kind: chains.StepClaimBitcoin, Escrow: k.expect(k.payOut(c, k.facts.Token)), Payment: plan.Steps[0].Payment}}
	if _, err := k.k.Check(other, k.user.Sign(k.T, u)); fault.CodeOf(err) != fault.InvalidInput {
		k.Errorf("%s: the proof for another escrow passes: %v", c.Kind, err)
	}
}
