package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// rpcJSON is the state of the node in the vectors.
type rpcJSON struct {
	Slots  map[string]uint64
	Blocks map[string]struct {
		Blockhash   string
		BlockHeight uint64
		BlockTime   int64
	}
	LatestBlockhash struct {
		Blockhash            string
		LastValidBlockHeight uint64
	}
	Accounts map[string]struct {
		Owner    string
		Data     string
		Lamports uint64
	}
}

// block returns the block at a slot.
func (r rpcJSON) block(t testing.TB, slot uint64) (SignedBlock, bool) {
	b, ok := r.Blocks[strconv.FormatUint(slot, 10)]
	if !ok {
		return SignedBlock{}, false
	}
	return SignedBlock{Hash(key(t, b.Blockhash)), b.BlockHeight}, true
}

// token returns the balance of a token account, nil if there is none.
func (r rpcJSON) token(t testing.TB, k Key) *uint64 {
	a := r.Accounts[k.String()]
	var owner Key
	if a.Owner != "" {
		owner = key(t, a.Owner)
	}
	account, err := DecodeTokenAccount(owner, vectors.Unhex(t, a.Data))
	if errors.Is(err, ErrAbsent) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return &account.Amount
}

type authCase struct {
	Fn, Version, Sender, FeeRate string
	Now                          int64
	Swap                         json.RawMessage
	RPC                          rpcJSON
	LPSecretKey, UserSecretKey   string
	AuthorizationTimeoutSeconds  int64
	Signature                    *authJSON
}

// verifyInit does what a client does with an authorisation that it was sent.
func verifyInit(t *testing.T, p Programs, d *SwapData, in authCase, auth *chains.Auth, prefix string, timeout int64) (Hash, error) {
	t.Helper()
	now, sender := time.UnixMilli(in.Now), key(t, in.Sender)
	needed, err := p.CheckInit(d, sender, prefix, timeout, now)
	if err != nil || !needed {
		return Hash{}, err
	}
	if auth == nil {
		return Hash{}, authError("it is missing")
	}
	a, err := ParseInitAuth(*auth)
	if err != nil {
		return Hash{}, err
	}
	if err := a.CheckSlot(in.RPC.Slots["processed"]); err != nil {
		return Hash{}, err
	}
	block, ok := in.RPC.block(t, a.Slot)
	if !ok {
		return Hash{}, errors.New("the node has no such block")
	}
	return block.Hash, p.VerifyInit(d, sender, a, feeRate(t, in.FeeRate), block.Hash)
}

func TestVectorsInitAuth(t *testing.T) {
	vectors.Each(t, "chain-solana", "init-auth", func(t *testing.T, c *vectors.Case) {
		var in authCase
		c.Input(t, &in)
		p, now := programs(in.Version), time.UnixMilli(in.Now)
		switch in.Fn {
		case "sign":
			var want struct {
				Signature             authJSON
				Message               string
				Instructions          []ixJSON
				Verify                struct{ Result string }
				AuthorizationExpiryMs int64
				IsExpired             bool
			}
			c.Expected(t, &want)
			d, f, sender := swapOf(t, in.Swap), feeRate(t, in.FeeRate), key(t, in.Sender)
			slot := in.RPC.Slots["finalized"]
			block, _ := in.RPC.block(t, slot)
			a := trial.Must(signInit(p, d, vectors.Unhex(t, in.LPSecretKey), sender, uint64(now.Unix()+in.AuthorizationTimeoutSeconds), f, slot, block.Hash))(t)
			same(t, "authorisation", want.Signature.auth(t), a.Auth())
			tx := trial.Must(p.InitTx(d, sender, a.Timeout, f))(t)
			tx.Blockhash = block.Hash
			same(t, "instructions", want.Instructions, allJSON(tx.Instructions))
			same(t, "message", want.Message, messageHex(t, tx))
			auth := a.Auth()
			got, err := verifyInit(t, p, d, in, &auth, auth.Prefix, auth.Timeout)
			if p.NeedsAuth(d, sender) {
				// The reference answers with the text of the block hash.
				same(t, "verification", want.Verify.Result, got.String())
			} else {
				same(t, "no authorisation is needed", Hash{}, got)
			}
			if err != nil {
				t.Error(err)
			}
			same(t, "usable until", want.AuthorizationExpiryMs, UsableUntil(&a, a.Timeout, in.RPC.Slots["processed"], now).UnixMilli())
			same(t, "is over", want.IsExpired, Over(&a, a.Timeout, in.RPC.Slots["finalized"], now))
		case "verify":
			var want struct {
				Verify json.RawMessage
				Expiry *struct {
					ExpiryMs          json.RawMessage
					DefinitelyExpired bool
				}
			}
			c.Expected(t, &want)
			d := swapOf(t, in.Swap)
			var auth *chains.Auth
			prefix, timeout := "", int64(0)
			if in.Signature != nil {
				a := chains.Auth{Prefix: in.Signature.Prefix, Signature: in.Signature.Signature}
				prefix = a.Prefix
				if n, err := parseNumber(in.Signature.Timeout); err == nil {
					a.Timeout, timeout = int64(n), int64(n)
				}
				if in.Signature.Signature != "" {
					auth = &a
				}
			}
			got, err := verifyInit(t, p, d, in, auth, prefix, timeout)
			if vectors.Refused(want.Verify) != (err != nil) {
				t.Errorf("%v; the reference says %s", err, want.Verify)
			}
			if err == nil {
				var result struct{ Result string }
				trial.Do(t, json.Unmarshal(want.Verify, &result))
				// The reference answers with the text of the block hash, in hex.
				text := hex.EncodeToString([]byte(got.String()))
				if got == (Hash{}) {
					text = hex.EncodeToString(got[:])
				}
				same(t, "result", result.Result, text)
			}
			if want.Expiry != nil {
				checkExpiry(t, auth, timeout, in, now, want.Expiry.ExpiryMs, want.Expiry.DefinitelyExpired)
			}
		case "prefetch":
			// Of what an LP sends ahead the slot alone is used: its block and the newest
			// slot are asked of our own node.
			type block struct {
				Blockhash   string `json:"blockhash"`
				BlockHeight uint64 `json:"blockHeight"`
				BlockTime   int64  `json:"blockTime"`
			}
			var want json.RawMessage
			c.Expected(t, &want)
			slot := in.RPC.Slots["finalized"]
			b := in.RPC.Blocks[strconv.FormatUint(slot, 10)]
			newest, ok := SlotAt{in.RPC.Slots["processed"], now, true}.Now(now)
			if !ok {
				t.Fatal("a fresh slot is too old")
			}
			vectors.SameJSON(t, want, map[string]any{
				"preFetchData": map[string]any{"block": block(b), "slot": slot, "timestamp": now.UnixMilli()},
				"verification": map[string]any{"latestSlot": map[string]any{"slot": newest, "timestamp": now.UnixMilli()}, "transactionSlot": map[string]any{"slot": slot, "blockhash": b.Blockhash}}})
		case "slotCache":
			var slots struct {
				Commitment             string
				FirstSlots, LaterSlots map[string]uint64
				ElapsedMs              int64
			}
			c.Input(t, &slots)
			var want struct {
				First, Second    uint64
				RPCCalls         int
				SlotAndTimestamp struct {
					Slot  uint64
					AgeMs int64
				}
			}
			c.Expected(t, &want)
			start := time.UnixMilli(1_700_000_000_000)
			later := start.Add(time.Duration(slots.ElapsedMs) * time.Millisecond)
			at := SlotAt{slots.FirstSlots[slots.Commitment], start, slots.Commitment != "finalized"}
			first, ok := at.Now(start)
			if !ok {
				t.Fatal("a fresh slot is too old")
			}
			same(t, "first", want.First, first)
			calls := 1
			second, ok := at.Now(later)
			if !ok {
				at = SlotAt{slots.LaterSlots[slots.Commitment], later, at.Runs}
				second, _ = at.Now(later)
				calls++
			}
			same(t, "second", want.Second, second)
			same(t, "calls", want.RPCCalls, calls)
			same(t, "kept slot", want.SlotAndTimestamp.Slot, at.Slot)
			same(t, "kept age", want.SlotAndTimestamp.AgeMs, later.Sub(at.Time).Milliseconds())
		case "slotForSignature":
			var slots struct {
				Prefetched *struct {
					Slot  uint64
					AgeMs int64
				}
				RPCProcessedSlot uint64
			}
			c.Input(t, &slots)
			var want struct{ Slot uint64 }
			c.Expected(t, &want)
			start := time.UnixMilli(1_700_000_000_000)
			got := slots.RPCProcessedSlot
			if f := slots.Prefetched; f != nil {
				if slot, ok := (SlotAt{f.Slot, start, true}).Now(start.Add(time.Duration(f.AgeMs) * time.Millisecond)); ok {
					got = slot
				}
			}
			same(t, "slot", want.Slot, got)
		case "findLatestBlock":
			c.NotRun(t, "LPs look for the block that they sign with; a client is told its slot")
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

func checkExpiry(t *testing.T, auth *chains.Auth, timeout int64, in authCase, now time.Time, wantMS json.RawMessage, over bool) {
	t.Helper()
	var a *InitAuth
	if auth != nil {
		if parsed, err := ParseInitAuth(*auth); err == nil {
			a = &parsed
		}
	}
	same(t, "definitely expired", over, Over(a, uint64(timeout), in.RPC.Slots["finalized"], now))
	if a == nil && auth != nil {
		return // a signature that is none; the reference reckons with what it finds in it
	}
	until := UsableUntil(a, uint64(timeout), in.RPC.Slots["processed"], now)
	got := int64(0)
	if !until.IsZero() {
		got = until.UnixMilli()
	}
	same(t, "usable until", string(wantMS), strconv.FormatInt(got, 10))
}

func messageHex(t testing.TB, tx *Tx) string {
	t.Helper()
	m := trial.Must(tx.Message())(t)
	raw := trial.Must(m.MarshalBinary())(t)
	return hex.EncodeToString(raw)
}

func TestVectorsRefundAuth(t *testing.T) {
	vectors.Each(t, "chain-solana", "refund-auth", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Version, ClaimerSecretKey, SecretKey, Data, PublicKey string
			Now                                                       int64
			Swap, Signature                                           json.RawMessage
			AuthorizationTimeoutSeconds                               int64
		}
		c.Input(t, &in)
		now := time.UnixMilli(in.Now)
		switch in.Fn {
		case "sign":
			var want struct {
				Signature          authJSON
				MessageHash        string
				Ed25519Instruction ixJSON
				Verify             string
			}
			c.Expected(t, &want)
			d := swapOf(t, in.Swap)
			a := trial.Must(signRefund(d, vectors.Unhex(t, in.ClaimerSecretKey), uint64(now.Unix()+in.AuthorizationTimeoutSeconds)))(t)
			same(t, "authorisation", want.Signature.auth(t), a.Auth())
			m := d.RefundMessage(a.Timeout)
			same(t, "message", want.MessageHash, hex.EncodeToString(m[:]))
			same(t, "verification", want.Verify, hex.EncodeToString(m[:]))
			same(t, "instruction", want.Ed25519Instruction, jsonOf(a.VerifyInstruction(d)))
			if got, err := d.VerifyRefund(a.Auth(), now); err != nil || got != a {
				t.Errorf("%v, %v", got, err)
			}
		case "verify":
			d := swapOf(t, in.Swap)
			var auth authJSON
			trial.Do(t, json.Unmarshal(in.Signature, &auth))
			a, err := d.VerifyRefund(auth.auth(t), now)
			if c.Refuses(t, err) {
				var refusal *chains.AuthError
				if !errors.As(err, &refusal) {
					t.Errorf("%T", err)
				}
				return
			}
			var want struct{ MessageHash string }
			c.Expected(t, &want)
			m := d.RefundMessage(a.Timeout)
			same(t, "message", want.MessageHash, hex.EncodeToString(m[:]))
		case "dataSign":
			var want struct {
				Digest, Signature, PublicKey string
				Valid                        bool
			}
			c.Expected(t, &want)
			secret := SecretKey(vectors.Unhex(t, in.SecretKey))
			digest := sha256.Sum256(vectors.Unhex(t, in.Data))
			sig := trial.Must(secret.Sign(digest[:]))(t)
			same(t, "digest", want.Digest, hex.EncodeToString(digest[:]))
			same(t, "signature", want.Signature, hex.EncodeToString(sig[:]))
			same(t, "key", want.PublicKey, secret.PublicKey().String())
			same(t, "valid", want.Valid, VerifyData(secret.PublicKey(), vectors.Unhex(t, in.Data), hex.EncodeToString(sig[:])) == nil)
		case "dataVerify":
			var text string
			trial.Do(t, json.Unmarshal(in.Signature, &text))
			err := VerifyData(key(t, in.PublicKey), vectors.Unhex(t, in.Data), text)
			var want struct {
				Valid *bool
				Error bool
			}
			c.Expected(t, &want)
			if (err == nil) != (want.Valid != nil && *want.Valid) {
				t.Errorf("%v; the reference says %+v", err, want)
			}
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}
