package bank

import (
	"bytes"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Data accounts hold what does not fit into the transaction of a claim. Whoever claims
// creates them as the program's; the program writes down whose they are. In v1 the
// owner's key is at the beginning. In v2 it is there too, as its source was published, or
// follows eight bytes, as the sizes that clients give such accounts suggest (§6, §22).

// dataTag are those eight bytes. What they are is not public; clients must not care.
var dataTag = wire.NameOf("account", "DataAccount")

// owner returns the part of a data account that says whose it is.
func (x *call) owner(data *Info) []byte {
	n := x.data.Space(0)
	if len(data.Data) < n {
		x.fail(ProgramFailedToComplete)
		return nil
	}
	return data.Data[x.data:n]
}

// ownedBy demands that a data account is a key's.
func (x *call) ownedBy(data *Info, signer wire.Key) {
	if owner := x.owner(data); x.err == nil {
		x.require(bytes.Equal(owner, signer[:]), invalidUserData)
	}
}

// initData writes down whose a data account is, which signs for that itself.
func initData(x *call) error {
	signer, data := x.signer("signer"), x.signer("data")
	x.writable(signer, data)
	if owner := x.owner(data); x.err == nil {
		copy(data.Data[:x.data], dataTag[:])
		copy(owner, signer.Key[:])
	}
	return x.err
}

// writeData writes a part of the payload.
func writeData(x *call) error {
	offset, part, err := wire.DecodeWrite(x.args)
	if err != nil {
		return argumentsNotReadable
	}
	signer, data := x.signer("signer"), x.account("data")
	x.writable(signer, data)
	x.ownedBy(data, signer.Key)
	if x.err != nil {
		return x.err
	}
	payload := data.Data[x.data.Space(0):]
	if uint64(offset)+uint64(len(part)) > uint64(len(payload)) {
		return ProgramFailedToComplete
	}
	copy(payload[offset:], part)
	return nil
}

// closeData gives the rent of a data account back.
func closeData(x *call) error {
	signer, data := x.signer("signer"), x.account("data")
	x.writable(signer, data)
	x.ownedBy(data, signer.Key)
	if x.err == nil {
		signer.Lamports, data.Lamports = signer.Lamports+data.Lamports, 0
	}
	return x.err
}

// takeData returns the payload of the sender's data account.
func (x *call) takeData(data *Info, signer wire.Key) ([]byte, error) {
	if x.ownedBy(data, signer); x.err != nil {
		return nil, x.err
	}
	return data.Data[x.data.Space(0):], nil
}
