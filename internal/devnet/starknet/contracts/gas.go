package contracts

// What contracts compute, in l2 gas: about what it takes on a public network.
const (
	entryGas     = 300_000   // an entry point, beside what it asks of the network
	signatureGas = 200_000   // the check of a signature
	shaGas       = 5_300_000 // a block of SHA-256
	txByteGas    = 50_000    // to read a byte of a Bitcoin transaction
	headerGas    = 6_000_000 // to check a header, beside its hash
)

// hashing charges for the SHA-256 of so many bytes, times times.
func (x *call) hashing(size, times int) {
	const block, padding = 64, 9
	x.Charge(shaGas * uint64(times) * uint64((size+padding+block-1)/block))
}
