// Package lp is a liquidity provider in the process: it speaks the network's
// protocol on a loopback socket (protocol: lp-protocol.md §8) and swaps for real
// between Bitcoin, Lightning and the smart chains that it serves, each behind a
// ledger: it watches escrows, pays bitcoin, claims with proofs and preimages, opens
// escrows for held payments or lets users open them, owns vaults and signs
// withdrawals from them, and gives early refunds only for what it will never pay.
//
//	l, err := lp.Start(ctx, lp.Options{EVM: evmNet, Lightning: node})
//	defer l.Close()
//	l.URL()                                   // for clients
//	l.Misbehave(lp.Fault{NeverPay: true})     // lies, silence, theft: see Fault
//
// It speaks either version of the network's protocol: see Options.Next.
//
// It offers TO_BTC, TO_BTCLN, FROM_BTCLN_AUTO, FROM_BTC_SPV, the legacy types
// FROM_BTC and FROM_BTCLN, and gas for Lightning or bitcoin, for which the user trusts it. Swaps are kept in
// memory. It looks at the chains many times a second.
package lp
