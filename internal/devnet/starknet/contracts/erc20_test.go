package contracts

import (
	"math/big"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

func amount(n int64) []Felt { return felts(nil).u256(big.NewInt(n)) }

func TestToken(t *testing.T) {
	k := newKit(t)
	i := k.do(user, coin, "transfer", append([]Felt{lp}, amount(5)...)...)
	if want := []Felt{wire.FeltOf(1)}; !slices.Equal(i.Result, want) {
		t.Errorf("transfer answers %v, want true", i.Result)
	}
	e := i.AllEvents()
	if len(e) != 1 || !slices.Equal(e[0].Keys, []Felt{wire.Selector("Transfer"), user, lp}) || !slices.Equal(e[0].Data, amount(5)) {
		t.Errorf("transfer tells %v", e)
	}
	i = k.do(user, coin, "approve", append([]Felt{tower}, amount(9)...)...)
	if e = i.AllEvents(); len(e) != 1 || !slices.Equal(e[0].Keys, []Felt{wire.Selector("Approval"), user, tower}) || !slices.Equal(e[0].Data, amount(9)) {
		t.Errorf("approve tells %v", e)
	}
	k.do(tower, coin, "transferFrom", append([]Felt{user, lp}, amount(4)...)...)
	if got := k.u256(k.ask(coin, "allowance", user, tower)); got != 5 {
		t.Errorf("%d is left of the allowance, want 5", got)
	}
	if k.has(coin, user) != wealth-9 || k.has(coin, lp) != wealth+9 {
		t.Errorf("balances %d and %d", k.has(coin, user), k.has(coin, lp))
	}
	for _, both := range [][2]string{{"total_supply", "totalSupply"}, {"balance_of", "balanceOf"}} {
		var of []Felt
		if both[0] == "balance_of" {
			of = []Felt{lp}
		}
		if a, b := k.ask(coin, both[0], of...), k.ask(coin, both[1], of...); !slices.Equal(a, b) || len(a) != 2 {
			t.Errorf("%s is %v, %s %v", both[0], a, both[1], b)
		}
	}
	if got := k.u256(k.ask(coin, "total_supply")); got != 3*wealth {
		t.Errorf("total supply %d, want %d", got, int64(3*wealth))
	}
	if got, want := k.ask(coin, "symbol"), []Felt(felts(nil).bytes([]byte("COIN"))); !slices.Equal(got, want) {
		t.Errorf("symbol %v, want %v", got, want)
	}
	if got := k.ask(coin, "decimals"); len(got) != 1 || got[0] != wire.FeltOf(8) {
		t.Errorf("decimals %v, want 8", got)
	}
}

func TestTokenUnlimitedAllowance(t *testing.T) {
	k := newKit(t)
	k.do(user, coin, "approve", felts{tower}.u256(maxU256)...)
	k.do(tower, coin, "transfer_from", append([]Felt{user, lp}, amount(4)...)...)
	if got := felts(k.ask(coin, "allowance", user, tower)); !slices.Equal(got, felts(nil).u256(maxU256)) {
		t.Errorf("the allowance is %v, want the largest number", got)
	}
}

func TestTokenReverts(t *testing.T) {
	k := newKit(t)
	zero := Felt{}
	most := felts(nil).u256(maxU256)
	for _, c := range []struct {
		name     string
		as       Felt
		entry    string
		calldata []Felt
		reason   string
	}{
		{"more than there is", user, "transfer", append([]Felt{lp}, amount(wealth+1)...), "ERC20: insufficient balance"},
		{"to zero", user, "transfer", append([]Felt{zero}, amount(1)...), "ERC20: transfer to 0"},
		{"from zero", zero, "transfer", append([]Felt{lp}, amount(1)...), "ERC20: transfer from 0"},
		{"not allowed", tower, "transfer_from", append([]Felt{user, lp}, amount(1)...), "ERC20: insufficient allowance"},
		{"allow zero", user, "approve", append([]Felt{zero}, amount(1)...), "ERC20: approve to 0"},
		{"allow as zero", zero, "approve", append([]Felt{lp}, amount(1)...), "ERC20: approve from 0"},
		{"no minter", user, "permissioned_mint", append([]Felt{user}, amount(1)...), "MINTER_ONLY"},
		{"mint to zero", minter, "permissioned_mint", append([]Felt{zero}, amount(1)...), "ERC20: mint to 0"},
		{"mint too much", minter, "permissioned_mint", append([]Felt{user}, most...), "u256_add Overflow"},
		{"a part missing", user, "transfer", []Felt{lp, wire.FeltOf(1)}, "Failed to deserialize param #2"},
		{"half too large", user, "transfer", []Felt{lp, wire.MustFelt("0x100000000000000000000000000000000"), zero}, "Failed to deserialize param #2"},
		{"no address", user, "transfer", append([]Felt{wire.MustFelt("0x0800000000000000000000000000000000000000000000000000000000000000")}, amount(1)...), "Failed to deserialize param #1"},
		{"too much", user, "transfer", append([]Felt{lp}, append(amount(1), zero)...), "Input too long for arguments"},
		{"unknown", user, "fly", nil, "ENTRYPOINT_NOT_FOUND"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := k.try(c.as, coin, c.entry, c.calldata...)
			reverts(t, err, c.reason)
		})
	}
}
