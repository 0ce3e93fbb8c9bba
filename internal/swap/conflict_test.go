package swap

import (
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

func TestConflict(t *testing.T) {
	ours, theirs := bitcoin.Hash{1}, bitcoin.Hash{2}
	var (
		free        = bitcoin.Spend{State: bitcoin.Unspent}
		unknown     = bitcoin.Spend{}
		ownMempool  = bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: ours}
		ownBlock    = bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: ours, Height: 9}
		other       = bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: theirs, Height: 9}
		otherPool   = bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: theirs}
		unnamed     = bitcoin.Spend{State: bitcoin.SpentConfirmed}
		unnamedPool = bitcoin.Spend{State: bitcoin.SpentInMempool}
	)
	for name, c := range map[string]struct {
		inputs []bitcoin.Spend
		want   Prospect
	}{
		"no inputs":                          {nil, ProspectUnknown},
		"all unspent":                        {[]bitcoin.Spend{free, free}, ProspectOpen},
		"in the mempool itself":              {[]bitcoin.Spend{ownMempool, ownMempool}, ProspectOpen},
		"a backend that lags on one":         {[]bitcoin.Spend{ownMempool, free}, ProspectOpen},
		"mined itself":                       {[]bitcoin.Spend{ownBlock, ownBlock}, ProspectIncluded},
		"mined itself, one unknown":          {[]bitcoin.Spend{ownBlock, unknown}, ProspectIncluded},
		"another one mined":                  {[]bitcoin.Spend{free, other}, ProspectDead},
		"another one mined, rest unknown":    {[]bitcoin.Spend{unknown, other}, ProspectDead},
		"another one mined, we in mempool":   {[]bitcoin.Spend{ownMempool, other}, ProspectDead},
		"both mined is impossible":           {[]bitcoin.Spend{ownBlock, other}, ProspectUnknown},
		"mined and unspent is impossible":    {[]bitcoin.Spend{ownBlock, free}, ProspectUnknown},
		"another one waits":                  {[]bitcoin.Spend{free, otherPool}, ProspectContested},
		"another one waits, rest in mempool": {[]bitcoin.Spend{ownMempool, otherPool}, ProspectContested},
		"a name without a spend":             {[]bitcoin.Spend{free, {TxID: theirs}}, ProspectUnknown},
		"our name without a spend":           {[]bitcoin.Spend{free, {TxID: ours}}, ProspectUnknown},
		"an unknown output proves nothing":   {[]bitcoin.Spend{free, unknown}, ProspectUnknown},
		"unnamed, perhaps we":                {[]bitcoin.Spend{unnamed, unnamed}, ProspectUnknown},
		"unnamed beside an unspent one":      {[]bitcoin.Spend{unnamed, free}, ProspectDead},
		"unnamed in the mempool, perhaps we": {[]bitcoin.Spend{unnamedPool, unnamedPool}, ProspectUnknown},
	} {
		if got := Conflict(ours, c.inputs); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
