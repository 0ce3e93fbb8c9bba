package bank

import (
	"slices"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// program is a program as the bank keeps it.
type program struct {
	Program
	precompile bool // checked by the validator itself, without a line in the log
}

// run is one transaction under execution.
type run struct {
	tx       *Tx
	programs map[Key]*program
	clock    Clock
	base     func(Key) *Account // the ledger before; never nil, not to be changed
	work     map[Key]*Account   // what the transaction has changed

	current  int // top-level instruction
	stack    []Key
	left     uint64 // compute units
	logs     []string
	logged   int
	inner    []Inner
	returned ReturnData
}

// Result is what a transaction did.
type Result struct {
	Err      *TxError // nil: it succeeded
	Fee      uint64   // lamports
	Logs     []string
	Units    uint64 // compute units that were used
	Inner    []Inner
	Returned ReturnData

	// Of the accounts of the message.
	PreBalances, PostBalances []uint64
	PreTokens, PostTokens     []TokenBalance

	changed map[Key]*Account
}

// Inner is an instruction that a program called.
type Inner struct {
	Index    int // of the top-level instruction
	Program  int // indexes of the message's accounts
	Accounts []int
	Data     []byte
	Height   int // of the stack, 2 or more
}

// TokenBalance is what a token account of a transaction holds.
type TokenBalance struct {
	Account     int // index of the message's accounts
	Mint, Owner Key
	Amount      uint64
	Decimals    uint8
}

func (r *run) account(k Key) *Account {
	if a, ok := r.work[k]; ok {
		return a
	}
	return r.base(k)
}

func (r *run) set(k Key, a *Account) { r.work[k] = a }

func (i *Info) clone() *Account { return i.Account.clone() }

func (r *run) log(line string) {
	if r.logged > maxLogs {
		return
	}
	if r.logged += len(line); r.logged > maxLogs {
		line = "Log truncated"
	}
	r.logs = append(r.logs, line)
}

func (r *run) consume(units uint64) error {
	if units > r.left {
		r.left = 0
		return ComputationalBudgetExceeded
	}
	r.left -= units
	return nil
}

func (r *run) noteInner(ix wire.Instruction, height int) {
	at := func(k Key) int { return slices.Index(r.tx.Message.AccountKeys, k) }
	in := Inner{Index: r.current, Program: at(ix.Program), Data: slices.Clone(ix.Data), Height: height, Accounts: []int{}}
	for _, a := range ix.Accounts {
		in.Accounts = append(in.Accounts, at(a.PublicKey))
	}
	r.inner = append(r.inner, in)
}

// execution is the surroundings of a transaction.
type execution struct {
	programs map[Key]*program
	clock    Clock
	base     func(Key) *Account
}

// do executes a transaction. An error, a *[TxError], says that it cannot be part of
// any block as things are: it costs nothing. A failure for which the payer pays is
// in the result.
func (e execution) do(tx *Tx) (*Result, error) {
	budget, err := tx.Budget()
	if err != nil {
		return nil, err
	}
	paid, err := e.charge(tx.Payer(), budget.Fee)
	if err != nil {
		return nil, err
	}
	for _, ix := range tx.Instructions {
		if _, ok := e.programs[ix.Program]; ok {
			continue
		}
		if e.base(ix.Program).Lamports == 0 {
			return nil, &TxError{Name: "ProgramAccountNotFound"}
		}
		return nil, &TxError{Name: "InvalidProgramForExecution"}
	}
	r := &run{tx: tx, programs: e.programs, clock: e.clock, base: e.base, work: map[Key]*Account{}, left: budget.Units}
	out := &Result{Fee: budget.Fee, PreBalances: r.balances(), PreTokens: r.tokens()}
	r.work[tx.Payer()] = paid
	for i, ix := range tx.Instructions {
		r.current = i
		if err := r.execute(ix, 1); err != nil {
			out.Err = &TxError{Name: "InstructionError", Index: i, Err: err}
			break
		}
	}
	if out.Err == nil {
		out.Err = r.unrented()
	}
	if out.Err != nil {
		r.work = map[Key]*Account{tx.Payer(): paid}
	}
	out.Logs, out.Units, out.Inner, out.Returned = r.logs, budget.Units-r.left, r.inner, r.returned
	out.PostBalances, out.PostTokens, out.changed = r.balances(), r.tokens(), r.work
	return out, nil
}

// charge takes the fee from its payer.
func (e execution) charge(payer Key, fee uint64) (*Account, error) {
	was := e.base(payer)
	a := was.clone()
	switch {
	case a.Lamports == 0:
		return nil, &TxError{Name: "AccountNotFound"}
	case a.Owner != wire.SystemProgram || len(a.Data) > 0:
		return nil, &TxError{Name: "InvalidAccountForFee"}
	case a.Lamports < fee:
		return nil, &TxError{Name: "InsufficientFundsForFee"}
	}
	a.Lamports -= fee
	if !rented(was, a) {
		return nil, &TxError{Name: "InsufficientFundsForRent"}
	}
	return a, nil
}

// rented reports whether an account has the lamports that one of its size needs, or
// nothing at all, or only as little as it had before.
func rented(was, now *Account) bool {
	if now.Lamports == 0 || now.Lamports >= wire.Rent(len(now.Data)) {
		return true
	}
	poor := was.Lamports > 0 && was.Lamports < wire.Rent(len(was.Data))
	return poor && len(now.Data) == len(was.Data) && now.Lamports <= was.Lamports
}

// unrented finds an account that the transaction leaves with too few lamports for
// its size.
func (r *run) unrented() *TxError {
	for i, k := range r.tx.Message.AccountKeys {
		if now, ok := r.work[k]; ok && !rented(r.base(k), now) {
			return &TxError{Name: "InsufficientFundsForRent", Index: i}
		}
	}
	return nil
}

func (r *run) balances() []uint64 {
	out := make([]uint64, len(r.tx.Message.AccountKeys))
	for i, k := range r.tx.Message.AccountKeys {
		out[i] = r.account(k).Lamports
	}
	return out
}

func (r *run) tokens() (out []TokenBalance) {
	for i, k := range r.tx.Message.AccountKeys {
		a := r.account(k)
		t, err := readToken(a)
		if err != nil || t.state == tokenNew {
			continue
		}
		mint, err := readMint(r.account(t.mint))
		if err != nil {
			continue // the mint is closed
		}
		out = append(out, TokenBalance{Account: i, Mint: t.mint, Owner: t.owner, Amount: t.amount, Decimals: mint.decimals})
	}
	return out
}
