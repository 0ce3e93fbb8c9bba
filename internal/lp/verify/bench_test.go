package verify

import (
	"bytes"
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// evmReal is the pure part of a real deployment.
type evmReal struct{ evmContract }

func (k evmReal) Expect(s chains.Spec) (chains.Escrow, error) {
	d, err := k.deployment.Expect(s)
	if err != nil {
		return chains.Escrow{}, err
	}
	return k.deployment.Escrow(d)
}

func benchAgreed(amount *big.Int, exactIn bool) (Agreed, evmReal) {
	at := func(b byte) common.Address { return common.BytesToAddress(bytes.Repeat([]byte{b}, 20)) }
	k := evmReal{evmContract{deployment: evmwire.Deployment{Version: "v1", BtcRelay: evmwire.Contract{Address: at(1)}, RefundHandler: at(2),
		ClaimHandlers: [4]common.Address{at(3), at(4), at(5), at(6)}}}}
	a := agreed(amount, exactIn)
	a.LP, a.User, a.Contract = at(7).Hex(), at(8).Hex(), k
	a.Token.Address, a.Native.Address = at(9).Hex(), common.Address{}.Hex()
	return a, k
}

func benchmark(b *testing.B, verify func() error) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		trial.Do(b, verify())
	}
}

func BenchmarkVerify(b *testing.B) {
	b.Run("ToBTC", func(b *testing.B) {
		v := honestToBTC()
		a, k := benchAgreed(v.want.Amount, false)
		v.want.Agreed = a
		e := trial.Must(k.Expect(chains.Spec{Kind: chains.OnchainNonced, Offerer: a.User, Claimer: a.LP, Token: a.Token.Address, Amount: v.got.Total, PayIn: true,
			Condition: chains.Condition{Kind: chains.OnchainNonced, Script: v.want.Script, Sats: 100_000, Nonce: 9, Confirmations: 2}, Sequence: n(5), Expiry: v.data.Expiry}))(b)
		v.got.Escrow = e.Data
		benchmark(b, func() error { _, err := ToBTC(v.want, v.got, v.auth); return err })
	})
	b.Run("ToBTCLN", func(b *testing.B) {
		a, k := benchAgreed(n(50_000), false)
		want := ToBTCLNExpected{Agreed: a, Invoice: decoded11(b, invoice(b, &chaincfg.RegressionNetParams, payHash, 50_000_000)), Expiry: noon.Unix() + 432_000, MaxRoutingSats: n(110)}
		got := lp.ToBTCLNQuote{MaxFee: n(100), SwapFee: n(160), Total: n(50_260), Confidence: 1, RoutingFeeSats: n(100)}
		e := trial.Must(k.Expect(chains.Spec{Kind: chains.HTLC, Offerer: a.User, Claimer: a.LP, Token: a.Token.Address, Amount: got.Total, PayIn: true,
			Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: payHash}, Sequence: n(5), Expiry: want.Expiry}))(b)
		got.Escrow = e.Data
		benchmark(b, func() error { _, err := ToBTCLN(want, got, goodAuth); return err })
	})
	b.Run("FromBTC", func(b *testing.B) {
		a, k := benchAgreed(n(100_000), true)
		to := regtestAddress(b, bitcoin.P2WPKH, 20)
		bounty := lp.Bounty{FeePerBlock: n(10), SafetyFactor: n(1), StartTimestamp: noon.Unix(), AddBlock: n(2), AddFee: n(500)}
		expiry := noon.Add(6 * time.Hour).Unix()
		e := trial.Must(k.Expect(chains.Spec{Kind: chains.Onchain, Offerer: a.LP, Claimer: a.User, Token: a.Token.Address, Amount: n(99_690), PayOut: true, Sequence: n(77), Expiry: expiry,
			Condition:       chains.Condition{Kind: chains.Onchain, Script: to.Script(), Sats: 100_000, Confirmations: 2},
			SecurityDeposit: wei(100), ClaimerBounty: bounty.At(expiry), DepositToken: a.Native.Address, Hints: true}))(b)
		want := FromBTCExpected{Agreed: a, Network: bitcoin.Regtest, Sequence: 77, Bounty: bounty}
		got := lp.FromBTCQuote{Amount: n(100_000), BTCAddress: to.String(), SwapFee: n(310), Total: n(99_690), Confirmations: 2, Escrow: e.Data}
		benchmark(b, func() error { _, err := FromBTC(want, got, goodAuth, n(99_690)); return err })
	})
	b.Run("FromBTCLN", func(b *testing.B) {
		a, _ := benchAgreed(n(100_000), true)
		want := FromBTCLNExpected{a, InvoiceExpected{Network: bitcoin.Regtest, PaymentHash: payHash}}
		got := lp.FromBTCLNQuote{Invoice: invoice(b, &chaincfg.RegressionNetParams, payHash, 100_000_000), SwapFee: n(310), Total: n(99_690), Address: a.LP, SecurityDeposit: wei(100)}
		benchmark(b, func() error { _, err := FromBTCLN(want, got, n(99_690), ownNode(200_000)); return err })
	})
	b.Run("FromBTCLNAuto", func(b *testing.B) {
		a, _ := benchAgreed(n(100_000), true)
		want := FromBTCLNAutoExpected{Agreed: a, InvoiceExpected: InvoiceExpected{Network: bitcoin.Regtest, PaymentHash: payHash}, GasAmount: wei(4000), Bounty: wei(985)}
		got := lp.FromBTCLNAutoQuote{Address: a.LP, Invoice: invoice(b, &chaincfg.RegressionNetParams, payHash, 100_000_000), BTCAmountSwap: n(95_000), BTCAmountGas: n(5000),
			Total: n(94_705), TotalGas: wei(4000), TotalFeeBTC: n(310), SwapFeeBTC: n(295), SwapFee: n(295), GasSwapFeeBTC: n(15), GasSwapFee: n(15), ClaimerBounty: wei(985)}
		benchmark(b, func() error { _, err := FromBTCLNAuto(want, got, n(94_705), ownNode(200_000)); return err })
	})
	b.Run("SPV", func(b *testing.B) {
		v := honestSPV(b)
		benchmark(b, func() error { _, err := SPV(v.want, v.got, v.facts); return err })
	})
	b.Run("TrustedLN", func(b *testing.B) {
		gas := agreed(wei(9600), false)
		gas.Token = gasCoin
		got := lp.TrustedLNQuote{Invoice: invoice(b, &chaincfg.RegressionNetParams, payHash, 9_640_000), SwapFee: wei(38), SwapFeeSats: n(38), Total: wei(9600)}
		benchmark(b, func() error { _, err := TrustedLN(gas, bitcoin.Regtest, got); return err })
	})
	b.Run("Delivered", func(b *testing.B) {
		a, k := benchAgreed(n(100_000), true)
		want := trial.Must(a.lightningEscrow(payHash, n(99_690), wei(100), wei(50)))(b)
		s := chains.Spec{Kind: chains.HTLC, Offerer: a.LP, Claimer: a.User, Token: a.Token.Address, Amount: n(99_690), PayOut: true, Expiry: noon.Unix() + 2400,
			Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: payHash}, SecurityDeposit: wei(100), ClaimerBounty: wei(50), DepositToken: a.Native.Address}
		e := trial.Must(k.Expect(s))(b)
		benchmark(b, func() error { _, err := Delivered(k, want, json.RawMessage(e.Data), false); return err })
	})
	b.Run("Payout", func(b *testing.B) {
		_, k := benchAgreed(n(1), true)
		tx := wire.NewMsgTx(2)
		tx.LockTime = 501_000_000
		tx.AddTxIn(&wire.TxIn{Sequence: 0xFE000000 | 77})
		tx.AddTxOut(wire.NewTxOut(1000, []byte{0, 20}))
		hash := trial.Must(k.deployment.ClaimHash(chains.Condition{Kind: chains.OnchainNonced, Script: []byte{0, 20}, Sats: 1000, Nonce: 1_000_000<<24 | 77, Confirmations: 2}))(b)
		e := chains.Escrow{Kind: chains.OnchainNonced, ClaimHash: hash[:]}
		benchmark(b, func() error {
			_, err := PayoutTx(hashing{k}, e, tx, 0, 2)
			return err
		})
	})
}

// hashing computes claim hashes of conditions for real.
type hashing struct{ evmReal }

func (k hashing) ClaimHash(c chains.Condition) ([]byte, error) {
	h, err := k.deployment.ClaimHash(c)
	return h[:], err
}
