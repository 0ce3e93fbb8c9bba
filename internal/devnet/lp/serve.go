package lp

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
)

func (l *LP) listen() error {
	address := l.o.Address
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	l.url = "http://" + listener.Addr().String()
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true) // as the network's LPs without TLS
	l.server = &http.Server{Handler: l.limited(l.sabotage(l.routes())), Protocols: &protocols, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: log.New(io.Discard, "", 0)}
	l.stopped.Go(func() {
		if err := l.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			l.mu.Lock()
			l.problems = append(l.problems, err)
			l.mu.Unlock()
		}
	})
	return nil
}

func (l *LP) routes() http.Handler {
	mux := http.NewServeMux()
	stream := func(path string, call streamedCall) {
		mux.HandleFunc("POST "+path, serveStreamed(call, bodyTime, l.mutate))
	}
	plain := func(path string, call plainCall) {
		h := servePlain(call, l.mutate)
		mux.HandleFunc("GET "+path, h)
		mux.HandleFunc("POST "+path, h)
	}
	h := serveInfo(l.info, l.mutate)
	mux.HandleFunc("GET /info", h)
	mux.HandleFunc("POST /info", h)
	stream("/tobtc/payInvoice", l.quoteToBTC)
	plain("/tobtc/getRefundAuthorization", l.refundAuthorization)
	stream("/frombtc_spv/getQuote", l.quoteSPV)
	stream("/frombtc_spv/postQuote", l.postSPV)
	plain("/frombtc_trusted/getAddress", l.quoteTrustedBTC)
	plain("/frombtc_trusted/getAddressStatus", l.trustedBTCStatus)
	plain("/frombtc_trusted/setRefundAddress", l.setTrustedBTCRefund)
	if l.node != nil {
		stream("/tobtcln/payInvoice", l.quoteToBTCLN)
		stream("/tobtcln/payInvoiceExactIn", l.quoteToBTCLNExactIn)
		plain("/tobtcln/getRefundAuthorization", l.refundAuthorization)
		stream("/frombtcln_auto/createInvoice", l.quoteAuto)
		plain("/frombtcln_auto/getInvoiceStatus", l.autoStatus)
		plain("/lnforgas/createInvoice", l.quoteTrustedLN)
		plain("/lnforgas/getInvoiceStatus", l.trustedLNStatus)
	}
	return mux
}

func toBTCData() object {
	return object{{"minCltv", minChainCLTV}, {"minConfirmations", 1}, {"maxConfirmations", 6}, {"minConfTarget", 1}, {"maxConfTarget", 12}, {"maxOutputScriptLen", 200}}
}

// info is what the LP says of itself.
func (l *LP) info() info {
	chain := l.evm.Network().Chain
	var all []string
	for _, t := range l.o.Tokens {
		all = append(all, t.Address.Hex())
	}
	tokens := object{{chain, all}}
	gas := object{{chain, object{{"gasToken", devnet.Native.Hex()}, {"max", l.o.GasMax.String()}}}}
	need := l.times()
	services := []service{{"TO_BTC", l.terms("TO_BTC"), toBTCData(), tokens}, {"FROM_BTC_SPV", l.terms("FROM_BTC_SPV"), object{{"gasTokens", gas}}, tokens},
		{"FROM_BTC_TRUSTED", l.terms("FROM_BTC_TRUSTED"), object{}, object{{chain, []string{devnet.Native.Hex()}}}}}
	if l.node != nil {
		services = append(services,
			service{"TO_BTCLN", l.terms("TO_BTCLN"), object{{"minCltv", need.sendCLTV}, {"minTimestampCltv", need.send}}, tokens},
			service{"FROM_BTCLN_AUTO", l.terms("FROM_BTCLN_AUTO"), object{{"minCltv", need.heldCLTV}, {"invoiceTimeoutSeconds", invoiceExpiry}, {"gasTokens", gas}}, tokens},
			service{"FROM_BTCLN_TRUSTED", l.terms("FROM_BTCLN_TRUSTED"), object{{"minCltv", minHeldCLTV}}, object{{chain, []string{devnet.Native.Hex()}}}})
	}
	signer := l.account
	if other := l.faults().InfoKey; other != nil {
		signer = other
	}
	return info{services, []claim{{chain, l.account.Address.Hex(), l.evm.Deployment().Version, func(envelope []byte) (string, error) {
		return signer.SignDigest(l.evm.Network().DataDigest(envelope))
	}}}}
}

// address reads an address of the EVM network.
func (r *reader) address(name string) common.Address {
	s := r.str(name)
	if r.err == nil && !common.IsHexAddress(s) {
		r.bad(name)
	}
	return common.HexToAddress(s)
}

// newID returns 32 bytes that nobody guesses.
func newID(parts ...[]byte) common.Hash { return crypto.Keccak256Hash(parts...) }
