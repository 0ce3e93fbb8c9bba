package wire

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsClaimHash(t *testing.T) {
	vectors.Each(t, "chain-evm", "claimhash", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, BtcRelay, PaymentHash, TxID, OutputScript string
			Amount, Nonce                                 *uint64 `json:",string"`
			Confirmations                                 uint32
		}
		c.Input(t, &in)
		want := c.Want(t)
		relay := common.HexToAddress(in.BtcRelay)
		var got map[string]string
		var failed error
		switch in.Fn {
		case "htlc":
			b, err := hexBytes("0x"+in.PaymentHash, 32)
			got, failed = map[string]string{"claimData": hex.EncodeToString(b)}, err
		case "txid":
			txid, err := bitcoin.ParseHash(in.TxID)
			data := ClaimDataTxID(txid, in.Confirmations, relay)
			got, failed = map[string]string{"claimData": hex.EncodeToString(data[:])}, err
		case "output":
			script, nonce := unhex(t, in.OutputScript), uint64(0)
			if in.Nonce != nil {
				nonce = *in.Nonce
			}
			data := ClaimDataOutput(script, *in.Amount, nonce, in.Confirmations, relay)
			// Extra data has room for 16 bits of the confirmations.
			got = map[string]string{"claimData": hex.EncodeToString(data[:]),
				"extraData": hex.EncodeToString(ExtraData(script, *in.Amount, nonce, uint16(in.Confirmations)))}
		default:
			t.Fatalf("unknown function %s", in.Fn)
		}
		if vectors.Refused(want) {
			if failed == nil {
				t.Error("accepted")
			}
			return
		}
		if failed != nil {
			t.Fatal(failed)
		}
		vectors.SameJSON(t, want, got)
	})
}

// The Solana half of the file is tested with that chain.
func TestVectorsBitcoinClaimHashes(t *testing.T) {
	vectors.Each(t, "bitcoin", "claim_hashes", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Script, EVMRelay  string
			AmountSats, Nonce *uint64 `json:",string"`
			Confirmations     uint32
		}
		c.Input(t, &in)
		var want struct{ EVMClaimHash, EVMExtraData string }
		c.Expected(t, &want)
		script, nonce := unhex(t, in.Script), uint64(0)
		if in.Nonce != nil {
			nonce = *in.Nonce
		}
		claim := ClaimDataOutput(script, *in.AmountSats, nonce, in.Confirmations, common.HexToAddress(in.EVMRelay))
		if got := hex.EncodeToString(claim[:]); got != want.EVMClaimHash {
			t.Errorf("claim hash: got %s, want %s", got, want.EVMClaimHash)
		}
		if got := hex.EncodeToString(ExtraData(script, *in.AmountSats, nonce, uint16(in.Confirmations))); got != want.EVMExtraData {
			t.Errorf("extra data: got %s, want %s", got, want.EVMExtraData)
		}
	})
}

func TestVectorsBtcRelay(t *testing.T) {
	type header struct {
		Version                       uint32
		PreviousBlockhash, MerkleRoot string
		Timestamp, Nbits, Nonce       uint32
	}
	type block struct {
		Version      uint32
		Prev, Merkle string
		Time, Nbits  uint32
		Nonce        uint32
		Hash         string
		Height       uint32
	}
	vectors.Each(t, "chain-evm", "btcrelay", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Bytes, Chain, Sender, StoredHeader, FeeRate, MainTipWork string
			Nonce                                                        uint64
			Header                                                       header
			ChainWork                                                    json.Number
			BlockHeight, LastDiffAdjustment                              uint32
			PrevBlockTimestamps                                          []uint32
			Blocks                                                       []block
			ForkID                                                       *uint64
		}
		c.Input(t, &in)
		want := c.Want(t)
		switch in.Fn {
		case "header":
			h := parseFields(t, in.Header.Version, in.Header.PreviousBlockhash, in.Header.MerkleRoot, in.Header.Timestamp, in.Header.Nbits, in.Header.Nonce)
			full, compact, hash := h.Bytes(), Compact(h), h.Hash()
			target := trial.Must(rawtx.Target(h.Bits &^ targetSign))(t)
			back, err := compact.On(h.PrevBlock, 0)
			if err != nil || back != h {
				t.Errorf("compact form read back as %v, %v", back, err)
			}
			vectors.SameJSON(t, want, map[string]string{"full80": hex.EncodeToString(full[:]), "compact48": hex.EncodeToString(compact[:]),
				"hash": hex.EncodeToString(hash[:]), "chainwork": word(rawtx.Work(h.Bits &^ targetSign)), "target": word(target)})
		case "stored":
			h := parseFields(t, in.Header.Version, in.Header.PreviousBlockhash, in.Header.MerkleRoot, in.Header.Timestamp, in.Header.Nbits, in.Header.Nonce)
			full := h.Bytes()
			raw := append([]byte(nil), full[:]...)
			work := bigOf(t, in.ChainWork.String())
			raw = append(raw, work.FillBytes(make([]byte, 32))...)
			for _, n := range append([]uint32{in.BlockHeight, in.LastDiffAdjustment}, in.PrevBlockTimestamps...) {
				raw = binary.BigEndian.AppendUint32(raw, n)
			}
			s := StoredHeader(raw)
			var e struct {
				Next []struct{ Compact48 string }
			}
			c.Expected(t, &e)
			next := []any{}
			last := s
			for _, n := range e.Next {
				last = trial.Must(last.Next(CompactHeader(unhex(t, n.Compact48))))(t)
				next = append(next, map[string]any{"compact48": n.Compact48, "serialized": hex.EncodeToString(last[:]),
					"commitHash": last.CommitHash(), "blockHash": last.Header().Hash().String(), "blockHeight": last.Height(),
					"chainWork": word(last.ChainWork()), "lastDiffAdjustment": last.LastAdjustment(), "prevBlockTimestamps": previousTimes(last)})
			}
			words := []string{}
			for _, w := range s.words() {
				words = append(words, "0x"+hex.EncodeToString(w[:]))
			}
			vectors.SameJSON(t, want, map[string]any{"serialized": hex.EncodeToString(s[:]), "words": words, "commitHash": s.CommitHash(),
				"blockHash": s.Header().Hash().String(), "next": next})
		case "storedDeserialize":
			c.NotOurs(t, "relay-header-bytes")
		case "headerDeserialize":
			if _, err := bitcoin.ParseHeader(unhex(t, in.Bytes), 0); err == nil || !vectors.Refused(want) {
				t.Error("accepted")
			}
		case "submitmain", "submitshort", "submitfork", "submitnewFork":
			base := StoredHeader(unhex(t, in.StoredHeader))
			to := Branch{Short: in.Fn == "submitshort"}
			if in.ForkID != nil {
				to.Fork = *in.ForkID
			}
			var headers []CompactHeader
			for _, b := range in.Blocks {
				headers = append(headers, Compact(parseFields(t, b.Version, internal(t, b.Prev), internal(t, b.Merkle), b.Time, b.Nbits, b.Nonce)))
			}
			n, d := presetOf(t, in.Chain), deploymentOf(t, in.Chain)
			call, stored := trial.Must2(d.SubmitHeaders(to, base, headers))(t)
			var e struct {
				Txs              []txAnswer
				ForkIDAfter      int64
				LastStoredHeader string
				Computed         []string
			}
			c.Expected(t, &e)
			checkCalls(t, n, d, []Call{call}, e.Txs, in.Sender, "", in.FeeRate, in.Nonce)
			computed := []string{base.CommitHash().Hex()}
			for _, s := range stored {
				computed = append(computed, s.CommitHash().Hex())
			}
			last := stored[len(stored)-1]
			after := int64(to.Fork)
			switch tipWork := new(big.Int).SetBytes(unhex(t, in.MainTipWork)); {
			case in.Fn == "submitmain" || last.ChainWork().Cmp(tipWork) > 0:
				after = 0
			case to.Short:
				after = -1
			}
			if after != e.ForkIDAfter || hex.EncodeToString(last[:]) != e.LastStoredHeader || !slices.Equal(computed, e.Computed) {
				t.Errorf("after it: fork %d, header %x, commitments %v; want %+v", after, last, computed, e)
			}
		default:
			t.Fatalf("unknown function %s", in.Fn)
		}
	})
}

// previousTimes are the times of the ten blocks before, oldest first.
func previousTimes(s StoredHeader) (times [10]uint32) {
	for i := range times {
		times[i] = binary.BigEndian.Uint32(s[120+4*i:])
	}
	return times
}

func word(n *big.Int) string { return hex.EncodeToString(n.FillBytes(make([]byte, 32))) }

// parseFields builds a header from its fields, hashes as they stand in it.
func parseFields(t *testing.T, version uint32, prev, merkle string, time, bits, nonce uint32) bitcoin.Header {
	t.Helper()
	raw := binary.LittleEndian.AppendUint32(nil, version)
	raw = append(raw, unhex(t, prev)...)
	raw = append(raw, unhex(t, merkle)...)
	for _, n := range []uint32{time, bits, nonce} {
		raw = binary.LittleEndian.AppendUint32(raw, n)
	}
	return trial.Must(bitcoin.ParseHeader(raw, 0))(t)
}

// internal turns the display form of a hash into the bytes of its internal order.
func internal(t *testing.T, display string) string {
	t.Helper()
	h := trial.Must(bitcoin.ParseHash(display))(t)
	return hex.EncodeToString(h[:])
}
