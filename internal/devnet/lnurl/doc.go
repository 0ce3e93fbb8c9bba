// Package lnurl is the LNURL services of the local network: LNURL-pay,
// LNURL-withdraw and Lightning addresses over loopback HTTP and HTTPS, on top of a
// node of the local Lightning network.
//
//	s, err := lnurl.Start(lnurl.Options{Node: shop})
//	links := s.AddPay(lnurl.Pay{Name: "alice", MinMsat: 1000, MaxMsat: 1_000_000_000})
//	links.LNURL                              // bech32, http on loopback: needs LNURLOptions.AllowLocal
//	links.Identifier                         // alice@lnurl.example: needs Config.Transport = s.Transport()
//	s.Misbehave(lnurl.Fault{WrongHash: true})
package lnurl
