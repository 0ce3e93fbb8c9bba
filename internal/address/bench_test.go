package address

import "testing"

// One text of each form that needs no network call.
var samples = []struct{ name, text, kind string }{
	{"p2pkh", "155p66iEw7hAo4qpJFFqjwZcZSLPrjXeHn", "BITCOIN"},
	{"p2wpkh", "bc1q48cwmlvvsx36fk6dwn9msnej937t0ynj8mj70e", "BITCOIN"},
	{"p2tr", "bc1p9hgylppuhaa523znsn5a4fd8cd9e2hez25fqmcj0vwklkqruvnssk6ha90", "BITCOIN"},
	{"bip21", "bitcoin:bc1qdmgvzl4yrcnmq65unt56w9sy74ule8785830vn?amount=5.03609105&label=x", "BITCOIN"},
	{"bolt11", "lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpuaztrnwngzn3kdzw5hydlzf03qdgm2hdq27cqv3agm2awhz5se903vruatfhq77w3ls4evs3ch9zw97j25emudupq63nyw24cg27h2rspfj9srp", "LIGHTNING"},
	{"lnurl", "lnurl1dp68gurn8ghj77rdw4jx5ark9ejhsctdwpkx2tmswa38y0m384nxxwpcxuuxxdtrve3rydrrve3q9advr9", "LNURL"},
	{"identifier", "satoshi@pay.example", "LNURL"},
	{"solana", "Hs3ePxtgaGEteZn7bwKfz4QopR7YLAbRwXTsoUygS4BH", "SOLANA"},
	{"starknet", "0x01c86bb361265befe750e60d5b6e84e2d1f8d0518d82e817f2d621ccd4b0a5be", "STARKNET"},
	{"evm", "0xc2e749AE01e89fD10Ec5bD2B811f9D8Ab139F1e1", "CITREA"},
}

func BenchmarkRecognise(b *testing.B) {
	p := parser(b, "mainnet", "STARKNET", "SOLANA", "CITREA")
	for _, s := range samples {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r, err := p.Recognise(s.text)
				if err != nil || r.Type != s.kind {
					b.Fatal(r.Type, err)
				}
			}
		})
	}
}
