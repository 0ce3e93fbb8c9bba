// Package programs is the swap network's programs on Solana as Go functions over the
// accounts of the local network's bank: the swap program, v1 and v2, and the Bitcoin
// relay that its claims are checked against (protocol: chain-solana.md §6-§9, §19).
//
//	bank.New(bank.Options{Programs: map[bank.Key]bank.Program{
//		p.Swap:  programs.Swap(p, wire.DataPlain),
//		p.Relay: programs.Relay(p, programs.Rules{LongerWins: true}),
//	}})
//
// Layouts of accounts, arguments and events are those of package wire, which the client
// reads and writes; the rules are here. Who checks a client against these programs
// checks it against what the deployed ones do, error by error: also where that is
// strange, such as claims after the expiry or a token account of anybody's as the
// claimer's. What differs is what no client meets: texts in the log, compute units,
// heights below 250, and which error a Bitcoin transaction ends with that counts more
// inputs than it has bytes. How v2 lays data accounts out is not public: both ways that
// clients must expect can be played. Sections are those of the page.
package programs
