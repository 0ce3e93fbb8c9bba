package lp

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// StatusQuery asks an LP how a swap stands.
type StatusQuery struct {
	URL      string // of the LP with the service's path, as stored with the swap: https://lp/tobtc
	Endpoint string // one of the Get... constants
	ID       string // payment hash, claim hash or escrow hash in hex: what the endpoint calls paymentHash
	Sequence *big.Int
}

// Endpoints of a [StatusQuery] (protocol: lp-protocol.md §5.4, §5.6 to §5.10).
const (
	GetRefundAuthorization = "getRefundAuthorization"
	GetInvoiceStatus       = "getInvoiceStatus"
	GetInvoicePaymentAuth  = "getInvoicePaymentAuth"
	GetAddressStatus       = "getAddressStatus"
)

// Status is an LP's answer, decoded but not believed.
type Status struct {
	Code    int
	Message string // the LP's words, cut to a bounded length

	Auth   *chains.Auth    // authorisation to open or to refund
	Escrow json.RawMessage // escrow data that it opened or is about to open
	Secret []byte          // preimage that it claims to have paid for
	TxID   string          // transaction that it claims to have sent: Bitcoin in display order, or the smart chain's

	// Of a trusted gas swap from Bitcoin.
	AdjustedAmount *big.Int // sats that arrived; nil: not said
	AdjustedTotal  *big.Int // base units paid out for them; nil: not said
	AdjustedFee    *big.Int // base units of the fee for them; nil: not said
	AdjustedSats   *big.Int // the same in sats; nil: not said
	PayoutTxID     string   // of the smart chain; TxID is the payment then

	// Age is how long before the pass that hears it the answer was asked for; 0: by it.
	Age time.Duration
}

// Codes of a [Status] (protocol: lp-protocol.md §4.2).
const (
	CodeDone           = 10000 // held, paid, or an authorisation
	CodeExpired        = 10001
	CodeSettled        = 10002
	CodeUnpaid         = 10003
	CodeCommitted      = 10004
	codeClaimed        = 10005
	CodeGasUnpaid      = 10010
	CodeGasReceived    = 10011
	CodeGasSent        = 10012
	CodeGasPending     = 10013 // on-chain payment accepted, payout pending
	CodeGasRefunded    = 10014
	CodeGasDoubleSpent = 10015
	CodeGasRefundable  = 10016
	CodeRefundIsSet    = 10080
	CodeRefund         = 20000 // may be refunded early
	CodePaid           = 20006
	CodeNotFound       = 20007
	CodeProcessing     = 20008
	codeRefundExpired  = 20010
)

// Path returns the path of a query's endpoint below its URL. An endpoint that is none of
// the protocol is an error.
func (q StatusQuery) Path() (string, error) {
	pairs := []string{"paymentHash", q.ID}
	switch q.Endpoint {
	case GetInvoiceStatus, GetInvoicePaymentAuth:
	case GetRefundAuthorization, GetAddressStatus:
		pairs = append(pairs, "sequence", dec(q.Sequence))
	default:
		return "", fmt.Errorf("liquidity providers have no endpoint %q", q.Endpoint)
	}
	return "/" + q.Endpoint + query(pairs...), nil
}

// RefundAddressPath returns the path, below the URL of a swap, that tells the LP where an
// on-chain payment goes back to.
func RefundAddressPath(paymentHash string, sequence *big.Int, address string) string {
	return "/setRefundAddress" + query("paymentHash", paymentHash, "sequence", dec(sequence), "refundAddress", address)
}

// ReadStatus decodes the answer of the LP at url. What its code does not promise may be
// missing; what is there must have the right form.
func ReadStatus(url string, text []byte) (Status, error) {
	s, err := readStatus(text)
	if err != nil {
		return Status{}, bad(url, err)
	}
	return s, nil
}

func readStatus(text []byte) (Status, error) {
	e, err := plainEnvelope(text)
	if err != nil {
		return Status{}, err
	}
	code, ok := jsonNumber(e.code)
	if !ok || code != float64(int(code)) {
		return Status{}, errors.New("code: must be a number")
	}
	s := Status{Code: int(code)}
	message, _ := jsonString(e.msg)
	s.Message = words(message)
	if e.data == nil || string(e.data) == "null" {
		return s, nil
	}
	a := newAnswer(e.data)
	if a.has("signature") {
		auth := a.auth()
		s.Auth = &auth
	}
	if a.has("data") {
		s.Escrow = a.escrow("data")
	}
	if a.has("secret") {
		s.Secret, err = hex.DecodeString(a.str("secret"))
		if err != nil {
			a.fail("secret", "hexadecimal digits")
		}
	}
	if a.has("txId") {
		s.TxID = a.str("txId")
	}
	if a.has("scTxId") {
		s.PayoutTxID = a.str("scTxId")
	}
	if a.has("adjustedAmount") {
		s.AdjustedAmount = a.amount("adjustedAmount")
	}
	if a.has("adjustedTotal") {
		s.AdjustedTotal = a.amount("adjustedTotal")
	}
	if a.has("adjustedFee") {
		s.AdjustedFee = a.amount("adjustedFee")
	}
	if a.has("adjustedFeeSats") {
		s.AdjustedSats = a.amount("adjustedFeeSats")
	}
	if a.err != nil {
		return Status{}, a.err
	}
	return s, nil
}
