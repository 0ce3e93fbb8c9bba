// Package bank executes Solana transactions on a ledger of accounts in the
// process: what a validator does with a transaction, without the network around
// it. Transactions come in wire format and are checked and executed by Solana's
// rules: signatures, block hashes, fees, rent, compute units, who may write what,
// calls of programs by programs, logs.
//
// What a program does is a Go function ([Program]) over the accounts of an
// instruction. The system, token, associated-token, compute-budget, memo and
// ed25519 programs are part of the package; others are given to it.
//
//	b, err := bank.New(bank.Options{Programs: map[bank.Key]bank.Program{id: {Execute: run}}})
//	id, err := b.Send(raw)             // a transaction waits for its block
//	b.Produce(1)                       // and is executed in it
//	b.Read(bank.Confirmed, 0, func(v *bank.View) { ... })
//
// What no client of the swap network uses is left out: address lookup tables, durable
// nonces, token accounts with several owners, stakes, and the deployment of programs.
// Compute units are rough, votes show in the fees of blocks alone, and rent is never
// collected.
//
// # The swap network's programs
//
// [Swap] and [Relay] are the swap network's programs on Solana as Go functions over the
// accounts of the local network's bank: the swap program, v1 and v2, and the Bitcoin
// relay that its claims are checked against (protocol: chain-solana.md §6-§9, §19).
//
//	New(Options{Programs: map[Key]Program{
//		p.Swap:  Swap(p, wire.DataPlain),
//		p.Relay: Relay(p, Rules{LongerWins: true}),
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
package bank
