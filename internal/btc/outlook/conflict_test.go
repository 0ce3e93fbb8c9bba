package outlook

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
		"no inputs":                          {nil, Unknown},
		"all unspent":                        {[]bitcoin.Spend{free, free}, Open},
		"in the mempool itself":              {[]bitcoin.Spend{ownMempool, ownMempool}, Open},
		"a backend that lags on one":         {[]bitcoin.Spend{ownMempool, free}, Open},
		"mined itself":                       {[]bitcoin.Spend{ownBlock, ownBlock}, Included},
		"mined itself, one unknown":          {[]bitcoin.Spend{ownBlock, unknown}, Included},
		"another one mined":                  {[]bitcoin.Spend{free, other}, Dead},
		"another one mined, rest unknown":    {[]bitcoin.Spend{unknown, other}, Dead},
		"another one mined, we in mempool":   {[]bitcoin.Spend{ownMempool, other}, Dead},
		"both mined is impossible":           {[]bitcoin.Spend{ownBlock, other}, Unknown},
		"mined and unspent is impossible":    {[]bitcoin.Spend{ownBlock, free}, Unknown},
		"another one waits":                  {[]bitcoin.Spend{free, otherPool}, Contested},
		"another one waits, rest in mempool": {[]bitcoin.Spend{ownMempool, otherPool}, Contested},
		"a name without a spend":             {[]bitcoin.Spend{free, {TxID: theirs}}, Unknown},
		"our name without a spend":           {[]bitcoin.Spend{free, {TxID: ours}}, Unknown},
		"an unknown output proves nothing":   {[]bitcoin.Spend{free, unknown}, Unknown},
		"unnamed, perhaps we":                {[]bitcoin.Spend{unnamed, unnamed}, Unknown},
		"unnamed beside an unspent one":      {[]bitcoin.Spend{unnamed, free}, Dead},
		"unnamed in the mempool, perhaps we": {[]bitcoin.Spend{unnamedPool, unnamedPool}, Unknown},
	} {
		if got := Conflict(ours, c.inputs); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
