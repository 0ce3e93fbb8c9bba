package wire

import "github.com/swapper-go/swapper/chains"

// kinds are all kinds of escrow, in the order of their numbers.
func kinds() []chains.Kind {
	return []chains.Kind{chains.HTLC, chains.Onchain, chains.OnchainNonced, chains.OnchainTxID}
}

func validKind(k chains.Kind) bool { return k >= chains.HTLC && k <= chains.OnchainTxID }
