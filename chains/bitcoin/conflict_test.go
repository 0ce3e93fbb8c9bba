package bitcoin

import "testing"

func TestConflict(t *testing.T) {
	ours, theirs := Hash{1}, Hash{2}
	var (
		free        = Spend{State: Unspent}
		unknown     = Spend{}
		ownMempool  = Spend{State: SpentInMempool, TxID: ours}
		ownBlock    = Spend{State: SpentConfirmed, TxID: ours, Height: 9}
		other       = Spend{State: SpentConfirmed, TxID: theirs, Height: 9}
		otherPool   = Spend{State: SpentInMempool, TxID: theirs}
		unnamed     = Spend{State: SpentConfirmed}
		unnamedPool = Spend{State: SpentInMempool}
	)
	for name, c := range map[string]struct {
		inputs []Spend
		want   Prospect
	}{
		"no inputs":                          {nil, ProspectUnknown},
		"all unspent":                        {[]Spend{free, free}, ProspectOpen},
		"in the mempool itself":              {[]Spend{ownMempool, ownMempool}, ProspectOpen},
		"a backend that lags on one":         {[]Spend{ownMempool, free}, ProspectOpen},
		"mined itself":                       {[]Spend{ownBlock, ownBlock}, ProspectIncluded},
		"mined itself, one unknown":          {[]Spend{ownBlock, unknown}, ProspectIncluded},
		"another one mined":                  {[]Spend{free, other}, ProspectDead},
		"another one mined, rest unknown":    {[]Spend{unknown, other}, ProspectDead},
		"another one mined, we in mempool":   {[]Spend{ownMempool, other}, ProspectDead},
		"both mined is impossible":           {[]Spend{ownBlock, other}, ProspectUnknown},
		"mined and unspent is impossible":    {[]Spend{ownBlock, free}, ProspectUnknown},
		"another one waits":                  {[]Spend{free, otherPool}, ProspectContested},
		"another one waits, rest in mempool": {[]Spend{ownMempool, otherPool}, ProspectContested},
		"a name without a spend":             {[]Spend{free, {TxID: theirs}}, ProspectUnknown},
		"our name without a spend":           {[]Spend{free, {TxID: ours}}, ProspectUnknown},
		"an unknown output proves nothing":   {[]Spend{free, unknown}, ProspectUnknown},
		"unnamed, perhaps we":                {[]Spend{unnamed, unnamed}, ProspectUnknown},
		"unnamed beside an unspent one":      {[]Spend{unnamed, free}, ProspectDead},
		"unnamed in the mempool, perhaps we": {[]Spend{unnamedPool, unnamedPool}, ProspectUnknown},
	} {
		if got := Conflict(ours, c.inputs); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
