package starknet_test

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// change alters an unsigned transaction.
func change(f func(*wire.Transaction)) func(*testing.T, string) string {
	return func(t *testing.T, text string) string {
		t.Helper()
		tx := trial.Must(wire.ParseTransaction(text))(t)
		f(tx)
		return tx.String()
	}
}

// ofLast alters the last call.
func ofLast(f func(*wire.Call)) func(*testing.T, string) string {
	return change(func(tx *wire.Transaction) { f(&tx.Calls[len(tx.Calls)-1]) })
}

func next(f wire.Felt) wire.Felt {
	one := wire.FeltOf(1)
	return *f.Add(&f, &one)
}

// alterations are ways in which a wallet must not change what it was handed out
// (protocol: chain-starknet.md §20.14).
func alterations() map[string]func(*testing.T, string) string {
	return map[string]func(*testing.T, string) string{
		"another chain":       change(func(tx *wire.Transaction) { tx.ChainID = wire.ShortString("SN_OTHER") }),
		"another contract":    ofLast(func(c *wire.Call) { c.To = wire.FeltOf(7) }),
		"another entry point": ofLast(func(c *wire.Call) { c.Entry = "transfer" }),
		"other calldata":      ofLast(func(c *wire.Call) { c.Calldata[0] = next(c.Calldata[0]) }),
		"less calldata":       ofLast(func(c *wire.Call) { c.Calldata = c.Calldata[:len(c.Calldata)-1] }),
		"more calldata":       ofLast(func(c *wire.Call) { c.Calldata = append(c.Calldata, wire.FeltOf(0)) }),
		"a call more": change(func(tx *wire.Transaction) {
			tx.Calls = append(tx.Calls, wire.Call{To: wire.STRK, Entry: "transfer", Calldata: []wire.Felt{wire.FeltOf(7), wire.FeltOf(1), {}}})
		}),
		"a call before": change(func(tx *wire.Transaction) {
			tx.Calls = append([]wire.Call{{To: wire.STRK, Entry: "approve", Calldata: []wire.Felt{wire.FeltOf(7), wire.FeltOf(1), {}}}}, tx.Calls...)
		}),
		"the action twice":   change(func(tx *wire.Transaction) { tx.Calls = append(tx.Calls, tx.Calls[len(tx.Calls)-1]) }),
		"without the action": change(func(tx *wire.Transaction) { tx.Calls = tx.Calls[:len(tx.Calls)-1] }),
		"an excessive fee": change(func(tx *wire.Transaction) {
			tx.Bounds.L2 = wire.Bound{MaxAmount: 1 << 60, MaxPrice: big.NewInt(1 << 30)}
		}),
		"an excessive tip":         change(func(tx *wire.Transaction) { tx.Tip = 1 << 60 }),
		"a paymaster":              change(func(tx *wire.Transaction) { tx.PaymasterData = []wire.Felt{wire.FeltOf(1)} }),
		"account deployment data":  change(func(tx *wire.Transaction) { tx.AccountDeploymentData = []wire.Felt{wire.FeltOf(1)} }),
		"another nonce mode":       change(func(tx *wire.Transaction) { tx.NonceMode = wire.DAModeL2 }),
		"no fee":                   change(func(tx *wire.Transaction) { tx.Bounds.L2.MaxAmount = 0 }),
		"a deployment in the last": change(func(tx *wire.Transaction) { tx.Type, tx.Calls = wire.DeployAccount, nil }),
	}
}

// Whatever a wallet changes beyond fees, it does not get back in.
func TestAWalletThatChangesMore(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	e := s.in(1)
	plan := s.opening(e)
	u := trial.Must(s.k.Build(t.Context(), plan))(t)
	check := func(text string) error {
		tx := trial.Must(wire.ParseTransaction(text))(s.t)
		_, err := s.k.Check(plan, s.sign(tx))
		return err
	}
	trial.Do(t, check(u.Txs[0]))
	for name, alter := range alterations() {
		if err := check(alter(t, u.Txs[0])); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s passes: %v", name, err)
		}
	}
	for name, alter := range map[string]func(*wire.Transaction){
		"higher bounds":     func(tx *wire.Transaction) { tx.Bounds.L2.MaxAmount *= 2 },
		"lower bounds":      func(tx *wire.Transaction) { tx.Bounds.L1Data.MaxAmount /= 2 },
		"a tip":             func(tx *wire.Transaction) { tx.Tip = 1000 },
		"another nonce":     func(tx *wire.Transaction) { tx.Nonce += 3 },
		"a higher approval": func(tx *wire.Transaction) { tx.Calls[0].Calldata[1] = wire.FeltOf(1 << 40) },
		"no approval":       func(tx *wire.Transaction) { tx.Calls = tx.Calls[1:] },
	} {
		if err := check(change(alter)(t, u.Txs[0])); err != nil {
			t.Errorf("%s is refused: %v", name, err)
		}
	}
	for name, alter := range map[string]func(*wire.Transaction){
		"a lower approval":     func(tx *wire.Transaction) { tx.Calls[0].Calldata[1] = wire.FeltOf(49_999) },
		"an approval for all":  func(tx *wire.Transaction) { tx.Calls[0].Calldata[0] = wire.FeltOf(7) },
		"approval and nothing": func(tx *wire.Transaction) { tx.Calls = tx.Calls[:1] },
	} {
		wants(t, name, check(change(alter)(t, u.Txs[0])), "signedTxs")
	}
}

// A wallet that puts opening and claim into one transaction would show the preimage while
// the escrow is not open.
func TestAWalletThatMergesOpeningAndClaim(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	e := s.out(1)
	plan := s.opening(e)
	plan.Steps = append(plan.Steps, s.claim(e, 1).Steps...)
	txs := s.build(plan)
	if len(txs) != 2 || txs[1].Nonce != txs[0].Nonce+1 {
		t.Fatalf("%d transactions", len(txs))
	}
	signed, err := s.k.Check(plan, s.sign(txs...))
	if err != nil || signed[0].Reveals || !signed[1].Reveals || signed[0].Step != 0 || signed[1].Step != 1 {
		t.Fatalf("%+v, %v", signed, err)
	}
	merged := *txs[0]
	merged.Calls = append(merged.Calls, txs[1].Calls...)
	_, err = s.k.Check(plan, s.sign(&merged))
	wants(t, "opening and claim in one transaction", err, "signedTxs[0]", "two steps")
}

// The digits without 0x of an address are hexadecimal to some and decimal to others.
func TestAnAddressWithout0x(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, text := range []string{"123456789", "00011ae1f7d62f9651bc4138c4c4bb3bb6b65a26caceaf2aff401cbddf01810d"} {
		if got, err := s.chain.Address(text); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		if _, err := s.chain.TokenAddress(text); err == nil {
			t.Errorf("%s is a token", text)
		}
	}
}
