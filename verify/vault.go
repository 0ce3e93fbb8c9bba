package verify

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/lp"
	lpverify "github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// vaultTerms are the vault of a swap, verified, and what was sent to it.
type vaultTerms struct {
	Contract      string // version
	Part          swap.VaultPart
	Confirmations uint32 // that a withdrawal needs
	Sent          []bitcoin.Hash
	Confirmed     swapper.Timestamp // when the wallet's own Bitcoin backend was first seen to show them; zero: not yet
}

// mostSent is how many transactions a wallet may sign for one swap; all of them spend the
// same output of the vault, so that one can be mined at most.
const mostSent = 8

// record is the swap as the library's own code reads it that builds and checks transactions.
func (t terms) record(id string) *swap.Record {
	part := t.Vault.Part
	return &swap.Record{
		Head:  swap.Head{ID: id, Type: swap.SPVFromBTC, Chain: t.Dst.Chain, Contract: t.Vault.Contract, Seed: t.Seed},
		Terms: swap.Terms{Recipient: t.Recipient}, Vault: &part, Bitcoin: &swap.BitcoinPart{Sats: t.Input.Uint64(), Confirmations: t.Vault.Confirmations},
	}
}

func (t terms) vaultID() chains.VaultID {
	return chains.VaultID{Owner: t.Vault.Part.Owner, ID: t.Vault.Part.VaultID}
}

// withdrawal is what the wallet's own nodes show of a transaction that was sent.
type withdrawal struct {
	id   bitcoin.Hash
	tx   *bitcoin.Tx // nil: Bitcoin does not know it
	fact chains.WithdrawalFact
}

// withdrawals asks the wallet's own nodes about what was sent, and returns what has come
// furthest; nil if nothing was sent.
func (v *verifier) withdrawals(ctx context.Context, o *opened, t terms) (*withdrawal, error) {
	if t.Vault == nil || len(t.Vault.Sent) == 0 {
		return nil, nil
	}
	all := make([]withdrawal, len(t.Vault.Sent))
	g, gctx := errgroup.WithContext(ctx)
	for i, id := range t.Vault.Sent {
		all[i].id = id
		g.Go(func() (err error) { all[i].tx, err = o.reader.BitcoinTx(gctx, id); return err })
		g.Go(func() (err error) {
			all[i].fact, err = o.reader.Withdrawal(gctx, t.Dst.Chain, t.Vault.Contract, chains.WithdrawalQuery{Vault: t.vaultID(), Recipient: t.Recipient, TxID: id, From: t.From, Settled: true})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	furthest := slices.MaxFunc(all, func(a, b withdrawal) int { return a.came() - b.came() })
	return &furthest, nil
}

func (w *withdrawal) came() int {
	switch {
	case w.fact.State != chains.WithdrawalNone:
		return 2
	case w.tx != nil:
		return 1
	}
	return 0
}

// enough reports whether Bitcoin shows the transaction with the confirmations that the
// vault needs.
func (w *withdrawal) enough(t terms) bool {
	return w != nil && w.tx != nil && w.tx.Confirmations >= t.Vault.Confirmations
}

// throughVault is the status of a swap from Bitcoin through a vault. The transaction is made
// here from what was verified, and so is the claim, without which a service that is silent or
// lies could keep the money.
func (v *verifier) throughVault(ctx context.Context, o *opened, version uint64, t terms, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	var got *swapper.GetSwapStatusOutput
	var seen *withdrawal
	var refused, unseen error
	var g errgroup.Group
	asked := in
	asked.BitcoinAddress, asked.BitcoinPublicKey, asked.BitcoinFeeRate = "", "", nil // the coins are chosen here
	g.Go(func() error { got, refused = v.told(ctx, o, t, asked); return nil })
	g.Go(func() error { seen, unseen = v.withdrawals(ctx, o, t); return nil })
	_ = g.Wait() // both keep their errors
	if refused != nil && (seen == nil || seen.came() == 0) {
		return nil, refused
	}
	out := &swapper.GetSwapStatusOutput{ListSwapOutput: v.throughVaultNow(in.SwapID, t, stateTold(got, refused), seen, unseen)}
	if unseen != nil || out.IsFinished {
		return out, nil
	}
	if seen.enough(t) {
		if seen.fact.State == chains.WithdrawalNone {
			return out, v.vaultClaim(ctx, o, version, t, in, got, seen, out)
		}
		return out, nil
	}
	if refused != nil || got.CurrentAction == nil {
		return out, nil
	}
	switch a := got.CurrentAction.(type) {
	case *swapper.Wait:
		out.CurrentAction = wait(a)
	case *swapper.SignPSBT:
		fund, err := v.vaultPayment(ctx, o, version, t, in, got)
		switch {
		case err == nil:
			out.CurrentAction = fund
		case fault.CodeOf(err) == fault.Unsupported:
			out.ActionError = &swapper.ActionError{Code: fault.Unsupported, Error: err.Error()}
		default:
			return nil, err
		}
	default:
		out.ActionError = &swapper.ActionError{Code: fault.Unsupported, Error: fmt.Sprintf("the service's action %s is not verified, and is withheld: the wallet's own Bitcoin backend does not show the payment with its confirmations", a.Type())}
	}
	return out, nil
}

// throughVaultNow shows a swap through a vault by what was agreed and by what the wallet's own
// nodes say of how it went.
func (v *verifier) throughVaultNow(id string, t terms, state swapper.SwapState, seen *withdrawal, unseen error) swapper.ListSwapOutput {
	sent := t.Vault != nil && len(t.Vault.Sent) > 0
	out := swapper.ListSwapOutput{SwapOutputBase: t.base(id, state), IsExpired: !sent && !t.Expiry.After(v.config.Now())}
	how := ""
	switch {
	case errors.Is(unseen, errNotAsked):
		how = "The wallet's own nodes were not asked about the payment"
	case unseen != nil:
		how = "The wallet's own nodes do not say how the payment is"
	case seen == nil:
		how = "No payment was signed"
	case seen.fact.State == chains.WithdrawalClaimed:
		how = "By the wallet's own nodes the vault has paid " + t.Recipient
	case seen.fact.State == chains.WithdrawalFronted:
		how = "By the wallet's own nodes the payout was advanced to " + t.Recipient
	case seen.fact.State == chains.WithdrawalClosed:
		how = "By the wallet's own nodes the vault has closed over the payment, and has not paid"
	case seen.tx == nil:
		how = "The wallet's own Bitcoin backend does not show the payment"
	default:
		how = fmt.Sprintf("By the wallet's own Bitcoin backend the payment has %d of %d confirmations", seen.tx.Confirmations, t.Vault.Confirmations)
	}
	if unseen == nil && seen != nil && seen.fact.State != chains.WithdrawalNone {
		out.IsFinished = seen.fact.Final
		out.IsFailed = out.IsFinished && seen.fact.State == chains.WithdrawalClosed
		out.IsSuccess = out.IsFinished && !out.IsFailed
		if !out.IsFinished {
			how += ", which is not final yet"
		}
	}
	out.State.Description = strings.TrimSpace(how + ". " + out.State.Description)
	return out
}

const fieldPSBT = "currentAction.txs[0]"

// vaultPayment verifies the transaction that the service wants signed, and the vault that it
// spends, and makes it again from what was verified: with inputs and change of the wallet
// that were chosen here, if the wallet has named one.
func (v *verifier) vaultPayment(ctx context.Context, o *opened, version uint64, t terms, in swapper.GetSwapStatusInput, got *swapper.GetSwapStatusOutput) (swapper.Action, error) {
	said := got.CurrentAction.(*swapper.SignPSBT)
	if said.Chain != tokens.Bitcoin || len(said.Raw) != 1 || len(said.Funded) != 0 {
		return nil, &RefusedError{Reason: reasonAction, Field: "currentAction.txs", Said: fmt.Sprintf("%d raw and %d funded transactions on %s", len(said.Raw), len(said.Funded), said.Chain), True: "one raw transaction on Bitcoin"}
	}
	u, err := psbt.Parse(said.Raw[0].PSBTHex)
	if err != nil {
		return nil, refusedPSBT(err)
	}
	read, err := u.VaultTerms(said.Raw[0].In1Sequence)
	if err != nil {
		return nil, refusedPSBT(err)
	}
	caller, err := v.caller(in)
	if err != nil {
		return nil, err
	}
	k, raw, err := v.vaultContract(o, t, read)
	if err != nil {
		return nil, err
	}
	vault, err := v.vaultOf(ctx, o, t, k, got.Vault, read.Vault)
	if err != nil {
		return nil, err
	}
	before := t.Vault
	next := vaultTerms{Contract: k.Version(), Part: swap.VaultPart{Owner: vault.Owner, VaultID: vault.ID, UTXO: read.Vault.String(), UTXOSats: read.VaultValue, Script: read.VaultScript,
		LPScript: read.PayScript, Sats: [2]int64{read.PaySats}, Raw: raw, Shares: [3]uint32{read.Shares.Caller, read.Shares.Fronting, read.Shares.Execution}, MinFeeRate: said.Raw[0].FeeRate}}
	if before != nil {
		next.Sent, next.Confirmed, next.Confirmations, next.Part.Multipliers = before.Sent, before.Confirmed, before.Confirmations, before.Part.Multipliers
	}
	t.Vault = &next
	var facts lpverify.VaultFacts
	var rates bitcoin.FeeRates
	var todo swap.BuiltAction
	var unfunded error
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		facts, err = o.reader.VaultFacts(gctx, k, func(ctx context.Context) (*chains.Vault, error) {
			f, err := o.reader.Vault(ctx, t.Dst.Chain, k.Version(), vault)
			return &f.Vault, err
		}, read.Vault, nil)
		return err
	})
	g.Go(func() (err error) { rates, err = single.FeeRates(gctx, v.config.Bitcoin); return err })
	g.Go(func() error {
		todo, unfunded = o.reader.BuildAction(gctx, t.record(in.SwapID), &swap.Fund{Vault: true}, caller)
		return nil
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	native := o.byID[t.Dst.Chain].Info().Native
	accepted, err := lpverify.VaultTold(
		lpverify.SPVExpected{Agreed: lpverify.Agreed{User: t.Recipient, Token: t.Dst, Native: native, Amount: t.Input, Contract: k, Now: v.config.Now()}, Network: v.config.Network, MaxFeeRate: lpverify.MaxFeeRate(max(rates.Fastest, rates.Minimum))},
		lpverify.ToldVault{VaultTerms: read, ID: vault, Output: t.Output, FeeRate: said.Raw[0].FeeRate}, facts)
	if err != nil {
		return nil, refusedPSBT(err)
	}
	next.Part.Multipliers, next.Confirmations = accepted.Multipliers, accepted.Confirmations
	if before == nil {
		err = v.keep(ctx, in.SwapID, version, t)
	} else {
		err = same(reasonAgreed, fieldPSBT, fmt.Sprintf("%s %+v", next.Contract, next.Part), fmt.Sprintf("%s %+v", before.Contract, before.Part))
	}
	if err != nil {
		return nil, err
	}
	if unfunded != nil {
		return nil, unfunded
	}
	return t.signPSBT(fmt.Sprintf("Pays %s to the provider, in a transaction that makes the vault %s of %s pay %s to %s.",
		tokens.NewAmount(t.Input, t.Src), vault.ID, vault.Owner, tokens.NewAmount(t.Output, t.Dst), t.Recipient), todo), nil
}

// signPSBT is the action of a Bitcoin transaction that was made here.
func (t terms) signPSBT(what string, todo swap.BuiltAction) *swapper.SignPSBT {
	sats := func(n int64) *swapper.Amount {
		a := swapper.AmountOf(tokens.NewAmount(big.NewInt(n), t.Src))
		return &a
	}
	sign := &swapper.SignPSBT{Name: "Deposit on Bitcoin", Chain: tokens.Bitcoin}
	sign.Description = what
	if p := todo.Raw; p != nil {
		sign.Description += fmt.Sprintf(" Miners may get %s at most.", tokens.NewAmount(big.NewInt(p.MaxFee), t.Src))
		sign.Raw = []swapper.RawPSBT{{PSBTHex: p.PSBT.Hex(), PSBTBase64: p.PSBT.Base64(), In1Sequence: p.Sequence, FeeRate: p.FeeRate, MaxNetworkFee: sats(p.MaxFee)}}
	}
	if p := todo.Funded; p != nil {
		sign.Description += fmt.Sprintf(" Miners get %s, and the rest comes back as change.", tokens.NewAmount(big.NewInt(p.Fee), t.Src))
		sign.Funded = []swapper.FundedPSBT{{PSBTHex: p.PSBT.Hex(), PSBTBase64: p.PSBT.Base64(), SignInputs: p.SignInputs, FeeRate: p.FeeRate, NetworkFee: sats(p.Fee)}}
	}
	return sign
}

// toldVault reads which vault pays, by the service's word. Whether it does is asked of the
// chain.
func (v *verifier) toldVault(o *opened, t terms, told swapper.VaultInfo) (chains.VaultID, error) {
	owner, err := o.byID[t.Dst.Chain].Address(told.Owner)
	if err != nil {
		return chains.VaultID{}, &RefusedError{Reason: reasonAction, Field: "vault.owner", Said: told.Owner, True: "an address on " + t.Dst.Chain, Err: err}
	}
	const digits = 78 // of 256 bits
	id, ok := new(big.Int), len(told.VaultID) <= digits
	if ok {
		_, ok = id.SetString(told.VaultID, 10)
	}
	if !ok || id.Sign() < 0 {
		return chains.VaultID{}, &RefusedError{Reason: reasonAction, Field: "vault.vaultId", Said: told.VaultID, True: "a decimal number"}
	}
	return chains.VaultID{Owner: owner, ID: id}, nil
}

// vaultContract finds the contract set that reads what a transaction tells its vault, and
// the amounts that it reads.
func (v *verifier) vaultContract(o *opened, t terms, read psbt.VaultTerms) (chains.VaultContract, [2]uint64, error) {
	tx, err := read.Draft()
	if err != nil {
		return nil, [2]uint64{}, err
	}
	chain := o.byID[t.Dst.Chain]
	err = fault.New(fault.Unsupported, "chain %s has no vaults", t.Dst.Chain)
	for _, version := range chain.Info().Versions {
		contract, _ := chain.Contract(version.Name)
		k, ok := contract.(chains.VaultContract)
		if !ok || !version.Vaults || t.Vault != nil && t.Vault.Contract != version.Name {
			continue
		}
		w, bad := k.ParseWithdrawal(tx)
		if bad != nil {
			err = &RefusedError{Reason: reasonAction, Field: fieldPSBT, Said: "a transaction that pays otherwise", True: "a withdrawal that the vault can read: " + bad.Error(), Err: bad}
			continue
		}
		return k, w.Raw, same(reasonRecipient, fieldPSBT, w.Recipient, t.Recipient)
	}
	return nil, [2]uint64{}, err
}

// caller is the wallet whose coins pay.
func (v *verifier) caller(in swapper.GetSwapStatusInput) (swap.Caller, error) {
	var c swap.Caller
	if in.BitcoinFeeRate != nil {
		c.FeeRate = *in.BitcoinFeeRate
	}
	if in.BitcoinAddress == "" {
		return c, nil
	}
	a, err := bitcoin.ParseAddress(in.BitcoinAddress, v.config.Network)
	if err != nil {
		return c, fault.Invalid("bitcoinAddress", "%w", err)
	}
	w, err := psbt.NewWallet(a, in.BitcoinPublicKey)
	c.Wallet = &w
	return c, fault.At("bitcoinPublicKey", err)
}

// refusedPSBT is a transaction, or a vault, that does not do what was agreed.
func refusedPSBT(err error) error {
	said := "a transaction that pays otherwise"
	if bad, ok := errors.AsType[*lp.LPError](err); ok {
		return &RefusedError{Reason: reasonAction, Field: fieldPSBT, Said: said, True: "one whose vault pays what was agreed: " + bad.Public(), Err: err}
	}
	if fault.CodeOf(err) != fault.InvalidInput {
		return err
	}
	return &RefusedError{Reason: reasonAction, Field: fieldPSBT, Said: said, True: "the transaction of a vault swap: " + err.Error(), Err: err}
}

// submitVault gives the service a signed transaction that the wallet may pay, which is
// stored before, or sends a claim through the wallet's own nodes.
func (v *verifier) submitVault(ctx context.Context, o *opened, version uint64, t terms, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if t.Vault == nil {
		return nil, fault.Invalid(fieldSigned, "must carry out the current action, and no transaction of this swap was verified yet: ask for its status")
	}
	if _, err := psbt.Parse(in.SignedTxs[0]); err != nil {
		return v.submitVaultClaim(ctx, o, t, in)
	}
	checked, err := o.reader.Check(ctx, t.record(in.SwapID), &swap.Fund{Vault: true}, in.SignedTxs)
	if err != nil {
		return nil, err
	}
	id := checked.PSBT.TxID
	if !slices.Contains(t.Vault.Sent, id) {
		if len(t.Vault.Sent) == mostSent {
			return nil, fault.New(fault.InvalidState, "%d transactions were signed for this swap already", mostSent)
		}
		next := *t.Vault
		next.Sent = append(slices.Clone(next.Sent), id)
		t.Vault = &next
		if err := v.keep(ctx, in.SwapID, version, t); err != nil {
			return nil, err
		}
	}
	in.SignedTxs = []string{psbt.PSBT(checked.PSBT.Posted).Hex()}
	if _, err := v.service.SubmitTransaction(ctx, in); err != nil {
		return nil, err
	}
	return &swapper.SubmitTransactionOutput{TxHashes: swapper.List[string]{id.String()}}, nil
}

// vaultClaim is the action while the vault has not paid a confirmed transaction: to wait for
// a watchtower, and then to claim.
func (v *verifier) vaultClaim(ctx context.Context, o *opened, version uint64, t terms, in swapper.GetSwapStatusInput, got *swapper.GetSwapStatusOutput, seen *withdrawal, out *swapper.GetSwapStatusOutput) error {
	if t.Vault.Confirmed.IsZero() {
		next := *t.Vault
		next.Confirmed = v.now()
		t.Vault = &next
		if err := v.keep(ctx, in.SwapID, version, t); err != nil {
			return err
		}
	}
	if v.leavesToOthers(t.Vault.Confirmed, got, out) {
		return nil
	}
	chain := o.byID[t.Dst.Chain]
	signer, err := signerOf(chain, in.Signer, t.Recipient)
	if err != nil {
		return err
	}
	k, plan, err := vaultClaimPlan(chain, t, in.SwapID, signer, seen.id)
	if err != nil {
		return err
	}
	u, err := k.Build(ctx, plan)
	if err != nil {
		return overtaken(err, out)
	}
	out.CurrentAction = t.settle(u)
	return nil
}

func vaultClaimPlan(chain chains.Chain, t terms, id, signer string, tx bitcoin.Hash) (chains.Contract, chains.Plan, error) {
	k, ok := chain.Contract(t.Vault.Contract)
	if !ok {
		return nil, chains.Plan{}, fault.New(fault.Unsupported, "the contracts %s of %s are not known", t.Vault.Contract, t.Dst.Chain)
	}
	return k, chains.Plan{SwapID: id, Seed: t.Seed, Signer: signer, Steps: []chains.Step{{Kind: chains.StepVaultClaim,
		Vault: &chains.VaultPayment{Owner: t.Vault.Part.Owner, ID: t.Vault.Part.VaultID, TxID: tx}}}}, nil
}

// submitVaultClaim sends a claim through the wallet's own nodes.
func (v *verifier) submitVaultClaim(ctx context.Context, o *opened, t terms, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	seen, err := v.withdrawals(ctx, o, t)
	if err != nil {
		return nil, err
	}
	if !seen.enough(t) {
		return nil, fault.New(fault.InvalidState, "there is nothing to claim: the wallet's own Bitcoin backend does not show the payment with its confirmations")
	}
	chain := o.byID[t.Dst.Chain]
	k, plan, err := vaultClaimPlan(chain, t, in.SwapID, "", seen.id) // whoever signs, the recipient is paid
	if err != nil {
		return nil, err
	}
	return v.send(ctx, chain, k, plan, in)
}

// signerOf is the address that is to sign: the one that was asked for, or else the swap's.
func signerOf(chain chains.Chain, asked, otherwise string) (string, error) {
	if asked == "" {
		return otherwise, nil
	}
	signer, err := chain.Address(asked)
	return signer, fault.At("signer", err)
}

// leavesToOthers lets the wallet wait for a watchtower, unless the service asks for the
// claim or the time for it has ended.
func (v *verifier) leavesToOthers(since swapper.Timestamp, got *swapper.GetSwapStatusOutput, out *swapper.GetSwapStatusOutput) bool {
	if got != nil {
		if _, manual := got.CurrentAction.(*swapper.SignSmartChainTransaction); manual {
			return false
		}
	}
	if !v.config.Now().Before(since.Add(settles)) {
		return false
	}
	out.CurrentAction = &swapper.Wait{Name: "Automatic settlement", Description: "A watchtower may settle the swap; else the wallet can.", ExpectedTime: -time.Second, PollTime: 5 * time.Second}
	return true
}

// overtaken keeps the status whose action cannot be made any more, because somebody has made
// the step since the wallet's own nodes were asked: the next status shows it.
func overtaken(err error, out *swapper.GetSwapStatusOutput) error {
	if fault.CodeOf(err) != fault.InvalidState {
		return err
	}
	out.ActionError = &swapper.ActionError{Code: fault.InvalidState, Error: fault.Public(err)}
	return nil
}

// settle asks for the signature of a claim.
func (t terms) settle(u chains.Unsigned) swapper.Action {
	return &swapper.SignSmartChainTransaction{Name: "Settle manually", Chain: t.Dst.Chain, Txs: u.Txs, RequiredSigner: u.Signer,
		Description: fmt.Sprintf("Takes %s out of the swap contract, for %s.", tokens.NewAmount(t.Output, t.Dst), t.Recipient)}
}
