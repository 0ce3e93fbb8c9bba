package wire

import "github.com/swapper-go/swapper/chains"

// kindNames are the program's own names of the kinds.
var kindNames = [...]string{chains.HTLC: "htlc", chains.Onchain: "chain", chains.OnchainNonced: "chainNonced", chains.OnchainTxID: "chainTxhash"}

func validKind(k chains.Kind) bool { return k >= 0 && int(k) < len(kindNames) }

// kindName returns the swap program's name of a kind, "" for none of them.
func kindName(k chains.Kind) string {
	if !validKind(k) {
		return ""
	}
	return kindNames[k]
}
