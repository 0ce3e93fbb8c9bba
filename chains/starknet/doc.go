// Package starknet implements [chains.Chain] for the swap contracts of the network on
// Starknet: [Mainnet] and [Sepolia] with the published contracts, and [Custom] for any
// other network that a [Network] describes.
//
// Actions ask the wallet to sign transactions of version 3, written as in the REST API: a
// JSON object with the calls and the details that are signed. [UnsignedTransaction]
// decodes one into starknet.go's own types and, with the account's signature, writes
// the text to submit: the same object with `signed` added. Every signed transaction is
// checked against what was asked for before it is sent. The wallet may choose the gas, its
// prices within wide bounds, and a tip; its approval may be for more, or be left out.
//
// Accounts are contracts. If an account is not deployed, the action puts its deployment
// before its first transaction. The wallet fills in the account's class, which only the
// wallet knows. The account itself judges every signature, an LP's too: its contract is
// asked, and an account that is not deployed has signed nothing.
//
// Facts come from accepted blocks, which count as final; the contents of a pre-confirmed block
// can vanish. Packages below internal hold the formats, the node's client and the
// reading of contracts.
package starknet
