package explore

import (
	"github.com/swapper-go/swapper/swap"
)

type btcWorld struct{ height int16 }

func (b btcWorld) canonical() btcWorld { b.height = 0; return b }

func (s *sim) vaultClaim() bool                                   { return false }
func (s *sim) vaultBack(func(*int16) bool)                        {}
func (s *sim) btcTick()                                           {}
func (s *sim) btcMine() bool                                      { return false }
func (s *sim) fund(*swap.Record, opts) bool                       { return false }
func (s *sim) performMore(*swap.Record, swap.Effect) (bool, bool) { return false, false }
