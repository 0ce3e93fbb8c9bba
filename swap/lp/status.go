// Package lp talks to liquidity providers: it finds them, asks them for quotes,
// verifies every claim that they make, and follows up.
//
// A liquidity provider is an adversary: nothing that it says is shown or acted
// on before it has been checked against something that it does not control.
package lp

import (
	"encoding/json"
	"math/big"

	"github.com/swapper-go/swapper/chains"
)

// StatusQuery asks an LP how a swap stands.
type StatusQuery struct {
	URL      string // of the LP with the service's path, as stored with the swap: https://lp/tobtc
	Endpoint string // one of the Get... constants
	ID       string // payment hash, claim hash or escrow hash in hex: what the endpoint calls paymentHash
	Sequence *big.Int
}

// Endpoints of a [StatusQuery].
const (
	GetRefundAuthorization = "getRefundAuthorization"
	GetInvoiceStatus       = "getInvoiceStatus"
	GetInvoicePaymentAuth  = "getInvoicePaymentAuth"
	GetAddressStatus       = "getAddressStatus"
)

// Status is an LP's answer, decoded but not believed.
type Status struct {
	Code    int
	Message string

	Auth   *chains.Auth    // authorisation to open or to refund
	Escrow json.RawMessage // escrow data that it opened or is about to open
	Secret []byte          // preimage that it claims to have paid for
	TxID   string          // transaction that it claims to have sent: Bitcoin in display order, or the smart chain's
}

// Codes of a [Status] (protocol: lp-protocol.md §4.2).
const (
	CodeDone          = 10000 // held, paid, or an authorisation
	CodeExpired       = 10001
	CodeSettled       = 10002
	CodeUnpaid        = 10003
	CodeCommitted     = 10004
	CodeClaimed       = 10005
	CodeGasUnpaid     = 10010
	CodeGasReceived   = 10011
	CodeGasSent       = 10012
	CodeRefund        = 20000 // may be refunded early
	CodePaid          = 20006
	CodeNotFound      = 20007
	CodeProcessing    = 20008
	CodeRefundExpired = 20010
)
