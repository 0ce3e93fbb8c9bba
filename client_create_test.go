package swapper

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/address"
	"github.com/swapper-go/swapper/internal/chainio"
	"github.com/swapper-go/swapper/internal/engine"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/quote"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/tokenlist"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// constantChain is what a request is judged by: constants, and how the real
// chain reads addresses. It can be asked nothing.
type constantChain struct {
	chains.Chain
	info    chains.Info
	address func(string) (string, error)
}

func (c constantChain) Info() chains.Info { return c.info }

func (c constantChain) Address(s string) (string, error) { return c.address(s) }

func (constantChain) Contract(string) (chains.Contract, bool) { return nil, false }

type mainnet struct {
	bitcoin.Backend
	bitcoin.AddressIndex
}

func (mainnet) Network() bitcoin.Network { return bitcoin.Mainnet }

// refusing is the other end of a link, which has no use for anybody.
type refusing struct{}

func (refusing) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"status":"ERROR","reason":"closed"}`)), Request: r}, nil
}

// accepted returns nil for a request whose swap comes to nothing only because nobody
// can be reached.
func accepted(t *testing.T, c *Client, q quote.Request) error {
	t.Helper()
	_, err := c.quoter.Create(t.Context(), q)
	if fault.CodeOf(err) == fault.Upstream {
		return nil
	}
	return err
}

// offline is a client of mainnet's chains as the network deploys them that can
// reach nobody.
func offline(t *testing.T, now time.Time) *Client {
	t.Helper()
	c := &Client{byID: map[string]chains.Chain{}}
	var lists []tokenlist.Chain
	for _, id := range []string{"STARKNET", "SOLANA", "BOTANIX", "CITREA"} {
		native, ok := tokens.Native(id)
		if !ok {
			t.Fatalf("no native token of %s", id)
		}
		v := chains.Version{Name: "v1", LPInit: true, Vaults: true}
		read, tokenAddress := evmwire.Address, evmwire.TokenAddress
		switch id {
		case "SOLANA":
			v.LPInit, v.Vaults = false, false
			read, tokenAddress = solwire.Address, solwire.TokenAddress
		case "STARKNET":
			read, tokenAddress = starkwire.Address, func(s string) (string, error) { return starkwire.Address(s) }
		}
		var contracts []string
		if id == "CITREA" {
			contracts = []string{manager}
		}
		info := chains.Info{Contracts: contracts, ID: id, Tokens: tokens.Known(id), Native: native, Default: "v1", Versions: []chains.Version{v}}
		c.byID[id] = constantChain{info: info, address: read}
		lists = append(lists, tokenlist.Chain{ID: id, Tokens: info.Tokens, TokenAddress: tokenAddress})
	}
	c.registry = trial.Must(tokenlist.New(lists...))(t)
	c.reader = chainio.New(c.byID, mainnet{}, nil)
	c.engine = engine.New(engine.Config{Store: &storage.Memory{}, Reader: c.reader, Now: func() time.Time { return now }, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	c.quoter = &quote.Quoter{Engine: c.engine, Reader: c.reader, Offers: discovery.NewDirectory(discovery.Setup{}), LNURL: lnurl.New(lnurl.Config{Transport: refusing{}}), Rand: rand.Reader}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestVectorsSwapArguments(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "swap_arguments", func(t *testing.T, v *vectors.Case) {
		var in struct {
			SrcToken, DstToken     string
			Amount                 *string
			ExactIn                bool
			SrcAddress, DstAddress string
			Options                struct {
				GasAmount, PaymentHash, Description, DescriptionHash string
			}
		}
		v.Input(t, &in)
		var want struct {
			SwapType, Chain, SignerOrRecipient, Token, Amount string
			Target                                            *string
			ExactIn                                           bool
		}
		v.Expected(t, &want)
		var options struct{ Options json.RawMessage }
		var says struct {
			Method  string
			Options json.RawMessage
		}
		v.Input(t, &options)
		if v.Expected(t, &says); !vectors.Refused(v.Want(t)) {
			// The reference has a function of its own for links, and hands its options on.
			method := "create"
			if lnurl.IsLink(in.SrcAddress) || lnurl.IsLink(in.DstAddress) {
				method = "createViaLNURL"
			}
			if says.Method != method {
				t.Errorf("the reference calls %s, want %s", says.Method, method)
			}
			vectors.SameJSON(t, options.Options, says.Options)
		}

		request := CreateSwapInput{SrcToken: in.SrcToken, DstToken: in.DstToken, AmountType: ExactOut, SrcAddress: in.SrcAddress, DstAddress: in.DstAddress,
			PaymentHash: in.Options.PaymentHash, LightningInvoiceDescription: in.Options.Description, LightningInvoiceDescriptionHash: in.Options.DescriptionHash}
		if in.ExactIn {
			request.AmountType = ExactIn
		}
		number := func(s string) *big.Int {
			n, ok := new(big.Int).SetString(s, 10)
			if !ok {
				t.Fatalf("%q is no number", s)
			}
			return n
		}
		if in.Amount != nil {
			request.Amount = number(*in.Amount)
		}
		if in.Options.GasAmount != "" {
			request.GasAmount = number(in.Options.GasAmount)
		}
		// Invoices of the vectors are old: the clock stands at their creation.
		now := time.Now()
		invoice, noInvoice := lightning.Decode(address.Strip(in.DstAddress))
		if noInvoice == nil {
			now = time.Unix(invoice.Timestamp, 0)
		}
		c := offline(t, now)
		read := func() (q quote.Request, typ swap.Type, err error) {
			if err = request.Validate(); err != nil {
				return
			}
			if q, err = c.readRequest(request); err != nil {
				return
			}
			if typ, err = swap.Route(q.Src, q.Dst, c.info); err == nil {
				err = accepted(t, c, q)
			}
			return
		}
		q, typ, err := read()

		if vectors.Refused(v.Want(t)) {
			if code := fault.CodeOf(err); code != fault.InvalidInput && code != fault.Unsupported {
				t.Errorf("%v, %+v, %v, want a refusal", typ, q, err)
			}
			return
		}
		// What we refuse on purpose is refused by name; without it, all is as expected.
		refused := func(id, field string, mend func()) {
			v.Differ(t, id)
			f, ok := err.(*fault.Error)
			if !ok || f.Code != fault.InvalidInput || f.Field != field {
				t.Fatalf("%v, want %s refused", err, field)
			}
			mend()
			q, typ, err = read()
		}
		sats := int64(0)
		if noInvoice == nil {
			sats, _ = invoice.AmountSats()
		}
		switch {
		case noInvoice == nil && want.SwapType == "TO_BTCLN" && (request.Amount == nil || request.Amount.Cmp(big.NewInt(sats)) != 0):
			refused("invoice-amount", "amount", func() { request.Amount = number(want.Amount) })
		case request.Amount != nil && request.Amount.Sign() <= 0:
			refused("input-ranges", "amount", func() { request.Amount = big.NewInt(1) })
			want.Amount = "1"
		case want.Chain == "STARKNET" && len(in.DstAddress) < 58 && strings.HasPrefix(in.DstAddress, "0x"):
			refused("stark-address-zeros", "dstAddress", func() {
				request.DstAddress = "0x" + strings.Repeat("0", 66-len(in.DstAddress)) + in.DstAddress[2:]
			})
		}
		if request.GasAmount != nil && request.GasAmount.Sign() > 0 {
			drops := typ
			if q.Src != (tokens.Token{}) {
				drops, _ = swap.Route(q.Src, q.Dst, c.info)
			}
			if info, ok := c.info(want.Chain); !drops.DropsGas() || ok && want.Token == info.Native.Address {
				refused("option-unused", "gasAmount", func() { request.GasAmount = nil })
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		smart, user, target := q.Dst, q.DstAddress, q.SrcAddress
		if typ == swap.ToBTC || typ == swap.ToBTCLN {
			smart, user, target = q.Src, q.SrcAddress, q.DstAddress
		}
		if user, err = c.byID[smart.Chain].Address(user); err != nil {
			t.Error(err)
		}
		if typ == swap.SPVFromBTC || typ == swap.FromBTC {
			target = "" // who pays is of no interest
		}
		wantTarget := ""
		if want.Target != nil {
			wantTarget = *want.Target
		}
		got := []string{typ.String(), smart.Chain, user, smart.Address, q.Amount.String(), target}
		expected := []string{want.SwapType, want.Chain, want.SignerOrRecipient, want.Token, want.Amount, wantTarget}
		for i := range got {
			if got[i] != expected[i] {
				t.Errorf("member %d is %q, want %q", i, got[i], expected[i])
			}
		}
		if q.ExactIn != want.ExactIn {
			t.Errorf("exact in %v", q.ExactIn)
		}
		if request.GasAmount != nil && (q.GasAmount == nil || q.GasAmount.Cmp(request.GasAmount) != 0) {
			t.Errorf("gas amount %v", q.GasAmount)
		}
	})
}

const (
	citreaUser = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	usdc       = "0xE045e6c36cF77FAA2CfB54466D71A3aEF7bbE839" // the token, on Citrea
	manager    = "0xc98Ef084d3911C8447DBbE4dDa18bC2c9bB0584e" // a contract of the network there
	payee      = "bc1qdv78f6kmsjywv0033r54seycsapfq8zmhtl9q7"
)

func TestWhatASwapCannotUseIsRefusedByName(t *testing.T) {
	hash := "abababababababababababababababababababababababababababababababab"
	hour := time.Hour
	toBTC := CreateSwapInput{SrcToken: "CITREA-CBTC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(1000), AmountType: ExactOut, SrcAddress: citreaUser, DstAddress: payee}
	fromBTC := CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: "CITREA-USDC", Amount: big.NewInt(1000), AmountType: ExactOut, DstAddress: citreaUser}
	fromLN := fromBTC
	fromLN.SrcToken = "LIGHTNING-BTC"
	toLN := toBTC
	toLN.DstToken, toLN.DstAddress = "LIGHTNING-BTC", "user@example.com"
	c := offline(t, time.Now())
	for name, tt := range map[string]struct {
		in    CreateSwapInput
		edit  func(*CreateSwapInput)
		field string // "": accepted
	}{
		"to Bitcoin":                      {toBTC, func(*CreateSwapInput) {}, ""},
		"to Lightning":                    {toLN, func(*CreateSwapInput) {}, ""},
		"from Bitcoin":                    {fromBTC, func(*CreateSwapInput) {}, ""},
		"from Lightning":                  {fromLN, func(*CreateSwapInput) {}, ""},
		"gas from Bitcoin":                {fromBTC, func(in *CreateSwapInput) { in.GasAmount = big.NewInt(1) }, ""},
		"no gas is no gas":                {toBTC, func(in *CreateSwapInput) { in.GasAmount = new(big.Int) }, ""},
		"gas to Bitcoin":                  {toBTC, func(in *CreateSwapInput) { in.GasAmount = big.NewInt(1) }, "gasAmount"},
		"gas beside native":               {fromBTC, func(in *CreateSwapInput) { in.DstToken, in.GasAmount = "CITREA-CBTC", big.NewInt(1) }, "gasAmount"},
		"hash from Lightning":             {fromLN, func(in *CreateSwapInput) { in.PaymentHash = hash }, ""},
		"hash from Bitcoin":               {fromBTC, func(in *CreateSwapInput) { in.PaymentHash = hash }, "paymentHash"},
		"hash to Lightning":               {toLN, func(in *CreateSwapInput) { in.PaymentHash = hash }, "paymentHash"},
		"description to Lightning":        {toLN, func(in *CreateSwapInput) { in.LightningInvoiceDescription = "x" }, "lightningInvoiceDescription"},
		"description hash from Bitcoin":   {fromBTC, func(in *CreateSwapInput) { in.LightningInvoiceDescriptionHash = hash }, "lightningInvoiceDescriptionHash"},
		"timeout to Lightning":            {toLN, func(in *CreateSwapInput) { in.LightningPaymentHTLCTimeout = &hour }, ""},
		"timeout to Bitcoin":              {toBTC, func(in *CreateSwapInput) { in.LightningPaymentHTLCTimeout = &hour }, "lightningPaymentHTLCTimeout"},
		"timeout from Lightning":          {fromLN, func(in *CreateSwapInput) { in.LightningPaymentMaxHTLCTimeout = &hour }, "lightningPaymentMaxHTLCTimeout"},
		"withdraw link as payee":          {toLN, func(in *CreateSwapInput) { in.DstAddress = "lnurlw://example.com/w" }, "dstAddress"},
		"pay link as payer":               {fromLN, func(in *CreateSwapInput) { in.SrcAddress = "lnurlp://example.com/p" }, "srcAddress"},
		"address of a person as payer":    {fromLN, func(in *CreateSwapInput) { in.SrcAddress = "user@example.com" }, "srcAddress"},
		"zero address":                    {fromBTC, func(in *CreateSwapInput) { in.DstAddress = "0x0000000000000000000000000000000000000000" }, "dstAddress"},
		"a token as payee":                {fromBTC, func(in *CreateSwapInput) { in.DstAddress = usdc }, "dstAddress"},
		"another token as payee":          {fromLN, func(in *CreateSwapInput) { in.DstAddress = "0xDF240DC08B0FdaD1d93b74d5048871232f6BEA3d" }, "dstAddress"},
		"a token of another chain":        {fromLN, func(in *CreateSwapInput) { in.DstToken, in.DstAddress = "BOTANIX-BTC", usdc }, "dstAddress"},
		"a token in lower case":           {fromBTC, func(in *CreateSwapInput) { in.DstAddress = strings.ToLower(usdc) }, "dstAddress"},
		"a token as payer":                {toBTC, func(in *CreateSwapInput) { in.SrcAddress = usdc }, "srcAddress"},
		"a contract as payee":             {fromBTC, func(in *CreateSwapInput) { in.DstAddress = manager }, "dstAddress"},
		"broken checksum":                 {fromBTC, func(in *CreateSwapInput) { in.DstAddress = "0x70997970c51812dc3A010C7d01b50e0d17dc79C8" }, "dstAddress"},
		"Bitcoin address of another form": {toBTC, func(in *CreateSwapInput) { in.DstAddress = citreaUser }, "dstAddress"},
		"no payer":                        {toLN, func(in *CreateSwapInput) { in.SrcAddress = "" }, "srcAddress"},
	} {
		t.Run(name, func(t *testing.T) {
			in := tt.in
			tt.edit(&in)
			err := in.Validate()
			if err == nil {
				var q quote.Request
				if q, err = c.readRequest(in); err == nil {
					err = accepted(t, c, q)
				}
			}
			f, _ := err.(*fault.Error)
			switch {
			case tt.field == "" && err != nil:
				t.Error(err)
			case tt.field != "" && (f == nil || f.Code != fault.InvalidInput || f.Field != tt.field):
				text, _ := json.Marshal(f)
				t.Errorf("%v %s, want %s refused", err, text, tt.field)
			}
		})
	}
}

func TestInvoiceOfThePast(t *testing.T) {
	const invoice = "lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpuaztrnwngzn3kdzw5hydlzf03qdgm2hdq27cqv3agm2awhz5se903vruatfhq77w3ls4evs3ch9zw97j25emudupq63nyw24cg27h2rspfj9srp"
	inv := trial.Must(lightning.Decode(invoice))(t)
	in := CreateSwapInput{SrcToken: "CITREA-CBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(250_000), AmountType: ExactOut, SrcAddress: citreaUser, DstAddress: invoice}
	for at, good := range map[int64]bool{inv.Timestamp: true, inv.ExpiresAt() - 1: true, inv.ExpiresAt(): false} {
		c := offline(t, time.Unix(at, 0))
		q := trial.Must(c.readRequest(in))(t)
		if err := accepted(t, c, q); good != (err == nil) {
			t.Errorf("%d s after: %v", at-inv.Timestamp, err)
		}
	}
}
