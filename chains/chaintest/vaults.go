package chaintest

import (
	"errors"
	"math/big"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/trial"
)

// vaultKit skips chains without vaults.
func (k *kit) vaultKit() (VaultNet, chains.VaultContract) {
	net, ok := k.net.(VaultNet)
	v, has := k.k.(chains.VaultContract)
	if !ok || !has {
		k.Skip("the contracts have no vaults")
	}
	return net, v
}

func (k *kit) vault(v chains.VaultContract, id chains.VaultID) chains.Vault {
	k.Helper()
	facts := trial.Must(v.Vaults(k.Context(), []chains.VaultID{id}))(k)
	k.must(facts[0].Err)
	if facts[0].Head.Height == 0 {
		k.Error("a vault without head")
	}
	return facts[0].Vault
}

func (k *kit) withdrawal(v chains.VaultContract, q chains.WithdrawalQuery) chains.WithdrawalFact {
	k.Helper()
	facts := trial.Must(v.Withdrawals(k.Context(), []chains.WithdrawalQuery{q}))(k)
	k.must(facts[0].Err)
	return facts[0]
}

// listed demands that a vault is found by its opening, once that is final, and only once.
func (k *kit) listed(v chains.VaultList, id chains.VaultID) {
	k.Helper()
	var at []uint64
	from := uint64(0)
	k.eventually("the opening of the vault", func() bool {
		all, next, err := v.OpenedVaults(k.Context(), from)
		k.must(err)
		for _, o := range all {
			if o.Height < from || o.Height >= next {
				k.Errorf("opened at height %d, of a search from %d to below %d", o.Height, from, next)
			}
			if o.Owner == id.Owner && o.ID.Cmp(id.ID) == 0 {
				at = append(at, o.Height)
			}
		}
		moved := next != from
		from = next
		if !moved {
			k.net.Mine(k.T, 1)
		}
		return !moved && len(at) > 0
	})
	if len(at) != 1 {
		k.Errorf("the vault is found %d times", len(at))
	}
}

func testVaultClaims(k *kit) {
	net, v := k.vaultKit()
	id := net.OpenVault(k.T, [2]uint64{1_000_000, 500_000}, 2)
	opened := k.vault(v, id)
	if !opened.Open || !opened.OurRelay || opened.Raw != [2]uint64{1_000_000, 500_000} || opened.Tokens[0] != k.facts.Token || opened.Tokens[1] != k.chain.Info().Native.Address ||
		opened.Confirmations != 2 || opened.Multipliers[0].Sign() <= 0 || opened.Multipliers[1].Sign() <= 0 || opened.UTXO == (bitcoin.OutPoint{}) {
		k.Errorf("vault: %+v", opened)
	}
	if list, ok := v.(chains.VaultList); ok {
		k.listed(list, id)
	}
	from := trial.Must(k.chain.Heads(k.Context()))(k)
	shares := bitcoin.FeeShares{Caller: 100}
	var queries []chains.WithdrawalQuery
	var pending []vault.Pending
	var users []Account
	for i := range 3 { // three in a row: the last claim brings all of them
		user := k.net.Account(k.T)
		raw := [2]uint64{uint64(10_000 * (i + 1)), uint64(20 * i)}
		data := trial.Must(v.WithdrawalData(user.Address(), raw))(k)
		tx := net.Withdraw(k.T, id, data, shares)
		queries = append(queries, chains.WithdrawalQuery{Vault: id, Recipient: user.Address(), TxID: tx, From: from.Latest.Height})
		users = append(users, user)
		pending = append(pending, k.parse(v, tx, user.Address(), raw))
	}
	after := trial.Must(vault.After(opened.VaultState, pending...))(k)
	plan := chains.Plan{SwapID: "vault", Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: id.Owner, ID: id.ID, TxID: queries[2].TxID}}}}
	k.buildRefused(users[2], plan.Steps[0], "a claim of an unconfirmed withdrawal")
	k.net.MineBitcoin(k.T, 2)
	before := [2]*big.Int{k.balance(users[0].Address(), k.facts.Token), k.balance(users[2].Address(), k.facts.Token)}
	plan.Signer = users[2].Address()
	k.altered("vault claim", users[2], plan)
	k.otherWithdrawal(users[2], plan, queries[1].TxID)
	k.run(users[2], plan) // the relay is behind as well
	for i, q := range queries {
		f := k.withdrawal(v, q)
		if f.State != chains.WithdrawalClaimed || f.ClaimTx == "" || f.Close != "" || f.Height == 0 {
			k.Errorf("withdrawal %d: %+v", i, f)
		}
	}
	if got := k.vault(v, id); !got.Open || got.UTXO != after.UTXO || got.Raw != after.Raw || got.Withdrawals != after.Withdrawals {
		k.Errorf("vault after the claims %+v, want %+v", got.VaultState, after)
	}
	for i, u := range []int{0, 2} {
		want := new(big.Int).Mul(opened.Multipliers[0], new(big.Int).SetUint64(pending[u].Amounts.Payout[0]))
		if u == 2 { // who claims gets the caller's share of all
			for _, p := range pending {
				want.Add(want, new(big.Int).Mul(opened.Multipliers[0], new(big.Int).SetUint64(p.Amounts.Caller[0])))
			}
		}
		if got := k.balance(users[u].Address(), k.facts.Token); got.Sub(got, before[i]).Cmp(want) != 0 {
			k.Errorf("recipient %d got %s, want %s", u, got, want)
		}
	}
	k.buildRefused(users[0], plan.Steps[0], "a second claim")
	k.vaultQuestions(v, id, queries[0])
}

// parse reads a withdrawal in all the ways there are.
func (k *kit) parse(v chains.VaultContract, id bitcoin.Hash, recipient string, raw [2]uint64) vault.Pending {
	k.Helper()
	tx := trial.Must(single.Tx(k.Context(), k.net.Backend(), id))(k)
	w := trial.Must(v.ParseWithdrawal(tx.Msg))(k)
	if w.Recipient != recipient || w.Raw != raw || w.TxID != id {
		k.Errorf("withdrawal %+v", w)
	}
	stripped := trial.Must(rawtx.Strip(tx.Msg))(k)
	k.must(v.DryRun(k.Context(), [][]byte{stripped}))
	odd := tx.Msg.Copy()
	odd.TxOut[1].PkScript = []byte{0x6a, 2, 1, 2}
	stripped = trial.Must(rawtx.Strip(odd))(k)
	if err := v.DryRun(k.Context(), [][]byte{stripped}); fault.CodeOf(err) != fault.Upstream {
		k.Errorf("the contract reads an unreadable withdrawal: %v", err)
	}
	if _, err := v.ParseWithdrawal(odd); err == nil {
		k.Error("an unreadable withdrawal is read")
	}
	if _, err := v.ParseWithdrawal(wire.NewMsgTx(2)); err == nil {
		k.Error("an empty transaction is a withdrawal")
	}
	return vault.Pending{Withdrawal: w.Withdrawal, Amounts: w.Amounts}
}

// vaultQuestions asks for what is not there, and beside what is there.
func (k *kit) vaultQuestions(v chains.VaultContract, id chains.VaultID, q chains.WithdrawalQuery) {
	none := chains.VaultID{Owner: id.Owner, ID: new(big.Int).Add(id.ID, big.NewInt(1_000_000))}
	facts := trial.Must(v.Vaults(k.Context(), []chains.VaultID{{Owner: "invalid", ID: big.NewInt(1)}, none, {Owner: id.Owner}, id}))(k)
	if facts[0].Err == nil || facts[1].Err != nil || facts[1].Vault.Open || facts[2].Err == nil || facts[3].Err != nil || !facts[3].Vault.Open {
		k.Errorf("vaults: %+v", facts)
	}
	if facts, err := v.Vaults(k.Context(), nil); err != nil || len(facts) != 0 {
		k.Errorf("no vaults: %v, %v", facts, err)
	}
	bad, missing, foreign, stranger := q, q, q, q
	bad.Recipient = "invalid"
	missing.TxID = bitcoin.Hash{7}
	foreign.Vault = none
	stranger.Recipient = k.net.Account(k.T).Address()
	all := trial.Must(v.Withdrawals(k.Context(), []chains.WithdrawalQuery{bad, missing, foreign, stranger, q}))(k)
	if all[0].Err == nil || all[4].State != chains.WithdrawalClaimed {
		k.Errorf("withdrawals: %+v", all)
	}
	for i := 1; i < 4; i++ {
		if all[i].Err != nil || all[i].State != chains.WithdrawalNone || all[i].Final {
			k.Errorf("invalid withdrawal %d: %+v", i, all[i])
		}
	}
	for name, to := range map[string]string{"zero": k.facts.ZeroAddress, "invalid": "invalid", "empty": ""} {
		if _, err := v.WithdrawalData(to, [2]uint64{1, 0}); err == nil {
			k.Errorf("a withdrawal to %s", name)
		}
	}
}

func testFronting(k *kit) {
	net, v := k.vaultKit()
	id := net.OpenVault(k.T, [2]uint64{1_000_000, 0}, 1)
	raw := [2]uint64{50_000, 0}
	data := trial.Must(v.WithdrawalData(k.user.Address(), raw))(k)
	q := chains.WithdrawalQuery{Vault: id, Recipient: k.user.Address(), TxID: net.Withdraw(k.T, id, data, bitcoin.FeeShares{Fronting: 50})}
	if f := k.withdrawal(v, q); f.State != chains.WithdrawalNone || f.Height != 0 {
		k.Errorf("before: %+v", f)
	}
	before := k.balance(k.user.Address(), k.facts.Token)
	net.Front(k.T, id, q.TxID)
	f := k.withdrawal(v, q)
	if f.State != chains.WithdrawalFronted || f.FrontTx == "" || f.ClaimTx != "" {
		k.Errorf("fronted: %+v", f)
	}
	want := new(big.Int).Mul(k.vault(v, id).Multipliers[0], big.NewInt(50_000))
	if got := k.balance(k.user.Address(), k.facts.Token); got.Sub(got, before).Cmp(want) != 0 {
		k.Errorf("the recipient got %s, want %s", got, want)
	}
	k.net.MineBitcoin(k.T, 1)
	k.net.SyncRelay(k.T)
	k.run(k.net.Account(k.T), chains.Plan{SwapID: "fronted", Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: id.Owner, ID: id.ID, TxID: q.TxID}}}})
	if f := k.withdrawal(v, q); f.State != chains.WithdrawalClaimed || f.FrontTx == "" || f.ClaimTx == "" {
		k.Errorf("claimed after fronting: %+v", f)
	}
	tip, err := v.RelayTip(k.Context())
	height, backendErr := k.net.Backend().TipHeight(k.Context())
	if err = errors.Join(err, backendErr); err != nil || tip != height {
		k.Errorf("relay at %d, Bitcoin at %d: %v", tip, height, err)
	}
}

// otherWithdrawal hands back the claim of an earlier withdrawal, and the wanted
// claims in an order in which they cannot be carried out.
func (k *kit) otherWithdrawal(by Account, plan chains.Plan, earlier bitcoin.Hash) {
	k.Helper()
	vault := *plan.Steps[0].Vault
	vault.TxID = earlier
	other := plan
	other.Steps = []chains.Step{{Kind: chains.StepVaultClaim, Vault: &vault}}
	refused := func(what string, want, built chains.Plan, change func([]string)) {
		k.Helper()
		u := trial.Must(k.k.Build(k.Context(), built))(k)
		change(u.Txs)
		if _, err := k.k.Check(want, by.Sign(k.T, u)); fault.CodeOf(err) != fault.InvalidInput {
			k.Errorf("%s passes: %v", what, err)
		}
	}
	same := func([]string) {}
	refused("the claim of an earlier withdrawal", plan, other, same)
	refused("the claim of a later withdrawal", other, plan, same)
	refused("claims in another order", plan, plan, slices.Reverse[[]string])
}
