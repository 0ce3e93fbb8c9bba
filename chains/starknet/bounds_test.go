package starknet_test

import (
	"encoding/json"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	devnet "github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// behind is a claim that needs three headers in the relay before.
func (l *live) behind() (chains.Escrow, chains.Plan) {
	l.t.Helper()
	c := chains.Condition{Kind: chains.Onchain, Script: []byte{0, 20, 21: 1}, Sats: 120_000, Confirmations: 2}
	op := l.PayBitcoin(l.t, c.Script, int64(c.Sats), 0)
	l.MineBitcoin(l.t, 1)
	e := l.escrow(c, out)
	l.run(l.user, l.opening(l.user, e))
	return e, chains.Plan{SwapID: "swap", Signer: l.user.Address(), Steps: []chains.Step{{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: l.payment(op, c)}}}
}

// bounds are the amounts of gas that a plan's transactions may use.
func (l *live) bounds(plan chains.Plan) (all []wire.Gas) {
	l.t.Helper()
	for _, text := range l.build(plan).Txs {
		tx := trial.Must(wire.ParseTransaction(text))(l.t)
		all = append(all, tx.Bounds.Gas())
	}
	return all
}

// What a relay takes to store a header is not the client's to say: it is tried, and what
// it takes gets a margin. The protocol's constants are the floor of the bounds.
func TestHeadersThatTakeMoreThanTheConstants(t *testing.T) {
	t.Parallel()
	constant := wire.Gas{L2: 3 * 24_000_000, L1Data: 3 * 600}
	for name, headerGas := range map[string]uint64{"as on public networks": 0, "half as much again": 20_000_000, "twice as much": 30_000_000, "little": 1} {
		t.Run(name, func(t *testing.T) {
			l := newLive(t, devnet.Options{HeaderGas: headerGas})
			e, plan := l.behind()
			txs := l.run(l.user, plan)
			if got := l.state(e); got != chains.EscrowClaimed || len(txs) != 2 {
				t.Fatalf("the escrow is %s after %d transactions", got, len(txs))
			}
			for i, tx := range txs {
				parsed := trial.Must(wire.ParseTransaction(string(tx.Raw)))(t)
				id := trial.Must(parsed.Hash())(t)
				var used wire.Gas
				l.Net.Chain().Read(0, func(v *contracts.View) { used = v.Tx(id).Gas })
				may := parsed.Bounds.Gas()
				t.Logf("transaction %d uses %d of %d L2 gas, and %d of %d data gas", i, used.L2, may.L2, used.L1Data, may.L1Data)
				if may.L2 < used.L2+used.L2/5 || may.L1Data < used.L1Data+used.L1Data/5 {
					t.Errorf("transaction %d has no margin", i)
				}
				if i == 0 && (may.L2 < constant.L2 || may.L1Data < constant.L1Data) {
					t.Errorf("%+v is below the constants", may)
				}
			}
		})
	}
}

// What a node says of gas is bounded: a wallet must have what its transactions may cost.
// A node that does not say it leaves the constants.
func TestNodesThatLieAboutGas(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	e, plan := l.behind()
	honest := l.bounds(plan)
	lie := func(gas string) devnet.NodeFault {
		return devnet.NodeFault{Rewrite: func(method string, _ map[string]json.RawMessage, result json.RawMessage) json.RawMessage {
			var all []map[string]any
			if method != "starknet_estimateFee" || json.Unmarshal(result, &all) != nil {
				return result
			}
			for _, e := range all {
				e["l2_gas_consumed"], e["l1_data_gas_consumed"] = gas, gas
			}
			out, err := json.Marshal(all)
			if err != nil {
				return result
			}
			return out
		}}
	}
	for name, f := range map[string]devnet.NodeFault{
		"too much": lie("0xffffffffffffffff"), "nothing": lie("0x0"), "no estimate": {Refuse: []string{"starknet_estimateFee"}}, "an error": {Rewrite: lie("-").Rewrite},
	} {
		for _, n := range l.nodes {
			n.Misbehave(f)
		}
		for i, may := range l.bounds(plan) {
			floor := []wire.Gas{{L2: 72_000_000, L1Data: 1800}, {L2: 406_000_000, L1Data: 900}}[i]
			if may.L2 < floor.L2 || may.L2 > min(4*floor.L2, 1_200_000_000) || may.L1Data < floor.L1Data || may.L1Data > 4*floor.L1Data {
				t.Errorf("%s: transaction %d may use %+v, honestly %+v", name, i, may, honest[i])
			}
		}
	}
	for _, n := range l.nodes {
		n.Misbehave(devnet.NodeFault{})
	}
	l.run(l.user, plan)
	if got := l.state(e); got != chains.EscrowClaimed {
		t.Errorf("the escrow is %s", got)
	}
}

// A relay that takes far more than is allowed for is found before anything is sent.
func TestHeadersThatTakeFarTooMuch(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{HeaderGas: 200_000_000})
	_, plan := l.behind()
	txs := l.ready(l.user, plan)
	if err := l.k.Admit(t.Context(), plan, txs); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("%v", err)
	}
}
