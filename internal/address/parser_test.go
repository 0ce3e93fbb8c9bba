package address

import (
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestRecogniseForms(t *testing.T) {
	p := parser(t, "mainnet", "STARKNET", "SOLANA", "CITREA")
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			for _, text := range []string{s.text, " " + s.text + "\n", "\ufeff" + s.text + "\u00a0"} {
				r, err := p.Recognise(text)
				if err != nil || r.Type != s.kind {
					t.Fatalf("%q is %q, %v; want %s", text, r.Type, err, s.kind)
				}
			}
		})
	}
}

func TestRecogniseRefuses(t *testing.T) {
	p := parser(t, "mainnet", "STARKNET", "SOLANA", "CITREA")
	const btc = "36AvndvdHbzvbTd3JGgYiBqGJbHxazVxST"
	for name, text := range map[string]string{
		"nothing":                     "",
		"blanks":                      " \t\n",
		"too long":                    "bitcoin:" + btc + "?label=" + strings.Repeat("x", maxText),
		"invalid UTF-8":               "\xff\xfe",
		"invisible character":         btc[:10] + "\u200b" + btc[10:],
		"right-to-left mark":          "\u202e" + btc,
		"two schemes":                 "bitcoin:bitcoin:" + btc,
		"Lightning behind bitcoin":    "bitcoin:lightning:" + btc,
		"address behind lightning":    "lightning:" + btc,
		"amount of another case":      btc + "?amount=1&Amount=1",
		"amount with nine decimals":   btc + "?amount=1.000000000",
		"amount above all bitcoin":    btc + "?amount=21000000.00000001",
		"long amount":                 btc + "?amount=" + strings.Repeat("0", 200) + "1",
		"amount in Arabic digits":     btc + "?amount=\u0661",
		"required, upper case":        btc + "?REQ-x=1",
		"required known otherwise":    btc + "?req-amount=1",
		"lightning in lightning":      "bitcoin:?lightning=lightning:x",
		"nothing to pay":              "bitcoin:?amount=1",
		"undecodable alternative":     "bitcoin:?lightning=%zz",
		"address among blanks":        "bitcoin:?" + btc,
		"taproot key off the curve":   "bitcoin:bc1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpqqenm",
		"other network":               "tb1qrllwru2yrz89uqq6nua7jpwpz72g4v5hqr3pru",
		"EVM zero":                    "0x0000000000000000000000000000000000000000",
		"EVM with scheme":             "ethereum:0xc2e749AE01e89fD10Ec5bD2B811f9D8Ab139F1e1",
		"Starknet, far too short":     "0x11ae1f7d62f9651bc4138c4c4bb3bb6b65a26cacaff",
		"program-derived address":     "MsFWSVWqPbN2tkNEBcVDdjoc2JawAzZzZtqRbkenWS4",
		"chain that is not there":     "0xgggggggggggggggggggggggggggggggggggggggg",
		"invoice without an amount":   "lnbc1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq8rkx3yf5tcsyz3d73gafnh3cax9rn449d9p5uxz9ezhhypd0elx87sjle52x86fux2ypatgddc6k63n7erqz25le42c4u4ecky03ylcqca784w",
		"invoice of an unknown chain": "lnxx1pvjluez",
	} {
		t.Run(name, func(t *testing.T) {
			r, err := p.Recognise(text)
			if err == nil {
				t.Fatalf("accepted as %s %s", r.Type, r.Address)
			}
			if fault.CodeOf(err) != fault.InvalidInput || len(err.Error()) > 300 {
				t.Errorf("code %s: %v", fault.CodeOf(err), err)
			}
		})
	}
}

// What is said of a text that looks like something known says what is wrong with
// it, not what is wrong with it as something else.
func TestRecogniseNamesTheFault(t *testing.T) {
	for _, tt := range []struct{ network, text, want string }{
		{"testnet4", "bc1q7nwayk2pm4qf0s36ctq7a6u5pqtvtua7luz5q0", "wrong Bitcoin network: the address is for mainnet, expected one for testnet4"},
		{"testnet4", "36AvndvdHbzvbTd3JGgYiBqGJbHxazVxST", "wrong Bitcoin network: the address is for mainnet, expected one for testnet4"},
		{"mainnet", "bitcoin:tb1qrllwru2yrz89uqq6nua7jpwpz72g4v5hqr3pru", "the URI does not contain a valid Bitcoin address: wrong Bitcoin network: the address is for testnet3 or testnet4 or signet, expected one for mainnet"},
		{"mainnet", "lnurlp:user@example.com", "lnurlp links must be written lnurlp://host/path"},
		{"mainnet", "LNURLW:example.com/x", "lnurlw links must be written lnurlw://host/path"},
		{"mainnet", "lnurl1dp68gurn8ghj7!", "LNURL contains characters other than letters and digits"},
		{"mainnet", "hello", `"hello" is not a valid Bitcoin address, Lightning invoice, LNURL or address on a supported chain`},
	} {
		if r, err := parser(t, tt.network, "CITREA").Recognise(tt.text); err == nil || err.Error() != tt.want {
			t.Errorf("%s on %s: %q, %v; want %q", tt.text, tt.network, r.Type, err, tt.want)
		}
	}
}

// A Solana address may begin like an invoice.
func TestAddressThatLooksLikeAnInvoice(t *testing.T) {
	p := parser(t, "mainnet", "SOLANA")
	const text = "Ln3mGkv7VUpxptnoLddGEC7g59TcRJupZBwNXLc53rv"
	if canonical, err := p.chains[0].Address(text); err != nil || canonical != text {
		t.Fatalf("not a Solana address: %v", err)
	}
	if r, err := p.Recognise(text); err != nil || r.Type != "SOLANA" {
		t.Errorf("%q, %v", r.Type, err)
	}
}

func TestFirstOfSeveralEVMChains(t *testing.T) {
	const text = "0xc2e749ae01e89fd10ec5bd2b811f9d8ab139f1e1"
	r, err := parser(t, "mainnet", "SOLANA", "GOAT", "CITREA").Recognise(text)
	if err != nil || r.Type != "GOAT" || r.Address != text || r.Canonical != "0xc2e749AE01e89fD10Ec5bD2B811f9D8Ab139F1e1" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]Config{
		"network":     {Network: bitcoin.Network(9)},
		"chain twice": {Chains: chainsNamed("GOAT", "GOAT")},
		"bitcoin":     {Chains: chainsNamed("BITCOIN")},
		"LNURL":       {Chains: chainsNamed("LNURL")},
		"no chain ID": {Chains: chainsNamed("")},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(c); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func FuzzRecognise(f *testing.F) {
	p := parser(f, "mainnet", "STARKNET", "SOLANA", "CITREA")
	seed := struct{ Address string }{}
	for _, c := range vectors.Load(f, "utilities", "parse_address").Cases {
		c.Input(f, &seed)
		f.Add(seed.Address)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := p.Recognise(text)
		if err != nil {
			if fault.CodeOf(err) != fault.InvalidInput {
				t.Fatalf("%q: %s: %v", text, fault.CodeOf(err), err)
			}
			return
		}
		if r.Amount != nil && (r.Amount.Raw.Sign() < 0 || r.Amount.Raw.BitLen() > 51) {
			t.Fatalf("%q asks for %s", text, r.Amount)
		}
		again, err := p.Recognise(r.Address)
		if err != nil || again.Type != r.Type || again.Address != r.Address || again.Canonical != r.Canonical {
			t.Fatalf("%q is %s %q, which is %s %q, %v", text, r.Type, r.Address, again.Type, again.Address, err)
		}
	})
}

func FuzzBIP21(f *testing.F) {
	f.Add("36AvndvdHbzvbTd3JGgYiBqGJbHxazVxST?amount=20.3&label=Luke-Jr&lightning=lnbc1")
	f.Add("?req-x&AMOUNT=%30&amount=1")
	f.Fuzz(func(t *testing.T, body string) {
		uri, err := parseBIP21(body)
		if err != nil {
			return
		}
		if strings.Contains(uri.address, "?") || !strings.HasPrefix(body, uri.address) {
			t.Fatalf("%q has the address %q", body, uri.address)
		}
		if uri.amount != nil && (uri.amount.Sign() < 0 || uri.amount.Int64() > maxSats || !uri.amount.IsInt64()) {
			t.Fatalf("%q asks for %s", body, uri.amount)
		}
	})
}
