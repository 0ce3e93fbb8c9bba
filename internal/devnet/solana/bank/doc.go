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
package bank
