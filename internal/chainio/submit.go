package chainio

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
)

// IDs implements [Checker].
func (rd *Reader) IDs(r *swap.Record, signed []string) ([]string, error) {
	k, _, err := rd.contract(r.Chain, r.Contract)
	if err != nil {
		return nil, err
	}
	if r.Vault == nil && r.Gas == nil && r.Type != swap.FromBTC {
		return k.IDs(signed)
	}
	// Swaps from bitcoin take a PSBT, and transactions of the chain before or after it; gas a PSBT alone.
	ids := make([]string, len(signed))
	for i, text := range signed {
		if u, err := psbt.Parse(text); err == nil {
			id, _ := u.TxID(nil)
			ids[i] = id.String()
			continue
		}
		id, err := k.IDs([]string{text})
		if err != nil {
			return nil, fault.Invalid(fmt.Sprintf("signedTxs[%d]", i), "is neither a PSBT nor a %s transaction", r.Chain)
		}
		ids[i] = id[0]
	}
	return ids, nil
}

// Check implements [Checker].
func (rd *Reader) Check(ctx context.Context, r *swap.Record, a swap.Action, signed []string) (swap.Submit, error) {
	switch a := a.(type) {
	case *swap.Sign:
		k, _, err := rd.contract(r.Chain, r.Contract)
		if err != nil {
			return swap.Submit{}, err
		}
		plan := a.Plan
		if a.AnySigner {
			plan.Signer = ""
		}
		if err := rd.prove(ctx, &plan); err != nil {
			return swap.Submit{}, err
		}
		txs, err := k.Check(plan, signed)
		if err != nil {
			return swap.Submit{}, err
		}
		// An unreachable chain does not block the submission: a transaction
		// that cannot be executed is reported later.
		if err := k.Admit(ctx, plan, txs); fault.CodeOf(err) == fault.InvalidInput || fault.CodeOf(err) == fault.InvalidState {
			return swap.Submit{}, err
		}
		in := swap.Submit{Action: a.For}
		for _, tx := range txs {
			in.Txs = append(in.Txs, swap.SignedTx{Signed: tx})
		}
		return in, nil
	case *swap.Fund:
		if len(signed) != 1 {
			return swap.Submit{}, fault.Invalid("signedTxs", "must contain exactly one PSBT")
		}
		return rd.checkPSBT(ctx, r, a, signed[0])
	}
	return swap.Submit{}, fault.New(fault.InvalidState, "no transactions are expected at the moment; check the swap's status")
}

// checkPSBT compares a PSBT with the agreed template, its inputs with what the
// backend says of them, and looks at the vault once more: after this the
// transaction is out of our hands.
func (rd *Reader) checkPSBT(ctx context.Context, r *swap.Record, a *swap.Fund, text string) (swap.Submit, error) {
	u, err := psbt.Parse(text)
	if err != nil {
		return swap.Submit{}, fault.At("signedTxs[0]", err)
	}
	t, err := rd.Template(r, a)
	if err != nil {
		return swap.Submit{}, err
	}
	agreed := psbt.Agreement{Template: t, AnySalt: a.Vault, Prevouts: map[bitcoin.OutPoint]*wire.TxOut{}, Unconfirmed: map[bitcoin.Hash]bitcoin.CPFP{}}
	rates, err := single.FeeRates(ctx, rd.Bitcoin)
	if err != nil {
		return swap.Submit{}, err
	}
	if a.Vault {
		agreed.MinFeeRate = r.Vault.MinFeeRate
	}
	agreed.MaxFeeRate = highestRate(a, agreed.MinFeeRate, rates)
	if err := rd.parents(ctx, u.Inputs(), &agreed); err != nil {
		return swap.Submit{}, err
	}
	tx, err := u.Check(agreed)
	if err != nil {
		return swap.Submit{}, fault.At("signedTxs", err)
	}
	if a.Vault { // first: with a vault that cannot pay, other inputs would not help
		if err := rd.recheckVault(ctx, r, tx.Tx); err != nil {
			return swap.Submit{}, err
		}
	}
	if err := rd.unspent(ctx, u.Inputs(), tx.ID, a.Vault); err != nil {
		return swap.Submit{}, err
	}
	raw, err := rawtx.Encode(tx.Tx)
	if err != nil {
		return swap.Submit{}, err
	}
	return swap.Submit{Action: swap.ActionFund, PSBT: &swap.SignedPSBT{TxID: tx.ID, Tx: raw, Posted: tx.PSBT, Fee: tx.Fee}}, nil
}

// unspent makes sure that no other transaction spends an input: an LP would refuse it, and
// it would never be mined. The vault's own input is judged with the vault.
func (rd *Reader) unspent(ctx context.Context, ops []bitcoin.OutPoint, ours bitcoin.Hash, vault bool) error {
	first := 0
	if vault {
		first = min(1, len(ops))
	}
	spends, err := rd.Spends(ctx, ops[first:])
	if err != nil {
		return err
	}
	for i, s := range spends {
		if (s.State == bitcoin.SpentInMempool || s.State == bitcoin.SpentConfirmed) && s.TxID != ours {
			return fault.Invalid("signedTxs[0]", "input %d spends output %d of transaction %s, which another transaction spends already", first+i, ops[first+i].Index, ops[first+i].Hash)
		}
	}
	return nil
}

// parents learns what the inputs spend and, of unconfirmed parents, what they
// weigh and pay.
func (rd *Reader) parents(ctx context.Context, ops []bitcoin.OutPoint, agreed *psbt.Agreement) error {
	var ids []bitcoin.Hash
	for _, op := range ops {
		if !slices.Contains(ids, op.Hash) {
			ids = append(ids, op.Hash)
		}
	}
	var unconfirmed []bitcoin.Hash
	parents := map[bitcoin.Hash]*bitcoin.Tx{}
	for i, res := range rd.Bitcoin.Txs(ctx, ids) {
		if res.Err != nil {
			return fault.New(fault.Upstream, "transaction %s, which an input spends, could not be looked up: %w", ids[i], res.Err)
		}
		parents[ids[i]] = res.Value
		if !res.Value.Confirmed() {
			unconfirmed = append(unconfirmed, ids[i])
		}
	}
	for i, op := range ops {
		out, ok := parents[op.Hash].Output(op.Index)
		if !ok {
			return fault.Invalid("signedTxs[0]", "input %d spends output %d of transaction %s, which has no such output", i, op.Index, op.Hash)
		}
		agreed.Prevouts[op] = out
	}
	for i, res := range single.Mempool(rd.Bitcoin).CPFPs(ctx, unconfirmed) {
		if res.Err != nil {
			return res.Err
		}
		if res.Value != nil {
			agreed.Unconfirmed[unconfirmed[i]] = *res.Value
		}
	}
	return nil
}

// recheckVault makes sure that the vault can still pay this very transaction
// (protocol: swap-flows-spv-and-core.md A7 steps 10 to 12): its output is
// unspent, the withdrawals before ours lead to it, the balances cover ours with
// all fees, and the contract can read it.
func (rd *Reader) recheckVault(ctx context.Context, r *swap.Record, tx *wire.MsgTx) error {
	k, _, err := rd.contract(r.Chain, r.Contract)
	if err != nil {
		return err
	}
	c, ok := k.(chains.VaultContract)
	if !ok {
		return NoVaults(r.Chain)
	}
	ours, err := c.ParseWithdrawal(tx)
	if err != nil {
		return fault.Invalid("signedTxs[0]", "%w", err)
	}
	facts, err := rd.VaultFacts(ctx, c, func(ctx context.Context) (*chains.Vault, error) {
		f, err := rd.Vault(ctx, r.Chain, r.Contract, chains.VaultID{Owner: r.Vault.Owner, ID: r.Vault.VaultID})
		return &f.Vault, err
	}, ours.Vault, tx)
	if err != nil {
		return err
	}
	err = verify.VaultPays(facts, vault.Pending{Withdrawal: ours.Withdrawal, Amounts: ours.Amounts})
	switch e, ok := errors.AsType[*lp.LPError](err); { // about what the provider said at the quote, and what others did since
	case !ok:
		return err
	case facts.Spend == bitcoin.SpentInMempool || facts.Spend == bitcoin.SpentConfirmed:
		return swap.ErrVaultTaken
	case e.Check == lp.CheckVaultOpen || e.Check == lp.CheckVaultBalance:
		return fault.New(fault.InvalidState, "the vault cannot pay this swap any more (%s); create a new swap", e.Reason)
	default:
		return fault.New(fault.Upstream, "the vault could not be checked: %w", err)
	}
}
