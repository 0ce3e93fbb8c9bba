package swapper

// ListSwapsInput is the input of listSwaps and listPendingSwaps.
type ListSwapsInput struct {
	Signer  string // smart-chain address, in any form that its chain accepts
	ChainID string // chain identifier; empty: all chains
}

// ListPendingSwapsInput is the input of listPendingSwaps.
type ListPendingSwapsInput = ListSwapsInput

// Validate checks everything that can be said of the input without knowing the
// chains. The error is an [Error] with [CodeInvalidInput] that names the field.
func (in *ListSwapsInput) Validate() error {
	return first(
		required("signer", in.Signer, maxID),
		optional("chainId", in.ChainID, maxID),
	)
}
