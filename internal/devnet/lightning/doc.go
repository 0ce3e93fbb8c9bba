// Package lightning is a private Lightning network in the process: nodes with
// keys and balances, real BOLT11 invoices, payments whose HTLCs are held until the
// recipient settles or cancels them, and time-outs by Bitcoin height. There are
// no channels and no gossip: every node reaches every other one for the fee that
// the recipient's route costs.
//
//	net := lightning.New(lightning.Options{Height: height})
//	lp, err := net.NewNode("lp", 100_000_000)
//	user, err := net.NewNode("user", 1_000_000)
//	text, err := lp.NewInvoice(lightning.InvoiceOptions{Hash: hash, AmountMsat: 5_000_000})   // a hold invoice
//	err = user.Start(text, lightning.Limits{})                                                // the HTLC is held
//	err = lp.Settle(preimage)                                                                  // or lp.Cancel(hash)
//	paid, err := user.Wait(ctx, hash)                                                          // paid.Preimage
//
// Time is the network's clock and the Bitcoin height, nothing else: the same calls
// give the same results. Payments that wait notice that time has moved within
// milliseconds, or at once after [Net.Tick].
//
// # LNURL
//
// [StartLNURL] starts the LNURL services of the local network: LNURL-pay,
// LNURL-withdraw and Lightning addresses over loopback HTTP and HTTPS, on top of a
// node of the local Lightning network.
//
//	s, err := Start(LNURLOptions{Node: shop})
//	links := s.AddPay(Pay{Name: "alice", MinMsat: 1000, MaxMsat: 1_000_000_000})
//	links.LNURL                              // bech32, http on loopback: needs LNURLOptions.AllowLocal
//	links.Identifier                         // alice@lnurl.example: needs Config.Transport = s.Transport()
//	s.Misbehave(Fault{WrongHash: true})
package lightning
