package wire

import (
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

func BenchmarkSwapDataRoundTrip(b *testing.B) {
	s := payInSwap(b, deploymentOf(b, "CITREA/MAINNET"), common.Address{1})
	text := mustJSON(b, s)
	b.ReportAllocs()
	for b.Loop() {
		parsed := trial.Must(ParseSwapData(text))(b)
		if _, err := json.Marshal(parsed); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEscrowHash(b *testing.B) {
	s := payInSwap(b, deploymentOf(b, "CITREA/MAINNET"), common.Address{1})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.EscrowHash(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifyInit(b *testing.B) {
	n, d := presetOf(b, "CITREA/MAINNET"), deploymentOf(b, "CITREA/MAINNET")
	s := payInSwap(b, d, common.HexToAddress("0x1000000000000000000000000000000000000001"))
	s.Claimer = addressOf(b, userKey)
	now := time.Unix(1_700_000_000, 0)
	dig := trial.Must(n.InitDigest(d, s, now.Unix()+600))(b)
	a := chains.Auth{Prefix: prefixInitPayIn, Timeout: now.Unix() + 600, Signature: sign(b, userKey, dig)}
	b.ReportAllocs()
	for b.Loop() {
		trial.Do(b, n.VerifyInit(d, s, a, s.Offerer, now, now.Unix()))
	}
}

func BenchmarkBuild(b *testing.B) {
	n, d := presetOf(b, "CITREA/MAINNET"), deploymentOf(b, "CITREA/MAINNET")
	user := addressOf(b, userKey)
	s := payInSwap(b, d, user)
	auth := chains.Auth{Prefix: prefixInitPayIn, Timeout: 1_900_000_000, Signature: sign(b, userKey, common.Hash{1})}
	secret := [32]byte{1}
	lock := s
	lock.ClaimData = sha256.Sum256(secret[:])
	w := mustWithdrawal(b, seedWithdrawal)
	vault := Vault{VaultRef: VaultRef{common.Address{1}, big.NewInt(7)}, Opened: true,
		Params: VaultParams{d.BtcRelay.Address, Native, Native, big.NewInt(1e10), big.NewInt(1e10), big.NewInt(2)}}
	proof := BitcoinProof{Tx: unhex(b, seedWithdrawal), Merkle: bitcoin.MerkleProof{Hashes: make([]bitcoin.Hash, 12)}}
	tx := trial.Must(rawtx.Decode(proof.Tx))(b)
	onchain := s
	onchain.ClaimHandler, onchain.Kind = d.ClaimHandlers[chains.Onchain], chains.Onchain
	onchain.ClaimData = ClaimDataOutput(tx.TxOut[0].PkScript, uint64(tx.TxOut[0].Value), 0, 0, d.BtcRelay.Address)
	rate := FeeRate{Base: big.NewInt(1e7), Priority: big.NewInt(1e5)}
	one := func(c Call, err error) ([]Call, error) { return []Call{c}, err }
	for _, c := range []struct {
		name  string
		build func() ([]Call, error)
	}{
		{"init", func() ([]Call, error) { return d.Init(s, user, auth) }},
		{"claim-secret", func() ([]Call, error) { return one(d.ClaimBySecret(lock, secret)) }},
		{"claim-bitcoin", func() ([]Call, error) { return one(d.ClaimByBitcoin(onchain, proof)) }},
		{"refund", func() ([]Call, error) { return one(d.Refund(s, time.Unix(3_000_000_000, 0))) }},
		{"refund-authorized", func() ([]Call, error) { return one(d.RefundAuthorized(s, auth)) }},
		{"vault-claim", func() ([]Call, error) { return one(d.ClaimVault(vault, w, proof, user)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				calls := trial.Must(c.build())(b)
				if _, err := n.Serialize(calls, 1, rate); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCheckSigned(b *testing.B) {
	n, d := presetOf(b, "CITREA/MAINNET"), deploymentOf(b, "CITREA/MAINNET")
	user := addressOf(b, userKey)
	calls := trial.Must(d.Init(payInSwap(b, d, user), user, anyAuth()))(b)
	texts := trial.Must(n.Serialize(calls, 1, FeeRate{Base: big.NewInt(1e7), Priority: big.NewInt(1e5)}))(b)
	signed := []string{signText(b, userKey, texts[1])}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.CheckSigned(n, user, calls, signed); err != nil {
			b.Fatal(err)
		}
	}
}
