package lp

import (
	"errors"
	"io"
	"log"
	"net/http"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

func (l *LP) listen() error {
	listener, err := l.o.Network.Listen(l.o.Address)
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
	stream("/frombtc/getAddress", l.quoteFromBTC)
	stream("/frombtc_spv/getQuote", l.quoteSPV)
	stream("/frombtc_spv/postQuote", l.postSPV)
	plain("/frombtc_trusted/getAddress", l.quoteTrustedBTC)
	plain("/frombtc_trusted/getAddressStatus", l.trustedBTCStatus)
	plain("/frombtc_trusted/setRefundAddress", l.setTrustedBTCRefund)
	if l.node != nil {
		stream("/tobtcln/payInvoice", l.quoteToBTCLN)
		stream("/tobtcln/payInvoiceExactIn", l.quoteToBTCLNExactIn)
		plain("/tobtcln/getRefundAuthorization", l.refundAuthorization)
		stream("/frombtcln/createInvoice", l.quoteFromBTCLN)
		plain("/frombtcln/getInvoicePaymentAuth", l.paymentAuth)
		plain("/frombtcln/getInvoiceStatus", l.fromBTCLNStatus)
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
	// What is swapped, by chain, where a service is offered there.
	tokens := func(has func(*side) bool) object {
		all := object{}
		for _, s := range l.sides {
			if has(s) {
				var of []string
				for _, t := range s.tokens {
					of = append(of, t.Address)
				}
				all = append(all, member{s.chain(), of})
			}
		}
		return all
	}
	gas := func(has func(*side) bool) object {
		all := object{}
		for _, s := range l.sides {
			if has(s) {
				all = append(all, member{s.chain(), object{{"gasToken", s.native()}, {"max", s.gasMax.String()}}})
			}
		}
		return all
	}
	natives := object{}
	for _, s := range l.sides {
		natives = append(natives, member{s.chain(), []string{s.native()}})
	}
	need := l.times()
	services := []service{{"TO_BTC", l.terms("TO_BTC"), toBTCData(), tokens((*side).any)}}
	legacy := tokens(l.hasLegacy)
	if len(legacy) > 0 {
		services = append(services, service{"FROM_BTC", l.terms("FROM_BTC"),
			object{{"confirmations", fromBTCConfirmations}, {"cltv", fromBTCEscrowTime / blockTime}, {"timestampCltv", fromBTCEscrowTime}}, legacy})
	}
	if vaults := tokens((*side).hasVaults); len(vaults) > 0 {
		services = append(services, service{"FROM_BTC_SPV", l.terms("FROM_BTC_SPV"), object{{"gasTokens", gas((*side).hasVaults)}}, vaults})
	}
	services = append(services, service{"FROM_BTC_TRUSTED", l.terms("FROM_BTC_TRUSTED"), object{}, natives})
	if l.node != nil {
		services = append(services, service{"TO_BTCLN", l.terms("TO_BTCLN"), object{{"minCltv", need.sendCLTV}, {"minTimestampCltv", need.send}}, tokens((*side).any)})
		if len(legacy) > 0 {
			services = append(services, service{"FROM_BTCLN", l.terms("FROM_BTCLN"), object{{"minCltv", need.heldCLTV}}, legacy})
		}
		if auto := tokens((*side).opens); len(auto) > 0 {
			services = append(services, service{"FROM_BTCLN_AUTO", l.terms("FROM_BTCLN_AUTO"),
				object{{"minCltv", need.heldCLTV}, {"invoiceTimeoutSeconds", invoiceExpiry}, {"gasTokens", gas((*side).opens)}}, auto})
		}
		services = append(services, service{"FROM_BTCLN_TRUSTED", l.terms("FROM_BTCLN_TRUSTED"), object{{"minCltv", minHeldCLTV}}, natives})
	}
	var claims []claim
	for _, s := range l.sides {
		claims = append(claims, claim{s.chain(), s.address(), s.version(), func(envelope []byte) (string, error) {
			return s.signData(envelope, l.faults().StrangeInfo)
		}})
	}
	return info{services, claims}
}

func (s *side) any() bool { return true }

// hasLegacy reports whether the LP announces legacy swaps for a chain: where there
// are no vaults, or where it was told to. It serves them everywhere.
func (l *LP) hasLegacy(s *side) bool { return l.o.Legacy || !s.hasVaults() }

// newID returns 32 random bytes.
func newID(parts ...[]byte) common.Hash { return crypto.Keccak256Hash(parts...) }
