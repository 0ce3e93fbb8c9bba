package lp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsInfoServer(t *testing.T) {
	t.Parallel()
	vectors.Each(t, "lp-protocol", "info-server", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Body   json.RawMessage
			Query  map[string]string
			Config struct {
				EVMPrivateKey hexutil.Bytes
				EVMChainID    uint64
				Tokens        map[string]string
			}
		}
		c.Input(t, &in)
		key := trial.Must(crypto.ToECDSA(in.Config.EVMPrivateKey))(t)
		// The services of the reference's run; only keys and tokens vary.
		tokens := in.Config.Tokens
		services := []service{
			{"TO_BTC", Terms{150, 3000, 10_000, 5_000_000}, toBTCData(), object{{"CITREA", []string{tokens["A"], tokens["B"]}}, {"SOLANA", []string{}}}},
			{"FROM_BTC_TRUSTED", Terms{10, 10_000, 1, 2}, object{}, object{{"CITREA", []string{tokens["C"]}}}},
		}
		claims := []claim{
			{"CITREA", crypto.PubkeyToAddress(key.PublicKey).Hex(), "v1", func(envelope []byte) (string, error) {
				digest := wire.Network{ChainID: in.Config.EVMChainID}.DataDigest(envelope)
				sig, err := crypto.Sign(digest[:], key)
				if err == nil {
					sig[64] += 27
				}
				return hexutil.Encode(sig), err
			}},
			{"OTHER", "addr", "v2", func(envelope []byte) (string, error) {
				h := sha256.Sum256(envelope)
				return "sig:" + hex.EncodeToString(h[:]), nil
			}},
		}
		q := url.Values{}
		for name, value := range in.Query {
			q.Set(name, value)
		}
		method := http.MethodPost
		if isNull(in.Body) {
			method, in.Body = http.MethodGet, nil
		}
		w := httptest.NewRecorder()
		serveInfo(func() info { return info{services, claims} }, nil)(w, httptest.NewRequest(method, "/info?"+q.Encode(), bytes.NewReader(in.Body)))
		vectors.SameJSON(t, c.Want(t), object{{"status", w.Code}, {"body", json.RawMessage(w.Body.Bytes())}})
	})
}
