package contracts

import (
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Flags are what a simulation leaves out.
type Flags struct {
	SkipValidate bool
	SkipFee      bool // bounds are not looked at and no fee is paid

	admission bool // the account's validation is all that is asked for
}

// Result is what a transaction did.
type Result struct {
	Construct   *Invocation // of a deployment
	Validate    *Invocation
	Execute     *Invocation // of an invocation; also one that failed
	FeeTransfer *Invocation
	Reverted    string // why it was reverted; "": it succeeded
	Gas         wire.Gas
	Fee         *big.Int // in the smallest unit of STRK
	Prices      Prices   // at which the fee is reckoned
	Diff        Diff
	Events      []Event // that of the fee last
}

// execute runs a transaction. What it changes stays in the run that is returned.
func (c *Chain) execute(b base, block *Block, tx *Tx, flags Flags) (*run, *Result, *Refusal) {
	limit := tx.Bounds.L2.MaxAmount
	if flags.SkipFee {
		limit = unlimited
	}
	r := c.newRun(b, block.info(), tx.info(), limit)
	out := &Result{Prices: block.Prices}
	if refused := c.payable(r, block, tx, flags); refused != nil {
		return nil, nil, refused
	}
	r.nonces[tx.Sender] = tx.Nonce + 1
	if refused := c.validate(r, out, tx, flags); refused != nil {
		return nil, nil, refused
	}
	if flags.admission {
		return r, out, nil
	}
	mark := r.mark()
	if tx.Type == wire.Invoke {
		out.Execute = &Invocation{Contract: tx.Sender, Selector: selectorExecute, Calldata: tx.Calldata, Entry: external, Kind: plainCall}
		if r.guarded(out.Execute, false) != nil {
			out.Reverted = out.Execute.Reason()
		}
	}
	revert := func(text string) {
		r.undo(mark)
		out.Reverted = text
	}
	out.Gas = wire.Gas{L2: r.used, L1Data: r.dataGas()}
	if most := tx.Bounds.L1Data.MaxAmount; out.Gas.L1Data > most && !flags.SkipFee {
		if out.Reverted == "" && tx.Type == wire.DeployAccount {
			return nil, nil, refuse(InsufficientResources, "Insufficient max L1DataGas: max amount: %d, actual used: %d.", most, out.Gas.L1Data)
		}
		if out.Reverted == "" {
			revert(refuse(InsufficientResources, "Insufficient max L1DataGas: max amount: %d, actual used: %d.", most, out.Gas.L1Data).Text)
		}
		out.Gas.L1Data = min(r.dataGas(), most)
	}
	out.Fee = block.Prices.fee(out.Gas, tx.Tip)
	defer func() { out.finish(r) }()
	if flags.SkipFee {
		return r, out, nil
	}
	if has := r.balance(c.options.FeeToken, tx.Sender); has.Cmp(out.Fee) < 0 {
		revert(refuse(InsufficientBalance, "Insufficient fee token balance. Fee: %d, balance: %d.", out.Fee, has).Text)
		out.Gas.L1Data = min(r.dataGas(), out.Gas.L1Data)
		out.Fee = block.Prices.fee(out.Gas, tx.Tip)
	}
	low, high := Split(out.Fee)
	out.FeeTransfer = &Invocation{Contract: c.options.FeeToken, Caller: tx.Sender, Selector: selectorTransfer, Calldata: []Felt{block.Sequencer, low, high}, Entry: external, Kind: plainCall}
	r.limit = unlimited
	if failed := r.guarded(out.FeeTransfer, false); failed != nil {
		return nil, nil, refuse(InsufficientBalance, "the fee of %d cannot be paid: %v", out.Fee, failed)
	}
	return r, out, nil
}

// finish tells what a transaction did in all.
func (out *Result) finish(r *run) {
	for _, i := range []*Invocation{out.Construct, out.Validate, out.Execute, out.FeeTransfer} {
		if i != out.Execute || out.Reverted == "" {
			out.Events = append(out.Events, i.AllEvents()...)
		}
	}
	out.Diff = r.diff()
}

// payable checks what a transaction must have before any of its code runs.
func (c *Chain) payable(r *run, block *Block, tx *Tx, flags Flags) *Refusal {
	switch nonce := r.nonceOf(tx.Sender); {
	case tx.ChainID != c.options.ChainID:
		return refuse(ValidationFailed, "the transaction is for chain %s, not for %s", wire.Hex(tx.ChainID), wire.Hex(c.options.ChainID))
	case tx.Nonce != nonce:
		return wrongNonce(tx, nonce)
	}
	felts := len(tx.Calldata) + len(tx.Signature) + len(tx.Deploy.ConstructorCalldata)
	if r.used = gasTx + gasTxFelt*uint64(felts); r.used > r.limit {
		return refuse(InsufficientResources, "Resource bounds were not satisfied: Insufficient max L2Gas: max amount: %d, actual used: %d.", r.limit, r.used)
	}
	if flags.SkipFee {
		return nil
	}
	if !block.Prices.covered(tx.Bounds) {
		return refuse(InsufficientResources, "Resource bounds were not satisfied: the prices of the block are L1 gas %d, L2 gas %d, L1 data gas %d.",
			block.Prices.Fri.L1, block.Prices.Fri.L2, block.Prices.Fri.L1Data)
	}
	most := maxFee(tx)
	if has := r.balance(c.options.FeeToken, tx.Sender); has.Cmp(most) < 0 {
		return refuse(InsufficientBalance, "Resources bounds exceed balance (%d): max fee is %d.", has, most)
	}
	return nil
}

// maxFee is what a transaction can cost.
func maxFee(tx *Tx) *big.Int {
	rate := tx.Bounds.Rate()
	rate.L2 = new(big.Int).Add(rate.L2, new(big.Int).SetUint64(tx.Tip))
	return rate.Cost(tx.Bounds.Gas())
}

// validate lets the account say whether a transaction is its own. That of a deployment
// is made before.
func (c *Chain) validate(r *run, out *Result, tx *Tx, flags Flags) *Refusal {
	if tx.Type == wire.DeployAccount {
		class := tx.Deploy.ClassHash
		switch {
		case c.classes[class] == nil:
			return refuse(ClassNotFound, "Class with hash %s is not declared.", wire.Hex64(class))
		case r.deployed(tx.Sender):
			return refuse(ValidationFailed, "Requested contract address %s is unavailable for deployment.", wire.Hex64(tx.Sender))
		}
		r.setClass(tx.Sender, class)
		out.Construct = &Invocation{Contract: tx.Sender, Class: class, Selector: selectorConstructor, Calldata: tx.Deploy.ConstructorCalldata, Entry: constructor, Kind: plainCall}
		if r.guarded(out.Construct, false) != nil {
			return refuse(ValidationFailed, "%s", out.Construct.reason("Contract constructor execution has failed", "Error in the contract class constructor"))
		}
	}
	if !r.deployed(tx.Sender) {
		return refuse(ValidationFailed, "Requested contract address %s is not deployed.", wire.Hex64(tx.Sender))
	}
	selector, calldata := tx.validate()
	if k := c.classes[r.classOf(tx.Sender)]; k == nil || k.entries[selector] == nil || k.entries[selectorExecute] == nil {
		return refuse(NotAnAccount, "Contract %s is not an account.", wire.Hex64(tx.Sender))
	}
	if flags.SkipValidate {
		return nil
	}
	i := &Invocation{Contract: tx.Sender, Selector: selector, Calldata: calldata, Entry: external, Kind: plainCall}
	out.Validate = i
	if r.guarded(i, true) != nil {
		return refuse(ValidationFailed, "%s", i.frames("The `validate` entry point panicked with:"))
	}
	if !slices.Equal(i.Result, []Felt{validated}) {
		return refuse(ValidationFailed, "The `validate` entry point should return `VALID`. Got %s.", formatPanic(i.Result))
	}
	return nil
}

// balance is what an account has of the token that fees are paid in. Looking at it
// costs nothing.
func (r *run) balance(token, of Felt) *big.Int {
	used, limit, events := r.used, r.limit, r.events
	defer func() { r.used, r.limit, r.events = used, limit, events }()
	r.used, r.limit = 0, unlimited
	mark := r.mark()
	defer r.undo(mark)
	i := &Invocation{Contract: token, Selector: selectorBalance, Calldata: []Felt{of}, Entry: external, Kind: plainCall}
	if r.guarded(i, false) != nil || len(i.Result) != 2 {
		return new(big.Int)
	}
	n := wire.Number(i.Result[1])
	return n.Or(n.Lsh(n, 128), wire.Number(i.Result[0]))
}
