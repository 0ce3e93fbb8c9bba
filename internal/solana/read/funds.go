package read

import (
	"context"
	"errors"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Funds returns what an LP has in the program, in one round trip. An LP that never
// paid in has nothing (protocol: chain-solana.md §20).
func (r *Reader) Funds(ctx context.Context, lp, token wire.Key) (chains.LPFunds, error) {
	got, err := rpc.ReadAccounts(ctx, r.ledger.Node, []wire.Key{r.Programs.UserVault(lp, token)}, rpc.Confirmed)
	if err != nil {
		return chains.LPFunds{}, err
	}
	data, err := r.dataOf(got.All[0])
	if err != nil {
		return chains.LPFunds{}, err
	}
	v, err := wire.DecodeUserVault(data)
	if err != nil && !errors.Is(err, wire.ErrAbsent) {
		return chains.LPFunds{}, err
	}
	return fundsOf(v), nil
}

func fundsOf(v wire.UserVault) chains.LPFunds {
	n := func(u uint64) *big.Int { return new(big.Int).SetUint64(u) }
	f := chains.LPFunds{Balance: n(v.Amount), Reputation: map[chains.Kind]chains.Reputation{}}
	for kind, k := range v.Reputation {
		f.Reputation[chains.Kind(kind)] = chains.Reputation{
			Successes: k.SuccessCount, CoopCloses: k.CoopCloseCount, Failures: k.FailCount,
			SuccessVolume: n(k.SuccessVolume), CoopCloseVolume: n(k.CoopCloseVolume), FailureVolume: n(k.FailVolume)}
	}
	return f
}

// dataOf returns the data of an account of the swap program, nil if there is none:
// lamports that somebody sent to the address make no account of the program's.
func (r *Reader) dataOf(a *wire.AccountReply) ([]byte, error) {
	if a == nil || len(a.Data) == 0 {
		return nil, nil
	}
	if a.Owner != r.Programs.Swap {
		return nil, errors.New("the account belongs to " + a.Owner.String() + ", not to the swap program")
	}
	return a.Data, nil
}

// Wallet is what an address holds of one token, and of SOL.
type Wallet struct {
	Lamports uint64  // of the address itself
	Token    *uint64 // of its token account; nil if it has none
}

// Wallet reads what an address holds, in one round trip.
func (l *Ledger) Wallet(ctx context.Context, owner, mint wire.Key) (Wallet, error) {
	all, err := l.wallets(ctx, owner, mint)
	if err != nil {
		return Wallet{}, err
	}
	return all[0], nil
}

// wallets reads what an address holds of several tokens, in one round trip.
func (l *Ledger) wallets(ctx context.Context, owner wire.Key, mints ...wire.Key) ([]Wallet, error) {
	keys := []wire.Key{owner}
	for _, m := range mints {
		keys = append(keys, wire.ATA(owner, m))
	}
	got, err := rpc.ReadAccounts(ctx, l.Node, keys, rpc.Confirmed)
	if err != nil {
		return nil, err
	}
	all := make([]Wallet, len(mints))
	for i := range mints {
		if a := got.All[0]; a != nil {
			all[i].Lamports = a.Lamports
		}
		t, err := TokenAccount(got.All[i+1])
		switch {
		case errors.Is(err, wire.ErrAbsent):
		case err != nil:
			return nil, err
		default:
			all[i].Token = &t.Amount
		}
	}
	return all, nil
}

// TokenAccount reads a token account. One that holds only lamports is as good as none,
// which is [wire.ErrAbsent] (protocol: chain-solana.md §21.7).
func TokenAccount(a *wire.AccountReply) (wire.TokenAccount, error) {
	if a == nil {
		return wire.TokenAccount{}, wire.ErrAbsent
	}
	return wire.DecodeTokenAccount(a.Owner, a.Data)
}

// Balance is what the wallet can spend of a token, in base units: of SOL, what it holds
// in both forms, less rent and a reserve (protocol: chain-solana.md §2).
func (w Wallet) Balance(mint wire.Key) *big.Int {
	if mint == wire.WSOL {
		return wire.SpendableSOL(w.Lamports, w.Token)
	}
	if w.Token == nil {
		return new(big.Int)
	}
	return new(big.Int).SetUint64(*w.Token)
}
