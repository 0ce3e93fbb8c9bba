package swap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/tokens"
)

// schema is the version number in every stored body. A body with a lower number
// is migrated on reading; a body with a higher number is refused. Since 2 a record may have
// an owner, which an older version would lose; a record of 1 has none and needs no migration.
const schema = 2

// Record is everything that is stored about a swap. One JSON schema serves all
// types; parts that a type does not have are nil. Only the engine modifies a
// Record read from the store.
type Record struct {
	Schema int `json:"schema"`
	Head
	Terms      Terms          `json:"terms"`
	Escrow     *EscrowPart    `json:"escrow,omitempty"`
	Lightning  *LightningPart `json:"lightning,omitempty"`
	Bitcoin    *BitcoinPart   `json:"bitcoin,omitempty"`
	Vault      *VaultPart     `json:"vault,omitempty"`
	Gas        *GasPart       `json:"gas,omitempty"`
	Submission *Submission    `json:"submission,omitempty"`
	PayoutTx   string         `json:"payoutTx,omitempty"` // with which a trusted LP says that it paid out
	Tried      map[string]Try `json:"tried,omitempty"`
	Lie        *Lie           `json:"lie,omitempty"` // of the LP, after the quote
}

// Head holds what the engine itself needs of every swap.
type Head struct {
	ID       string `json:"id"`
	Version  uint64 `json:"-"` // of the store
	Type     Type   `json:"type"`
	Chain    string `json:"chain"`
	Contract string `json:"contract"` // contract version
	State    int    `json:"state"`
	Signer   string `json:"signer"` // canonical address by which lists find it
	LP       LP     `json:"lp"`

	CreatedAt   Millis      `json:"createdAt"`
	Expiry      Millis      `json:"expiry"`        // of the quote, as shown
	Due         Millis      `json:"due,omitempty"` // next moment that is known in advance
	Ended       Millis      `json:"ended,omitempty"`
	Changed     Millis      `json:"changed,omitempty"` // when it was stored last, its place in the feed of changes; 0 in a record of before there was one
	Settled     bool        `json:"settled,omitempty"` // the end is final on its chains: nothing checks the swap any more
	NotPaid     bool        `json:"notPaid,omitempty"` // an answer from after the expiry said that nothing was paid
	Seed        chains.Seed `json:"seed"`              // of all later randomness
	From        uint64      `json:"from"`              // chain height at the quote: log searches start here
	Seen        Seen        `json:"seen"`
	Request     string      `json:"request,omitempty"`     // caller and idempotency key of createSwap, hashed: see requestKey
	RequestHash string      `json:"requestHash,omitempty"` // of the request that the key was used for
	Owner       Owner       `json:"owner,omitzero"`
	Shared      []string    `json:"shared,omitempty"`  // indexes of unique keys that another swap holds: see keys
	Problem     string      `json:"problem,omitempty"` // why the last submission or LP response failed, human-readable
	Quoted      bool        `json:"quoted,omitempty"`  // the terms were asked for and verified here, neither recovered nor imported
}

// LP identifies the liquidity provider of a swap. A recovered swap may have
// none.
type LP struct {
	URL     string `json:"url,omitempty"`     // base, without the service's path
	Address string `json:"address,omitempty"` // its verified address on the swap's chain, canonical
}

// LPURL returns the LP's URL for swaps of this type.
func (r *Record) LPURL() string { return r.LP.URL + lp.Service(r.Type).Path() }

// Millis is a time in milliseconds since the Unix epoch; 0 means never.
type Millis int64

// At converts a time to milliseconds.
func At(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Time converts m to a time.Time.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)) }

// Passed reports whether m is set and before now.
func (m Millis) Passed(now time.Time) bool { return m != 0 && now.UnixMilli() > int64(m) }

// Reached reports whether m is set and not after now.
func (m Millis) Reached(now time.Time) bool { return m != 0 && now.UnixMilli() >= int64(m) }

// Terms are fixed by the quote; they are all that lists show.
type Terms struct {
	Input         tokens.Amount  `json:"input"`
	Output        tokens.Amount  `json:"output"`
	GasDrop       *tokens.Amount `json:"gasDrop,omitempty"`
	SwapFee       tokens.Amount  `json:"swapFee"`
	NetworkFee    *tokens.Amount `json:"networkFee,omitempty"`
	Recipient     string         `json:"recipient"` // quote.outputAddress
	ExactIn       bool           `json:"exactIn"`
	Price         PriceInfo      `json:"price"`
	GasPrice      *PriceInfo     `json:"gasPrice,omitempty"`
	LongHTLC      bool           `json:"longHTLC,omitempty"`
	ShownEarlier  Millis         `json:"shownEarlier,omitempty"`
	FeeSats       *big.Int       `json:"feeSats,omitempty"`
	NetworkSats   *big.Int       `json:"networkSats,omitempty"`
	HTLCExpiry    int64          `json:"htlcExpiry,omitempty"`
	Confirmations uint32         `json:"confirmations,omitempty"`
}

// PriceInfo is the price check of the quote. Prices are micro-sats per whole
// token.
type PriceInfo struct {
	DifferencePPM *big.Int `json:"differencePPM,omitempty"`
	BaseFeeSats   *big.Int `json:"baseFeeSats,omitempty"` // announced by the LP
	FeePPM        *big.Int `json:"feePPM,omitempty"`      // announced by the LP
	Market        *big.Int `json:"market,omitempty"`      // nil if the token has no price
	Quoted        *big.Int `json:"quoted,omitempty"`
	USDPerBTC     string   `json:"usdPerBTC,omitempty"` // decimal, information only
}

// EscrowPart belongs to the types that use an escrow contract.
type EscrowPart struct {
	Expected *chains.Escrow `json:"expected,omitempty"` // built by us at the quote
	Real     *chains.Escrow `json:"real,omitempty"`     // agreed in full, or delivered by the LP and verified
	Init     *chains.Auth   `json:"init,omitempty"`     // LP's authorisation to open
	FeeRate  string         `json:"feeRate,omitempty"`  // that the authorisation covers
	Refund   *chains.Auth   `json:"refund,omitempty"`   // LP's authorisation to refund early
	InitTx   string         `json:"initTx,omitempty"`
	ClaimTx  string         `json:"claimTx,omitempty"`
	RefundTx string         `json:"refundTx,omitempty"`
	OpenedAt Millis         `json:"openedAt,omitempty"` // when it was first seen open
}

// LightningPart belongs to the types with a Lightning side.
type LightningPart struct {
	Invoice  string          `json:"invoice,omitempty"`  // empty for a recovered swap
	Hash     string          `json:"hash,omitempty"`     // payment hash, 64 hex digits
	Preimage chains.Preimage `json:"preimage,omitzero"`  // verified against Hash
	OwnHash  bool            `json:"ownHash,omitempty"`  // the caller brought the hash and has to reveal the preimage
	Revealed Millis          `json:"revealed,omitempty"` // since when the preimage may be public

	Link          string          `json:"link,omitempty"` // LNURL as the user gave it
	Withdraw      *Withdraw       `json:"withdraw,omitempty"`
	SuccessAction json.RawMessage `json:"successAction,omitempty"` // as the LNURL service sent it
	EndsAt        Millis          `json:"endsAt,omitempty"`        // after which the LP cannot have been paid any more
	NonCustodial  bool            `json:"nonCustodial,omitempty"`  // the payee is most likely a wallet that must be online
	LikelyFails   bool            `json:"likelyFails,omitempty"`   // the LP's probe found no route to the payee
}

// Withdraw is an LNURL-withdraw link, and how far its use has come.
type Withdraw struct {
	Params WithdrawParams `json:"params"`
	Asked  bool           `json:"asked,omitempty"` // the invoice is to be handed over
	Given  bool           `json:"given,omitempty"` // with the request to be paid, and not at the swap's creation
}

// WithdrawParams are what an LNURL-withdraw service must be told to pay an invoice, and
// between which amounts it does, in millisatoshis.
type WithdrawParams struct {
	K1              string `json:"k1"` // secret of this withdrawal
	Callback        string `json:"callback"`
	MinWithdrawable int64  `json:"minWithdrawable"`
	MaxWithdrawable int64  `json:"maxWithdrawable"`
	URL             string `json:"url"` // the link that was called
}

// BitcoinPart belongs to the types with an on-chain side.
type BitcoinPart struct {
	Address       string       `json:"address,omitempty"`
	Sats          uint64       `json:"sats,omitempty"`
	Nonce         uint64       `json:"nonce,omitempty"` // of an LP's payout
	Confirmations uint32       `json:"confirmations,omitempty"`
	MinerSats     int64        `json:"minerSats,omitempty"` // that the user pays miners beside Sats: an estimate until a transaction is submitted; 0: not known
	TxID          bitcoin.Hash `json:"txid,omitzero"`
	Vout          uint32       `json:"vout,omitempty"`
	Script        []byte       `json:"script,omitempty"`       // of Address, where the user pays
	SenderScript  []byte       `json:"senderScript,omitempty"` // what input 1 (vault) or 0 spends
	ConfirmedAt   Millis       `json:"confirmedAt,omitempty"`  // when enough confirmations were first seen
	Tx            []byte       `json:"tx,omitempty"`           // the user's transaction, once it is fixed
	PSBT          []byte       `json:"psbt,omitempty"`         // as posted to the LP
	Posted        bool         `json:"posted,omitempty"`       // may have left for the LP
	ByStranger    bool         `json:"byStranger,omitempty"`   // it was not the swap's owner who handed the PSBT in
	Declined      []Declined   `json:"declined,omitempty"`     // earlier PSBTs, which the LP refused
	Void          []byte       `json:"void,omitempty"`         // an earlier transaction, of which another one in a block spends an input
}

// Declined is a signed transaction that the LP refused, and that it may have all the
// same: it stays valid until one of its inputs is spent.
type Declined struct {
	TxID bitcoin.Hash `json:"txid"`
	Tx   []byte       `json:"tx"`
}

// VaultPart belongs to SPV_VAULT_FROM_BTC.
type VaultPart struct {
	QuoteID     string     `json:"quoteId"`
	Owner       string     `json:"owner"`
	VaultID     *big.Int   `json:"vaultId"`
	Multipliers [2]uint64s `json:"multipliers"`
	UTXO        string     `json:"utxo"` // txid:vout that the swap spends
	UTXOSats    int64      `json:"utxoSats"`
	Script      []byte     `json:"script"`   // of the vault's output
	LPScript    []byte     `json:"lpScript"` // of the payment to the LP
	Sats        [2]int64   `json:"sats"`     // paid for the token and for the gas
	Raw         [2]uint64  `json:"raw"`
	Shares      [3]uint32  `json:"shares"` // caller, fronting, execution; parts per 100,000
	MinFeeRate  float64    `json:"minFeeRate"`
	Deadline    Millis     `json:"deadline"` // hard end of the quote
	FrontTx     string     `json:"frontTx,omitempty"`
	ClaimTx     string     `json:"claimTx,omitempty"`
}

// GasPart belongs to a trusted gas swap from Bitcoin. What is to be paid is in
// the Bitcoin part; the terms follow what the LP says has arrived.
type GasPart struct {
	Hash     string   `json:"hash"`              // by which, with the sequence, the LP knows the swap
	Sequence *big.Int `json:"sequence"`          // chosen by the LP
	Total    *big.Int `json:"total"`             // base units agreed for the agreed sats
	FeeRate  float64  `json:"feeRate,omitempty"` // sat/vB that the LP recommends
	RefundTo string   `json:"refundTo,omitempty"`
	RefundTx string   `json:"refundTx,omitempty"` // seen on Bitcoin
	Paid     bool     `json:"paid,omitempty"`     // a payment was seen once, or the LP spoke of one
}

type uint64s = *big.Int

// Submission holds what the user signed and submitted, and how far sending it
// has progressed.
type Submission struct {
	Action  string       `json:"action"` // what it was for: init, refund, claim
	Txs     []SignedTx   `json:"txs"`
	Closed  bool         `json:"closed,omitempty"`
	Reason  string       `json:"reason,omitempty"` // why it was closed without success
	Since   Millis       `json:"since"`
	Moved   Millis       `json:"moved,omitempty"`   // when a transaction of several was confirmed last
	Missing Millis       `json:"missing,omitempty"` // since when no node knows a transaction that was sent
	Block   uint64       `json:"block,omitempty"`   // of the last transaction that is confirmed
	PSBT    bitcoin.Hash `json:"psbt,omitzero"`     // txid, for a submitted PSBT
}

// SignedTx is one submitted transaction.
type SignedTx struct {
	chains.Signed
	Sent bool `json:"sent,omitempty"` // known to be confirmed
}

// Try is the history of the attempts of one effect.
type Try struct {
	Started   Millis `json:"started,omitempty"` // the first attempt began: it may have happened
	Attempts  int    `json:"attempts,omitempty"`
	NotBefore Millis `json:"notBefore,omitempty"`
	By        string `json:"by,omitempty"`      // the process that made the last attempt, while its answer has not been stored
	Busy      Millis `json:"busy,omitempty"`    // until when that process may be making it
	Outcome   string `json:"outcome,omitempty"` // "" not known, "done", "refused"
	Reason    string `json:"reason,omitempty"`
}

// Outcomes of a [Try].
const (
	Done    = "done"
	Refused = "refused"
)

// errNewer is the error of a body written by a newer version of the library.
var errNewer = errors.New("record was written by a newer version")

// Encode returns the stored form of a record.
func (r *Record) Encode() ([]byte, error) {
	c := *r
	c.Schema = schema
	return json.Marshal(&c)
}

// Decode reads the stored form of a record. Errors do not contain the id, which
// grants access.
func Decode(id string, version uint64, body []byte) (*Record, error) {
	var r Record
	d := json.NewDecoder(bytes.NewReader(body))
	err := d.Decode(&r)
	if err != nil { // perhaps because a member has another form by now
		var head struct{ Schema int }
		if json.Unmarshal(body, &head) == nil {
			r.Schema = head.Schema
		}
	}
	if r.Schema > schema {
		return nil, fmt.Errorf("read record: %w: its schema is %d and this version reads up to %d; run the version that wrote it or a newer one, or go back to a copy of the store from before the upgrade", errNewer, r.Schema, schema)
	}
	if err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	if r.ID != id || !r.Type.Valid() {
		return nil, errors.New("read record: the record belongs to a different swap")
	}
	r.Version = version
	return &r, nil
}

// Clone returns a copy that shares nothing that a Move modifies. Escrows,
// amounts and byte slices are never modified in place, so they stay shared.
func (r *Record) Clone() *Record {
	c := *r
	c.Escrow, c.Lightning, c.Bitcoin, c.Vault, c.Gas = dup(r.Escrow), dup(r.Lightning), dup(r.Bitcoin), dup(r.Vault), dup(r.Gas)
	if c.Lightning != nil {
		c.Lightning.Withdraw = dup(c.Lightning.Withdraw)
	}
	if r.Submission != nil {
		c.Submission = dup(r.Submission)
		c.Submission.Txs = append([]SignedTx(nil), r.Submission.Txs...)
	}
	if r.Tried != nil {
		c.Tried = make(map[string]Try, len(r.Tried))
		for k, v := range r.Tried {
			c.Tried[k] = v
		}
	}
	return &c
}

func dup[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// LogValue keeps secrets out of logs, and the id too, which grants access.
func (r *Record) LogValue() slog.Value {
	return slog.GroupValue(slog.String("type", r.Type.String()), slog.Int("state", r.State))
}
