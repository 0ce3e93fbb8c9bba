package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"github.com/lightningnetwork/lnd/lnwire"
	"github.com/lightningnetwork/lnd/zpay32"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/tokens"
)

var (
	noon     = time.Unix(1_760_000_000, 0)
	lpKey    = "0x1111111111111111111111111111111111111111"
	userKey  = "0x2222222222222222222222222222222222222222"
	coin     = tokens.Token{Chain: "X", Ticker: "BTC8", Decimals: 8, Address: "0xaa"} // 1 base unit is 1 sat
	gasCoin  = tokens.Token{Chain: "X", Ticker: "GAS", Decimals: 18, Address: "0xbb"} // 10^10 base units are 1 sat
	whole    = big.NewInt(100_000_000_000_000)                                        // micro-sats per token: a bitcoin
	preimage = sha256.Sum256([]byte("preimage"))
	payHash  = sha256.Sum256(preimage[:])
	goodAuth = Authorized{Until: noon.Add(10 * time.Minute)}
)

func n(v int64) *big.Int    { return big.NewInt(v) }
func wei(v int64) *big.Int  { return new(big.Int).Mul(n(v), n(1e10)) }
func hexed(b []byte) string { return hex.EncodeToString(b) }
func agreed(amount *big.Int, exactIn bool) Agreed {
	return Agreed{LP: lpKey, BaseFee: n(10), FeePPM: n(3000), User: userKey, Token: coin, Native: gasCoin, Amount: amount, ExactIn: exactIn,
		Contract: standIn{extraData: "hints"}, Price: whole, NativePrice: whole, Now: noon}
}

// invoice makes an invoice of a node of ours.
func invoice(t testing.TB, params *chaincfg.Params, hash [32]byte, msat int64, more ...func(*zpay32.Invoice)) string {
	t.Helper()
	parts := append([]func(*zpay32.Invoice){zpay32.Description("swap"), zpay32.CLTVExpiry(80), zpay32.Expiry(time.Hour), zpay32.PaymentAddr([32]byte{1})}, more...)
	if msat > 0 {
		parts = append(parts, zpay32.Amount(lnwire.MilliSatoshi(msat)))
	}
	z := trial.Must(zpay32.NewInvoice(params, hash, noon, parts...))(t)
	key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{7}, 32))
	return trial.Must(z.Encode(zpay32.MessageSigner{SignCompact: func(msg []byte) ([]byte, error) { return ecdsa.SignCompact(key, chainhash.HashB(msg), true), nil }}))(t)
}

func decoded11(t testing.TB, text string) *lightning.Invoice {
	t.Helper()
	return trial.Must(lightning.Decode(text))(t)
}

// seen are the checks that a test has fed the lie they are there to catch.
var seen = map[lp.Check]bool{}

// spares marks a check whose failure costs the LP nothing, since an honest one can
// get there; any other failure is punished.
func spares(c lp.Check) lp.Check { return sparing + c }

const sparing = "spares "

// lied demands that err names the check, and that the LP is punished unless it is
// to be spared.
func lied(t *testing.T, c lp.Check, err error) {
	t.Helper()
	word, spared := strings.CutPrefix(string(c), sparing)
	c = lp.Check(word)
	seen[c] = true
	e, ok := errors.AsType[*lp.LPError](err)
	if !ok || e.Check != c {
		t.Errorf("got %v, want the check %q to fail", err, c)
		return
	}
	if fault.CodeOf(err) != fault.Upstream {
		t.Errorf("code %s of %v", fault.CodeOf(err), err)
	}
	if lp.Punishable(err) == spared {
		t.Errorf("punished %v for %v", !spared, err)
	}
}

// lie is what an answer is made to say, and the check that is to catch it.
type lie[T any] struct {
	check lp.Check // see [spares]
	tell  func(*T)
}

// lies feeds each lie to a verification that is content without it.
func lies[T any](t *testing.T, honest func() T, verify func(T) error, table map[string]lie[T]) {
	t.Helper()
	if err := verify(honest()); err != nil {
		t.Fatalf("the honest answer is refused: %v", err)
	}
	for name, l := range table {
		t.Run(name, func(t *testing.T) {
			v := honest()
			l.tell(&v)
			lied(t, l.check, verify(v))
		})
	}
}

type toBTCTest struct {
	want ToBTCExpected
	got  lp.ToBTCQuote
	data standData
	auth Authorized
}

func honestToBTC() toBTCTest {
	v := toBTCTest{
		want: ToBTCExpected{Agreed: agreed(n(100_000), false), Script: []byte{0, 20}, Nonce: 9, Confirmations: 2, ConfirmationTarget: 3, FeeRate: 1.5},
		got:  lp.ToBTCQuote{Amount: n(100_000), SatsPerVB: n(2), NetworkFee: n(400), SwapFee: n(310), TotalFee: n(710), Total: n(100_710)},
		auth: goodAuth,
	}
	v.data = standData{Type: chains.OnchainNonced, Amount: "100710", Expiry: noon.Unix() + 31_200, PayIn: true, Token: coin.Address, Claimer: lpKey, Offerer: userKey,
		SecurityDeposit: "0", ClaimerBounty: "0", Sequence: "5",
		ClaimHash: hexed(standIn{}.hash(chains.Condition{Kind: chains.OnchainNonced, Script: []byte{0, 20}, Sats: 100_000, Nonce: 9, Confirmations: 2}))}
	return v
}

func (v toBTCTest) verify() error {
	v.got.Escrow, _ = json.Marshal(v.data)
	a, err := ToBTC(v.want, v.got, v.auth)
	if err == nil && (a.Escrow == nil || a.Auth == nil || a.Input.Cmp(v.got.Total) != 0 || a.Output.Cmp(v.got.Amount) != 0) {
		return errors.New("incomplete")
	}
	return err
}

func TestLiesToBTC(t *testing.T) {
	total := func(v *toBTCTest, total int64) { v.got.Total, v.data.Amount = n(total), strconv.FormatInt(total, 10) }
	lies(t, honestToBTC, toBTCTest.verify, map[string]lie[toBTCTest]{
		"missing fee":                  {lp.CheckNumbers, func(v *toBTCTest) { v.got.SwapFee = nil }},
		"negative fee":                 {lp.CheckNumbers, func(v *toBTCTest) { v.got.SwapFee, v.got.TotalFee = n(-310), n(90) }},
		"absurd total":                 {lp.CheckNumbers, func(v *toBTCTest) { v.got.Total = new(big.Int).Lsh(n(1), 300) }},
		"fees eat the total":           {lp.CheckNumbers, func(v *toBTCTest) { v.got.SwapFee, v.got.TotalFee = n(100_310), n(100_710) }},
		"fees do not add up":           {lp.CheckTotalFee, func(v *toBTCTest) { v.got.TotalFee = n(709) }},
		"pays out less":                {lp.CheckRequested, func(v *toBTCTest) { v.got.Amount = n(99_999) }},
		"other total":                  {lp.CheckEscrow, func(v *toBTCTest) { v.got.Total = n(100_709) }},
		"locks more than the total":    {lp.CheckEscrow, func(v *toBTCTest) { v.data.Amount = "200000" }},
		"other kind":                   {lp.CheckEscrow, func(v *toBTCTest) { v.data.Type = chains.HTLC }},
		"other payout":                 {lp.CheckEscrow, func(v *toBTCTest) { v.data.ClaimHash = hexed([]byte("LP's own address")) }},
		"from another's vault":         {lp.CheckEscrow, func(v *toBTCTest) { v.data.PayIn = false }},
		"to a vault that nobody chose": {lp.CheckEscrow, func(v *toBTCTest) { v.data.PayOut = true }},
		"other token":                  {lp.CheckEscrow, func(v *toBTCTest) { v.data.Token = "0xcc" }},
		"other claimer":                {lp.CheckEscrow, func(v *toBTCTest) { v.data.Claimer = userKey }},
		"other offerer":                {lp.CheckEscrow, func(v *toBTCTest) { v.data.Offerer = lpKey }},
		"deposit":                      {lp.CheckEscrow, func(v *toBTCTest) { v.data.SecurityDeposit = "1" }},
		"bounty":                       {lp.CheckEscrow, func(v *toBTCTest) { v.data.ClaimerBounty = "1" }},
		"deposit token":                {lp.CheckEscrow, func(v *toBTCTest) { v.data.DepositToken = "0xcc" }},
		"success action":               {lp.CheckEscrow, func(v *toBTCTest) { v.data.HasSuccessAction = true }},
		"odd extra data":               {lp.CheckEscrow, func(v *toBTCTest) { v.data.ExtraData = strings.Repeat("00", 1000) }},
		"ends never":                   {lp.CheckExpiry, func(v *toBTCTest) { v.data.Expiry = math.MaxInt64 }},
		"dear rate":                    {spares(lp.CheckNetworkFee), func(v *toBTCTest) { v.got.SatsPerVB = n(13) }},
		"another rate's floor":         {lp.CheckNetworkFee, func(v *toBTCTest) { v.rate(2.5); v.got.SatsPerVB = n(3) }},
		"a fraction's ceiling":         {lp.CheckNetworkFee, func(v *toBTCTest) { v.rate(0.5); v.got.SatsPerVB = n(1) }},
		"rate below zero":              {lp.CheckNetworkFee, func(v *toBTCTest) { v.rate(-0.5) }},
		"rate beyond numbers":          {lp.CheckNetworkFee, func(v *toBTCTest) { v.rate(math.Inf(1)) }},
		"dear payout, fraction":        {spares(lp.CheckNetworkFee), func(v *toBTCTest) { v.rate(0.9); v.want.Policy.PayoutVSize = 400 }},
		"bad price":                    {lp.CheckPrice, func(v *toBTCTest) { total(v, 101_720) }},
		"authorisation forged":         {lp.CheckAuth, func(v *toBTCTest) { v.auth.Err = &chains.AuthError{Reason: "signed by somebody else"} }},
	})
	for _, rate := range []float64{0.5, 1, 1.25, 2.9} {
		v := honestToBTC()
		v.rate(rate)
		fee := int64(math.Ceil(rate * 200))
		v.got.NetworkFee, v.got.TotalFee = n(fee), n(310+fee)
		total(&v, 100_310+fee)
		if err := v.verify(); err != nil {
			t.Errorf("%v sats/vB: %v", rate, err)
		}
	}
	v := honestToBTC()
	v.want.ExactIn, v.want.Amount = true, n(100_710)
	if err := v.verify(); err != nil {
		t.Errorf("exact input: %v", err)
	}
	v.want.Amount = n(100_711)
	lied(t, lp.CheckRequested, v.verify())
	v = honestToBTC()
	v.want.ExactIn, v.want.Amount, v.got.Amount = true, n(100_710), n(1) // next to nothing for all of it
	v.data.ClaimHash = hexed(standIn{}.hash(chains.Condition{Kind: chains.OnchainNonced, Script: []byte{0, 20}, Sats: 1, Nonce: 9, Confirmations: 2}))
	if err := v.verify(); !lp.Punishable(err) {
		t.Errorf("a satoshi for everything: %v", err)
	}
	lied(t, lp.CheckPrice, v.verify())
	v = honestToBTC()
	v.data.ExtraData = "hints"
	if err := v.verify(); err != nil {
		t.Errorf("with the payout's own hints: %v", err)
	}
}

// rate is what LPs answer at a rate that may be a fraction.
func (v *toBTCTest) rate(rate float64) {
	v.got.ExactSatsPerVB, v.got.SatsPerVB = &rate, n(int64(math.Max(-1, math.Min(rate, 1e6))))
}

// What the caller did not find out is nobody's lie.
func TestMissingFactsBlameNobody(t *testing.T) {
	for name, spoil := range map[string]func(*toBTCTest){
		"no fee rate":       func(v *toBTCTest) { v.want.FeeRate = 0 },
		"fee rate NaN":      func(v *toBTCTest) { v.want.FeeRate = math.NaN() },
		"no price":          func(v *toBTCTest) { v.want.Price = nil },
		"node did not help": func(v *toBTCTest) { v.auth.Err = errors.New("no connection") },
	} {
		v := honestToBTC()
		spoil(&v)
		err := v.verify()
		if _, blamed := errors.AsType[*lp.LPError](err); err == nil || blamed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An LP that is its own customer is refused, and not punished for it.
func TestNobodySwapsWithItself(t *testing.T) {
	v := honestToBTC()
	v.want.User, v.data.Offerer = lpKey, lpKey
	auto := FromBTCLNAutoExpected{Agreed: agreed(n(1), true)}
	auto.User = lpKey
	_, err := auto.lightningEscrow(payHash, n(1), nil, nil)
	for _, err := range []error{v.verify(), err} {
		if fault.CodeOf(err) != fault.InvalidInput || lp.Punishable(err) {
			t.Errorf("got %v", err)
		}
	}
}

func TestPolicy(t *testing.T) {
	v := honestToBTC()
	v.got.SwapFee, v.got.TotalFee, v.got.Total, v.data.Amount = n(900), n(1300), n(101_300), "101300"
	lied(t, spares(lp.CheckFee), v.verify())
	v.want.Policy.AnyFee = true
	if err := v.verify(); err != nil {
		t.Errorf("any fee: %v", err)
	}
	v = honestToBTC()
	v.got.Total, v.data.Amount = n(103_000), "103000"
	lied(t, lp.CheckPrice, v.verify())
	v.want.Policy.TolerancePPM = 30_000
	if err := v.verify(); err != nil {
		t.Errorf("tolerance: %v", err)
	}
}

type toBTCLNTest struct {
	want ToBTCLNExpected
	got  lp.ToBTCLNQuote
	data standData
	auth Authorized
}

func (v toBTCLNTest) verify() error {
	v.got.Escrow, _ = json.Marshal(v.data)
	_, err := ToBTCLN(v.want, v.got, v.auth)
	return err
}

func honestToBTCLN(t testing.TB) toBTCLNTest {
	return toBTCLNTest{
		want: ToBTCLNExpected{Agreed: agreed(n(50_000), false), Invoice: decoded11(t, invoice(t, &chaincfg.RegressionNetParams, payHash, 50_000_000)),
			Expiry: noon.Unix() + 432_000, MaxRoutingSats: n(110)},
		got: lp.ToBTCLNQuote{MaxFee: n(100), SwapFee: n(160), Total: n(50_260), Confidence: 0.9, RoutingFeeSats: n(100)},
		data: standData{Type: chains.HTLC, Amount: "50260", Expiry: noon.Unix() + 432_000, PayIn: true, Token: coin.Address, Claimer: lpKey, Offerer: userKey,
			SecurityDeposit: "0", ClaimerBounty: "0", Sequence: "7", ClaimHash: hexed(standIn{}.hash(chains.Condition{Kind: chains.HTLC, PaymentHash: payHash}))},
		auth: goodAuth,
	}
}

func TestLiesToBTCLN(t *testing.T) {
	odd := decoded11(t, invoice(t, &chaincfg.RegressionNetParams, payHash, 49_999_001))
	honest := func() toBTCLNTest { return honestToBTCLN(t) }
	exactIn := func() toBTCLNTest {
		v := honest()
		v.want.ExactIn, v.want.Amount, v.want.PreparedSats, v.want.MaxRoutingUnits = true, n(50_260), n(50_000), n(110)
		return v
	}
	lies(t, honest, toBTCLNTest.verify, map[string]lie[toBTCLNTest]{
		"negative fee":              {lp.CheckNumbers, func(v *toBTCLNTest) { v.got.SwapFee = n(-1) }},
		"confidence NaN":            {lp.CheckConfidence, func(v *toBTCLNTest) { v.got.Confidence = math.NaN() }},
		"routing dearer than sats":  {lp.CheckRoutingFee, func(v *toBTCLNTest) { v.got.MaxFee = n(50_000); v.got.Total = n(100_160); v.data.Amount = "100160" }},
		"locks more than the total": {lp.CheckEscrow, func(v *toBTCLNTest) { v.data.Amount = "200000" }},
		"other payment":             {lp.CheckEscrow, func(v *toBTCLNTest) { v.data.ClaimHash = hexed([]byte("LP's own invoice")) }},
		"a second later":            {lp.CheckEscrow, func(v *toBTCLNTest) { v.data.Expiry++ }},
		"a second earlier":          {lp.CheckEscrow, func(v *toBTCLNTest) { v.data.Expiry-- }},
		"other kind":                {lp.CheckEscrow, func(v *toBTCLNTest) { v.data.Type = chains.Onchain }},
		"extra data":                {lp.CheckEscrow, func(v *toBTCLNTest) { v.data.ExtraData = "hints" }},
		"bad price":                 {lp.CheckPrice, func(v *toBTCLNTest) { v.got.Total, v.data.Amount = n(50_780), "50780" }},
		"authorisation forged":      {lp.CheckAuth, func(v *toBTCLNTest) { v.auth.Err = &chains.AuthError{Reason: "forged"} }},
	})
	lies(t, exactIn, toBTCLNTest.verify, map[string]lie[toBTCLNTest]{
		"takes more":                  {lp.CheckRequested, func(v *toBTCLNTest) { v.got.Total, v.data.Amount = n(50_261), "50261" }},
		"other invoice than prepared": {lp.CheckPrepared, func(v *toBTCLNTest) { v.want.PreparedSats = n(50_001) }},
		"fraction of a sat":           {lp.CheckPrepared, func(v *toBTCLNTest) { v.want.Invoice = odd }},
	})
}

type fromBTCTest struct {
	want  FromBTCExpected
	got   lp.FromBTCQuote
	data  standData
	auth  Authorized
	funds *big.Int
}

func (v fromBTCTest) verify() error {
	v.got.Escrow, _ = json.Marshal(v.data)
	_, err := FromBTC(v.want, v.got, v.auth, v.funds)
	return err
}

func regtestAddress(t testing.TB, kind bitcoin.AddressType, size int) bitcoin.Address {
	t.Helper()
	program := bytes.Repeat([]byte{2}, size)
	if kind == bitcoin.P2TR {
		key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{3}, 32))
		program = key.PubKey().SerializeCompressed()[1:]
	}
	return trial.Must(bitcoin.NewAddress(kind, program, bitcoin.Regtest))(t)
}

// testBounty is the bounty of a legacy swap from Bitcoin.
var testBounty = lp.Bounty{FeePerBlock: n(10), SafetyFactor: n(1), StartTimestamp: noon.Unix(), AddBlock: n(2), AddFee: n(500)}

func honestFromBTC(t testing.TB) fromBTCTest {
	to, expiry := regtestAddress(t, bitcoin.P2WPKH, 20), noon.Unix()+21_600
	return fromBTCTest{
		want: FromBTCExpected{Agreed: agreed(n(100_000), true), Network: bitcoin.Regtest, Sequence: 77, Bounty: testBounty},
		got:  lp.FromBTCQuote{Amount: n(100_000), BTCAddress: to.String(), SwapFee: n(310), Total: n(99_690), Confirmations: 2},
		data: standData{Type: chains.Onchain, Amount: "99690", Expiry: expiry, PayOut: true, Token: coin.Address, Claimer: userKey, Offerer: lpKey, Sequence: "77",
			SecurityDeposit: wei(2000).String(), ClaimerBounty: testBounty.At(expiry).String(), DepositToken: gasCoin.Address, ExtraData: "hints",
			ClaimHash: hexed(standIn{}.hash(chains.Condition{Kind: chains.Onchain, Script: to.Script(), Sats: 100_000, Confirmations: 2}))},
		auth: goodAuth, funds: n(99_690),
	}
}

func TestLiesFromBTC(t *testing.T) {
	honest := func() fromBTCTest { return honestFromBTC(t) }
	lies(t, honest, fromBTCTest.verify, map[string]lie[fromBTCTest]{
		"nothing for it":           {lp.CheckNumbers, func(v *fromBTCTest) { v.got.Total = n(0) }},
		"asks for more":            {lp.CheckRequested, func(v *fromBTCTest) { v.got.Amount = n(100_001) }},
		"negative confirmations":   {lp.CheckConfirmations, func(v *fromBTCTest) { v.got.Confirmations = -1 }},
		"ends never":               {lp.CheckExpiry, func(v *fromBTCTest) { v.data.Expiry, v.data.ClaimerBounty = math.MaxInt64, "0" }},
		"ends in five digits":      {lp.CheckExpiry, func(v *fromBTCTest) { v.data.Expiry, v.data.ClaimerBounty = lp.LatestExpiry+1, "0" }},
		"address of another chain": {lp.CheckAddress, func(v *fromBTCTest) { v.got.BTCAddress = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq" }},
		"another address":          {lp.CheckEscrow, func(v *fromBTCTest) { v.got.BTCAddress = regtestAddress(t, bitcoin.P2WSH, 32).String() }},
		"pays out less":            {lp.CheckEscrow, func(v *fromBTCTest) { v.data.Amount = "99689" }},
		"other sequence":           {lp.CheckEscrow, func(v *fromBTCTest) { v.data.Sequence = "78" }},
		"other bounty":             {lp.CheckEscrow, func(v *fromBTCTest) { v.data.ClaimerBounty = "1" }},
		"no extra data":            {lp.CheckEscrow, func(v *fromBTCTest) { v.data.ExtraData = "" }},
		"pays in":                  {lp.CheckEscrow, func(v *fromBTCTest) { v.data.PayIn = true }},
		"other deposit token":      {lp.CheckEscrow, func(v *fromBTCTest) { v.data.DepositToken = coin.Address }},
		"ends in a year, and pays a watchtower for all of it": {lp.CheckBounty, func(v *fromBTCTest) {
			v.want.Bounty.FeePerBlock = wei(1)
			v.data.Expiry = noon.Unix() + 365*86_400
			v.data.ClaimerBounty = v.want.Bounty.At(v.data.Expiry).String()
		}},
		"bad price": {lp.CheckPrice, func(v *fromBTCTest) { v.got.Total, v.data.Amount, v.funds = n(98_000), "98000", n(98_000) }},
	})
}

type lightningTest struct {
	want  FromBTCLNExpected
	got   lp.FromBTCLNQuote
	funds *big.Int
	node  NodeFact
}

func ownNode(capacity int64) NodeFact {
	key, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{7}, 32))
	return NodeFact{Node: &bitcoin.NodeLiquidity{PublicKey: hexed(key.PubKey().SerializeCompressed()), Capacity: capacity}}
}

func honestFromBTCLN(t testing.TB) lightningTest {
	return lightningTest{
		want:  FromBTCLNExpected{agreed(n(100_000), true), InvoiceExpected{Network: bitcoin.Regtest, PaymentHash: payHash, Description: "swap"}},
		got:   lp.FromBTCLNQuote{Invoice: invoice(t, &chaincfg.RegressionNetParams, payHash, 100_000_000), SwapFee: n(310), Total: n(99_690), Address: lpKey, SecurityDeposit: wei(100)},
		funds: n(99_690), node: ownNode(200_000),
	}
}

func TestLiesFromBTCLN(t *testing.T) {
	regtest := &chaincfg.RegressionNetParams
	described := sha256.Sum256([]byte("described"))
	honest := func() lightningTest { return honestFromBTCLN(t) }
	verify := func(v lightningTest) error {
		a, err := FromBTCLN(v.want, v.got, v.funds, v.node)
		if err == nil && (a.Escrow == nil || a.Escrow.Claimer != userKey || !a.Escrow.PayOut || a.Escrow.Amount.Cmp(v.got.Total) != 0 || a.Escrow.SecurityDeposit.Cmp(wei(100)) != 0) {
			return errors.New("another escrow is expected than agreed")
		}
		return err
	}
	lies(t, honest, verify, map[string]lie[lightningTest]{
		"nothing for it":          {lp.CheckNumbers, func(v *lightningTest) { v.got.Total = n(0) }},
		"other key":               {lp.CheckLPKey, func(v *lightningTest) { v.got.Address = userKey }},
		"no key":                  {lp.CheckLPKey, func(v *lightningTest) { v.got.Address = "" }},
		"no invoice":              {lp.CheckInvoice, func(v *lightningTest) { v.got.Invoice = "lnbc1" }},
		"invoice of mainnet":      {lp.CheckInvoice, func(v *lightningTest) { v.got.Invoice = invoice(t, &chaincfg.MainNetParams, payHash, 100_000_000) }},
		"invoice without amount":  {lp.CheckInvoice, func(v *lightningTest) { v.got.Invoice = invoice(t, regtest, payHash, 0) }},
		"the LP's own preimage":   {lp.CheckPaymentHash, func(v *lightningTest) { v.got.Invoice = invoice(t, regtest, [32]byte{1}, 100_000_000) }},
		"other description":       {lp.CheckDescription, func(v *lightningTest) { v.want.Description = "other" }},
		"no description hash":     {lp.CheckDescription, func(v *lightningTest) { v.want.DescriptionHash = hexed(described[:]) }},
		"asks for more":           {lp.CheckRequested, func(v *lightningTest) { v.got.Invoice = invoice(t, regtest, payHash, 100_001_000) }},
		"asks for a bit more":     {lp.CheckRequested, func(v *lightningTest) { v.got.Invoice = invoice(t, regtest, payHash, 100_000_001) }},
		"bad price":               {lp.CheckPrice, func(v *lightningTest) { v.got.Total, v.funds = n(98_000), n(98_000) }},
		"node unknown":            {spares(lp.CheckNode), func(v *lightningTest) { v.node = NodeFact{} }},
		"another node's capacity": {lp.CheckNode, func(v *lightningTest) { v.node.Node.PublicKey = strings.Repeat("02", 33) }},
		"node too small":          {spares(lp.CheckNode), func(v *lightningTest) { v.node = ownNode(99_999) }},
	})
	v := honest()
	v.node = ownNode(199_999)
	if err := verify(v); lp.Punishable(err) {
		t.Errorf("%v is punished", err)
	}
	v = honest()
	v.want.Now = noon.Add(time.Hour)
	if err := verify(v); lp.Punishable(err) {
		t.Errorf("%v is punished, though the clock may be ours", err)
	}
}

type autoTest struct {
	want  FromBTCLNAutoExpected
	got   lp.FromBTCLNAutoQuote
	funds *big.Int
	node  NodeFact
}

func honestAuto(t testing.TB) autoTest {
	return autoTest{
		want: FromBTCLNAutoExpected{Agreed: agreed(n(100_000), true), InvoiceExpected: InvoiceExpected{Network: bitcoin.Regtest, PaymentHash: payHash},
			GasAmount: wei(4000), Bounty: wei(985)},
		got: lp.FromBTCLNAutoQuote{Address: lpKey, Invoice: invoice(t, &chaincfg.RegressionNetParams, payHash, 100_000_000), BTCAmountSwap: n(95_000), BTCAmountGas: n(5000), Total: n(94_705),
			TotalGas: wei(4000), TotalFeeBTC: n(310), SwapFeeBTC: n(295), SwapFee: n(295), GasSwapFeeBTC: n(15), GasSwapFee: n(15), ClaimerBounty: wei(985)},
		funds: n(94_705), node: ownNode(200_000),
	}
}

func TestLiesFromBTCLNAuto(t *testing.T) {
	regtest := &chaincfg.RegressionNetParams
	honest := func() autoTest { return honestAuto(t) }
	verify := func(v autoTest) error {
		a, err := FromBTCLNAuto(v.want, v.got, v.funds, v.node)
		if err == nil && (a.Escrow.SecurityDeposit.Cmp(bigs.Add(bigs.OrZero(v.want.GasAmount), bigs.OrZero(v.want.Bounty))) != 0 || a.Escrow.ClaimerBounty.Cmp(bigs.OrZero(v.want.Bounty)) != 0) {
			return errors.New("another escrow is expected than agreed")
		}
		return err
	}
	lies(t, honest, verify, map[string]lie[autoTest]{
		"missing":             {lp.CheckNumbers, func(v *autoTest) { v.got.GasSwapFee = nil }},
		"other key":           {lp.CheckLPKey, func(v *autoTest) { v.got.Address = userKey }},
		"parts exceed it":     {lp.CheckBTCSum, func(v *autoTest) { v.got.BTCAmountGas = n(5001) }},
		"fees do not add up":  {lp.CheckTotalFee, func(v *autoTest) { v.got.TotalFeeBTC = n(309) }},
		"smaller bounty":      {lp.CheckBounty, func(v *autoTest) { v.got.ClaimerBounty = wei(984) }},
		"less gas":            {lp.CheckGas, func(v *autoTest) { v.got.TotalGas = wei(3999) }},
		"asks for more":       {lp.CheckRequested, func(v *autoTest) { v.want.Amount = n(99_999) }},
		"the LP's preimage":   {lp.CheckPaymentHash, func(v *autoTest) { v.got.Invoice = invoice(t, regtest, [32]byte{1}, 100_000_000) }},
		"fee above announced": {spares(lp.CheckFee), func(v *autoTest) { v.got.SwapFeeBTC, v.got.TotalFeeBTC = n(310), n(325) }},
		"bad price":           {lp.CheckPrice, func(v *autoTest) { v.got.Total, v.funds = n(93_000), n(93_000) }},
		"all of it is gas": {lp.CheckGasPrice, func(v *autoTest) {
			v.got.BTCAmountSwap, v.got.BTCAmountGas = n(0), n(100_000)
			v.got.SwapFeeBTC, v.got.GasSwapFeeBTC, v.got.TotalFeeBTC = n(0), n(300), n(300)
		}},
		"dear gas": {lp.CheckGasPrice, func(v *autoTest) {
			v.got.BTCAmountSwap, v.got.BTCAmountGas, v.got.Total = n(94_000), n(6000), n(93_705)
		}},
		"dear bounty, no gas": {lp.CheckGasPrice, func(v *autoTest) { v.want.GasAmount, v.got.TotalGas = nil, n(0) }},
		"gas for nothing": {lp.CheckGasPrice, func(v *autoTest) {
			v.want.GasAmount, v.got.TotalGas, v.want.Bounty, v.got.ClaimerBounty = nil, n(0), nil, n(0)
		}},
		"node unknown": {spares(lp.CheckNode), func(v *autoTest) { v.node = NodeFact{} }},
	})
	v := honest() // a bounty of some sats: rounded up, which is much of it
	v.want.GasAmount, v.got.TotalGas, v.want.Bounty, v.got.ClaimerBounty = nil, n(0), wei(39), wei(39)
	v.got.BTCAmountSwap, v.got.BTCAmountGas, v.got.Total = n(99_959), n(41), n(99_649)
	v.got.SwapFeeBTC, v.got.GasSwapFeeBTC, v.got.TotalFeeBTC, v.funds = n(309), n(1), n(310), n(99_649)
	if err := verify(v); err != nil {
		t.Errorf("a bounty of 39 sats for 41: %v", err)
	}
	v.want.Bounty, v.got.ClaimerBounty = wei(30), wei(30)
	lied(t, lp.CheckGasPrice, verify(v))
}

type spvTest struct {
	want  SPVExpected
	got   lp.SPVQuote
	facts VaultFacts
}

func honestSPV(t testing.TB) spvTest {
	t.Helper()
	vault, to := regtestAddress(t, bitcoin.P2TR, 32), regtestAddress(t, bitcoin.P2WPKH, 20)
	made := wire.NewMsgTx(2)
	made.AddTxOut(wire.NewTxOut(600, vault.Script()))
	utxo := bitcoin.OutPoint{Hash: made.TxHash()}
	return spvTest{
		want: SPVExpected{Agreed: agreed(n(100_000), true), Network: bitcoin.Regtest, GasAmount: wei(4980), CallerShare: 100, MaxFeeRate: 20},
		got: lp.SPVQuote{QuoteID: strings.Repeat("AB", 32), Expiry: noon.Unix() + 600, Address: lpKey, VaultID: n(3), VaultBTCAddress: vault.String(), BTCAddress: to.String(),
			BTCUTXO: utxo.String(), BTCFeeRate: 2, BTCAmount: n(100_000), BTCAmountSwap: n(95_000), BTCAmountGas: n(5000), Total: n(94_610), TotalGas: wei(4980),
			TotalFeeBTC: n(310), SwapFeeBTC: n(295), SwapFee: n(295), GasSwapFeeBTC: n(15), GasSwapFee: wei(15), CallerFeeShare: n(100), FrontingFeeShare: n(0), ExecutionFeeShare: n(0)},
		facts: VaultFacts{
			Vault: &chains.Vault{Open: true, OurRelay: true, Tokens: [2]string{"0xAA", "0x0bb"}, Multipliers: [2]*big.Int{n(1), n(1e10)}, Confirmations: 2,
				VaultState: bitcoin.VaultState{UTXO: utxo, Raw: [2]uint64{94_610 + 94, 4980 + 4}}},
			Output: &bitcoin.Tx{ID: utxo.Hash, Msg: made, Confirmations: 1}, Spend: bitcoin.Unspent,
		},
	}
}

func (v spvTest) verify() error {
	a, err := SPV(v.want, v.got, v.facts)
	if err == nil && (a.Vault.UTXOSats != 600 || a.Vault.Raw != [2]uint64{94_610, 4980} || a.Vault.QuoteID != strings.Repeat("ab", 32)) {
		return errors.New("incomplete")
	}
	return err
}

func TestLiesSPV(t *testing.T) {
	pending := func(v *spvTest, count int, total [2]uint64) {
		at := bitcoin.OutPoint{Hash: bitcoin.Hash{9}}
		v.facts.Vault.UTXO = at
		for i := range count {
			w := chains.Withdrawal{Withdrawal: bitcoin.Withdrawal{TxID: bitcoin.Hash{byte(i + 1)}, Vault: at}, Amounts: bitcoin.WithdrawalAmounts{Total: total}}
			if i == count-1 {
				w.TxID = v.facts.Output.ID
			}
			v.facts.Pending, at = append(v.facts.Pending, w), w.NextVault()
		}
	}
	honest := func() spvTest { return honestSPV(t) }
	lies(t, honest, spvTest.verify, map[string]lie[spvTest]{
		"negative vault":      {lp.CheckNumbers, func(v *spvTest) { v.got.VaultID = n(-1) }},
		"negative gas":        {lp.CheckNumbers, func(v *spvTest) { v.got.BTCAmountGas, v.got.BTCAmountSwap = n(-5000), n(105_000) }},
		"more than all":       {lp.CheckNumbers, func(v *spvTest) { v.got.BTCAmount = n(rawtx.MaxMoney + 1) }},
		"no bitcoin":          {lp.CheckNumbers, func(v *spvTest) { v.got.BTCAmount = n(0) }},
		"fee rate high":       {spares(lp.CheckFeeRate), func(v *spvTest) { v.got.BTCFeeRate = 20.1 }},
		"fee rate low":        {spares(lp.CheckFeeRate), func(v *spvTest) { v.got.BTCFeeRate = 0.9 }},
		"no fee rate":         {lp.CheckFeeRate, func(v *spvTest) { v.got.BTCFeeRate = 0 }},
		"negative fee rate":   {lp.CheckFeeRate, func(v *spvTest) { v.got.BTCFeeRate = -1 }},
		"fee rate NaN":        {lp.CheckFeeRate, func(v *spvTest) { v.got.BTCFeeRate = math.NaN() }},
		"fee rate absurd":     {lp.CheckFeeRate, func(v *spvTest) { v.want.MaxFeeRate, v.got.BTCFeeRate = 1e9, 10_001 }},
		"quote id a path":     {lp.CheckQuoteID, func(v *spvTest) { v.got.QuoteID = "../../x" }},
		"no address":          {lp.CheckAddress, func(v *spvTest) { v.got.BTCAddress = "x" }},
		"vault elsewhere":     {lp.CheckAddress, func(v *spvTest) { v.got.VaultBTCAddress = "x" }},
		"LP address p2tr":     {lp.CheckAddress, func(v *spvTest) { v.got.BTCAddress = v.got.VaultBTCAddress }},
		"vault p2wpkh":        {lp.CheckAddress, func(v *spvTest) { v.got.VaultBTCAddress = v.got.BTCAddress }},
		"other owner":         {lp.CheckVaultOwner, func(v *spvTest) { v.got.Address = userKey }},
		"no output":           {lp.CheckUTXO, func(v *spvTest) { v.got.BTCUTXO = "ab:0" }},
		"sum":                 {lp.CheckBTCSum, func(v *spvTest) { v.got.BTCAmountSwap = n(95_001) }},
		"fee sum":             {lp.CheckTotalFee, func(v *spvTest) { v.got.TotalFeeBTC = n(311) }},
		"caller share":        {lp.CheckShares, func(v *spvTest) { v.got.CallerFeeShare = n(101) }},
		"fronting share":      {lp.CheckShares, func(v *spvTest) { v.got.FrontingFeeShare = n(1) }},
		"execution share":     {lp.CheckShares, func(v *spvTest) { v.got.ExecutionFeeShare = n(1) }},
		"expired":             {spares(lp.CheckQuoteExpiry), func(v *spvTest) { v.got.Expiry = noon.Unix() - 1 }},
		"never expires":       {spares(lp.CheckQuoteExpiry), func(v *spvTest) { v.got.Expiry = math.MaxInt64 }},
		"fee above announced": {spares(lp.CheckFee), func(v *spvTest) { v.got.SwapFeeBTC, v.got.TotalFeeBTC = n(301), n(316) }},
		"gas fee too high":    {spares(lp.CheckGasFee), func(v *spvTest) { v.got.GasSwapFeeBTC, v.got.TotalFeeBTC = n(19), n(314) }},
		"bad price":           {lp.CheckPrice, func(v *spvTest) { v.got.Total = n(93_000) }},
		"dear gas":            {lp.CheckGasPrice, func(v *spvTest) { v.got.BTCAmountGas, v.got.BTCAmountSwap, v.got.Total = n(5100), n(94_900), n(94_510) }},
		"no vault":            {spares(lp.CheckVaultOpen), func(v *spvTest) { v.facts.Vault = nil }},
		"vault closed":        {spares(lp.CheckVaultOpen), func(v *spvTest) { v.facts.Vault.Open = false }},
		"foreign relay":       {lp.CheckVaultOpen, func(v *spvTest) { v.facts.Vault.OurRelay = false }},
		"confirmations":       {spares(lp.CheckConfirmations), func(v *spvTest) { v.facts.Vault.Confirmations = 7 }},
		"worthless token":     {lp.CheckVaultTokens, func(v *spvTest) { v.facts.Vault.Tokens[0] = "0xcc" }},
		"worthless gas":       {lp.CheckVaultTokens, func(v *spvTest) { v.facts.Vault.Tokens[1] = "0xcc" }},
		"asks for more":       {lp.CheckRequested, func(v *spvTest) { v.want.Amount = n(99_999) }},
		"inputs nobody sent":  {lp.CheckInputs, func(v *spvTest) { v.got.UsedInputsOfRequest = true }},
		"gas unasked":         {lp.CheckGas, func(v *spvTest) { v.want.GasAmount = nil }},
		"less gas":            {lp.CheckGas, func(v *spvTest) { v.got.TotalGas = wei(4979) }},
		"units coarse":        {lp.CheckMultiplier, func(v *spvTest) { v.facts.Vault.Multipliers[0] = n(7) }},
		"no units":            {lp.CheckMultiplier, func(v *spvTest) { v.facts.Vault.Multipliers[0] = n(0) }},
		"output unknown":      {spares(lp.CheckUTXO), func(v *spvTest) { v.facts.Output = nil }},
		"output unconfirmed":  {spares(lp.CheckUTXO), func(v *spvTest) { v.facts.Output.Confirmations = 0 }},
		"output of a user":    {lp.CheckUTXO, func(v *spvTest) { v.facts.Output.Msg.TxOut[0].PkScript = []byte{0, 20} }},
		"output spent":        {spares(lp.CheckUTXOSpent), func(v *spvTest) { v.facts.Spend = bitcoin.SpentInMempool }},
		"output not known":    {spares(lp.CheckUTXOSpent), func(v *spvTest) { v.facts.Spend = bitcoin.SpendUnknown }},
		"unrelated output":    {spares(lp.CheckVaultPending), func(v *spvTest) { v.facts.Trace = errors.New("does not lead there") }},
		"three pending":       {spares(lp.CheckVaultPending), func(v *spvTest) { pending(v, 3, [2]uint64{}) }},
		"chain broken":        {spares(lp.CheckVaultBalance), func(v *spvTest) { v.facts.Vault.UTXO = bitcoin.OutPoint{Hash: bitcoin.Hash{9}} }},
		"covers no share":     {spares(lp.CheckVaultBalance), func(v *spvTest) { v.facts.Vault.Raw[0]-- }},
		"covers no gas share": {spares(lp.CheckVaultBalance), func(v *spvTest) { v.facts.Vault.Raw[1]-- }},
		"pending takes it":    {spares(lp.CheckVaultBalance), func(v *spvTest) { pending(v, 1, [2]uint64{1, 0}) }},
		"contract reverts":    {spares(lp.CheckVaultWithdrawal), func(v *spvTest) { v.facts.Parse = errors.New("reverted") }},
	})
	v := honest()
	pending(&v, 2, [2]uint64{0, 0})
	if err := v.verify(); err != nil {
		t.Errorf("two pending withdrawals: %v", err)
	}
	for name, spoil := range map[string]func(*spvTest){
		"spent meanwhile": func(v *spvTest) { v.facts.Spend = bitcoin.SpentInMempool },
		"clock":           func(v *spvTest) { v.got.Expiry = noon.Unix() - 1 },
		"our node":        func(v *spvTest) { v.facts.Parse = errors.New("no connection") },
	} {
		v := honest()
		spoil(&v)
		if err := v.verify(); err == nil || lp.Punishable(err) {
			t.Errorf("%s: %v is punished", name, err)
		}
	}
}

// Swapping a whole wallet: the amount is what the inputs leave at the rate that
// counts.
func TestSPVWholeWallet(t *testing.T) {
	// Coins that cost 68 vB each at 3 sats/vB, a third that is not worth it. The
	// rest of the transaction has 10.5 + 100.75 + 9+2+36 + 31 vB, so 190.
	v := honestSPV(t)
	v.got.UsedInputsOfRequest = true
	v.want.InputFeeRate, v.want.DataLen = 3, 36
	v.want.Inputs = []lp.InputCost{{Value: 60_000, VSize: 68}, {Value: 41_041, VSize: 68, CPFP: &lp.CPFP{EffectiveVSize: 62.5, EffectiveFeeRate: 1}}, {Value: 203, VSize: 68}}
	left := int64(60_000 + 41_041 - 2*68*3 - 125 - 190*3)
	v.want.Inputs[0].Value += 100_000 - left
	if err := v.verify(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(v *spvTest){
		"a sat more": func(v *spvTest) { v.want.Inputs[0].Value++ },
		"LP's rate":  func(v *spvTest) { v.want.InputFeeRate = 1 }, // 2 counts then
		"our rate":   func(v *spvTest) { v.want.InputFeeRate = 4 },
		"other data": func(v *spvTest) { v.want.DataLen = 28 },
	} {
		v := v
		v.want.Inputs = append([]lp.InputCost(nil), v.want.Inputs...)
		spoil(&v)
		t.Run(name, func(t *testing.T) { lied(t, lp.CheckRequested, v.verify()) })
	}
	for _, coins := range [][]lp.InputCost{nil, {{Value: 100, VSize: 68}}, {{Value: 700, VSize: 68}}} {
		for _, left := range wholeWallet(coins, 28, 3) {
			if left.Sign() != 0 {
				t.Errorf("%v leave %s", coins, left)
			}
		}
	}
	short, long := wholeWallet([]lp.InputCost{{Value: 1e6}}, 75, 1), wholeWallet([]lp.InputCost{{Value: 1e6}}, 76, 1)
	for i := range short {
		if bigs.Sub(short[i], long[i]).Int64() != 2 {
			t.Errorf("%s with 75 bytes of data, %s with 76", short[i], long[i])
		}
	}
}

// Older and newer LPs round once, in different places (protocol: lp-next.md).
func TestWholeWalletOfBothVersions(t *testing.T) {
	parents := &lp.CPFP{EffectiveVSize: 141, EffectiveFeeRate: 1}
	// With 28 bytes of data the rest of a transaction has 181.25 vB, so 182.
	for _, at := range []struct {
		rate         float64
		coins        []lp.InputCost
		older, newer int64
	}{
		{1.7, []lp.InputCost{{Value: 100_000, VSize: 68}, {Value: 200_000, VSize: 57.5}}, 300_000 - 523, 300_000 - 522}, // 213.35 + 309.4; 307 * 1.7 = 521.9
		{2, []lp.InputCost{{Value: 100_000, VSize: 68}}, 100_000 - 500, 100_000 - 500},
		{1.7, []lp.InputCost{{Value: 100_000, VSize: 68, CPFP: parents}}, 100_000 - 524, 100_000 - 524}, // 115.6 + 99 + 309.4; 250 * 1.7 + 99
		{1.1, []lp.InputCost{{Value: 100_000, VSize: 68.25}, {Value: 100_000, VSize: 68.25}}, 200_000 - 351, 200_000 - 350},
	} {
		got := wholeWallet(at.coins, 28, at.rate)
		if got[0].Int64() != at.older || got[1].Int64() != at.newer {
			t.Errorf("%v sats/vB: %s and %s are left, want %d and %d", at.rate, got[0], got[1], at.older, at.newer)
		}
		for i, left := range got {
			v := honestSPV(t)
			v.got.UsedInputsOfRequest, v.got.BTCFeeRate = true, 1
			v.want.InputFeeRate, v.want.DataLen, v.want.Inputs = at.rate, 28, append([]lp.InputCost(nil), at.coins...)
			v.want.Inputs[len(at.coins)-1].Value += 100_000 - left.Int64()
			if err := v.verify(); err != nil {
				t.Errorf("version %d at %v sats/vB: %v", i, at.rate, err)
			}
		}
	}
}

func TestLiesTrusted(t *testing.T) {
	regtest := &chaincfg.RegressionNetParams
	type lnTest struct {
		want Agreed
		got  lp.TrustedLNQuote
	}
	gas := agreed(wei(9600), false)
	gas.Token = gasCoin
	lies(t, func() lnTest {
		return lnTest{gas, lp.TrustedLNQuote{Invoice: invoice(t, regtest, payHash, 9_640_000), SwapFee: wei(38), SwapFeeSats: n(38), Total: wei(9600)}}
	}, func(v lnTest) error { _, err := TrustedLN(v.want, bitcoin.Regtest, v.got); return err }, map[string]lie[lnTest]{
		"less":               {lp.CheckRequested, func(v *lnTest) { v.got.Total = wei(9599) }},
		"negative":           {lp.CheckNumbers, func(v *lnTest) { v.got.SwapFeeSats = n(-1) }},
		"no amount":          {lp.CheckInvoice, func(v *lnTest) { v.got.Invoice = invoice(t, regtest, payHash, 0) }},
		"invoice of mainnet": {lp.CheckInvoice, func(v *lnTest) { v.got.Invoice = invoice(t, &chaincfg.MainNetParams, payHash, 9_640_000) }},
		"garbage":            {lp.CheckInvoice, func(v *lnTest) { v.got.Invoice = "x" }},
		"expired":            {spares(lp.CheckQuoteExpiry), func(v *lnTest) { v.want.Now = noon.Add(2 * time.Hour) }},
		"fee":                {spares(lp.CheckFee), func(v *lnTest) { v.got.SwapFeeSats = n(50) }},
		"price":              {lp.CheckPrice, func(v *lnTest) { v.got.Invoice = invoice(t, regtest, payHash, 9_800_000) }},
	})
	type btcTest struct {
		want Agreed
		got  lp.TrustedBTCQuote
	}
	unknown := gas
	unknown.BaseFee, unknown.FeePPM = nil, nil // an LP that announces nothing: 10 sats and 1 %
	lies(t, func() btcTest {
		return btcTest{unknown, lp.TrustedBTCQuote{BTCAddress: regtestAddress(t, bitcoin.P2WPKH, 20).String(), AmountSats: n(9700), SwapFeeSats: n(100), SwapFee: wei(100),
			Total: wei(9600), Sequence: n(0), ExpiresAt: noon.UnixMilli() + 1}}
	}, func(v btcTest) error { _, err := TrustedBTC(v.want, bitcoin.Regtest, v.got); return err }, map[string]lie[btcTest]{
		"less":          {lp.CheckRequested, func(v *btcTest) { v.got.Total = wei(9599) }},
		"more than all": {lp.CheckNumbers, func(v *btcTest) { v.got.AmountSats = n(rawtx.MaxMoney + 1) }},
		"missing":       {lp.CheckNumbers, func(v *btcTest) { v.got.Sequence = nil }},
		"address":       {lp.CheckAddress, func(v *btcTest) { v.got.BTCAddress = "x" }},
		"expired":       {spares(lp.CheckQuoteExpiry), func(v *btcTest) { v.got.ExpiresAt = noon.UnixMilli() }},
		"fee":           {spares(lp.CheckFee), func(v *btcTest) { v.got.SwapFeeSats = n(120) }},
		"price":         {lp.CheckPrice, func(v *btcTest) { v.got.AmountSats = n(9900) }},
	})
}

func TestLiesDelivered(t *testing.T) {
	v := honestToBTC()
	escrow := v.data
	escrow.PayIn, escrow.PayOut, escrow.Expiry, escrow.SecurityDeposit, escrow.Sequence = false, true, 0, "10", "0"
	agreedOn := trial.Must(escrow.escrow())(t)
	type deliveredTest struct {
		data   standData
		fact   chains.EscrowFact
		legacy bool
		auth   Authorized
	}
	for _, legacy := range []bool{false, true} {
		table := map[string]lie[deliveredTest]{
			"not the escrow": {lp.CheckEscrow, func(v *deliveredTest) { v.data.Claimer = "0xdd" }},
			"less":           {lp.CheckEscrow, func(v *deliveredTest) { v.data.Amount = "1" }},
			"dearer deposit": {lp.CheckEscrow, func(v *deliveredTest) { v.data.SecurityDeposit = "11" }},
			"garbage":        {lp.CheckEscrow, func(v *deliveredTest) { v.data.Amount = "x" }},
		}
		if legacy {
			table["a second less"] = lie[deliveredTest]{lp.CheckTooLate, func(v *deliveredTest) { v.data.Expiry-- }}
			table["late by chain"] = lie[deliveredTest]{lp.CheckTooLate, func(v *deliveredTest) { v.fact.Head.Time = noon.Unix() + 1 }}
			table["refunded before"] = lie[deliveredTest]{lp.CheckCommitted, func(v *deliveredTest) { v.fact.State = chains.EscrowRefunded }}
			table["claimed before"] = lie[deliveredTest]{lp.CheckCommitted, func(v *deliveredTest) { v.fact.State = chains.EscrowClaimed }}
			table["opened before"] = lie[deliveredTest]{lp.CheckCommitted, func(v *deliveredTest) { v.fact.State = chains.EscrowOpen }}
			table["forged"] = lie[deliveredTest]{lp.CheckAuth, func(v *deliveredTest) { v.auth.Err = &chains.AuthError{Reason: "forged"} }}
		} else {
			table["smaller deposit"] = lie[deliveredTest]{lp.CheckEscrow, func(v *deliveredTest) { v.data.SecurityDeposit = "9" }}
		}
		lies(t, func() deliveredTest {
			d := escrow
			d.Expiry = noon.Unix() + int64(lp.DutySign.Margin()/time.Second)
			return deliveredTest{d, chains.EscrowFact{}, legacy, goodAuth}
		}, func(v deliveredTest) error {
			data, _ := json.Marshal(v.data)
			e, err := Delivered(standIn{}, agreedOn, data, v.legacy)
			if err != nil || !v.legacy {
				return err
			}
			return lp.Openable(e, v.fact, v.auth.Err, noon)
		}, table)
	}
}

func TestLiesPayout(t *testing.T) {
	e := chains.Escrow{Kind: chains.HTLC, ClaimHash: standIn{}.hash(chains.Condition{Kind: chains.HTLC, PaymentHash: payHash})}
	if err := Secret(standIn{}, e, preimage[:]); err != nil {
		t.Error(err)
	}
	lied(t, lp.CheckSecret, Secret(standIn{}, e, payHash[:]))
	lied(t, lp.CheckSecret, Secret(standIn{}, e, nil))
	lied(t, lp.CheckSecret, Secret(standIn{}, e, append(preimage[:], 0)))

	tx := wire.NewMsgTx(2)
	tx.LockTime = 500_000_000 + 1_000_000
	tx.AddTxIn(&wire.TxIn{Sequence: 0xFE000000 | 77})
	tx.AddTxOut(wire.NewTxOut(5, []byte{1}))
	tx.AddTxOut(wire.NewTxOut(1000, []byte{0, 20}))
	nonce := uint64(1_000_000)<<24 | 77
	paid := chains.Escrow{Kind: chains.OnchainNonced, ClaimHash: standIn{}.hash(chains.Condition{Kind: chains.OnchainNonced, Script: []byte{0, 20}, Sats: 1000, Nonce: nonce, Confirmations: 2})}
	if p, err := PayoutTx(standIn{}, paid, tx, 0, 2); err != nil || p.Vout != 1 || p.Nonce != nonce || p.Sats != 1000 {
		t.Errorf("%+v, %v", p, err)
	}
	for name, spoil := range map[string]func(*wire.MsgTx){
		"less":           func(tx *wire.MsgTx) { tx.TxOut[1].Value-- },
		"to another":     func(tx *wire.MsgTx) { tx.TxOut[1].PkScript = []byte{0, 32} },
		"another swap's": func(tx *wire.MsgTx) { tx.TxIn[0].Sequence++ },
	} {
		bad := tx.Copy()
		spoil(bad)
		_, err := PayoutTx(standIn{}, paid, bad, 0, 2)
		t.Run(name, func(t *testing.T) { lied(t, lp.CheckPayout, err) })
	}
}

// Every check has been fed the lie that it is there to catch.
func TestEveryCheckCatchesItsLie(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"to bitcoin": TestLiesToBTC, "to lightning": TestLiesToBTCLN, "from bitcoin": TestLiesFromBTC, "from lightning": TestLiesFromBTCLN,
		"from lightning, opened by the LP": TestLiesFromBTCLNAuto, "vault": TestLiesSPV, "fees": TestAnnouncedFeesAreBounded, "watchtowers": TestPriceOfVaultSwapsCountsTheWatchtowersShare, "trusted": TestLiesTrusted, "delivered": TestLiesDelivered, "payout": TestLiesPayout,
	} {
		t.Run(name, test)
	}
	all := flowtest.Checks(t)
	for _, c := range all {
		if !seen[lp.Check(c)] {
			t.Errorf("no test feeds %q its lie", c)
		}
	}
	if len(all) < 40 {
		t.Errorf("found %d checks only", len(all))
	}
}
