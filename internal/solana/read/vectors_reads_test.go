package read

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strconv"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// What LPs have in the program, and what wallets can spend.
func TestVectorsFunds(t *testing.T) {
	vectors.Load(t, "chain-solana", "accounts").Of(t, "userAccount", "walletBalance").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Version, User, Mint, Token, Owner string
			Data                                  *string
			Lamports, ATAAmount                   *json.Number
		}
		c.Input(t, &in)
		var want map[string]json.RawMessage
		c.Expected(t, &want)
		s := newStub(t)
		now := time.Unix(s.clock.Unix, 0)
		if in.Fn == "walletBalance" {
			l := s.ledger(now)
			owner, mint := key(t, in.Owner), key(t, in.Token)
			if in.Lamports != nil {
				s.accounts[owner] = wire.AccountReply{Owner: wire.SystemProgram, Lamports: number(t, *in.Lamports)}
			}
			if in.ATAAmount != nil {
				s.accounts[wire.ATA(owner, mint)] = wire.AccountReply{Owner: wire.TokenProgram, Lamports: 1, Data: wire.TokenAccount{Mint: mint, Owner: owner, Amount: number(t, *in.ATAAmount)}.Bytes()}
			}
			w := trial.Must(l.Wallet(t.Context(), owner, mint))(t)
			vectors.SameJSON(t, mustJSON(t, want), map[string]string{"balance": w.Balance(mint).String()})
			return
		}
		r := s.reader(in.Version, now)
		user, mint := wire.Key{1}, wire.Key{2}
		if in.User != "" {
			user, mint = key(t, in.User), key(t, in.Mint)
		}
		if in.Data != nil {
			s.accounts[r.Programs.UserVault(user, mint)] = wire.AccountReply{Owner: r.Programs.Swap, Lamports: 1, Data: vectors.Unhex(t, *in.Data)}
		}
		f := trial.Must(r.Funds(t.Context(), user, mint))(t)
		if string(want["data"]) == "null" { // there is none
			vectors.SameJSON(t, mustJSON(t, want), map[string]any{"data": nil, "balance": f.Balance.String()})
			return
		}
		var kinds []map[string]string
		for kind := chains.HTLC; kind <= chains.OnchainTxID; kind++ {
			k := f.Reputation[kind]
			u := func(n uint64) string { return strconv.FormatUint(n, 10) }
			kinds = append(kinds, map[string]string{"successVolume": k.SuccessVolume.String(), "successCount": u(k.Successes), "failVolume": k.FailureVolume.String(),
				"failCount": u(k.Failures), "coopCloseVolume": k.CoopCloseVolume.String(), "coopCloseCount": u(k.CoopCloses)})
		}
		vectors.SameJSON(t, mustJSON(t, want), map[string]any{"balance": f.Balance.String(), "inContractBalance": f.Balance.String(), "reputationByKind": kinds})
	})
}

func number(t testing.TB, n json.Number) uint64 {
	t.Helper()
	return trial.Must(strconv.ParseUint(n.String(), 10, 64))(t)
}

// Stored headers, by their block, and the tip.
func TestVectorsRelay(t *testing.T) {
	vectors.Load(t, "chain-solana", "btcrelay").Of(t, "retrieveLog", "tip").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Blockhash, MainStateHead, Topic string
			RequiredBlockheight                 uint32
			MainStateCommitments                map[string]string
			Transaction                         struct {
				Signature string
				Slot      uint64
				Logs      []string
			}
		}
		c.Input(t, &in)
		var want map[string]json.RawMessage
		c.Expected(t, &want)
		delete(want, "calls")
		s := newStub(t)
		r := s.reader(wire.V1, time.Unix(s.clock.Unix, 0))
		if in.Fn == "tip" {
			_, err := r.Relay(t.Context())
			if !errors.Is(err, wire.ErrAbsent) {
				t.Error(err)
			}
			vectors.SameJSON(t, mustJSON(t, want), map[string]any{"tip": nil})
			return
		}
		account := make([]byte, wire.RelayStateSpace)
		copy(account, vectors.Unhex(t, in.MainStateHead))
		for at, h := range in.MainStateCommitments {
			i := trial.Must(strconv.Atoi(at))(t)
			copy(account[128+32*i:], vectors.Unhex(t, h))
		}
		s.accounts[r.Programs.RelayState()] = wire.AccountReply{Owner: r.Programs.Relay, Lamports: 1, Data: account}
		stored := []sigJSON{{Signature: in.Transaction.Signature, Slot: in.Transaction.Slot}}
		s.history[key(t, in.Topic)], s.history[r.Programs.Relay] = stored, stored
		s.add(in.Transaction.Signature, txJSON{Slot: in.Transaction.Slot, BlockTime: 1, Logs: in.Transaction.Logs})
		block := trial.Must(bitcoin.ParseHash(in.Blockhash))(t)
		state, header := trial.Must2(r.Header(t.Context(), block))(t)
		tipHash := bitcoin.Hash(state.TipHash)
		got := map[string]any{"result": nil, "tip": map[string]any{"blockheight": state.Height, "commitHash": hex.EncodeToString(state.TipCommitment[:]),
			"blockhash": tipHash.String(), "chainWork": hex.EncodeToString(state.Work.FillBytes(make([]byte, 32)))}}
		if header != nil && state.Height >= in.RequiredBlockheight { // whoever needs confirmations looks at the height too
			got["result"] = map[string]any{"height": state.Height, "header": jsonOfStored(*header)}
		}
		delete(want, "byCommitHash") // of what a log tells; package wire reads it
		vectors.SameJSON(t, mustJSON(t, want), got)
		s.asked()
		known, cached, err := r.Header(t.Context(), block)
		if err != nil || known == nil || (cached == nil) != (header == nil) {
			t.Error(known, cached, err)
		}
		if again := s.asked(); header != nil && again != 1 {
			t.Errorf("%d round trips for a header that was read before", again)
		}
		_, latest, err := r.LatestHeader(t.Context(), func(_ context.Context, h bitcoin.Hash) (bool, error) { return h == block, nil })
		if err != nil || (latest == nil) != (header == nil) {
			t.Errorf("latest header %v, %v", latest, err)
		}
	})
}

// jsonOfStored is a stored header in the vectors.
func jsonOfStored(h wire.StoredHeader) map[string]any {
	return map[string]any{"chainWork": hex.EncodeToString(h.Work.FillBytes(make([]byte, 32))), "lastDiffAdjustment": h.LastDiffAdjustment, "blockheight": h.Header.Height,
		"prevBlockTimestamps": h.PrevTimes, "header": map[string]any{"version": uint32(h.Header.Version), "reversedPrevBlockhash": hex.EncodeToString(h.Header.PrevBlock[:]),
			"merkleRoot": hex.EncodeToString(h.Header.MerkleRoot[:]), "timestamp": h.Header.Time, "nbits": h.Header.Bits, "nonce": h.Header.Nonce}}
}

// The price of a compute unit: a service's, or that of the cheapest of some blocks.
func TestVectorsPrice(t *testing.T) {
	vectors.Load(t, "chain-solana", "fees").Of(t, "getFeeRate").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			MaxFeeMicroLamports uint64
			NumSamples, Period  int
			HeliusFeeLevel      string
			Accounts            []string
			Helius              map[string]json.RawMessage
			Slot                uint64
			Blocks              []struct {
				Slot, FeeRewardLamports uint64
				Signatures              int
			}
			RecentPrioritizationFees *string
			StaticFee                *uint64
			BribeAddress             *string
			Randoms                  []float64
		}
		c.Input(t, &in)
		s := newStub(t)
		if in.Helius != nil {
			s.methods["getPriorityFeeEstimate"] = func([]json.RawMessage) any {
				if raw, refused := in.Helius["error"]; refused {
					var e struct {
						Code    int
						Message string
					}
					s.decode(raw, &e)
					return refusal{e.Code, e.Message}
				}
				return map[string]any{"priorityFeeLevels": in.Helius}
			}
		}
		s.slots["finalized"] = in.Slot
		s.methods["getBlock"] = func(params []json.RawMessage) any {
			for _, b := range in.Blocks {
				if strconv.FormatUint(b.Slot, 10) == string(params[0]) {
					return map[string]any{"signatures": make([]string, b.Signatures), "rewards": []any{
						map[string]any{"lamports": 1, "rewardType": "Rent"}, map[string]any{"lamports": b.FeeRewardLamports, "rewardType": "Fee"}}}
				}
			}
			return refusal{-32007, "Slot was skipped"}
		}
		s.methods["getRecentPrioritizationFees"] = func([]json.RawMessage) any {
			recent := []any{}
			if in.RecentPrioritizationFees != nil { // "30 entries of 150000"
				for i := range 30 {
					recent = append(recent, map[string]any{"slot": 900 + i, "prioritizationFee": 150000})
				}
			}
			return recent
		}
		var accounts []wire.Key
		for _, a := range in.Accounts {
			accounts = append(accounts, key(t, a))
		}
		draws := in.Randoms
		l := s.ledger(time.Unix(s.clock.Unix, 0))
		policy := PricePolicy{Cap: in.MaxFeeMicroLamports, Level: in.HeliusFeeLevel, Samples: in.NumSamples, Period: in.Period, Draw: func(n int) int {
			r := draws[0]
			draws = draws[1:]
			return int(math.Floor(r * float64(n)))
		}}
		price, err := l.Price(t.Context(), policy, accounts)
		var level float64
		switch {
		case json.Unmarshal(in.Helius[in.HeliusFeeLevel], &level) == nil && level != math.Trunc(level):
			c.Differ(t, "sol-fee-fraction")
			same(t, "price", uint64(math.Ceil(level)), price)
			return
		case in.RecentPrioritizationFees != nil:
			c.Differ(t, "sol-local-fees")
			same(t, "price", uint64(150000), price)
			return
		}
		if c.Refuses(t, err) {
			return
		}
		f := wire.FeeRate{Price: price}
		if in.StaticFee != nil {
			f.Static = *in.StaticFee
		}
		if in.BribeAddress != nil {
			f.Bribe = key(t, *in.BribeAddress)
		}
		var want json.RawMessage
		c.Expected(t, &want)
		vectors.SameJSON(t, want, map[string]string{"feeRate": f.String()})
		if s.asked(); in.Helius == nil {
			// The blocks that were sampled are good for a while, and nobody has a service.
			if again, err := l.Price(t.Context(), policy, accounts); err != nil || again != price || s.asked() != 1 {
				t.Errorf("asked again: %d, %v", again, err)
			}
		}
	})
}

// A wallet that has never been used has nothing.
func TestEmptyWallet(t *testing.T) {
	s := newStub(t)
	l := s.ledger(time.Unix(s.clock.Unix, 0))
	all, err := l.wallets(t.Context(), wire.Key{1}, wire.WSOL, wire.Key{2})
	if err != nil || len(all) != 2 || all[0].Balance(wire.WSOL).Cmp(new(big.Int)) != 0 || all[1].Token != nil {
		t.Errorf("%+v, %v", all, err)
	}
	if n := s.asked(); n != 1 {
		t.Errorf("%d round trips", n)
	}
	// Lamports that somebody sent to the address of a token account make none.
	s.accounts[wire.ATA(wire.Key{1}, wire.WSOL)] = wire.AccountReply{Owner: wire.SystemProgram, Lamports: 5}
	if w, err := l.Wallet(t.Context(), wire.Key{1}, wire.WSOL); err != nil || w.Token != nil {
		t.Errorf("%+v, %v", w, err)
	}
}
