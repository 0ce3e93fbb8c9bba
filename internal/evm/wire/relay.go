package wire

import (
	"fmt"
	"math/big"
)

// How many headers one transaction brings to the relay (protocol: bitcoin.md §16).
const (
	MainHeaders = 100 // onto the main chain, or as a fork in one transaction
	ForkHeaders = 50  // onto a fork that is kept per sender
)

// Branch is where headers are added: to the main chain, as a fork that must
// outgrow it at once, or as a fork that may grow over several transactions.
type Branch struct {
	Short bool
	Fork  uint64 // number of a lasting fork, chosen by its sender; 0 is none
}

// SubmitHeaders builds the call that adds headers, in order, on top of a stored
// header, and returns the stored headers that the relay will have after it.
func (d Deployment) SubmitHeaders(to Branch, base StoredHeader, headers []CompactHeader) (Call, []StoredHeader, error) {
	limit := MainHeaders
	if to.Fork != 0 {
		limit = ForkHeaders
	}
	if len(headers) == 0 || len(headers) > limit {
		return Call{}, nil, fmt.Errorf("one transaction has %d headers, must have 1 to %d", len(headers), limit)
	}
	payload := append([]byte(nil), base[:]...)
	stored := make([]StoredHeader, 0, len(headers))
	for _, h := range headers {
		next, err := base.Next(h)
		if err != nil {
			return Call{}, nil, err
		}
		payload = append(payload, h[:]...)
		stored = append(stored, next)
		base = next
	}
	call := Call{Role: RoleRelay, To: d.BtcRelay.Address}
	n := uint64(len(headers))
	var err error
	switch {
	case to.Fork != 0:
		call.Gas = gasRelayFork + gasRelayForkHeader*n + gasRelayForkSwitch*MainHeaders
		call.Data, err = RelayABI().Pack("submitForkBlockheaders", new(big.Int).SetUint64(to.Fork), payload)
	case to.Short:
		call.Gas = gasRelay + gasRelayHeader*n
		call.Data, err = RelayABI().Pack("submitShortForkBlockheaders", payload)
	default:
		call.Gas = gasRelay + gasRelayHeader*n
		call.Data, err = RelayABI().Pack("submitMainBlockheaders", payload)
	}
	return call, stored, err
}

// submittedHeaders reads the payload of call data that brings headers to a relay.
func submittedHeaders(data []byte) (base StoredHeader, headers []CompactHeader, ok bool) {
	if len(data) < 4 {
		return base, nil, false
	}
	of := RelayABI()
	m, err := of.MethodById(data[:4])
	if err != nil {
		return base, nil, false
	}
	args, err := m.Inputs.Unpack(data[4:])
	if err != nil {
		return base, nil, false
	}
	switch m.Name {
	case "submitMainBlockheaders", "submitShortForkBlockheaders", "submitForkBlockheaders":
	default:
		return base, nil, false
	}
	payload, isBytes := args[len(args)-1].([]byte)
	if !isBytes {
		return base, nil, false
	}
	return headersIn(payload)
}

func headersIn(payload []byte) (base StoredHeader, headers []CompactHeader, ok bool) {
	if len(payload) < 160+48 || (len(payload)-160)%48 != 0 {
		return base, nil, false
	}
	base = StoredHeader(payload[:160])
	for rest := payload[160:]; len(rest) > 0; rest = rest[48:] {
		headers = append(headers, CompactHeader(rest[:48]))
	}
	return base, headers, true
}
